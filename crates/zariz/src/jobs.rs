//! Turns a list of jobs into the cheapest calls of engines.

use zariz_kernels::batch::Method;
use zariz_kernels::limbs::Limbs;

use crate::backend::{Backend, MultiPower, Power, Product};
use crate::cost::{self, Operation};
use crate::dispatch::{Dispatch, Route, Shape};
use crate::prepared::Prepared;

/// Powers of any sizes, results in order. Jobs of equal cost share a batch.
pub(crate) fn pow(route: Route, jobs: &[Power]) -> Vec<Limbs> {
    let operation = |job: &Power| Operation::Power { exponent_bits: job.exponent_bits };
    run(
        route,
        jobs,
        |job| class(route, job.modulus, operation(job), job.base_bits),
        |backend, batch| backend.pow(batch),
    )
}

/// Like [`pow`], where every base is 2.
#[cfg(feature = "primes")]
pub(crate) fn pow_of_two(route: Route, jobs: &[Power]) -> Vec<Limbs> {
    let operation = |job: &Power| Operation::Power { exponent_bits: job.exponent_bits };
    let class = |job: &Power| class(route, job.modulus, operation(job), 0);
    run(route, jobs, class, |backend, batch| backend.pow_of_two(batch))
}

/// Like [`pow`], for exponents that are public.
pub(crate) fn pow_vartime(route: Route, jobs: &[Power]) -> Vec<Limbs> {
    run_public(route, jobs, |backend, batch| backend.pow_vartime(batch))
}

/// Like [`pow_vartime`], for bases below their moduli.
#[cfg(feature = "rsa")]
pub(crate) fn pow_reduced_vartime(route: Route, jobs: &[Power]) -> Vec<Limbs> {
    run_public(route, jobs, |backend, batch| backend.pow_reduced_vartime(batch))
}

/// Products of powers of any sizes, results in order. Those with equally many bases share a batch.
pub(crate) fn multi_pow(route: Route, jobs: &[MultiPower]) -> Vec<Limbs> {
    let operation = |bases, exponent_bits| Operation::MultiPower { bases, exponent_bits };
    run(route, jobs, |job| multi_class(route, job, operation), |backend, batch| backend.multi_pow(batch))
}

/// Like [`multi_pow`], for exponents that are public.
pub(crate) fn multi_pow_vartime(route: Route, jobs: &[MultiPower]) -> Vec<Limbs> {
    let operation = |bases, exponent_bits| Operation::PublicMultiPower { bases, exponent_bits };
    run(route, jobs, |job| multi_class(route, job, operation), |backend, batch| backend.multi_pow_vartime(batch))
}

/// Products of any sizes, results in order.
pub(crate) fn mul(route: Route, jobs: &[Product]) -> Vec<Limbs> {
    run(route, jobs, |job| class(route, job.modulus, Operation::Product, 0), |backend, batch| backend.mul(batch))
}

fn run_public(route: Route, jobs: &[Power], compute: impl Fn(&dyn Backend, &[Power]) -> Vec<Limbs>) -> Vec<Limbs> {
    let operation = |job: &Power| Operation::PublicPower { exponent_bits: job.exponent_bits };
    run(route, jobs, |job| class(route, job.modulus, operation(job), job.base_bits), compute)
}

/// What jobs must have in common to share a batch: shape, method, and the number of bases.
type Group = (Shape, Option<Method>, usize);

/// What jobs must have in common, and what they should have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Class {
    group: Group,
    operation: Operation,
    base_bits: usize,
}

fn class(route: Route, modulus: &Prepared, operation: Operation, base_bits: usize) -> Class {
    Class { group: (route.shape(modulus), modulus.method(), 1), operation, base_bits }
}

fn multi_class(route: Route, job: &MultiPower, operation: impl Fn(usize, usize) -> Operation) -> Class {
    let bases = job.bases.len();
    let group = (route.shape(job.modulus), job.modulus.method(), bases);
    Class { group, operation: operation(bases, job.exponent_bits), base_bits: job.base_bits }
}

/// A job with its modulus.
trait Job: Copy {
    fn modulus(&self) -> &Prepared;
}

impl Job for Power<'_> {
    fn modulus(&self) -> &Prepared {
        self.modulus
    }
}

impl Job for MultiPower<'_> {
    fn modulus(&self) -> &Prepared {
        self.modulus
    }
}

impl Job for Product<'_> {
    fn modulus(&self) -> &Prepared {
        self.modulus
    }
}

/// Cuts `jobs` into batches of one group, and puts the results back in order.
fn run<J: Job>(
    route: Route,
    jobs: &[J],
    class: impl Fn(&J) -> Class,
    compute: impl Fn(&dyn Backend, &[J]) -> Vec<Limbs>,
) -> Vec<Limbs> {
    let mut order: Vec<(Class, usize)> = jobs.iter().enumerate().map(|(i, job)| (class(job), i)).collect();
    order.sort();
    let mut out: Vec<Limbs> = jobs.iter().map(|_| Limbs::default()).collect();
    for group in order.chunk_by(|a, b| a.0.group == b.0.group) {
        let mut left = group;
        let (method, main) = (group[0].0.group.1, route.machine(jobs[group[0].1].modulus()));
        let free = route.dispatch == Dispatch::Auto && method.is_none();
        let calls = if free { plan(hardest(jobs, group), group.len()) } else { fill(main, group.len()) };
        for (backend, count) in calls {
            let (now, later) = left.split_at(count);
            left = later;
            let selected: Vec<J> = now.iter().map(|&(_, i)| jobs[i]).collect();
            // Moduli of one shape on the main engine may have different shapes on another.
            let shape = |job: &J| backend.shape(job.modulus());
            let alike = selected.iter().all(|job| shape(job) == shape(&selected[0]));
            let (backend, size) = if alike { (backend, count) } else { (main, main.lanes()) };
            let results = selected.chunks(size).flat_map(|batch| compute(backend, batch));
            for (&(_, i), result) in now.iter().zip(results) {
                out[i] = result;
            }
        }
    }
    out
}

/// The longest modulus of a group, and its most expensive operation.
fn hardest<J: Job>(jobs: &[J], group: &[(Class, usize)]) -> (usize, Operation) {
    let bits = group.iter().map(|&(_, i)| jobs[i].modulus().size()).max().unwrap_or(0);
    (bits, group.iter().map(|(class, _)| class.operation).max().unwrap_or(Operation::Product))
}

/// A machine, and how many jobs one call of it does.
type Call = (&'static dyn Backend, usize);

/// One machine does all jobs.
fn fill(main: &'static dyn Backend, count: usize) -> Vec<Call> {
    let lanes = main.lanes();
    (0..count).step_by(lanes).map(|at| (main, lanes.min(count - at))).collect()
}

/// The cheapest of this processor's machines do all jobs.
fn plan((bits, operation): (usize, Operation), count: usize) -> Vec<Call> {
    let candidates = cost::candidates(bits);
    let costs: Vec<(usize, u64)> = candidates.iter().map(|c| (c.numbers, c.estimate(operation))).collect();
    cheapest(&costs, count).into_iter().map(|(i, count)| (candidates[i].backend, count)).collect()
}

/// The cheapest calls for `count` jobs: which machine, and how many jobs. `machines` has, for each, the most
/// jobs in one call and the cost of a call. Full calls go to the machine with the least cost per job; dynamic
/// programming spreads the rest.
fn cheapest(machines: &[(usize, u64)], count: usize) -> Vec<(usize, usize)> {
    // a/m < b/n as a·n < b·m.
    let by_rate = |&a: &usize, &b: &usize| {
        let ((a_lanes, a_cost), (b_lanes, b_cost)) = (machines[a], machines[b]);
        (a_cost * b_lanes as u64).cmp(&(b_cost * a_lanes as u64))
    };
    let Some(best) = (0..machines.len()).min_by(by_rate) else { return Vec::new() };
    let lanes = machines[best].0;
    let mut calls = vec![(best, lanes); count / lanes];
    // least[n]: the cost of n jobs, and the machine that does the last of them.
    let mut least = vec![(0, best)];
    for jobs in 1..=count % lanes {
        let with = |i: usize| (least[jobs - machines[i].0.min(jobs)].0 + machines[i].1, i);
        least.push((0..machines.len()).map(with).min().unwrap_or((0, best)));
    }
    let mut left = count % lanes;
    while left > 0 {
        let machine = least[left].1;
        let jobs = machines[machine].0.min(left);
        calls.push((machine, jobs));
        left -= jobs;
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheapest_calls_are_found() {
        // Eight at once for 10, two for 4, one for 3.
        let machines = [(8, 10), (2, 4), (1, 3)];
        let cost = |calls: &[(usize, usize)]| calls.iter().map(|&(i, _)| machines[i].1).sum::<u64>();
        let expected = [0, 3, 4, 7, 8, 10, 10, 10, 10, 13, 14, 17, 18, 20];
        for (count, expected) in expected.into_iter().enumerate() {
            let calls = cheapest(&machines, count);
            assert_eq!(cost(&calls), expected, "{count} jobs: {calls:?}");
            assert_eq!(calls.iter().map(|call| call.1).sum::<usize>(), count);
            assert!(calls.iter().all(|&(i, jobs)| jobs > 0 && jobs <= machines[i].0));
        }
        // A machine that does one at a time may be the best of all.
        assert_eq!(cheapest(&[(4, 10), (1, 2)], 6), vec![(1, 1); 6]);
        assert_eq!(cheapest(&[], 6), []);
    }
}
