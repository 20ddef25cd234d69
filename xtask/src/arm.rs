//! Tests on 64-bit Arm: cross-compiled, and run under qemu's emulation of a processor.
//!
//! Times under emulation say nothing. What it shows is that results are right.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::metadata::target_directory;
use crate::packages::{Needed, provide};
use crate::process::{cargo, command, empty_folder, output, run};
use crate::suite;
use crate::target::AARCH64;

/// A core on which `Auto` chooses `rsaz`, and one on which it does not.
const CORES: [(&str, &str); 2] = [("neoverse-n1", "rsaz"), ("cortex-a72", "scalar")];

/// The linker, and C's compiler.
const GCC: &str = "aarch64-linux-gnu-gcc";
const QEMU: &str = "qemu-aarch64-static";

pub const NEEDED: &[Needed] = &[
    ("gcc-aarch64-linux-gnu", GCC, &["--version"]),
    ("libc6-dev-arm64-cross", "test", &["-f", "/usr/aarch64-linux-gnu/include/stdio.h"]),
    ("qemu-user-static", QEMU, &["--version"]),
];

/// What runs, of each crate: every engine and kernel against other libraries, the vectors of Wycheproof, and
/// the provider in OpenSSL. The slow ones come first.
const TESTS: &[(&str, &[&str])] = &[
    ("zariz", &["wycheproof", "dispatch", "rsa", "differential", "products"]),
    ("zariz-openssl-provider", &["wycheproof", "loading", "encryption", "signatures"]),
    ("zariz-machines", &["differential", "rsaz", "scalar"]),
];

/// Packages of Debian for Arm, with OpenSSL, Python, Java, and what these need.
const SYSTEM: &[&str] = &[
    "openssl:arm64",
    "libssl3:arm64",
    "libc6:arm64",
    "libgcc-s1:arm64",
    "libgmp10:arm64",
    "python3.11-minimal:arm64",
    "libpython3.11-minimal:arm64",
    "libpython3.11-stdlib:arm64",
    "libexpat1:arm64",
    "zlib1g:arm64",
    "openjdk-17-jre-headless:arm64",
    "libstdc++6:arm64",
];
/// Of that system. An older one did not have it.
const JAVA: &str = "usr/lib/jvm/java-17-openjdk-arm64";

/// Where this step puts what it downloads and makes.
struct Places {
    /// A system for Arm.
    system: PathBuf,
    /// What cargo compiles for it. Other steps use another compiler, and would compile everything again.
    target: PathBuf,
    /// A compiler, if cargo's own has no library for Arm.
    compiler: Option<PathBuf>,
}

/// Installs what is needed, compiles, and runs the tests.
pub fn tests() -> Result<()> {
    provide(NEEDED)?;
    let places = Places::prepare()?;
    let program = places.build("zariz-cli")?.join("zariz");
    proof(&program)?;
    // Compiled first, then run side by side: each program has one long test.
    let test = |package: &str, test: &str, arguments: &[&str]| {
        let mut cargo = places.cargo("test");
        cargo.args(["--package", package, "--test", test]).args(arguments);
        cargo
    };
    let all = || TESTS.iter().flat_map(|(package, tests)| tests.iter().map(move |test| (*package, *test)));
    all().try_for_each(|(package, name)| run(test(package, name, &["--no-run"])))?;
    let jobs = all().map(|(package, name)| (format!("{name} of {package}"), test(package, name, &[])));
    suite::run(jobs.collect()).context("tests fail on Arm")?;
    places.program(&program)?;
    places.c_library()
}

/// Proves the assembly for Arm, as this compiler assembles it, and that wrong code is not proved.
fn proof(program: &Path) -> Result<()> {
    let mut prove = cargo(&["run", "--quiet", "--locked", "-p", "zariz-proof", "--"]);
    prove.arg(program);
    run(prove).context("a function in assembly is not proved: its line says how far the proof got")?;
    let mut mutants = cargo(&["test", "--quiet", "--locked", "-p", "zariz-proof", "--test", "a64"]);
    mutants.args(["--", "--include-ignored"]).env("ZARIZ_ARM_PROGRAM", program);
    run(mutants).context("the proofs do not find every fault that the tests plant")
}

/// A system for Arm, unpacked.
pub fn system() -> Result<PathBuf> {
    let system = target_directory()?.join("arm/system");
    if !system.join(JAVA).exists() {
        know_packages()?;
        unpack(SYSTEM, &system)?;
    }
    Ok(system)
}

/// A compiler for Arm, if cargo's own has no library for it: Debian's, unpacked.
pub fn compiler() -> Result<Option<PathBuf>> {
    let place = output(command("rustc", &["--print", "target-libdir", "--target", &AARCH64.triple()]));
    if place.is_ok_and(|library| Path::new(library.trim()).exists()) {
        return Ok(None);
    }
    let compiler = target_directory()?.join("arm/compiler");
    if !compiler.exists() {
        println!("the compiler has no library for Arm: Debian's is used");
        know_packages()?;
        unpack(&debians_compiler()?.iter().map(String::as_str).collect::<Vec<_>>(), &compiler)?;
    }
    Ok(Some(compiler))
}

/// Asks Debian for its packages for Arm.
fn know_packages() -> Result<()> {
    run(command("dpkg", &["--add-architecture", "arm64"]))?;
    run(command("apt-get", &["update"]))
}

impl Places {
    fn prepare() -> Result<Self> {
        let target = target_directory()?.join("arm/target");
        Ok(Self { system: system()?, target, compiler: compiler()? })
    }

    /// A program for Arm, run by qemu.
    fn qemu(&self, program: &Path) -> Command {
        let mut qemu = command(QEMU, &["-L"]);
        qemu.arg(&self.system).arg(program);
        qemu
    }

    fn cargo(&self, what: &str) -> Command {
        let mut cargo = cargo(&[what, "--locked", "--target", &AARCH64.triple()]);
        cargo.env("CARGO_TARGET_DIR", &self.target);
        cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", GCC);
        let runner = format!("{QEMU} -cpu {} -L {}", CORES[0].0, self.system.display());
        cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", runner);
        if let Some(compiler) = &self.compiler {
            cargo.env("RUSTC", compiler.join("rustc"));
        }
        cargo
    }

    /// Compiles a package; the folder with its files.
    fn build(&self, package: &str) -> Result<PathBuf> {
        let mut cargo = self.cargo("build");
        cargo.args(["--package", package]);
        run(cargo)?;
        Ok(self.target.join(AARCH64.triple()).join("debug"))
    }

    /// Every engine's self-test, and a signature by each that OpenSSL verifies.
    fn program(&self, program: &Path) -> Result<()> {
        let mut said = String::new();
        for (core, engine) in CORES {
            let mut info = self.qemu(program);
            info.arg("info").env("QEMU_CPU", core);
            said = output(info)?;
            print!("{said}");
            let mut lines = said.lines().filter(|line| line.contains("chosen by auto"));
            ensure!(lines.any(|line| line.starts_with(engine)), "`Auto` does not choose {engine} on {core}");
        }
        ensure!(said.contains("leaves RSA to OpenSSL"), "the program does not say what the module does");
        let engines: Vec<&str> = said
            .lines()
            .filter(|line| line.contains("self-test"))
            .filter_map(|line| line.split(' ').next())
            .collect();
        ensure!(
            ["scalar", "rsaz"].iter().all(|name| engines.contains(name)),
            "`info` does not test scalar and rsaz"
        );
        let folder = self.target.join("program");
        empty_folder(&folder)?;
        let file = |name: &str| folder.join(name).display().to_string();
        let [message, private, public, signature] =
            ["message", "private.pem", "public.pem", "signature"].map(file);
        fs::write(&message, "signed on Arm\n").context("cannot write a message")?;
        run(command("openssl", &["genrsa", "-out", &private, "2048"]))?;
        run(command("openssl", &["rsa", "-in", &private, "-pubout", "-out", &public]))?;
        let forced = engines.iter().map(|engine| (CORES[0].0, *engine));
        for (core, engine) in CORES.iter().map(|(core, _)| (*core, "auto")).chain(forced) {
            let mut sign = self.qemu(program);
            sign.env("QEMU_CPU", core);
            sign.args(["sign", "--key", &private, "--engine", engine, "--out", &signature, &message]);
            run(sign)?;
            run(command(
                "openssl",
                &["dgst", "-sha256", "-verify", &public, "-signature", &signature, &message],
            ))?;
            fs::remove_file(&signature).context("there is no signature")?;
        }
        Ok(())
    }

    /// The C program that calls every function.
    fn c_library(&self) -> Result<()> {
        let library = self.build("zariz-capi")?.join("libzariz_capi.a").display().to_string();
        let folder = self.target.join("c");
        empty_folder(&folder)?;
        for name in ["interface", "batcher"] {
            let program = folder.join(name);
            let source = format!("crates/capi/tests/programs/{name}.c");
            let mut gcc =
                command(GCC, &["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", &source, &library]);
            gcc.arg("-Icrates/capi/include").arg("-o").arg(&program);
            gcc.args(["-pthread", "-ldl", "-lm", "-lgcc_s"]);
            run(gcc)?;
            let mut qemu = self.qemu(&program);
            if name == "interface" {
                qemu.arg(&folder);
            }
            run(qemu)?;
        }
        Ok(())
    }
}

/// Debian's compiler with its libraries for this machine and for Arm. All have one version.
fn debians_compiler() -> Result<Vec<String>> {
    const LIBRARY: &str = "libstd-rust-web-dev";
    let depends = |package: &str| output(command("apt-cache", &["depends", "--important", package]));
    let mut packages = vec!["rustc-web".to_owned(), LIBRARY.to_owned(), format!("{LIBRARY}:arm64")];
    let names = [depends("rustc-web")?, depends(LIBRARY)?].concat();
    let mut found: Vec<&str> =
        names.lines().filter_map(|line| line.trim().strip_prefix("Depends: ")).collect();
    found.sort_unstable();
    found.dedup();
    let shared = found.iter().find(|name| name.starts_with("libstd-rust-web-") && **name != LIBRARY);
    let shared = shared.context("rustc-web does not name its library")?;
    packages.extend([(*shared).to_owned(), format!("{shared}:arm64")]);
    let names = depends(shared)?;
    let llvm = names.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
    packages.extend(llvm.filter(|name| name.starts_with("libllvm")).map(str::to_owned));
    Ok(packages)
}

/// Downloads Debian packages, and unpacks them into a folder, with a `rustc` that finds its libraries if it is
/// among them.
fn unpack(packages: &[&str], into: &Path) -> Result<()> {
    let (made, archives) = (into.with_extension("new"), into.with_extension("archives"));
    empty_folder(&made)?;
    empty_folder(&archives)?;
    let mut apt = command("apt-get", &["download"]);
    apt.args(packages).current_dir(&archives);
    run(apt)?;
    for archive in fs::read_dir(&archives).context("cannot list what was downloaded")? {
        let mut dpkg = command("dpkg", &["-x"]);
        dpkg.arg(archive?.path()).arg(&made);
        run(dpkg)?;
    }
    if made.join("usr/bin/rustc").exists() {
        let (path, place) = (made.join("rustc"), into.display());
        let script = format!(
            "#!/bin/sh\nLD_LIBRARY_PATH={place}/usr/lib/x86_64-linux-gnu exec {place}/usr/bin/rustc \"$@\"\n"
        );
        fs::write(&path, script).context("cannot write a script")?;
        run(command("chmod", &["+x", &path.to_string_lossy()]))?;
    }
    fs::remove_dir_all(&archives).context("cannot remove what was downloaded")?;
    if into.exists() {
        fs::remove_dir_all(into).with_context(|| format!("cannot remove {}", into.display()))?;
    }
    fs::rename(&made, into).with_context(|| format!("cannot rename to {}", into.display()))
}
