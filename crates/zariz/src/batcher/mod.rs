//! Requests of many callers, computed together: a server has one request in each hand, and a batch needs many.
//!
//! A [`Batcher`] takes requests of any keys and moduli ([`Job`]). Callers block ([`Batcher::sign`],
//! [`Batcher::call`]) or await ([`Signer::sign`], [`Batcher::submit`]), on any executor.
//!
//! Batches form by themselves: a request that finds no computation under way is computed at once, even alone, and
//! those that come meanwhile are the next batch. There is no timer, and no request waits for others to come, unless
//! [`Policy::Throughput`] asks for it. [`queue`] says how, for programs whose callers wait in other ways.
//!
//! ```
//! use std::thread;
//! use zariz::batcher::Batcher;
//! use zariz::rsa::{Algorithm, PrivateKey};
//!
//! # #[cfg(feature = "keygen")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (batcher, key) = (Batcher::new(), PrivateKey::generate(2048)?);
//! thread::scope(|scope| {
//!     for _ in 0..8 {
//!         scope.spawn(|| batcher.sign(&key, Algorithm::RS256, b"message"));
//!     }
//! });
//! assert_eq!(batcher.metrics().operations, 8);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "keygen"))]
//! # fn main() {}
//! ```

mod builder;
mod error;
mod job;
mod pending;
mod primitive;
mod processes;
pub mod queue;
mod shared;
mod signer;
mod sync;

pub use builder::{Builder, Policy, WhenFull};
pub use error::Error;
pub use job::Job;
pub use pending::Pending;
pub use primitive::{Primitive, PrimitiveResult, primitive_many};
pub use processes::Processes;
pub use queue::{Lost, Metrics};
pub use shared::Batcher;
pub use signer::Signer;
