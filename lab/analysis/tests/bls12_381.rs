//! The kernels of one field over intervals: for all numbers within their bounds at once, no column overflows
//! and every digit is what the next kernel takes.

use zariz_analysis::Model;
use zariz_analysis::interval::{Digit, Interval, Observed, observe};
use zariz_kernels::batch::Machine as _;
use zariz_kernels::bls12_381::lanes::{self, DIGITS, Element};

/// Any digits at all: more than the bound `2p` on numbers allows, so that it says something of shifted ones,
/// too.
fn anything<P: Model>() -> Element<Interval<P>> {
    [Interval::<P>::ANY; DIGITS]
}

/// Digits of numbers below `2p`: the highest is below `⌊2p/2^{7w}⌋ + 1`.
fn below_2p<P: Model>() -> Element<Interval<P>> {
    let mut digits = anything::<P>();
    digits[DIGITS - 1] = Digit { low: 0, high: 1 << (382 - 7 * P::DIGIT_BITS) };
    digits
}

fn proves(what: &str, observed: &Observed) {
    assert!(observed.findings.is_empty(), "{what}: {}", observed.findings[0]);
    // Something was looked at, or nothing was proved.
    assert!(observed.extent().is_some(), "{what}");
}

fn check<P: Model>() {
    let m = Interval::<P>::default();
    let max = (1u64 << P::DIGIT_BITS) - 1;
    let run = |what: &str, kernel: &dyn Fn(&mut Element<Interval<P>>)| {
        let mut out = below_2p::<P>();
        proves(&format!("{what} on {}", P::NAME), &observe(|| kernel(&mut out)));
        assert!(out.iter().all(|digit| digit.high <= max), "{what} on {}", P::NAME);
    };
    run("mul", &|a| lanes::mul(m, a, &below_2p::<P>()));
    run("mul of a shifted factor", &|a| lanes::mul(m, a, &anything::<P>()));
    run("sqr", &|a| lanes::sqr(m, a, 2));
    run("sqr of a shifted number", &|a| {
        *a = anything::<P>();
        lanes::sqr(m, a, 1);
    });
    run("add", &|a| lanes::add(m, a, &below_2p::<P>()));
    run("sub", &|a| lanes::sub(m, a, &below_2p::<P>()));
    run("enter", &|a| lanes::enter(m, a, &[[0; 6]]));
    run("leave", &|a| lanes::leave(m, &mut [[0; 6]], a));
    let mut out = [[0; 6]];
    proves("mul_scalars", &observe(|| lanes::mul_scalars(m, &mut out, &[[0; 6]], &[[0; 6]])));
    proves("sqr_scalars", &observe(|| lanes::sqr_scalars(m, &mut out, &[[0; 6]])));
    assert_eq!(Interval::<P>::LANES, 1);
}

#[test]
fn no_column_overflows() {
    zariz_machines::on_each_machine!(check());
}
