//! Powers, products and inverses against num-bigint: several jobs with different moduli, on every engine.

use std::sync::OnceLock;

use arbitrary::{Arbitrary, Result, Unstructured};
use num_bigint::BigUint;
use zariz::{
    Dispatch, Engine, FixedBase, InvertJob, Method, Modulus, MulJob, MultiPowJob, PowJob, Residues,
    invert_many, mul_many, multi_pow_many, multi_pow_many_vartime, pow_many, pow_many_vartime,
};

use crate::script::Script;
use crate::structure::{number, one_of, padded};

/// The target.
pub fn run(data: &[u8]) {
    // Bytes too few for a structure have none to test.
    let _ = structured(&mut Unstructured::new(data));
}

/// A modulus and what is computed with it.
struct Job {
    m: BigUint,
    modulus: Modulus,
    numbers: Vec<Vec<u8>>,
    exponents: Vec<Vec<u8>>,
}

impl Job {
    fn n(&self, i: usize) -> BigUint {
        BigUint::from_bytes_be(&self.numbers[i])
    }

    fn e(&self, i: usize) -> BigUint {
        BigUint::from_bytes_be(&self.exponents[i])
    }

    /// A result as zariz writes it.
    fn result(&self, number: BigUint) -> Vec<u8> {
        let bytes = (number % &self.m).to_bytes_be();
        let bytes = bytes.strip_prefix(&[0]).unwrap_or(&bytes);
        [&vec![0; self.modulus.size() - bytes.len()], bytes].concat()
    }
}

/// The engines of this processor, each alone, and their choice.
fn dispatches() -> &'static [Dispatch] {
    static FOUND: OnceLock<Vec<Dispatch>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let engines = Engine::ALL.iter().filter(|engine| engine.is_available());
        [Dispatch::Auto].into_iter().chain(engines.map(|&engine| engine.into())).collect()
    })
}

fn structured(u: &mut Unstructured) -> Result<()> {
    let operation = u.int_in_range(0..=6)?;
    let dispatch = one_of(u, dispatches())?;
    let is_mixed = u.ratio(1, 8)?;
    let method = if u.ratio(1, 2)? { Some(one_of(u, Method::ALL)?) } else { None };
    let most = one_of(u, &LENGTHS)?;
    let same_length = bool::arbitrary(u)?;
    let length = u.int_in_range(2..=most)?;
    let count = u.int_in_range(1..=if most > 2100 { 2 } else { 9 })?;
    let exponent_bits = match length {
        0..=300 => 700,
        301..=1100 => 200,
        1101..=2100 => 80,
        _ => 20,
    };
    let several = if operation == 2 || operation == 3 { u.int_in_range(2..=8)? } else { 2 };
    let mut jobs = Vec::new();
    for _ in 0..count {
        let bits = if same_length { length } else { u.int_in_range(2..=length)? };
        let mut m = number(u, bits)? | BigUint::from(1u8);
        if u.ratio(3, 4)? {
            m.set_bit(bits as u64 - 1, true);
        }
        if m == BigUint::from(1u8) {
            m = BigUint::from(3u8);
        }
        let dispatch = if is_mixed { one_of(u, dispatches())? } else { dispatch };
        let modulus = Modulus::new(&m.to_bytes_be()).expect("an odd number");
        let modulus = modulus.with_engine(dispatch).expect("an engine of this processor").with_method(method);
        let (mut numbers, mut exponents) = (Vec::new(), Vec::new());
        for _ in 0..several {
            // Numbers near the modulus, and longer ones.
            let near = match u.int_in_range(0..=5)? {
                0 => &m - 1u8,
                1 => m.clone(),
                2 => number(u, 2 * bits + 64)?,
                _ => number(u, bits)?,
            };
            numbers.push(padded(u, &near)?);
            let bits = u.int_in_range(0..=exponent_bits)?;
            let exponent = number(u, bits)?;
            exponents.push(padded(u, &exponent)?);
        }
        jobs.push(Job { m, modulus, numbers, exponents });
    }
    match operation {
        0 | 1 => powers(&jobs, operation == 1),
        2 | 3 => products_of_powers(&jobs, operation == 3),
        4 => fixed_base(&jobs),
        5 => inverses_and_products(&jobs),
        _ => residues(&jobs),
    }
    Ok(())
}

/// Every operation on numbers of every length, on each engine and with each method in turn.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    for operation in 0..=6 {
        for (i, most) in LENGTHS.into_iter().enumerate().filter(|(i, _)| operation < 2 || *i < 5) {
            let turn = out.len();
            let script = Script::default().int(0..=6, operation).raw(&[turn as u8]).ratio(8, turn % 3 == 0);
            let script = match turn % 2 {
                0 => script.ratio(2, false),
                _ => script.ratio(2, true).at(turn / 2 % Method::ALL.len(), Method::ALL.len()),
            };
            // Equal lengths with full top digits, or any.
            let script =
                script.at(i, LENGTHS.len()).raw(&[u8::from(turn % 4 < 2)]).int(2..=most, most - turn % 2);
            // The rest is what any bytes make of it.
            let rest =
                (0..200u32).map(|i| (i.wrapping_mul(2_654_435_761).rotate_left(turn as u32) >> 13) as u8);
            out.push(script.raw(&rest.collect::<Vec<_>>()).0);
        }
    }
    out
}

/// The lengths up to which numbers have their bits. Long numbers seldom: they are slow.
const LENGTHS: [usize; 8] = [64, 200, 600, 1100, 1100, 2100, 4200, Modulus::MAX_BITS];

fn powers(jobs: &[Job], public: bool) {
    let pow = |job| {
        let Job { modulus, numbers, exponents, .. }: &Job = job;
        PowJob { modulus, base: &numbers[0], exponent: &exponents[0] }
    };
    let list: Vec<_> = jobs.iter().map(pow).collect();
    let results = if public { pow_many_vartime(&list) } else { pow_many(&list) };
    for (job, result) in jobs.iter().zip(results) {
        assert_eq!(result, job.result(job.n(0).modpow(&job.e(0), &job.m)), "{:?}", job.modulus);
    }
}

fn products_of_powers(jobs: &[Job], public: bool) {
    let bases: Vec<Vec<&[u8]>> =
        jobs.iter().map(|job| job.numbers.iter().map(Vec::as_slice).collect()).collect();
    let exponents = jobs.iter().map(|job| job.exponents.iter().map(Vec::as_slice).collect());
    let exponents: Vec<Vec<&[u8]>> = exponents.collect();
    let job =
        |i: usize| MultiPowJob { modulus: &jobs[i].modulus, bases: &bases[i], exponents: &exponents[i] };
    let list: Vec<MultiPowJob> = (0..jobs.len()).map(job).collect();
    let results = if public { multi_pow_many_vartime(&list) } else { multi_pow_many(&list) };
    for (job, result) in jobs.iter().zip(results.expect("two to eight bases")) {
        let powers = (0..job.numbers.len()).map(|i| job.n(i).modpow(&job.e(i), &job.m));
        let product = powers.fold(BigUint::from(1u8), |product, power| product * power % &job.m);
        assert_eq!(result, job.result(product), "{:?}", job.modulus);
    }
}

fn fixed_base(jobs: &[Job]) {
    let (job, exponents) = (&jobs[0], jobs.iter().flat_map(|job| &job.exponents));
    let exponents: Vec<&[u8]> = exponents.map(Vec::as_slice).collect();
    let bits = exponents.iter().map(|e| BigUint::from_bytes_be(e).bits()).max().unwrap_or(0).max(1) as usize;
    let table = FixedBase::new(&job.modulus, &job.numbers[0], bits).expect("short exponents");
    for results in [table.pow_batch(&exponents), table.pow_batch_vartime(&exponents)] {
        for (exponent, result) in exponents.iter().zip(results.expect("exponents that fit")) {
            let power = job.n(0).modpow(&BigUint::from_bytes_be(exponent), &job.m);
            assert_eq!(result, job.result(power), "{:?}", job.modulus);
        }
    }
    let long = vec![0xff; bits / 8 + 1];
    assert!(table.pow(&long).is_err(), "an exponent longer than the table's");
}

fn inverses_and_products(jobs: &[Job]) {
    let list: Vec<_> =
        jobs.iter().map(|job| InvertJob { modulus: &job.modulus, number: &job.numbers[0] }).collect();
    for (job, result) in jobs.iter().zip(invert_many(&list)) {
        let inverse = job.n(0).modinv(&job.m).map(|inverse| job.result(inverse));
        assert_eq!(result, inverse, "{:?}", job.modulus);
    }
    let mul = |job| {
        let Job { modulus, numbers, .. }: &Job = job;
        MulJob { modulus, a: &numbers[0], b: &numbers[1] }
    };
    for (job, result) in jobs.iter().zip(mul_many(&jobs.iter().map(mul).collect::<Vec<_>>())) {
        assert_eq!(result, job.result(job.n(0) * job.n(1)), "{:?}", job.modulus);
    }
}

/// Squares and products in Montgomery's domain. Jobs that do not fit together are refused.
fn residues(jobs: &[Job]) {
    let moduli: Vec<&Modulus> = jobs.iter().map(|job| &job.modulus).collect();
    let numbers = |i: usize| jobs.iter().map(|job| job.numbers[i].as_slice()).collect::<Vec<_>>();
    let (Ok(mut x), Ok(y)) = (Residues::new(&moduli, &numbers(0)), Residues::new(&moduli, &numbers(1)))
    else {
        return;
    };
    x.square();
    x.multiply(&y).expect("equal moduli");
    x.square();
    for (job, result) in jobs.iter().zip(x.to_bytes()) {
        let product = job.n(0) * job.n(0) % &job.m * job.n(1) % &job.m;
        assert_eq!(result, job.result(&product * &product), "{:?}", job.modulus);
    }
}
