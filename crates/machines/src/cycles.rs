//! The processor's time stamp counter, for measurements in cycles.
//!
//! It ticks at a fixed rate near the processor's nominal frequency, at any clock rate of the core: it counts
//! *reference* cycles. Papers that read it, as most do, use the same unit.

/// A time stamp counter that ticks at one rate in every state of the processor (Intel SDM volume 3, section
/// 19.17.1).
///
/// A value is proof that the counter exists: [`new`](Self::new) checks.
#[derive(Clone, Copy, Debug)]
pub struct CycleCounter(());

#[cfg(target_arch = "x86_64")]
impl CycleCounter {
    /// The counter, if the processor has an invariant one (CPUID leaf `8000_0007`, EDX bit 8). A system may
    /// still forbid programs to read it (`prctl(PR_SET_TSC)`); only sandboxes do.
    pub fn new() -> Option<Self> {
        const POWER: u32 = 0x8000_0007;
        const INVARIANT: u32 = 1 << 8;
        (crate::cpu::extended_leaf(POWER)?.edx & INVARIANT != 0).then_some(Self(()))
    }

    /// Ticks since some moment in the past, which is the same on all cores.
    ///
    /// Not ordered with the instructions around it: time thousands of cycles, not ten.
    #[inline]
    pub fn now(self) -> u64 {
        // SAFETY: every x86-64 processor has the instruction, and `self` proves that this one counts at a
        // fixed rate.
        unsafe { std::arch::x86_64::_rdtsc() }
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl CycleCounter {
    /// None: only x86-64 has a counter that programs may rely on.
    pub fn new() -> Option<Self> {
        None
    }

    /// Unreachable: there is no value to call it on.
    pub fn now(self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn it_advances_at_a_steady_rate() {
        let Some(counter) = CycleCounter::new() else { return };
        let rate = || {
            let (start, from) = (Instant::now(), counter.now());
            while start.elapsed() < Duration::from_millis(20) {}
            (counter.now() - from) as f64 / start.elapsed().as_secs_f64()
        };
        // Interruptions between the two clocks can spoil a round, but not most rounds.
        let mut rates: Vec<f64> = (0..9).map(|_| rate()).collect();
        rates.sort_unstable_by(f64::total_cmp);
        assert!(rates[4] > 1e8 && rates[4] < 1e10, "{rates:?}");
        assert!((rates[5] / rates[3] - 1.0).abs() < 0.01, "{rates:?}");
    }
}
