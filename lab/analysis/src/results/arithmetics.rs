//! The arithmetics of the library: every length of their numbers, and how each reduces.

use std::collections::BTreeMap;

use zariz_kernels::batch::block::{FEWEST_IN_REGISTERS, TERM, WIDEST, fours, has_terms};
use zariz_kernels::batch::tiled::STEP;
use zariz_kernels::batch::{MAX_DIGITS, doubling};
use zariz_kernels::bounds::free_bits_for_doubling;
use zariz_kernels::bounds::{BOUND, BOUND_AHMM, FREE_BITS, FREE_BITS_AHMM, REDUCED, REDUCED_FULL};
use zariz_kernels::{carry, pair, rsaz};

use super::{Arithmetic, Bounds, Kind, Reduction, Size};
use crate::operation::MAX_BITS;

/// The bounds of most arithmetics.
pub const BOUNDS: Bounds = Bounds { free_bits: FREE_BITS, bound: BOUND, reduced: REDUCED };

const FULL: Bounds = Bounds { free_bits: 0, bound: 0, reduced: REDUCED_FULL };

/// The digit sizes of machines of batches.
pub const DIGIT_BITS: [usize; 2] = [51, 52];

/// Numbers of a batch, of `w`-bit digits, reduced by steps of so many digits, or at once.
pub fn batch_sizes(w: usize, step: Option<usize>) -> Vec<Size> {
    let reduction = |digits| match step {
        None => Reduction::Whole(w * digits),
        Some(step) => Reduction::by_digits(w, digits, step),
    };
    let size =
        |digits| Size { digits, bits: w * digits, step: w * (digits - 1), reduction: reduction(digits) };
    (2..=MAX_DIGITS).map(size).collect()
}

/// Numbers in registers, whose squares are reduced by four rows first, then by pairs, the last two rows with
/// `M` itself. (Of an odd number it is three: less is added.)
fn register_sizes(w: usize) -> Vec<Size> {
    let whole = (FEWEST_IN_REGISTERS..=WIDEST).filter(|&digits| fours(digits) > 0);
    let size = |digits| {
        let (before, doubled) = (w * (digits - 2), 4 * w * fours(digits));
        let reduction = Reduction::Friendly { before, last: 2 * w, doubled };
        Size { digits, bits: w * digits, step: w * (digits - 1), reduction }
    };
    whole.map(size).collect()
}

/// Numbers in terms, reduced a term at a time. With two terms, the last ten rows add at most what a term
/// does.
fn term_sizes(w: usize) -> Vec<Size> {
    let sizes = batch_sizes(w, Some(TERM)).into_iter();
    sizes.filter(|size| has_terms(size.digits)).collect()
}

/// Numbers across vectors: every shape that there is.
fn pair_sizes() -> Vec<Size> {
    let shapes = (1..=pair::MAX_COUNT)
        .flat_map(|count| (2..=pair::Constants::MAX_BITS).map(move |bits| pair::Shape::new(bits, count)));
    let distinct: BTreeMap<(usize, usize), pair::Shape> =
        shapes.map(|shape| ((shape.bits(), shape.count), shape)).collect();
    let size = |shape: &pair::Shape| {
        let (bits, segment) = (shape.bits(), shape.segment_bits());
        let reduction = Reduction::Friendly { before: bits - segment, last: segment, doubled: 0 };
        Size { digits: shape.vectors * shape.segments(), bits, step: bits - segment, reduction }
    };
    distinct.values().map(size).collect()
}

fn rsaz_sizes(quotients: rsaz::Quotients) -> Vec<Size> {
    let mut radices: Vec<(usize, u32)> = (2..=rsaz::MAX_BITS)
        .map(|bits| (rsaz::digit_bits_for(bits), bits))
        .map(|(m, bits)| (rsaz::digits_for(bits, m), m))
        .collect();
    radices.dedup();
    let size = |(digits, m): (usize, u32)| {
        let (m, bits) = (m as usize, m as usize * digits);
        let reduction = match quotients {
            rsaz::Quotients::Chained => Reduction::Whole(bits),
            rsaz::Quotients::Friendly => Reduction::by_digits(m, digits, 4),
        };
        Size { digits, bits, step: bits - m, reduction }
    };
    radices.into_iter().map(size).collect()
}

fn full_sizes(digits: impl Iterator<Item = usize>, digit_bits: usize) -> Vec<Size> {
    let size = |digits| {
        let bits = digit_bits * digits;
        Size { digits, bits, step: bits, reduction: Reduction::Whole(bits) }
    };
    digits.map(size).collect()
}

/// Powers of two, with windows of `window` bits.
pub fn doubling(w: usize, window: usize) -> Arithmetic {
    let free_bits = free_bits_for_doubling(window);
    Arithmetic {
        name: "batch",
        method: format!("powers of two by windows of {window}, {w}-bit digits"),
        bounds: Bounds { free_bits, ..BOUNDS },
        kind: Kind::Doubling((1 << window) - 1),
        sizes: batch_sizes(w, Some(1)),
    }
}

/// All of them.
pub fn all() -> Vec<Arithmetic> {
    let mut out = Vec::new();
    for w in DIGIT_BITS {
        let batch = |method: &str, bounds, kind, step| Arithmetic {
            name: "batch",
            method: format!("{method}, {w}-bit digits"),
            bounds,
            kind,
            sizes: batch_sizes(w, step),
        };
        let half = Bounds { free_bits: FREE_BITS_AHMM, bound: BOUND_AHMM, ..BOUNDS };
        for (name, step) in [("interleaved", 1), ("tiled", STEP)] {
            out.push(batch(name, BOUNDS, Kind::Products, Some(step)));
            let kind = Kind::HalfReduced { digit_bits: w, step };
            out.push(batch(&format!("{name}, half-reduced entries"), half, kind, Some(step)));
        }
        let in_registers = batch("in registers, four rows first", BOUNDS, Kind::Products, Some(2));
        out.push(Arithmetic { sizes: register_sizes(w), ..in_registers });
        let terms = batch("numbers in terms", BOUNDS, Kind::Products, Some(TERM));
        out.push(Arithmetic { sizes: term_sizes(w), ..terms });
        out.push(batch("separated, whole or truncated", BOUNDS, Kind::Products, None));
        out.extend((1..=doubling::MAX_WINDOW).map(|window| doubling(w, window)));
        out.extend((1..=doubling::MAX_WINDOW).map(|window| {
            let method = format!("powers of two by windows of {window}, four rows first, {w}-bit digits");
            Arithmetic { method, sizes: register_sizes(w), ..doubling(w, window) }
        }));
    }
    let plain = |name, method: &str, sizes| Arithmetic {
        name,
        method: method.to_owned(),
        bounds: BOUNDS,
        kind: Kind::Products,
        sizes,
    };
    out.push(plain("pair", "friendly segments", pair_sizes()));
    out.push(plain("rsaz", "chained", rsaz_sizes(rsaz::Quotients::Chained)));
    out.push(plain("rsaz", "friendly", rsaz_sizes(rsaz::Quotients::Friendly)));
    let full = |name, method: &str, row_bits, sizes| Arithmetic {
        name,
        method: method.to_owned(),
        bounds: FULL,
        kind: Kind::Full { row_bits },
        sizes,
    };
    let vectors = |words: usize| carry::DIGITS * words;
    let words = carry::Constants::words_for(MAX_BITS);
    let windows = (1..=words / carry::WIDEST).map(|windows| vectors(carry::WIDEST * windows));
    out.push(full("carry", "one vector", Some(32 * vectors(1)), full_sizes([vectors(1)].into_iter(), 32)));
    out.push(full(
        "carry",
        "windows of two vectors",
        Some(32 * vectors(carry::WIDEST)),
        full_sizes(windows, 32),
    ));
    out.push(full("scalar", "limb by limb", None, full_sizes(1..=MAX_BITS.div_ceil(64), 64)));
    out
}
