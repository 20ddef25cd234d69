//! Builds OpenSSL, and a shared libcrypto of it: openssl-src makes static libraries alone.

use std::env;
use std::path::PathBuf;
use std::process::{Command, exit};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let artifacts = openssl_src::Build::new().build();
    let library = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("libcrypto.so");
    // The objects are position-independent, as openssl-src builds them. Symbols of its own come first for the
    // library itself: another libcrypto may be in the same process.
    let mut link = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()));
    link.args(["-shared", "-Wl,-Bsymbolic", "-Wl,-soname,libcrypto-newest.so", "-o"]).arg(&library);
    link.arg("-Wl,--whole-archive").arg(artifacts.lib_dir().join("libcrypto.a"));
    link.args(["-Wl,--no-whole-archive", "-ldl", "-lpthread"]);
    if !link.status().is_ok_and(|status| status.success()) {
        eprintln!("cannot link {}: {link:?}", library.display());
        exit(1);
    }
    println!("cargo::rustc-env=LIBCRYPTO={}", library.display());
}
