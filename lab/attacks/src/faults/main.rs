//! Faults in private operations: random bits of a signing process are flipped by a debugger's interface, and no wrong
//! signature may leave if the flip was between the entry of the padded number and the comparison with the public
//! exponent. Run by `cargo xtask faults`.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod linux;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn main() -> std::process::ExitCode {
    linux::main()
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn main() {
    println!("skipped: the debugger's interface is that of Linux on x86-64");
}
