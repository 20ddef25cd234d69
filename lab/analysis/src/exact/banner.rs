//! What each block says it does, as equations between integers.

use num_bigint::BigInt;

use zariz_kernels::batch::block::{PREPARED_TERM, Part, TERM, plain_rows, rows_at_a_time};

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
            Call::Square { c, a, half }.run(m);
            // Without bias it starts from 0.
            square::<P>(&[], &c[..2 * a.len()], a)
        }
        Call::SquareOnto { c, a } => {
            let before = c[..2 * a.len()].to_vec();
            Call::SquareOnto { c, a }.run(m);
            square::<P>(&before, &c[..2 * a.len()], a)
        }
        Call::LowTriangle { c, a, b } => {
            let before = c[..a.len()].to_vec();
            Call::LowTriangle { c, a, b }.run(m);
            low_triangle::<P>(&before, &c[..a.len()], a, b)
        }
        Call::HighTriangle { c, a, b } => {
            let before = c[..=a.len()].to_vec();
            Call::HighTriangle { c, a, b }.run(m);
            high_triangle::<P>(&before, &c[..=a.len()], a, b)
        }
        Call::ReduceRows { c, friendly, q, last } => {
            let above = if last.is_some() { 1 } else { rows_at_a_time::<Exact<P>>() };
            let touched = friendly.len() + q.len() + above;
            let before = c[..touched].to_vec();
            Call::ReduceRows { c, friendly, q: &mut *q, last }.run(m);
            reduce_rows::<P>(&before, &c[..touched], friendly, q, last)
        }
        Call::Scale { x, factor, initial } => {
            let expected = value_of_digits(x, w) * factor[0];
            Call::Scale { x: &mut *x, factor, initial }.run(m);
            normalize::<P>(&expected, x)
        }
        Call::Splat { c, initial } => {
            Call::Splat { c: &mut *c, initial }.run(m);
            let right = c.iter().zip(initial).all(|(&c, &word)| c == super::signed(word));
            right.then_some(()).ok_or_else(|| "a column is not what it shall start at".to_owned())
        }
        Call::AddWords { c, words } => {
            let before = c.to_vec();
            Call::AddWords { c: &mut *c, words }.run(m);
            let right = c
                .iter()
                .zip(before)
                .zip(words)
                .all(|((&c, before), &word)| c == before + super::signed(word));
            right.then_some(()).ok_or_else(|| "a column has not received its word".to_owned())
        }
        Call::Quotients { q, c } => {
            let before = c[..=q.len()].to_vec();
            Call::Quotients { q: &mut *q, c: &mut *c }.run(m);
            quotients::<P>(&before, &c[..=q.len()], q)
        }
        Call::Normalize { out, c } => {
            Call::Normalize { out: &mut *out, c }.run(m);
            normalize::<P>(&value_of_columns(&c[..out.len()], w), out)
        }
        Call::Settle { out, c } => {
            let before = c[..=out.len()].to_vec();
            Call::Settle { out: &mut *out, c }.run(m);
            digits(w, out)?;
            let after = value_of_digits(out, w) + (BigInt::from(c[out.len()]) << (w as usize * out.len()));
            equal("the settled number", &after, &value_of_columns(&before, w))
        }
        Call::NormalizeSum { out, low, c, d } => {
            Call::NormalizeSum { out: &mut *out, low, c, d }.run(m);
            let (l, n) = (low.len(), out.len());
            let upper = value_of_columns(&c[..n], w) << (w as usize * l);
            let sum = value_of_digits(low, w) + value_of_columns(&d[..l + n], w) + upper;
            normalize::<P>(&(sum >> (w as usize * l)), out)
        }
        Call::Difference { out, scratch, sign, a, b } => {
            Call::Difference { out: &mut *out, scratch, sign: &mut *sign, a, b }.run(m);
            digits(w, out)?;
            let difference = value_of_digits(a, w) - value_of_digits(b, w);
            if sign[0] != i128::from(difference >= BigInt::ZERO) {
                return Err(format!("the sign is {} for a difference of {difference:#x}", sign[0]));
            }
            equal("|A − B|", &value_of_digits(out, w), &BigInt::from(difference.magnitude().clone()))
        }
        Call::Karatsuba { c, middle, signs, extra, part } => {
            let before = c.to_vec();
            Call::Karatsuba { c: &mut *c, middle, signs, extra, part }.run(m);
            karatsuba(&before, c, middle, signs, extra, part)
        }
        Call::ReduceOnce { out, scratch, a, modulus } => {
            let (number, modulus_value) = (value_of_digits(a, w), value_of_digits(modulus, w));
            Call::ReduceOnce { out: &mut *out, scratch, a, modulus }.run(m);
            digits(w, out)?;
            let reduced = if number < modulus_value { number } else { number - modulus_value };
            equal("A mod M", &value_of_digits(out, w), &reduced)
        }
        Call::AddDigits { out, a } => {
            let sum = value_of_digits(out, w) + value_of_digits(a, w);
            Call::AddDigits { out: &mut *out, a }.run(m);
            digits(w, out)?;
            equal("the sum", &value_of_digits(out, w), &sum)
        }
        Call::AmmRegisters { x, y, modulus } => {
            let product = value_of_digits(x, w) * value_of_digits(&y[..x.len()], w);
            Call::AmmRegisters { x: &mut *x, y, modulus }.run(m);
            whole::<P>(&product, x, modulus)
        }
        Call::AmsRegisters { x, times, modulus, c } => {
            // One at a time: the block repeats itself.
            for _ in 0..times {
                let number = value_of_digits(x, w);
                Call::AmsRegisters { x: &mut *x, times: 1, modulus, c: &mut *c }.run(m);
                whole::<P>(&(&number * &number), x, modulus)?;
            }
            Ok(())
        }
        Call::KaratsubaTwoTerms { x, times, y, modulus, c, scratch } => {
            // One at a time, as with AmsRegisters.
            for _ in 0..times {
                let number = value_of_digits(x, w);
                Call::KaratsubaTwoTerms {
                    x: &mut *x,
                    times: 1,
                    y: &[],
                    modulus,
                    c: &mut *c,
                    scratch: &mut *scratch,
                }
                .run(m);
                terms::<P>(&(&number * &number), x, modulus)?;
            }
            if y.is_empty() {
                return Ok(());
            }
            let product = value_of_digits(x, w) * value_of_digits(&y[..x.len()], w);
            Call::KaratsubaTwoTerms { x: &mut *x, times: 0, y, modulus, c, scratch }.run(m);
            terms::<P>(&product, x, modulus)
        }
        Call::KaratsubaTermsMultiply { c, a, b, scratch } => {
            let product = value_of_digits(a, w) * value_of_digits(&b[..a.len()], w);
            Call::KaratsubaTermsMultiply { c: &mut *c, a, b, scratch }.run(m);
            equal("A·B", &offset_columns(&c[..2 * a.len()], w), &product)
        }
        Call::KaratsubaTermsSquare { c, a, scratch } => {
            let number = value_of_digits(a, w);
            Call::KaratsubaTermsSquare { c: &mut *c, a, scratch }.run(m);
            equal("A²", &offset_columns(&c[..2 * a.len()], w), &(&number * &number))
        }
        Call::KaratsubaTermsReduce { x, c, modulus, scratch } => {
            let product = offset_columns(&c[..2 * x.len()], w);
            Call::KaratsubaTermsReduce { x: &mut *x, c, modulus, scratch }.run(m);
            terms::<P>(&product, x, modulus)
        }
        Call::SelectTile { mut out, table, stride, index } => {
            let again = out.each_mut().map(|out| &mut **out);
            Call::SelectTile { out: again, table, stride, index }.run(m);
            for (out, &index) in out.iter().zip(index) {
                let entry = table.chunks(stride).nth(index as usize).map(|entry| &entry[..out.len()]);
                if !entry.map_or(out.iter().all(|&d| d == 0), |entry| entry == &**out) {
                    return Err(format!("not the table's entry {index}"));
                }
            }
            Ok(())
        }
        Call::SelectShared { out, table, stride, index } => {
            Call::SelectShared { out: &mut *out, table, stride, index }.run(m);
            let entry = table.chunks(stride).nth(index[0] as usize).map(|entry| &entry[..out.len()]);
            let right = entry.map_or(out.iter().all(|&d| d == 0), |entry| entry == &*out);
            right.then_some(()).ok_or_else(|| format!("not the table's entry {}", index[0]))
        }
        Call::Turn { .. } | Call::Lookup { .. } => {
            Err("an interpretation has one lane, and no lookups".into())
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

/// `C' = C + A·B`.
pub fn mac_rows<P: Model>(before: &[i128], after: &[i128], a: &[u64], b: &[u64]) -> Result<(), String> {
    let w = P::DIGIT_BITS;
    let product = value_of_digits(a, w) * value_of_digits(b, w);
    let expected = value_of_columns(before, w) + product;
    equal("C + A·B", &value_of_columns(after, w), &expected)
}

/// `C' = 2·C + A²`.
pub fn square<P: Model>(before: &[i128], after: &[i128], a: &[u64]) -> Result<(), String> {
    let w = P::DIGIT_BITS;
    let number = value_of_digits(a, w);
    let expected = value_of_columns(before, w) * 2 + &number * &number;
    equal("2C + A²", &value_of_columns(after, w), &expected)
}

/// Of a friendly multiple for `k` rows at a time, with the quotients `q` of the friendly rows,
/// `Q = Σ q_i·2^{wi}`, and those of the plain rows, in their places, `P`: the columns above the rows hold,
/// exactly divided, `(C + Q·(2^{wk}·F − 1) + P·M) / 2^{w·rows}`, where `F` and `M` are the tiles of `M''` and
/// of the modulus; `2^{wk}·F − 1` is the lowest tile of `M'`. The columns of the friendly rows are not
/// written.
pub fn reduce_rows<P: Model>(
    before: &[i128],
    after: &[i128],
    friendly: &[u64],
    q: &[u64],
    last: Option<(&[u64], u64)>,
) -> Result<(), String> {
    let w = P::DIGIT_BITS;
    digits(w, q)?;
    let rows = q.len();
    let friendly_rows = rows - last.map_or(0, |_| plain_rows::<Exact<P>>(rows));
    if before[..friendly_rows] != after[..friendly_rows] {
        return Err("a column that is done with was written".into());
    }
    let multiple: BigInt = (value_of_digits(friendly, w) << (w as usize * rows_at_a_time::<Exact<P>>())) - 1;
    let mut expected = value_of_columns(before, w) + value_of_digits(&q[..friendly_rows], w) * multiple;
    if let Some((modulus, mu)) = last {
        let product = u128::from(mu) * u128::from(modulus[0]);
        if (product + 1) & ((1 << w) - 1) != 0 {
            return Err("μ·M is not −1 modulo 2^w".into());
        }
        let plain = value_of_digits(&q[friendly_rows..], w) << (w as usize * friendly_rows);
        expected += value_of_digits(modulus, w) * plain;
    }
    equal("the reduced columns", &(value_of_columns(&after[rows..], w) << (w as usize * rows)), &expected)
}

/// `X = (T + Q·M)/R` for a whole `Q`, `0 ≤ Q < 2R`, of the product `T`; `modulus` has the terms of `M''` of
/// ten digits and of `M`, and `μ`.
pub fn terms<P: Model>(product: &BigInt, x: &[u64], modulus: &[u64]) -> Result<(), String> {
    let (w, t) = (P::DIGIT_BITS, x.len());
    let (friendly, rest) = modulus.split_at(t / TERM * PREPARED_TERM);
    let (number, mu) = rest.split_at(t / TERM * PREPARED_TERM);
    let number = value_of_terms(number, w)?;
    let multiple: BigInt = (value_of_terms(friendly, w)? << (w as usize * TERM)) - 1;
    equal("M' modulo M", &(&multiple % &number), &BigInt::ZERO)?;
    equal("M' as a multiple of M", &(multiple / &number), &value_of_digits(mu, w))?;
    added_multiple(w, product, x, &number)
}

/// The number of these prepared terms, if their differences are those of their halves.
fn value_of_terms(terms: &[u64], w: u32) -> Result<BigInt, String> {
    let (half, mut digits) = (w as usize * TERM / 2, Vec::new());
    for prepared in terms.chunks_exact(PREPARED_TERM) {
        let (term, rest) = prepared.split_at(TERM);
        let [low, high, difference] =
            [&term[..TERM / 2], &term[TERM / 2..], &rest[..TERM / 2]].map(|part| value_of_digits(part, w));
        equal("a difference", &(difference - (BigInt::from(rest[TERM / 2]) << half)), &(high - low))?;
        digits.extend_from_slice(term);
    }
    Ok(value_of_digits(&digits, w))
}

/// `X = (T + Q·M)/R` for a whole `Q`, `0 ≤ Q < 2R`, of the product `T`; `modulus` has `M''` of four rows and
/// of two, `M` and `μ`.
pub fn whole<P: Model>(product: &BigInt, x: &[u64], modulus: &[u64]) -> Result<(), String> {
    let (w, t) = (P::DIGIT_BITS as usize, x.len());
    let (friendly, rest) = modulus.split_at(2 * t);
    let (number, mu) = (value_of_digits(&rest[..t], P::DIGIT_BITS), rest[t]);
    for (friendly, rows) in friendly.chunks(t).zip([4, 2]) {
        let multiple: BigInt = (value_of_digits(friendly, P::DIGIT_BITS) << (rows * w)) - 1;
        equal("M' modulo M", &(&multiple % &number), &BigInt::ZERO)?;
        equal("μ modulo 2^w", &((multiple / &number) & BigInt::from(Exact::<P>::MAX)), &BigInt::from(mu))?;
    }
    added_multiple(P::DIGIT_BITS, product, x, &number)
}

/// `X = (T + Q·M)/R` for a whole `Q`, `0 ≤ Q < 2R`, of the product `T`.
fn added_multiple(w: u32, product: &BigInt, x: &[u64], number: &BigInt) -> Result<(), String> {
    digits(w, x)?;
    let bits = w as usize * x.len();
    let added = (value_of_digits(x, w) << bits) - product;
    equal("the multiple of M that was added", &(&added % number), &BigInt::ZERO)?;
    let quotient = added / number;
    let fits = quotient >= BigInt::ZERO && quotient < BigInt::from(2) << bits;
    fits.then_some(()).ok_or_else(|| format!("the quotient is {quotient:#x}, which is not from 0 to 2R"))
}

/// The digits and the column above them are what the columns were; those below are not written.
pub fn quotients<P: Model>(before: &[i128], after: &[i128], q: &[u64]) -> Result<(), String> {
    let w = P::DIGIT_BITS;
    digits(w, q)?;
    if before[..q.len()] != after[..q.len()] {
        return Err("a column of a quotient was written".into());
    }
    let carried = value_of_digits(q, w) + (BigInt::from(after[q.len()]) << (w as usize * q.len()));
    equal("the quotient and what is above it", &carried, &value_of_columns(before, w))
}

/// The digits are those of the number, except for what is carried out of the last: nothing, or an offset's
/// `2^{62−w}`, or all above `R` of a number that is wanted modulo `R`. That nothing else is lost shows in the
/// value of the whole operation.
pub fn normalize<P: Model>(number: &BigInt, out: &[u64]) -> Result<(), String> {
    let w = P::DIGIT_BITS;
    digits(w, out)?;
    let mask = (BigInt::from(1) << (w as usize * out.len())) - 1;
    equal("the normalised number", &value_of_digits(out, w), &(number & mask))
}

/// `C' ≡ C + A·B (mod 2^{wT})`.
pub fn low_triangle<P: Model>(before: &[i128], after: &[i128], a: &[u64], b: &[u64]) -> Result<(), String> {
    let w = P::DIGIT_BITS;
    let product = value_of_digits(a, w) * value_of_digits(b, w);
    let mask = (BigInt::from(1) << (w as usize * a.len())) - 1;
    let difference = value_of_columns(after, w) - value_of_columns(before, w) - product;
    equal("C + A·B, modulo 2^{wT},", &(difference & mask), &BigInt::ZERO)
}

/// `C' = C +` the columns from `T − 1` up of `A·B`: of each product of digits `i + j ≥ T − 1` the whole, of
/// those one below the high half alone. With `T + 1` rows the lowest is one more of these.
pub fn high_triangle<P: Model>(before: &[i128], after: &[i128], a: &[u64], b: &[u64]) -> Result<(), String> {
    let (w, t) = (P::DIGIT_BITS, a.len());
    let (below, b) = b.split_at(b.len() - t);
    let high = |x: u64, y: u64| Exact::<P>::split(x, y).1;
    let mut expected = value_of_columns(before, w);
    for (i, &y) in b.iter().enumerate() {
        for (j, &x) in a.iter().enumerate() {
            if i + j + 1 >= t {
                expected += (BigInt::from(x) * y) << (w as usize * (i + j + 1 - t));
            } else if i + j + 2 == t {
                expected += high(x, y);
            }
        }
    }
    for &y in below {
        expected += high(a[t - 1], y);
    }
    equal("the upper half of A·B", &value_of_columns(after, w), &expected)
}

/// Column `h + k` receives `D0[k] + D2[k] − s·D1[k] + extra[k]`, for `0 ≤ k < 2h`; of the lower part for
/// `k < h`, of the upper for `k ≥ h − 1`.
pub fn karatsuba(
    before: &[i128],
    after: &[i128],
    middle: &[i128],
    signs: &[i128],
    extra: &[u64],
    part: Part,
) -> Result<(), String> {
    let h = middle.len() / 2;
    let s = if matches!(signs, [a, b] if a != b) { -1 } else { 1 };
    let wanted = match part {
        Part::Full => 0..2 * h,
        Part::Low => 0..h,
        Part::High => h - 1..2 * h,
    };
    for k in wanted {
        let d2 = before.get(2 * h + k).copied().unwrap_or(0);
        let expected = before[h + k] + before[k] + d2 - s * middle[k] + super::signed(extra[k]);
        if after[h + k] != expected {
            return Err(format!("column {} is off by {:#x}", h + k, after[h + k] - expected));
        }
    }
    Ok(())
}

/// The value of columns less their offset: of it only the carry out of the last column is left, `2^{62−w}`.
fn offset_columns(columns: &[i128], w: u32) -> BigInt {
    value_of_columns(columns, w) - (BigInt::from(1) << (w as usize * columns.len() + 62 - w as usize))
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
