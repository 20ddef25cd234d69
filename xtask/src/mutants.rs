//! `cargo xtask mutants`: whether tests notice small faults that cargo-mutants plants in the sources.
//!
//! Mutants are drawn at random. Quick tests run for each; what they miss meets more tests. Results
//! stay in target/mutants, by commit, so a run continues where the last one stopped.

use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fmt, fs};

use crate::process::{cargo, output, root, run, works};
use crate::processor;

/// Sources of one kind, and the tests that know them.
struct Subject {
    name: &'static str,
    /// Globs of files.
    files: &'static [&'static str],
    /// Quick tests first; each of the others is for what those before it missed.
    stages: &'static [Tests],
}

/// Tests that run together.
struct Tests {
    packages: &'static [&'static str],
    /// Arguments of `cargo test` that select tests and features.
    targets: &'static [&'static str],
    /// Names of tests that are left out.
    skipped: &'static [&'static str],
    /// Seconds that they may take: several times what they need without a mutant.
    limit: u32,
}

const SUBJECTS: [Subject; 5] = [
    Subject {
        name: "batcher",
        files: &["crates/zariz/src/batcher/**"],
        stages: &[
            Tests {
                packages: &["zariz"],
                targets: &["--test=batcher", "--test=batcher_orders"],
                skipped: &[],
                limit: 100,
            },
            Tests {
                packages: &["zariz", "zariz-openssl-provider"],
                targets: &[
                    "--lib",
                    "--test=batcher_fork",
                    "--test=jobs",
                    "--test=processes",
                    "--test=requests",
                    "--test=threads",
                ],
                skipped: &["zeroize_stack"],
                limit: 600,
            },
        ],
    },
    Subject {
        name: "provider",
        files: &["crates/openssl-provider/src/queue/**"],
        stages: &[
            Tests {
                packages: &["zariz-openssl-provider"],
                targets: &["--lib", "--test=jobs", "--test=threads"],
                skipped: &[],
                limit: 240,
            },
            Tests { packages: &["zariz-openssl-provider"], targets: &["--tests"], skipped: &[], limit: 1800 },
        ],
    },
    Subject {
        name: "rsa",
        files: &["crates/zariz/src/rsa/**"],
        stages: &[
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
                skipped: &[],
                limit: 240,
            },
            Tests {
                packages: &["zariz"],
                targets: &[
                    "--features=zariz/encryption",
                    "--lib",
                    "--test=digests",
                    "--test=encrypted_keys",
                    "--test=key_bytes",
                    "--test=key_formats",
                    "--test=openssl",
                    "--test=rsa",
                ],
                skipped: &["zeroize_stack"],
                limit: 600,
            },
            Tests {
                packages: &["zariz", "zariz-openssl-provider"],
                targets: &["--features=zariz/encryption", "--tests"],
                skipped: &["zeroize_stack"],
                limit: 1800,
            },
        ],
    },
    Subject {
        name: "bls12-381",
        files: &["crates/kernels/src/bls12_381/**"],
        stages: &[
            Tests { packages: &["zariz-bls12-381"], targets: &["--tests"], skipped: &[], limit: 240 },
            Tests { packages: &["zariz-analysis"], targets: &["--tests"], skipped: &[], limit: 1800 },
        ],
    },
    Subject {
        name: "kernels",
        // All but those of BLS12-381.
        files: &["crates/kernels/src/*.rs", "crates/kernels/src/[!b]*/**", "crates/kernels/src/batch/**"],
        stages: &[
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
                skipped: &["every_method_at_the_usual_sizes", "many_numbers_of_the_tuned_lengths"],
                limit: 120,
            },
            Tests {
                packages: &["zariz"],
                targets: &[
                    "--features=zariz/encryption",
                    "--lib",
                    "--test=dispatch",
                    "--test=fixed_base",
                    "--test=generate",
                    "--test=hazmat",
                    "--test=keys",
                    "--test=multi_pow",
                    "--test=primes",
                    "--test=products",
                ],
                skipped: &["zeroize_stack"],
                limit: 240,
            },
            Tests {
                packages: &["zariz-analysis", "zariz-machines", "zariz"],
                targets: &["--tests"],
                skipped: &["zeroize_stack"],
                limit: 1800,
            },
        ],
    },
];

/// The profile of Cargo that mutants are compiled in.
const PROFILE: &str = "mutants";

/// How many bytes of memory a program of tests may have: several times what it needs. Some mutants ask for
/// more without end, and would take all that the machine has before their time is over.
const MEMORY: u64 = 8 << 30;

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
                ("--only", _) if SUBJECTS.iter().any(|subject| subject.name == word) => {
                    out.only = Some(word.into())
                }
                _ => bail!(
                    "`{}` is none of --count N, --seed S, --jobs J and --only {}",
                    pair.join(" "),
                    SUBJECTS.each_ref().map(|subject| subject.name).join(" or ")
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
    let head = format!(
        "Commit {commit}, {}, seed {}, {population} mutants in all.",
        processor::slug()?,
        request.seed
    );
    for stage in 0..SUBJECTS.iter().map(|subject| subject.stages.len()).max().unwrap_or_default() {
        for subject in
            SUBJECTS.iter().filter(|subject| request.includes(subject) && subject.stages.len() > stage)
        {
            let names = subject.names(&drawn);
            let known = Known::new(folder.join(subject.name))?;
            let left = known.left(&names, stage)?;
            let (name, stages) = (subject.name, subject.stages.len());
            println!("{name}, stage {} of {stages}: {} of {} mutants", stage + 1, left.len(), names.len());
            let ran = known.run(stage, subject, &left, request.jobs);
            // Each time, and before an error ends the command: so a run that is interrupted leaves what it
            // found.
            fs::write(&results, head.clone() + &page(&drawn, &folder)?)
                .context("cannot write the results")?;
            ran?;
        }
    }
    println!("written: {}", results.display());
    Ok(())
}

/// Draws `count` items by a partial Fisher–Yates shuffle. The same seed draws the same ones; a smaller count
/// draws the first of them.
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

    /// The mutants that a stage has to test: of those that the one before missed.
    fn left<'a>(&self, names: &[&'a str], stage: usize) -> Result<Vec<&'a str>> {
        self.keep(stage)?;
        let mut done = BTreeSet::new();
        for outcome in OUTCOMES {
            done.append(&mut self.list(stage, outcome)?);
        }
        let asked = if stage == 0 { None } else { Some(self.list(stage - 1, "missed")?) };
        let is_left =
            |name: &&str| !done.contains(*name) && asked.as_ref().is_none_or(|asked| asked.contains(*name));
        Ok(names.iter().copied().filter(is_left).collect())
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
        let tests = &subject.stages[stage];
        // Not by cargo-mutants, which leaves out the packages that have no mutants.
        let unchanged = |last: &[&str]| {
            let mut unchanged = cargo(&["test", "--locked", "--quiet", "--profile", PROFILE, &runner()]);
            unchanged
                .args(each("--package", tests.packages))
                .args(tests.targets)
                .args(last)
                .args(tests.left_out());
            run(unchanged).with_context(|| format!("the tests of {} fail without any mutant", subject.name))
        };
        unchanged(&["--no-run"])?;
        let start = Instant::now();
        unchanged(&[])?;
        if start.elapsed().as_secs() > u64::from(tests.limit / 2) {
            bail!(
                "without any mutant, the tests of {} take more than half of {} s",
                subject.name,
                tests.limit
            );
        }
        let quoted = names.iter().map(|name| format!("{:?}", format!("^{}$", escaped(name))));
        let config = self.folder.join("mutants.toml");
        fs::write(&config, format!("examine_re = [{}]\n", quoted.collect::<Vec<_>>().join(",\n")))?;
        let mut mutants =
            cargo(&["mutants", "--workspace", "--baseline=skip", "--no-times", "--cargo-arg=--locked"]);
        mutants.arg("--config").arg(&config).arg("--output").arg(self.folder.join(format!("stage-{stage}")));
        mutants.args([
            "--profile",
            PROFILE,
            "--jobs",
            &jobs.to_string(),
            "--timeout",
            &tests.limit.to_string(),
        ]);
        mutants.args(each("--file", subject.files)).args(each("--test-package", tests.packages));
        mutants.arg(format!("--cargo-arg={}", runner()));
        // For the build too: what does not run need not be built.
        mutants.args(tests.targets.iter().map(|target| format!("--cargo-arg={target}")));
        mutants.args(tests.left_out().map(|argument| format!("--cargo-test-arg={argument}")));
        // Its status says whether mutants were missed.
        let status = mutants.status().context("cannot run cargo mutants")?;
        self.keep(stage)?;
        match status.code() {
            Some(0 | 2 | 3) => Ok(()),
            _ => bail!("cargo mutants failed ({status})"),
        }
    }
}

impl Tests {
    /// What `cargo test` passes on to each program of tests.
    fn left_out(&self) -> impl Iterator<Item = &'static str> {
        ["--"].into_iter().chain(each("--skip", self.skipped))
    }
}

impl fmt::Display for Tests {
    /// As the report shows them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let skipped = self.skipped.iter().map(|name| format!("--skip {name}"));
        let words = self.packages.iter().chain(self.targets).map(|&word| word.to_owned()).chain(skipped);
        f.write_str(&words.collect::<Vec<_>>().join(" "))
    }
}

/// Makes cargo run tests with at most [`MEMORY`]. What counts is what they can write to: of addresses alone,
/// allocators reserve more. Compilers are not limited.
fn runner() -> String {
    format!("--config=target.'cfg(all())'.runner=['prlimit','--data={MEMORY}','--']")
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
        " {} of them were drawn at random, planted by cargo-mutants one at a time, and tested. Caught: a test failed, \
         or needed more than {} GiB of memory. Timeout: tests did not end in several times their usual time. Unviable: \
         it does not compile.\n\n\
         | sources | drawn | caught | timeout | unviable | missed | not tested |\n|---|---:|---:|---:|---:|---:|---:|\n",
        drawn.len(),
        MEMORY >> 30
    );
    let (mut tests, mut lists) = (String::new(), String::new());
    for subject in &SUBJECTS {
        let names = subject.names(drawn);
        let known = Known::new(folder.join(subject.name))?;
        let of = |outcome: &str, stages: std::ops::Range<usize>| -> Result<Vec<&str>> {
            let lists = stages.map(|stage| known.list(stage, outcome)).collect::<Result<Vec<_>>>()?;
            Ok(names.iter().copied().filter(|&name| lists.iter().any(|list| list.contains(name))).collect())
        };
        let all = 0..subject.stages.len();
        let settled = [
            of("caught", all.clone())?,
            of("timeout", all.clone())?,
            of("unviable", all.clone())?,
            of("missed", all.end - 1..all.end)?,
        ];
        let [caught, timeout, unviable, missed] = settled.each_ref().map(Vec::len);
        let left = names.len() - caught - timeout - unviable - missed;
        let (name, drawn) = (subject.name, names.len());
        out += &format!("| {name} | {drawn} | {caught} | {timeout} | {unviable} | {missed} | {left} |\n");
        let stages: Vec<String> = subject.stages.iter().map(|tests| format!("`{tests}`")).collect();
        tests += &format!("- {name}: {}\n", stages.join(", then "));
        let mut listed = vec![("missed".to_owned(), settled[3].clone())];
        for stage in all.skip(1) {
            listed.push((
                format!("not noticed in stage {stage}, and not tested further"),
                known.left(&names, stage)?,
            ));
        }
        for (what, list) in listed.iter().filter(|(_, list)| !list.is_empty()) {
            let list: String = list.iter().map(|name| format!("- `{name}`\n")).collect();
            lists += &format!("\n{name}, {what}:\n\n{list}");
        }
    }
    Ok(format!("{out}\nTests (packages, and arguments of `cargo test`):\n\n{tests}{lists}"))
}
