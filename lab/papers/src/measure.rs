//! What the tables measure of the library: numbers to compute with, and each operation on them by a method.

use std::hint::black_box;

use zariz::{Engine, Method, Modulus, PowJob, Residues, TableEntry, pow_many};
use zariz_cli::exit::Failure;
use zariz_cli::measure::benchmark::noise;

use super::timing::Contestant;

/// What is done eight times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A modular multiplication.
    Multiply,
    /// A modular squaring.
    Square,
    /// A constant-time power with an exponent as long as the modulus.
    Power,
}

/// Eight lanes' numbers, all of one length, and the expected results.
pub struct Numbers {
    /// Odd numbers with the highest bit set.
    pub moduli: Vec<Vec<u8>>,
    /// Numbers below the moduli.
    pub bases: Vec<Vec<u8>>,
    /// Others to multiply them with: their third powers.
    pub factors: Vec<Vec<u8>>,
    /// Exponents with the highest bit set.
    pub exponents: Vec<Vec<u8>>,
    /// Base times factor.
    pub products: Vec<Vec<u8>>,
    /// The bases' squares.
    pub squares: Vec<Vec<u8>>,
    /// The bases raised to the exponents, if the operation is that; else nothing.
    pub powers: Vec<Vec<u8>>,
}

impl Numbers {
    /// How many there are of each.
    pub const LANES: usize = 8;

    /// Numbers of `bits` bits, equal in every run, and the results of an operation by the portable engine.
    pub fn new(bits: usize, operation: Operation) -> Result<Self, Failure> {
        let number = |kind: u64, lane: usize| noise(kind * 64 + lane as u64 + 1, bits / 8);
        let lanes = || 0..Self::LANES;
        let mut moduli: Vec<_> = lanes().map(|lane| number(0, lane)).collect();
        let mut bases: Vec<_> = lanes().map(|lane| number(1, lane)).collect();
        let mut exponents: Vec<_> = lanes().map(|lane| number(2, lane)).collect();
        for modulus in &mut moduli {
            modulus[0] |= 0x80;
            modulus[bits / 8 - 1] |= 1;
        }
        bases.iter_mut().for_each(|base| base[0] &= 0x7f);
        exponents.iter_mut().for_each(|exponent| exponent[0] |= 0x80);
        let powers = |exponents: &dyn Fn(usize) -> Vec<u8>| {
            let power = |lane: usize| {
                let modulus = Modulus::new(&moduli[lane])?.with_engine(Engine::Portable)?;
                Ok(modulus.pow_vartime(&bases[lane], &exponents(lane)))
            };
            lanes().map(power).collect::<Result<Vec<_>, Failure>>()
        };
        let [squares, factors, products] = [2, 3, 4].map(|power| powers(&|_| vec![power]));
        let results =
            if operation == Operation::Power { powers(&|lane| exponents[lane].clone())? } else { Vec::new() };
        let (squares, factors, products) = (squares?, factors?, products?);
        Ok(Self { moduli, bases, factors, exponents, products, squares, powers: results })
    }
}

/// Eight lanes' moduli, for an engine and a method.
pub struct Lanes {
    moduli: Vec<Modulus>,
    engine: Engine,
    method: Option<Method>,
}

impl Lanes {
    /// Prepares the numbers' moduli for a method; `None` leaves the choice to the library.
    pub fn new(numbers: &Numbers, engine: Engine, method: Option<Method>) -> Result<Self, Failure> {
        let modulus = |modulus: &Vec<u8>| Ok(Modulus::new(modulus)?.with_engine(engine)?.with_method(method));
        let moduli = numbers.moduli.iter().map(modulus).collect::<Result<_, Failure>>()?;
        Ok(Self { moduli, engine, method })
    }

    /// The method in use: the one that was named, or the library's choice.
    pub fn in_use(&self) -> Option<Method> {
        self.moduli.first().map(Modulus::method)
    }

    /// The operation on eight lanes. Its results are checked.
    pub fn contestant<'a>(
        &'a self,
        operation: Operation,
        numbers: &'a Numbers,
    ) -> Result<Contestant<'a>, Failure> {
        if operation == Operation::Power {
            self.check(self.powers(numbers) == numbers.powers)?;
            let call = move || {
                drop(black_box(self.powers(numbers)));
                Ok(())
            };
            return Ok(Contestant { call: Box::new(call), calls: 1.0 });
        }
        let work = move |x: &mut Residues, factor: &TableEntry| match operation {
            Operation::Square => {
                x.square();
                Ok(())
            }
            // For methods without half products for table entries, this is an ordinary product.
            _ => x.multiply_entry(factor),
        };
        let lanes = self.engine.lanes();
        for first in (0..Numbers::LANES).step_by(lanes) {
            let mut x = self.residues(&numbers.bases, first)?;
            work(&mut x, &self.residues(&numbers.factors, first)?.to_entry())?;
            let expected = if operation == Operation::Square { &numbers.squares } else { &numbers.products };
            self.check(x.to_bytes()[..] == expected[first..first + lanes])?;
        }
        let (mut x, factor) =
            (self.residues(&numbers.bases, 0)?, self.residues(&numbers.factors, 0)?.to_entry());
        let call = move || Ok(work(&mut x, &factor)?);
        Ok(Contestant { call: Box::new(call), calls: Numbers::LANES as f64 / lanes as f64 })
    }

    /// Numbers for all lanes of the engine, from the one numbered `first`.
    fn residues(&self, numbers: &[Vec<u8>], first: usize) -> Result<Residues<'_>, Failure> {
        let lanes = first..first + self.engine.lanes();
        let moduli: Vec<&Modulus> = self.moduli[lanes.clone()].iter().collect();
        let numbers: Vec<&[u8]> = numbers[lanes].iter().map(Vec::as_slice).collect();
        Ok(Residues::new(&moduli, &numbers)?)
    }

    fn powers(&self, numbers: &Numbers) -> Vec<Vec<u8>> {
        let jobs = self.moduli.iter().zip(&numbers.bases).zip(&numbers.exponents);
        let jobs: Vec<_> =
            jobs.map(|((modulus, base), exponent)| PowJob { modulus, base, exponent }).collect();
        pow_many(&jobs)
    }

    fn check(&self, is_right: bool) -> Result<(), Failure> {
        let engine = self.engine;
        let method =
            self.method.map_or_else(|| "its usual method".to_owned(), |method| format!("method {method}"));
        let wrong = || {
            Failure::Input(format!("engine {engine} computes wrong numbers by {method}: do not use it here"))
        };
        if is_right { Ok(()) } else { Err(wrong()) }
    }
}
