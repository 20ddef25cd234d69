//! Latency in nanoseconds and cycles: several contestants in turn, round by round, so that a change of the
//! machine's clock affects all of them. A round's time is the median of its laps, and the result is the
//! median of the rounds, so that a few interruptions do not count. If other programs had the processor for a
//! larger part of a round, its time is the mean processor time of the laps.

use std::hint::black_box;
use std::time::{Duration, Instant};

use zariz_cli::exit::Failure;
use zariz_cli::measure::processor::UNDISTURBED;
use zariz_cli::measure::sample::Sample;
use zariz_cli::measure::stopwatch::{Lap, Stopwatch};

/// Rounds, if the time allows.
const ROUNDS: usize = 15;

/// Rounds at least, even if they take longer: the fewest of which the middle one is neither the best nor the
/// worst.
const FEWEST_ROUNDS: usize = 3;

/// The shortest lap: a shorter one would measure the clocks.
const SHORTEST: Duration = Duration::from_micros(50);

/// The clocks of this machine.
pub struct Clock {
    stopwatch: Stopwatch,
    hertz: f64,
    core_hertz: f64,
}

impl Clock {
    /// Finds the cycle counter, if there is one, and measures its rate and that of the core, which takes
    /// about 40 ms.
    pub fn find() -> Self {
        let stopwatch = Stopwatch::of_cycles();
        let Some(counter) = stopwatch.counter() else {
            return Self { stopwatch, hertz: 0.0, core_hertz: 0.0 };
        };
        let rate = || {
            let (start, from) = (Instant::now(), counter.now());
            while start.elapsed() < Duration::from_millis(10) {}
            counter.now().wrapping_sub(from) as f64 / start.elapsed().as_secs_f64()
        };
        let hertz = (0..3).map(|_| rate()).collect::<Sample>().median();
        Self { stopwatch, hertz, core_hertz: core_hertz() }
    }

    /// Reference cycles per second, where there is a counter.
    pub fn hertz(&self) -> Option<f64> {
        self.stopwatch.counter().map(|_| self.hertz)
    }

    /// Cycles per second of the core itself in scalar code, where there is a counter to compare it with.
    pub fn core_hertz(&self) -> Option<f64> {
        self.stopwatch.counter().map(|_| self.core_hertz)
    }
}

/// The core's clock now, from a chain of products that take three cycles each, as on every x86-64 core since
/// 2008 but Intel's smallest. (A sum in the chain would not do: late cores add constants in no time.)
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
    // Interruptions only make a chain slower, so the fastest counts.
    (0..50).map(|_| rate(black_box(3))).fold(0.0, f64::max)
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
    nanoseconds: Sample,
    cycles: Option<Sample>,
}

impl Timing {
    /// In nanoseconds.
    pub fn nanoseconds(&self) -> &Sample {
        &self.nanoseconds
    }

    /// In reference cycles.
    pub fn cycles(&self) -> Option<&Sample> {
        self.cycles.as_ref()
    }

    /// How many times as fast as `other` this is, in every round.
    pub fn speedup_over(&self, other: &Self) -> Sample {
        other.nanoseconds.per(&self.nanoseconds)
    }
}

/// Times each contestant for `seconds`, in turns. There are three rounds at least, in which each does one
/// call at least.
pub fn interleaved(
    contestants: &mut [Contestant],
    seconds: f64,
    clock: &Clock,
) -> Result<Vec<Timing>, Failure> {
    let limit = Duration::from_secs_f64(seconds * contestants.len() as f64);
    let slice = Duration::from_secs_f64(seconds / ROUNDS as f64);
    let start = Instant::now();
    let at_once = contestants.iter_mut().map(|contestant| calls_at_once(contestant, slice, clock));
    let at_once: Vec<u64> = at_once.collect::<Result<_, _>>()?;
    let counted = clock.stopwatch.counter().is_some();
    let empty = || Timing { nanoseconds: Sample::default(), cycles: counted.then(Sample::default) };
    let mut timings: Vec<Timing> = contestants.iter().map(|_| empty()).collect();
    for round in 0..ROUNDS {
        if round >= FEWEST_ROUNDS && start.elapsed() >= limit {
            break;
        }
        for ((contestant, &calls), timing) in contestants.iter_mut().zip(&at_once).zip(&mut timings) {
            let laps = clock.stopwatch.laps(calls, slice, &mut contestant.call)?;
            let by_clock = laps.time().as_secs_f64().max(1e-9);
            let share = laps.processor.map_or(1.0, |time| time.as_secs_f64() / by_clock);
            let figure = |of: fn(&Lap) -> f64| {
                let each: Sample = laps.each.iter().map(of).collect();
                let lap = if share < UNDISTURBED { share * each.mean() } else { each.median() };
                lap * contestant.calls / calls as f64
            };
            timing.nanoseconds.push(figure(|lap| lap.time.as_secs_f64() * 1e9));
            if let Some(sample) = &mut timing.cycles {
                sample.push(figure(|lap| lap.cycles as f64));
            }
        }
    }
    Ok(timings)
}

/// How many calls to time at once: enough for the clocks, but not more than a slice of time has room for.
/// Warms up, too.
fn calls_at_once(contestant: &mut Contestant, slice: Duration, clock: &Clock) -> Result<u64, Failure> {
    let mut calls = 1;
    while clock.stopwatch.laps(calls, Duration::ZERO, &mut contestant.call)?.each[0].time
        < SHORTEST.min(slice)
    {
        calls *= 2;
    }
    Ok(calls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_take_turns_and_ratios_are_those_of_rounds() {
        let clock = Clock::find();
        let work = |steps: u64| {
            move || {
                for step in 0..steps {
                    black_box(step);
                }
                Ok(())
            }
        };
        let mut contestants =
            [work(1000), work(100_000)].map(|work| Contestant { call: Box::new(work), calls: 8.0 });
        let timings = interleaved(&mut contestants, 0.02, &clock).expect("nothing fails");
        let [quick, slow] = &timings[..] else { panic!("two results") };
        let nanoseconds = quick.nanoseconds().median();
        assert!(nanoseconds > 0.0 && nanoseconds < slow.nanoseconds().median());
        assert!(quick.speedup_over(slow).median() > 1.0 && slow.speedup_over(quick).median() < 1.0);
        assert_eq!(quick.nanoseconds().rounds(), slow.nanoseconds().rounds());
        match (clock.hertz(), quick.cycles()) {
            (Some(hertz), Some(cycles)) => {
                let ratio = cycles.median() / (nanoseconds * 1e-9 * hertz);
                assert!(
                    (0.5..2.0).contains(&ratio),
                    "{} cycles, {nanoseconds} ns, {hertz} Hz",
                    cycles.median()
                );
            }
            (hertz, cycles) => assert!(hertz.is_none() && cycles.is_none()),
        }
    }

    #[test]
    fn there_are_three_rounds_even_without_the_time_for_them() {
        let mut calls = 0;
        let slow = || {
            calls += 1;
            std::thread::sleep(Duration::from_millis(3));
            Ok(())
        };
        let mut contestants = [Contestant { call: Box::new(slow), calls: 1.0 }];
        let timings = interleaved(&mut contestants, 0.001, &Clock::find()).expect("nothing fails");
        drop(contestants);
        assert_eq!((timings[0].nanoseconds().rounds(), calls), (3, 4), "one call more warms up");
    }

    #[test]
    #[cfg(unix)]
    fn time_without_the_processor_does_not_count() {
        use zariz_cli::measure::processor::{since, thread_time};

        const WAIT: Duration = Duration::from_millis(50);
        let call = || {
            // A millisecond of processor time, then the wait as if another program had the processor.
            let start = thread_time();
            while since(start, thread_time).expect("the system tells") < Duration::from_millis(1) {}
            std::thread::sleep(WAIT);
            Ok(())
        };
        let mut contestants = [Contestant { call: Box::new(call), calls: 1.0 }];
        let timings = interleaved(&mut contestants, 0.1, &Clock::find()).expect("nothing fails");
        // By the clock, a call takes as long as it waits, at least.
        let nanoseconds = timings[0].nanoseconds().median();
        assert!(nanoseconds >= 1e6 && nanoseconds < WAIT.as_secs_f64() * 1e9, "{nanoseconds}");
    }

    #[test]
    fn a_failure_ends_it() {
        let fails = || Err(Failure::Input("no".into()));
        let mut contestants = [Contestant { call: Box::new(fails), calls: 1.0 }];
        assert!(interleaved(&mut contestants, 0.001, &Clock::find()).is_err());
    }
}
