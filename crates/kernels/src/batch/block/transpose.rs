//! Numbers into lanes and out: between arrays of digits, one per lane, and vectors of digits.

use crate::batch::Machine;

/// The most lanes any machine has.
pub const MAX_LANES: usize = 8;

/// How many digits of all lanes are turned at a time.
const ROWS: usize = 8;

/// `out[i]` holds digit `i` of every lane: lane `k` is `lanes[k]`, padded with zeros.
///
/// * Precondition: `lanes.len() = LANES`; every digit below `2^w`.
#[inline(always)]
pub fn gather<M: Machine>(m: M, out: &mut [M::Digit], lanes: &[&[u64]]) {
    // A few digits of all lanes at a time, lane by lane. Digit by digit, the compiler would use gather
    // instructions, which are slow, and very slow on processors with certain mitigations.
    let mut values = [0; ROWS * MAX_LANES];
    for (block, out) in out.chunks_mut(ROWS).enumerate() {
        for (k, lane) in lanes[..M::LANES].iter().enumerate() {
            let digits = lane.get(block * ROWS..).unwrap_or(&[]);
            for i in 0..ROWS {
                let at = if M::LOOKUP { k * ROWS + i } else { i * M::LANES + k };
                values[at] = digits.get(i).copied().unwrap_or(0);
            }
        }
        let mut rows = [m.digit_zero(); ROWS];
        for (row, values) in rows.iter_mut().zip(values.chunks_exact(M::LANES)) {
            *row = m.digit(m.column_from(values));
        }
        if M::LOOKUP {
            rows = m.transpose(rows);
        }
        for (out, row) in out.iter_mut().zip(rows) {
            *out = row;
        }
    }
    values.fill(0);
    core::hint::black_box(&values);
}

/// Writes the digits of every lane: `out[k·L + i]` is digit `i` of lane `k`, `L = digits.len()`.
#[inline(always)]
pub fn scatter<M: Machine>(m: M, out: &mut [u64], digits: &[M::Digit]) {
    let mut values = [0; MAX_LANES];
    let values = &mut values[..M::LANES];
    for (i, &digit) in digits.iter().enumerate() {
        m.column_store(m.column(digit), values);
        for (k, &value) in values.iter().enumerate() {
            out[k * digits.len() + i] = value;
        }
    }
    values.fill(0);
    core::hint::black_box(&values);
}
