//! What interpretations run: the operations on batches, for any digit count.

use zariz_kernels::mul::{Product, mul};
use zariz_kernels::pow::{Power, pow};
use zariz_kernels::{Constants, Frame, Machine};

/// An operation on a batch of numbers of `L` digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// [`Frame::amm`] of any two numbers.
    Amm,
    /// [`Frame::ams`] of any number.
    Ams,
    /// [`Frame::enter`] of a number of twice as many digits, so that it is taken in by Horner's rule.
    Enter,
    /// [`Frame::leave`] of any number.
    Leave,
    /// [`mul`]: in, multiplied, and out.
    Mul,
    /// [`pow`] with the shortest exponent that squares, looks into the table and multiplies. With any other the same
    /// happens more often, to numbers of whose digits nothing is supposed.
    Pow,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Amm, Self::Ams, Self::Enter, Self::Leave, Self::Mul, Self::Pow];

    /// The name of the function.
    pub fn name(self) -> &'static str {
        match self {
            Self::Amm => "amm",
            Self::Ams => "ams",
            Self::Enter => "enter",
            Self::Leave => "leave",
            Self::Mul => "mul",
            Self::Pow => "pow",
        }
    }

    /// Runs the operation on `machine`, on numbers of `l` digits. `started` is called once what happens once per batch is
    /// done.
    ///
    /// The modulus is 3: the work depends on `l` alone, and on machines of intervals every number stands for all.
    pub fn run<M: Machine>(self, machine: M, l: usize, started: impl FnOnce()) {
        const LIMB: &[u64] = &[0];
        let constants = Constants::new(&[3], M::DIGIT_BITS, l);
        let bits = l * M::DIGIT_BITS as usize;
        if let Self::Mul | Self::Pow = self {
            started();
            let (base, a_bits) = (LIMB, bits);
            match self {
                Self::Mul => mul(machine, &[Product { modulus: &constants, a: base, a_bits, b: LIMB }]),
                _ => {
                    let power = Power { modulus: &constants, base, base_bits: bits, exponent: &[3], exponent_bits: 2 };
                    pow(machine, &[power])
                }
            };
            return;
        }
        let mut frame = Frame::new(machine, &[&constants]);
        let digits = vec![0; l];
        let lanes = vec![&digits[..]; M::LANES];
        let (mut x, mut y) = (frame.zeros(1), frame.zeros(1));
        machine.gather(&mut x, &lanes);
        machine.gather(&mut y, &lanes);
        started();
        match self {
            Self::Amm => frame.amm(&mut x, &y),
            Self::Ams => frame.ams(&mut x),
            Self::Enter => drop(frame.enter(&[LIMB], 2 * bits)),
            Self::Leave => drop(frame.leave(x)),
            Self::Mul | Self::Pow => unreachable!("done above"),
        }
    }
}

/// The digits of a modulus of `bits` bits on machines with `w`-bit digits.
pub fn digits_for(bits: usize, w: u32) -> usize {
    Constants::digits_for(bits, w)
}
