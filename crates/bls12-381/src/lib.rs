//! The base field of BLS12-381, the curve of BLS signatures and of many proof systems: integers modulo a
//! prime of 381 bits.
//!
//! * [`Fp`] is one element. It is multiplied in assembly where the processor has MULX, ADCX and ADOX (Intel
//!   since 2014, AMD since 2017), else in portable Rust.
//! * [`Fp8`] is eight elements that stay in the lanes of a vector machine: a long chain of operations
//!   converts them only twice, at its start and at its end.
//! * [`mul_batch`] and [`sqr_batch`] multiply slices of elements, in lanes where that is faster.
//! * [`Form`] names the ways of multiplying one element, to compare them.
//!
//! ```
//! use zariz_bls12_381::{Fp, Fp8};
//!
//! let (a, b) = (Fp::from(6), Fp::from(7));
//! assert_eq!(a * b, Fp::from(42));
//! assert_eq!((a * b).invert().map(|inverse| inverse * b * a), Some(Fp::ONE));
//!
//! let mut eight = Fp8::new(&[a; 8]);
//! eight *= &Fp8::new(&[b; 8]);
//! assert_eq!(eight.to_array(), [Fp::from(42); 8]);
//! # Ok::<(), zariz_bls12_381::FpError>(())
//! ```
//!
//! Every operation takes constant time, unless its description says otherwise: `invert` shows whether an
//! element was 0. Elements are `Copy` and not wiped when dropped; [`Fp`] and [`Fp8`] are
//! [`zeroize::Zeroize`].
#![forbid(unsafe_code)]

mod batch;
mod error;
mod form;
mod fp;
mod lanes;
mod operators;

pub use batch::{mul_batch, mul_batch_on, sqr_batch, sqr_batch_on};
pub use error::FpError;
pub use form::Form;
pub use fp::Fp;
pub use lanes::Fp8;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
