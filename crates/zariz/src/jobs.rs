//! Turns a list of jobs into the cheapest calls of engines.

use zariz_kernels::batch::Method;
use zariz_kernels::limbs::Numbers;
use zariz_kernels::{Montgomery, mul as products, multi_pow as products_of_powers, pow as powers};

use crate::backend::{self, Backend, MultiPower, Power, Product};
use crate::cost::{self, Operation};
use crate::counts;
use crate::dispatch::{Dispatch, Route, Shape};
use crate::prepared::Prepared;

/// Powers of any sizes, results in order. Jobs of equal cost share a batch.
pub(crate) fn pow(route: Route, jobs: &[Power]) -> Numbers {
    let operation = |job: &Power| Operation::Power { exponent_bits: job.exponent_bits };
    run(
        route,
        jobs,
        |job| class(route, job.modulus, operation(job), job.base_bits),
        |m, jobs| {
            counts::powers(jobs.len());
            powers::pow(m, jobs)
        },
    )
}

/// Like [`pow`], where every base is 2.
#[cfg(feature = "primes")]
pub(crate) fn pow_of_two(route: Route, jobs: &[Power]) -> Numbers {
    let operation = |job: &Power| Operation::Power { exponent_bits: job.exponent_bits };
    let class = |job: &Power| class(route, job.modulus, operation(job), 0);
    run(route, jobs, class, |m, jobs| {
        counts::powers(jobs.len());
        powers::pow_of_two(m, jobs)
    })
}

/// Like [`pow`], for exponents that are public.
pub(crate) fn pow_vartime(route: Route, jobs: &[Power]) -> Numbers {
    run(route, jobs, |job| public_class(route, job), powers::pow_vartime)
}

/// Like [`pow_vartime`], for bases below their moduli.
#[cfg(feature = "rsa")]
pub(crate) fn pow_reduced_vartime(route: Route, jobs: &[Power]) -> Numbers {
    run(route, jobs, |job| public_class(route, job), powers::pow_reduced_vartime)
}

/// Products of powers of any sizes, results in order. Those with equally many bases share a batch.
pub(crate) fn multi_pow(route: Route, jobs: &[MultiPower]) -> Numbers {
    let operation = |bases, exponent_bits| Operation::MultiPower { bases, exponent_bits };
    run(route, jobs, |job| multi_class(route, job, operation), products_of_powers::multi_pow)
}

/// Like [`multi_pow`], for exponents that are public.
pub(crate) fn multi_pow_vartime(route: Route, jobs: &[MultiPower]) -> Numbers {
    let operation = |bases, exponent_bits| Operation::PublicMultiPower { bases, exponent_bits };
    run(route, jobs, |job| multi_class(route, job, operation), products_of_powers::multi_pow_vartime)
}

/// Products of any sizes, results in order.
pub(crate) fn mul(route: Route, jobs: &[Product]) -> Numbers {
    run(
        route,
        jobs,
        |job| class(route, job.modulus, Operation::Product, 0),
        |m, jobs| {
            counts::products(jobs.len());
            products::mul(m, jobs)
        },
    )
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

fn public_class(route: Route, job: &Power) -> Class {
    class(route, job.modulus, Operation::PublicPower { exponent_bits: job.exponent_bits }, job.base_bits)
}

fn multi_class(route: Route, job: &MultiPower, operation: impl Fn(usize, usize) -> Operation) -> Class {
    let bases = job.bases.len();
    let group = (route.shape(job.modulus), job.modulus.method(), bases);
    Class { group, operation: operation(bases, job.exponent_bits), base_bits: job.base_bits }
}

/// A job with its modulus.
trait Job<'a>: Copy {
    fn modulus(&self) -> &'a Prepared;
}

impl<'a> Job<'a> for Power<'a> {
    fn modulus(&self) -> &'a Prepared {
        self.modulus
    }
}

impl<'a> Job<'a> for MultiPower<'a> {
    fn modulus(&self) -> &'a Prepared {
        self.modulus
    }
}

impl<'a> Job<'a> for Product<'a> {
    fn modulus(&self) -> &'a Prepared {
        self.modulus
    }
}

/// Computes the jobs of each group together, and puts the results back in order.
fn run<'a, J: Job<'a>>(
    route: Route,
    jobs: &[J],
    class: impl Fn(&J) -> Class,
    compute: impl Fn(&mut dyn Montgomery, &[J]) -> Numbers,
) -> Numbers {
    let Some(first) = jobs.first().map(&class) else { return Numbers::default() };
    if jobs[1..].iter().all(|job| class(job) == first) {
        return run_group(route, jobs, first.operation, &compute);
    }
    // Indices, not classes: a class has uninitialised bytes, where a copy on the heap would keep what the
    // stack held.
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|&i| class(&jobs[i]));
    let sorted: Vec<J> = order.iter().map(|&i| jobs[i]).collect();
    let mut results = Numbers::default();
    for group in sorted.chunk_by(|a, b| class(a).group == class(b).group) {
        // The most expensive operation is the last one.
        let operation = class(&group[group.len() - 1]).operation;
        results.append(run_group(route, group, operation, &compute));
    }
    let mut places = order.clone();
    order.iter().enumerate().for_each(|(place, &i)| places[i] = place);
    results.in_order(&places)
}

/// Gives each machine its share of the jobs of one group.
fn run_group<'a, J: Job<'a>>(
    route: Route,
    mut jobs: &[J],
    operation: Operation,
    compute: impl Fn(&mut dyn Montgomery, &[J]) -> Numbers,
) -> Numbers {
    let moduli: Vec<_> = jobs.iter().map(J::modulus).collect();
    let mut results = Numbers::default();
    for (backend, count) in shares(route, &moduli, operation) {
        let (now, later) = jobs.split_at(count);
        jobs = later;
        results.append(backend::in_batches(backend, now, J::modulus, &compute));
    }
    results
}

/// Splits jobs between machines at the least cost. Each share takes the next `count` jobs. Preconditions: the
/// moduli have one shape and method; `operation` is the most expensive one.
pub(crate) fn shares(route: Route, moduli: &[&Prepared], operation: Operation) -> Vec<Share> {
    let main = route.machine(moduli[0]);
    if route.dispatch != Dispatch::Auto || moduli[0].method().is_some() {
        return vec![(main, moduli.len())];
    }
    let bits = moduli.iter().map(|modulus| modulus.size()).max().unwrap_or(0);
    let mut from = 0;
    let share = |(backend, count): Share| {
        let mine = &moduli[from..][..count];
        from += count;
        // Moduli of one shape on the main engine may have different shapes on another.
        let shape = backend.shape(mine[0]);
        let are_alike = mine[1..].iter().all(|modulus| backend.shape(modulus) == shape);
        (if are_alike { backend } else { main }, count)
    };
    plan(bits, operation, moduli.len()).into_iter().map(share).collect()
}

/// A machine, and how many jobs it does.
pub(crate) type Share = (&'static dyn Backend, usize);

/// The cheapest of this processor's machines do all jobs.
fn plan(bits: usize, operation: Operation, count: usize) -> Vec<Share> {
    let (machines, costs): (Vec<_>, Vec<_>) =
        cost::candidates(bits).map(|it| (it.backend, (it.numbers, it.estimate(operation)))).unzip();
    let calls = cheapest(&costs, count);
    let share = |calls: &[(usize, usize)]| (machines[calls[0].0], calls.iter().map(|call| call.1).sum());
    calls.chunk_by(|a, b| a.0 == b.0).map(share).collect()
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
