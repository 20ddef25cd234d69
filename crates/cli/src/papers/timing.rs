//! Time in nanoseconds and cycles: several things in turn, round by round, so that a machine that changes its clock
//! changes it for all of them.

use std::hint::black_box;
use std::time::{Duration, Instant};

use zariz_machines::CycleCounter;

use crate::exit::Failure;
use crate::measure::median;

/// Rounds, if the time allows.
const ROUNDS: usize = 8;

/// A measurement shorter than this would be one of the clocks.
const SHORTEST: Duration = Duration::from_micros(50);

/// The clocks of this machine.
pub struct Clock {
    counter: Option<CycleCounter>,
    hertz: f64,
    core_hertz: f64,
}

impl Clock {
    /// Finds the cycle counter, if there is one, and measures its rate and that of the core, which takes about 40 ms.
    pub fn new() -> Self {
        let Some(counter) = CycleCounter::new() else { return Self { counter: None, hertz: 0.0, core_hertz: 0.0 } };
        let rate = || {
            let (start, from) = (Instant::now(), counter.now());
            while start.elapsed() < Duration::from_millis(10) {}
            counter.now().wrapping_sub(from) as f64 / start.elapsed().as_secs_f64()
        };
        let hertz = median((0..3).map(|_| rate()).collect());
        Self { counter: Some(counter), hertz, core_hertz: core_hertz() }
    }

    /// Reference cycles per second, where there is a counter.
    pub fn hertz(&self) -> Option<f64> {
        self.counter.map(|_| self.hertz)
    }

    /// Cycles per second of the core itself in scalar code, where there is a counter to set beside it.
    pub fn core_hertz(&self) -> Option<f64> {
        self.counter.map(|_| self.core_hertz)
    }

    /// What `calls` calls take.
    fn time(&self, calls: u64, call: &mut dyn FnMut() -> Result<(), Failure>) -> Result<Span, Failure> {
        let count = || self.counter.map_or(0, CycleCounter::now);
        let (start, from) = (Instant::now(), count());
        for _ in 0..calls {
            call()?;
        }
        let cycles = count().wrapping_sub(from);
        Ok(Span { time: start.elapsed(), cycles, calls })
    }
}

/// The core's clock now, from a chain of products that take three cycles each, as on every x86-64 core since 2008 but
/// Intel's smallest. (A sum in the chain would not do: late cores add constants in no time.)
fn core_hertz() -> f64 {
    const STEPS: u64 = 100_000;
    let rate = |mut x: u64| {
        let start = Instant::now();
        for _ in 0..STEPS {
            x = x.wrapping_mul(x);
        }
        black_box(x);
        (3 * STEPS) as f64 / start.elapsed().as_secs_f64()
    };
    // Whatever interrupts a chain makes it slower.
    (0..50).map(|_| rate(black_box(3))).fold(0.0, f64::max)
}

/// What some calls took.
#[derive(Clone, Copy, Default)]
struct Span {
    time: Duration,
    cycles: u64,
    calls: u64,
}

/// Something to time.
pub struct Contestant<'a> {
    /// Does it.
    pub call: Box<dyn FnMut() -> Result<(), Failure> + 'a>,
    /// How many calls make up what is reported: eight for a call that does one of eight.
    pub calls: f64,
}

/// What something took, in every round.
pub struct Timing {
    nanoseconds: Vec<f64>,
    cycles: Option<Vec<f64>>,
}

impl Timing {
    /// The median, in nanoseconds.
    pub fn nanoseconds(&self) -> f64 {
        median(self.nanoseconds.clone())
    }

    /// The median, in reference cycles.
    pub fn cycles(&self) -> Option<f64> {
        self.cycles.clone().map(median)
    }

    /// How many times as fast as `other` this is: the median over the rounds.
    pub fn speedup_over(&self, other: &Self) -> f64 {
        median(self.nanoseconds.iter().zip(&other.nanoseconds).map(|(own, others)| others / own).collect())
    }
}

/// Times each contestant for `seconds`, in turns. There is one round at least, in which each does one call at least.
pub fn interleaved(contestants: &mut [Contestant], seconds: f64, clock: &Clock) -> Result<Vec<Timing>, Failure> {
    let limit = Duration::from_secs_f64(seconds * contestants.len() as f64);
    let slice = Duration::from_secs_f64(seconds / ROUNDS as f64);
    let start = Instant::now();
    let at_once = contestants.iter_mut().map(|contestant| calls_at_once(contestant, slice, clock));
    let at_once: Vec<u64> = at_once.collect::<Result<_, _>>()?;
    let counted = clock.counter.is_some();
    let empty = || Timing { nanoseconds: Vec::new(), cycles: counted.then(Vec::new) };
    let mut timings: Vec<Timing> = contestants.iter().map(|_| empty()).collect();
    for round in 0..ROUNDS {
        if round > 0 && start.elapsed() >= limit {
            break;
        }
        for ((contestant, &calls), timing) in contestants.iter_mut().zip(&at_once).zip(&mut timings) {
            let mut sum = Span::default();
            while sum.calls == 0 || sum.time < slice {
                let span = clock.time(calls, &mut contestant.call)?;
                sum = Span {
                    time: sum.time + span.time,
                    cycles: sum.cycles.wrapping_add(span.cycles),
                    calls: sum.calls + span.calls,
                };
            }
            let each = contestant.calls / sum.calls as f64;
            timing.nanoseconds.push(sum.time.as_secs_f64() * 1e9 * each);
            if let Some(cycles) = &mut timing.cycles {
                cycles.push(sum.cycles as f64 * each);
            }
        }
    }
    Ok(timings)
}

/// How many calls to time at once: enough for the clocks, but not more than a slice of time has room for. Warms up, too.
fn calls_at_once(contestant: &mut Contestant, slice: Duration, clock: &Clock) -> Result<u64, Failure> {
    let mut calls = 1;
    while clock.time(calls, &mut contestant.call)?.time < SHORTEST.min(slice) {
        calls *= 2;
    }
    Ok(calls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_take_turns_and_ratios_are_those_of_rounds() {
        let clock = Clock::new();
        let work = |steps: u64| {
            move || {
                for step in 0..steps {
                    black_box(step);
                }
                Ok(())
            }
        };
        let mut contestants = [work(1000), work(100_000)].map(|work| Contestant { call: Box::new(work), calls: 8.0 });
        let timings = interleaved(&mut contestants, 0.02, &clock).expect("nothing fails");
        let [quick, slow] = &timings[..] else { panic!("two results") };
        assert!(quick.nanoseconds() > 0.0 && quick.nanoseconds() < slow.nanoseconds());
        assert!(quick.speedup_over(slow) > 1.0 && slow.speedup_over(quick) < 1.0);
        assert_eq!(quick.nanoseconds.len(), slow.nanoseconds.len());
        match (clock.hertz(), quick.cycles()) {
            (Some(hertz), Some(cycles)) => {
                let ratio = cycles / (quick.nanoseconds() * 1e-9 * hertz);
                assert!((0.5..2.0).contains(&ratio), "{cycles} cycles, {} ns, {hertz} Hz", quick.nanoseconds());
            }
            (hertz, cycles) => assert!(hertz.is_none() && cycles.is_none()),
        }
    }

    #[test]
    fn a_failure_ends_it() {
        let fails = || Err(Failure::Input("no".into()));
        let mut contestants = [Contestant { call: Box::new(fails), calls: 1.0 }];
        assert!(interleaved(&mut contestants, 0.001, &Clock::new()).is_err());
    }
}
