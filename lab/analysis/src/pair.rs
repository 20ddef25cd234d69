//! Numbers laid across vectors, over bounds.
//!
//! Columns are never negative once their biases are off, so a range is its largest value. Whatever a machine
//! computes from columns is monotone, except for their low digits: these can be anything up to `2^52 − 1`. So
//! one run with the largest digits is a proof for all numbers. A sum that reaches [`LIMIT`] is a finding.
//!
//! Biases are shown to cancel by a run of their own, in which every digit is 0: then every column must be 0
//! wherever it is read. Columns are sums modulo `2^64`, so what holds for digits without biases and for
//! biases without digits holds for both together.

use std::cell::RefCell;

use zariz_kernels::pair::{self, DIGIT_BITS, LANES, Machine, Shape};

type Vector = [u64; LANES];

/// The machine of bounds, with the biases of products. Where there is one, all digits must be 0. Every
/// product adds `EXTRA` to both halves, for which the kernels do not allow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bound<const LOW: u64, const HIGH: u64, const EXTRA: u64 = 0>;

/// The machine without biases.
pub type Unbiased = Bound<0, 0>;

/// The machine with the biases of `pair-fma`.
#[cfg(target_arch = "x86_64")]
pub type Fma<const EXTRA: u64 = 0> = Bound<
    { <zariz_machines::batch::Avx512Fma as Machine>::BIAS_LOW },
    { <zariz_machines::batch::Avx512Fma as Machine>::BIAS_HIGH },
    EXTRA,
>;

/// What a run showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// The largest sum, of products and carries.
    pub sum: u64,
    /// The largest column that was read, with what was carried to it.
    pub read: u64,
    /// How many columns were read.
    pub reads: u64,
    /// What is wrong: empty if the run is a proof. At most [`MOST_FINDINGS`] are kept.
    pub findings: Vec<String>,
}

/// Findings that are kept of a run.
pub const MOST_FINDINGS: usize = 20;

/// Columns must be below this.
pub const LIMIT: u64 = 1 << 63;

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

impl<const LOW: u64, const HIGH: u64, const EXTRA: u64> Bound<LOW, HIGH, EXTRA> {
    /// A sum of products and carries.
    fn sum(self, sum: u128, what: &str) -> u64 {
        if Self::BIASED {
            return sum as u64;
        }
        check(sum < LIMIT.into(), || format!("{what}: {sum:#x} can be reached, of {LIMIT:#x}"));
        OBSERVED.with_borrow_mut(|observed| observed.sum = observed.sum.max(sum as u64));
        sum as u64
    }

    /// A column that is looked at.
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

impl<const LOW: u64, const HIGH: u64, const EXTRA: u64> Machine for Bound<LOW, HIGH, EXTRA> {
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
    fn lanes(self, vector: &Vector) -> &Vector {
        vector
    }
    fn digits(self, columns: Vector) -> Vector {
        columns.map(|column| self.read(column, "a digit").min(MASK))
    }
    fn whole_digits(self, columns: Vector) -> Vector {
        columns.map(|column| {
            check(column <= MASK, || format!("a digit can be {column:#x}"));
            self.read(column, "a digit").min(MASK)
        })
    }
    fn columns(self, digits: Vector) -> Vector {
        digits
    }
    fn segment<const SIDES: usize>(self, digits: &Vector, segment: usize) -> Vector {
        std::array::from_fn(|i| digits[SIDES * segment + i % SIDES])
    }
    fn lowest<const SIDES: usize>(self, columns: Vector) -> Vector {
        std::array::from_fn(|i| self.read(columns[i % SIDES], "a quotient's column"))
    }
    fn only_lowest<const SIDES: usize>(self, columns: Vector) -> Vector {
        std::array::from_fn(|i| if i < SIDES { columns[i] } else { 0 })
    }
    #[inline(never)] // kernels write it hundreds of times
    fn mac(self, low: Vector, high: Vector, a: Vector, b: Vector) -> (Vector, Vector) {
        for factor in a.iter().chain(&b) {
            check(*factor <= MASK, || format!("a factor can be {factor:#x}"));
        }
        let product = |i: usize| u128::from(a[i]) * u128::from(b[i]);
        let sum = |column: u64, half: u128, bias: u64, what| {
            self.sum(u128::from(column.wrapping_add(bias)) + half, what)
        };
        let l = |i| sum(low[i], product(i).min(MASK.into()), LOW.wrapping_add(EXTRA), "low halves");
        let h = |i| sum(high[i], product(i) >> DIGIT_BITS, HIGH.wrapping_add(EXTRA), "high halves");
        (std::array::from_fn(l), std::array::from_fn(h))
    }
    fn add(self, a: Vector, b: Vector) -> Vector {
        std::array::from_fn(|i| self.sum(u128::from(a[i]) + u128::from(b[i]), "a sum"))
    }
    fn low<const BITS: u32>(self, a: Vector) -> Vector {
        a.map(|a| self.read(a, "low digits").min((1 << BITS) - 1))
    }
    fn carry<const BITS: u32>(self, a: Vector) -> Vector {
        a.map(|a| a >> BITS)
    }
    fn up<const SIDES: usize>(self, columns: Vector) -> Vector {
        std::array::from_fn(|i| if i < SIDES { 0 } else { columns[i - SIDES] })
    }
    fn down<const SIDES: usize>(self, columns: Vector) -> Vector {
        std::array::from_fn(|i| columns.get(i + SIDES).copied().unwrap_or(0))
    }
    fn equals(self, _: Vector, _: u64) -> bool {
        true
    }
    fn select(self, _: bool, a: Vector, b: Vector) -> Vector {
        std::array::from_fn(|i| a[i].max(b[i]))
    }
}

/// Whether sums are in registers, or of tiles: machines differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// [`pair::amm`], [`pair::ams`].
    Registers,
    /// [`pair::amm_tiles`], [`pair::ams_tiles`].
    Tiles,
}

/// The code that machines have for a shape.
pub fn codes(shape: Shape) -> &'static [Code] {
    match shape.vectors {
        0..=5 => &[Code::Registers],
        6..=10 => &[Code::Registers, Code::Tiles],
        _ => &[Code::Tiles],
    }
}

/// Every shape that numbers of the library can have, with the longest modulus of each; first those of one
/// number.
pub fn shapes() -> Vec<(Shape, usize)> {
    let mut shapes: Vec<(Shape, usize)> = Vec::new();
    for count in 1..=pair::MAX_COUNT {
        for bits in 2..=pair::Constants::MAX_BITS {
            let shape = Shape::new(bits, count);
            match shapes.last_mut() {
                Some((last, longest)) if *last == shape => *longest = bits,
                _ => shapes.push((shape, bits)),
            }
        }
    }
    shapes
}

/// A product of two numbers of a shape, or else a square, whose digits and those of the moduli are all at
/// most `digit`; on a machine with biases, 0.
///
/// Digits of the result that can be above `2^52 − 1` are findings, too.
pub fn observe<M: Machine<Vector = Vector>>(
    machine: M,
    shape: Shape,
    code: Code,
    square: bool,
    digit: u64,
) -> Observed {
    let digit = [if M::BIASED { 0 } else { digit }; LANES];
    let tables = vec![digit; shape.tables()];
    let mut x = vec![digit; shape.vectors];
    let y = x.clone();
    let y = (!square).then_some(&y[..]);
    OBSERVED.take();
    match shape.count {
        1 => run::<M, 1>(machine, code, &mut x, y, &tables),
        _ => run::<M, 2>(machine, code, &mut x, y, &tables),
    }
    OBSERVED.take()
}

fn run<M: Machine, const SIDES: usize>(
    m: M,
    code: Code,
    x: &mut [M::Vector],
    y: Option<&[M::Vector]>,
    tables: &[M::Vector],
) {
    let mut space = vec![m.zero(); 3 * x.len()];
    macro_rules! registers {
        ($v:literal, $t:literal, $h:literal) => {
            match y {
                Some(y) => pair::amm::<M, SIDES, $v, $t, $h>(m, x, y, tables),
                None => pair::ams::<M, SIDES, $v, $t, $h>(m, x, 1, tables),
            }
        };
    }
    macro_rules! tiles {
        ($w:literal, $c:literal) => {
            match y {
                Some(y) => pair::amm_tiles::<M, SIDES, $w, $c>(m, x, y, tables, &mut space),
                None => pair::ams_tiles::<M, SIDES, $w, $c>(m, x, 1, tables, &mut space),
            }
        };
    }
    match (code, x.len()) {
        (Code::Registers, 2) => registers!(2, 4, 1),
        (Code::Registers, 3) => registers!(3, 6, 2),
        (Code::Registers, 4) => registers!(4, 8, 2),
        (Code::Registers, 5) => registers!(5, 10, 3),
        (Code::Registers, 6) => registers!(6, 12, 3),
        (Code::Registers, 8) => registers!(8, 16, 4),
        (Code::Registers, _) => registers!(10, 20, 5),
        (Code::Tiles, 6) => tiles!(3, 6),
        (Code::Tiles, 8) => tiles!(4, 8),
        (Code::Tiles, _) => tiles!(5, 10),
    }
}

/// [`observe`] with the largest digits.
pub fn prove<M: Machine<Vector = Vector>>(machine: M, shape: Shape, code: Code, square: bool) -> Observed {
    observe(machine, shape, code, square, MASK)
}
