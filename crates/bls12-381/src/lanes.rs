//! Eight elements in the lanes of a vector machine.

use std::fmt;
use std::ops::{AddAssign, MulAssign, SubAssign};

use zariz::{Engine, EngineError};
use zariz_machines::batch::{Find, Portable};
use zariz_machines::bls12_381::Fe;
use zariz_machines::bls12_381::lanes::{Element, Field};
use zariz_machines::mxcsr::DefaultMxcsr;

use crate::{Fp, FpError};

/// Eight elements that stay in the lanes of an engine, in its digits: additions, subtractions and
/// multiplications need no conversions between them.
///
/// An engine with eight lanes multiplies all at once; one with fewer lanes works in groups. Operations are in
/// place; clone values that you still need. If two values are on different engines, the second is converted,
/// which costs more than the operation.
#[derive(Clone)]
pub struct Fp8(Held);

/// Eight numbers on one machine, in `G` groups with one number per lane.
#[derive(Clone)]
struct Groups<M: Field, const G: usize> {
    machine: M,
    digits: [Element<M>; G],
}

impl<M: Field, const G: usize> Groups<M, G> {
    fn new(machine: M, elements: &[Fp; 8]) -> Self {
        const { assert!(G * M::LANES == 8) };
        let limbs = elements.map(|Fp(limbs)| limbs);
        let mut digits = [[machine.digit_zero(); 8]; G];
        let _default = DefaultMxcsr::if_needed(M::ROUNDS);
        for (digits, limbs) in digits.iter_mut().zip(limbs.chunks_exact(M::LANES)) {
            machine.fe_enter(digits, limbs);
        }
        Self { machine, digits }
    }

    fn to_array(&self) -> [Fp; 8] {
        let mut limbs: [Fe; 8] = Default::default();
        let _default = DefaultMxcsr::if_needed(M::ROUNDS);
        for (digits, limbs) in self.digits.iter().zip(limbs.chunks_exact_mut(M::LANES)) {
            self.machine.fe_leave(limbs, digits);
        }
        limbs.map(Fp)
    }

    #[inline]
    fn with(&mut self, other: &Self, work: impl Fn(M, &mut Element<M>, &Element<M>)) {
        let _default = DefaultMxcsr::if_needed(M::ROUNDS);
        for (a, b) in self.digits.iter_mut().zip(&other.digits) {
            work(self.machine, a, b);
        }
    }

    fn square(&mut self, times: usize) {
        let _default = DefaultMxcsr::if_needed(M::ROUNDS);
        for digits in &mut self.digits {
            self.machine.fe_sqr(digits, times);
        }
    }

    fn wipe(&mut self) {
        self.digits = [[self.machine.digit_zero(); 8]; G];
        zeroize::optimization_barrier(&self.digits);
    }
}

/// How many groups eight numbers are in on a machine.
const fn groups<M: Field>() -> usize {
    8 / M::LANES
}

/// Defines the type that holds the lanes, and its operations on all machines.
macro_rules! held {
    ($($(#[$cfg:meta])? $module:ident $engine:ident: $machine:ty, $name:literal, $features:tt;)*) => {
        /// Eight numbers on the machine of an engine.
        #[derive(Clone)]
        #[allow(clippy::large_enum_variant)] // all are of one size where it counts
        enum Held {
            $($(#[$cfg])? $engine(Groups<$machine, { groups::<$machine>() }>),)*
        }

        impl Held {
            fn new(engine: Engine, elements: &[Fp; 8]) -> Result<Self, FpError> {
                match engine {
                    $($(#[$cfg])? Engine::$engine => {
                        let machine = <$machine>::find().ok_or(EngineError::Unavailable(engine))?;
                        Ok(Self::$engine(Groups::new(machine, elements)))
                    })*
                    #[allow(unreachable_patterns)]
                    _ => Err(unfit(engine)),
                }
            }

            fn engine(&self) -> Engine {
                match self {
                    $($(#[$cfg])? Self::$engine(_) => Engine::$engine,)*
                }
            }

            fn to_array(&self) -> [Fp; 8] {
                match self {
                    $($(#[$cfg])? Self::$engine(groups) => groups.to_array(),)*
                }
            }

            fn square(&mut self, times: usize) {
                match self {
                    $($(#[$cfg])? Self::$engine(groups) => groups.square(times),)*
                }
            }

            fn wipe(&mut self) {
                match self {
                    $($(#[$cfg])? Self::$engine(groups) => groups.wipe(),)*
                }
            }

            /// Adds, if both are on one engine. Returns whether it did.
            #[inline]
            fn add(&mut self, other: &Self) -> bool {
                match (self, other) {
                    $($(#[$cfg])? (Self::$engine(a), Self::$engine(b)) => a.with(b, Field::fe_add),)*
                    #[allow(unreachable_patterns)]
                    _ => return false,
                }
                true
            }

            #[inline]
            fn sub(&mut self, other: &Self) -> bool {
                match (self, other) {
                    $($(#[$cfg])? (Self::$engine(a), Self::$engine(b)) => a.with(b, Field::fe_sub),)*
                    #[allow(unreachable_patterns)]
                    _ => return false,
                }
                true
            }

            #[inline]
            fn mul(&mut self, other: &Self) -> bool {
                match (self, other) {
                    $($(#[$cfg])? (Self::$engine(a), Self::$engine(b)) => a.with(b, Field::fe_mul),)*
                    #[allow(unreachable_patterns)]
                    _ => return false,
                }
                true
            }
        }

        /// Multiplies any number of elements, eight at a time; the last few are padded with zeros.
        pub(crate) fn scalars(engine: Engine, a: &[Fp], b: Option<&[Fp]>, out: &mut [Fp]) -> Result<(), FpError> {
            match engine {
                $($(#[$cfg])? Engine::$engine => {
                    let machine = <$machine>::find().ok_or(EngineError::Unavailable(engine))?;
                    each_eight(machine, a, b, out);
                    Ok(())
                })*
                #[allow(unreachable_patterns)]
                _ => Err(unfit(engine)),
            }
        }
    };
}

zariz_machines::for_each_machine!((held));

/// The error for an engine without lanes to use here.
fn unfit(engine: Engine) -> FpError {
    if engine.has_lanes() { EngineError::Unavailable(engine).into() } else { FpError::WithoutLanes(engine) }
}

/// Products of groups of elements, one element in each lane; squares if `b` is `None`.
fn each_eight<M: Field>(machine: M, a: &[Fp], b: Option<&[Fp]>, out: &mut [Fp]) {
    let limbs =
        |elements: &[Fp]| -> [Fe; 8] { std::array::from_fn(|i| elements.get(i).map_or([0; 6], |fp| fp.0)) };
    let mut products: [Fe; 8] = Default::default();
    let _default = DefaultMxcsr::if_needed(M::ROUNDS);
    for (group, out) in out.chunks_mut(M::LANES).enumerate() {
        let range = group * M::LANES..group * M::LANES + out.len();
        let first = limbs(&a[range.clone()]);
        let products = &mut products[..M::LANES];
        match b {
            Some(b) => machine.fe_mul_scalars(products, &first[..M::LANES], &limbs(&b[range])[..M::LANES]),
            None => machine.fe_sqr_scalars(products, &first[..M::LANES]),
        }
        for (out, &product) in out.iter_mut().zip(&*products) {
            *out = Fp(product);
        }
    }
}

impl Fp8 {
    /// Puts eight elements into the lanes of the best engine.
    #[must_use]
    pub fn new(elements: &[Fp; 8]) -> Self {
        match Self::new_on(Engine::best(), elements) {
            Ok(eight) => eight,
            Err(_) => Self(Held::Portable(Groups::new(Portable::new(), elements))),
        }
    }

    /// Like [`new`](Self::new), on a given engine.
    ///
    /// # Errors
    /// [`FpError::Engine`] if the processor lacks the engine, [`FpError::WithoutLanes`] for an engine without
    /// lanes.
    pub fn new_on(engine: Engine, elements: &[Fp; 8]) -> Result<Self, FpError> {
        Held::new(engine, elements).map(Self)
    }

    /// Takes the elements out of the lanes.
    #[must_use]
    pub fn to_array(&self) -> [Fp; 8] {
        self.0.to_array()
    }

    /// The engine whose lanes hold the elements.
    #[must_use]
    pub fn engine(&self) -> Engine {
        self.0.engine()
    }

    /// Squares each element in place.
    pub fn square_assign(&mut self) {
        self.0.square(1);
    }

    /// Squares each element in place, `times` times.
    pub fn square_times(&mut self, times: usize) {
        self.0.square(times);
    }

    /// Converts `other` to the engine of `self`.
    fn converted(&self, other: &Self) -> Held {
        match Held::new(self.engine(), &other.to_array()) {
            Ok(held) => held,
            // The machine was available when `self` was made.
            Err(_) => unreachable!("an engine is gone"),
        }
    }
}

macro_rules! assign {
    ($operator:ident $operated:ident $work:ident, $what:literal) => {
        impl $operator<&Fp8> for Fp8 {
            #[doc = $what]
            fn $operated(&mut self, other: &Self) {
                if !self.0.$work(&other.0) {
                    let other = self.converted(other);
                    self.0.$work(&other);
                }
            }
        }
    };
}

assign!(AddAssign add_assign add, "The sums.");
assign!(SubAssign sub_assign sub, "The differences.");
assign!(MulAssign mul_assign mul, "The products.");

impl PartialEq for Fp8 {
    fn eq(&self, other: &Self) -> bool {
        let pairs = self.to_array().into_iter().zip(other.to_array());
        pairs.fold(true, |all, (a, b)| all & (a == b))
    }
}

impl Eq for Fp8 {}

impl fmt::Debug for Fp8 {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Fp8").field("engine", &self.engine()).field("elements", &self.to_array()).finish()
    }
}

impl zeroize::Zeroize for Fp8 {
    fn zeroize(&mut self) {
        self.0.wipe();
    }
}
