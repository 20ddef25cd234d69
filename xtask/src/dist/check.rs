//! What people install, used on systems without Rust: bare roots of Debian, made anew for each check, and for
//! Arm, Debian's programs under qemu.

use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::{CRYPTO_MB, DIST, GLIBC, PACKAGES, elf, tools, write};
use crate::arm;
use crate::packages::{self, Needed};
use crate::process::{command, empty_folder, output, root, run};
use crate::target::{AARCH64, TARGETS, Target};

/// What makes roots, what unpacks, and what Debian's maintainers check packages with.
const NEEDED: &[Needed] = &[
    ("debootstrap", "sh", &["-c", "command -v debootstrap"]),
    ("lintian", "lintian", &["--version"]),
    ("xz-utils", "xz", &["--version"]),
    ("python3-venv", "python3", &["-c", "import venv, ensurepip"]),
    ("zip", "zip", &["-v"]),
    ("maven", "mvn", &["--version"]),
    ("default-jdk-headless", "javadoc", &["--version"]),
    ("pkg-config", "pkg-config", &["--version"]),
    ("openssl", "openssl", &["version"]),
];
const ROOTS: &str = "target/dist/roots";
/// Releases of Debian, and what is tried on each. The first has the oldest glibc that there is a mirror of.
const RELEASES: &[(&str, &[&str])] = &[
    ("bullseye", &["archive", "libraries"]),
    ("bookworm", &["wheel", "packages", "archive", "libraries"]),
    ("trixie", &["packages", "libraries", "go_module"]),
];

/// Makes everything anew, takes it apart and uses it.
pub fn check() -> Result<()> {
    ensure!(
        output(command("id", &["-u"]))?.trim() == "0",
        "only root can make a root of Debian and change into it: sudo -E cargo xtask test dist"
    );
    packages::provide(NEEDED)?;
    tools::actionlint()?;
    let start = Instant::now();
    write()?;
    println!("made in {:.0} s", start.elapsed().as_secs_f64());
    let mut sums = command("sha256sum", &["--check", "--quiet", "SHA256SUMS"]);
    sums.current_dir(root().join(DIST));
    run(sums)?;
    let debs = files(".deb")?;
    let expected = PACKAGES.len() * TARGETS.len();
    ensure!(debs.len() == expected, "{DIST} has not {expected} packages, but {debs:?}");
    let mut lintian = command("lintian", &["--fail-on=error,warning", "--tag-display-limit=0"]);
    lintian.args(&debs);
    run(lintian).context("lintian says above what is wrong with the packages")?;
    python()?;
    on_arm()?;
    maven()?;
    RELEASES.iter().try_for_each(|(release, parts)| in_root(release, parts))
}

/// Files of dist/ by their ending.
fn files(ending: &str) -> Result<Vec<PathBuf>> {
    let dist = root().join(DIST);
    let entries = fs::read_dir(&dist).with_context(|| format!("cannot list {DIST}"))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.to_string_lossy().ends_with(ending));
    files.sort();
    Ok(files)
}

/// Wheels are for every Linux that we promise, and have the licences; the source archive has what it needs.
fn python() -> Result<()> {
    for target in &TARGETS {
        let wheel = wheel(target)?;
        let shown = tools::auditwheel(&wheel.to_string_lossy())?;
        let tag = shown.split_once("manylinux_2_").map(|(_, rest)| rest);
        let minor = tag.and_then(|rest| rest.split('_').next()?.parse::<u32>().ok());
        let minor = minor.with_context(|| format!("auditwheel names no manylinux: {shown}"))?;
        ensure!(minor <= GLIBC.1, "the wheel needs glibc 2.{minor}, as auditwheel says: {shown}");
        println!("{}: auditwheel says manylinux_2_{minor}", wheel.display());
        has(&wheel, "zipfile", &["LICENSE-MIT", "LICENSE-dependencies.txt", "_zariz.abi3.so"])?;
    }
    let wanted = ["LICENSE-MIT", "Cargo.lock", "python/src/lib.rs", "crates/kernels/src/lib.rs"];
    has(&only(".tar.gz")?, "tarfile", &wanted)
}

/// The wheel of a target.
fn wheel(target: &Target) -> Result<PathBuf> {
    only(&format!("manylinux_{}_{}_{}.whl", GLIBC.0, GLIBC.1, target.arch))
}

/// The only file of dist/ with an ending.
fn only(ending: &str) -> Result<PathBuf> {
    let found = files(ending)?;
    let [file] = &found[..] else { bail!("{DIST} has not one file that ends with {ending}, but {found:?}") };
    Ok(file.clone())
}

/// Fails if an archive lacks a file; a module of Python lists it.
fn has(archive: &Path, module: &str, wanted: &[&str]) -> Result<()> {
    let list = output(tools::tool("python", &["-m", module, "-l", &archive.to_string_lossy()])?)?;
    for name in wanted {
        ensure!(list.contains(name), "{} has no {name}", archive.display());
    }
    Ok(())
}

/// Unpacks what is for Arm, checks its files, and uses it under qemu.
fn on_arm() -> Result<()> {
    let folder = root().join("target/dist/on-arm");
    empty_folder(&folder)?;
    let archives = [(format!("-{}.tar.xz", AARCH64.gnu()), "tree"), ("-go.tar.xz".to_owned(), "goproxy")];
    for (ending, name) in archives {
        let to = folder.join(name);
        empty_folder(&to)?;
        let mut tar = command("tar", &["-xf", &only(&ending)?.to_string_lossy(), "--strip-components=1"]);
        tar.arg("-C").arg(&to);
        run(tar)?;
    }
    let extract = |archive: &Path, to: &str| {
        let mut python = tools::tool("python", &["-m", "zipfile", "-e"])?;
        python.arg(archive).arg(folder.join(to));
        run(python)
    };
    extract(&wheel(&AARCH64)?, "wheel")?;
    extract(&only(".jar")?, "jar")?;
    let crypto_mb = format!("tree/{CRYPTO_MB}/libzariz_crypto_mb.so");
    let files = ["tree/bin/zariz", "tree/lib/zariz/zariz.so", "tree/lib/libzariz.so", &crypto_mb];
    let others = ["wheel/zariz/_zariz.abi3.so", "jar/META-INF/native/linux-aarch64/libzariz_jni.so"];
    files.iter().chain(&others).try_for_each(|file| elf::check(&folder.join(file), &AARCH64))?;
    let dist = root().join("xtask/src/dist");
    let mut sh = command("sh", &[]);
    sh.arg(dist.join("arm.sh")).arg(arm::system()?).arg(dist.join("programs")).current_dir(&folder);
    run(sh).context("what is for Arm does not work under qemu")
}

/// A project of Maven gets the package from its repository.
fn maven() -> Result<()> {
    let folder = root().join("target/dist/maven-project");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let script = root().join("xtask/src/dist/maven.sh").to_string_lossy().into_owned();
    let mut sh = command("sh", &[&script, env!("CARGO_PKG_VERSION")]);
    sh.current_dir(folder);
    run(sh)
}

/// Makes a root of that release, and runs the parts of in-root.sh in it. Nothing of them runs on.
fn in_root(release: &str, parts: &[&str]) -> Result<()> {
    let place = root().join(ROOTS).join(release);
    empty_folder(&place)?;
    let place = place.to_string_lossy().into_owned();
    run(command("debootstrap", &["--variant=minbase", release, &place]))
        .with_context(|| format!("debootstrap cannot make a root of {release}"))?;
    for (from, to) in [
        (DIST, "dist"),
        ("xtask/src/dist/in-root.sh", "in-root.sh"),
        ("xtask/src/dist/programs", "programs"),
        ("/etc/resolv.conf", "etc/"),
    ] {
        run(command("cp", &["-rL", from, &format!("{place}/{to}")]))?;
    }
    for part in parts {
        println!("-- {release}: {part}");
        let mut inside =
            command("unshare", &["--mount", "--pid", "--fork", "--kill-child", "chroot", &place]);
        inside.args([
            "/usr/bin/env",
            "-i",
            "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME=/root",
        ]);
        inside.args(["sh", "/in-root.sh", part]);
        run(inside).with_context(|| format!("{part} fails on {release}"))?;
    }
    fs::remove_dir_all(&place).with_context(|| format!("cannot remove {place}"))
}
