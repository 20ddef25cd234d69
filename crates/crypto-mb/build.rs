//! The shared library's name inside, which programs that are linked with it look for. It stays in memory when
//! it is unloaded: it has prepared keys, and a function that the C library calls after a fork.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libzariz_crypto_mb.so,-z,nodelete");
    }
}
