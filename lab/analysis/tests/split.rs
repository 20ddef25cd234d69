//! The models against the machines that they model: how products are split.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use zariz_analysis::exact::Exact;
use zariz_analysis::interval::{Digit, Interval};
use zariz_kernels::batch;
use zariz_machines::batch::Find;
use zariz_machines::on_each_machine;

/// `l` and `h` of the machine's own product of two digits, bias taken off.
fn product<M: batch::Machine>(m: M, a: u64, b: u64) -> (u64, u64) {
    let splat = |value: u64| m.column_splat(value);
    let bias = (splat(M::BIAS_LO.wrapping_neg()), splat(M::BIAS_HI.wrapping_neg()));
    let (lo, hi) = m.mac(bias.0, bias.1, m.digit(splat(a)), m.digit(splat(b)));
    let word = |column: M::Column| {
        let mut values = vec![0; M::LANES];
        m.column_store(column, &mut values);
        assert!(values.iter().all(|&value| value == values[0]), "lanes differ");
        values[0]
    };
    (word(lo), word(hi))
}

/// Digits at which a product may go wrong.
fn edges(w: u32) -> Vec<u64> {
    let max = (1u64 << w) - 1;
    let mut edges: Vec<u64> = (0..w).flat_map(|i| [(1 << i) - 1, 1 << i, (1 << i) + 1]).collect();
    edges.extend((0..w).map(|i| max - (1 << i)));
    edges.push(max);
    edges.retain(|&edge| edge <= max);
    edges
}

/// Every product of the machine is one that the model of exact integers makes and the model of intervals
/// allows.
fn products_are_as_modelled<M: Find>() {
    let Some(m) = M::find() else {
        println!("{}: this processor does not have it", M::NAME);
        return;
    };
    let w = M::DIGIT_BITS;
    let mut random = StdRng::seed_from_u64(1);
    let max = (1u64 << w) - 1;
    let mut pairs: Vec<(u64, u64)> =
        edges(w).iter().flat_map(|&a| edges(w).into_iter().map(move |b| (a, b))).collect();
    pairs.extend((0..100_000).map(|_| (random.random_range(0..=max), random.random_range(0..=max))));
    for (a, b) in pairs {
        let (l, h) = product(m, a, b);
        let exact = Exact::<M>::split(a, b);
        assert_eq!((l, h), (exact.0 as u64, exact.1 as u64), "{}: {a:#x} · {b:#x}", M::NAME);
        assert_eq!((exact.1 << w) + exact.0, i128::from(a) * i128::from(b), "{a:#x} · {b:#x}");
        // As points, as the ends of ranges, and as some of all digits.
        let ranges = [(a, b), (0, 0), (a / 2, b - b / 3)];
        for (low_a, low_b) in ranges {
            let (a_range, b_range) = (Digit { low: low_a, high: a }, Digit { low: low_b, high: b });
            let (low, high) = Interval::<M>::split(a_range, b_range);
            assert!(
                low.contains(l) && high.contains(h),
                "{}: {a:#x} · {b:#x} in {a_range:?}, {b_range:?}",
                M::NAME
            );
        }
        let (low, high) = Interval::<M>::split(Interval::<M>::ANY, Interval::<M>::ANY);
        assert!(low.contains(l) && high.contains(h), "{}: {a:#x} · {b:#x}", M::NAME);
    }
}

#[test]
fn products_of_every_machine_are_as_modelled() {
    on_each_machine!(products_are_as_modelled());
}
