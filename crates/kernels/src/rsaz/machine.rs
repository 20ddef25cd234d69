//! The operations of a machine for RSAZ: four columns of one number in a vector, and scalar words beside
//! them.

/// Room for four factors in all their places: [`Machine::shift`]. A machine may use less: NEON uses four
/// words, and loads from unaligned places.
pub const SHIFTED: usize = 16;

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
    /// Four factors below `2^32`, one for each column.
    type Factors: Copy;
    /// Eight stored digits.
    type Packed: Copy;

    /// Whether a vector is two halves, of two columns each. Then a product with two columns costs half, and
    /// carries are cheaper in words than across vectors.
    const HALVED: bool = false;

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
    fn factors(self, digits: &[Self::Digit]) -> Self::Factors;
    /// Writes columns below `2^32` as the first four digits of a slice.
    fn narrow(self, digits: &mut [Self::Digit], v: Self::Vector);
    /// A digit for each column.
    fn broadcast(self, digit: &Self::Digit) -> Self::Factors;
    /// Four factors 0.
    fn no_factors(self) -> Self::Factors;
    /// `2a`. Precondition: below `2^32`.
    fn double(self, a: Self::Factors) -> Self::Factors;
    /// Writes four factors with the four `below` them, for [`shifted`](Self::shifted).
    fn shift(self, words: &mut [Self::Word], a: Self::Factors, below: Self::Factors);
    /// Like [`shift`](Self::shift), for four digits with the three below them, from the lowest on.
    #[inline(always)]
    fn shift_digits(self, words: &mut [Self::Word], digits: [Self::Digit; 7]) {
        let words = words[..SHIFTED].iter_mut().enumerate();
        words.for_each(|(i, word)| *word = self.word(digits[3 + i % 4 - i / 4]));
    }
    /// Four factors as they are, and moved up by one, two and three places: below come those `below`.
    fn shifted(self, words: &[Self::Word; SHIFTED]) -> [Self::Factors; 4];
    /// A word in the lowest column, and 0 above.
    fn lowest(self, word: Self::Word) -> Self::Vector;
    /// `a + b`. Precondition: below `2^64`.
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `sum + a·b`. Precondition: below `2^64`.
    fn mac(self, sum: Self::Vector, a: Self::Factors, b: Self::Factors) -> Self::Vector;
    /// `a·b`.
    #[inline(always)]
    fn mul(self, a: Self::Factors, b: Self::Factors) -> Self::Vector {
        self.mac(self.zero(), a, b)
    }
    /// Like [`mac`](Self::mac), where the lower two of `a` are 0.
    #[inline(always)]
    fn mac_upper(self, sum: Self::Vector, a: Self::Factors, b: Self::Factors) -> Self::Vector {
        self.mac(sum, a, b)
    }
    /// Like [`mac`](Self::mac), where the upper two of `a` are 0.
    #[inline(always)]
    fn mac_lower(self, sum: Self::Vector, a: Self::Factors, b: Self::Factors) -> Self::Vector {
        self.mac(sum, a, b)
    }
    /// `a mod 2^M`.
    fn low<const M: u32>(self, a: Self::Vector) -> Self::Vector;
    /// The lowest three columns as they are, and the highest `mod 2^M`.
    fn low_of_last<const M: u32>(self, a: Self::Vector) -> Self::Vector;
    /// `⌊a / 2^M⌋`.
    fn carry<const M: u32>(self, a: Self::Vector) -> Self::Vector;
    /// Columns one place up: the highest of `below`, and above it the lower three of `a`.
    fn up(self, a: Self::Vector, below: Self::Vector) -> Self::Vector;
    /// Like [`up`](Self::up), of factors, for 0, 1, 2 and 3 places.
    fn ups(self, a: Self::Factors, below: Self::Factors) -> [Self::Factors; 4];

    /// Eight digits 0.
    fn packed_zero(self) -> Self::Packed;
    /// `sum`, or where `a = b` the eight digits that `digits` holds. Precondition: `sum` is 0 where `a = b`.
    fn packed_pick(self, sum: Self::Packed, digits: &[Self::Digit], a: u64, b: u64) -> Self::Packed;
    /// Writes eight digits.
    fn packed_store(self, digits: &mut [Self::Digit], v: Self::Packed);
}
