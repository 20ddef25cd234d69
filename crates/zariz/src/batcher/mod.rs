//! Computes requests of many callers together: a server gets its requests one by one, but a batch needs many.
//!
//! A [`Batcher`] takes requests of any keys and moduli ([`Job`]). Callers block ([`Batcher::sign`],
//! [`Batcher::call`]) or await ([`Signer::sign`], [`Batcher::submit`]), on any executor.
//!
//! A request that finds no computation under way is computed at once, even alone. Requests that come
//! meanwhile are the next batch. There is no timer, and no request waits for others, unless
//! [`Policy::Throughput`] asks for it.
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
mod compute;
mod error;
mod handle;
mod job;
mod pending;
mod per_process;
mod primitive;
mod queue;
mod sync;

pub use builder::{Builder, Policy, WhenFull};
pub use error::Error;
pub use handle::{Batcher, Signer};
pub use job::Job;
pub use pending::Pending;
#[doc(hidden)]
pub use per_process::PerProcessQueue;
pub use primitive::Primitive;
#[doc(hidden)]
pub use primitive::{PrimitiveResult, primitive_many};
pub use queue::{Metrics, QueueError};

/// The queue, for zariz's provider for OpenSSL, whose callers wait in other ways.
#[doc(hidden)]
pub mod provider {
    pub use super::queue::*;
}
