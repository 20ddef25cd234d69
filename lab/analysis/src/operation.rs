//! What interpretations run: the operations on batches, for any method and digit count.

use zariz_kernels::batch::{self, Method};
use zariz_kernels::fixed_base::{self, Access};
use zariz_kernels::mul::{Product, mul};
use zariz_kernels::pow::{Power, pow};
use zariz_kernels::{Montgomery, OddModulus};

/// The longest modulus that is supported, in bits: `zariz::Modulus::MAX_BITS`.
pub const MAX_BITS: usize = 16_384;

/// An operation on a batch of numbers of `L` digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// [`Montgomery::amm`] of any two numbers.
    Amm,
    /// [`Montgomery::ams`] of any number.
    Ams,
    /// [`Montgomery::enter`] of a number of twice as many digits, so that it is taken in by Horner's rule.
    Enter,
    /// [`Montgomery::leave`] of any number.
    Leave,
    /// [`mul`]: in, multiplied, and out.
    Mul,
    /// [`Montgomery::complete_entry`] of any number.
    Entry,
    /// [`Montgomery::multiply_entry`] of any number and any entry.
    ByEntry,
    /// [`pow`] with the shortest exponent that squares, looks into the table and multiplies by an entry. With
    /// any other the same happens more often, to numbers of whose digits nothing is supposed.
    Pow,
    /// [`fixed_base::build`] and [`fixed_base::pow`] with the fewest rows that square, look into a row and
    /// multiply by an entry.
    FixedBase,
    /// [`Montgomery::double`] of any number, by any digit at all: its factors are shorter.
    Double,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Amm,
        Self::Ams,
        Self::Enter,
        Self::Leave,
        Self::Mul,
        Self::Entry,
        Self::ByEntry,
        Self::Pow,
        Self::FixedBase,
        Self::Double,
    ];

    /// The name of the function.
    pub fn name(self) -> &'static str {
        match self {
            Self::Amm => "amm",
            Self::Ams => "ams",
            Self::Enter => "enter",
            Self::Leave => "leave",
            Self::Mul => "mul",
            Self::Entry => "complete_entry",
            Self::ByEntry => "multiply_entry",
            Self::Pow => "pow",
            Self::FixedBase => "fixed_base",
            Self::Double => "double",
        }
    }

    /// Runs the operation on `machine` by `method`, on numbers of `l` digits. `started` is called once what
    /// happens once per batch is done.
    ///
    /// The modulus is 3: the work depends on `l` alone, and on machines of intervals each number is every
    /// number.
    pub fn run<M: batch::Kernels>(self, machine: M, method: Method, l: usize, started: impl FnOnce()) {
        let constants = constants_for(method, M::DIGIT_BITS, l);
        let bits = l * M::DIGIT_BITS as usize;
        match self {
            Self::Mul => {
                started();
                mul(
                    &mut batch::Context::new(machine, &[&constants]),
                    &[Product { modulus: &constants, a: &[0], a_bits: bits, b: &[0] }],
                );
            }
            Self::Pow => {
                started();
                power(machine, &constants, 2);
            }
            Self::FixedBase => {
                started();
                let mut mont = batch::Context::new(machine, &[&constants]);
                // Three rows of two entries: wider windows need more.
                let most = 3 * 2 * 8 * mont.shared_words();
                let size = fixed_base::size(&mont, 3, Access::Scan, most).expect("rows of one bit");
                let table = fixed_base::build(&mut mont, &[0], bits, size);
                fixed_base::pow(&mut mont, &table, &[&[1]], 3);
            }
            _ => {
                let mut mont = batch::Context::new(machine, &[&constants]);
                let size = l * mont.entry_words() / mont.words();
                let mut number = |count: usize| mont.load(count, |_, _| &[]);
                let (mut x, y, mut entry) = (number(l), number(l), number(size));
                started();
                match self {
                    Self::Amm => mont.amm(&mut x, &y),
                    Self::Ams => mont.ams(&mut x, 1),
                    Self::Entry => mont.complete_entry(&mut entry),
                    Self::ByEntry => mont.multiply_entry(&mut x, &entry),
                    Self::Double => mont.double(&mut x, &[1]),
                    Self::Enter => drop(mont.enter(&[&[0]], 2 * bits)),
                    _ => drop(mont.leave(x, 1)),
                }
            }
        }
    }
}

/// Raises a number as long as its digits allow to a power of `exponent_bits` bits.
pub fn power<M: batch::Kernels>(machine: M, constants: &batch::Constants, exponent_bits: usize) {
    let base_bits = constants.digits() * M::DIGIT_BITS as usize;
    pow(
        &mut batch::Context::new(machine, &[constants]),
        &[Power { modulus: constants, base: &[0], base_bits, exponent: &[1], exponent_bits }],
    );
}

/// The modulus 3 in `l` digits, for a method.
pub fn constants_for(method: Method, w: u32, l: usize) -> batch::Constants {
    batch::Constants::new(&OddModulus::new(&[3]).expect("odd"), w, l).with_method(method)
}

/// The digits of a modulus of `bits` bits on machines with `w`-bit digits, by a method.
pub fn digits_for(method: Method, bits: usize, w: u32) -> usize {
    method.digits(batch::Constants::digits_for(bits, w))
}
