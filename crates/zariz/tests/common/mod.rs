//! What the integration tests share.
#![allow(dead_code)] // Each test program uses a part of this.

pub mod der;
pub mod keys;
pub mod numbers;
pub mod openssl;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use zariz::Engine;
use zariz_emulator::Mode;

/// The engines that this processor has; says which it has not.
///
/// In a test program that writes `zariz_emulator::install_before_main!()`, `avx512-ifma` is among them where only these
/// instructions are missing. It is [`slow`] then, so the programs that keep engines busy for long do not.
pub fn engines() -> Vec<Engine> {
    let (available, lacking): (Vec<_>, Vec<_>) = Engine::ALL.iter().copied().partition(|engine| engine.is_available());
    for engine in lacking {
        let emulation = match zariz_emulator::mode() {
            Some(Mode::Unavailable(reason)) if by_ifma(engine) => format!("; not emulated: {reason}"),
            None if by_ifma(engine) => "; not emulated in this test program".into(),
            _ => String::new(),
        };
        eprintln!("skipped on {engine}: the processor lacks {}{emulation}", engine.requires());
    }
    available
}

/// Whether the engine's products are those of AVX512-IFMA.
fn by_ifma(engine: Engine) -> bool {
    matches!(engine, Engine::PairIfma | Engine::Avx512Ifma)
}

/// Whether the engine's multiplications are emulated: some hundred times slower than the others.
pub fn slow(engine: Engine) -> bool {
    by_ifma(engine) && zariz_emulator::is_emulating()
}

/// The best engine that is not [`slow`].
pub fn fastest() -> Engine {
    Engine::ALL.iter().copied().rfind(|&engine| engine.is_available() && !slow(engine)).unwrap_or(Engine::Portable)
}

/// Does the work on every item, on all processors: for what would keep one busy long after the other tests are done.
pub fn each_in_parallel<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(item);
                }
            });
        }
    });
}

/// A small generator of reproducible numbers (SplitMix64): a failing test fails again.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }

    /// Puts the items in a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}
