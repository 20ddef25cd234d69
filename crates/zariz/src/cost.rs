//! What operations cost on the engines of this processor: measured, once for each length.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Instant;

use zariz_kernels::limbs::{self, Limbs};

use crate::backend::{Backend, Product};
use crate::engine::Engine;
use crate::prepared::Prepared;

/// An engine that may answer, and what it costs for numbers of one length.
pub(crate) struct Candidate {
    pub backend: &'static dyn Backend,
    /// How many numbers a call takes: as many as the engine does at once, or one.
    pub numbers: usize,
    cost: Cost,
}

/// Nanoseconds of one call.
#[derive(Clone, Copy)]
struct Cost {
    /// A product of plain numbers: into Montgomery's domain and out of it, and all that is done once for a batch.
    product: f64,
    /// A multiplication in the domain.
    multiply: f64,
    /// A squaring in the domain.
    square: f64,
}

/// What is to be done. All of it is public.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Work {
    Product,
    /// A power in constant time.
    Power {
        exponent_bits: usize,
    },
    /// A power with a public exponent.
    PublicPower {
        exponent_bits: usize,
    },
}

impl Candidate {
    /// Nanoseconds of one call: of fixed windows of five bits, or of sliding ones for a sparse exponent. What it leaves out is
    /// a few hundredths of it, and much the same for all engines.
    pub fn estimate(&self, work: Work) -> f64 {
        let Cost { product, multiply, square } = self.cost;
        match work {
            Work::Product => product,
            Work::Power { exponent_bits } => {
                product + exponent_bits as f64 * square + (exponent_bits as f64 / 5.0 + 32.0) * multiply
            }
            Work::PublicPower { exponent_bits } => product + exponent_bits as f64 * (square + multiply / 8.0),
        }
    }
}

/// The engines that may be worth asking for numbers of `bits` bits, the main one first. Nothing while another thread
/// measures: two measurements at once would disturb each other, and nobody shall wait for one.
pub(crate) fn candidates(bits: usize) -> Option<Arc<[Candidate]>> {
    static KNOWN: Mutex<BTreeMap<usize, Arc<[Candidate]>>> = Mutex::new(BTreeMap::new());
    static MEASURING: Mutex<()> = Mutex::new(());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let length = bits.div_ceil(64);
    if let Some(candidates) = known().get(&length) {
        return Some(candidates.clone());
    }
    let _alone = match MEASURING.try_lock() {
        Ok(alone) => alone,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return None,
    };
    let measured = measure(64 * length);
    Some(known().entry(length).or_insert(measured).clone())
}

/// Whether the engine can be the best one for few numbers: none that does as many at once is better.
fn is_candidate(engine: Engine) -> bool {
    match engine {
        Engine::Portable | Engine::CarryChains => false,
        Engine::Scalar => !Engine::ScalarAdx.is_available(),
        // Without its vector instructions it is slower than limbs.
        Engine::Rsaz => engine.uses_vectors(),
        Engine::AcrossFma | Engine::Avx512Fma => !Engine::Avx512Ifma.is_available(),
        engine => engine.is_available(),
    }
}

/// Rounds, in turns, and operations in Montgomery's domain for each time taken. Of each quantity the shortest time is kept:
/// what disturbs only makes it longer. Long numbers take long enough to be timed one by one.
const fn effort(bits: usize) -> (usize, usize) {
    if bits <= 4096 { (7, 4) } else { (3, 1) }
}

fn measure(bits: usize) -> Arc<[Candidate]> {
    let best = Engine::best();
    let others = Engine::ALL.iter().copied().filter(|&engine| engine != best && is_candidate(engine));
    let engines = std::iter::once(best).chain(others).filter_map(|engine| engine.backend().ok());
    let unknown = Cost { product: f64::MAX, multiply: f64::MAX, square: f64::MAX };
    // Lanes cost the same whether they are used or not; what does two numbers at once does one sooner.
    let numbers = |lanes: usize| if lanes == 2 { 1..=2 } else { lanes..=lanes };
    let mut candidates: Vec<Candidate> = engines
        .filter(|backend| backend.fits(bits))
        .flat_map(|backend| numbers(backend.lanes()).map(move |numbers| Candidate { backend, numbers, cost: unknown }))
        .collect();
    if let [_] = candidates[..] {
        return candidates.into(); // no choice, nothing to measure
    }
    let (modulus, number) = (modulus(bits), vec![0x5a; bits / 64]);
    let prepared = Prepared::new(&modulus, bits);
    let (rounds, operations) = effort(bits);
    for _ in 0..rounds {
        for Candidate { backend, numbers, cost } in &mut candidates {
            let product = Product { modulus: &prepared, a: &number, a_bits: bits, b: &number };
            let products = vec![product; *numbers];
            let (moduli, numbers) = (vec![&prepared; *numbers], vec![&number[..]; *numbers]);
            let mut numbers = backend.numbers(&moduli, &numbers, &numbers, bits);
            let best = |best: &mut f64, operations: usize, work: &mut dyn FnMut()| {
                let start = Instant::now();
                (0..operations).for_each(|_| work());
                *best = best.min(start.elapsed().as_nanos() as f64 / operations as f64);
            };
            best(&mut cost.product, 1, &mut || drop(backend.mul(&products)));
            best(&mut cost.multiply, operations, &mut || numbers.multiply());
            best(&mut cost.square, operations, &mut || numbers.square());
        }
    }
    candidates.into()
}

/// Any odd number of exactly so many bits.
fn modulus(bits: usize) -> Limbs {
    let mut out = limbs::zero(bits / 64);
    for (i, limb) in (1u64..).zip(out.iter_mut()) {
        *limb = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 63 | 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_work_costs_more_and_is_measured_once() {
        // Tests beside this one measure too.
        let wait = |bits| loop {
            if let Some(found) = candidates(bits) {
                return found;
            }
            std::thread::yield_now();
        };
        let (once, again) = (wait(1024), wait(1000));
        assert!(Arc::ptr_eq(&once, &again), "numbers of 16 limbs");
        assert!(!Arc::ptr_eq(&once, &wait(1025)));
        let long = wait(crate::Modulus::MAX_BITS);
        assert!(long.iter().all(|candidate| candidate.backend.fits(crate::Modulus::MAX_BITS)));
        assert_eq!(once[0].backend.lanes(), Engine::best().lanes());
        for candidate in once.iter() {
            let power = |exponent_bits| candidate.estimate(Work::Power { exponent_bits });
            assert!(candidate.estimate(Work::Product) > 0.0 && power(1024) > power(512));
            assert!(power(512) > candidate.estimate(Work::PublicPower { exponent_bits: 17 }));
        }
    }
}
