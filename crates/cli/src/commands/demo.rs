//! `zariz demo`: signs and verifies many lines with a new key, for a first look.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use zariz::rsa::{Algorithm, PrivateKey};

use super::{sign, verify};
use crate::args::Execution;
use crate::cleanup;
use crate::encoding::Encoding;
use crate::exit::{Failure, Outcome};
use crate::input::Input;
use crate::lines::{Pairs, Source, Taken};
use crate::measure::benchmark::Rsa;
use crate::measure::figures::grouped;
use crate::measure::openssl::OpenSsl;
use crate::measure::throughput::{Schedule, throughput};
use crate::output::Output;
use crate::processor;
use crate::progress::Progress;
use crate::report::counted;

const BITS: usize = 2048;
const ALGORITHM: Algorithm = Algorithm::RS256;
const ENCODING: Encoding = Encoding::Base64;
/// How many signatures `openssl` checks; each takes a process.
const SAMPLE: u64 = 10;

/// Arguments of `demo`.
#[derive(clap::Args)]
pub struct Args {
    /// Messages to sign
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    messages: u64,
    #[command(flatten)]
    execution: Execution,
}

/// The demo's files, in a folder that is removed when the demo ends or is interrupted.
struct Folder {
    folder: tempfile::TempDir,
    _watch: cleanup::Watch,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let (quiet, threads, engine) = (args.execution.quiet, args.execution.threads(), args.execution.engine);
    let folder = Folder::new()?;
    let [messages, signatures] = ["messages", "signatures"].map(|name| folder.path(name));

    say(
        "",
        format_args!("zariz signs {} with RSA-{BITS}, and checks them\n", counted(args.messages, "message")),
    )?;
    let thread_count = counted(threads as u64, "thread");
    say("machine", format_args!("{}, engine {engine}, {thread_count}", processor::name()))?;

    let start = Instant::now();
    let key = PrivateKey::generate(BITS).map_err(|e| Failure::Input(format!("cannot make a key: {e}")))?;
    let key = key.with_engine(engine)?;
    say("key", format_args!("made in {:.2} s", start.elapsed().as_secs_f64()))?;

    write_messages(&messages, args.messages)?;
    let input = Input::open(&messages)?;
    let (start, mut output) = (Instant::now(), Output::open(Some(&signatures))?);
    let mut progress = Progress::new(quiet, input.size, "signature", false);
    let signed = sign::sign_lines(&key, ALGORITHM, ENCODING, input, &mut output, threads, &mut progress)?;
    output.finish()?;
    drop(progress);
    let seconds = start.elapsed().as_secs_f64();
    let count = counted(signed.done, "signature");
    say("sign", format_args!("{count} in {seconds:.2} s: {} per second", rate(signed.done, seconds)))?;

    let input = Input::open(&messages)?;
    let (start, mut progress) = (Instant::now(), Progress::new(quiet, input.size, "signature", false));
    let pairs = Pairs::new(input, Input::open(&signatures)?);
    let checked = verify::verify_lines(key.public_key(), ALGORITHM, ENCODING, pairs, threads, &mut progress)?;
    drop(progress);
    let seconds = start.elapsed().as_secs_f64();
    let (good, bad, per_second) =
        (grouped(checked.done), grouped(checked.failed), rate(checked.done, seconds));
    say("verify", format_args!("{good} good, {bad} bad in {seconds:.2} s: {per_second} per second"))?;

    let accepted = match OpenSsl::find() {
        Ok(openssl) => against(&openssl, &key, &folder, args)?,
        Err(_) => {
            say("openssl", format_args!("not found on this system, so there is nothing to compare with"))?;
            true
        }
    };
    let all_good = signed.failed == 0 && checked.failed == 0 && checked.done == args.messages && accepted;
    say("", format_args!("\nYour own:  zariz sign --key KEY.pem --lines MESSAGES.txt --out SIGNATURES.txt"))?;
    Ok(if all_good { Outcome::Done } else { Outcome::NotVerified })
}

/// Has `openssl` check a sample, and compares with its speed on the same number of cores. Returns whether it
/// accepts the sample.
fn against(openssl: &OpenSsl, key: &PrivateKey, folder: &Folder, args: &Args) -> Result<bool, Failure> {
    let execution = &args.execution;
    let (good, sample) = accepted(openssl, key, folder, args.messages)?;
    let version = &openssl.version;
    say("openssl", format_args!("{version} accepts {good} of a sample of {sample} signatures"))?;

    let progress = Progress::step(execution.quiet, format!("comparing with {version}"));
    let schedule = Schedule { threads: execution.threads(), batch: 64, seconds: 3.0, rounds: 3 };
    let load = Rsa::new(key.clone(), schedule.batch)?;
    let mut rates = || openssl.rates(BITS, schedule.seconds_per_round(), schedule.threads);
    let measured = throughput(&[load.sign()], schedule, Some(&mut rates));
    drop(progress);
    let on = match schedule.threads {
        1 => "both on one thread".to_owned(),
        threads => format!("both on {threads} threads"),
    };
    match measured {
        Ok(measured) => {
            for (ours, versus) in
                measured.iter().filter_map(|measured| Some((measured, measured.versus.as_ref()?)))
            {
                let (ours, theirs) =
                    (grouped(ours.ops_per_second as u64), grouped(versus.ops_per_second as u64));
                say("compare", format_args!("zariz {ours}, {version} {theirs} signatures per second, {on}"))?;
                say("", format_args!("           = {:.2} times the system's OpenSSL", versus.ratio))?;
            }
            for disturbed in measured.iter().filter(|measured| measured.share.is_disturbed()) {
                say("", format_args!("           {}", disturbed.share))?;
            }
        }
        // The demo succeeds even if the speed of `openssl` cannot be measured.
        Err(failure) => say("compare", format_args!("not possible: {failure}"))?,
    }
    Ok(good == sample)
}

/// Checks a sample of `count` signatures. Returns how many `openssl` accepts, and the size of the sample.
fn accepted(openssl: &OpenSsl, key: &PrivateKey, folder: &Folder, count: u64) -> Result<(u64, u64), Failure> {
    let [public, message_file, signature_file] =
        ["public.pem", "message", "signature"].map(|name| folder.path(name));
    let pem = key.public_key().to_pem().map_err(|error| Failure::Input(error.to_string()))?;
    write(&public, pem.as_bytes())?;
    let [messages, signatures] = ["messages", "signatures"].map(|name| Input::open(&folder.path(name)));
    let mut pairs = Pairs::new(messages?, signatures?);
    let step = count.div_ceil(SAMPLE).max(1);
    let (mut good, mut sample) = (0, 0);
    for i in 0.. {
        let Some(Taken { item: (message, signature), .. }) = pairs.next()? else { break };
        if i % step == 0 {
            write(&message_file, &message.unwrap_or_default())?;
            write(&signature_file, &ENCODING.decode(&signature.unwrap_or_default()).unwrap_or_default())?;
            good += u64::from(openssl.accepts(&public, &signature_file, &message_file));
            sample += 1;
        }
    }
    Ok((good, sample))
}

impl Folder {
    fn new() -> Result<Self, Failure> {
        let mut builder = tempfile::Builder::new();
        let created = cleanup::watched(|| builder.prefix("zariz-demo-").tempdir(), tempfile::TempDir::path);
        let (folder, watch) = created.map_err(|e| Failure::io("a temporary folder", &e))?;
        Ok(Self { folder, _watch: watch })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn write_messages(path: &Path, count: u64) -> Result<(), Failure> {
    let written = fs::File::create(path).and_then(|file| {
        let mut file = std::io::BufWriter::new(file);
        for i in 1..=count {
            writeln!(file, "message {i}: pay {} to account {}", i * 37 % 1000, i * 7919 % 100_003)?;
        }
        file.flush()
    });
    written.map_err(|e| Failure::io(path.display(), &e))
}

fn write(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    fs::write(path, contents).map_err(|e| Failure::io(path.display(), &e))
}

fn rate(count: u64, seconds: f64) -> String {
    grouped((count as f64 / seconds.max(1e-9)) as u64)
}

/// Prints a line of the demo.
fn say(label: &str, text: std::fmt::Arguments) -> Result<(), Failure> {
    let line = if label.is_empty() { format!("{text}\n") } else { format!("  {label:<9}{text}\n") };
    Output::stdout()?.write(line.as_bytes())
}
