//! Counts of carry chains beside those of the paper.

use zariz_analysis::carry::*;

#[test]
fn rounds_count_what_the_paper_states() {
    // 9·⌈l/s⌉ + 4.
    assert_eq!([round::<1>().coprocessor(), round::<2>().coprocessor()], [13, 22]);
    let [half, one] = [multiplication::<1>(1), multiplication::<2>(1)];
    assert_eq!([half.rounds, one.rounds], [16, 32]);
    assert_eq!([half.in_rounds.coprocessor(), one.in_rounds.coprocessor()], [208, 704]);
    // Nothing is in the rounds but rounds.
    for (whole, each) in [(half, round::<1>()), (one, round::<2>())] {
        let CarryCounts { loads, stores, mask_moves, .. } = whole.in_rounds;
        let beside = CarryCounts { loads, stores, mask_moves, ..CarryCounts::default() };
        assert_eq!(whole.in_rounds - beside, each * whole.rounds as u64);
    }
}

#[test]
fn a_split_multiplication_is_four_of_half_the_length() {
    let (half, whole) = (multiplication::<2>(1), multiplication::<2>(2));
    assert_eq!(whole.rounds, 4 * half.rounds);
    let [of_half, of_whole] = [half, whole].map(|it| it.in_rounds);
    assert_eq!(of_whole.products, 4 * of_half.products);
    assert_eq!(of_whole.sums + of_whole.high_sums, 4 * (of_half.sums + of_half.high_sums));
    assert_eq!(of_whole.shifts, 4 * of_half.shifts);
    // Quotients are computed in two of the four.
    assert_eq!(of_whole.first_products, 2 * of_half.first_products);
    assert_eq!(whole.tails, half.tails * 2);
}

#[test]
fn windows_and_instructions_of_decryptions_are_near_the_papers() {
    for (bits, window, paper) in [(1024, 5, 0.28e6), (2048, 6, 1.82e6), (4096, 6, 13.7e6)] {
        let (counts, ours) = decryption(bits);
        assert_eq!(ours, window, "{bits} bits");
        let ratio = counts.coprocessor() as f64 / paper;
        assert!((0.95..1.15).contains(&ratio), "{bits} bits: {ratio}");
    }
}

#[test]
fn the_redundant_formula_gives_the_papers_figure_for_three_free_bits_alone() {
    let fits: Vec<u64> = (1..16).filter(|&t| redundant(1024, 32, t, 512, 16) == 1224).collect();
    assert_eq!(fits, [FREE_BITS]);
}
