//! Nanoseconds of operations. To measure them:
//! `cargo test --release -p zariz --lib cost::measure -- --ignored --nocapture` prints the rows of a
//! processor's engines. Each file says how its rows were measured.

/// Rows for processors with AVX-512F and DQ.
pub mod with_avx512;
/// Rows for processors that compute vectors of 256 bits as two halves.
pub mod with_halved_vectors;
/// Rows for the others.
pub mod without_avx512;

use crate::engine::Engine;

/// Lengths in bits at which costs are known.
pub const LENGTHS: [usize; 9] = [256, 512, 1024, 1536, 2048, 3072, 4096, 8192, 16_384];

/// What one engine costs for a call with `numbers` numbers: at each length a product of plain numbers, a
/// multiplication and a squaring in Montgomery form.
pub struct EngineCosts {
    pub engine: Engine,
    pub numbers: usize,
    pub costs: [[u32; 3]; LENGTHS.len()],
}

/// The rows of the measured processor that is most like this one.
pub fn rows() -> &'static [EngineCosts] {
    if Engine::Avx512Fma.is_available() {
        with_avx512::ROWS
    } else if zariz_machines::halves_256_bit_vectors() {
        with_halved_vectors::ROWS
    } else {
        without_avx512::ROWS
    }
}
