//! The initial values of columns, chosen so that no bias of a product is left when they are looked at.

use alloc::{vec, vec::Vec};

use super::{LANES, Machine, Shape};

/// The initial columns: the low parts, vector by vector, then the high ones.
///
/// Minus a bias for each product a vector receives, except those of `M` and the last quotient in the last
/// vector that is cleared: it is looked at before they come, and the last pass takes them
/// off.
pub fn initial<M: Machine>(shape: Shape) -> Vec<u64> {
    let counts = products(shape);
    let part = |bias: u64| counts.iter().map(move |&count| bias.wrapping_mul(count).wrapping_neg());
    part(M::BIAS_LOW).chain(part(M::BIAS_HIGH)).collect()
}

/// How many products each vector of columns receives, as the kernels add them.
fn products(shape: Shape) -> Vec<u64> {
    let (vectors, spare) = (shape.vectors(), LANES * shape.vectors() - shape.digits);
    let mut counts = vec![0; 2 * vectors];
    // Eight rows, or those from digit `from` on, of a number put at vector `at`.
    let mut rows = |at: usize, from: usize| {
        for s in from..LANES {
            for tile in 0..shape.tiles {
                for k in (0..=shape.width).filter(|&k| k < shape.width || s > spare) {
                    counts[at + tile * shape.width + k] += 1;
                }
            }
        }
    };
    let from = |k: usize| if k == 0 { spare } else { 0 };
    // The product; the friendly multiple, one vector higher; M.
    (0..vectors).for_each(|k| rows(k, from(k)));
    (0..vectors - 1).for_each(|k| rows(k + 1, from(k)));
    rows(vectors - 1, 0);
    counts[vectors - 1] -= LANES as u64;
    counts
}
