//! Measuring: operations timed in rounds, alone or in turn with a peer.

use std::sync::{PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use zariz_papers::Sample;
use zariz_papers::workload::Operation;

use crate::exit::Failure;

/// How to measure.
#[derive(Clone, Copy)]
pub struct Plan {
    /// Threads that do the same at the same time.
    pub threads: usize,
    /// Operations in a call.
    pub batch: usize,
    /// Time for each operation, all rounds together.
    pub seconds: f64,
    /// Rounds: each times every operation, and then the peer.
    pub rounds: u32,
}

impl Plan {
    /// Time for each operation in one round.
    pub fn seconds_per_round(&self) -> f64 {
        self.seconds / f64::from(self.rounds)
    }
}

/// What was measured of one operation.
pub struct Measured {
    /// Operations per second of all threads together: the median of the rounds.
    pub ops_per_second: f64,
    /// The median time of one call, in microseconds.
    pub p50_us: f64,
    /// The time that 99 of 100 calls keep within, in microseconds.
    pub p99_us: f64,
    /// The peer, if there is one.
    pub versus: Option<Versus>,
}

/// A peer beside us.
pub struct Versus {
    /// Its operations per second: the median of the rounds.
    pub ops_per_second: f64,
    /// How many times as fast we are: the median of the rounds' ratios.
    pub ratio: f64,
}

/// A peer's rates in one round, in operations per second: one for each of our operations.
pub type Peer<'a> = &'a mut dyn FnMut() -> Result<Vec<f64>, zariz_papers::Failure>;

/// Times every operation in each round, followed by the peer, so that a change of the machine's speed meets both.
pub fn interleaved(operations: &[Operation], plan: Plan, mut peer: Option<Peer>) -> Result<Vec<Measured>, Failure> {
    let mut rates = vec![Sample::default(); operations.len()];
    let mut latencies = vec![Vec::new(); operations.len()];
    let mut peer_rates = rates.clone();
    for _ in 0..plan.rounds.max(1) {
        for (i, operation) in operations.iter().enumerate() {
            let (rate, mut times) = round(&operation.call, plan)?;
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
        Measured {
            ops_per_second: rates.median(),
            p50_us: percentile(&latencies, 50),
            p99_us: percentile(&latencies, 99),
            versus,
        }
    });
    Ok(results.collect())
}

/// Calls on every thread until the round's time is over, at least once: operations per second, and each call's time.
fn round(call: &(dyn Fn() + Sync), plan: Plan) -> Result<(f64, Vec<Duration>), Failure> {
    let limit = Duration::from_secs_f64(plan.seconds_per_round());
    let one_thread = || {
        let (start, mut times) = (Instant::now(), Vec::new());
        let mut last = start;
        while times.is_empty() || last - start < limit {
            call();
            let now = Instant::now();
            times.push(now - last);
            last = now;
        }
        ((times.len() * plan.batch) as f64 / (last - start).as_secs_f64().max(1e-9), times)
    };
    let gate = RwLock::new(false);
    thread::scope(|scope| {
        // All start together when the gate opens; if one cannot be had, it closes on the others.
        let mut open = gate.write().unwrap_or_else(PoisonError::into_inner);
        let mut workers = Vec::new();
        for _ in 1..plan.threads {
            let waiting = || {
                let open = *gate.read().unwrap_or_else(PoisonError::into_inner);
                if open { one_thread() } else { (0.0, Vec::new()) }
            };
            let worker = thread::Builder::new().spawn_scoped(scope, waiting);
            workers
                .push(worker.map_err(|error| Failure::io(format!("cannot start {} threads", plan.threads), &error))?);
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
        let operations = [Operation { name: "test".into(), call: Box::new(call) }];
        let plan = Plan { threads: 2, batch: 10, seconds: 0.003, rounds: 3 };
        let mut asked = 0;
        let mut peer = || {
            asked += 1;
            Ok(vec![1.0])
        };
        let results = interleaved(&operations, plan, Some(&mut peer)).expect("the peer answers");
        assert_eq!(asked, 3);
        let versus = results[0].versus.as_ref().expect("compared");
        assert_eq!(versus.ops_per_second, 1.0);
        assert_eq!(versus.ratio, results[0].ops_per_second);
        assert!(calls.load(Ordering::Relaxed) >= 6 && results[0].p50_us <= results[0].p99_us);
    }
}
