//! The operations of a machine for vector carry propagation chains, and its compiled kernels.

/// Digits in a vector.
pub const DIGITS: usize = 16;

/// A vector in memory: sixteen digits of 32 bits, the lowest first.
pub type Digits = [u32; DIGITS];

/// A vector machine with sixteen lanes of 32 bits: each lane holds a digit in radix `2^32` of one number.
///
/// A [`Mask`](Self::Mask) has a bit for each lane. As a *carry* its bit `i` says that lane `i` overflowed: it
/// is worth 1 in the next higher lane, and after [`shift_down`](Self::shift_down), therefore, 1 in lane `i`
/// itself. That is why a chain of additions, one each round, may take the mask that it left behind in the
/// last round as it is.
///
/// Each operation names the instruction of the paper's coprocessor that it models. Implementations are
/// `#[inline(always)]` and do nothing but arithmetic: no branch, index or address depends on data.
pub trait Machine: Copy + Send + Sync + 'static {
    /// Sixteen digits.
    type Vector: Copy;
    /// Sixteen digits, prepared to be multiplied by many others.
    type Factor: Copy;
    /// A truth value of every lane.
    type Mask: Copy;

    /// Digits from memory.
    fn load(self, digits: &Digits) -> Self::Vector;
    /// Digits to memory.
    fn store(self, vector: Self::Vector, digits: &mut Digits);
    /// A constant in every lane.
    fn constant(self, digit: u32) -> Self::Vector;
    /// A digit from memory in every lane (a broadcasting load).
    fn splat(self, digit: u32) -> Self::Vector;
    /// The digit in lane 0, to memory.
    fn first(self, vector: Self::Vector) -> u32;

    /// A vector as a factor.
    fn factor(self, vector: Self::Vector) -> Self::Factor;
    /// The low and high halves of the products of all lanes (VPMULLD and VPMULHUD). Precondition: all lanes
    /// of `b` are equal.
    fn multiply(self, a: Self::Factor, b: Self::Vector) -> (Self::Vector, Self::Vector);
    /// In lane 0 the low half of the product (VPMULLD); the other lanes are unspecified.
    fn multiply_first(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Lane 0 in every lane (VPERMD).
    fn broadcast_first(self, vector: Self::Vector) -> Self::Vector;

    /// `a + b + carry` in every lane, and where that overflowed (VPADCD).
    fn add(self, a: Self::Vector, carry: Self::Mask, b: Self::Vector) -> (Self::Vector, Self::Mask);
    /// [`add`](Self::add), perhaps cheaper. Precondition: no lane of `b` is `2^32 − 1`; a product's high half
    /// never is.
    #[inline(always)]
    fn add_high(self, a: Self::Vector, carry: Self::Mask, b: Self::Vector) -> (Self::Vector, Self::Mask) {
        self.add(a, carry, b)
    }
    /// `a + b` modulo `2^32` where the mask is set, `a` elsewhere (VPADDD under a write mask).
    fn add_where(self, mask: Self::Mask, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// Every digit one lane down; lane 0 of `above` enters at the top (VALIGND).
    fn shift_down(self, vector: Self::Vector, above: Self::Vector) -> Self::Vector;
    /// Every digit one lane up; the topmost lane of `below` enters at the bottom (VALIGND).
    fn shift_up(self, vector: Self::Vector, below: Self::Vector) -> Self::Vector;

    /// A mask from its bits (KMOV).
    fn mask(self, bits: u16) -> Self::Mask;
    /// The bits of a mask (KMOV).
    fn bits(self, mask: Self::Mask) -> u16;
    /// Where a lane is `2^32 − 1` (VPCMPUD).
    fn all_ones(self, vector: Self::Vector) -> Self::Mask;
    /// `b` where the mask is set, else `a` (VMOVDQA32 under a write mask).
    fn move_where(self, mask: Self::Mask, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Where the lanes are equal (VPCMPEQD).
    fn equal(self, a: Self::Vector, b: Self::Vector) -> Self::Mask;
}

/// The widest window, in vectors. The four chains of a window this wide hold eight masks; twice as many have
/// no room in any vector machine's mask registers, for which the paper splits longer multiplications.
pub const WIDEST: usize = 2;

/// The vectors that a multiplication needs beside its result.
pub const SCRATCH: usize = 2 * WIDEST;

/// The constants of a modulus `M` of `n` digits that a multiplication reads; `R = 2^{32n}`.
#[derive(Clone, Copy)]
pub struct Modulus<'a> {
    /// `M`.
    pub digits: &'a [Digits],
    /// `R − M`.
    pub negated: &'a [Digits],
    /// `−M^{−1} mod 2^32`.
    pub mu: u32,
}

/// The kernels of [`super`], each compiled for one machine: numbers of one vector as a window of one, longer
/// numbers, an even count of vectors, by windows of [`WIDEST`].
pub trait Kernels: Machine {
    /// [`super::amm()`], with [`SCRATCH`] vectors of scratch.
    fn amm(
        self,
        out: &mut [Digits],
        scratch: &mut [Digits; SCRATCH],
        a: &[Digits],
        b: &[Digits],
        modulus: Modulus,
    );
    /// [`super::select()`].
    fn select(self, out: &mut [Digits], table: &[Digits], index: u32);
}
