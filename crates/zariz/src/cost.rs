//! Estimates what operations cost on this processor's engines, from tables.
//!
//! Nothing is measured at run time: a first request would pay for it, and the choice of engines would differ
//! between runs. Only the ratios of costs matter. Of x86-64, three kinds of processor differ most: those with
//! AVX-512, those that compute vectors of 256 bits as two halves, and the others. Each has a table, measured
//! on one processor. The table for 64-bit Arm is counted by a model.

#[cfg(test)]
mod measure;
mod table;

use once_cell::race::OnceBox;

use crate::backend::Backend;
use crate::engine::Engine;
use table::LENGTHS;

/// An engine that may do the work, with its costs for numbers of one length.
pub(crate) struct Candidate {
    pub backend: &'static dyn Backend,
    /// How many numbers a call takes: 1, or the number of lanes.
    pub numbers: usize,
    cost: Cost,
}

/// Nanoseconds of one call, on the processor of the table.
#[derive(Clone, Copy)]
struct Cost {
    /// A product of plain numbers: into Montgomery form and out of it, and all that happens once per
    /// batch.
    product: u32,
    /// A multiplication in the domain.
    multiply: u32,
    /// A squaring in the domain.
    square: u32,
}

/// The operation to estimate. All of it is public.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operation {
    Product,
    /// A power in constant time.
    Power {
        exponent_bits: usize,
    },
    /// A power with a public exponent.
    PublicPower {
        exponent_bits: usize,
    },
    /// A product of powers in constant time.
    MultiPower {
        bases: usize,
        exponent_bits: usize,
    },
    /// A product of powers with public exponents.
    PublicMultiPower {
        bases: usize,
        exponent_bits: usize,
    },
}

impl Candidate {
    /// Nanoseconds of one call: with fixed windows of five bits, or sliding ones for a sparse exponent. Scans
    /// of tables are left out: they are a few hundredths, and about the same for all engines.
    pub fn estimate(&self, operation: Operation) -> u64 {
        let [product, multiply, square] =
            [self.cost.product, self.cost.multiply, self.cost.square].map(u64::from);
        // An exponent may have any length; one of 2^32 bits would never finish.
        let bits = |exponent_bits: usize| exponent_bits.min(u32::MAX as usize) as u64;
        match operation {
            Operation::Product => product,
            Operation::Power { exponent_bits } => {
                self.estimate(Operation::MultiPower { bases: 1, exponent_bits })
            }
            Operation::PublicPower { exponent_bits } => {
                self.estimate(Operation::PublicMultiPower { bases: 1, exponent_bits })
            }
            Operation::MultiPower { bases, exponent_bits } => {
                let (bits, bases) = (bits(exponent_bits), bases as u64);
                bits * square + bases * (product + (bits / 5 + 32) * multiply)
            }
            Operation::PublicMultiPower { bases, exponent_bits } => {
                let (bits, bases) = (bits(exponent_bits), bases as u64);
                bits * square + bases * (product + bits * multiply / 8)
            }
        }
    }
}

/// The engines that can be cheapest for numbers of `bits` bits, the main one first.
pub(crate) fn candidates(bits: usize) -> impl Iterator<Item = Candidate> {
    type Machines = Vec<(&'static dyn Backend, table::EngineCosts)>;
    static MACHINES: OnceBox<Machines> = OnceBox::new();
    let machines = MACHINES.get_or_init(|| {
        let main = Engine::best();
        let mut rows = table::rows();
        rows.retain(|row| row.engine == main || row.engine.may_be_chosen());
        rows.sort_by_key(|row| row.engine != main);
        Box::new(rows.into_iter().filter_map(|row| Some((row.engine.backend().ok()?, row))).collect())
    });
    let fitting = machines.iter().filter(move |(backend, _)| backend.fits(bits));
    fitting.map(move |&(backend, ref row)| Candidate { backend, numbers: row.numbers, cost: row.cost(bits) })
}

impl table::EngineCosts {
    /// The cost for numbers of `bits` bits, interpolated between the neighbouring lengths of the table.
    fn cost(&self, bits: usize) -> Cost {
        let bits = bits.clamp(LENGTHS[0], LENGTHS[LENGTHS.len() - 1]);
        let above = LENGTHS.partition_point(|&length| length < bits).max(1);
        let (from, to) = (LENGTHS[above - 1], LENGTHS[above]);
        let between = |i: usize| {
            let [low, high] = [self.costs[above - 1][i], self.costs[above][i]].map(u64::from);
            let weighted = low * (to - bits) as u64 + high * (bits - from) as u64;
            // Lengths are powers of two apart: a division takes as long as a multiplication of short numbers
            // does.
            (weighted >> (to - from).trailing_zeros()) as u32
        };
        Cost { product: between(0), multiply: between(1), square: between(2) }
    }
}

#[cfg(test)]
mod tests {
    use super::table::{apple_m1, completed, neoverse_n1, with_avx512, with_halved_vectors, without_avx512};
    use super::*;

    const TABLES: [&[table::EngineCosts]; 3] =
        [with_avx512::ROWS, without_avx512::ROWS, with_halved_vectors::ROWS];

    #[test]
    fn every_engine_that_auto_may_choose_has_a_row() {
        for i in 0..3 {
            let rows = completed(TABLES[i], [TABLES[(i + 1) % 3], TABLES[(i + 2) % 3]]);
            for engine in Engine::ALL.iter().copied() {
                let expected = engine.name() != "carry-chains";
                assert_eq!(rows.iter().any(|row| row.engine == engine), expected, "{engine}");
            }
            for row in rows {
                assert!(
                    measure::numbers(row.engine).contains(&row.numbers),
                    "{} {}",
                    row.engine,
                    row.numbers
                );
                let [first, last] = [row.costs[0], row.costs[LENGTHS.len() - 1]];
                assert!((0..3).all(|i| 0 < first[i] && first[i] < last[i]), "{}", row.engine);
            }
        }
    }

    #[test]
    fn arms_engines_have_rows() {
        for rows in [neoverse_n1::ROWS, apple_m1::ROWS] {
            let engines: Vec<_> = rows.iter().map(|row| (row.engine, row.numbers)).collect();
            assert_eq!(engines, [(Engine::Rsaz, 1), (Engine::Scalar, 1)]);
            for costs in rows.iter().flat_map(|row| row.costs.windows(2)) {
                assert!((0..3).all(|i| 0 < costs[0][i] && costs[0][i] < costs[1][i]));
            }
        }
    }

    /// A processor twice as slow on AVX2 is twice as slow on what it lacks.
    #[test]
    fn guesses_are_rows_of_other_processors() {
        let row = |engine, cost| table::EngineCosts { engine, numbers: 4, costs: [[cost; 3]; LENGTHS.len()] };
        let [own, other] =
            [vec![row(Engine::Avx2Fma, 20)], vec![row(Engine::Avx2Fma, 10), row(Engine::AvxIfma, 7)]];
        let rows = completed(&own, [&other, &[row(Engine::Avx2Fma, 5), row(Engine::AvxIfma, 9)]]);
        let costs: Vec<_> = rows.iter().map(|row| (row.engine, row.costs[0])).collect();
        assert_eq!(costs, [(Engine::Avx2Fma, [20; 3]), (Engine::AvxIfma, [14; 3])]);
    }

    #[test]
    fn costs_between_lengths() {
        assert!(LENGTHS.windows(2).all(|pair| (pair[1] - pair[0]).is_power_of_two()));
        for row in TABLES.into_iter().flatten().chain(neoverse_n1::ROWS).chain(apple_m1::ROWS) {
            let square = |bits| row.cost(bits).square;
            for (i, &length) in LENGTHS.iter().enumerate() {
                assert_eq!(square(length), row.costs[i][2]);
            }
            assert_eq!(square(1), row.costs[0][2]);
            assert_eq!(square(usize::MAX), row.costs[LENGTHS.len() - 1][2]);
            assert_eq!(square(3584), ((u64::from(square(3072)) + u64::from(square(4096))) / 2) as u32);
        }
    }

    #[test]
    fn more_work_costs_more() {
        let mut long = candidates(crate::Modulus::MAX_BITS);
        assert!(long.all(|candidate| candidate.backend.fits(crate::Modulus::MAX_BITS)));
        let candidates: Vec<_> = candidates(1024).collect();
        assert_eq!(candidates[0].backend.lanes(), Engine::best().lanes());
        for candidate in candidates {
            let power = |exponent_bits| candidate.estimate(Operation::Power { exponent_bits });
            assert!(candidate.estimate(Operation::Product) > 0 && power(1024) > power(512));
            assert!(power(512) > candidate.estimate(Operation::PublicPower { exponent_bits: 17 }));
            assert!(power(usize::MAX) > power(1 << 31));
        }
    }
}
