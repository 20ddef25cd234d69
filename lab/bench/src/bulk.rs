//! `zariz-bench bulk`: RSA keys, safe primes and powers of one base, ours and those of OpenSSL, AWS-LC,
//! RustCrypto and GMP.
//!
//! How long a search takes is a matter of luck, so the time of many searches is added up. All contestants of
//! a task take turns: in each round, each makes its share of what it makes in all. A ratio is that of the
//! mean times, with the 95 % confidence interval that follows from the spread of the rounds.

use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use aws_lc_rs::rsa::KeySize;
use openssl::bn::BigNum;
use openssl::pkey::Id;
use openssl::pkey_ctx::PkeyCtx;
use rug::Integer;
use rug::integer::Order;
use serde::{Deserialize, Serialize};
use zariz::primes::Search;
use zariz::rsa::{KeyGenerator, KeyMethod};
use zariz::{FixedBase, Modulus, PowJob};

use crate::args::BulkArgs;
use crate::pages;
use crate::peers::{Library, OpenSsl};
use crate::processor::Processor;
use crate::statistics::Mean;
use crate::workload::random;

/// Powers of one base at once.
const BATCH: usize = 64;

/// Makes some of what a task asks for.
type Make = Box<dyn FnMut(usize) -> Result<()>>;

/// One way to do a task.
struct Contestant {
    who: String,
    /// How many in a round.
    share: usize,
    make: Make,
    /// Milliseconds of each item, a mean for each round.
    rounds: Vec<f64>,
}

/// What is made, by whom. The first contestant is what the others are compared with.
struct Task {
    what: String,
    contestants: Vec<Contestant>,
}

/// A contestant's result.
#[derive(Serialize, Deserialize)]
struct Told {
    task: String,
    who: String,
    count: usize,
    /// Mean time of an item, and its standard error.
    milliseconds: f64,
    standard_error: f64,
    /// The mean time over that of the task's first contestant, and its 95 % confidence interval.
    times_first: f64,
    interval: [f64; 2],
}

#[derive(Serialize, Deserialize)]
struct Report {
    date: String,
    commit: String,
    compiler: String,
    processor: Processor,
    rounds: usize,
    versions: Vec<(String, String)>,
    rows: Vec<Told>,
}

/// Measures, prints, and writes.
pub fn run(args: &BulkArgs) -> Result<()> {
    ensure!(args.rounds > 1, "--rounds must be more than 1");
    if let Some(cpu) = args.cpu {
        ensure!(
            core_affinity::set_for_current(core_affinity::CoreId { id: cpu }),
            "cannot stay on processor {cpu}"
        );
    }
    let mut rows = Vec::new();
    for mut task in tasks(args)? {
        eprintln!("{}", task.what);
        measure(&mut task, args.rounds)?;
        rows.extend(told(&task, args.rounds));
    }
    let report = Report {
        date: time::OffsetDateTime::now_utc().date().to_string(),
        commit: env!("ZARIZ_COMMIT").to_owned(),
        compiler: env!("COMPILER").to_owned(),
        processor: Processor::detect(),
        rounds: args.rounds,
        versions: [
            ("OpenSSL", OpenSsl.version()),
            ("aws-lc-rs", env!("VERSION_OF_AWS_LC_RS").to_owned()),
            ("RustCrypto rsa", env!("VERSION_OF_RSA").to_owned()),
            ("rug (GMP)", env!("VERSION_OF_RUG").to_owned()),
        ]
        .map(|(name, version)| (name.to_owned(), version))
        .to_vec(),
        rows,
    };
    print!("{}", text(&report));
    let name = format!("{}-bulk-{}-{}", report.date, report.processor.slug(), report.commit);
    pages::save(&args.out(), &name, "json", serde_json::to_string_pretty(&report)? + "\n")
}

/// The page of a run's data, and its commit.
pub fn page(data: &str) -> Result<(String, String)> {
    let report: Report = serde_json::from_str(data)?;
    Ok((format!("# {}", text(&report)), report.commit))
}

/// Every round begins with another contestant. One round before them warms up.
fn measure(task: &mut Task, rounds: usize) -> Result<()> {
    for contestant in &mut task.contestants {
        (contestant.make)(1).with_context(|| contestant.who.clone())?;
    }
    for _ in 0..rounds {
        for contestant in &mut task.contestants {
            let start = Instant::now();
            (contestant.make)(contestant.share).with_context(|| contestant.who.clone())?;
            contestant.rounds.push(start.elapsed().as_secs_f64() * 1e3 / contestant.share as f64);
        }
        task.contestants.rotate_left(1);
    }
    let turned = rounds % task.contestants.len();
    task.contestants.rotate_right(turned);
    Ok(())
}

fn told(task: &Task, rounds: usize) -> Vec<Told> {
    let first = Mean::of(&task.contestants[0].rounds);
    let row = |contestant: &Contestant| {
        let mean = Mean::of(&contestant.rounds);
        let (times_first, interval) = mean.over(&first);
        Told {
            task: task.what.clone(),
            who: contestant.who.clone(),
            count: contestant.share * rounds,
            milliseconds: mean.value,
            standard_error: mean.error,
            times_first,
            interval,
        }
    };
    task.contestants.iter().map(row).collect()
}

fn text(report: &Report) -> String {
    let versions: Vec<String> =
        report.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let mut text = format!(
        "Primes, keys and fixed bases, one thread, {}\nzariz {}, {}; {}; {} rounds\n",
        report.processor.describe(),
        report.commit,
        versions.join(", "),
        report.compiler,
        report.rounds,
    );
    let mut task = "";
    for row in &report.rows {
        // Writing to a string cannot fail.
        if task != row.task {
            task = &row.task;
            let _ = writeln!(text, "\n| {task} | made | ms each | ± | time against the first (95 %) |");
            let _ = writeln!(text, "|---|---:|---:|---:|---:|");
        }
        let Told { who, count, milliseconds, standard_error, times_first, interval: [low, high], .. } = row;
        let _ = writeln!(
            text,
            "| {who} | {count} | {milliseconds:.3} | {standard_error:.3} | {times_first:.2} ({low:.2} to {high:.2}) |"
        );
    }
    text
}

fn tasks(args: &BulkArgs) -> Result<Vec<Task>> {
    let mut tasks = Vec::new();
    for &bits in &args.sizes {
        // Longer keys take longer, about as the fourth power of the length: so fewer of them, and still
        // enough for an interval.
        let scale = (2048.0 / bits as f64).powi(3).min(1.0);
        tasks.push(keys(bits, args, scale)?);
    }
    if !args.skip_primes {
        tasks.push(safe_primes(1024, args)?);
    }
    for (bits, exponent_bits) in [(2048, 2048), (4096, 256)] {
        tasks.push(fixed_base(bits, exponent_bits)?);
    }
    Ok(tasks)
}

/// A contestant who makes `count` in all.
fn contestant(
    who: &str,
    count: f64,
    rounds: usize,
    make: impl FnMut(usize) -> Result<()> + 'static,
) -> Contestant {
    let share = ((count / rounds as f64).round() as usize).max(1);
    Contestant { who: who.to_owned(), share, make: Box::new(make), rounds: Vec::new() }
}

/// Drops what was made.
fn dropped<T>(made: T) -> Result<()> {
    drop(made);
    Ok(())
}

fn keys(bits: usize, args: &BulkArgs, scale: f64) -> Result<Task> {
    let (rounds, ours, theirs) = (args.rounds, args.count as f64 * scale, args.peer_count as f64 * scale);
    let fips = KeyGenerator::new(bits)?;
    let (incremental, alone) = (fips.with_method(KeyMethod::Incremental), fips.clone());
    let mut contestants = vec![
        contestant("zariz, fips, many at once", ours, rounds, move |n| dropped(fips.generate_many(n)?)),
        contestant("zariz, incremental, many at once", ours, rounds, move |n| {
            dropped(incremental.generate_many(n)?)
        }),
        contestant("zariz, fips, one at a time", theirs, rounds, move |n| {
            (0..n).try_for_each(|_| dropped(alone.generate()?))
        }),
        contestant("OpenSSL", theirs, rounds, move |n| {
            (0..n).try_for_each(|_| {
                let mut context = PkeyCtx::new_id(Id::RSA)?;
                context.keygen_init()?;
                context.set_rsa_keygen_bits(bits as u32)?;
                dropped(context.keygen()?)
            })
        }),
        contestant("RustCrypto", theirs, rounds, move |n| {
            (0..n).try_for_each(|_| {
                let mut random = rsa::rand_core::UnwrapErr(getrandom::SysRng);
                dropped(rsa::RsaPrivateKey::new(&mut random, bits)?)
            })
        }),
    ];
    let size = match bits {
        2048 => Some(KeySize::Rsa2048),
        3072 => Some(KeySize::Rsa3072),
        4096 => Some(KeySize::Rsa4096),
        _ => None,
    };
    if let Some(size) = size {
        contestants.push(contestant("AWS-LC", theirs, rounds, move |n| {
            (0..n).try_for_each(|_| dropped(aws_lc_rs::rsa::KeyPair::generate(size)?))
        }));
    }
    Ok(Task { what: format!("RSA-{bits} keys"), contestants })
}

fn safe_primes(bits: usize, args: &BulkArgs) -> Result<Task> {
    let (rounds, ours, theirs) = (args.rounds, args.count as f64 / 10.0, args.peer_count as f64);
    let search = Search::new(bits)?.safe()?;
    let alone = search.clone();
    let contestants = vec![
        contestant("zariz, many at once", ours, rounds, move |n| dropped(search.generate_many(n)?)),
        contestant("zariz, one at a time", ours, rounds, move |n| {
            (0..n).try_for_each(|_| dropped(alone.generate()?))
        }),
        contestant("OpenSSL", theirs, rounds, move |n| {
            (0..n).try_for_each(|_| Ok(BigNum::new()?.generate_prime(bits as i32, true, None, None)?))
        }),
    ];
    Ok(Task { what: format!("safe primes of {bits} bits"), contestants })
}

/// Powers of one base, with secret exponents. The table is built beforehand, and by itself.
fn fixed_base(bits: usize, exponent_bits: usize) -> Result<Task> {
    let mut modulus = random(bits / 8)?;
    modulus[0] |= 0x80;
    modulus[bits / 8 - 1] |= 1;
    let base = random(bits / 8)?;
    let exponents = (0..BATCH).map(|_| random(exponent_bits / 8)).collect::<Result<Vec<_>>>()?;
    let prepared = Modulus::new(&modulus)?;
    let fixed = FixedBase::new(&prepared, &base, exponent_bits)?;
    let [m, b] = [&modulus, &base].map(|bytes| Integer::from_digits(bytes, Order::Msf));
    let e: Vec<Integer> = exponents.iter().map(|bytes| Integer::from_digits(bytes, Order::Msf)).collect();
    // All agree before anything is timed.
    let all: Vec<&[u8]> = exponents.iter().map(Vec::as_slice).collect();
    let expected = general(&prepared, &base, &all);
    ensure!(fixed.pow_batch(&all)? == expected, "the powers of the fixed base differ");
    for (power, e) in expected.iter().zip(&e) {
        let theirs = b.clone().secure_pow_mod(e, &m);
        ensure!(Integer::from_digits(power, Order::Msf) == theirs, "GMP differs");
    }
    let (ours, others) = (exponents.clone(), exponents);
    let (again, table_base) = (prepared.clone(), base.clone());
    let contestants = vec![
        contestant("zariz, fixed base", BATCH as f64 * 20.0, 20, move |n| {
            dropped(black_box(fixed.pow_batch(&slices(&ours, n))?))
        }),
        contestant("zariz, pow_many", BATCH as f64 * 20.0, 20, move |n| {
            dropped(black_box(general(&prepared, &base, &slices(&others, n))))
        }),
        contestant("GMP powm_sec", 20.0, 20, move |n| {
            (0..n).for_each(|i| drop(black_box(b.clone().secure_pow_mod(&e[i % e.len()], &m))));
            Ok(())
        }),
        contestant("zariz, building the table", 1.0, 20, move |n| {
            (0..n).try_for_each(|_| dropped(black_box(FixedBase::new(&again, &table_base, exponent_bits)?)))
        }),
    ];
    Ok(Task {
        what: format!("powers of one base, {bits} bits, exponents of {exponent_bits} bits"),
        contestants,
    })
}

/// The first `n` exponents, over and over again.
fn slices(exponents: &[Vec<u8>], n: usize) -> Vec<&[u8]> {
    exponents.iter().cycle().take(n).map(Vec::as_slice).collect()
}

/// One base and many exponents, by the general powers.
fn general(modulus: &Modulus, base: &[u8], exponents: &[&[u8]]) -> Vec<Vec<u8>> {
    let jobs: Vec<PowJob> = exponents.iter().map(|&exponent| PowJob { modulus, base, exponent }).collect();
    zariz::pow_many(&jobs)
}
