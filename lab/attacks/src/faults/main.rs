//! Faults in private operations: a debugger's interface flips random bits of a process that computes
//! `x^d mod n`. No result may leave that reveals a factor of `n`. Run by `cargo xtask faults`.

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
