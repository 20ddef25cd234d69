//! Generation of keys.

use std::ffi::{c_int, c_void};
use std::ops::RangeInclusive;
use std::sync::Arc;

use zariz::primes::PrimeError;
use zariz::rsa::{KeyError, KeyGenerator, PrivateKey, PublicKey};

use super::numbers::{Numbers, select};
use super::{Arithmetic, Key, with_settings};
use crate::failure::{Failure, Outcome, Reason};
use crate::ffi::functions::Callback;
use crate::ffi::params::{Built, Param, Params};
use crate::openssl::Pkey;
use crate::provider::Provider;
use crate::queue::job;

/// The usual public exponent: 65,537.
const E: [u8; 3] = [1, 0, 1];
/// The lengths of keys that zariz makes. OpenSSL makes keys of other lengths, or reports its own errors.
const BITS: RangeInclusive<usize> = PublicKey::MIN_BITS..=PublicKey::MAX_BITS;

/// The parameters of a new key.
pub static SETTABLE: [Param; 4] = [
    Param::describe_unsigned(c"bits"),
    Param::describe_unsigned(c"primes"),
    Param::describe_unsigned(c"e"),
    Param::END,
];

/// A key to be made.
pub struct Plan {
    pub provider: Arc<Provider>,
    bits: usize,
    primes: usize,
    e: Vec<u8>,
}

/// Reports progress to the program, which may cancel.
pub struct Progress {
    pub callback: Option<Callback>,
    pub argument: *mut c_void,
}

impl Progress {
    fn tell(&self, potential: c_int, iteration: c_int) -> Outcome {
        let Some(callback) = self.callback else { return Ok(()) };
        let mut params = Built::default();
        params.int(c"potential", potential);
        params.int(c"iteration", iteration);
        // SAFETY: the program's function, with its argument and an array of parameters.
        if unsafe { callback(params.array(), self.argument) } == 1 {
            Ok(())
        } else {
            Err(Failure::new(Reason::Key, "generating a key was cancelled"))
        }
    }
}

impl Plan {
    /// 2048 bits, two primes.
    pub fn new(provider: Arc<Provider>) -> Self {
        Self { provider, bits: 2048, primes: 2, e: E.to_vec() }
    }

    /// Takes parameters.
    pub fn set(&mut self, params: &Params) -> Outcome {
        let wrong = |name: &str| Failure::new(Reason::Parameter, format!("{name} is not a valid number"));
        let small = |param: &Param| param.int().and_then(|value| usize::try_from(value).ok());
        if let Some(bits) = params.get(c"bits") {
            self.bits = small(bits).ok_or_else(|| wrong("bits"))?;
        }
        if let Some(primes) = params.get(c"primes") {
            self.primes = small(primes).ok_or_else(|| wrong("primes"))?;
        }
        if let Some(e) = params.get(c"e") {
            self.e = e.number().ok_or_else(|| wrong("e"))?.to_vec();
        }
        Ok(())
    }

    /// Makes the key.
    pub fn make(&self, progress: &Progress) -> Outcome<Key> {
        let provider = &self.provider;
        let key = if let Some(generator) = self.generator() {
            let key = self.search(&generator, progress)?;
            let key = provider.with_stack(|| with_settings(&key, &provider.settings))??;
            Key::with(Numbers::of(&key), Arithmetic::Private(key))
        } else {
            progress.tell(0, 0)?;
            self.generate_foreign()?
        };
        provider.counters.add(|counts| &counts.keys_generated, 1);
        progress.tell(3, 0)?;
        progress.tell(3, 1)?;
        Ok(key)
    }

    /// The generator, if zariz can make the key. OpenSSL must make keys with more than two primes, of other
    /// lengths, or with a public exponent that zariz does not take for new keys.
    fn generator(&self) -> Option<KeyGenerator> {
        let supported = self.primes == 2 && BITS.contains(&self.bits);
        supported.then(|| {
            KeyGenerator::new(self.bits).and_then(|generator| generator.with_exponent(&self.e)).ok()
        })?
    }

    /// Makes the key, and reports progress for each batch of candidates. In a job, it reports nothing: the
    /// search runs on another stack, on which the program's function must not pause the job.
    fn search(&self, generator: &KeyGenerator, progress: &Progress) -> Outcome<PrivateKey> {
        if job::is_running(&self.provider.openssl.libcrypto) {
            return Ok(self.provider.with_stack(|| generator.generate())??);
        }
        let (mut batches, mut told) = (0, Ok(()));
        let key = generator.generate_while(|| {
            told = progress.tell(0, batches);
            batches += 1;
            told.is_ok()
        });
        match (key, told) {
            (Err(KeyError::Primes(PrimeError::Cancelled)), Err(cancelled)) => Err(cancelled),
            (key, _) => Ok(key?),
        }
    }

    /// Leaves making the key to OpenSSL.
    fn generate_foreign(&self) -> Outcome<Key> {
        self.provider.note_fallback();
        let mut params = Built::default();
        params.unsigned(c"bits", self.bits);
        params.unsigned(c"primes", self.primes);
        params.number(c"e", &self.e);
        let key = Pkey::generate(&self.provider.openssl, &mut params)?;
        // SAFETY: an array of parameters, which lives as long as the call.
        let numbers =
            key.numbers(select::KEYPAIR, |params| Numbers::read(&unsafe { Params::new(params) }, true))??;
        Key::new(&self.provider, numbers)
    }
}
