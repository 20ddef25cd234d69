//! The systems that we make packages for.

use anyhow::{Context, Result};
use object::elf::{EM_AARCH64, EM_X86_64, Machine};
use std::env::consts::ARCH;

/// Linux with glibc, on one kind of processor.
#[derive(PartialEq)]
pub struct Target {
    /// Its name in Rust, and of wheels.
    pub arch: &'static str,
    /// Its name in Debian and Go.
    pub debian: &'static str,
    /// Its name in Java.
    pub java: &'static str,
    /// Its number in ELF files.
    pub machine: Machine,
}

pub const X86_64: Target = Target { arch: "x86_64", debian: "amd64", java: "amd64", machine: EM_X86_64 };
pub const AARCH64: Target = Target { arch: "aarch64", debian: "arm64", java: "aarch64", machine: EM_AARCH64 };
pub const TARGETS: [Target; 2] = [X86_64, AARCH64];

impl Target {
    /// The one of this machine.
    pub fn host() -> Result<&'static Self> {
        let host = TARGETS.iter().find(|target| cfg!(target_os = "linux") && target.arch == ARCH);
        host.context("packages are for Linux on x86-64 and on 64-bit Arm, and this is another system")
    }

    /// As Rust names it.
    pub fn triple(&self) -> String {
        format!("{}-unknown-linux-gnu", self.arch)
    }

    /// As GNU's tools and Debian's folders name it.
    pub fn gnu(&self) -> String {
        format!("{}-linux-gnu", self.arch)
    }

    /// GNU's compiler or a tool of its binutils.
    pub fn tool(&self, name: &str) -> String {
        if self.arch == ARCH { name.to_owned() } else { format!("{}-{name}", self.gnu()) }
    }
}
