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
    /// The addresses of the results and of their copies: the pointers to them may change, and these may, but not both.
    addresses: [usize; 2],
}

/// What a request came with.
struct Came {
    /// The [identity](PrivateKey::identity) of its key.
    key: usize,
    /// The length of the key, in bytes.
    size: usize,
}

impl Leaving {
    /// Requests that have no result yet: their keys, padded numbers or errors, and the same in limbs.
    pub fn new(keys: &[&PrivateKey], padded: &[Outcome], numbers: &Numbers) -> Self {
        let came = |key: &&PrivateKey| Came { key: key.identity(), size: fault::size(key.size()) };
        let (came, copies) = (keys.iter().map(came).collect(), numbers.clone());
        // Not in the memory of the numbers: one whose turn is missed, by a fault, would leave as a result.
        let mut out = Self { results: missing::results(padded.iter()), copies, came, addresses: [0; 2] };
        out.addresses = black_box(out.addresses_now());
        out
    }

    fn addresses_now(&self) -> [usize; 2] {
        [self.results.as_ptr().addr(), self.copies.iter().next().map_or(0, |copy| copy.as_ptr().addr())]
    }

    fn is_in_place(&self) -> bool {
        self.addresses == self.addresses_now()
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
        let Came { key, size } = self.came[i];
        let are_its_keys = keys.iter().all(|used| (used.identity(), used.size()) == (key, size));
        let limbs = [result.len(), copy.len(), self.copies[i].len()];
        if !are_its_keys || number.len() != size || limbs != [size.div_ceil(8); 3] {
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
    pub fn leave(mut self, count: usize) -> Vec<Outcome> {
        self.copies = fault::pass(Place::Leaving, mem::take(&mut self.copies));
        if !self.is_in_place() || self.results.len() != count {
            // What a damaged pointer points to must not be freed.
            mem::forget(self);
            fault::note(count);
            return (0..count).map(|_| Err(Error::Fault)).collect();
        }
        for (i, result) in self.results.iter_mut().enumerate() {
            let is_as_checked = |bytes: &[u8]| limbs::be_bytes_equal(bytes, &self.copies[i]);
            if result.as_ref().is_ok_and(|bytes| !revealed::result_is_right(is_as_checked(bytes))) {
                fault::note(1);
                *result = Err(Error::Fault);
            }
        }
        mem::take(&mut self.results)
    }
}

#[cfg(all(test, feature = "keygen"))]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_as_it_was_checked_stays() {
        let keys = [1024, 1032, 1024].map(|bits| PrivateKey::generate(bits).expect("a key"));
        let keys = keys.each_ref();
        let padded: Vec<Outcome> = keys.iter().map(|key| Ok(Zeroizing::new(vec![7; key.size()]))).collect();
        let numbers = missing::numbers(padded.iter());
        let results: Vec<_> = keys.iter().map(|key| vec![5; key.size().div_ceil(8)]).collect();
        let left = |change: &dyn Fn(&mut Leaving)| {
            let mut leaving = Leaving::new(&keys, &padded, &numbers);
            leaving.put(0, [&results[0]; 2], padded[0].clone().expect("a number"), [keys[0]; 2]);
            change(&mut leaving);
            leaving.put(1, [&results[1]; 2], padded[1].clone().expect("a number"), [keys[1]; 2]);
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
        // A pointer, or its copy.
        assert_eq!(left(&|it| it.addresses[0] ^= 1 << 8), none);
        assert_eq!(left(&|it| it.addresses[1] ^= 1 << 8), none);
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
    }

    /// A result goes to nobody else's number, and is neither cut nor padded.
    #[test]
    fn results_of_other_keys_and_lengths_are_withheld() {
        let [key, other] = [(); 2].map(|()| PrivateKey::generate(1024).expect("a key"));
        let again = PrivateKey::parse(&key.to_pkcs8_der().expect("DER")).expect("a key");
        let clone = key.clone();
        let padded: [Outcome; 1] = [Ok(Zeroizing::new(vec![7; 128]))];
        let numbers = missing::numbers(padded.iter());
        let left = |[result, copy]: [usize; 2], bytes: usize, used: [&PrivateKey; 2]| {
            let mut leaving = Leaving::new(&[&key], &padded, &numbers);
            leaving.put(0, [&vec![1; result], &vec![1; copy]], vec![0; bytes].into(), used);
            leaving.leave(1).swap_remove(0).map(|number| number.to_vec())
        };
        assert_eq!(left([16; 2], 128, [&key, &clone]), Ok([0, 0, 0, 0, 0, 0, 0, 1].repeat(16)));
        for (limbs, bytes, used) in [
            ([15, 16], 128, [&key, &key]),
            ([17, 16], 128, [&key, &key]),
            ([0, 16], 128, [&key, &key]),
            ([16, 15], 128, [&key, &key]),
            ([16, 17], 128, [&key, &key]),
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
