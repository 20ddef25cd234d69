//! Debian packages whose programs and libraries the tests use.

use anyhow::{Result, bail, ensure};

use crate::process::{command, output, run, works};

/// Whether there is a libgmp.so.10, which no program tells.
const HAS_GMP: &str = "ls /usr/lib/*/libgmp.so.10 /usr/lib*/libgmp.so.10 2>/dev/null | grep -q .";
/// Whether OpenSSL, where it is installed, has its module legacy.so, which newer Debian has in a package of
/// its own.
const HAS_LEGACY: &str = "! command -v openssl || test -f \"$(openssl info -modulesdir)/legacy.so\"";
/// Whether there is Java 17, the oldest that the package for Java promises, also beside a newer one.
const HAS_JAVA_17: &str = "ls /usr/lib/jvm/*17*/bin/javac 2>/dev/null | grep -q .";

/// A package, and a command that succeeds where it is installed.
pub type Needed = (&'static str, &'static str, &'static [&'static str]);

/// What the short steps need.
const NEEDED: &[Needed] = &[
    ("openssl", "openssl", &["version"]),
    ("openssl-provider-legacy", "sh", &["-c", HAS_LEGACY]),
    ("libgmp10", "sh", &["-c", HAS_GMP]),
    ("valgrind", "valgrind", &["--version"]),
    ("haproxy", "haproxy", &["-v"]),
    ("nginx", "nginx", &["-v"]),
    ("apache2-bin", "apache2", &["-v"]),
    ("curl", "curl", &["--version"]),
    ("libssl-dev", "test", &["-f", "/usr/include/openssl/core_dispatch.h"]),
    ("g++", "c++", &["--version"]),
    ("binutils", "nm", &["--version"]),
    ("pkg-config", "pkg-config", &["--version"]),
    ("python3-venv", "python3", &["-c", "import venv, ensurepip"]),
    ("perl", "perl", &["-v"]),
    ("make", "make", &["--version"]),
    ("openssh-client", "sh", &["-c", "command -v ssh-keygen"]),
    ("putty-tools", "puttygen", &["--version"]),
    ("bsdutils", "script", &["--version"]),
    ("jq", "jq", &["--version"]),
    ("nodejs", "node", &["--version"]),
    ("maven", "mvn", &["--version"]),
    ("openjdk-17-jdk-headless", "sh", &["-c", HAS_JAVA_17]),
    ("nghttp2-client", "h2load", &["--version"]),
];

/// Installs what the short steps need.
pub fn install() -> Result<()> {
    provide(NEEDED)
}

/// Installs what is missing when run as root on Debian, else says what to install.
pub fn provide(needed: &[Needed]) -> Result<()> {
    let packages = missing(needed);
    if packages.is_empty() {
        let all: Vec<&str> = needed.iter().map(|needed| needed.0).collect();
        println!("present: {}", all.join(" "));
        return Ok(());
    }
    let by_hand = format!("apt-get install -y {}", packages.join(" "));
    if !works("apt-get", &["--version"]) {
        bail!("tests need these packages, and there is no apt-get to install them: {}", packages.join(" "));
    }
    if output(command("id", &["-u"]))?.trim() != "0" {
        bail!("tests need Debian packages that are missing; install them with: sudo {by_hand}");
    }
    println!("installing: {}", packages.join(" "));
    let apt = |arguments: &[&str]| {
        let mut apt = command("apt-get", arguments);
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        run(apt)
    };
    apt(&["update"])?;
    apt(&[&["install", "-y", "--no-install-recommends"], &packages[..]].concat())?;
    let missing = missing(needed);
    ensure!(missing.is_empty(), "installed, but still not usable: {missing:?} (by hand: {by_hand})");
    Ok(())
}

/// Fails where something is missing: no test is left out for that.
pub fn check() -> Result<()> {
    let missing = missing(NEEDED).join(" ");
    ensure!(
        missing.is_empty(),
        "tests need Debian packages that are missing: {missing}; `cargo xtask test packages` installs them, or: \
         sudo apt-get install -y {missing}"
    );
    Ok(())
}

fn missing(needed: &[Needed]) -> Vec<&'static str> {
    needed
        .iter()
        .filter(|(_, program, arguments)| !works(program, arguments))
        .map(|needed| needed.0)
        .collect()
}
