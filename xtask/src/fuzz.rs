//! The fuzz targets of `lab/fuzz/`: each for some time under libFuzzer, with a nightly compiler and
//! cargo-fuzz; and the replay of their small corpus on the compiler that runs us.
//!
//! What libFuzzer learns stays in lab/fuzz/corpus, what it finds in lab/fuzz/artifacts; git ignores both. The
//! small corpus is an archive for each target, in lab/fuzz/corpus-small. How to read and repeat what
//! libFuzzer says: docs/notes/fuzzing.md.

use anyhow::{Context, Result, bail};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::{cargo, command, nightly, root, run, works};

const BUILD: &str = "the fuzz targets cannot be built, or clippy found errors; they need libssl-dev and pkg-config \
                     (`cargo xtask test packages` installs them)";
const MANIFEST: &str = "--manifest-path=lab/fuzz/Cargo.toml";
/// Where each target is a file, as cargo-fuzz has it.
const TARGETS: &str = "lab/fuzz/fuzz_targets";
const PROGRAMS: &str = "target/fuzz/x86_64-unknown-linux-gnu/release";
/// Where the small corpus is unpacked.
const UNPACKED: &str = "target/fuzz/corpus-small";
/// How long each target runs, unless the command line says.
const SECONDS: u32 = 60;
/// A longer input has room for no more than a shorter one: a key of 2,048 bits in PEM needs half of it.
const LONGEST: usize = 4096;
/// The small corpus of a target: the longest file, all bytes, and how many files.
const SMALL: (u64, u64, usize) = (2048, 20_000, 100);
/// Inputs that make a target slow are not wrong.
const SLOW: &str = "slow-unit-";

/// What the command line asks for.
struct Request {
    seconds: u32,
    target: Option<String>,
    /// Whether the small corpus is made anew from all that is known, in place of a search.
    minimises: bool,
    /// An input that goes into the small corpus, in place of a search.
    keep: Option<String>,
}

impl Request {
    fn new(arguments: &[&str]) -> Result<Self> {
        let mut out = Self { seconds: SECONDS, target: None, minimises: false, keep: None };
        let mut rest = arguments.iter();
        while let Some(&word) = rest.next() {
            match (word, word.parse()) {
                ("--target", _) => {
                    out.target = Some(rest.next().context("--target needs a name")?.to_string())
                }
                ("--minimise", _) => out.minimises = true,
                ("--keep", _) => out.keep = Some(rest.next().context("--keep needs a file")?.to_string()),
                (_, Ok(seconds @ 1..)) => out.seconds = seconds,
                _ => bail!(
                    "`{word}` is neither a number of seconds, nor --target NAME, --minimise or --keep FILE"
                ),
            }
        }
        Ok(out)
    }
}

/// What libFuzzer says of a run.
#[derive(Default)]
struct Report {
    /// Whether no input failed.
    good: bool,
    runs: u64,
    edges: u64,
    features: u64,
}

/// Runs the targets that the command line asks for.
pub fn run_all(arguments: &[&str]) -> Result<()> {
    let request = Request::new(arguments)?;
    let mut names = targets()?;
    if let Some(name) = &request.target {
        names.retain(|known| known == name);
        if names.is_empty() {
            bail!("no target {name}; there are: {}", targets()?.join(", "));
        }
    }
    if let Some(file) = &request.keep {
        return keep(request.target.as_deref().context("--keep needs --target NAME")?, Path::new(file));
    }
    if !works("rustup", &["run", "nightly", "cargo", "fuzz", "--version"]) {
        bail!(
            "fuzzing needs a nightly compiler and cargo-fuzz (`rustup toolchain install nightly`, `cargo install \
             cargo-fuzz`)"
        );
    }
    // Why without a sanitizer, and in many parts: docs/notes/fuzzing.md.
    let how = ["--sanitizer", "none", "--codegen-units", "16", "--target-dir", "target/fuzz"];
    run(nightly(&[&["fuzz", "build", "--fuzz-dir", "lab/fuzz"][..], &how].concat())).context(BUILD)?;
    let mut failures = 0;
    for name in &names {
        failures +=
            if request.minimises { minimise(name).map(|()| 0)? } else { search(name, request.seconds)? };
    }
    if failures > 0 { bail!("{failures} findings") } else { Ok(()) }
}

/// The names of the targets.
fn targets() -> Result<Vec<String>> {
    let name = |path: &PathBuf| path.file_stem().map(|name| name.to_string_lossy().into_owned());
    Ok(files(&root().join(TARGETS))?.iter().filter_map(name).collect())
}

/// Repeats what failed before, then searches for so many seconds; the number of inputs that fail.
fn search(name: &str, seconds: u32) -> Result<usize> {
    let before = findings(name)?;
    let again: Vec<_> = before.iter().filter(|path| !repeat(name, path).is_ok_and(|good| good)).collect();
    let used = children_seconds()?;
    let report = libfuzzer(name, seconds)?;
    let new: Vec<_> = findings(name)?.into_iter().filter(|path| !before.contains(path)).collect();
    println!(
        "{name}: {} runs, {} edges and {} features covered, {} findings, {:.0} s of processor time",
        report.runs,
        report.edges,
        report.features,
        new.len(),
        children_seconds()? - used
    );
    for (what, paths) in [("fails again", again.clone()), ("fails", new.iter().collect())] {
        for path in paths {
            println!("  {what}: {PROGRAMS}/{name} {}", path.display());
        }
    }
    let is_known = !report.good && new.is_empty() && again.is_empty();
    if is_known {
        println!("  an input of lab/fuzz/corpus/{name} or {UNPACKED}/{name} fails; see above");
    }
    Ok(again.len() + new.len() + usize::from(is_known))
}

/// The program of a target, and the folders that it needs. It writes its seeds to its corpus.
fn program(name: &str, arguments: &[&str]) -> Result<Command> {
    let (corpus, artifacts) = (format!("lab/fuzz/corpus/{name}"), format!("lab/fuzz/artifacts/{name}"));
    for folder in [&corpus, &artifacts] {
        fs::create_dir_all(root().join(folder)).with_context(|| format!("cannot make {folder}"))?;
    }
    let mut program = command(&root().join(PROGRAMS).join(name).to_string_lossy(), arguments);
    program
        .arg(format!("-artifact_prefix={artifacts}/"))
        .env("ZARIZ_FUZZ_SEEDS", corpus)
        .stdin(Stdio::null());
    Ok(program)
}

/// Whether a target accepts an input.
fn repeat(name: &str, path: &Path) -> Result<bool> {
    let mut program = program(name, &["-timeout=300"])?;
    program.arg(path).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(program.status().with_context(|| format!("cannot run the target {name}"))?.success())
}

fn libfuzzer(name: &str, seconds: u32) -> Result<Report> {
    let own = format!("lab/fuzz/corpus/{name}");
    let mut program = program(name, &[&own, "-print_final_stats=1", "-timeout=300", "-rss_limit_mb=4096"])?;
    program.arg(unpack(name)?).arg(format!("-max_len={LONGEST}")).arg(format!("-max_total_time={seconds}"));
    if name == "stream" {
        // The program reports every bad line.
        program.arg("-close_fd_mask=2");
    }
    let mut child = program.stderr(Stdio::piped()).spawn().with_context(|| format!("cannot run {name}"))?;
    let (mut report, mut tail) = (Report::default(), Vec::new());
    for line in BufReader::new(child.stderr.take().context("libFuzzer has no output")?).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        let number = |before: &str| {
            let rest = line.split_once(before)?.1.trim_start();
            rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        report.edges = number(" cov: ").unwrap_or(report.edges);
        report.features = number(" ft: ").unwrap_or(report.features);
        report.runs = number("stat::number_of_executed_units:").unwrap_or(report.runs);
        tail.push(line);
        // Enough for a panic's message and a backtrace.
        if tail.len() > 100 {
            tail.remove(0);
        }
    }
    let status = child.wait().context("libFuzzer does not end")?;
    report.good = status.success();
    if !report.good {
        println!("{}", tail.join("\n"));
    }
    if report.runs == 0 {
        bail!("the target {name} did not run ({status})");
    }
    Ok(report)
}

/// The archive of a target's small corpus.
fn archive(name: &str) -> PathBuf {
    root().join("lab/fuzz/corpus-small").join(format!("{name}.tar.gz"))
}

/// Unpacks the small corpus of a target, and says where.
fn unpack(name: &str) -> Result<PathBuf> {
    let folder = root().join(UNPACKED).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut tar = command("tar", &["-xzf"]);
    tar.arg(archive(name)).arg("-C").arg(&folder);
    run(tar).map(|()| folder)
}

/// Packs it again; the same files make the same archive.
fn pack(name: &str) -> Result<()> {
    let folder = root().join(UNPACKED).join(name);
    let names: Vec<_> =
        files(&folder)?.iter().filter_map(|path| path.file_name().map(ToOwned::to_owned)).collect();
    let mut tar = command("tar", &["--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=0644"]);
    tar.args(["--use-compress-program=gzip -9n", "-cf"])
        .arg(archive(name))
        .arg("-C")
        .arg(folder)
        .arg("--")
        .args(names);
    run(tar)
}

/// Puts an input into the small corpus of a target. A hyphen in its name keeps it there.
fn keep(name: &str, file: &Path) -> Result<()> {
    let own = file.file_name().filter(|own| own.to_string_lossy().contains('-'));
    let own = own.context("the file needs a name with a hyphen, which says what it has found")?;
    fs::copy(file, unpack(name)?.join(own)).with_context(|| format!("cannot copy {}", file.display()))?;
    pack(name)
}

/// Makes the small corpus of a target anew: of the inputs that reach what the seeds do not, in order of
/// length, every n-th, as far as the room goes. Those of regressions, which have names, stay.
fn minimise(name: &str) -> Result<()> {
    let small = unpack(name)?;
    let merged = root().join("target/fuzz/merged").join(name);
    let _ = fs::remove_dir_all(&merged);
    fs::create_dir_all(&merged).with_context(|| format!("cannot make {}", merged.display()))?;
    let mut program = program(name, &["-merge=1", "-timeout=300"])?;
    // What is there when a merge begins counts as known.
    program.env("ZARIZ_FUZZ_SEEDS", &merged).arg(format!("-max_len={}", SMALL.0));
    program.arg(&merged).arg(&small).arg(root().join("lab/fuzz/corpus").join(name)).stdout(Stdio::null());
    run(program).context("libFuzzer cannot merge")?;
    let has_name = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().contains('-'));
    for path in files(&small)?.iter().filter(|path| !has_name(path)) {
        fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    let mut found = Vec::new();
    for path in files(&merged)?.into_iter().filter(|path| !has_name(path)) {
        found.push((fs::metadata(&path)?.len(), path));
    }
    found.sort();
    let (mut kept, mut bytes) = (0, 0);
    for (length, path) in found.iter().step_by(found.len().div_ceil(SMALL.2).max(1)) {
        bytes += length;
        if bytes > SMALL.1 {
            break;
        }
        // libFuzzer's names are hashes.
        let short: String = path.file_name().unwrap_or_default().to_string_lossy().chars().take(12).collect();
        fs::copy(path, small.join(short)).with_context(|| format!("cannot copy {}", path.display()))?;
        kept += 1;
    }
    pack(name)?;
    println!("{name}: {kept} of {} inputs that reach what no seed reaches", found.len());
    Ok(())
}

/// The inputs on which a target failed.
fn findings(name: &str) -> Result<Vec<PathBuf>> {
    let folder = root().join("lab/fuzz/artifacts").join(name);
    let mut out = if folder.is_dir() { files(&folder)? } else { Vec::new() };
    out.retain(|path| !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(SLOW)));
    Ok(out)
}

/// The files of a folder, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>();
    let mut out = read().with_context(|| format!("cannot list {}", folder.display()))?;
    out.sort();
    Ok(out)
}

/// Processor time of the programs that we ran and that ended, in seconds.
fn children_seconds() -> Result<f64> {
    let text = fs::read_to_string("/proc/self/stat").context("fuzzing needs Linux's /proc")?;
    // Behind the name, which is in parentheses: the fields from the third on; 16 and 17 are what we look for.
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(13).take(2);
    Ok(fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0)
}

/// Every input of the small corpus through its target, without libFuzzer; and clippy over the targets.
pub fn replay() -> Result<()> {
    let set = [MANIFEST, "--locked", "--target-dir", "target/fuzz-replay"];
    run(cargo(&["fmt", MANIFEST, "--check"])).context("the fuzz targets are not formatted")?;
    let clippy = ["clippy", "--all-targets"].iter().chain(&set).chain(&["--", "-D", "warnings"]);
    run(cargo(&clippy.copied().collect::<Vec<_>>())).context(BUILD)?;
    run(cargo(&["test", "--lib"].iter().chain(&set).copied().collect::<Vec<_>>()))
        .context("a seed or an input of lab/fuzz/corpus-small fails")
}
