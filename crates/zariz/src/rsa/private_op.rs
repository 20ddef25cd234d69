//! The private operation `x^d mod n` for many requests, of one key or several: blinded, by the Chinese
//! remainder theorem, checked.
//!
//! `mask` and `unmask` are random, with `mask·unmask^e ≡ 1 (mod n)` ([`blinding`]). With `n = p·q`,
//! `U ≡ 1 (mod p)`, `U ≡ 0 (mod q)`, and `V` the other way round:
//!
//! 1. `x' = x·mask mod n`
//! 2. `y_p = x'^{d mod (p−1)} mod p`, `y_q = x'^{d mod (q−1)} mod q`: nearly all of the work
//! 3. `y' = y_p·U + y_q·V mod n`, which is `x'^d`
//! 4. `y = y'·unmask mod n`
//! 5. return `y` only if `y^e ≡ x (mod n)`
//!
//! A wrong result of step 3 would reveal a factor of `n` (Boneh, DeMillo and Lipton 1997). So a result that
//! fails step 5 is computed again without the theorem, with a fresh mask, or is withheld.
//!
//! As many requests as the engine has lanes are computed together, one in each lane. With fewer, the halves
//! of step 2 are moved together, so that they fill lanes.
//!
//! # Factors of R
//!
//! A Montgomery product is `a·b/R`; `[a]` is `a·R`, Montgomery form. Step 1 is `x·[mask]/R = x·mask`, plain.
//! Step 3 multiplies plain numbers, so it gives `y'/R`. Step 4 gives `(y'/R)·[unmask]/R = y/R`; a product
//! with `R²` makes it `y`.
//!
//! # Bounds
//!
//! Numbers are those of [`zariz_kernels::Montgomery`]. `y_p·U` and `y_q·V` are products of a number below `R`
//! and one below `n`, so below `3n`, and their sum is below `6n < R`. It is multiplied by `unmask`, below
//! `3n`: the product is below `18n²/R + 2n < 5n`, for `R ≥ 8n`. The last product, by a plain number below
//! `n`, is below `3n` then. `analysis` proves these, as it does the arithmetic's. In limbs there is no bound
//! but `R`: sums are reduced.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};

use zariz_kernels::limbs::{self, Numbers};
use zariz_kernels::place::{AlignedBuf, Pool};
use zariz_kernels::{Montgomery, pow};
use zeroize::Zeroizing;

use super::blinding;
use super::blinding::pool::Blind;
use super::error::Error;
use super::missing;
use super::private::PrivateKey;
use super::secrets::Prime;
use crate::backend::{Backend, default_mxcsr};
use crate::cost::Operation;
use crate::counts;
use crate::declassify;
use crate::dispatch;
use crate::jobs;

/// A key, and a number for its private operation, big-endian, as long as the key and below its modulus; or
/// the error that the caller gets instead.
pub(super) type Job<'a> = (&'a PrivateKey, Result<Zeroizing<Vec<u8>>, Error>);

static CHECK_FAILURES: AtomicU64 = AtomicU64::new(0);

/// How many private results of this process failed the check with the public exponent. Each was computed
/// again, or withheld. If it is not 0, the machine's processor or memory is faulty or attacked, or a key's
/// primes are not prime ([`Error::InvalidKey`]).
pub fn check_failures() -> u64 {
    CHECK_FAILURES.load(Ordering::Relaxed)
}

/// Raises each number to the `d` of its key, modulo its `n`; results are in order. A result is written over
/// its number. Each number succeeds or fails on its own; errors stay.
pub(super) fn private_op(jobs: Vec<Job>) -> Vec<Result<Zeroizing<Vec<u8>>, Error>> {
    let (keys, mut given): (Vec<&PrivateKey>, Vec<_>) = jobs.into_iter().unzip();
    for (key, number) in keys.iter().zip(&mut given) {
        // The test of primes is slow. Do not repeat it for a key that failed.
        if number.is_ok() && key.is_known_invalid() {
            *number = Err(Error::InvalidKey);
        }
    }
    let (numbers, mut out) = (missing::numbers(given.iter()), missing::results(given.iter()));
    for (_, mut mine) in dispatch::groups(keys.len(), |i| keys[i].route().dispatch) {
        mine.retain(|&i| given[i].is_ok());
        // Requests that can share a batch are next to each other, and among these the requests of each key.
        mine.sort_by_key(|&i| (keys[i].class(), keys[i].identity()));
        for alike in mine.chunk_by(|&a, &b| keys[a].class() == keys[b].class()) {
            let first = keys[alike[0]];
            let lanes = first.route().machine(first.public.modulus()).lanes();
            let mut kept: Option<Batch> = None;
            for chunk in alike.chunks(lanes) {
                let requests: Vec<_> = chunk.iter().map(|&i| (keys[i], &numbers[i])).collect();
                match checked(&requests, &mut kept) {
                    Ok((y, outcomes)) => {
                        for ((&i, y), outcome) in chunk.iter().zip(y.iter()).zip(outcomes) {
                            let number = mem::replace(&mut given[i], Err(Error::Fault));
                            out[i] = outcome.and(number).map(|mut number| {
                                limbs::to_be_bytes(y, &mut number);
                                number
                            });
                        }
                    }
                    Err(error) => chunk.iter().for_each(|&i| out[i] = Err(error)),
                }
            }
        }
    }
    out
}

/// A key and a number below its modulus.
type Request<'a> = (&'a PrivateKey, &'a [u64]);

/// The results of requests that share a batch, and whether each is right. `kept` is the previous batch. It is
/// used again if the keys are the same.
fn checked<'a>(
    requests: &[Request<'a>],
    kept: &mut Option<Batch<'a>>,
) -> Result<(Numbers, Vec<Result<(), Error>>), Error> {
    let (keys, x): (Vec<_>, Vec<_>) = requests.iter().copied().unzip();
    let mut pairs = blinding::take(&keys)?;
    let mut batch = kept.take().filter(|it| it.is_of(&keys)).unwrap_or_else(|| Batch::new(keys.clone()));
    let (mut y, is_right) = batch.attempt(&x, &mut pairs, Batch::raise);
    // A wrong result may come from damaged memory: the batch is dropped, and so is that request's mask.
    *kept = is_right.iter().all(|&it| it).then_some(batch);
    blinding::keep(
        keys.into_iter().zip(pairs).zip(&is_right).filter(|(_, is_right)| **is_right).map(|(used, _)| used),
    );
    let outcome = |(i, &is_right): (usize, &bool)| {
        if !is_right {
            y[i].copy_from_slice(&computed_again(requests[i])?[0]);
        }
        Ok(())
    };
    let outcomes = is_right.iter().enumerate().map(outcome).collect();
    Ok((y, outcomes))
}

/// The result of a request whose first result was wrong: with a fresh mask, without the Chinese remainder
/// theorem.
fn computed_again((key, x): Request) -> Result<Numbers, Error> {
    CHECK_FAILURES.fetch_add(1, Ordering::Relaxed);
    // With some composite primes the second computation is right. The key is refused, or every request would
    // be computed twice.
    if key.is_found_invalid() {
        return Err(Error::InvalidKey);
    }
    let mut pairs = blinding::fresh(&[key])?;
    let (y, is_right) = Batch::new(vec![key]).attempt(&[x], &mut pairs, Batch::raise_without_crt);
    if is_right[0] { Ok(y) } else { Err(Error::Fault) }
}

/// Working space for a request of each of some keys, which are of one [class](PrivateKey::class).
struct Batch<'a> {
    keys: Vec<&'a PrivateKey>,
    backend: &'static dyn Backend,
    /// Modulo `n`.
    n: Box<dyn Montgomery + 'a>,
    /// `U` and `V`, plain.
    units: [AlignedBuf; 2],
    /// Modulo the primes `p` of all keys, then the primes `q`.
    halves: Vec<Halves<'a>>,
    /// Whether `n`, `halves[0]` (all `p`) and `halves[1]` (all `q`) have one lane for each key, and one
    /// layout: then no number changes its lane.
    stays: bool,
}

/// Some primes, whose powers are computed together.
struct Halves<'a> {
    primes: Vec<&'a Prime>,
    backend: &'static dyn Backend,
    montgomery: Box<dyn Montgomery + 'a>,
}

impl<'a> Batch<'a> {
    fn new(keys: Vec<&'a PrivateKey>) -> Self {
        let moduli: Vec<_> = keys.iter().map(|key| key.public.modulus()).collect();
        // The check is most of the work modulo n.
        let operation = Operation::PublicPower { exponent_bits: keys[0].public.exponent_bits() };
        let backend = match jobs::shares(keys[0].route(), &moduli, operation)[..] {
            [(backend, count)] if count <= backend.lanes() => backend,
            // All of n must be on one machine.
            _ => keys[0].route().machine(moduli[0]),
        };
        let _default = default_mxcsr(backend);
        let mut n = backend.montgomery(&moduli);

        let p = keys.iter().map(|key| &key.secret.p);
        let primes: Vec<&Prime> = p.chain(keys.iter().map(|key| &key.secret.q)).collect();
        let units: Vec<&[u64]> = primes.iter().map(|prime| &prime.unit[..]).collect();
        let (of_p, of_q) = units.split_at(keys.len());
        let units = [of_p, of_q].map(|units| n.plain(units));

        let moduli: Vec<_> = primes.iter().map(|prime| &prime.modulus).collect();
        let operation = Operation::Power { exponent_bits: moduli[0].size() };
        let (mut halves, mut from) = (Vec::new(), 0);
        for (backend, count) in jobs::shares(keys[0].route(), &moduli, operation) {
            let mine = from..from + count;
            from = mine.end;
            let _default = default_mxcsr(backend);
            let lanes = backend.lanes();
            for (primes, moduli) in primes[mine.clone()].chunks(lanes).zip(moduli[mine].chunks(lanes)) {
                halves.push(Halves {
                    primes: primes.into(),
                    backend,
                    montgomery: backend.montgomery(moduli),
                });
            }
        }
        let place = |m: &dyn Montgomery| m.layout().map(|layout| (layout, m.count()));
        let of_n = place(&*n);
        let is_alike = |it: &Halves| {
            let fits = it.montgomery.words() <= n.words();
            it.primes.len() == keys.len() && place(&*it.montgomery) == of_n && fits
        };
        let stays = of_n.is_some() && halves.len() == 2 && halves.iter().all(is_alike);
        Self { keys, backend, n, units, halves, stays }
    }

    /// Whether it is for these keys, in this order.
    fn is_of(&self, keys: &[&PrivateKey]) -> bool {
        self.keys.len() == keys.len() && self.keys.iter().zip(keys).all(|(a, b)| a.is_same(b))
    }

    /// The length of the longest modulus in bits: keys of one class may differ in it.
    fn longest(&self) -> usize {
        self.keys.iter().map(|key| key.public.modulus().size()).max().unwrap_or(0)
    }

    /// Steps 1 to 5, with `raise` for steps 2 and 3: the results, and whether each is right. Each mask is
    /// replaced by its square, and so is what takes it off: these are the next pairs.
    fn attempt(
        &mut self,
        x: &[&[u64]],
        pairs: &mut [Blind],
        raise: impl Fn(&mut Self, &[u64]) -> AlignedBuf,
    ) -> (Numbers, Vec<bool>) {
        let _default = default_mxcsr(self.backend);
        let (masks, unmasks): (Vec<&[u64]>, Vec<&[u64]>) =
            pairs.iter().map(|pair| (&pair.mask[..], &pair.unmask[..])).unzip();
        let [plain_mask, plain_unmask] = [masks, unmasks].map(|numbers| self.n.plain(&numbers));

        // 1: x·mask.
        let mask = self.n.enter_plain(&plain_mask);
        let mut masked = self.n.plain(x);
        self.n.amm(&mut masked, &mask);
        // 2 and 3: y'/R.
        let mut y = raise(self, &masked);
        // 4: y'·unmask.
        let unmask = self.n.enter_plain(&plain_unmask);
        self.n.amm(&mut y, &unmask);
        self.n.enter_in_place(&mut y);
        let results = self.n.canonical(&y, x.len());
        self.n.recycle(masked);
        self.n.recycle(y);

        // [mask]·mask/R = mask²: plain.
        let [masks, unmasks] = [(mask, plain_mask), (unmask, plain_unmask)].map(|(mut number, plain)| {
            self.n.amm(&mut number, &plain);
            let squares = self.n.canonical(&number, x.len());
            self.n.recycle(number);
            self.n.recycle(plain);
            squares
        });
        for (pair, (mask, unmask)) in pairs.iter_mut().zip(masks.iter().zip(unmasks.iter())) {
            pair.mask.copy_from_slice(mask);
            pair.unmask.copy_from_slice(unmask);
        }

        // 5: y^e = x.
        let powers: Vec<_> =
            self.keys.iter().zip(results.iter()).map(|(key, y)| key.public.power(y)).collect();
        let opened = pow::pow_reduced_vartime(&mut *self.n, &powers);
        let is_right = |(opened, x): (&[u64], &&[u64])| declassify::result_is_right(limbs::equal(opened, x));
        let is_right = opened.iter().zip(x).map(is_right).collect();
        (results, is_right)
    }

    /// Steps 2 and 3 by the Chinese remainder theorem: `y'/R` of plain numbers.
    fn raise(&mut self, masked: &[u64]) -> AlignedBuf {
        counts::powers(2 * self.keys.len());
        let halves = if self.stays { self.halves_in_lanes(masked) } else { self.halves_moved(masked) };
        let mut y = self.n.zeros(self.n.words());
        for (mut half, unit) in halves.into_iter().zip(&self.units) {
            self.n.amm(&mut half, unit);
            self.n.add(&mut y, &half);
            self.n.recycle(half);
        }
        y
    }

    /// `y_p` and `y_q`, plain, where no number changes its lane.
    fn halves_in_lanes(&mut self, masked: &[u64]) -> [AlignedBuf; 2] {
        [0, 1].map(|i| {
            let halves = &mut self.halves[i];
            // They take their memory from the same pool.
            let mut pool = Pool::default();
            self.n.swap_pool(&mut pool);
            halves.montgomery.swap_pool(&mut pool);
            let base = halves.montgomery.enter_digits(masked);
            let half = halves.power(base);
            halves.montgomery.swap_pool(&mut pool);
            self.n.swap_pool(&mut pool);
            // As long as n.
            let mut number = self.n.zeros(self.n.words());
            number[..half.len()].copy_from_slice(&half);
            self.n.recycle(half);
            number
        })
    }

    /// `y_p` and `y_q`, plain, where numbers are moved to other lanes or machines.
    fn halves_moved(&mut self, masked: &[u64]) -> [AlignedBuf; 2] {
        let (count, bits) = (self.keys.len(), self.longest());
        let numbers = self.n.canonical(masked, count);
        let mut moved = Numbers::default();
        for halves in &mut self.halves {
            let _default = default_mxcsr(halves.backend);
            let bases: Vec<_> =
                (moved.len()..).take(halves.primes.len()).map(|place| &numbers[place % count]).collect();
            let base = halves.montgomery.enter(&bases, bits);
            let half = halves.power(base);
            moved.append(halves.montgomery.canonical(&half, halves.primes.len()));
        }
        let moved: Vec<&[u64]> = moved.iter().collect();
        let (p, q) = moved.split_at(count);
        [p, q].map(|numbers| self.n.plain(numbers))
    }

    /// Steps 2 and 3 without the theorem: `y'/R`.
    fn raise_without_crt(&mut self, masked: &[u64]) -> AlignedBuf {
        let (base, bits) = (self.n.enter_plain(masked), self.longest());
        let exponents: Vec<&[u64]> = self.keys.iter().map(|key| &key.secret.d[..]).collect();
        let mut y = pow::power(&mut *self.n, &base, bits, &exponents);
        // Out of Montgomery form: y'. Once more: y'/R.
        self.n.leave_in_place(&mut y);
        self.n.leave_in_place(&mut y);
        y
    }
}

impl Halves<'_> {
    /// Raises a number in Montgomery form to the exponents of the primes. The result is plain.
    fn power(&mut self, base: AlignedBuf) -> AlignedBuf {
        let bits = self.primes.iter().map(|prime| prime.modulus.bits()).max().unwrap_or(0);
        let exponents: Vec<&[u64]> = self.primes.iter().map(|prime| &prime.exponent[..]).collect();
        let mut half = pow::power(&mut *self.montgomery, &base, bits, &exponents);
        self.montgomery.recycle(base);
        self.montgomery.leave_in_place(&mut half);
        half
    }
}

#[cfg(all(test, feature = "keygen"))]
mod tests;
