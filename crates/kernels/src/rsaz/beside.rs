//! Another number's product beside one of RSAZ: in limbs, in scalar registers, while vectors compute.

use super::rows::steps;

/// Other work, in steps that the loops of a product or a square call. It takes other units of the processor
/// than vectors do.
///
/// A call changes nothing of the product. So what holds of a product, its bounds too, holds with any work.
pub trait Beside {
    /// A product begins, or the next square.
    fn begin(&mut self);
    /// The next step, if any is left.
    fn step(&mut self);
    /// The product is complete: all steps that are left.
    fn end(&mut self);
}

/// No work.
impl Beside for () {
    #[inline(always)]
    fn begin(&mut self) {}
    #[inline(always)]
    fn step(&mut self) {}
    #[inline(always)]
    fn end(&mut self) {}
}

/// How often [`multiply`](super::multiply()) calls a step, for numbers of `g` fours of digits.
pub const fn steps_of_multiply(g: usize) -> usize {
    steps(g + 1) + (g - 1) * (steps(g) + steps(g + 1)) + steps(g)
}

/// How often [`square`](super::square()) calls a step, each time.
pub const fn steps_of_square(g: usize) -> usize {
    let mut sum = steps(g - 1) + (g - 1) * steps(g + 1) + steps(g);
    let mut h = 1;
    while h + 1 < g {
        sum += 1 + steps(g - h - 2);
        h += 1;
    }
    sum
}
