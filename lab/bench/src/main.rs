//! `zariz-bench`: zariz and other RSA libraries side by side, in one process. See `lab/bench/README.md`.

mod args;
mod bls12_381;
mod blst;
mod bulk;
mod chart;
mod keys;
mod measure;
mod pages;
mod peers;
mod primitives;
mod processor;
mod report;
mod statistics;
mod table;
mod workload;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Parser;
use zariz::{Dispatch, Engine};
use zariz_peers::CryptoMb;

use args::Args;
use keys::Key;
use measure::measure;
use peers::{Library, Ready};
use processor::Processor;
use report::{Kind, LibraryVersion, NotMeasured, Report};
use workload::{MESSAGE_BYTES, Workload};

/// What OpenSSL and AWS-LC read to be told which features to use.
const IA32CAP: &str = "OPENSSL_ia32cap";

/// Hides AVX512-IFMA (CPUID leaf 7, EBX bit 21) and AVX-IFMA (leaf 7.1, EAX bit 23).
const NO_IFMA: &str = ":~0x200000:~0x80000000000000";

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why:#}");
            ExitCode::FAILURE
        }
    }
}

/// The whole program.
fn run(args: &Args) -> Result<()> {
    match &args.command {
        Some(args::Command::Bls12381(args)) => return bls12_381::run(args),
        Some(args::Command::Bulk(args)) => return bulk::run(args),
        Some(args::Command::Pages(args)) => return pages::write(&args.data(), &args.out),
        None => {}
    }
    args.check()?;
    if args.mask_ifma && !ifma_masked() {
        return start_again_masked();
    }
    if let Some(cpu) = args.cpu {
        ensure!(
            core_affinity::set_for_current(core_affinity::CoreId { id: cpu }),
            "cannot stay on processor {cpu}"
        );
    }
    for &bits in &args.sizes {
        Key::load(bits)?;
    }
    let engines = engines(&args.engines)?;
    let peers = match args.peers.as_slice() {
        [none] if none == "none" => Vec::new(),
        names => peers::by_names(names)?,
    };
    let crypto_mb = match &args.crypto_mb {
        Some(file) => Some(CryptoMb::load(file).map_err(|error| anyhow!("--crypto-mb: {}", error.why()))?),
        None => None,
    };
    let named = crypto_mb.clone().map(peers::crypto_mb);
    let libraries: Vec<Box<dyn Library>> =
        peers.into_iter().chain(named).chain(peers::zariz(&engines)).collect();
    let mut report = new_report(args, &libraries)?;
    let begin = Instant::now();
    for kind in Kind::ALL {
        for &bits in &args.sizes {
            eprintln!("{:4.0} s: RSA-{bits} {}", begin.elapsed().as_secs_f64(), kind.name());
            operation(args, &libraries, kind, bits, &mut report)?;
        }
    }
    if let Some(crypto_mb) = &crypto_mb {
        eprintln!("{:4.0} s: primitives", begin.elapsed().as_secs_f64());
        primitives::run(crypto_mb, &args.sizes, &engines, args.budget(), &mut report)?;
    }
    eprintln!("{:4.0} s: done", begin.elapsed().as_secs_f64());
    write(args, &report)
}

/// Whether OPENSSL_ia32cap hides AVX512-IFMA from OpenSSL and AWS-LC: its second field, inverted, has bit 21.
fn ifma_masked() -> bool {
    let value = std::env::var(IA32CAP).unwrap_or_default();
    let hidden = value.split(':').nth(1).and_then(|field| field.strip_prefix("~0x"));
    hidden.and_then(|hex| u64::from_str_radix(hex, 16).ok()).is_some_and(|bits| bits & (1 << 21) != 0)
}

/// Replaces this process by itself with OPENSSL_ia32cap set: the libraries read it before `main` begins.
fn start_again_masked() -> Result<()> {
    use std::os::unix::process::CommandExt;
    let program = std::env::current_exe().context("finding this program")?;
    let failure =
        std::process::Command::new(program).args(std::env::args_os().skip(1)).env(IA32CAP, NO_IFMA).exec();
    Err(failure).context("starting this program again")
}

/// The engines with these names; every available one, and zariz left to itself, for an empty list.
fn engines(names: &[String]) -> Result<Vec<Dispatch>> {
    if names.is_empty() {
        let available = Engine::ALL.iter().copied().filter(|engine| engine.is_available());
        return Ok(available.map(Dispatch::Only).chain([Dispatch::Auto]).collect());
    }
    let dispatch = |name: &String| -> Result<Dispatch> {
        let dispatch: Dispatch = name.parse()?;
        dispatch.check()?;
        Ok(dispatch)
    };
    names.iter().map(dispatch).collect()
}

/// A report without measurements.
fn new_report(args: &Args, libraries: &[Box<dyn Library>]) -> Result<Report> {
    let mut versions: Vec<LibraryVersion> = Vec::new();
    for library in libraries {
        if versions.last().is_none_or(|last| last.library != library.name()) {
            versions.push(LibraryVersion { library: library.name().to_owned(), version: library.version() });
        }
    }
    Ok(Report {
        date: time::OffsetDateTime::now_utc().date().to_string(),
        commit: env!("ZARIZ_COMMIT").to_owned(),
        compiler: env!("COMPILER").to_owned(),
        processor: Processor::detect(),
        ifma_masked: ifma_masked(),
        openssl_ia32cap: std::env::var(IA32CAP).ok(),
        note: args.note.clone(),
        threads: 1,
        cpu: args.cpu,
        seconds_per_cell: args.seconds(),
        rounds: args.rounds(),
        message_bytes: MESSAGE_BYTES,
        libraries: versions,
        measurements: Vec::new(),
        primitives: Vec::new(),
        not_measured: Vec::new(),
    })
}

/// Measures one operation at one size: loads the key everywhere, checks that all agree, then times them.
fn operation(
    args: &Args,
    libraries: &[Box<dyn Library>],
    kind: Kind,
    bits: usize,
    report: &mut Report,
) -> Result<()> {
    let key = Key::load(bits)?;
    let mut batches = args.batches.clone();
    batches.sort_unstable();
    batches.dedup();
    // The first library that can sign makes the expected signatures; all others must make the same ones.
    let Some(mut author) = libraries.iter().find_map(|library| library.signer(&key).ok()) else {
        bail!("no library signs with the key of {bits} bits");
    };
    let count = batches.last().copied().unwrap_or(1).max(16);
    let work = Workload::new(count, author.as_mut())?;
    let mut contestants = Vec::new();
    for library in libraries {
        let library = library.as_ref();
        let ready = match kind {
            Kind::Sign => library.signer(&key).map(Ready::Sign),
            Kind::Verify => library.verifier(&key).map(Ready::Verify),
        };
        match ready.and_then(|ready| Ok((ready, library.batches(&batches)?))) {
            Ok((mut ready, batches)) => {
                match &mut ready {
                    Ready::Sign(signer) => work.check_signer(library, signer.as_mut())?,
                    Ready::Verify(verifier) => work.check_verifier(library, verifier.as_mut())?,
                }
                contestants.push(work.contestant(library, ready, batches));
            }
            Err(why) => report.not_measured.push(NotMeasured {
                operation: format!("rsa{bits}-{}", kind.name()),
                library: library.name().to_owned(),
                engine: library.engine().map(|engine| engine.to_string()),
                batch: None,
                reason: format!("{why:#}"),
            }),
        }
    }
    let cells = measure(&mut contestants, work.count(), args.budget())?;
    report.add(kind, bits, &cells);
    Ok(())
}

/// Prints the tables and writes the data.
fn write(args: &Args, report: &Report) -> Result<()> {
    print!("{}", table::markdown(report));
    let data = serde_json::to_string_pretty(report)? + "\n";
    pages::save(&args.out(), &report.file_name(args.quick), "json", data)
}
