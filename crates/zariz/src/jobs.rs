//! From any list of jobs to batches that fill the lanes.

use zariz_kernels::limbs::Limbs;
use zariz_kernels::mul::Product;
use zariz_kernels::pow::Power;
use zariz_kernels::{Constants, Method};

use crate::backend::Backend;

/// Powers of any sizes, results in order. Jobs that cost alike share a batch.
pub(crate) fn pow(backend: &dyn Backend, jobs: &[Power]) -> Vec<Limbs> {
    run(jobs, backend.lanes(), class, |batch| backend.pow(batch))
}

/// The same for public exponents.
pub(crate) fn pow_vartime(backend: &dyn Backend, jobs: &[Power]) -> Vec<Limbs> {
    run(jobs, backend.lanes(), class, |batch| backend.pow_vartime(batch))
}

/// Products of any sizes, results in order.
pub(crate) fn mul(backend: &dyn Backend, jobs: &[Product]) -> Vec<Limbs> {
    run(jobs, backend.lanes(), |job| (group(job.modulus), 0, 0), |batch| backend.mul(batch))
}

/// What may share a batch (the first) and what should (the others): all public.
type Class = (Group, usize, usize);

/// Digit count and method.
type Group = (usize, Option<Method>);

fn group(modulus: &Constants) -> Group {
    (modulus.digits(), modulus.method())
}

fn class(job: &Power) -> Class {
    (group(job.modulus), job.exponent_bits, job.base_bits)
}

/// Cuts `jobs` into batches of one digit count and method, at most `lanes` each, and puts the results back in order.
fn run<J: Copy>(
    jobs: &[J],
    lanes: usize,
    class: impl Fn(&J) -> Class,
    work: impl Fn(&[J]) -> Vec<Limbs>,
) -> Vec<Limbs> {
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|&i| class(&jobs[i]));
    let mut out: Vec<Limbs> = jobs.iter().map(|_| Limbs::default()).collect();
    for group in order.chunk_by(|&a, &b| class(&jobs[a]).0 == class(&jobs[b]).0) {
        for batch in group.chunks(lanes) {
            let selected: Vec<J> = batch.iter().map(|&i| jobs[i]).collect();
            for (&i, result) in batch.iter().zip(work(&selected)) {
                out[i] = result;
            }
        }
    }
    out
}
