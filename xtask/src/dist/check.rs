//! What people install, used on systems without Rust: bare roots of Debian, made anew for each check.

use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use super::{DIST, GLIBC, PACKAGES, tools, write};
use crate::packages::{self, Needed};
use crate::process::{command, empty_folder, output, root, run};

/// What makes roots, what unpacks, and what Debian's maintainers check packages with.
const NEEDED: &[Needed] = &[
    ("debootstrap", "sh", &["-c", "command -v debootstrap"]),
    ("lintian", "lintian", &["--version"]),
    ("xz-utils", "xz", &["--version"]),
    ("python3-venv", "python3", &["-c", "import venv, ensurepip"]),
    ("zip", "zip", &["-v"]),
    ("maven", "mvn", &["--version"]),
    ("default-jdk-headless", "javadoc", &["--version"]),
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
    ensure!(debs.len() == PACKAGES.len(), "{DIST} has not {} packages, but {debs:?}", PACKAGES.len());
    let mut lintian = command("lintian", &["--fail-on=error,warning", "--tag-display-limit=0"]);
    lintian.args(&debs);
    run(lintian).context("lintian says above what is wrong with the packages")?;
    python()?;
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

/// The wheel is for every Linux that we promise, and has the licences; the source archive has what it needs.
fn python() -> Result<()> {
    let (wheels, sources) = (files(".whl")?, files(".tar.gz")?);
    let ([wheel], [source]) = (&wheels[..], &sources[..]) else {
        bail!("{DIST} has not one wheel and one source archive, but {wheels:?} and {sources:?}");
    };
    let shown = tools::auditwheel(&wheel.to_string_lossy())?;
    let tag = shown.split_once("manylinux_2_").map(|(_, rest)| rest);
    let minor = tag.and_then(|rest| rest.split('_').next()?.parse::<u32>().ok());
    let minor = minor.with_context(|| format!("auditwheel names no manylinux: {shown}"))?;
    ensure!(minor <= GLIBC.1, "the wheel needs glibc 2.{minor}, as auditwheel says: {shown}");
    println!("{}: auditwheel says manylinux_2_{minor}", wheel.display());
    let lists = [
        (wheel, "-m zipfile -l", &["LICENSE-MIT", "LICENSE-dependencies.txt", "_zariz.abi3.so"][..]),
        (
            source,
            "-m tarfile -l",
            &["LICENSE-MIT", "Cargo.lock", "python/src/lib.rs", "crates/kernels/src/lib.rs"],
        ),
    ];
    for (file, lister, wanted) in lists {
        let mut python = tools::tool("python", &lister.split(' ').collect::<Vec<_>>())?;
        python.arg(file);
        let list = output(python)?;
        for name in wanted {
            ensure!(list.contains(name), "{} has no {name}", file.display());
        }
    }
    Ok(())
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
    for (from, to) in
        [(DIST, "dist"), ("xtask/src/dist/in-root.sh", "in-root.sh"), ("/etc/resolv.conf", "etc/")]
    {
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
