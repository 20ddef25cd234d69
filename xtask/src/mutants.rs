//! `cargo xtask mutants`: whether tests notice small faults that cargo-mutants plants in the sources.
//!
//! Mutants are drawn at random. Quick tests run for each; what they miss, or do not end with, meets more tests. Results
//! stay in target/mutants, by commit, so a run continues where the last one stopped.

use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{cargo, output, root, run, works};
use crate::processor;

/// Sources of one kind, and the tests that know them.
struct Subject {
    name: &'static str,
    /// Globs of files.
    files: &'static [&'static str],
    tests: [Tests; STAGES],
}

/// Tests that run together.
struct Tests {
    packages: &'static [&'static str],
    /// Arguments of `cargo test` that select tests and features.
    targets: &'static [&'static str],
    /// Seconds that they may take.
    limit: u32,
}

/// Quick tests, and slower ones for what these miss.
const STAGES: usize = 2;

const SUBJECTS: [Subject; 3] = [
    Subject {
        name: "kernels",
        files: &["crates/kernels/src/**"],
        tests: [
            Tests {
                packages: &["zariz-kernels", "zariz-machines"],
                targets: &[
                    "--features=zariz-machines/papers",
                    "--lib",
                    "--test=carry",
                    "--test=methods",
                    "--test=pair",
                    "--test=rsaz",
                    "--test=scalar",
                ],
                limit: 240,
            },
            Tests {
                packages: &["zariz-analysis", "zariz-bls12-381", "zariz-machines", "zariz"],
                targets: &["--tests"],
                limit: 1800,
            },
        ],
    },
    Subject {
        name: "rsa",
        files: &["crates/zariz/src/rsa/**"],
        tests: [
            Tests {
                packages: &["zariz"],
                targets: &[
                    "--features=zariz/encryption",
                    "--test=blind",
                    "--test=decryption",
                    "--test=generate",
                    "--test=hazmat",
                    "--test=key_components",
                    "--test=keys",
                    "--test=pss_keys",
                ],
                limit: 240,
            },
            Tests { packages: &["zariz"], targets: &["--features=zariz/encryption", "--tests"], limit: 1800 },
        ],
    },
    Subject {
        name: "queue",
        files: &["crates/zariz/src/batcher/**", "crates/openssl-provider/src/queue/**"],
        tests: [
            Tests {
                packages: &["zariz", "zariz-openssl-provider"],
                targets: &["--test=batcher", "--test=batcher_orders", "--test=jobs"],
                limit: 240,
            },
            Tests { packages: &["zariz", "zariz-openssl-provider"], targets: &["--tests"], limit: 1800 },
        ],
    },
];

/// What became of mutants, as cargo-mutants names its lists.
const OUTCOMES: [&str; 4] = ["caught", "missed", "timeout", "unviable"];

struct Request {
    count: usize,
    seed: u64,
    jobs: usize,
    /// The name of the only subject to test now.
    only: Option<String>,
}

impl Request {
    fn new(arguments: &[&str]) -> Result<Self> {
        let mut out = Self { count: 500, seed: 1, jobs: 1, only: None };
        for pair in arguments.chunks(2) {
            let word = pair.get(1).copied().unwrap_or_default();
            match (pair[0], word.parse::<u32>()) {
                ("--count", Ok(count @ 1..)) => out.count = count as usize,
                ("--seed", Ok(seed)) => out.seed = seed.into(),
                ("--jobs", Ok(jobs @ 1..)) => out.jobs = jobs as usize,
                ("--only", _) if SUBJECTS.iter().any(|subject| subject.name == word) => out.only = Some(word.into()),
                _ => bail!(
                    "`{}` is none of --count N, --seed S, --jobs J and --only kernels, rsa or queue",
                    pair.join(" ")
                ),
            }
        }
        Ok(out)
    }

    fn includes(&self, subject: &Subject) -> bool {
        self.only.as_ref().is_none_or(|only| only == subject.name)
    }
}

impl Subject {
    /// The names of this subject's mutants among those drawn.
    fn names<'a>(&self, drawn: &'a [(&str, String)]) -> Vec<&'a str> {
        drawn.iter().filter(|(of, _)| *of == self.name).map(|(_, name)| name.as_str()).collect()
    }
}

/// Draws mutants, tests them, and writes what became of them.
pub fn test(arguments: &[&str]) -> Result<()> {
    let request = Request::new(arguments)?;
    if !works("cargo", &["mutants", "--version"]) {
        bail!("this needs cargo-mutants: `cargo install cargo-mutants --locked`");
    }
    let mut all = Vec::new();
    for subject in &SUBJECTS {
        let mut list = cargo(&["mutants", "--workspace", "--list"]);
        list.args(each("--file", subject.files));
        all.extend(output(list)?.lines().map(|mutant| (subject.name, mutant.to_owned())));
    }
    let population = all.len();
    let drawn = draw(all, request.count, request.seed);
    let commit = processor::commit()?;
    if commit.contains('-') {
        bail!("results are kept by commit: commit the changes first");
    }
    let folder = root().join(format!("target/mutants/{commit}-{}", request.seed));
    let results = processor::results("mutants", &format!("-seed-{}.md", request.seed))?;
    let head = format!("Commit {commit}, {}, seed {}, {population} mutants in all.", processor::slug()?, request.seed);
    for stage in 0..STAGES {
        for subject in SUBJECTS.iter().filter(|subject| request.includes(subject)) {
            let names = subject.names(&drawn);
            let known = Known::new(folder.join(subject.name))?;
            let left = known.left(&names, stage)?;
            println!("{}, stage {} of {STAGES}: {} of {} mutants", subject.name, stage + 1, left.len(), names.len());
            let ran = known.run(stage, subject, &left, request.jobs);
            // Each time, and before an error ends the command: so a run that is interrupted leaves what it found.
            fs::write(&results, head.clone() + &page(&drawn, &folder)?).context("cannot write the results")?;
            ran?;
        }
    }
    println!("written: {}", results.display());
    Ok(())
}

/// Draws `count` items by a partial Fisher–Yates shuffle. The same seed draws the same ones; a smaller count draws
/// the first of them.
fn draw<T>(mut all: Vec<T>, count: usize, seed: u64) -> Vec<T> {
    let mut state = seed;
    for i in 0..count.min(all.len()) {
        // SplitMix64. The remainder is slightly uneven, which does not matter here.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        let from = i + ((mixed ^ mixed >> 31) % (all.len() - i) as u64) as usize;
        all.swap(i, from);
    }
    all.truncate(count);
    all
}

/// What is known of the mutants of one subject: for each stage a folder of cargo-mutants.
struct Known {
    folder: PathBuf,
}

impl Known {
    fn new(folder: PathBuf) -> Result<Self> {
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(Self { folder })
    }

    /// The mutants that had this outcome in a stage.
    fn list(&self, stage: usize, outcome: &str) -> Result<BTreeSet<String>> {
        let path = self.folder.join(format!("{stage}-{outcome}.txt"));
        let text = if path.exists() { fs::read_to_string(&path)? } else { String::new() };
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// The mutants that a stage has to test: of those that the one before did not notice, or did not end with.
    fn left<'a>(&self, names: &[&'a str], stage: usize) -> Result<Vec<&'a str>> {
        self.keep(stage)?;
        let mut done = BTreeSet::new();
        for outcome in OUTCOMES {
            done.append(&mut self.list(stage, outcome)?);
        }
        let asked = if stage == 0 { None } else { Some(self.unsettled(stage - 1)?) };
        let is_left = |name: &&str| !done.contains(*name) && asked.as_ref().is_none_or(|asked| asked.contains(*name));
        Ok(names.iter().copied().filter(is_left).collect())
    }

    /// The mutants with which the tests of a stage passed, or did not end: perhaps because the machine was slow.
    fn unsettled(&self, stage: usize) -> Result<BTreeSet<String>> {
        Ok(&self.list(stage, "missed")? | &self.list(stage, "timeout")?)
    }

    /// Adds what cargo-mutants has found to our lists.
    fn keep(&self, stage: usize) -> Result<()> {
        let found = self.folder.join(format!("stage-{stage}/mutants.out"));
        for outcome in OUTCOMES {
            let Ok(text) = fs::read_to_string(found.join(format!("{outcome}.txt"))) else { continue };
            let mut known = self.list(stage, outcome)?;
            known.extend(text.lines().map(str::to_owned));
            let text: String = known.into_iter().map(|name| name + "\n").collect();
            fs::write(self.folder.join(format!("{stage}-{outcome}.txt")), text)?;
        }
        Ok(())
    }

    fn run(&self, stage: usize, subject: &Subject, names: &[&str], jobs: usize) -> Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        let tests = &subject.tests[stage];
        // Not by cargo-mutants, which leaves out the packages that have no mutants.
        let mut unchanged = cargo(&["test", "--locked", "--quiet"]);
        unchanged.args(each("--package", tests.packages)).args(tests.targets);
        run(unchanged).with_context(|| format!("the tests of {} fail without any mutant", subject.name))?;
        let quoted = names.iter().map(|name| format!("{:?}", format!("^{}$", escaped(name))));
        let config = self.folder.join("mutants.toml");
        fs::write(&config, format!("examine_re = [{}]\n", quoted.collect::<Vec<_>>().join(",\n")))?;
        let mut mutants = cargo(&["mutants", "--workspace", "--baseline=skip", "--no-times", "--cargo-arg=--locked"]);
        mutants.arg("--config").arg(&config).arg("--output").arg(self.folder.join(format!("stage-{stage}")));
        mutants.args(["--jobs", &jobs.to_string(), "--timeout", &tests.limit.to_string()]);
        mutants.args(each("--file", subject.files)).args(each("--test-package", tests.packages));
        // For the build too: what does not run need not be built.
        mutants.args(tests.targets.iter().map(|target| format!("--cargo-arg={target}")));
        // Its status says whether mutants were missed.
        let status = mutants.status().context("cannot run cargo mutants")?;
        self.keep(stage)?;
        match status.code() {
            Some(0 | 2 | 3) => Ok(()),
            _ => bail!("cargo mutants failed ({status})"),
        }
    }
}

/// The option before each of its values.
fn each(option: &'static str, values: &'static [&'static str]) -> impl Iterator<Item = &'static str> {
    values.iter().flat_map(move |value| [option, value])
}

/// A regular expression for exactly this text.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for char in text.chars() {
        // `\<` and `\>` would be borders of words.
        if r"\.+*?()|[]{}^$".contains(char) {
            out.push('\\');
        }
        out.push(char);
    }
    out
}

fn page(drawn: &[(&str, String)], folder: &Path) -> Result<String> {
    let mut out = format!(
        " {} of them were drawn at random, planted by cargo-mutants one at a time, and tested. Caught: a test failed. \
         Timeout: tests did not end. Unviable: it does not compile.\n\n\
         | sources | drawn | caught | timeout | unviable | missed | not tested |\n|---|---:|---:|---:|---:|---:|---:|\n",
        drawn.len()
    );
    let (mut tests, mut lists) = (String::new(), String::new());
    for subject in &SUBJECTS {
        let names = subject.names(drawn);
        let known = Known::new(folder.join(subject.name))?;
        let of = |outcome: &str, stages: std::ops::Range<usize>| -> Result<Vec<&str>> {
            let lists = stages.map(|stage| known.list(stage, outcome)).collect::<Result<Vec<_>>>()?;
            Ok(names.iter().copied().filter(|&name| lists.iter().any(|list| list.contains(name))).collect())
        };
        let last = STAGES - 1..STAGES;
        let settled =
            [of("caught", 0..STAGES)?, of("timeout", last.clone())?, of("unviable", 0..STAGES)?, of("missed", last)?];
        let [caught, timeout, unviable, missed] = settled.each_ref().map(Vec::len);
        let left = names.len() - caught - timeout - unviable - missed;
        let (name, drawn) = (subject.name, names.len());
        out += &format!("| {name} | {drawn} | {caught} | {timeout} | {unviable} | {missed} | {left} |\n");
        let words = |tests: &Tests| [tests.packages, tests.targets].concat().join(" ");
        tests += &format!("- {name}: `{}`, then `{}`\n", words(&subject.tests[0]), words(&subject.tests[1]));
        let open: Vec<&str> = known.left(&names, STAGES - 1)?;
        for (what, list) in [("missed", &settled[3]), ("missed by the quick tests, and not tested further", &open)] {
            if !list.is_empty() {
                let list: String = list.iter().map(|name| format!("- `{name}`\n")).collect();
                lists += &format!("\n{name}, {what}:\n\n{list}");
            }
        }
    }
    Ok(format!("{out}\nTests (packages, and arguments of `cargo test`):\n\n{tests}{lists}"))
}
