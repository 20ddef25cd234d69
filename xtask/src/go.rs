//! The Go module (`go/`): the file with the engine, which Go links, and its tests.
//!
//! That file is all of libzariz that the module uses, as one object. Only the functions that the module names
//! stay visible: the rest of it, such as Rust's standard library, meets no symbol of another library in a
//! program.

use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::metadata::target_directory;
use crate::process::{cargo, command, empty_folder, output, root, run};
use crate::suite;
use crate::target::Target;

const HEADER: &str = "crates/capi/include/zariz.h";
const COPY: &str = "go/zariz.h";
/// It names each function that it uses once, as `#pragma weak`.
const USER: &str = "go/engine_cgo.go";
/// Modules in `go/`, of which the others use the first.
const MODULES: &[&str] = &["", "jwt", "interop"];
/// Tests of goroutines that meet, for the slow ways to run them.
const MEETING: &str = "^Test(Goroutines|Many|Contexts|Close|TLS|Keys|Powers|Decryption)";
/// Copies of the module for its tests, with and without the engine.
const COPIES: &str = "target/go";

/// Of Rust's own library, for the linker of Rust. It is more than half of a static library.
pub const NO_BITCODE: &str = "--remove-section=.llvm*";

/// The file of a target, below the module.
pub fn engine(target: &Target) -> String {
    format!("internal/syso/zariz_linux_{}.syso", target.debian)
}

/// Makes the file of this machine in the module, and renews the module's copy of the header.
pub fn write() -> Result<()> {
    let host = Target::host()?;
    run(cargo(&["build", "--release", "--locked", "-p", "zariz-capi"]))?;
    fs::copy(root().join(HEADER), root().join(COPY)).with_context(|| format!("cannot write {COPY}"))?;
    let path = root().join("go").join(engine(host));
    link(host, &target_directory()?.join("release/libzariz_capi.a"), &path)?;
    println!("{}: programs with the module have the engine now", path.display());
    Ok(())
}

/// Makes the file of a static library.
pub fn link(target: &Target, library: &Path, to: &Path) -> Result<()> {
    let source = fs::read_to_string(root().join(USER)).with_context(|| format!("cannot read {USER}"))?;
    let used: Vec<&str> = source.lines().filter_map(|line| line.strip_prefix("#pragma weak ")).collect();
    let (library, object, to) = (shown(library)?, format!("{}.o", shown(to)?), shown(to)?);
    let mut ld =
        command(&target.tool("ld"), &["-r", "--gc-sections", "--force-group-allocation", "-o", &object]);
    ld.args(used.iter().flat_map(|name| ["-u", name])).arg(library);
    run(ld)?;
    let mut objcopy = command(&target.tool("objcopy"), &["--strip-unneeded", NO_BITCODE]);
    objcopy.args(used.iter().flat_map(|name| ["--keep-global-symbol", name])).args([&object, to]);
    run(objcopy)?;
    fs::remove_file(&object).with_context(|| format!("cannot remove {object}"))?;
    let symbols = output(command("readelf", &["--syms", "--wide", to]))?;
    // Number, value, size, type, binding, visibility, section, name.
    let is_defined = |name: &&str| {
        symbols.lines().any(|line| {
            let words: Vec<_> = line.split_whitespace().collect();
            words.len() == 8 && words[4] == "GLOBAL" && words[6] != "UND" && words[7] == *name
        })
    };
    let missing: Vec<_> = used.iter().filter(|name| !is_defined(name)).collect();
    ensure!(
        missing.is_empty() && !used.is_empty(),
        "the library does not have {missing:?}, which {USER} uses"
    );
    Ok(())
}

fn shown(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("{} is not UTF-8", path.display()))
}

/// Everything: format, vet, and tests with the engine and without.
pub fn tests() -> Result<()> {
    let version = output(command("go", &["env", "GOVERSION"])).unwrap_or_default();
    let minor = version.trim().strip_prefix("go1.").and_then(|rest| rest.split('.').next()?.parse().ok());
    if minor.is_none_or(|minor: u32| minor < 24) {
        bail!("the Go module needs Go 1.24 or newer (https://go.dev/dl), and here is {version:?}");
    }
    ensure!(
        fs::read(root().join(HEADER))? == fs::read(root().join(COPY))?,
        "{COPY} is not {HEADER}; `cargo xtask go` copies it"
    );
    let unformatted = output(command("gofmt", &["-l", "go"]))?;
    ensure!(unformatted.is_empty(), "not formatted (`gofmt -w go` does it):\n{unformatted}");

    let (with, without) = (root().join(COPIES).join("with"), root().join(COPIES).join("without"));
    for copy in [&with, &without] {
        empty_folder(copy)?;
        let files =
            output(command("git", &["ls-files", "--others", "--exclude-standard", "--cached", "go"]))?;
        for file in files.lines() {
            let to = copy.join(file.strip_prefix("go/").unwrap_or(file));
            fs::create_dir_all(to.parent().context("a file has a folder")?)?;
            fs::copy(root().join(file), &to).with_context(|| format!("cannot copy {file}"))?;
        }
    }
    let host = Target::host()?;
    link(host, &suite::library("libzariz_capi.a")?, &with.join(engine(host)))?;
    let vectors = suite::wycheproof()?;
    let go = |folder: &Path, engine: &str, arguments: &[&str]| {
        let mut go = Command::new("go");
        go.args(arguments).current_dir(folder).env("ZARIZ_EXPECT", engine).env("ZARIZ_WYCHEPROOF", &vectors);
        go
    };
    let mut jobs = Vec::new();
    for module in MODULES {
        let folder = with.join(module);
        run(go(&folder, "engine", &["vet", "./..."]))?;
        jobs.push((format!("go/{module}"), go(&folder, "engine", &["test", "./..."])));
    }
    let race = ["test", "-race", "-run", MEETING, "."];
    jobs.push(("go under the race detector".into(), go(&with, "engine", &race)));
    let mut checked = go(&with, "engine", &["test", "-run", MEETING, "."]);
    checked.env("GOEXPERIMENT", "cgocheck2");
    jobs.push(("go with cgocheck2".into(), checked));
    // Go would take the result of the first run: it sees no variable that C reads.
    let mut narrower = go(&with, "engine", &["test", "-count=1", "-run", MEETING, "."]);
    narrower.env("ZARIZ_HIDE", "avx512,ifma");
    jobs.push(("go as with AVX2".into(), narrower));
    // Nothing meets there, and crypto/rsa takes minutes.
    let mut pure = go(&with, "crypto/rsa", &["test", "-skip", "^Test(Goroutines|Contexts)", "./..."]);
    pure.env("CGO_ENABLED", "0");
    jobs.push(("go without cgo".into(), pure));
    let short = ["test", "-run", "^Test(Engine|Keys|Signatures|Decryption|Wrong)", "."];
    jobs.push(("go without the engine".into(), go(&without, "crypto/rsa", &short)));
    suite::run(jobs)
}
