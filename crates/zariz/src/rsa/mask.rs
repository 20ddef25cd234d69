//! Choices without branches: masks of ones for true and of zeros for false.

use std::hint::black_box;

/// All ones if `x` is zero, for `x < 2^31`.
pub(super) fn zero_mask(x: u32) -> u32 {
    black_box((x.wrapping_sub(1) >> 31).wrapping_neg())
}

/// All ones if `a ≤ b`, for both below `2^31`.
pub(super) fn less_or_equal(a: u32, b: u32) -> u32 {
    black_box((b.wrapping_sub(a) >> 31).wrapping_sub(1))
}

/// `a` where the mask is ones, else `b`.
pub(super) fn select(mask: u32, a: u32, b: u32) -> u32 {
    b ^ (mask & (a ^ b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks() {
        assert_eq!([zero_mask(0), zero_mask(1), zero_mask(255)], [u32::MAX, 0, 0]);
        assert_eq!([less_or_equal(3, 3), less_or_equal(2, 3), less_or_equal(4, 3)], [u32::MAX, u32::MAX, 0]);
        assert_eq!([select(u32::MAX, 1, 2), select(0, 1, 2)], [1, 2]);
    }
}
