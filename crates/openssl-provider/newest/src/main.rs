//! Prints where the libcrypto of the newest OpenSSL is, which the build script has built.

fn main() {
    println!("{}", env!("LIBCRYPTO"));
}
