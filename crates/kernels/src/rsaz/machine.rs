//! The operations of a machine for RSAZ: four columns of one number in a vector, and scalar words beside
//! them.

/// A machine that works on four columns of one number at once, and on single ones.
///
/// A *digit* is stored in 32 bits, a *column* (or *word*) in 64. The radix `2^M` is the caller's, a constant.
/// Vectors are read from slices; the caller makes sure that they are long enough.
///
/// Implementations are `#[inline(always)]` and do nothing but arithmetic: no branch, index or address depends
/// on data.
pub trait Machine: Copy + Send + Sync + 'static {
    /// A stored digit: 32 bits.
    type Digit: Copy + Send + Sync + 'static;
    /// A column: 64 bits, in memory or in a scalar register.
    type Word: Copy + Send + Sync + 'static;
    /// Four columns.
    type Vector: Copy;
    /// Eight stored digits.
    type Packed: Copy;

    /// A digit from a number's constants.
    fn digit(self, value: u32) -> Self::Digit;
    /// A digit's value.
    fn value(self, digit: Self::Digit) -> u32;

    /// A digit as a word.
    fn word(self, digit: Self::Digit) -> Self::Word;
    /// `a + b`. Precondition: below `2^64`.
    fn word_add(self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// `sum + a·b`. Precondition: below `2^64`.
    fn word_mac(self, sum: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word;
    /// `a mod 2^M`.
    fn word_low<const M: u32>(self, a: Self::Word) -> Self::Digit;
    /// `⌊a / 2^M⌋`.
    fn word_carry<const M: u32>(self, a: Self::Word) -> Self::Word;
    /// `a·b mod 2^M`, for any size of `a·b`.
    fn word_quotient<const M: u32>(self, a: Self::Word, b: Self::Word) -> Self::Digit;

    /// Four columns 0.
    fn zero(self) -> Self::Vector;
    /// The first four words of a slice.
    fn load(self, words: &[Self::Word]) -> Self::Vector;
    /// Writes the first four words of a slice.
    fn store(self, words: &mut [Self::Word], v: Self::Vector);
    /// The first four digits of a slice.
    fn widen(self, digits: &[Self::Digit]) -> Self::Vector;
    /// Writes columns below `2^32` as the first four digits of a slice.
    fn narrow(self, digits: &mut [Self::Digit], v: Self::Vector);
    /// A digit in each column.
    fn broadcast(self, digit: &Self::Digit) -> Self::Vector;
    /// A word in the lowest column, and 0 above.
    fn lowest(self, word: Self::Word) -> Self::Vector;
    /// `a + b`. Precondition: below `2^64`.
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `sum + a·b`. Precondition: `a, b < 2^32`, and below `2^64`.
    fn mac(self, sum: Self::Vector, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a mod 2^M`.
    fn low<const M: u32>(self, a: Self::Vector) -> Self::Vector;
    /// The lowest three columns as they are, and the highest `mod 2^M`.
    fn low_of_last<const M: u32>(self, a: Self::Vector) -> Self::Vector;
    /// `⌊a / 2^M⌋`.
    fn carry<const M: u32>(self, a: Self::Vector) -> Self::Vector;
    /// Columns one place up: the highest of `below`, and above it the lower three of `a`.
    fn up(self, a: Self::Vector, below: Self::Vector) -> Self::Vector;
    /// Like [`up`](Self::up), for 0, 1, 2 and 3 places.
    fn ups(self, a: Self::Vector, below: Self::Vector) -> [Self::Vector; 4];

    /// Eight digits 0.
    fn packed_zero(self) -> Self::Packed;
    /// `sum`, or where `a = b` the eight digits that `digits` holds. Precondition: `sum` is 0 where `a = b`.
    fn packed_pick(self, sum: Self::Packed, digits: &[Self::Digit], a: u64, b: u64) -> Self::Packed;
    /// Writes eight digits.
    fn packed_store(self, digits: &mut [Self::Digit], v: Self::Packed);
}
