//! Carry chains over bounds: a proof, and what would break it.

use zariz_analysis::chains::{breach, lengths, observe, prove};
use zariz_analysis::operation::MAX_BITS;
use zariz_kernels::carry::{DIGITS, Machine as _, tail};

#[test]
fn no_carry_is_lost_at_any_length() {
    assert_eq!(lengths(MAX_BITS).last(), Some(MAX_BITS / 512));
    for words in lengths(MAX_BITS) {
        let observed = prove(words);
        assert_eq!(observed.findings, [""; 0], "{words} vectors");
        // The high half of a product of all ones; a digit twice all ones; three carries.
        assert_eq!(
            [observed.high, observed.overflowed, observed.masked],
            [0xffff_fffe, 0xffff_fffe, 0xffff_ffff]
        );
    }
}

#[test]
fn breaches_are_found_out() {
    assert_eq!(breach(false).findings, [""; 0]);
    assert!(breach(true).findings[0].starts_with("a lane that overflowed"), "{:?}", breach(true));
    let observed = observe(|m| _ = m.add_high(m.constant(0), m.mask(0), m.splat(0)));
    assert!(observed.findings[0].starts_with("an addend that may not be all ones"), "{observed:?}");
    let observed = observe(|m| _ = m.add_where(m.mask(1), m.constant(1), m.load(&[0; DIGITS])));
    assert!(observed.findings[0].starts_with("a sum without a mask"), "{observed:?}");
}

/// `ripple` finds every carry: each combination of overflowed lanes and lanes of all ones in eight
/// neighbours, at every place of a window, against additions one after the other.
#[test]
fn carries_ripple_as_one_after_the_other() {
    let m = zariz_machines::carry::Portable::new();
    let kinds = [(5, false), (5, true), (u32::MAX, false)];
    for pattern in 0..3usize.pow(8) {
        for at in [0, 3, 12, 20, 24] {
            for carry in [0, 1] {
                let mut lanes = [(0u32, false); 32];
                let mut rest = pattern;
                for lane in &mut lanes[at..at + 8] {
                    (*lane, rest) = (kinds[rest % 3], rest / 3);
                }
                let (mut expected, mut carried) = ([0; 32], carry);
                for (out, (digit, overflowed)) in expected.iter_mut().zip(lanes) {
                    let (sum, wrapped) = digit.overflowing_add(carried as u32);
                    *out = sum;
                    carried = u64::from(overflowed) + u64::from(wrapped);
                }
                let vector = |v: usize| m.load(&std::array::from_fn(|i| lanes[16 * v + i].0));
                let bits = |v: usize| (0..16).map(|i| u16::from(lanes[16 * v + i].1) << i).sum();
                let mut s = [vector(0), vector(1)];
                let top = tail::ripple(m, &mut s, &[m.mask(bits(0)), m.mask(bits(1))], carry);
                let mut out = [[0; DIGITS]; 2];
                out.iter_mut().zip(s).for_each(|(out, s)| m.store(s, out));
                assert_eq!((&out.concat()[..], top), (&expected[..], carried), "{pattern}, {at}");
            }
        }
    }
}
