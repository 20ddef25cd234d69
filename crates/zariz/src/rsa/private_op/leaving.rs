//! What leaves a private operation: results that were checked, each to the request that it was computed for.
//!
//! A fault may change a pointer, a length or a list in memory before or after the check with the public exponent. Then
//! something else could be written over a result, or to its place. So what leaves is compared with copies of what was
//! checked, after everything else of the operation is written and freed.

use std::hint::black_box;
use std::mem;

use zariz_kernels::limbs::{self, Numbers};
use zeroize::Zeroizing;

use super::super::crt::Request;
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
    /// Where these lists are in memory: what is known here twice cannot change in both places.
    memory: [Memory; 4],
}

/// What a request came with.
struct Came {
    /// The [identity](PrivateKey::identity) of its key.
    key: usize,
    /// The length of the key, in bytes.
    size: usize,
    /// Where its padded number is, which the result is written over.
    number: Memory,
    /// The address of the same number in limbs.
    limbs: usize,
}

/// The address, the length and the capacity of a list: so much of it leaves, is wiped, and is freed.
type Memory = (usize, usize, usize);

fn memory<T>(list: &Vec<T>) -> Memory {
    (list.as_ptr().addr(), list.len(), list.capacity())
}

impl Came {
    /// Whether this is the request's own number, where it was and as long as its key.
    fn owns(&self, number: &Vec<u8>) -> bool {
        memory(number) == self.number && number.len() == self.size
    }
}

/// An outcome as it is, with its tag written anew. A fault may have changed the tag to one that is neither `Ok` nor
/// `Err`, and a caller who looks twice could find both.
fn anew(outcome: Outcome) -> Outcome {
    black_box(outcome)
}

impl Leaving {
    /// No request has a result yet. Takes keys, padded numbers (or errors), and the numbers in limbs.
    pub fn new(keys: &[&PrivateKey], padded: &[Outcome], numbers: &Numbers) -> Self {
        let came = |((key, number), limbs): ((&&PrivateKey, &Outcome), &[u64])| Came {
            key: key.identity(),
            size: fault::size(key.size()),
            number: number.as_ref().map_or((0, 0, 0), |number| memory(number)),
            limbs: limbs.as_ptr().addr(),
        };
        let came = keys.iter().zip(padded).zip(numbers.iter()).map(came).collect();
        // Copies begin as all ones, which no result is. If a request's turn is missed, its padded number must not pass
        // as a result.
        let mut copies = numbers.clone();
        (0..copies.len()).for_each(|i| copies[i].fill(u64::MAX));
        let mut out = Self { results: missing::results(padded.iter()), copies, came, memory: Default::default() };
        out.memory = black_box(out.memory_now());
        out
    }

    fn memory_now(&self) -> [Memory; 4] {
        let [limbs, ends] = self.copies.memory();
        [memory(&self.results), limbs, ends, memory(&self.came)]
    }

    fn is_in_place(&self) -> bool {
        self.memory == self.memory_now()
    }

    /// Takes the result of a request and its copy, which were checked, and writes it over its padded number. The
    /// request, and the key of the caller, must be what came, and nothing may be cut or padded.
    pub fn put(
        &mut self,
        i: usize,
        (used, x): Request,
        [result, copy]: [&[u64]; 2],
        mut number: Zeroizing<Vec<u8>>,
        key: &PrivateKey,
    ) {
        let came = &self.came[i];
        if !came.owns(&number) {
            // What a damaged pointer points to must not be freed.
            mem::forget(number);
            return self.withhold(i);
        }
        let are_its_keys = [key, used].iter().all(|key| (key.identity(), key.size()) == (came.key, came.size));
        let limbs = [result.len(), copy.len(), self.copies[i].len()];
        if !are_its_keys || x.as_ptr().addr() != came.limbs || limbs != [came.size.div_ceil(8); 3] {
            return self.withhold(i);
        }
        limbs::to_be_bytes(result, &mut number);
        if self.is_in_place() {
            self.copies[i].copy_from_slice(copy);
            self.results[i] = Ok(number);
        }
    }

    /// The request gets [`Error::Fault`], and this is counted.
    pub fn withhold(&mut self, i: usize) {
        fault::note(1);
        self.refuse(i, Error::Fault);
    }

    /// The request gets an error.
    pub fn refuse(&mut self, i: usize, error: Error) {
        if self.is_in_place() {
            self.results[i] = Err(error);
        }
    }

    /// The results of `count` requests, without those that are not as they were checked.
    ///
    /// A function of its own, so that a debugger's interface sees where it begins: `zariz-attacks` injects faults.
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
            let number = match mem::replace(result, Err(Error::Fault)) {
                Ok(number) => number,
                Err(error) => {
                    *result = anew(Err(error));
                    continue;
                }
            };
            if !self.came[i].owns(&number) {
                mem::forget(number);
                fault::note(1);
            } else if revealed::result_is_right(limbs::be_bytes_equal(&number, &self.copies[i])) {
                *result = anew(Ok(number));
            } else {
                fault::note(1);
            }
        }
        mem::take(&mut self.results).into_boxed_slice()
    }
}

#[cfg(all(test, feature = "keygen"))]
mod tests {
    use super::*;

    fn number(padded: &mut Outcome) -> Zeroizing<Vec<u8>> {
        mem::replace(padded, Err(Error::Fault)).expect("a number")
    }

    #[test]
    fn what_is_not_as_it_was_checked_stays() {
        // Two of one key, and another.
        let [key, other] = [1024, 1032].map(|bits| PrivateKey::generate(bits).expect("a key"));
        let keys = [&key, &key, &other, &key];
        let results: Vec<_> = (2..).zip(keys).map(|(i, key)| vec![i; key.size().div_ceil(8)]).collect();
        let left = |change: &dyn Fn(&mut Leaving)| {
            let mut padded: Vec<Outcome> = keys.iter().map(|key| Ok(Zeroizing::new(vec![7; key.size()]))).collect();
            let numbers = missing::numbers(padded.iter());
            let mut leaving = Leaving::new(&keys, &padded, &numbers);
            for i in 0..3 {
                leaving.put(i, (keys[i], &numbers[i]), [&results[i]; 2], number(&mut padded[i]), keys[i]);
            }
            leaving.refuse(3, Error::Random);
            change(&mut leaving);
            leaving.leave(4).into_iter().map(|result| result.map(|bytes| bytes.to_vec())).collect::<Vec<_>>()
        };
        let right = |i: usize| {
            let mut bytes = vec![0; keys[i].size()];
            limbs::to_be_bytes(&results[i], &mut bytes);
            Ok(bytes)
        };
        let without = |missing: &[usize]| -> Vec<_> {
            (0..3)
                .map(|i| if missing.contains(&i) { Err(Error::Fault) } else { right(i) })
                .chain([Err(Error::Random)])
                .collect()
        };
        assert_eq!(left(&|_| ()), without(&[]));
        // A pointer, a length or a capacity; or its copy.
        for list in 0..4 {
            for change in [(1 << 8, 0, 0), (0, 1, 0), (0, 0, 1)] {
                let change = |it: &mut Leaving| {
                    let (address, len, capacity) = &mut it.memory[list];
                    (*address, *len, *capacity) = (*address ^ change.0, *len ^ change.1, *capacity ^ change.2);
                };
                assert_eq!(left(&change), [0; 4].map(|_| Err(Error::Fault)));
            }
        }
        // A list that has grown.
        assert_eq!(left(&|it| it.results.push(Err(Error::Random))), [0; 4].map(|_| Err(Error::Fault)));
        // A result, or what it is compared with.
        assert_eq!(left(&|it| it.results[0].as_mut().expect("a result")[3] ^= 1), without(&[0]));
        assert_eq!(left(&|it| it.copies[0][2] ^= 1 << 40), without(&[0]));
        // Other things were written over a list.
        assert_eq!(left(&|it| it.results[0] = Ok(Zeroizing::new(Vec::new()))), without(&[0]));
        assert_eq!(left(&|it| it.results.swap(0, 1)), without(&[0, 1]));
        assert_eq!(left(&|it| it.results.swap(1, 2)), without(&[1, 2]));
        // The place of a number, or its length.
        assert_eq!(left(&|it| it.came[1].number.0 ^= 1 << 4), without(&[1]));
        assert_eq!(left(&|it| it.came[1].size ^= 8), without(&[1]));
        // A request whose turn was missed, with its padded number as the result.
        let missed = |it: &mut Leaving| {
            it.results[1].as_mut().expect("a result").fill(7);
            it.copies[1].fill(u64::MAX);
        };
        assert_eq!(left(&missed), without(&[1]));
    }

    /// A result goes to nobody else's number, and is neither cut nor padded.
    #[test]
    fn results_of_other_requests_and_lengths_are_withheld() {
        let [key, other] = [(); 2].map(|()| PrivateKey::generate(1024).expect("a key"));
        let again = PrivateKey::parse(&key.to_pkcs8_der().expect("DER")).expect("a key");
        let clone = key.clone();
        // Without any bytes: a number in other memory, of the right length.
        let left = |[result, copy]: [usize; 2], bytes: usize, [caller, used]: [&PrivateKey; 2], of: usize| {
            let mut padded: Vec<Outcome> = (0..2).map(|_| Ok(Zeroizing::new(Vec::with_capacity(200)))).collect();
            padded.iter_mut().flatten().for_each(|number| number.resize(128, 7));
            let numbers = missing::numbers(padded.iter());
            let mut leaving = Leaving::new(&[&key; 2], &padded, &numbers);
            let mine = number(&mut padded[0]);
            let mut number = if bytes == 0 { Zeroizing::new(mine.to_vec()) } else { mine };
            number.resize(if bytes == 0 { 128 } else { bytes }, 0);
            leaving.put(0, (used, &numbers[of]), [&vec![1; result], &vec![1; copy]], number, caller);
            let results = leaving.leave(2);
            assert_eq!(results[1], Err(Error::Fault));
            results[0].clone().map(|number| number.to_vec())
        };
        assert_eq!(left([16; 2], 128, [&key, &clone], 0), Ok([0, 0, 0, 0, 0, 0, 0, 1].repeat(16)));
        for (limbs, bytes, keys, of) in [
            ([15, 16], 128, [&key, &key], 0),
            ([17, 16], 128, [&key, &key], 0),
            ([0, 16], 128, [&key, &key], 0),
            ([16, 15], 128, [&key, &key], 0),
            ([16, 17], 128, [&key, &key], 0),
            ([16, 16], 0, [&key, &key], 0),
            ([16, 16], 127, [&key, &key], 0),
            ([16, 16], 129, [&key, &key], 0),
            ([16, 16], 128, [&other, &key], 0),
            ([16, 16], 128, [&key, &other], 0),
            ([16, 16], 128, [&key, &again], 0),
            ([16, 16], 128, [&key, &key], 1),
        ] {
            let failures = fault::check_failures();
            assert_eq!(left(limbs, bytes, keys, of), Err(Error::Fault), "{limbs:?} limbs, {bytes} bytes, of {of}");
            assert!(fault::check_failures() > failures, "it was not counted");
        }
    }
}
