//! Operations per second, on one thread or several, alone or in turn with a peer.

use std::convert::Infallible;
use std::sync::{PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use super::benchmark::Benchmark;
use super::sample::Sample;
use super::stopwatch::Stopwatch;
use crate::exit::Failure;

/// How to measure.
#[derive(Clone, Copy)]
pub struct Schedule {
    /// Threads that run the same benchmark at the same time.
    pub threads: usize,
    /// Operations in a call.
    pub batch: usize,
    /// Time for each benchmark, all rounds together.
    pub seconds: f64,
    /// Rounds: each times every benchmark, and then the peer.
    pub rounds: u32,
}

impl Schedule {
    /// Time for each benchmark in one round.
    pub fn seconds_per_round(&self) -> f64 {
        self.seconds / f64::from(self.rounds)
    }
}

/// What was measured of one benchmark.
pub struct Throughput {
    /// Operations per second of all threads together: the median of the rounds.
    pub ops_per_second: f64,
    /// The median time of one call, in microseconds.
    pub p50_us: f64,
    /// The time that 99 of 100 calls keep within, in microseconds.
    pub p99_us: f64,
    /// The comparison with the peer, if there is one.
    pub versus: Option<Versus>,
}

/// A comparison with a peer.
pub struct Versus {
    /// The peer's operations per second: the median of the rounds.
    pub ops_per_second: f64,
    /// How many times as fast as the peer we are: the median of the rounds' ratios.
    pub ratio: f64,
}

/// Measures a peer's rates in one round, in operations per second: one for each of our benchmarks.
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
    let mut rates = vec![Sample::default(); benchmarks.len()];
    let mut latencies = vec![Vec::new(); benchmarks.len()];
    let mut peer_rates = rates.clone();
    for _ in 0..schedule.rounds.max(1) {
        for (i, benchmark) in benchmarks.iter().enumerate() {
            let (rate, mut times) = round(&benchmark.call, schedule)?;
            rates[i].push(rate);
            latencies[i].append(&mut times);
        }
        if let Some(peer) = &mut peer {
            for (rates, rate) in peer_rates.iter_mut().zip(peer()?) {
                rates.push(rate);
            }
        }
    }
    let results = rates.into_iter().zip(latencies).zip(peer_rates).map(|((rates, mut latencies), peer_rates)| {
        let ratios = rates.per(&peer_rates);
        let versus =
            (ratios.rounds() > 0).then(|| Versus { ops_per_second: peer_rates.median(), ratio: ratios.median() });
        latencies.sort_unstable();
        Throughput {
            ops_per_second: rates.median(),
            p50_us: percentile(&latencies, 50),
            p99_us: percentile(&latencies, 99),
            versus,
        }
    });
    Ok(results.collect())
}

/// Calls on every thread until the round's time is over, at least once: operations per second, and each
/// call's time.
fn round(call: &(dyn Fn() + Sync), schedule: Schedule) -> Result<(f64, Vec<Duration>), Failure> {
    let limit = Duration::from_secs_f64(schedule.seconds_per_round());
    let one_thread = || {
        let infallible = || {
            call();
            Ok::<(), Infallible>(())
        };
        let Ok(laps) = Stopwatch::of_time().laps(1, limit, infallible);
        let times: Vec<Duration> = laps.into_iter().map(|lap| lap.time).collect();
        let seconds = times.iter().sum::<Duration>().as_secs_f64().max(1e-9);
        ((times.len() * schedule.batch) as f64 / seconds, times)
    };
    let gate = RwLock::new(false);
    thread::scope(|scope| {
        // All start together when the gate opens. If a thread cannot be started, the others return at once.
        let mut open = gate.write().unwrap_or_else(PoisonError::into_inner);
        let mut workers = Vec::new();
        for _ in 1..schedule.threads {
            let waiting = || {
                let open = *gate.read().unwrap_or_else(PoisonError::into_inner);
                if open { one_thread() } else { (0.0, Vec::new()) }
            };
            let worker = thread::Builder::new().spawn_scoped(scope, waiting);
            let failed = |error| Failure::io(format!("cannot start {} threads", schedule.threads), &error);
            workers.push(worker.map_err(failed)?);
        }
        *open = true;
        drop(open);
        let (mut rate, mut times) = one_thread();
        for worker in workers {
            match worker.join() {
                Ok((more, mut times_there)) => {
                    rate += more;
                    times.append(&mut times_there);
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok((rate, times))
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

    #[test]
    fn percentiles() {
        let times: Vec<Duration> = (1..=200).map(Duration::from_micros).collect();
        assert_eq!(percentile(&times, 50).round(), 100.0);
        assert_eq!(percentile(&times, 99).round(), 198.0);
        assert_eq!(percentile(&times[..1], 99).round(), 1.0);
        assert_eq!(percentile(&[], 50), 0.0);
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
