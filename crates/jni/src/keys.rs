//! Keys that Java holds by their handles. Handles are not used again: that of a freed key gives an error,
//! never another key.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock, RwLockReadGuard};

use zariz::rsa::{PrivateKey, PublicKey};

use crate::protocol::{Failure, Status};

/// A key of either kind.
pub enum Key {
    Private(PrivateKey),
    Public(PublicKey),
}

/// The keys, and the last handle.
#[derive(Default)]
pub struct Keys(HashMap<u64, Key>, u64);

static KEYS: LazyLock<RwLock<Keys>> = LazyLock::new(<_>::default);

/// The keys, locked for reading while the jobs of a batch are made. No thread computes with this lock held.
pub fn read() -> RwLockReadGuard<'static, Keys> {
    KEYS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a key; returns its handle.
pub fn insert(key: Key) -> u64 {
    let mut keys = KEYS.write().unwrap_or_else(PoisonError::into_inner);
    keys.1 += 1;
    let handle = keys.1;
    keys.0.insert(handle, key);
    handle
}

/// Frees a key. Its numbers are wiped when the last computation with it has ended.
pub fn remove(handle: u64) {
    let key = KEYS.write().unwrap_or_else(PoisonError::into_inner).0.remove(&handle);
    drop(key); // without the lock
}

impl Keys {
    /// The private key of a handle.
    pub fn private(&self, handle: u64) -> Result<PrivateKey, Failure> {
        match self.0.get(&handle) {
            Some(Key::Private(key)) => Ok(key.clone()),
            _ => Err(unknown(handle)),
        }
    }

    /// The public key of a handle.
    pub fn public(&self, handle: u64) -> Result<PublicKey, Failure> {
        match self.0.get(&handle) {
            Some(Key::Public(key)) => Ok(key.clone()),
            _ => Err(unknown(handle)),
        }
    }
}

fn unknown(handle: u64) -> Failure {
    Failure(Status::Malformed, format!("no key of the kind needed has the handle {handle}"))
}
