//! Processor time: unlike the clock, it stops while other programs have the processor.

use std::num::NonZero;
use std::thread;
use std::time::Duration;

/// Threads that had a smaller share of the time were disturbed by other programs.
pub const UNDISTURBED: f64 = 0.95;

/// Processor time of this thread until now; `None` if the system does not report it.
#[cfg(unix)]
pub fn thread_time() -> Option<Duration> {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).ok().map(Duration::from)
}

/// Processor time of all children that have ended and were waited for; `None` if the system does not report
/// it.
#[cfg(unix)]
pub fn children_time() -> Option<Duration> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::{TimeVal, TimeValLike};
    let duration = |time: TimeVal| Duration::from_micros(time.num_microseconds().unsigned_abs());
    getrusage(UsageWho::RUSAGE_CHILDREN)
        .ok()
        .map(|usage| duration(usage.user_time()) + duration(usage.system_time()))
}

/// Not available on other systems.
#[cfg(not(unix))]
pub fn thread_time() -> Option<Duration> {
    None
}

/// Not available on other systems.
#[cfg(not(unix))]
pub fn children_time() -> Option<Duration> {
    None
}

/// Processor time since `start`, which `now` returned.
pub fn since(start: Option<Duration>, now: fn() -> Option<Duration>) -> Option<Duration> {
    Some(now()?.saturating_sub(start?))
}

/// How many processors this number of threads can have at once.
pub fn processors(threads: usize) -> f64 {
    let all = thread::available_parallelism().map_or(threads, NonZero::get);
    threads.clamp(1, all.max(1)) as f64
}

/// For tests: uses a millisecond of processor time, then waits as if another program had the processor.
#[cfg(all(test, unix))]
pub fn busy(wait: Duration) {
    let start = thread_time();
    while since(start, thread_time).expect("the system tells") < Duration::from_millis(1) {}
    thread::sleep(wait);
}
