//! What every entry point must be, without regard to what was recorded: no calls, and the multiplications of
//! its algorithm.

use super::entry_points::{EntryPoint, Fit};
use super::{carry, rsaz};

/// Whether a machine's entry points are vector code. Portable ones are measured, and may call nothing but
/// memcpy and memset.
pub fn is_vector(machine: &str) -> bool {
    !machine.contains("portable")
}

/// Rows that the code has one after the other: more would be a compiler's mistake, and crowd the µop cache.
const MOST_UNROLLED: usize = 4;

/// The multiply-accumulates in a block's code.
struct Products {
    /// In a row that a loop repeats, and the compiler may unroll.
    rolled: usize,
    /// Outside of loops.
    once: usize,
    /// Outside of loops, with only the low half wanted.
    low_once: usize,
    /// Outside of loops, with only the high half wanted.
    high_once: usize,
}

/// From the banners in crates/kernels/src/batch/block; `None` for a block that is not known here.
fn products(block: &str, width: Option<usize>) -> Option<Products> {
    let t = width.unwrap_or(0);
    let (rolled, once, low_once, high_once) = match block {
        "mac_rows" => (t, 0, 0, 0),
        // Friendly rows; the plain row; its quotient by μ.
        "reduce_rows" => (t, t, 1, 0),
        // Eight digits: rows of the product and friendly rows by turns, the last of each, and the last
        // quotient.
        "fe_mul" | "fe_enter" | "fe_leave" | "fe_mul_scalars" => (16, 16, 1, 0),
        // A square, friendly rows, and the last.
        "fe_sqr" | "fe_sqr_scalars" => (8, 36 + 8, 1, 0),
        "fe_add" | "fe_sub" => (0, 0, 0, 0),
        // Unrolled in some ways, the compiler leaves out the last high half.
        "scale" => return None,
        "square" | "square_onto" => (0, t * (t + 1) / 2, 0, 0),
        // Two rows of the product and of the reduction; the last two, or three, with a quotient by μ each.
        "amm_registers" => (4 * t, 2 * t * (2 + t % 2), 2 + t % 2, 0),
        // Two rows of the reduction, or four (twice as many products); the square, and the last rows.
        "ams_registers" => (2 * t, t * (t + 1) / 2 + t * (2 + t % 2), 2 + t % 2, 0),
        // Three squares of halves, and three products; nine products of quarters, and ten rows by half of the
        // modulus.
        "karatsuba_two_terms" => {
            (0, 3 * (t / 2) * (3 * (t / 2) + 1) / 2 + 9 * (t / 4) * (t / 4) + (t / 2) * (t / 2), 10, 0)
        }
        // Of terms of ten digits, two products: of equal places, and of differences.
        "karatsuba_terms_multiply" => (0, 2 * 10 * 10, 0, 0),
        "karatsuba_terms_square" => (0, 2 * 10 * 11 / 2, 0, 0),
        // A quotient is multiplied by a term in two places, by three products of halves each; then the last
        // quotient.
        "karatsuba_terms_reduce" => (0, 2 * 3 * 5 * 5 + 10 * 9 / 2, 10, 0),
        "low_triangle" => (0, t * (t - 1) / 2, t, 0),
        // The row below the triangle has one more high half.
        "high_triangle" => (0, t * (t + 1) / 2, 0, t),
        "select_tile" | "select_shared" | "turn" | "lookup" | "splat" | "add_words" | "quotients"
        | "normalize" | "settle" | "normalize_sum" | "difference" | "karatsuba" | "reduce_once"
        | "add_digits" | "gather" | "scatter" => (0, 0, 0, 0),
        _ if block.starts_with("select_") => (0, 0, 0, 0),
        _ => return pair(block),
    };
    Some(Products { rolled, once, low_once, high_once })
}

/// The products in a multiplication of numbers laid across vectors (crates/kernels/src/pair), by the name of
/// its entry point.
fn pair(block: &str) -> Option<Products> {
    // Of a quotient in the last segment, of so many digits: whole products, and low halves.
    let quotient = |digits: usize| (digits * (digits - 1) / 2, digits);
    let (operation, v) = block.split_once('_')?;
    if let Some(tile) = v.strip_prefix("tiles_") {
        // Products of two tiles: of numbers, of quotients, and those of the last segment. The square of a
        // tile is separate.
        let w: usize = tile.parse().ok()?;
        let (columns, low_once) = quotient(w);
        let once = columns + if operation == "ams" { w * (w + 1) / 2 } else { 0 };
        return Some(Products { rolled: w * w, once, low_once, high_once: 0 });
    }
    let v: usize = v.parse().ok()?;
    let product = match operation {
        "amm" => v * v,
        "ams" => v * (v + 1) / 2,
        _ => return None,
    };
    let cleared = v.div_ceil(2);
    let (last, others) = (quotient(cleared), quotient(v - cleared));
    // A step for each segment but the first, with a friendly multiple; the first segment, and `M` itself.
    Some(Products {
        rolled: product + v * v,
        once: product + v * v + last.0 + others.0,
        low_once: v,
        high_once: 0,
    })
}

/// Compares an entry point with the formula of its block.
pub fn fit(entry_point: &EntryPoint) -> Fit {
    if entry_point.machine == carry::MACHINE {
        return carry::fit(entry_point);
    }
    if [rsaz::MACHINE, rsaz::MIXED].contains(&entry_point.machine.as_str()) {
        return rsaz::fit(entry_point);
    }
    let Some(Products { rolled, once, low_once, high_once }) =
        products(&entry_point.block, entry_point.width).filter(|_| is_vector(&entry_point.machine))
    else {
        return Fit::Free;
    };
    let fits = |rows: usize| {
        let (all, low, high) = (rows * rolled + once, low_once, high_once);
        // Where numbers are laid across vectors or cut into terms, addresses are computed in the entry
        // points: their multiplications do not count.
        let addresses =
            entry_point.machine.starts_with("pair") || entry_point.block.starts_with("karatsuba_terms");
        let scalar = if addresses { 0 } else { entry_point.scalar };
        let found = (entry_point.low, entry_point.high, entry_point.fused, scalar);
        // By FMA the low half costs the high half too, but not the other way.
        found
            == if entry_point.machine.ends_with("ifma") {
                (all + low, all + high, 0, 0)
            } else {
                (0, 0, 2 * (all + low) + high, 0)
            }
    };
    match rolled {
        0 if fits(0) => Fit::Exact,
        0 => Fit::Wrong,
        _ => (1..=most_unrolled(&entry_point.block)).find(|&rows| fits(rows)).map_or(Fit::Wrong, Fit::Rows),
    }
}

fn most_unrolled(block: &str) -> usize {
    match block {
        // Two loops, unrolled apart: steps of four rows count as two. At 14 digits, two such steps and two
        // pairs: six.
        "ams_registers" => MOST_UNROLLED + 2,
        // Of eight digits there are seven such rows, and little code in each.
        _ if block.starts_with("fe_") => 7,
        // The steps after the first segment: seven for one number.
        "amm_2" | "ams_2" | "amm_3" | "ams_3" => 7,
        _ => MOST_UNROLLED,
    }
}

/// What is wrong with an entry point, without regard to what was recorded.
pub fn problems(entry_point: &EntryPoint) -> Vec<String> {
    let mut problems = Vec::new();
    for call in &entry_point.calls {
        // The portable machine's columns are words in memory, and to copy or clear them so is right.
        let is_step = call == rsaz::STEP && entry_point.machine == rsaz::MIXED;
        if !is_step && (!matches!(call.as_str(), "memcpy" | "memset") || is_vector(&entry_point.machine)) {
            problems.push(format!("  {}: calls {call}", entry_point.name()));
        }
    }
    if entry_point.gathers > 0 {
        problems.push(format!(
            "  {}: {} gather instructions, expected none",
            entry_point.name(),
            entry_point.gathers
        ));
    }
    if entry_point.masked_stores > 0 {
        problems.push(format!(
            "  {}: {} stores under a mask, expected none",
            entry_point.name(),
            entry_point.masked_stores
        ));
    }
    problems.extend(carry::problem(entry_point).or_else(|| rsaz::problem(entry_point)));
    let known_elsewhere =
        [carry::MACHINE, rsaz::MACHINE, rsaz::MIXED].contains(&entry_point.machine.as_str());
    let expected = products(&entry_point.block, entry_point.width).filter(|_| !known_elsewhere);
    if let (Fit::Wrong, Some(expected)) = (fit(entry_point), expected) {
        let Products { rolled, once, low_once, high_once } = expected;
        let found = match (entry_point.low + entry_point.high, entry_point.fused) {
            (0, fused) => format!("{fused} fused multiply-adds (two make a product)"),
            (_, 0) => format!("{} low and {} high multiplications", entry_point.low, entry_point.high),
            _ => format!("{} multiplications of mixed kinds", entry_point.multiplies()),
        };
        let mut expected: Vec<String> = Vec::new();
        expected.extend(
            (rolled > 0).then(|| {
                format!("{rolled} products a row (up to {} rows)", most_unrolled(&entry_point.block))
            }),
        );
        expected.extend((once > 0 || rolled == 0).then(|| format!("{once} products")));
        expected.extend((low_once > 0).then(|| format!("{low_once} low halves")));
        expected.extend((high_once > 0).then(|| format!("{high_once} high halves")));
        problems.push(format!("  {}: {found}, expected {}", entry_point.name(), expected.join(" + ")));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry_point(
        machine: &str,
        block: &str,
        width: usize,
        low: usize,
        high: usize,
        fused: usize,
    ) -> EntryPoint {
        EntryPoint {
            machine: machine.into(),
            block: block.into(),
            width: Some(width),
            low,
            high,
            fused,
            ..EntryPoint::default()
        }
    }

    #[test]
    fn counts_follow_the_algorithms() {
        assert_eq!(fit(&entry_point("avx512-ifma", "mac_rows", 10, 10, 10, 0)), Fit::Rows(1));
        assert_eq!(fit(&entry_point("avx512-fma", "mac_rows", 10, 0, 0, 40)), Fit::Rows(2));
        assert_eq!(fit(&entry_point("avx512-ifma", "reduce_rows", 5, 11, 10, 0)), Fit::Rows(1));
        assert_eq!(fit(&entry_point("avx2-fma", "reduce_rows", 5, 0, 0, 22)), Fit::Rows(1));
        assert_eq!(fit(&entry_point("avx512-ifma", "square", 4, 10, 10, 0)), Fit::Exact);
        assert_eq!(fit(&entry_point("avx512-ifma", "square_onto", 4, 9, 9, 0)), Fit::Wrong);
        assert_eq!(fit(&entry_point("avx512-ifma", "low_triangle", 4, 10, 6, 0)), Fit::Exact);
        assert_eq!(fit(&entry_point("avx512-fma", "low_triangle", 4, 0, 0, 20)), Fit::Exact);
        assert_eq!(fit(&entry_point("avx512-ifma", "high_triangle", 4, 10, 14, 0)), Fit::Exact);
        assert_eq!(fit(&entry_point("avx512-fma", "high_triangle", 4, 0, 0, 24)), Fit::Exact);
        assert_eq!(fit(&entry_point("avx512-ifma", "ams_registers", 14, 303, 301, 0)), Fit::Rows(6));
        assert_eq!(fit(&entry_point("avx512-ifma", "ams_registers", 14, 331, 329, 0)), Fit::Wrong);
        assert_eq!(fit(&entry_point("avx512-ifma", "mac_rows", 10, 10, 9, 0)), Fit::Wrong);
        assert_eq!(fit(&entry_point("avx512-fma", "mac_rows", 10, 0, 0, 100)), Fit::Wrong);
        assert_eq!(fit(&entry_point("portable-one", "mac_rows", 10, 0, 0, 0)), Fit::Free);
    }

    #[test]
    fn calls_are_problems_on_every_machine() {
        let mut entry_point = entry_point("portable-one", "mac_rows", 2, 0, 0, 0);
        assert!(problems(&entry_point).is_empty());
        entry_point.calls.insert("memcpy".into());
        assert!(problems(&entry_point).is_empty());
        entry_point.calls.insert("f".into());
        assert_eq!(problems(&entry_point), ["  portable-one mac_rows<2>: calls f"]);
        let masked = EntryPoint { masked_stores: 1, calls: Default::default(), ..entry_point.clone() };
        assert_eq!(problems(&masked), ["  portable-one mac_rows<2>: 1 stores under a mask, expected none"]);
        entry_point = EntryPoint { machine: "avx2-fma".into(), fused: 4, ..entry_point };
        assert_eq!(problems(&entry_point).len(), 2);
    }
}
