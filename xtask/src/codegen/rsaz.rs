//! What the entry points of RSAZ must be: the multiplications of the rows in their code.

use super::entry_points::{EntryPoint, Fit};

/// The machine by its module's name.
pub const MACHINE: &str = "rsaz-avx2";
/// The machine that computes another number in limbs at the same time: its entry points have the same products,
/// and call steps.
pub const MIXED: &str = "mixed";
/// A step of the number in limbs: assembly.
pub const STEP: &str = "zariz_machines::scalar::adx::steps::step";

/// Vectors of a row that are written out, for every length (`rows` in crates/kernels/src/rsaz/rows.rs); those
/// above are a loop of one.
const WRITTEN: usize = 12;
/// The longest numbers, in fours of digits, whose squares have every step written out (`UNROLLED` in
/// …/rsaz/square.rs).
const STEPS_WRITTEN: usize = 9;

/// The multiplications in the code of four rows of `n` vectors.
fn rows(n: usize) -> usize {
    // The compiler writes out a loop of up to three.
    if n <= WRITTEN + 3 { 4 * n } else { 4 * (WRITTEN + 1) }
}

/// The multiplications in an entry point's code. A width of 0 is code for any length. `None` for an entry
/// point that is not listed here, and for squares of steps in a loop: the compiler decides what is in their
/// code, and lets branches share rows.
fn products(entry_point: &EntryPoint) -> Option<usize> {
    let any = entry_point.width == Some(0);
    let g = if any { usize::MAX - 1 } else { entry_point.width.unwrap_or(0) };
    let (operation, quotients) = entry_point.block.split_once('_').unwrap_or((&entry_point.block, ""));
    let friendly = quotients.ends_with("friendly");
    match operation {
        // The first rows of the product; those of the step ahead, and where they reach highest; those of the
        // reduction, by the friendly multiple and in the last step by the modulus.
        "multiply" => {
            Some(rows(g + 1) + rows(g) + rows(1) + rows(g) + if friendly { rows(g + 1) } else { 0 })
        }
        // The square in all its steps, and the reduction likewise.
        "square" if g <= STEPS_WRITTEN => {
            let multiple = if friendly { rows(g + 1) } else { rows(g) };
            Some(2 * g * (g + 3) + (g - 1) * multiple + rows(g))
        }
        "select" => Some(0),
        _ => None,
    }
}

/// Compares an entry point with its algorithm.
pub fn fit(entry_point: &EntryPoint) -> Fit {
    let Some(products) = products(entry_point) else { return Fit::Free };
    // The highest vector of a shifted number begins with a zero. A compiler that can see where leaves out
    // that product.
    let spared = usize::from(products > 0);
    if entry_point.wide == entry_point.multiplies()
        && (entry_point.wide == products || entry_point.wide == products - spared)
    {
        Fit::Exact
    } else {
        Fit::Wrong
    }
}

/// What is wrong with the multiplications of an entry point.
pub fn problem(entry_point: &EntryPoint) -> Option<String> {
    let expected =
        products(entry_point).filter(|_| [MACHINE, MIXED].contains(&entry_point.machine.as_str()))?;
    let found = entry_point.wide;
    (fit(entry_point) == Fit::Wrong)
        .then(|| format!("  {}: {found} multiplications, expected {expected}", entry_point.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(block: &str, width: usize, wide: usize) -> Fit {
        fit(&EntryPoint {
            machine: MACHINE.into(),
            block: block.into(),
            width: Some(width),
            wide,
            ..EntryPoint::default()
        })
    }

    #[test]
    fn counts_follow_the_algorithms() {
        // By hand: 6 + 5 + 1 + 5 vectors of four rows, and 6 more by friendly quotients.
        assert_eq!(fits("multiply_29_chained", 5, 68), Fit::Exact);
        assert_eq!(fits("multiply_29_chained", 5, 67), Fit::Exact);
        assert_eq!(fits("multiply_29_chained", 5, 66), Fit::Wrong);
        assert_eq!(fits("multiply_29_friendly", 5, 92), Fit::Exact);
        // Of rows longer than are written out, the code has 13 vectors.
        for width in [0, 19] {
            assert_eq!(fits("multiply_28_chained", width, 160), Fit::Exact);
            assert_eq!(fits("multiply_28_friendly", width, 212), Fit::Exact);
            assert_eq!(fits("square_28_friendly", width, 200), Fit::Free);
        }
        // (8 + 16) + (8 + 12) + (8 + 8) + (8 + 4) + 8 of the square, five times 20 of the reduction.
        assert_eq!(fits("square_29_chained", 5, 180), Fit::Exact);
        assert_eq!(fits("square_29_friendly", 5, 195), Fit::Exact);
        assert_eq!(fits("square_29_friendly", 5, 180), Fit::Wrong);
        assert_eq!(fits("select", 0, 1), Fit::Wrong);
    }
}
