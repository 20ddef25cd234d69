//! Costs of operations: nanoseconds, or of 64-bit Arm cycles of a model; only ratios matter. To measure them:
//! `cargo test --release -p zariz --lib cost::measure -- --ignored --nocapture` prints the rows of a
//! processor's engines. Each file says how its rows were measured. An engine that a processor lacks needs no
//! row there: one file for each engine is enough.

/// Rows for Apple's cores.
pub mod apple_m1;
/// Rows for other cores of 64-bit Arm.
pub mod neoverse_n1;
/// Rows for processors with AVX-512F and DQ.
pub mod with_avx512;
/// Rows for processors that compute vectors of 256 bits as two halves.
pub mod with_halved_vectors;
/// Rows for the others.
pub mod without_avx512;

use zariz_machines::rsaz;

use crate::engine::Engine;

/// Lengths in bits at which costs are known.
pub const LENGTHS: [usize; 9] = [256, 512, 1024, 1536, 2048, 3072, 4096, 8192, 16_384];

/// What one engine costs for a call with `numbers` numbers: at each length a product of plain numbers, a
/// multiplication and a squaring in Montgomery form.
#[derive(Clone, Copy)]
pub struct EngineCosts {
    pub engine: Engine,
    pub numbers: usize,
    pub costs: [[u32; 3]; LENGTHS.len()],
}

/// The rows of the measured processor that is most like this one.
pub fn rows() -> Vec<EngineCosts> {
    if cfg!(target_arch = "aarch64") {
        return if rsaz::is_apples() { apple_m1::ROWS.to_vec() } else { neoverse_n1::ROWS.to_vec() };
    }
    let (with, without, halved) = (with_avx512::ROWS, without_avx512::ROWS, with_halved_vectors::ROWS);
    if Engine::Avx512Fma.is_available() {
        completed(with, [without, halved])
    } else if zariz_machines::halves_256_bit_vectors() {
        completed(halved, [without, with])
    } else {
        completed(without, [with, halved])
    }
}

/// The rows of a processor, and guesses for engines that it lacks: rows of other processors, times the
/// quotient of the two processors' times on [`Engine::Avx2Fma`].
pub fn completed(own: &[EngineCosts], others: [&[EngineCosts]; 2]) -> Vec<EngineCosts> {
    let known = |rows: &[EngineCosts]| {
        rows.iter().find(|row| row.engine == Engine::Avx2Fma).expect("each table has this row").costs
    };
    let mut rows = own.to_vec();
    for other in others {
        let (to, from) = (known(own), known(other));
        for row in other {
            if rows.iter().any(|it| (it.engine, it.numbers) == (row.engine, row.numbers)) {
                continue;
            }
            let cost = |i: usize, k: usize| {
                let [cost, to, from] = [row.costs[i][k], to[i][k], from[i][k]].map(u64::from);
                ((cost * to + from / 2) / from) as u32
            };
            let costs = std::array::from_fn(|i| std::array::from_fn(|k| cost(i, k)));
            rows.push(EngineCosts { costs, ..*row });
        }
    }
    rows
}
