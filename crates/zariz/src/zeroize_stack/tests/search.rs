//! A search of all memory for the digits of a key, while the thread that used the key stands still.

use std::collections::HashMap;
use std::fs::{self, File};
use std::hint::black_box;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use zariz_kernels::batch::Constants;
use zariz_kernels::batch::block::TERM;
use zariz_kernels::batch::tiled::STEP;
use zariz_kernels::limbs::{self, Limbs};
use zariz_kernels::pair;
use zariz_kernels::rsaz::{self, digit_bits_for};

use super::{HIDDEN_MARK, MARKED, MARKING, on_a_large_stack};
use crate::rsa::Components;

/// The digits of secret numbers, hidden by a mask: the list itself must not be found.
pub struct Digits {
    words: HashMap<u64, &'static str>,
    /// Neighbours of fewer than 32 bits, which are too short to search for alone.
    pairs: HashMap<u64, &'static str>,
    /// A bit for each hash of a word: most words of the memory need no more.
    filter: Vec<bool>,
}

const MASK: u64 = 0xc2b2_ae3d_27d4_eb4f;

/// Bytes that are searched together, or passed over if all are zero.
const PAGE: usize = 1 << 12;

fn hash(masked: u64) -> usize {
    (masked.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 46) as usize
}

impl Digits {
    pub fn of(numbers: &Components) -> Self {
        let mut all = Self { words: HashMap::new(), pairs: HashMap::new(), filter: vec![false; 1 << 18] };
        let Components { n, e: _, d, p, q, dp, dq, qinv } = numbers;
        let given = [(d, "d"), (p, "p"), (q, "q"), (dp, "dP"), (dq, "dQ"), (qinv, "qInv")];
        let given = given.map(|(bytes, name)| (limbs::from_be_bytes(bytes), name));
        let constants = [&given[1].0, &given[2].0].map(|prime| constants(prime)).concat();
        // 1 modulo one prime and 0 modulo the other.
        let unit = limbs::mul(&given[2].0, &given[5].0);
        let mut other = limbs::from_be_bytes(n);
        limbs::sub_assign(&mut other, &unit);
        limbs::add_assign(&mut other, &[1]);
        let others = [(unit, "the unit of p"), (other, "the unit of q")];
        for (number, name) in given.into_iter().chain(constants).chain(others) {
            let digits =
                |width: u32| limbs::digits_of(&number, width, (64 * number.len()).div_ceil(width as usize));
            number
                .iter()
                .for_each(|&limb| all.add(name, limb, &[limb, limb.swap_bytes(), limb.rotate_left(32)]));
            for width in [51, 52] {
                digits(width).iter().for_each(|&digit| all.add_digit(name, digit));
            }
            let short = digits(digit_bits_for(8 * p.len()));
            short.windows(2).filter(|pair| pair.iter().all(|digit| digit >> 16 != 0)).for_each(|pair| {
                all.pairs.insert((pair[0] | pair[1] << 32) ^ MASK, name);
            });
        }
        for prime in [p, q] {
            in_segments(&limbs::from_be_bytes(prime), |digit| all.add_digit(IN_SEGMENTS, digit));
        }
        all.add(MARKED, u64::MAX, &[!HIDDEN_MARK]);
        all
    }

    /// As an integer, as a floating-point number, and as an integer in the fraction of such a number.
    fn add_digit(&mut self, name: &'static str, digit: u64) {
        let in_fraction = digit | ((1u64 << 52) as f64).to_bits();
        self.add(name, digit, &[digit, (digit as f64).to_bits(), in_fraction]);
    }

    /// Short ones are left out: other numbers are equal to them.
    fn add(&mut self, name: &'static str, digit: u64, forms: &[u64]) {
        for &form in forms.iter().filter(|_| digit >> 40 != 0) {
            self.words.entry(form ^ MASK).or_insert(name);
            self.filter[hash(form ^ MASK)] = true;
        }
    }

    /// Leaves digits on the stack, in `WORDS` words.
    #[inline(never)]
    pub fn spill<const WORDS: usize>(&self) {
        let digit = self.words.keys().next().expect("a digit") ^ MASK;
        black_box(&mut [digit; WORDS]);
    }

    /// Where the memory of this process has one of the digits, at any byte, apart from the caller's stack.
    fn search(&self) -> Vec<Found> {
        let memory = File::open("/proc/self/mem").expect("this process's memory");
        // A copy of what is searched, which is no place to search.
        let mut copy = vec![0u8; 1 << 20];
        let copied = copy.as_ptr() as u64..copy.as_ptr() as u64 + copy.len() as u64;
        let stack = black_box(&raw const memory) as u64;
        let mut found = Vec::new();
        for (range, mapping) in writable().into_iter().filter(|(range, _)| !range.contains(&stack)) {
            for from in range.clone().step_by(copy.len() - 16) {
                let len = (range.end - from).min(copy.len() as u64) as usize;
                // Other threads may have given the memory back.
                if memory.read_exact_at(&mut copy[..len], from).is_err() {
                    continue;
                }
                let word = |at: usize| u64::from_ne_bytes(copy[at..at + 8].try_into().expect("eight bytes"));
                // Most memory has never been written.
                let is_blank = |at: usize| copy[at..len.min(at + PAGE + 8)].iter().all(|&byte| byte == 0);
                let pages = (0..len).step_by(PAGE).filter(|&at| !is_blank(at));
                for at in pages.flat_map(|at| at..(at + PAGE).min(len.saturating_sub(7))) {
                    let (address, this) = (from + at as u64, word(at) ^ MASK);
                    let name = if self.filter[hash(this)] { self.words.get(&this) } else { None };
                    let pair = || {
                        let is_pair = address % 8 == 0 && at + 16 <= len && (this ^ MASK) >> 32 == 0;
                        let next = if is_pair { word(at + 8) } else { 0 };
                        let is_short = next != 0 && next >> 32 == 0;
                        if is_short { self.pairs.get(&(this ^ next << 32)) } else { None }
                    };
                    if let Some(&number) = name.or_else(pair).filter(|_| !copied.contains(&address)) {
                        found.push(Found { number, address, mapping: mapping.clone() });
                    }
                }
            }
        }
        copy.fill(0);
        black_box(&mut copy);
        found
    }
}

/// What numbers across vectors compute with: digits of a prime's segments, and of what is prepared of it for
/// them, where no other arithmetic has them.
pub const IN_SEGMENTS: &str = "a prime in segments";

/// Gives the digits of [`IN_SEGMENTS`] to `add`, for one number in a vector and for two.
fn in_segments(prime: &[u64], mut add: impl FnMut(u64)) {
    for count in 1..=pair::MAX_COUNT {
        let shape = pair::Shape::new(limbs::bits(prime), count);
        let (s, r) = (shape.segment_bits(), shape.bits());
        let mut inverse = limbs::negative_inverse_many(prime, s / 64 + 1);
        inverse[s / 64] &= (1 << (s % 64)) - 1;
        let mut multiple = limbs::mul(prime, &inverse);
        limbs::add_assign(&mut multiple, &[1]);
        let powers = [r, 2 * r, 2 * r - s].map(|e| limbs::power_of_two(e, prime));
        let from_bit_0 = powers.iter().chain([&inverse]).map(|number| (&number[..], 0));
        for (number, from) in from_bit_0.chain([(prime, 0), (&multiple[..], s)]) {
            for k in 0..shape.segments() {
                let mut digits = limbs::zero(shape.vectors);
                limbs::to_digits(number, from + s * k, pair::DIGIT_BITS, &mut digits);
                digits[shape.vectors - 1] &= (1 << pair::TOP_BITS) - 1;
                digits.iter().for_each(|&digit| add(digit));
            }
        }
    }
}

/// What other arithmetics compute with in place of a prime: powers of two modulo it, its inverse modulo a
/// power of two, and the multiples that are −1 modulo such a power.
fn constants(prime: &[u64]) -> Vec<(Limbs, &'static str)> {
    let bits = limbs::bits(prime);
    let short = digit_bits_for(bits);
    let rsaz = (short, rsaz::digits_for(bits, short));
    let needed = |width| Constants::digits_for(bits, width);
    let batch = [51, 52].map(|width| (width, zariz_machines::batch::digits(None, needed(width), width)));
    let of = |(width, count): (u32, usize)| {
        let w = width as usize;
        let inverses = [1, 2, 4, STEP, TERM].map(|rows| {
            let inverse = limbs::negative_inverse_many(prime, (rows * w).div_ceil(64));
            let mut mu = limbs::zero(inverse.len());
            limbs::from_digits(&limbs::digits_of(&inverse, width, rows), width, &mut mu);
            let mut multiple = limbs::mul(prime, &mu);
            limbs::add_assign(&mut multiple, &[1]);
            let mut friendly = limbs::zero(prime.len() + 1);
            limbs::from_digits(
                &limbs::digits_of(&multiple, width, count + rows)[rows..],
                width,
                &mut friendly,
            );
            [(friendly, "a multiple of a prime"), (mu, "the inverse of a prime")]
        });
        let [.., (multiple, _), _] = inverses.as_flattened() else { unreachable!("multiples") };
        let differences =
            [multiple, prime].map(|number| differences_of_halves(number, width, count)).concat();
        let power = |digits: usize| limbs::power_of_two(w * digits, prime);
        let powers = [
            (power(count), "R mod a prime"),
            (power(2 * count), "R² mod a prime"),
            (power(2 * count - 1), "R² without a digit mod a prime"),
        ];
        differences.into_iter().chain(inverses.into_iter().flatten()).chain(powers).collect::<Vec<_>>()
    };
    let limbwise = [1, 2].map(|e| (limbs::power_of_two(e * 64 * prime.len(), prime), "R or R² mod a prime"));
    batch.into_iter().chain([rsaz]).flat_map(of).chain(limbwise).collect()
}

/// Of each term of a number, its upper half less its lower one, modulo the radix of a half.
fn differences_of_halves(number: &[u64], width: u32, count: usize) -> Vec<(Limbs, &'static str)> {
    let difference = |term: &[u64]| {
        let (low, high) = term.split_at(TERM / 2);
        let mut borrow = 0;
        let digits = low.iter().zip(high).map(|(low, high)| {
            let signed = high.wrapping_sub(*low).wrapping_sub(borrow);
            borrow = signed >> 63;
            signed & ((1 << width) - 1)
        });
        let mut out = limbs::zero((TERM / 2 * width as usize).div_ceil(64));
        limbs::from_digits(&Limbs::new(digits.collect()), width, &mut out);
        (out, "a difference of halves")
    };
    limbs::digits_of(number, width, count).chunks_exact(TERM).map(difference).collect()
}

/// A digit of a key in the memory.
#[derive(Debug, PartialEq)]
pub struct Found {
    pub number: &'static str,
    pub address: u64,
    mapping: String,
}

/// The mappings of this process that can be written, with their names.
fn writable() -> Vec<(Range<u64>, String)> {
    let maps = fs::read_to_string("/proc/self/maps").expect("this process's mappings");
    let mapping = |line: &str| {
        let mut fields = line.split_whitespace();
        let (range, access) = (fields.next()?, fields.next()?);
        let (start, end) = range.split_once('-')?;
        let [start, end] = [start, end].map(|address| u64::from_str_radix(address, 16).expect("an address"));
        access.starts_with("rw").then(|| (start..end, fields.nth(3).unwrap_or("anonymous").to_owned()))
    };
    maps.lines().filter_map(mapping).collect()
}

/// Held by the test that searches: a search copies memory, in which another would find its own key.
static ALONE: Mutex<()> = Mutex::new(());

/// Ends a search: the searcher's thread if the test panics, and the test if that thread does.
struct End<'a>(&'a Searcher);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Release);
    }
}

/// A thread that searches when it is asked.
#[derive(Default)]
pub struct Searcher {
    pub digits: OnceLock<Digits>,
    asked: AtomicBool,
    ended: AtomicBool,
    found: Mutex<Vec<Found>>,
}

impl Searcher {
    /// Runs `test` on a large stack, and searches on another when it asks.
    pub fn with(test: impl FnOnce(&Self) + Send) {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let searcher = Self::default();
        thread::scope(|scope| {
            scope.spawn(|| searcher.serve());
            let _end = End(&searcher);
            on_a_large_stack(|| {
                MARKING.set(true);
                test(&searcher);
            });
        });
    }

    fn serve(&self) {
        let _end = End(self);
        while !self.ended.load(Ordering::Acquire) {
            if self.asked.load(Ordering::Acquire) {
                let found = self.digits.get().map(Digits::search);
                *self.found.lock().expect("no panic") = found.unwrap_or_default();
                self.asked.store(false, Ordering::Release);
            }
            thread::yield_now();
        }
    }

    /// What is found while this thread stands still: what is below the caller's frame stays as it is, apart
    /// from the return addresses of a system call.
    #[inline(always)]
    pub fn search(&self) -> Vec<Found> {
        self.asked.store(true, Ordering::Release);
        while self.asked.load(Ordering::Acquire) {
            assert!(!self.ended.load(Ordering::Acquire), "the search panicked");
            thread::yield_now();
        }
        std::mem::take(&mut self.found.lock().expect("no panic"))
    }
}
