//! A cache of prepared keys and moduli, which are found again by their numbers.
//!
//! The numbers may be secret. A hash of their first words, with a random key of this process (SipHash), gives
//! the place of an entry. Without that key, the place reveals nothing about the numbers. Then all numbers are
//! compared with the entry's, in constant time. Only one thing shows: whether the numbers were seen before.
//!
//! Each cache keeps as many entries as [`SETTING`] says. When a cache is full, the entry that was used
//! longest ago is dropped and zeroised. A child of `fork` has its own caches, which begin empty.

use std::collections::HashMap;
use std::env;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::hint::black_box;
use std::sync::{Mutex, PoisonError};

use zariz_process::PerProcess;

use crate::lanes::{Lane, Words};

/// The environment variable that sets the most entries of each cache; 0 keeps nothing.
const SETTING: &str = "ZARIZ_CRYPTO_MB_KEYS";
/// The most entries without the setting. A private key takes about 14 KiB at 2048 bits, and 29 at 4096.
const DEFAULT: usize = 256;
/// How many words of the numbers are hashed.
const HASHED: usize = 4;

/// Prepared values of one kind.
pub struct Cache<T>(PerProcess<Mutex<Kept<T>>>);

struct Kept<T> {
    /// By the hash of their numbers.
    entries: HashMap<u64, Entry<T>, BuildHasherDefault<Hash>>,
    random: RandomState,
    most: usize,
    /// How often a value was looked up. It dates the last use of each entry.
    clock: u64,
}

struct Entry<T> {
    numbers: Words,
    value: T,
    used: u64,
}

/// Takes a hash as it is: the map's keys are hashes already.
#[derive(Default)]
struct Hash(u64);

impl Hasher for Hash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl<T: Clone> Cache<T> {
    /// An empty cache.
    pub const fn new() -> Self {
        Self(PerProcess::new())
    }

    /// The value for some numbers. If it is not there, `make` makes it, and no lock is held meanwhile.
    /// Failures are not kept.
    pub fn get(&self, numbers: &[u64], make: impl FnOnce() -> Lane<T>) -> Lane<T> {
        if let Some(value) = self.with(|kept| kept.find(numbers)) {
            return Ok(value);
        }
        let value = make()?;
        self.with(|kept| kept.insert(numbers, value.clone()));
        Ok(value)
    }

    fn with<R>(&self, function: impl FnOnce(&mut Kept<T>) -> R) -> R {
        let kept = self.0.get_or_init(|inherited| {
            // The parent's entries are wiped, unless one of its threads was changing them.
            if let Some(Ok(mut kept)) = inherited.map(Mutex::try_lock) {
                kept.entries.clear();
            }
            Mutex::new(Kept::new(most(env::var(SETTING).ok().as_deref())))
        });
        function(&mut kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The most entries, from the text of the setting. Text that is not a number is ignored.
fn most(setting: Option<&str>) -> usize {
    setting.and_then(|text| text.parse().ok()).unwrap_or(DEFAULT)
}

impl<T: Clone> Kept<T> {
    fn new(most: usize) -> Self {
        Self { entries: HashMap::default(), random: RandomState::new(), most, clock: 0 }
    }

    fn place(&self, numbers: &[u64]) -> u64 {
        self.random.hash_one((numbers.len(), &numbers[..numbers.len().min(HASHED)]))
    }

    fn find(&mut self, numbers: &[u64]) -> Option<T> {
        let place = self.place(numbers);
        self.clock += 1;
        let entry = self.entries.get_mut(&place).filter(|entry| equal(&entry.numbers, numbers))?;
        entry.used = self.clock;
        Some(entry.value.clone())
    }

    /// Numbers replace others that have the same hash.
    fn insert(&mut self, numbers: &[u64], value: T) {
        let place = self.place(numbers);
        if self.entries.len() >= self.most && !self.entries.contains_key(&place) {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(&place, _)| place);
            match oldest {
                Some(oldest) => drop(self.entries.remove(&oldest)),
                None => return, // nothing is kept
            }
        }
        self.entries.insert(place, Entry { numbers: Words::new(numbers.to_vec()), value, used: self.clock });
    }
}

/// Whether both are equal, in time that depends only on the lengths.
fn equal(a: &[u64], b: &[u64]) -> bool {
    a.len() == b.len() && black_box(a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b))) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::Failure;

    fn number(name: u64) -> Words {
        Words::new(vec![name; HASHED + 12])
    }

    /// Whether the value is there.
    fn has(kept: &mut Kept<u64>, name: u64) -> bool {
        let found = kept.find(&number(name));
        assert!(found.is_none_or(|value| value == name));
        found.is_some()
    }

    #[test]
    fn the_entry_that_was_used_longest_ago_leaves() {
        let mut kept = Kept::new(2);
        for name in [1, 2] {
            kept.insert(&number(name), name);
        }
        assert!(has(&mut kept, 1));
        kept.insert(&number(3), 3);
        assert_eq!([1, 2, 3].map(|name| has(&mut kept, name)), [true, false, true]);
        let mut none = Kept::new(0);
        none.insert(&number(1), 1);
        assert!(!has(&mut none, 1) && none.entries.is_empty());
    }

    /// Every word counts, including words that are not hashed.
    #[test]
    fn other_numbers_are_not_found() {
        let mut kept = Kept::new(2);
        kept.insert(&number(1), 1);
        for at in 0..number(1).len() {
            let mut other = number(1);
            other[at] ^= 1 << 63;
            assert!(kept.find(&other).is_none(), "word {at}");
        }
        assert!(kept.find(&number(1)[1..]).is_none() && kept.find(&[]).is_none());
        // Numbers with the same hash take the place.
        let mut other = number(1);
        other[HASHED] ^= 1;
        kept.insert(&other, 7);
        assert!(kept.find(&other) == Some(7) && !has(&mut kept, 1));
    }

    #[test]
    fn values_are_made_once_and_failures_again() {
        let cache = Cache::new();
        let failed = cache.get(&number(1), || Err(Failure::Mismatch));
        assert_eq!(failed, Err(Failure::Mismatch));
        assert_eq!(cache.get(&number(1), || Ok(1)), Ok(1));
        assert_eq!(cache.get(&number(1), || Err(Failure::Mismatch)), Ok(1));
        // What a fork does.
        zariz_process::note_fork();
        assert_eq!(cache.get(&number(1), || Ok(2)), Ok(2), "a child's cache is its own");
    }

    #[test]
    fn settings() {
        assert_eq!([None, Some("0"), Some("1000"), Some("many")].map(most), [DEFAULT, 0, 1000, DEFAULT]);
    }
}
