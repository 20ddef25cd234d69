//! The campaign: victims, their operations, and how many flips each step gets.

mod course;
mod process;
mod program;
mod raw;
mod report;
mod target;
mod tracer;
mod trial;
mod verdict;
mod victim;

use anyhow::{Context, Result, bail, ensure};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use zariz::Engine;

use course::Course;
use program::Program;
use report::Results;
use tracer::Tracer;
use trial::Setting;
use victim::Work;

const USAGE: &str = "\
Usage: faults [--flips N] [--engine E] [--keys K] [--batches B] [--seed S] [--workers W] [--unchecked yes]
              [--results PATH]

  --flips N        how many bits are flipped (default: 100000)
  --engine E       the engine (default: avx2-fma); its batches are full
  --keys K         how many keys the requests have, in turn (default: 1); they fill the batches evenly
  --batches B      how many batches one call has (default: 1)
  --seed S         of the random choices; moments are never the same (default: drawn)
  --workers W      how many victims there are at once (default: one for each processor)
  --unchecked yes  the halves are put together by this program, which checks nothing, and keys must be revealed
  --results PATH   writes PATH.json
";

#[global_allocator]
static ALLOCATOR: raw::Remembering = raw::Remembering;

/// Flips with one victim, and so with the same keys.
const FLIPS_OF_A_VICTIM: usize = 500;
/// The most keys, and the most batches: an operation still takes a few milliseconds.
const MOST: usize = 4;

struct Arguments {
    flips: usize,
    work: Work,
    seed: u64,
    workers: usize,
    results: Option<String>,
}

/// The program.
pub fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let result = match &words[..] {
        [word, work @ ..] if word == "--victim" => {
            Work::parse(work).context("this is for the tracer").and_then(victim::run).map(|()| true)
        }
        _ => {
            let Some(arguments) = parse(words.into_iter()) else {
                eprint!("{USAGE}");
                return ExitCode::from(2);
            };
            run(&arguments)
        }
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("faults: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Option<Arguments> {
    let (work, seed) =
        (Work { engine: Engine::Avx2Fma, keys: 1, batches: 1, unchecked: false }, rand::rng().random());
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let mut out = Arguments { flips: 100_000, work, seed, workers, results: None };
    while let Some(word) = words.next() {
        let value = words.next()?;
        match word.as_str() {
            "--flips" => out.flips = value.parse().ok().filter(|&flips| flips > 0)?,
            "--engine" => out.work.engine = value.parse().ok()?,
            "--keys" => out.work.keys = value.parse().ok().filter(|count| (1..=MOST).contains(count))?,
            "--batches" => {
                out.work.batches = value.parse().ok().filter(|count| (1..=MOST).contains(count))?
            }
            "--seed" => out.seed = value.parse().ok()?,
            "--workers" => out.workers = value.parse().ok().filter(|&workers| workers > 0)?,
            "--unchecked" => out.work.unchecked = value == "yes",
            "--results" => out.results = Some(value),
            _ => return None,
        }
    }
    Some(out)
}

/// Whether no key was revealed, or, where nothing is checked, some were.
fn run(arguments: &Arguments) -> Result<bool> {
    let &Arguments { work, seed, workers, .. } = arguments;
    ensure!(work.engine.is_available(), "this processor cannot run {}", work.engine);
    ensure!(
        work.is_even(),
        "requests of {} keys do not fill {} batches of {} lanes evenly: choose other --keys or --batches",
        work.keys,
        work.batches,
        work.engine.lanes()
    );
    let program = Program::read()?;
    let [fresh, kept] = [false, true].map(|warm| course(&program, work, warm));
    let results = Mutex::new(Results::new(work, seed));
    let campaign = Campaign { arguments, program: &program, courses: [fresh?, kept?], results: &results };
    // A process has one thread as its tracer: each worker has victims of its own.
    thread::scope(|scope| {
        let campaign = &campaign;
        let workers: Vec<_> = (0..workers).map(|worker| scope.spawn(move || campaign.work(worker))).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or_else(|_| bail!("a worker has panicked")))
    })?;
    let results = lock(&results);
    print!("{results}");
    results.write(arguments.results.as_deref())?;
    Ok((results.revealed() > 0) == work.unchecked)
}

/// What all workers share.
struct Campaign<'a> {
    arguments: &'a Arguments,
    program: &'a Program,
    /// Of operations that make their masks, and of those that take kept ones.
    courses: [Course; 2],
    results: &'a Mutex<Results>,
}

fn lock(results: &Mutex<Results>) -> MutexGuard<'_, Results> {
    results.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Campaign<'_> {
    /// Flips bits of one victim after the other, until there are enough.
    fn work(&self, worker: usize) -> Result<()> {
        let &Arguments { flips, seed, .. } = self.arguments;
        let mut random = StdRng::seed_from_u64(seed.wrapping_add(worker as u64));
        for turn in worker.. {
            let left = flips.saturating_sub(lock(self.results).count());
            if left == 0 {
                break;
            }
            // Masks are made in the first operation, and kept ones are taken in the second.
            let warm = turn % 2 == 1;
            let walked = self.walk(warm, FLIPS_OF_A_VICTIM.min(left), &mut random);
            let mut results = lock(self.results);
            if let Err(error) = walked {
                results.abandoned(&error);
                ensure!(
                    results.abandoned < 20 + turn / 4,
                    "too many operations went wrong by themselves: {error:#}"
                );
            }
            if turn % 10 == 9 {
                println!("{}", results.summary());
            }
            results.write(self.arguments.results.as_deref())?;
        }
        Ok(())
    }

    /// Flips `count` bits of copies of one victim.
    fn walk(&self, warm: bool, count: usize, random: &mut StdRng) -> Result<()> {
        let (program, course) = (self.program, &self.courses[usize::from(warm)]);
        let stretches = draw(course, count, random);
        let tracer = victim(program, self.arguments.work, warm)?;
        // Above the return address.
        let stack = tracer.process.registers()?.rsp + 8;
        let setting = Setting { tracer: &tracer, program, course, stack };
        tracer.walk(tracer.process, course, |i, next| {
            for _ in 0..stretches[i] {
                if let Some(trial) = trial::run(&setting, i, next, random)? {
                    lock(self.results).add(trial);
                }
            }
            Ok(())
        })?;
        tracer.finish()
    }
}

/// A victim at the entry of its first operation, or of its second.
fn victim(program: &Program, work: Work, warm: bool) -> Result<Tracer> {
    let tracer = Tracer::start(program, work)?;
    tracer.enter()?;
    if warm {
        tracer.finish()?;
        tracer.enter()?;
    }
    Ok(tracer)
}

/// The course of an operation, from several victims.
fn course(program: &Program, work: Work, warm: bool) -> Result<Course> {
    let tracer = victim(program, work, warm)?;
    let mut course = course::follow(&tracer, tracer.process, program)?;
    tracer.finish()?;
    for _ in 0..2 {
        let tracer = victim(program, work, warm)?;
        course::measure(&tracer, tracer.process, &mut course)?;
        tracer.finish()?;
    }
    let tracer = victim(program, work, warm)?;
    course::count_steps(&tracer, tracer.process, &mut course)?;
    Ok(course)
}

/// How many flips each stretch gets: half of them shared by time, half evenly.
fn draw(course: &Course, count: usize, random: &mut StdRng) -> Vec<usize> {
    let mut out = vec![0; course.len() - 1];
    let all: f64 = course[..out.len()].iter().map(|mark| mark.micros).sum();
    for _ in 0..count {
        let mut left = random.random::<f64>() * all;
        let by_time = out.iter().zip(course).position(|(_, mark)| {
            left -= mark.micros;
            left <= 0.0
        });
        let chosen = by_time.filter(|_| random.random()).unwrap_or(random.random_range(0..out.len()));
        out[chosen] += 1;
    }
    out
}
