//! The provider stays in memory when OpenSSL unloads it: wait contexts of a program may still point to its
//! functions.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    // A sanitizer's functions are in the test program, where the provider must find them.
    if std::env::var_os("CARGO_CFG_SANITIZE").is_some() {
        println!("cargo:rustc-link-arg-tests=-rdynamic");
    }
}
