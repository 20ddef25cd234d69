//! The stopwatch of all measurements: time and cycles of calls.

use std::time::{Duration, Instant};

use zariz_machines::CycleCounter;

use super::processor;

/// Reads the time, and the cycle counter if there is one.
#[derive(Clone, Copy)]
pub struct Stopwatch {
    counter: Option<CycleCounter>,
}

/// The result of one lap: several calls in a row.
#[derive(Clone, Copy)]
pub struct Lap {
    /// The time.
    pub time: Duration,
    /// Reference cycles; zero without a counter.
    pub cycles: u64,
}

/// The results of successive laps, at least one.
pub struct Laps {
    /// Each of them.
    pub each: Vec<Lap>,
    /// Processor time of this thread in all laps; `None` if the system does not report it.
    pub processor: Option<Duration>,
}

impl Laps {
    /// The time of all laps by the clock.
    pub fn time(&self) -> Duration {
        self.each.iter().map(|lap| lap.time).sum()
    }
}

impl Stopwatch {
    /// A stopwatch that counts cycles, if the processor has an invariant counter.
    pub fn of_cycles() -> Self {
        Self { counter: CycleCounter::new() }
    }

    /// A stopwatch that takes only the time.
    pub fn of_time() -> Self {
        Self { counter: None }
    }

    /// The cycle counter.
    pub fn counter(&self) -> Option<CycleCounter> {
        self.counter
    }

    /// Runs laps of `calls` calls each until `limit` has passed, at least one lap. The end of a lap is the
    /// beginning of the next, so the times of all laps add up to the whole.
    ///
    /// # Errors
    /// The first error of a call.
    pub fn laps<E>(
        &self,
        calls: u64,
        limit: Duration,
        mut call: impl FnMut() -> Result<(), E>,
    ) -> Result<Laps, E> {
        let read = || (Instant::now(), self.counter.map_or(0, CycleCounter::now));
        let mut each = Vec::new();
        let processor = processor::thread_time();
        let start = read();
        let mut last = start;
        while each.is_empty() || last.0 - start.0 < limit {
            for _ in 0..calls {
                call()?;
            }
            let now = read();
            each.push(Lap { time: now.0 - last.0, cycles: now.1.wrapping_sub(last.1) });
            last = now;
        }
        Ok(Laps { each, processor: processor::since(processor, processor::thread_time) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn laps_are_whole_and_at_least_one() {
        let mut calls = 0;
        let mut call = || {
            calls += 1;
            Ok::<(), Infallible>(())
        };
        let Ok(one) = Stopwatch::of_time().laps(5, Duration::ZERO, &mut call);
        let Ok(more) = Stopwatch::of_time().laps(5, Duration::from_millis(1), &mut call);
        assert_eq!((one.each.len(), calls), (1, 5 * (1 + more.each.len())));
        assert!(more.time() >= Duration::from_millis(1));
        assert!(more.each.iter().all(|lap| lap.cycles == 0));
    }

    #[test]
    fn the_first_error_ends_it() {
        let fails = || Err("no");
        assert_eq!(Stopwatch::of_cycles().laps(1, Duration::ZERO, fails).err(), Some("no"));
    }
}
