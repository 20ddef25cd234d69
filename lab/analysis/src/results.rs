//! Bounds of results, from the worst operands, with exact numbers.
//!
//! An arithmetic says how large its numbers are ([`zariz_kernels::bounds`]). Here each operation has the
//! largest operands that this allows, every digit of its quotients is the largest there is, and its result
//! must be below what is said of it. By induction no number in Montgomery form is ever larger.
//!
//! # Two moduli are enough
//!
//! For one `R`, the worst result is a polynomial in `M`, of second degree at most, in which the coefficient
//! of `M²` is not negative. What is said of it is a multiple of `M`, of `R` or of both together. So the
//! margin is a concave function of `M`: where it is positive for the least and the greatest modulus, it is
//! positive for all between.

use num_bigint::BigUint;

use zariz_kernels::bounds;

pub mod arithmetics;

/// The number `n/2^shift`: all that these bounds are divided by are powers of two.
#[derive(Clone, Debug)]
pub struct Dyadic {
    n: BigUint,
    shift: usize,
}

fn power_of_two(bits: usize) -> BigUint {
    BigUint::from(1u8) << bits
}

/// `2^bits − 1`.
fn ones(bits: usize) -> BigUint {
    power_of_two(bits) - 1u8
}

impl From<BigUint> for Dyadic {
    fn from(n: BigUint) -> Self {
        Self { n, shift: 0 }
    }
}

impl Dyadic {
    fn times(&self, factor: &Self) -> Self {
        Self { n: &self.n * &factor.n, shift: self.shift + factor.shift }
    }

    fn plus(&self, other: &Self) -> Self {
        let shift = self.shift.max(other.shift);
        Self { n: (&self.n << (shift - self.shift)) + (&other.n << (shift - other.shift)), shift }
    }

    fn over(&self, bits: usize) -> Self {
        Self { n: self.n.clone(), shift: self.shift + bits }
    }

    /// `other − self`, if that is above 0.
    fn below(&self, other: &Self) -> Option<Self> {
        let shift = self.shift.max(other.shift);
        let (a, b) = (&self.n << (shift - self.shift), &other.n << (shift - other.shift));
        (a < b).then(|| Self { n: b - a, shift })
    }

    fn floor(&self) -> BigUint {
        &self.n >> self.shift
    }

    /// Its logarithm; it is not 0.
    fn log2(&self) -> f64 {
        let cut = self.n.bits().saturating_sub(64);
        let top = (&self.n >> cut).iter_u64_digits().next().unwrap_or(0);
        (top as f64).log2() + cut as f64 - self.shift as f64
    }
}

/// How a product is reduced.
#[derive(Clone, Copy, Debug)]
pub enum Reduction {
    /// By friendly multiples at most `(2^last − 1)·M`, and `M` itself for the last quotient.
    Friendly {
        /// The bits of all friendly quotients.
        before: usize,
        /// The bits of the last quotient.
        last: usize,
        /// The bits of the first quotients, whose multiples are of twice as many rows: at most
        /// `(2^(2·last) − 1)·M`. 0 if there are none.
        doubled: usize,
    },
    /// By one quotient of that many bits.
    Whole(usize),
}

impl Reduction {
    /// By `digits` digits of `w` bits, at most `step` at a time, the last step with `M` itself.
    pub fn by_digits(w: usize, digits: usize, step: usize) -> Self {
        let last = digits.min(step);
        Self::Friendly { before: w * (digits - last), last: w * last, doubled: 0 }
    }

    /// The most that a product `t` can become.
    fn of(self, t: &Dyadic, m: &BigUint) -> Dyadic {
        match self {
            Self::Friendly { before, last, doubled } => {
                let quotient = ones(last);
                let shorter = ones(before - doubled) << doubled;
                let multiples =
                    (ones(doubled) * ones(2 * last) + shorter * &quotient + (quotient << before)) * m;
                t.plus(&multiples.into()).over(before + last)
            }
            Self::Whole(bits) => t.plus(&(ones(bits) * m).into()).over(bits),
        }
    }
}

/// Numbers of one length.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Digits, as the arithmetic counts them.
    pub digits: usize,
    /// `log2 R`.
    pub bits: usize,
    /// `step_bits` of the arithmetic.
    pub step: usize,
    /// How products are reduced.
    pub reduction: Reduction,
}

/// The bounds of an arithmetic, as multiples of the modulus.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// `R ≥ 2^free_bits·M`.
    pub free_bits: usize,
    /// Numbers in Montgomery form.
    pub bound: usize,
    /// Numbers that enter or leave.
    pub reduced: usize,
}

/// What an arithmetic does beside products and squares.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Nothing.
    Products,
    /// It multiplies by half-reduced table entries, in digits of so many bits.
    HalfReduced {
        /// The bits of a digit.
        digit_bits: usize,
        /// The digits of a step of its reductions.
        step: usize,
    },
    /// It doubles so many times before a square.
    Doubling(usize),
    /// Its numbers are below `R`, with one masked subtraction of `M`; sums of rows of so many bits, if it
    /// multiplies and reduces by rows.
    Full {
        /// The bits of a row.
        row_bits: Option<usize>,
    },
}

/// An arithmetic, or one method of it.
#[derive(Clone, Debug)]
pub struct Arithmetic {
    /// Its folder.
    pub name: &'static str,
    /// How it multiplies.
    pub method: String,
    /// What it says of its numbers.
    pub bounds: Bounds,
    /// What else it does.
    pub kind: Kind,
    /// All lengths that its numbers can have.
    pub sizes: Vec<Size>,
}

/// What a result is compared with.
#[derive(Clone, Copy, Debug)]
enum Unit {
    M,
    R,
    /// `R + M`: if a number below that reaches `R`, less `M` it is below `R`.
    Sum,
}

/// What is said of a result: below `times/2^shift` units.
#[derive(Clone, Copy, Debug)]
struct Claim {
    times: usize,
    shift: usize,
    unit: Unit,
}

const fn multiple(times: usize) -> Claim {
    Claim { times, shift: 0, unit: Unit::M }
}

const BELOW_R: Claim = Claim { times: 1, shift: 0, unit: Unit::R };
const BELOW_SUM: Claim = Claim { times: 1, shift: 0, unit: Unit::Sum };

impl Unit {
    fn text(self) -> &'static str {
        match self {
            Self::M => "M",
            Self::R => "R",
            Self::Sum => "R + M",
        }
    }

    fn of(self, size: Size, m: &BigUint) -> BigUint {
        match self {
            Self::M => m.clone(),
            Self::R => power_of_two(size.bits),
            Self::Sum => power_of_two(size.bits) + m,
        }
    }
}

impl Claim {
    fn text(self) -> String {
        let unit = self.unit.text();
        let times = if self.times == 1 { String::new() } else { self.times.to_string() };
        if self.shift == 0 { times + unit } else { format!("{times}{unit}/{}", 1 << self.shift) }
    }
}

/// The worst result of one operation.
#[derive(Clone, Debug)]
struct Worst {
    operation: &'static str,
    operands: String,
    claim: Claim,
    value: Dyadic,
}

/// A row of the table: where an operation comes closest to what is said of it.
#[derive(Clone, Debug)]
pub struct Row {
    /// The operation.
    pub operation: &'static str,
    /// Its operands.
    pub operands: String,
    /// What is said of the result.
    pub claim: String,
    /// The worst result, in the unit of the claim.
    pub worst: String,
    /// What is left, in the same unit, as a power of two.
    pub margin: f64,
    /// The digit count.
    pub digits: usize,
}

const LEAST_MODULUS: u8 = 3;
/// Margins that differ by less are shown as the same, at the first digit count.
const NEGLIGIBLE: f64 = 1e-6;

impl Arithmetic {
    /// The least and the greatest modulus of numbers of one length.
    fn moduli(&self, size: Size) -> [BigUint; 2] {
        [LEAST_MODULUS.into(), ones(size.bits - self.bounds.free_bits)]
    }

    /// Every operation with its largest operands.
    fn worst(&self, size: Size, m: &BigUint) -> Vec<Worst> {
        let Bounds { bound, reduced, .. } = self.bounds;
        let below = |times: usize| Dyadic::from(m * times - 1u8);
        let (any, residue) = (Dyadic::from(ones(size.bits)), below(1));
        let product = |x: &Dyadic, y: &Dyadic| size.reduction.of(&x.times(y), m);
        let worst = |operation, operands: &str, claim, value| Worst {
            operation,
            operands: operands.into(),
            claim,
            value,
        };
        if let Kind::Full { row_bits } = self.kind {
            let mut out = vec![
                worst("amm, before M is subtracted", "below R, below R", BELOW_SUM, product(&any, &any)),
                worst("leave", "below R, below M", multiple(reduced), product(&any, &residue)),
                worst("add, before M is subtracted", "below M, below R", BELOW_SUM, residue.plus(&any)),
            ];
            // A row makes (S + A·b + M·q)/β of S < A + M and A < R; the last sum is the result.
            out.extend(row_bits.map(|bits| {
                let (sum, digit) = (any.plus(&m.clone().into()), Dyadic::from(ones(bits)));
                let value = Dyadic::from(&sum.n - 1u8).plus(&sum.times(&digit)).over(bits);
                worst("a row", "S below R + M", BELOW_SUM, value)
            }));
            return out;
        }
        let most = below(bound);
        if let Kind::Doubling(times) = self.kind {
            // What else such an arithmetic does has less room in others.
            let doubled = most.times(&power_of_two(times).into());
            let square = product(&doubled, &doubled);
            return vec![
                worst("double", &format!("below {bound}M, {times} times"), BELOW_R, doubled),
                worst("ams", &format!("below {bound}M, doubled {times} times"), multiple(reduced), square),
            ];
        }
        let (operand, both) = (format!("below {bound}M"), format!("below {bound}M, below {bound}M"));
        let digits = worst("a number's digits", &operand, BELOW_R, most.clone());
        let square = product(&most, &most);
        let mut out = vec![
            worst("enter", "below R, below M", multiple(reduced), product(&any, &residue)),
            worst(
                "add",
                &format!("below {reduced}M, below 2^s"),
                BELOW_R,
                below(reduced).plus(&ones(size.step).into()),
            ),
            worst("leave", &format!("{operand}, below M"), multiple(reduced), product(&most, &residue)),
            digits,
        ];
        match self.kind {
            Kind::HalfReduced { digit_bits, step } => {
                let entry = below(reduced);
                let claimed = Claim { times: bounds::K_AHMM_EIGHTHS, shift: 3, unit: Unit::M };
                let k = Dyadic::from(m * claimed.times).over(claimed.shift);
                let cut = Cut::new(size.digits, digit_bits, step);
                out.push(worst("amm, ams", &both, multiple(reduced), square));
                out.push(worst(
                    "complete_entry",
                    &format!("below {reduced}M"),
                    claimed,
                    cut.complete(&entry, m),
                ));
                let operands = format!("{operand}, entry below {reduced}M");
                out.push(worst(
                    "multiply_entry",
                    &operands,
                    multiple(bound),
                    cut.multiply(&most, &entry, &k, m),
                ));
            }
            _ => out.push(worst("amm, ams", &both, multiple(bound), square)),
        }
        let (parts, mask, unmasked) = (below(bounds::PARTS), below(reduced), below(bounds::UNMASKED));
        let [times, left] = [bounds::PARTS, bounds::UNMASKED];
        out.push(worst(
            "a private operation: both parts",
            &format!("twice below {reduced}M"),
            BELOW_R,
            parts.clone(),
        ));
        let operands = format!("below {times}M, below {reduced}M");
        out.push(worst("a private operation: unmask", &operands, multiple(left), product(&parts, &mask)));
        let operands = format!("below {left}M, below M");
        out.push(worst(
            "a private operation: leave",
            &operands,
            multiple(reduced),
            product(&unmasked, &residue),
        ));
        out
    }

    /// Each operation where it comes closest, over all lengths and moduli.
    ///
    /// # Errors
    /// The first operation whose worst result is not below what is said of it.
    pub fn prove(&self) -> Result<Vec<Row>, String> {
        let mut rows: Vec<Row> = Vec::new();
        for &size in &self.sizes {
            for m in self.moduli(size) {
                for Worst { operation, operands, claim, value } in self.worst(size, &m) {
                    let unit = claim.unit.of(size, &m);
                    let limit = Dyadic::from(&unit * claim.times).over(claim.shift);
                    let ratio = decimal(&value, &unit);
                    let Some(left) = value.below(&limit) else {
                        return Err(format!(
                            "{}, {}, {} digits: {operation} of numbers {operands} can be {ratio} times {}, not below {}",
                            self.name,
                            self.method,
                            size.digits,
                            claim.unit.text(),
                            claim.text()
                        ));
                    };
                    let margin = left.log2() - Dyadic::from(unit).log2();
                    let row = Row {
                        operation,
                        operands,
                        claim: claim.text(),
                        worst: ratio,
                        margin,
                        digits: size.digits,
                    };
                    match rows.iter_mut().find(|known| known.operation == operation) {
                        Some(known) if known.margin <= margin + NEGLIGIBLE => {}
                        Some(known) => *known = row,
                        None => rows.push(row),
                    }
                }
            }
        }
        Ok(rows)
    }

    /// The largest number that any sequence of operations can reach, as a multiple of a modulus of `bits`
    /// ones: rounded up, to `2^-64`. `None` if numbers of this length are below `R` alone.
    ///
    /// From what enters, products of products grow towards the least bound under which the arithmetic is
    /// closed. It is found by bisection: it is at most any bound that holds for its own products.
    pub fn reached(&self, size: Size, bits: usize) -> Option<String> {
        if let Kind::Full { .. } = self.kind {
            return None;
        }
        let m = ones(bits);
        let product = |x: &BigUint, y: &BigUint| size.reduction.of(&Dyadic::from(x * y), &m).floor();
        let entered = product(&ones(size.bits), &(&m - 1u8));
        let next = |x: &BigUint| match self.kind {
            Kind::Products | Kind::Full { .. } => product(x, x),
            Kind::Doubling(times) => product(&(x << times), &(x << times)),
            Kind::HalfReduced { digit_bits, step } => {
                let entry = product(x, x).max(entered.clone());
                let cut = Cut::new(size.digits, digit_bits, step);
                let (x, entry) = (Dyadic::from(x.clone()), Dyadic::from(entry));
                let k = cut.complete(&entry, &m);
                cut.multiply(&x, &entry, &k, &m).floor().max(entry.floor())
            }
        };
        let holds = |x: &BigUint| next(x) <= *x;
        // A power of two begins at 1, and is doubled and squared.
        let mut low = if let Kind::Doubling(_) = self.kind { &m - 1u8 } else { entered.clone() };
        let mut high = &m * self.bounds.bound - 1u8;
        if holds(&low) {
            high.clone_from(&low);
        }
        if !holds(&high) {
            return None;
        }
        while &high - &low > (&m >> 64) + 1u8 {
            let middle = (&low + &high) >> 1;
            if holds(&middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(decimal(&high.into(), &m))
    }
}

/// How almost-half-Montgomery multiplication cuts a factor.
struct Cut {
    low: usize,
    digit_bits: usize,
    step: usize,
    high: usize,
}

impl Cut {
    fn new(digits: usize, digit_bits: usize, step: usize) -> Self {
        Self { low: digits / 2, digit_bits, step, high: digits - digits / 2 }
    }

    fn reduction(&self, rows: usize) -> Reduction {
        Reduction::by_digits(self.digit_bits, rows, self.step)
    }

    /// `K` of an entry.
    fn complete(&self, entry: &Dyadic, m: &BigUint) -> Dyadic {
        self.reduction(self.low).of(entry, m)
    }

    /// A product with an entry and its `K`.
    fn multiply(&self, x: &Dyadic, entry: &Dyadic, k: &Dyadic, m: &BigUint) -> Dyadic {
        let low = self.low * self.digit_bits;
        let sum = Dyadic::from(ones(low)).times(k).plus(&x.over(low).times(entry));
        self.reduction(self.high).of(&sum, m)
    }
}

/// `value/unit` to nine decimals, cut off.
fn decimal(value: &Dyadic, unit: &BigUint) -> String {
    const BILLION: u32 = 1_000_000_000;
    let parts = (&value.n * BILLION / (unit << value.shift)).iter_u64_digits().next().unwrap_or(0);
    format!("{}.{:09}", parts / u64::from(BILLION), parts % u64::from(BILLION))
}
