//! `kernels/src/batch/block`: rows of products and of reductions, as they are written, for every tile width
//! and number of rows, in digits of 51 and of 52 bits.

use num_bigint::BigInt;
use zariz_kernels::batch::block::{mac_rows, plain_rows, reduce_rows, rows_at_a_time};

use super::{Outcome, one};
use crate::Proof;
use crate::form::{Form, Id};
use crate::names::{Names, any, observe, suppose_inverse};

/// A claim about one tile width.
type Claim = fn() -> Result<Proof, String>;

/// The widest tile that any machine has.
pub const WIDEST: usize = 20;

macro_rules! widths {
    ($claim:ident, $($w:literal),*) => {
        widths!(@ $claim, ($($w),*), 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20)
    };
    (@ $claim:ident, $w:tt, $($t:literal)*) => {
        [$(widths!(@ $claim, $w, = $t)),*]
    };
    (@ $claim:ident, ($($w:literal),*), = $t:literal) => {
        $claim::<$($w,)* $t>
    };
}

/// Every claim about them.
pub fn all(each: &mut impl FnMut(Outcome)) {
    let blocks: [(&str, u32, [Claim; WIDEST]); 6] = [
        ("mac_rows", 51, widths!(products, 51, false)),
        ("mac_rows", 52, widths!(products, 52, false)),
        ("mac_rows, two rows at a time", 52, widths!(products, 52, true)),
        ("reduce_rows", 51, widths!(reductions, 51, false)),
        ("reduce_rows", 52, widths!(reductions, 52, false)),
        ("reduce_rows, two rows at a time", 52, widths!(reductions, 52, true)),
    ];
    for (name, bits, claims) in blocks {
        for (claim, width) in claims.into_iter().zip(1..) {
            let (function, size) =
                (format!("kernels::batch::block::{name}"), format!("tiles of {width}, {bits} bits"));
            each(Outcome { function, size, result: claim() });
        }
    }
}

/// `Σ C'[k]·2^(wk) = Σ C[k]·2^(wk) + A·B`.
fn products<const W: u32, const TWO_ROWS: bool, const T: usize>() -> Result<Proof, String> {
    (1..=T)
        .map(|rows| {
            let ((before, after, a, b), mut facts) = observe(|| {
                let (before, a, b) = (any(T + rows), any(T), any(rows));
                let mut c = before.clone();
                mac_rows::<_, T>(Names::<W, TWO_ROWS>, &mut c, &a, &b);
                (before, c, a, b)
            });
            let mut claim = Form::default();
            add_digits(&mut claim, &after, W, &one());
            add_digits(&mut claim, &before, W, &-one());
            (0..rows).for_each(|i| add_row(&mut claim, &a, b[i], (W, i), &-one()));
            facts.cancel(&claim).map_err(|left| format!("{rows} rows: {left}"))?;
            Ok(Proof { cases: 1, equations: facts.len(), decided: 0 })
        })
        .sum()
}

/// Whole and other reductions: [`reduction`].
fn reductions<const W: u32, const TWO_ROWS: bool, const T: usize>() -> Result<Proof, String> {
    let sizes = (1..=T + 1).flat_map(|rows| [(rows, false), (rows, true)]);
    // Friendly rows come in pairs, or one by one.
    let sizes = sizes.filter(|&(rows, whole)| whole || !TWO_ROWS || rows.is_multiple_of(2));
    sizes.map(|(rows, whole)| reduction::<W, TWO_ROWS, T>(rows, whole)).sum()
}

/// With the quotients `q` that are left, `M' = 2^(wk)·M'' − 1` for `k` rows at a time, `r` rows and
/// `μ·M ≡ −1 (mod 2^w)`: `2^(wr)·Σ C'[r + k]·2^(wk) = Σ C[k]·2^(wk) + Σ q[i]·2^(wi)·M'`, and of a whole
/// reduction the last rows have `M` in place of `M'`. So the lowest columns are cleared: nothing of them is
/// dropped.
pub fn reduction<const W: u32, const TWO_ROWS: bool, const T: usize>(
    rows: usize,
    whole: bool,
) -> Result<Proof, String> {
    let at_a_time = rows_at_a_time::<Names<W, TWO_ROWS>>();
    let ((before, after, friendly, modulus, q), mut facts) = observe(|| {
        let (before, friendly, modulus, mu) = (any(T + rows + at_a_time), any(T), any(T), any(1)[0]);
        suppose_inverse(mu, modulus[0]);
        let (mut c, mut q) = (before.clone(), vec![0; rows]);
        let last = whole.then_some((&modulus[..], mu));
        reduce_rows::<_, T>(Names::<W, TWO_ROWS>, &mut c, &friendly, &mut q, last);
        (before, c, friendly, modulus, q)
    });
    let mut claim = Form::default();
    add_digits(&mut claim, &after[rows..], W, &(one() << (W as usize * rows)));
    add_digits(&mut claim, &before, W, &-one());
    let friendly_rows = rows - if whole { plain_rows::<Names<W, TWO_ROWS>>(rows) } else { 0 };
    for (i, q) in q.iter().enumerate() {
        if i < friendly_rows {
            add_row(&mut claim, &friendly, *q, (W, i + at_a_time), &-one());
            claim.add((0, *q), one() << (W as usize * i));
        } else {
            add_row(&mut claim, &modulus, *q, (W, i), &-one());
        }
    }
    facts.cancel(&claim).map_err(|left| format!("{rows} rows, whole: {whole}: {left}"))?;
    Ok(Proof { cases: 1, equations: facts.len(), decided: 0 })
}

/// Adds `factor · Σ digits[k]·2^(wk)`.
fn add_digits(form: &mut Form, digits: &[Id], w: u32, factor: &BigInt) {
    digits.iter().enumerate().for_each(|(k, id)| form.add((0, *id), factor << (w as usize * k)));
}

/// Adds `factor · b·2^(wi) · Σ a[k]·2^(wk)`.
fn add_row(form: &mut Form, a: &[Id], b: Id, (w, i): (u32, usize), factor: &BigInt) {
    a.iter()
        .enumerate()
        .for_each(|(k, a)| form.add((*a.min(&b), *a.max(&b)), factor << (w as usize * (i + k))));
}
