//! Counts of the vector carry propagation chains: every vector is nothing, and what is done with it is
//! counted, in the words of the paper's coprocessor.

use std::cell::Cell;
use std::ops::{Add, Mul, Sub};

use zariz_kernels::carry::{self, Chains, DIGITS, Digits, Modulus, SCRATCH, WIDEST, tail};
use zariz_kernels::pow::{self, Power};
use zariz_kernels::{Montgomery, OddModulus};
use zariz_machines::carry::Costs;

/// The machine that counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct CarryCount;

/// Declares the counts, with what goes for all of them.
macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// How often each operation of [`carry::Machine`] was made.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct CarryCounts {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl CarryCounts {
            const ZERO: Self = Self { $($name: 0,)* };
        }

        impl Add for CarryCounts {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self { $($name: self.$name + other.$name,)* }
            }
        }

        impl Sub for CarryCounts {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self { $($name: self.$name - other.$name,)* }
            }
        }

        impl Mul<u64> for CarryCounts {
            type Output = Self;
            fn mul(self, times: u64) -> Self {
                Self { $($name: self.$name * times,)* }
            }
        }
    };
}

counts! {
    /// `multiply`: VPMULLD and VPMULHUD.
    products,
    /// `multiply_first`: VPMULLD.
    first_products,
    /// `add`: VPADCD.
    sums,
    /// `add_high`: VPADCD.
    high_sums,
    /// `add_where`: VPADDD under a mask.
    masked_sums,
    /// `broadcast_first`: VPERMD.
    permutations,
    /// `shift_down` and `shift_up`: VALIGND.
    shifts,
    /// `splat`: digits broadcast from memory.
    broadcasts,
    /// `all_ones` and `equal`: VPCMPUD.
    comparisons,
    /// `move_where`: VMOVDQA32 under a mask.
    masked_moves,
    /// `first`: single digits written to memory.
    digits_out,
    /// `mask` and `bits`: KMOV.
    mask_moves,
    /// Vectors read from memory.
    loads,
    /// Vectors written to memory.
    stores,
}

impl CarryCounts {
    /// In the coprocessor's words: what the paper counts as vector instructions.
    pub fn coprocessor(&self) -> u64 {
        let arithmetic =
            2 * self.products + self.first_products + self.sums + self.high_sums + self.masked_sums;
        arithmetic + self.permutations + self.shifts + self.broadcasts + self.comparisons + self.masked_moves
    }

    /// In the instructions of a machine that makes these words of others. Digits that are broadcast from
    /// memory are loads there, and not counted.
    pub fn by(&self, costs: Costs) -> u64 {
        self.products * costs.multiply
            + self.first_products * costs.multiply_first
            + self.sums * costs.add
            + self.high_sums * costs.add_high
            + self.masked_sums * costs.add_where
            + self.permutations * costs.broadcast_first
            + self.shifts * costs.shift
            + (self.comparisons + self.masked_moves) * costs.compare
    }
}

thread_local! {
    static COUNTS: Cell<CarryCounts> = const { Cell::new(CarryCounts::ZERO) };
}

fn bump(one: impl FnOnce(&mut CarryCounts)) {
    let mut counts = COUNTS.get();
    one(&mut counts);
    COUNTS.set(counts);
}

/// What a kernel run in this thread counts.
pub fn count(run: impl FnOnce(CarryCount)) -> CarryCounts {
    let before = COUNTS.get();
    run(CarryCount);
    COUNTS.get() - before
}

impl carry::Machine for CarryCount {
    type Vector = ();
    type Factor = ();
    type Mask = ();

    fn load(self, _digits: &Digits) {
        bump(|counts| counts.loads += 1);
    }
    fn store(self, (): (), _digits: &mut Digits) {
        bump(|counts| counts.stores += 1);
    }
    fn constant(self, _digit: u32) {}
    fn splat(self, _digit: u32) {
        bump(|counts| counts.broadcasts += 1);
    }
    fn first(self, (): ()) -> u32 {
        bump(|counts| counts.digits_out += 1);
        0
    }
    fn factor(self, (): ()) {}
    fn multiply(self, (): (), (): ()) -> ((), ()) {
        bump(|counts| counts.products += 1);
        ((), ())
    }
    fn multiply_first(self, (): (), (): ()) {
        bump(|counts| counts.first_products += 1);
    }
    fn broadcast_first(self, (): ()) {
        bump(|counts| counts.permutations += 1);
    }
    fn add(self, (): (), (): (), (): ()) -> ((), ()) {
        bump(|counts| counts.sums += 1);
        ((), ())
    }
    fn add_high(self, (): (), (): (), (): ()) -> ((), ()) {
        bump(|counts| counts.high_sums += 1);
        ((), ())
    }
    fn add_where(self, (): (), (): (), (): ()) {
        bump(|counts| counts.masked_sums += 1);
    }
    fn shift_down(self, (): (), (): ()) {
        bump(|counts| counts.shifts += 1);
    }
    fn shift_up(self, (): (), (): ()) {
        bump(|counts| counts.shifts += 1);
    }
    fn mask(self, _bits: u16) {
        bump(|counts| counts.mask_moves += 1);
    }
    fn bits(self, (): ()) -> u16 {
        bump(|counts| counts.mask_moves += 1);
        0
    }
    fn all_ones(self, (): ()) {
        bump(|counts| counts.comparisons += 1);
    }
    fn move_where(self, (): (), (): (), (): ()) {
        bump(|counts| counts.masked_moves += 1);
    }
    fn equal(self, (): (), (): ()) {
        bump(|counts| counts.comparisons += 1);
    }
}

impl carry::Kernels for CarryCount {
    fn amm(
        self,
        out: &mut [Digits],
        scratch: &mut [Digits; SCRATCH],
        a: &[Digits],
        b: &[Digits],
        modulus: Modulus,
    ) {
        match out.len() {
            1 => carry::amm::<Self, 1>(self, out, scratch, a, b, modulus),
            _ => carry::amm::<Self, WIDEST>(self, out, scratch, a, b, modulus),
        }
    }
    fn select(self, out: &mut [Digits], table: &[Digits], index: u32) {
        match out.len() {
            1 => carry::select::<Self, 1>(self, out, table, index),
            _ => carry::select::<Self, WIDEST>(self, out, table, index),
        }
    }
}

/// What a raw private operation with a key of `bits` bits counts, except for putting its halves together: two
/// powers with bases twice as long as the moduli. And the windows of its exponents.
pub fn decryption(bits: usize) -> (CarryCounts, usize) {
    let half = bits / 2;
    // Any odd number of that length.
    let constants = carry::Constants::new(&OddModulus::new(&vec![u64::MAX; half / 64]).expect("odd"));
    let (base, exponent) = (vec![0; bits / 64], vec![0; half / 64]);
    let power =
        Power { modulus: &constants, base: &base, base_bits: bits, exponent: &exponent, exponent_bits: half };
    let counts = count(|m| drop(pow::pow(&mut carry::Context::new(m, &constants), &[power])));
    (counts * 2, carry::Context::new(CarryCount, &constants).window_bits(half))
}

/// What one multiplication counts, and its parts.
#[derive(Clone, Copy, Debug)]
pub struct Multiplication {
    /// The length of its numbers, in bits.
    pub bits: usize,
    /// Its windows: 1, or into how many each number is split.
    pub windows: usize,
    /// How many rounds it has.
    pub rounds: usize,
    /// All of it.
    pub whole: CarryCounts,
    /// What is left when the others are taken off: the rounds, with what moves digits in and out.
    pub in_rounds: CarryCounts,
    /// The tails: the carries that are left at the end of each row.
    pub tails: CarryCounts,
    /// The last subtraction, made under a mask.
    pub subtraction: CarryCounts,
}

/// One round of a window of `V` vectors that computes its quotient.
pub fn round<const V: usize>() -> CarryCounts {
    let mut chains = Chains::new(CarryCount, &[[0; DIGITS]; V]);
    count(|m| chains.round(m, &[(); V], 0, &[(); V], ()))
}

/// Counts a multiplication of numbers of `windows` windows of `V` vectors.
pub fn multiplication<const V: usize>(windows: usize) -> Multiplication {
    let zeros = vec![[0; DIGITS]; windows * V];
    let (mut out, mut scratch) = (zeros.clone(), vec![[0; DIGITS]; 2 * V]);
    let modulus = Modulus { digits: &zeros, negated: &zeros, mu: 0 };
    let whole = count(|m| carry::amm::<CarryCount, V>(m, &mut out, &mut scratch, &zeros, &zeros, modulus));
    let chains = Chains::new(CarryCount, &[[0; DIGITS]; V]);
    let tail = count(|m| _ = tail::resolve::<CarryCount, V>(m, &chains, &mut [[0; DIGITS]; V]));
    let tails = tail * windows as u64;
    let subtraction = count(|m| tail::add_if::<CarryCount, V>(m, 0, &mut out, &zeros));
    // Before the rounds the factor of the quotients is broadcast.
    let before = CarryCounts { broadcasts: 1, ..CarryCounts::default() };
    let in_rounds = whole - tails - subtraction - before;
    let rounds = windows * windows * DIGITS * V;
    Multiplication { bits: 32 * DIGITS * V * windows, windows, rounds, whole, in_rounds, tails, subtraction }
}

/// The instructions of a multiplication in redundant representation on the coprocessor: the formula of slide
/// "Performance Analysis", `⌈l/(w − t)⌉·(10·⌈l/(s − t·n)⌉ + 4)`, for numbers of `l` bits in lanes of `w` bits
/// of which `t` are left free, `n` lanes and `s` bits in a vector.
pub fn redundant(l: u64, w: u64, t: u64, s: u64, n: u64) -> u64 {
    l.div_ceil(w - t) * (10 * l.div_ceil(s - t * n) + 4)
}

/// The free bits for which [`redundant`] gives the paper's figure: 29-bit digits.
pub const FREE_BITS: u64 = 3;
