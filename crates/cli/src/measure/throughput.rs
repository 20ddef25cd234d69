//! Operations per second, on one thread or several, alone or alternating with a peer.
//!
//! Rates are per second of processor time, as in `openssl speed`: the time of other programs does not count.
//! With several threads, that is a second on each of the processors that the threads can have at once. So a
//! rate is what the threads do by the clock if no other program runs.

use std::convert::Infallible;
use std::fmt;
use std::sync::{PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use super::benchmark::Benchmark;
use super::processor::{UNDISTURBED, processors};
use super::sample::Sample;
use super::stopwatch::Stopwatch;
use crate::exit::Failure;

/// The settings of a measurement.
#[derive(Clone, Copy)]
pub struct Schedule {
    /// Threads that run the same benchmark at the same time.
    pub threads: usize,
    /// Operations in a call.
    pub batch: usize,
    /// Time for each benchmark, all rounds together.
    pub seconds: f64,
    /// The number of rounds. Each times every benchmark, and then the peer.
    pub rounds: u32,
}

impl Schedule {
    /// Time for each benchmark in one round.
    pub fn seconds_per_round(&self) -> f64 {
        self.seconds / f64::from(self.rounds)
    }
}

/// The results of one benchmark.
pub struct Throughput {
    /// Operations per second of processor time, of all threads together: the median of the rounds.
    pub ops_per_second: f64,
    /// The median time of a call by the clock, in microseconds, divided by the operations of a call.
    pub p50_us: f64,
    /// The time by the clock that 99 of 100 calls do not exceed, in microseconds, divided by the operations
    /// of a call.
    pub p99_us: f64,
    /// How much of the time the threads had the processors.
    pub share: Share,
    /// The comparison with the peer, if there is one.
    pub versus: Option<Versus>,
}

/// The share of time in which threads had the processors, of as many as they can have at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The least share in any round: 1 if no other program ran.
    pub least: f64,
    /// Rounds in which the share was below 0.95.
    pub disturbed_rounds: usize,
    /// All rounds.
    pub rounds: usize,
}

impl Share {
    fn of(rounds: &Sample) -> Self {
        Self { least: rounds.least(), disturbed_rounds: rounds.below(UNDISTURBED), rounds: rounds.rounds() }
    }

    /// Whether a round was disturbed.
    pub fn is_disturbed(&self) -> bool {
        self.disturbed_rounds > 0
    }

    /// The worse figures of two benchmarks that alternated in the same rounds.
    pub fn worse(self, other: Self) -> Self {
        let disturbed_rounds = self.disturbed_rounds.max(other.disturbed_rounds);
        Self { least: self.least.min(other.least), disturbed_rounds, ..self }
    }
}

/// Says how many rounds were disturbed, and how much.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { least, disturbed_rounds, rounds } = self;
        let percent = 100.0 * least;
        match rounds {
            1 => write!(f, "other programs ran; zariz had {percent:.0} % of the time"),
            _ => write!(
                f,
                "other programs ran in {disturbed_rounds} of {rounds} rounds; zariz had at least {percent:.0} % of the time"
            ),
        }
    }
}

/// A comparison with a peer.
pub struct Versus {
    /// The peer's operations per second: the median of the rounds.
    pub ops_per_second: f64,
    /// zariz's rate divided by the peer's: the median of the rounds' ratios.
    pub ratio: f64,
}

/// Measures a peer's rates in one round, in operations per second: one for each benchmark.
pub type PeerRates<'a> = &'a mut dyn FnMut() -> Result<Vec<f64>, Failure>;

/// Times every benchmark in each round, followed by the peer, so that a change of the machine's speed affects
/// both.
///
/// # Errors
/// If the peer fails, or a thread cannot be started.
pub fn throughput(
    benchmarks: &[Benchmark],
    schedule: Schedule,
    mut peer: Option<PeerRates>,
) -> Result<Vec<Throughput>, Failure> {
    let mut works: Vec<Vec<Work>> = benchmarks.iter().map(|_| Vec::new()).collect();
    let mut peer_rates = vec![Sample::default(); benchmarks.len()];
    for _ in 0..schedule.rounds.max(1) {
        for (benchmark, works) in benchmarks.iter().zip(&mut works) {
            works.push(round(&benchmark.call, schedule)?);
        }
        if let Some(peer) = &mut peer {
            for (rates, rate) in peer_rates.iter_mut().zip(peer()?) {
                rates.push(rate);
            }
        }
    }
    Ok(works
        .into_iter()
        .zip(&peer_rates)
        .map(|(works, peer_rates)| figures(works, schedule, peer_rates))
        .collect())
}

/// The work of one thread in a round, or of all threads.
#[derive(Default)]
struct Work {
    /// The time of each call by the clock.
    times: Vec<Duration>,
    /// Processor time of all calls; `None` if the system does not report it.
    processor: Option<Duration>,
}

impl Work {
    /// The time by the clock in which the threads could have processors, summed over them, in seconds.
    fn available(&self, threads: usize) -> f64 {
        let clock: Duration = self.times.iter().sum();
        clock.as_secs_f64() * processors(threads) / threads.max(1) as f64
    }

    /// The time in which they had processors, in seconds; if the system does not report it, all available
    /// time.
    fn used(&self, threads: usize) -> f64 {
        self.processor.map_or_else(|| self.available(threads), |time| time.as_secs_f64()).max(1e-9)
    }
}

/// The figures of a benchmark's rounds.
fn figures(rounds: Vec<Work>, schedule: Schedule, peer_rates: &Sample) -> Throughput {
    let Schedule { threads, batch, .. } = schedule;
    let rate = |work: &Work| (work.times.len() * batch) as f64 * processors(threads) / work.used(threads);
    let rates: Sample = rounds.iter().map(rate).collect();
    let share = |work: &Work| (work.used(threads) / work.available(threads).max(1e-9)).min(1.0);
    let shares: Sample = rounds.iter().map(share).collect();
    let mut times: Vec<Duration> = rounds.into_iter().flat_map(|work| work.times).collect();
    times.sort_unstable();
    let ratios = rates.per(peer_rates);
    Throughput {
        ops_per_second: rates.median(),
        p50_us: percentile(&times, 50) / batch as f64,
        p99_us: percentile(&times, 99) / batch as f64,
        share: Share::of(&shares),
        versus: (ratios.rounds() > 0)
            .then(|| Versus { ops_per_second: peer_rates.median(), ratio: ratios.median() }),
    }
}

/// Calls on every thread until the round's time has passed, at least once.
fn round(call: &(dyn Fn() + Sync), schedule: Schedule) -> Result<Work, Failure> {
    let limit = Duration::from_secs_f64(schedule.seconds_per_round());
    let one_thread = || {
        let infallible = || {
            call();
            Ok::<(), Infallible>(())
        };
        let Ok(laps) = Stopwatch::of_time().laps(1, limit, infallible);
        Work { times: laps.each.iter().map(|lap| lap.time).collect(), processor: laps.processor }
    };
    let gate = RwLock::new(false);
    thread::scope(|scope| {
        // All threads start together when the gate opens. If one cannot be started, the others return at
        // once.
        let mut open = gate.write().unwrap_or_else(PoisonError::into_inner);
        let mut workers = Vec::new();
        for _ in 1..schedule.threads {
            let waiting = || {
                let open = *gate.read().unwrap_or_else(PoisonError::into_inner);
                if open { one_thread() } else { Work::default() }
            };
            let worker = thread::Builder::new().spawn_scoped(scope, waiting);
            let failed = |error| Failure::io(format!("cannot start {} threads", schedule.threads), &error);
            workers.push(worker.map_err(failed)?);
        }
        *open = true;
        drop(open);
        let mut all = one_thread();
        for worker in workers {
            match worker.join() {
                Ok(mut work) => {
                    all.processor = all.processor.zip(work.processor).map(|(ours, theirs)| ours + theirs);
                    all.times.append(&mut work.times);
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(all)
    })
}

/// The smallest of the sorted times that `percent` of them do not exceed, in microseconds.
fn percentile(sorted: &[Duration], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(rank).map_or(0.0, |time| time.as_secs_f64() * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    #[cfg(unix)]
    use {crate::measure::processor::busy, std::time::Instant};

    #[test]
    fn percentiles() {
        let times: Vec<Duration> = (1..=200).map(Duration::from_micros).collect();
        assert_eq!(percentile(&times, 50).round(), 100.0);
        assert_eq!(percentile(&times, 99).round(), 198.0);
        assert_eq!(percentile(&times[..1], 99).round(), 1.0);
        assert_eq!(percentile(&[], 50), 0.0);
    }

    #[test]
    fn rates_are_per_second_of_processor_time_and_percentiles_are_of_one_operation() {
        let schedule = Schedule { threads: 1, batch: 10, seconds: 0.0, rounds: 3 };
        // Each call takes 4 ms by the clock. In the second round, another program had half of that.
        let round = |milliseconds| Work {
            times: vec![Duration::from_millis(4); 5],
            processor: Some(Duration::from_millis(milliseconds)),
        };
        let busy = figures(vec![round(20), round(10), round(20)], schedule, &Sample::default());
        assert_eq!(
            (busy.ops_per_second.round(), busy.p50_us.round(), busy.p99_us.round()),
            (2500.0, 400.0, 400.0)
        );
        assert_eq!(busy.share, Share { least: 0.5, disturbed_rounds: 1, rounds: 3 });
        assert_eq!(
            busy.share.to_string(),
            "other programs ran in 1 of 3 rounds; zariz had at least 50 % of the time"
        );

        // The ratio of a disturbed round is that of the others.
        let peer_rates: Sample = [1250.0; 3].into_iter().collect();
        let disturbed = figures(vec![round(10), round(10), round(10)], schedule, &peer_rates);
        assert_eq!(disturbed.ops_per_second.round(), 5000.0);
        assert_eq!(disturbed.versus.map(|versus| versus.ratio.round()), Some(4.0));

        let alone = figures(vec![round(20)], schedule, &Sample::default());
        assert!(!alone.share.is_disturbed() && alone.versus.is_none());
        assert_eq!(alone.share.worse(busy.share).least, 0.5);

        // If the system does not report processor time, the clock counts.
        let unknown = figures(vec![Work { processor: None, ..round(0) }], schedule, &Sample::default());
        assert_eq!((unknown.ops_per_second.round(), unknown.share), (2500.0, alone.share));
    }

    #[test]
    #[cfg(unix)]
    fn time_without_the_processor_does_not_count() {
        const WAIT: Duration = Duration::from_millis(50);
        let calls = AtomicU32::new(0);
        let call = || {
            calls.fetch_add(1, Ordering::Relaxed);
            busy(WAIT);
        };
        let benchmarks = [Benchmark { name: "busy".into(), call: Box::new(call) }];
        let schedule = Schedule { threads: 1, batch: 10, seconds: 0.3, rounds: 3 };
        let start = Instant::now();
        let results = throughput(&benchmarks, schedule, None).expect("measured");
        let elapsed = start.elapsed().as_secs_f64();
        let [busy] = &results[..] else { panic!("one result") };
        // By the clock, there are at most 10 operations in each wait.
        assert!(busy.ops_per_second > 10.0 / WAIT.as_secs_f64(), "{}", busy.ops_per_second);
        assert!(busy.share.is_disturbed(), "{:?}", busy.share);
        // The median of times is at most twice their mean.
        let mean_us = elapsed * 1e6 / f64::from(10 * calls.load(Ordering::Relaxed));
        assert!(
            busy.p50_us >= WAIT.as_secs_f64() * 1e5 && busy.p50_us <= 2.0 * mean_us,
            "{} us",
            busy.p50_us
        );
    }

    #[test]
    #[cfg(unix)]
    fn threads_have_no_more_time_than_the_processors() {
        let all = processors(usize::MAX);
        let benchmarks = [Benchmark { name: "busy".into(), call: Box::new(|| busy(Duration::ZERO)) }];
        let schedule = Schedule { threads: 3 * all as usize, batch: 1, seconds: 0.1, rounds: 1 };
        let results = throughput(&benchmarks, schedule, None).expect("measured");
        // A call takes at least a millisecond of processor time.
        let rate = results[0].ops_per_second / all;
        assert!(rate <= 1000.0, "{rate}");
    }

    #[test]
    fn ratios_are_those_of_each_round() {
        let calls = AtomicU32::new(0);
        let call = || {
            calls.fetch_add(1, Ordering::Relaxed);
        };
        let benchmarks = [Benchmark { name: "test".into(), call: Box::new(call) }];
        let schedule = Schedule { threads: 2, batch: 10, seconds: 0.003, rounds: 3 };
        let mut asked = 0;
        let mut peer = || {
            asked += 1;
            Ok(vec![1.0])
        };
        let results = throughput(&benchmarks, schedule, Some(&mut peer)).expect("the peer does not fail");
        assert_eq!(asked, 3);
        let versus = results[0].versus.as_ref().expect("compared");
        assert_eq!(versus.ops_per_second, 1.0);
        assert_eq!(versus.ratio, results[0].ops_per_second);
        assert!(calls.load(Ordering::Relaxed) >= 6 && results[0].p50_us <= results[0].p99_us);
    }
}
