//! Bounds of results: what is claimed holds, and what is claimed falsely is found out.

use zariz_analysis::results::arithmetics::{BOUNDS, all, batch_sizes, doubling};
use zariz_analysis::results::{Arithmetic, Bounds, Kind, Reduction};

#[test]
fn every_arithmetic_is_closed() {
    for arithmetic in all() {
        let rows = arithmetic.prove().expect("every claim holds");
        assert!(rows.len() >= 2 && rows.iter().all(|row| row.margin.is_finite()), "{}", arithmetic.method);
    }
}

fn named(name: &str, method: &str) -> Arithmetic {
    let found = all().into_iter().find(|it| it.name == name && it.method.starts_with(method));
    found.unwrap_or_else(|| panic!("{name}: no {method}"))
}

fn refuses(arithmetic: &Arithmetic, what: &str) {
    let error = arithmetic.prove().expect_err("a claim is false");
    assert!(error.contains(what), "{error}");
}

/// Each arithmetic with one thing changed.
#[test]
fn false_claims_are_found_out() {
    for (name, method) in
        [("batch", "interleaved, 52"), ("batch", "separated"), ("pair", "friendly"), ("rsaz", "friendly")]
    {
        let right = named(name, method);
        // Two moduli in place of four.
        let twice = Arithmetic { bounds: Bounds { bound: 2, ..right.bounds }, ..right.clone() };
        let whole = matches!(right.sizes[0].reduction, Reduction::Whole(_));
        if !whole {
            refuses(&twice, "below 2M, below 2M can be");
            // A number that enters is more than twice the modulus.
            refuses(
                &Arithmetic { bounds: Bounds { reduced: 2, ..BOUNDS }, ..right.clone() },
                "enter of numbers",
            );
        }
        // Moduli that need one digit more: no bit is free above them.
        let mut fewer = right.clone();
        fewer.bounds.free_bits = 0;
        refuses(&fewer, if whole { "not below" } else { "can be" });
    }
    // Numbers of 5M where only three bits are free, and 4M of what half-reduced products leave.
    let right = named("batch", "interleaved, half");
    let three = Arithmetic { bounds: Bounds { free_bits: 3, ..right.bounds }, ..right.clone() };
    refuses(&three, "below 5M, below 5M can be");
    let tight = Arithmetic { bounds: Bounds { bound: 4, ..right.bounds }, ..right };
    refuses(&tight, "multiply_entry");
    for name in ["scalar", "carry"] {
        let right = named(name, if name == "scalar" { "limb" } else { "windows" });
        refuses(&Arithmetic { bounds: Bounds { reduced: 1, ..right.bounds }, ..right.clone() }, "leave");
        // Quotients with a bit less than R.
        let mut fewer = right;
        fewer.sizes.iter_mut().for_each(|size| size.reduction = Reduction::Whole(size.bits - 1));
        refuses(&fewer, "amm");
    }
}

#[test]
fn one_doubling_more_than_the_window_has_room_for_is_found_out() {
    for window in 1..=4 {
        let right = doubling(52, window);
        right.prove().expect("it holds");
        let Kind::Doubling(times) = right.kind else { panic!("it doubles") };
        for (more, what) in [(1, "ams of numbers below 4M, doubled"), (8, "can be")] {
            refuses(&Arithmetic { kind: Kind::Doubling(times + more), ..right.clone() }, what);
        }
    }
}

/// The bound of `R ≥ 8M` is the least that can be: of one bit less, no bound is closed.
#[test]
fn what_is_reached_is_below_the_claim_and_above_what_is_simple() {
    let size = batch_sizes(52, Some(1))[0];
    let interleaved = named("batch", "interleaved, 52");
    let full = interleaved.reached(size, size.bits - 3).expect("it is closed");
    assert!(full.starts_with("3.9999") && full.as_str() < "4", "{full}");
    assert_eq!(interleaved.reached(size, size.bits - 2), None, "no bound is closed");
    // 4 − 2√2 = 1.17 from products alone, but what enters is nearly 2.
    let separated = named("batch", "separated, whole or truncated, 52");
    assert!(separated.reached(batch_sizes(52, None)[0], 101).expect("closed").starts_with("1.9999"));
    assert_eq!(named("scalar", "limb").reached(size, 64), None);
}
