//! What people install without a compiler, in dist/: wheels and the source archive of the Python package,
//! archives of the program, the module for OpenSSL and the libraries for C, Debian packages of these, the jar
//! for Java, and what the tools of Go and Java fetch. All of it is for x86-64 and for 64-bit Arm.
//!
//! zig links all of it with glibc 2.28, so it runs on that version and newer ones. Times in archives are the
//! time of the last commit.

mod check;
mod elf;
mod licences;
mod registries;
mod tools;

use anyhow::{Context, Result, ensure};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::go::NO_BITCODE;
use crate::metadata::Graph;
use crate::packages::provide;
use crate::process::{command, empty_folder, output, root, run};
use crate::target::{AARCH64, TARGETS, Target, X86_64};
use crate::{arm, reproducible, sbom};
use tools::tool;

pub use check::check;
pub use tools::MATURIN;

/// What is given out.
const DIST: &str = "dist";
/// What is compiled for that, and, of the target that is made, what the archive has, below its prefix. The
/// packages take it from here.
const TARGET: &str = "target/dist";
const TREE: &str = "target/dist/tree";
const DOC: &str = "share/doc/zariz";
/// What only the packages for Debian have.
const DEBIAN: &str = "target/dist/debian";
/// Licences of others, for all targets.
const LICENCES: &str = "target/dist/licences";
/// The oldest glibc.
const GLIBC: (u32, u32) = (2, 28);
/// Each is a table of that crate's Cargo.toml, package.metadata.deb or a variant of it, and Debian's word for
/// whether packages for two processors can be installed together. With `same`, cargo-deb moves what goes to
/// usr/lib to the target's own folder there.
const PACKAGES: &[(&str, Option<&str>, &str)] = &[
    ("zariz-cli", None, "none"),
    // Its configuration names the target's folder.
    ("zariz-openssl-provider", None, "none"),
    ("zariz-capi", None, "same"),
    ("zariz-capi", Some("runtime"), "same"),
    ("zariz-crypto-mb", None, "same"),
];
/// Of the packages for Debian. A release needs an address that exists.
const MAINTAINER: &str = "The zariz developers <zariz@example.org>";
/// Of these packages; lower than that of a package of Debian's own would be.
const REVISION: &str = "0zariz1";
/// The page with OpenSSL's configuration, for x86-64.
const PAGE: &str = "docs/openssl.md";
/// Licences of others: of crates, and of Rust's own library.
const CRATES: &str = "dependencies.txt";
const RUST: &str = "rust-library.html";

/// What others load.
const LIBRARIES: &[&str] = &["zariz-openssl-provider", "zariz-capi", "zariz-crypto-mb", "zariz-jni"];
/// The library for programs that know crypto_mb, in a folder of its own: its files are named as crypto_mb's.
const CRYPTO_MB: &str = "lib/zariz/crypto-mb";

/// Makes all of it, and lists it.
pub fn write() -> Result<()> {
    provide(arm::NEEDED)?;
    tools::install()?;
    // What an older version has left must not be among it.
    empty_folder(&root().join(DIST))?;
    let graph = Graph::read()?;
    let version = version(&graph)?;
    sbom::write()?;
    licences(&graph)?;
    for target in &TARGETS {
        for folder in [TREE, DEBIAN] {
            empty_folder(&root().join(folder))?;
        }
        programs(target)?;
        c_library(target, &version)?;
        crypto_mb(target, &version)?;
        documents(target)?;
        archive("tree", &format!("zariz-{version}-{}", target.gnu()))?;
        debian(target, &version)?;
    }
    registries::go(&version)?;
    registries::maven(&version)?;
    python()?;
    list()
}

/// The version of what is given out.
fn version(graph: &Graph) -> Result<String> {
    let program = graph.0.values().find(|package| package.name == "zariz-cli");
    Ok(program.context("there is no zariz-cli")?.version.clone())
}

/// Builds the program, the module and the libraries, each alone, for an old glibc. The program that writes
/// manual pages runs here.
fn programs(target: &Target) -> Result<()> {
    let host = Target::host()?;
    for package in LIBRARIES.iter().chain(&["zariz-cli"]) {
        zigbuild(target, package)?;
    }
    elf::check(&built(target, "libzariz_jni.so"), target)?;
    for (from, to) in [("zariz", "bin/zariz"), ("libzariz_provider.so", "lib/zariz/zariz.so")] {
        let from = built(target, from);
        elf::check(&from, target)?;
        copy(&from, &root().join(TREE).join(to))?;
    }
    zigbuild(host, "zariz-pages")?;
    run(command(&built(host, "zariz-pages").to_string_lossy(), &[TREE]))
}

fn zigbuild(target: &Target, package: &str) -> Result<()> {
    let triple = format!("{}.{}.{}", target.triple(), GLIBC.0, GLIBC.1);
    let zigbuild = ["zigbuild", "--release", "--locked", "--target", &triple, "-p", package];
    run(for_target(target, "cargo-zigbuild", &zigbuild)?)
}

/// A file that was built for these packages.
fn built(target: &Target, name: &str) -> PathBuf {
    root().join(TARGET).join(target.triple()).join("release").join(name)
}

/// The library for C, with what compilers ask for, as `cargo cinstall` would install it.
fn c_library(target: &Target, version: &str) -> Result<()> {
    let lib = root().join(TREE).join("lib");
    let shared = lib.join(format!("libzariz.so.{version}"));
    copy_library(target, "libzariz_capi.so", &shared)?;
    let compatible = format!("libzariz.so.{}", elf::compatible(version));
    for link in [&*compatible, "libzariz.so"] {
        symlink(format!("libzariz.so.{version}"), lib.join(link))
            .with_context(|| format!("cannot make {link}"))?;
    }
    let archive = lib.join("libzariz.a");
    copy(&built(target, "libzariz_capi.a"), &archive)?;
    run(command(&target.tool("strip"), &["--strip-debug", NO_BITCODE, &archive.to_string_lossy()]))?;
    copy(&root().join("crates/capi/include/zariz.h"), &root().join(TREE).join("include/zariz.h"))?;
    let about = "RSA and modular exponentiation, many numbers at once on vector instructions";
    let flags =
        "Libs: -L${libdir} -lzariz\nLibs.private: -lpthread -ldl -lm -lgcc_s\nCflags: -I${includedir}";
    pkg_config(target, "zariz", version, about, flags)
}

/// Copies a library without the names that only debuggers need.
fn copy_library(target: &Target, name: &str, to: &Path) -> Result<()> {
    elf::check(&built(target, name), target)?;
    copy(&built(target, name), to)?;
    run(command(&target.tool("strip"), &["--strip-unneeded", &to.to_string_lossy()]))
}

/// What pkg-config reads: of the archive, which may be unpacked anywhere, and of Debian's packages.
fn pkg_config(target: &Target, name: &str, version: &str, about: &str, flags: &str) -> Result<()> {
    let (here, debian) = (format!("{TREE}/lib/pkgconfig"), DEBIAN.to_owned());
    let lib = format!("lib/{}", target.gnu());
    for (folder, prefix, lib) in [(here, "${pcfiledir}/../..", "lib"), (debian, "/usr", &lib)] {
        let text = format!(
            "prefix={prefix}\nlibdir=${{prefix}}/{lib}\nincludedir=${{prefix}}/include\n\nName: {name}\n\
             Description: {about}\nVersion: {version}\n{flags}\n"
        );
        put(&root().join(folder).join(name).with_extension("pc"), &text)?;
    }
    Ok(())
}

/// The library for programs that know crypto_mb, by the names that they load (docs/crypto-mb.md).
fn crypto_mb(target: &Target, version: &str) -> Result<()> {
    let folder = root().join(TREE).join(CRYPTO_MB);
    let name = "libzariz_crypto_mb.so";
    copy_library(target, name, &folder.join(name))?;
    for link in ["libcrypto_mb.so", "libcrypto_mb.so.12"] {
        symlink(name, folder.join(link)).with_context(|| format!("cannot make {link}"))?;
    }
    let headers = root().join("crates/crypto-mb/include/crypto_mb");
    for header in fs::read_dir(&headers).with_context(|| format!("cannot list {}", headers.display()))? {
        let header = header?.path();
        let name = header.file_name().context("a file has a name")?;
        copy(&header, &folder.join("include/crypto_mb").join(name))?;
    }
    // Programs find the library in its folder without LD_LIBRARY_PATH.
    let flags = "folder=${libdir}/zariz/crypto-mb\nLibs: -L${folder} -Wl,-rpath,${folder} -lzariz_crypto_mb\n\
                 Cflags: -I${folder}/include";
    pkg_config(target, "zariz_crypto_mb", version, "RSA and powers with the interface of crypto_mb", flags)
}

/// Writes the licences of what is compiled into the program and the libraries.
fn licences(graph: &Graph) -> Result<()> {
    let packages = LIBRARIES.iter().chain(&["zariz-cli"]).flat_map(|package| ["-p", package]);
    let crates = licences::of_dependencies(graph, &packages.collect::<Vec<_>>())?;
    let folder = root().join(LICENCES);
    put(&folder.join(CRATES), &crates)?;
    put(&folder.join(RUST), &licences::of_rust()?)
}

/// Licences, changes, bills of materials and a configuration.
fn documents(target: &Target) -> Result<()> {
    let doc = root().join(TREE).join(DOC);
    let here = ["LICENSE-MIT", "LICENSE-APACHE", "CHANGELOG.md"].map(|name| root().join(name));
    let bills = sbom::PRODUCTS.map(|(_, product, _)| root().join(sbom::file(target, product)));
    let licences = [CRATES, RUST].map(|name| root().join(LICENCES).join(name));
    for file in here.iter().chain(&bills).chain(&licences) {
        copy(file, &doc.join(file.file_name().unwrap_or_default()))?;
    }
    put(&doc.join("openssl.cnf"), &configuration(target)?)
}

/// OpenSSL's configuration, as the page has it, with the folder where Debian's OpenSSL looks for modules.
fn configuration(target: &Target) -> Result<String> {
    let module = |target: &Target| format!("/usr/lib/{}/ossl-modules/zariz.so", target.gnu());
    let page = fs::read_to_string(root().join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
    let text = page.split_once("/etc/zariz/openssl.cnf >/dev/null <<'END'\n");
    let text = text.and_then(|(_, rest)| rest.split_once("END\n")).map(|(text, _)| text);
    let text = text.with_context(|| format!("{PAGE} has no /etc/zariz/openssl.cnf"))?;
    let written = module(&X86_64);
    ensure!(text.contains(&written), "the configuration in {PAGE} does not name {written}");
    Ok(text.replace(&written, &module(target)))
}

/// An archive of a folder in target/dist, which has another name in it.
fn archive(folder: &str, name: &str) -> Result<()> {
    let mut tar = command("tar", &["--create", "--xz", "--file", &format!("{DIST}/{name}.tar.xz")]);
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"]);
    tar.arg(format!("--mtime=@{}", commit("%ct")?)).arg(format!("--transform=s,^{folder},{name},"));
    tar.args(["--directory", TARGET, folder]).env("XZ_OPT", "-9e");
    run(tar)
}

/// The packages that the tables package.metadata.deb describe.
fn debian(target: &Target, version: &str) -> Result<()> {
    let folder = root().join(DEBIAN);
    put(&folder.join("copyright"), &licences::debian()?)?;
    put(&folder.join("openssl.cnf"), &configuration(target)?)?;
    let modules = folder.join("lib").join(target.gnu()).join("ossl-modules");
    copy(&built(target, "libzariz_provider.so"), &modules.join("zariz.so"))?;
    let (date, change) = (commit("%cD")?, "Its changes are in changelog.gz.");
    let entry = format!(
        "zariz ({version}-{REVISION}) unstable; urgency=medium\n\n  * {change}\n\n -- {MAINTAINER}  {date}\n"
    );
    put(&folder.join("changelog"), &entry)?;
    for (package, variant, together) in PACKAGES {
        let triple = target.triple();
        let deb = ["deb", "--quiet", "--no-build", "--target", &triple, "-p", package, "--output", DIST];
        let mut deb = for_target(target, "cargo-deb", &deb)?;
        deb.args(["--maintainer", MAINTAINER, "--deb-revision", REVISION, "--multiarch", together]);
        deb.args(variant.iter().flat_map(|variant| ["--variant", variant]));
        run(deb)?;
    }
    shlibs(target, version)
}

/// Adds to the package of libzariz what others need who link it: cargo-deb does not know that file.
fn shlibs(target: &Target, version: &str) -> Result<()> {
    let compatible = elf::compatible(version);
    let (package, folder) = (format!("libzariz{compatible}"), format!("{DEBIAN}/repacked"));
    let deb = format!("{DIST}/{package}_{version}-{REVISION}_{}.deb", target.debian);
    run(command("dpkg-deb", &["--raw-extract", &deb, &folder]))?;
    put(
        &root().join(&folder).join("DEBIAN/shlibs"),
        &format!("libzariz {compatible} {package} (>= {version})\n"),
    )?;
    let mut build = command("dpkg-deb", &["--root-owner-group", "-Zxz", "--build", &folder, &deb]);
    build.env("SOURCE_DATE_EPOCH", commit("%ct")?);
    run(build)
}

/// The wheels and the source archive. Wheels also have the licences of what is compiled into them.
fn python() -> Result<()> {
    let manifest = ["--manifest-path", "python/Cargo.toml"];
    let maturin = |target: &Target, arguments: &[&str]| {
        run(for_target(target, "maturin", &[arguments, &manifest, &["--out", DIST]].concat())?)
    };
    maturin(Target::host()?, &["sdist"])?;
    let crates = licences::of_dependencies(&Graph::read_of(&manifest)?, &manifest)?;
    // pyproject.toml takes all that begin so.
    let licences = [CRATES, RUST].map(|name| root().join("python").join(format!("LICENSE-{name}")));
    put(&licences[0], &crates)?;
    copy(&root().join(LICENCES).join(RUST), &licences[1])?;
    let platform = format!("manylinux_{}_{}", GLIBC.0, GLIBC.1);
    let place = format!("{TARGET}/python");
    let build = |target: &Target| {
        let triple = target.triple();
        let for_target = ["--target", &triple, "--compatibility", &platform, "--target-dir", &place];
        maturin(target, &[&["build", "--release", "--zig"], &for_target[..]].concat())?;
        elf::check(&root().join(&place).join(triple).join("release/lib_zariz.so"), target)
    };
    let built = TARGETS.iter().try_for_each(build);
    for file in &licences {
        fs::remove_file(file).with_context(|| format!("cannot remove {}", file.display()))?;
    }
    built
}

/// Writes SHA256SUMS, and shows the files.
fn list() -> Result<()> {
    let dist = root().join(DIST);
    let mut names = Vec::new();
    for entry in fs::read_dir(&dist).with_context(|| format!("cannot list {DIST}"))? {
        names.push(entry.with_context(|| format!("cannot list {DIST}"))?.file_name());
    }
    names.sort();
    let mut sums = command("sha256sum", &[]);
    sums.args(&names).current_dir(&dist);
    put(&dist.join("SHA256SUMS"), &output(sums)?)?;
    for name in names {
        let size = fs::metadata(dist.join(&name)).map_or(0, |file| file.len());
        println!("{size:>9} bytes  {DIST}/{}", name.to_string_lossy());
    }
    Ok(())
}

/// A tool that compiles or packs: into our folder, without names of folders of this machine, and with the
/// time of the last commit.
fn for_target(target: &Target, name: &str, arguments: &[&str]) -> Result<Command> {
    let mut tool = tool(name, arguments)?;
    if *target == AARCH64
        && let Some(compiler) = arm::compiler()?
    {
        tool.env("RUSTC", compiler.join("rustc"));
    }
    tool.env("CARGO_TARGET_DIR", root().join(TARGET));
    tool.env("SOURCE_DATE_EPOCH", commit("%ct")?);
    let home = reproducible::cargo_home()?;
    tool.env("RUSTFLAGS", format!("--remap-path-prefix={}=/cargo", home.display()));
    Ok(tool)
}

/// A fact about the last commit.
fn commit(format: &str) -> Result<String> {
    let show = output(command("git", &["show", "--no-patch", &format!("--format={format}")]))?;
    Ok(show.trim().to_owned())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    make_folder(to)?;
    fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

fn put(to: &Path, text: &str) -> Result<()> {
    make_folder(to)?;
    fs::write(to, text).with_context(|| format!("cannot write {}", to.display()))
}

fn make_folder(of: &Path) -> Result<()> {
    let folder = of.parent().map(PathBuf::from).unwrap_or_default();
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))
}
