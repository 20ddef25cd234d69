//! What leaves a private operation: results that were checked, each to the request that it was computed for.
//!
//! A fault may change a pointer, a length or a list in memory before or after the check with the public exponent. Then
//! something else could be written over a result, or to its place. So what leaves is compared with copies of what was
//! checked, after everything else of the operation is written and freed.

use std::hint::black_box;
use std::mem;

use zariz_kernels::limbs::{self, Numbers};
use zeroize::Zeroizing;

use super::super::error::Error;
use super::super::fault::{self, Place};
use super::super::missing;
use super::super::private::PrivateKey;
use super::Results;
use crate::revealed;

/// The result of a request, or its error.
type Outcome = Result<Zeroizing<Vec<u8>>, Error>;

/// The results of all requests, in order.
pub(super) struct Leaving {
    results: Vec<Outcome>,
    /// Copies of the results, as they were checked.
    copies: Numbers,
    /// What each request came with.
    came: Vec<Came>,
    /// Where the results and their copies are in memory: what is known here twice cannot change in both places.
    memory: [Memory; 2],
}

/// What a request came with.
struct Came {
    /// The [identity](PrivateKey::identity) of its key.
    key: usize,
    /// The length of the key, in bytes.
    size: usize,
    /// Where its number is, which the result is written over.
    number: Memory,
}

/// The address of a list's memory, and how many elements fit there: so much is freed, and wiped.
type Memory = (usize, usize);

fn memory<T>(list: &Vec<T>) -> Memory {
    (list.as_ptr().addr(), list.capacity())
}

impl Leaving {
    /// Requests that have no result yet: their keys, padded numbers or errors, and the same in limbs.
    pub fn new(keys: &[&PrivateKey], padded: &[Outcome], numbers: &Numbers) -> Self {
        let came = |(key, number): (&&PrivateKey, &Outcome)| Came {
            key: key.identity(),
            size: fault::size(key.size()),
            number: number.as_ref().map_or((0, 0), |number| memory(number)),
        };
        let came = keys.iter().zip(padded).map(came).collect();
        // No result is all ones. A padded number, which its copy could be, must not leave when its turn is missed.
        let mut copies = numbers.clone();
        (0..copies.len()).for_each(|i| copies[i].fill(u64::MAX));
        let mut out = Self { results: missing::results(padded.iter()), copies, came, memory: Default::default() };
        out.memory = black_box(out.memory_now());
        out
    }

    fn memory_now(&self) -> [Memory; 2] {
        [memory(&self.results), self.copies.memory()]
    }

    fn is_in_place(&self) -> bool {
        self.memory == self.memory_now()
    }

    /// Takes a result and its copy, which were checked, and writes it over its number. `keys`, that of the caller and
    /// the one that was used, must be what the request came with, and nothing may be cut or padded.
    pub fn put(
        &mut self,
        i: usize,
        [result, copy]: [&[u64]; 2],
        mut number: Zeroizing<Vec<u8>>,
        keys: [&PrivateKey; 2],
    ) {
        let came = &self.came[i];
        let are_its_keys = keys.iter().all(|used| (used.identity(), used.size()) == (came.key, came.size));
        let is_its_number = memory(&number) == came.number && number.len() == came.size;
        let limbs = [result.len(), copy.len(), self.copies[i].len()];
        if !are_its_keys || !is_its_number || limbs != [came.size.div_ceil(8); 3] {
            return self.refuse(i, Error::Fault);
        }
        limbs::to_be_bytes(result, &mut number);
        if self.is_in_place() {
            self.copies[i].copy_from_slice(copy);
            self.results[i] = Ok(number);
        }
    }

    /// The request gets an error.
    pub fn refuse(&mut self, i: usize, error: Error) {
        if self.is_in_place() {
            self.results[i] = Err(error);
        }
    }

    /// The results of `count` requests, without those that are not as they were checked.
    ///
    /// A function of its own, so that a debugger's interface sees where it ends: `zariz-attacks` injects faults.
    #[inline(never)]
    pub fn leave(mut self, count: usize) -> Results<Zeroizing<Vec<u8>>> {
        self.copies = fault::pass(Place::Leaving, mem::take(&mut self.copies));
        // What a damaged pointer points to must not be freed.
        if !self.is_in_place() || self.results.len() != count {
            mem::forget(self);
            fault::note(count);
            return (0..count).map(|_| Err(Error::Fault)).collect();
        }
        for (i, result) in self.results.iter_mut().enumerate() {
            let Ok(number) = result else { continue };
            let is_in_place = memory(number) == self.came[i].number;
            if is_in_place && revealed::result_is_right(limbs::be_bytes_equal(number, &self.copies[i])) {
                continue;
            }
            fault::note(1);
            let withheld = mem::replace(result, Err(Error::Fault));
            if !is_in_place {
                mem::forget(withheld);
            }
        }
        mem::take(&mut self.results).into_boxed_slice()
    }
}

#[cfg(all(test, feature = "keygen"))]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_as_it_was_checked_stays() {
        let keys = [1024, 1032, 1024].map(|bits| PrivateKey::generate(bits).expect("a key"));
        let keys = keys.each_ref();
        let results: Vec<_> = keys.iter().map(|key| vec![5; key.size().div_ceil(8)]).collect();
        let left = |change: &dyn Fn(&mut Leaving)| {
            let mut padded: Vec<Outcome> = keys.iter().map(|key| Ok(Zeroizing::new(vec![7; key.size()]))).collect();
            let mut leaving = Leaving::new(&keys, &padded, &missing::numbers(padded.iter()));
            let mut number = |i: usize| mem::replace(&mut padded[i], Err(Error::Fault)).expect("a number");
            leaving.put(0, [&results[0]; 2], number(0), [keys[0]; 2]);
            change(&mut leaving);
            leaving.put(1, [&results[1]; 2], number(1), [keys[1]; 2]);
            leaving.refuse(2, Error::Random);
            leaving.leave(3).into_iter().map(|result| result.map(|bytes| bytes.to_vec())).collect::<Vec<_>>()
        };
        let right = |i: usize| {
            let mut bytes = vec![0; keys[i].size()];
            limbs::to_be_bytes(&results[i], &mut bytes);
            Ok(bytes)
        };
        assert_eq!(left(&|_| ()), [right(0), right(1), Err(Error::Random)]);
        let none = [0; 3].map(|_| Err(Error::Fault));
        // A pointer or a capacity, or its copy.
        for list in 0..2 {
            assert_eq!(left(&|it| it.memory[list].0 ^= 1 << 8), none);
            assert_eq!(left(&|it| it.memory[list].1 ^= 1), none);
        }
        // A list of another length.
        assert_eq!(left(&|it| it.results.push(Err(Error::Random))), none);
        // A result, or what it is compared with; and a list that was written over a result.
        let without_first = [Err(Error::Fault), right(1), Err(Error::Random)];
        assert_eq!(left(&|it| it.results[0].as_mut().expect("a result")[3] ^= 1), without_first);
        assert_eq!(left(&|it| it.copies[0][2] ^= 1 << 40), without_first);
        assert_eq!(left(&|it| it.results[0] = Ok(Zeroizing::new(Vec::new()))), without_first);
        // What the second request came with.
        let without_second = [right(0), Err(Error::Fault), Err(Error::Random)];
        assert_eq!(left(&|it| it.came[1].size -= 8), without_second);
        assert_eq!(left(&|it| it.came.swap(1, 2)), without_second);
        assert_eq!(left(&|it| it.came[1].number.0 ^= 1 << 4), without_second);
        // The number of another request, when both have arrived.
        assert_eq!(left(&|it| it.came[0].number.0 ^= 1 << 4), without_first);
    }

    /// A result goes to nobody else's number, and is neither cut nor padded.
    #[test]
    fn results_of_other_keys_and_lengths_are_withheld() {
        let [key, other] = [(); 2].map(|()| PrivateKey::generate(1024).expect("a key"));
        let again = PrivateKey::parse(&key.to_pkcs8_der().expect("DER")).expect("a key");
        let clone = key.clone();
        // Without any bytes: a number in other memory, of the right length.
        let left = |[result, copy]: [usize; 2], bytes: usize, used: [&PrivateKey; 2]| {
            let mut padded: [Outcome; 1] = [Ok(Zeroizing::new(Vec::with_capacity(200)))];
            padded.iter_mut().flatten().for_each(|number| number.resize(128, 7));
            let mut leaving = Leaving::new(&[&key], &padded, &missing::numbers(padded.iter()));
            let [number] = padded.map(|number| number.expect("a number"));
            let other = Zeroizing::new(number.to_vec());
            let mut number = if bytes == 0 { other } else { number };
            number.resize(if bytes == 0 { 128 } else { bytes }, 0);
            leaving.put(0, [&vec![1; result], &vec![1; copy]], number, used);
            leaving.leave(1)[0].clone().map(|number| number.to_vec())
        };
        assert_eq!(left([16; 2], 128, [&key, &clone]), Ok([0, 0, 0, 0, 0, 0, 0, 1].repeat(16)));
        for (limbs, bytes, used) in [
            ([15, 16], 128, [&key, &key]),
            ([17, 16], 128, [&key, &key]),
            ([0, 16], 128, [&key, &key]),
            ([16, 15], 128, [&key, &key]),
            ([16, 17], 128, [&key, &key]),
            ([16, 16], 0, [&key, &key]),
            ([16, 16], 127, [&key, &key]),
            ([16, 16], 129, [&key, &key]),
            ([16, 16], 128, [&other, &key]),
            ([16, 16], 128, [&key, &other]),
            ([16, 16], 128, [&key, &again]),
        ] {
            assert_eq!(left(limbs, bytes, used), Err(Error::Fault), "{limbs:?} limbs, {bytes} bytes");
        }
    }
}
