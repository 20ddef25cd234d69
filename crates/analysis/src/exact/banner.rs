//! What each block says it does, as equations between integers.

use num_bigint::BigInt;

use zariz_kernels::Lanes;

use super::{Exact, value_of_columns, value_of_digits};
use crate::Model;
use crate::call::Call;

/// Runs a block and compares what it did with its banner.
pub(super) fn check<P: Model>(m: Exact<P>, call: Call<Exact<P>>) -> Result<(), String> {
    let w = P::DIGIT_BITS;
    match call {
        Call::MacRows { c, a, b } => {
            let touched = a.len() + b.len();
            let before = c[..touched].to_vec();
            Call::MacRows { c, a, b }.run(m);
            mac_rows::<P>(&before, &c[..touched], a, b)
        }
        Call::Square { c, a, half } => {
            let touched = 2 * a.len();
            // Without bias it starts from 0.
            let started = half[..touched].iter().map(|&half| if P::SIGNED { i128::from(half) } else { 0 });
            let before: Vec<i128> = started.collect();
            Call::Square { c, a, half }.run(m);
            square::<P>(&before, &c[..touched], a)
        }
        Call::SquareOnto { c, a } => {
            let before = c[..2 * a.len()].to_vec();
            Call::SquareOnto { c, a }.run(m);
            square::<P>(&before, &c[..2 * a.len()], a)
        }
        Call::ReduceRows { c, friendly, q, last } => {
            let touched = friendly.len() + q.len() + 1;
            let before = c[..touched].to_vec();
            Call::ReduceRows { c, friendly, q: &mut *q, last }.run(m);
            reduce_rows::<P>(&before, &c[..touched], friendly, q, last)
        }
        Call::Splat { c, start } => {
            Call::Splat { c: &mut *c, start }.run(m);
            let right = c.iter().zip(start).all(|(&c, &start)| c == i128::from(start));
            right.then_some(()).ok_or_else(|| "a column is not what it shall start at".to_owned())
        }
        Call::Normalize { out, c } => {
            Call::Normalize { out: &mut *out, c }.run(m);
            normalize::<P>(c, out)
        }
        Call::AddNumbers { out, a } => {
            let sum = value_of_digits(out, w) + value_of_digits(a, w);
            Call::AddNumbers { out: &mut *out, a }.run(m);
            digits(w, out)?;
            equal("the sum", &value_of_digits(out, w), &sum)
        }
        Call::SelectTile { out, table, stride, index } => {
            Call::SelectTile { out: &mut *out, table, stride, index }.run(m);
            let entry = table.chunks(stride).nth(index[0] as usize).map(|entry| &entry[..out.len()]);
            let right = entry.map_or(out.iter().all(|&d| d == 0), |entry| entry == &*out);
            right.then_some(()).ok_or_else(|| format!("not the table's entry {}", index[0]))
        }
        Call::Gather { out, lanes } => {
            Call::Gather { out: &mut *out, lanes }.run(m);
            digits(w, out)?;
            equal("the number", &value_of_digits(out, w), &value_of_digits(lanes[0], w))
        }
        Call::Scatter { out, digits } => {
            Call::Scatter { out: &mut *out, digits }.run(m);
            equal("the number", &value_of_digits(out, w), &value_of_digits(digits, w))
        }
    }
}

/// `C' = C + A·B`, and the bias.
pub fn mac_rows<P: Model>(before: &[i128], after: &[i128], a: &[u64], b: &[u64]) -> Result<(), String> {
    let w = P::DIGIT_BITS;
    let product = value_of_digits(a, w) * value_of_digits(b, w);
    let expected = value_of_columns(before, w) + product + bias::<P>(a.len(), b.len());
    equal("C + A·B", &value_of_columns(after, w), &expected)
}

/// `C' = 2·C + A²`, and the bias of a whole square.
pub fn square<P: Model>(before: &[i128], after: &[i128], a: &[u64]) -> Result<(), String> {
    let w = P::DIGIT_BITS;
    let number = value_of_digits(a, w);
    let expected = value_of_columns(before, w) * 2 + &number * &number + bias::<P>(a.len(), a.len());
    equal("2C + A²", &value_of_columns(after, w), &expected)
}

/// With the quotients `q` of the friendly rows, `Q = Σ q_i·2^{wi}`, and `p` of the plain row: the columns above the rows
/// hold, exactly divided, `(C + Q·(2^w·F − 1) + p·2^{w·(rows − 1)}·M) / 2^{w·rows}`, where `F` and `M` are the tiles of
/// `M''` and of the modulus; `2^w·F − 1` is the lowest tile of `M'`. The columns of the friendly rows are not written.
pub fn reduce_rows<P: Model>(
    before: &[i128],
    after: &[i128],
    friendly: &[u64],
    q: &[u64],
    last: Option<(&[u64], u64)>,
) -> Result<(), String> {
    let w = P::DIGIT_BITS;
    digits(w, q)?;
    let (t, rows) = (friendly.len(), q.len());
    let friendly_rows = rows - usize::from(last.is_some());
    if before[..friendly_rows] != after[..friendly_rows] {
        return Err("a column that is done with was written".into());
    }
    let multiple: BigInt = (value_of_digits(friendly, w) << w) - 1;
    let mut expected = value_of_columns(before, w) + value_of_digits(&q[..friendly_rows], w) * multiple;
    expected += bias::<P>(t, friendly_rows) << w;
    if let Some((modulus, mu)) = last {
        let product = u128::from(mu) * u128::from(modulus[0]);
        if (product + 1) & ((1 << w) - 1) != 0 {
            return Err("μ·M is not −1 modulo 2^w".into());
        }
        expected += (value_of_digits(modulus, w) * q[rows - 1] + bias::<P>(t, 1)) << (w as usize * (rows - 1));
    }
    equal("the reduced columns", &(value_of_columns(&after[rows..], w) << (w as usize * rows)), &expected)
}

/// The digits have the columns' value, which is not negative and fits them, but for what the offset of a signed machine
/// carries out of the last: each column's `2^62` is taken off by the column above, and nobody stands above the last.
pub fn normalize<P: Model>(c: &[i128], out: &[u64]) -> Result<(), String> {
    let w = P::DIGIT_BITS;
    digits(w, out)?;
    let carried = if P::SIGNED { BigInt::from(1) << (62 - w as usize + w as usize * out.len()) } else { BigInt::ZERO };
    let expected = value_of_columns(&c[..out.len()], w) - carried;
    equal("the normalised number", &value_of_digits(out, w), &expected)
}

/// What the products of `t × rows` digits add to the columns beside themselves.
fn bias<P: Model>(t: usize, rows: usize) -> BigInt {
    let ones = |n: usize| value_of_digits(&vec![1; n], P::DIGIT_BITS);
    ones(t) * ones(rows) * ((BigInt::from(Exact::<P>::BIAS_HI) << P::DIGIT_BITS) + Exact::<P>::BIAS_LO)
}

fn digits(w: u32, digits: &[u64]) -> Result<(), String> {
    match digits.iter().position(|&digit| digit >> w != 0) {
        Some(i) => Err(format!("digit {i} is {:#x}, which has more than {w} bits", digits[i])),
        None => Ok(()),
    }
}

fn equal(what: &str, found: &BigInt, expected: &BigInt) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what} is off by {:#x}", found - expected))
}
