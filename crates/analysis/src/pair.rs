//! Numbers laid across vectors, over bounds.
//!
//! Columns are never negative once their biases are off, so a range is its largest value. Whatever a machine
//! computes from columns is monotone, except for their low digits: these can be anything up to `2^52 − 1`. So
//! one run with the largest digits is a proof for all numbers. A sum that reaches [`LIMIT`] is a finding.
//!
//! Biases are shown to cancel by a run of their own, in which every digit is 0: then every column must be 0
//! wherever it is read. Columns are sums modulo `2^64`, so what holds for digits without biases and for biases
//! without digits holds for both together.

use std::cell::RefCell;

use zariz_kernels::pair::{self, DIGIT_BITS, Kernels, LANES, Machine, Shape};

type Vector = [u64; LANES];

/// The machine of bounds, with the biases of products. Where there is one, all digits must be 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bound<const LOW: u64, const HIGH: u64>;

/// The machine without biases.
pub type Unbiased = Bound<0, 0>;

/// The machine with the biases of `pair-fma`.
#[cfg(target_arch = "x86_64")]
pub type Fma = Bound<
    { <zariz_machines::batch::Avx512Fma as Machine>::BIAS_LOW },
    { <zariz_machines::batch::Avx512Fma as Machine>::BIAS_HIGH },
>;

/// What a run showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// The largest part of a column, of which there are two.
    pub part: u64,
    /// The largest column that was read, with what was carried to it.
    pub read: u64,
    /// How many columns were read.
    pub reads: u64,
    /// What is wrong: empty if the run is a proof. At most [`MOST_FINDINGS`] are kept.
    pub findings: Vec<String>,
}

/// Findings that are kept of a run.
pub const MOST_FINDINGS: usize = 20;

/// Parts of columns must be below this: then two of them and a carry are below `2^64` where kernels add them
/// in scalar registers.
pub const LIMIT: u64 = (1 << 63) - (1 << DIGIT_BITS);

const MASK: u64 = (1 << DIGIT_BITS) - 1;

thread_local! {
    static OBSERVED: RefCell<Observed> = RefCell::default();
}

fn check(good: bool, finding: impl FnOnce() -> String) {
    OBSERVED.with_borrow_mut(|observed| {
        if !good && observed.findings.len() < MOST_FINDINGS {
            observed.findings.push(finding());
        }
    });
}

impl<const LOW: u64, const HIGH: u64> Bound<LOW, HIGH> {
    /// A part of a column.
    fn part(self, sum: u128, what: &str) -> u64 {
        if Self::BIASED {
            return sum as u64;
        }
        check(sum < LIMIT.into(), || format!("{what}: {sum:#x} can be reached, of {LIMIT:#x}"));
        OBSERVED.with_borrow_mut(|observed| observed.part = observed.part.max(sum as u64));
        sum as u64
    }

    /// A column that is looked at as a whole.
    fn read(self, column: u64, what: &str) -> u64 {
        if Self::BIASED {
            check(column == 0, || format!("{what}: {column:#x} of biases is left"));
        }
        OBSERVED.with_borrow_mut(|observed| {
            observed.reads += 1;
            observed.read = observed.read.max(column);
        });
        column
    }
}

impl<const LOW: u64, const HIGH: u64> Machine for Bound<LOW, HIGH> {
    const BIAS_LOW: u64 = LOW;
    const BIAS_HIGH: u64 = HIGH;

    type Vector = Vector;
    type Mask = bool;

    fn zero(self) -> Vector {
        [0; LANES]
    }
    fn vector(self, words: Vector) -> Vector {
        words
    }
    fn words(self, vectors: &[Vector]) -> &[u64] {
        vectors.as_flattened()
    }
    fn lanes(self, vector: &Vector) -> &Vector {
        vector
    }
    fn lanes_mut(self, vector: &mut Vector) -> &mut Vector {
        vector
    }
    fn window(self, vectors: &[Vector], i: usize) -> Vector {
        *vectors.as_flattened()[i..].first_chunk().expect("eight lanes")
    }
    fn digits(self, columns: Vector) -> Vector {
        columns.map(|column| {
            check(column <= MASK, || format!("a digit can be {column:#x}"));
            column.min(MASK)
        })
    }
    fn columns(self, digits: Vector) -> Vector {
        digits
    }
    fn digit(self, lane: &u64) -> Vector {
        [*lane; LANES]
    }
    /// The digits of a quotient are the low bits of their words.
    fn quotient_digit(self, word: &u64) -> Vector {
        [(*word).min(MASK); LANES]
    }
    #[inline(never)] // kernels write it hundreds of times
    fn mac(self, low: Vector, high: Vector, a: Vector, b: Vector) -> (Vector, Vector) {
        for factor in a.iter().chain(&b) {
            check(*factor <= MASK, || format!("a factor can be {factor:#x}"));
        }
        let product = |i: usize| u128::from(a[i]) * u128::from(b[i]);
        let sum =
            |column: u64, half: u128, bias: u64, what| self.part(u128::from(column.wrapping_add(bias)) + half, what);
        let l = |i| sum(low[i], product(i).min(MASK.into()), LOW, "low halves");
        let h = |i| sum(high[i], product(i) >> DIGIT_BITS, HIGH, "high halves");
        (std::array::from_fn(l), std::array::from_fn(h))
    }
    fn add(self, a: Vector, b: Vector) -> Vector {
        std::array::from_fn(|i| self.part(u128::from(a[i]) + u128::from(b[i]), "a sum"))
    }
    fn low(self, a: Vector) -> Vector {
        a.map(|a| self.read(a, "low digits").min(MASK))
    }
    fn carry(self, a: Vector) -> Vector {
        a.map(|a| self.read(a, "a carry") >> DIGIT_BITS)
    }
    fn up(self, vector: Vector, below: Vector) -> Vector {
        std::array::from_fn(|i| if i == 0 { below[LANES - 1] } else { vector[i - 1] })
    }
    /// Whether a lane carries out depends on it, and on what is carried in, in a monotone way. So lanes at
    /// their largest carry wherever any do.
    fn over(self, a: Vector) -> u32 {
        (0..LANES).map(|i| u32::from(a[i] > MASK) << i).sum()
    }
    fn full(self, a: Vector) -> u32 {
        (0..LANES).map(|i| u32::from(a[i] == MASK) << i).sum()
    }
    fn quotient<const FROM: usize>(self, low: &Vector, high: &Vector, mut carry: u64, q: &mut Vector) -> u64 {
        for i in FROM..LANES {
            let sum = match Self::BIASED {
                true => low[i].wrapping_add(high[i]).wrapping_add(carry).into(),
                false => [low[i], high[i], carry].map(u128::from).iter().sum::<u128>(),
            };
            check(sum < 1 << 64, || format!("a quotient's column: {sum:#x} can be reached"));
            q[i] = self.read(sum as u64, "a quotient's column");
            carry = q[i] >> DIGIT_BITS;
        }
        carry
    }
    fn increment(self, a: Vector, lanes: u32) -> Vector {
        std::array::from_fn(|i| a[i] + u64::from(lanes >> i & 1))
    }
    fn equals(self, _: u64, _: u64) -> bool {
        true
    }
    fn select(self, _: bool, a: Vector, b: Vector) -> Vector {
        std::array::from_fn(|i| a[i].max(b[i]))
    }
}

impl<const LOW: u64, const HIGH: u64> Kernels for Bound<LOW, HIGH> {
    fn amm(
        self,
        shape: Shape,
        x: &mut [Vector],
        y: Option<&[Vector]>,
        times: usize,
        tables: &[Vector],
        columns: &mut [Vector],
    ) {
        match (shape.digits, shape.width) {
            (10, _) => pair::amm::<Self, 2, 3, 4, 6>(self, x, y, times, tables, columns),
            (16, _) => pair::amm::<Self, 2, 3, 4, 0>(self, x, y, times, tables, columns),
            (20, _) => pair::amm::<Self, 3, 4, 6, 4>(self, x, y, times, tables, columns),
            (30, _) => pair::amm::<Self, 4, 5, 8, 2>(self, x, y, times, tables, columns),
            (40, _) => pair::amm::<Self, 5, 6, 10, 0>(self, x, y, times, tables, columns),
            (_, 3) => pair::amm_general::<Self, 3, 4>(self, shape.tiles, x, y, times, tables, columns),
            (_, 4) => pair::amm_general::<Self, 4, 5>(self, shape.tiles, x, y, times, tables, columns),
            (_, 5) => pair::amm_general::<Self, 5, 6>(self, shape.tiles, x, y, times, tables, columns),
            (_, width) => unreachable!("no tile of width {width}"),
        }
    }
    fn select_entry(self, _: Shape, out: &mut [Vector], table: &[Vector], _: &[u64]) {
        let count = out.len();
        table.chunks_exact(count).for_each(|entry| out.copy_from_slice(entry));
    }
}

/// Every shape that a number of the library can have, with the longest modulus of each.
pub fn shapes() -> Vec<(Shape, usize)> {
    let mut shapes: Vec<(Shape, usize)> = Vec::new();
    for bits in 2..=pair::Constants::MAX_BITS {
        let shape = Shape::new(bits);
        match shapes.last_mut() {
            Some((last, longest)) if *last == shape => *longest = bits,
            _ => shapes.push((shape, bits)),
        }
    }
    shapes
}

/// A product of two numbers of a shape, or else a square, whose digits and those of the modulus are all at most
/// `digit`; on a machine with biases, 0. Columns start at `initial`, where there are biases.
///
/// Digits of the result that can be above `2^52 − 1` are findings, too.
pub fn observe<const LOW: u64, const HIGH: u64>(
    machine: Bound<LOW, HIGH>,
    shape: Shape,
    square: bool,
    digit: u64,
    initial: &[u64],
) -> Observed {
    let digit = if Bound::<LOW, HIGH>::BIASED { 0 } else { digit };
    let lanes = LANES * shape.vectors();
    let number: Vec<u64> = (0..lanes).map(|i| if i < shape.digits { digit } else { 0 }).collect();
    let factors = pair::factors(shape, &number, &number, &[digit; LANES]);
    let mut tables = factors.as_chunks::<LANES>().0.to_vec();
    tables.extend((0..4 * shape.vectors()).map(|i| [initial.get(i).copied().unwrap_or(0); LANES]));
    let mut columns = vec![[0; LANES]; pair::columns_for(shape)];
    let mut x = number.as_chunks::<LANES>().0.to_vec();
    let y = x.clone();
    OBSERVED.take();
    machine.amm(shape, &mut x, (!square).then_some(&y), 1, &tables, &mut columns);
    OBSERVED.take()
}

/// [`observe`] with the largest digits and the right initial columns.
pub fn prove<const LOW: u64, const HIGH: u64>(machine: Bound<LOW, HIGH>, shape: Shape, square: bool) -> Observed {
    observe(machine, shape, square, MASK, &pair::initial::<Bound<LOW, HIGH>>(shape))
}
