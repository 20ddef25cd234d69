//! The public operation `x^e mod n` for a batch of numbers, of one key or several.

use zariz_kernels::limbs;

use super::error::Error;
use super::missing;
use super::public::PublicKey;
use crate::dispatch;
use crate::jobs;

/// A key, and a number for its public operation, big-endian, as long as the key and below its modulus; or the
/// error that the caller gets instead.
pub(super) type Job<'a, B> = (&'a PublicKey, Result<B, Error>);

/// Computes `x^e mod n` for each number, and calls `finish` with the place of the job and the result; what
/// that returns is in order. Errors stay. The time depends on the exponents.
pub(super) fn public_op<B: AsRef<[u8]>, T>(
    jobs: &[Job<B>],
    mut finish: impl FnMut(usize, &[u64]) -> Result<T, Error>,
) -> Vec<Result<T, Error>> {
    let given = || jobs.iter().map(|(_, number)| number);
    let (numbers, mut out) = (missing::numbers(given()), missing::results(given()));
    for (_, mut mine) in dispatch::groups(jobs.len(), |i| jobs[i].0.route().dispatch) {
        mine.retain(|&i| jobs[i].1.is_ok());
        let Some(&first) = mine.first() else { continue };
        let powers: Vec<_> = mine.iter().map(|&i| jobs[i].0.power(&numbers[i])).collect();
        let results = jobs::pow_reduced_vartime(jobs[first].0.route(), &powers);
        for (&i, result) in mine.iter().zip(results.iter()) {
            out[i] = finish(i, result);
        }
    }
    out
}

/// The results of [`public_op`] as bytes, big-endian and as long as the keys.
pub(super) fn public_op_bytes<B: AsRef<[u8]>>(jobs: &[Job<B>]) -> Vec<Result<Vec<u8>, Error>> {
    public_op(jobs, |i, result| {
        let mut out = vec![0; jobs[i].0.size()];
        limbs::to_be_bytes(result, &mut out);
        Ok(out)
    })
}
