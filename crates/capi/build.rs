//! What the linker must know of libzariz.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    if variable("CARGO_CFG_TARGET_OS") != "linux" {
        return;
    }
    // The library stays in memory when a program unloads it: threads of a batcher may still run in it.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // The name that programs ask for: versions with one name are compatible. cargo-c gives it itself.
    if env::var_os("CARGO_FEATURE_CAPI").is_none() {
        let (major, minor) = (variable("CARGO_PKG_VERSION_MAJOR"), variable("CARGO_PKG_VERSION_MINOR"));
        let compatible = if major == "0" { format!("0.{minor}") } else { major };
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libzariz.so.{compatible}");
    }
}
