//! Shows whether a branch or an address depends on a secret. Runs under valgrind's memcheck, and marks
//! exponents, bases and the inner limbs of moduli as undefined: memcheck reports each branch and address that
//! depends on them.
//!
//! Run by `cargo xtask test secrets`. Valgrind supports AVX2, BMI2 and ADX, but not AVX-512.

use zariz_kernels::batch::{self, Method};
use zariz_kernels::bls12_381::Fe;
#[cfg(feature = "papers")]
use zariz_kernels::carry;
use zariz_kernels::mul::{self, Product};
use zariz_kernels::pow::{self, Power};
use zariz_kernels::rsaz::{self, Quotients};
use zariz_kernels::{OddModulus, pair, scalar};
use zariz_machines::bls12_381;

/// Tells memcheck that memory is undefined (or defined again); does nothing outside of valgrind.
#[cfg(target_arch = "x86_64")]
fn tell(memory: &[u64], undefined: bool) {
    /// `VG_USERREQ__MAKE_MEM_UNDEFINED` of memcheck.h; the request after it makes memory defined.
    const MAKE_MEM_UNDEFINED: u64 = ((b'M' as u64) << 24 | (b'C' as u64) << 16) + 1;
    let request = MAKE_MEM_UNDEFINED + u64::from(!undefined);
    let arguments = [request, memory.as_ptr() as u64, 8 * memory.len() as u64, 0, 0, 0];
    // SAFETY: valgrind's client request (valgrind.h): the rotations add up to none, and an exchange of a
    // register with itself does nothing; valgrind reads the arguments and writes rdx.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") 0u64 => _,
            inout("rdi") 0u64 => _,
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn tell(_: &[u64], _: bool) {}

/// A number whose limbs are undefined, except for the outer ones where asked.
fn secret(limbs: usize, seed: u64, keep_ends: bool) -> Vec<u64> {
    let mut out: Vec<u64> = (1..=limbs as u64).map(|i| (i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    if keep_ends {
        out[0] |= 1;
        out[limbs - 1] |= 1 << 63;
    }
    tell(if keep_ends { &out[1..limbs - 1] } else { &out }, true);
    out
}

/// A power and a product of secrets, in the domain that `$domain` makes of what `$prepare` makes of a
/// modulus.
macro_rules! check {
    ($name:literal, $limbs:expr, $prepare:expr, $domain:expr) => {{
        let limbs: usize = $limbs;
        // That a modulus is odd, above 1, and how long it is, is public; its other limbs are not.
        let modulus = secret(limbs, 1, true);
        let constants = $prepare(&OddModulus::new(&modulus).expect("an odd number above 1"));
        let (base, factor, exponent) = (secret(2 * limbs, 2, false), secret(limbs, 3, false), secret(2, 4, false));
        let (base_bits, exponent_bits) = (64 * base.len(), 64 * exponent.len());
        let power = Power { modulus: &constants, base: &base, base_bits, exponent: &exponent, exponent_bits };
        pow::pow($domain(&constants), &[power]);
        let product = Product { modulus: &constants, a: &base, a_bits: base_bits, b: &factor };
        mul::mul($domain(&constants), &[product]);
        println!("{}, {} bits", $name, 64 * limbs);
    }};
}

fn batches<M: batch::Kernels>(machine: M, name: &str) {
    for limbs in [8, 24] {
        let digits = batch::Constants::digits_for(64 * limbs, M::DIGIT_BITS);
        let methods = [
            Method::AMM,
            Method::AHMM_KARATSUBA_SQUARES,
            #[cfg(feature = "papers")]
            Method::TRUNCATED_KARATSUBA,
        ];
        for method in methods {
            let digits = method.digits(digits);
            let prepare =
                |modulus: &OddModulus| batch::Constants::new(modulus, M::DIGIT_BITS, digits).with_method(method);
            print!("{name}, {method}: ");
            check!("lanes", limbs, prepare, |constants| batch::Domain::new(machine, &[constants]));
        }
    }
}

fn limbwise<S: scalar::Kernels>(machine: S, name: &str) {
    for limbs in [8, 16, 24] {
        print!("{name}: ");
        let prepare = |modulus: &OddModulus| scalar::Constants::new(modulus, S::STEP);
        check!("limbs", limbs, prepare, |constants| scalar::Domain::new(machine, constants));
    }
}

fn wide<M: rsaz::Kernels>(machine: M, name: &str) {
    for limbs in [8, 16, 32] {
        for &quotients in Quotients::ALL {
            print!("{name}, {quotients:?}: ");
            let domain = |constants| rsaz::Domain::with_quotients(machine, constants, quotients);
            check!("rsaz", limbs, rsaz::constants, domain);
        }
    }
}

#[cfg(feature = "papers")]
fn carry_chains<M: carry::Kernels>(machine: M, name: &str) {
    for limbs in [8, 16, 32] {
        print!("{name}: ");
        check!("carry chains", limbs, carry::Constants::new, |constants| carry::Domain::new(machine, constants));
    }
}

fn pairs<M: pair::Kernels>(machine: M, name: &str) {
    for limbs in [8, 16, 24, 50] {
        print!("{name}: ");
        let domain = |constants| pair::Domain::new(machine, &[constants]);
        check!("pair", limbs, pair::Constants::new, domain);
    }
}

/// The base field of BLS12-381, in every form that valgrind can run.
fn field() {
    let element = |seed| {
        let mut element: Fe = secret(6, seed, false).try_into().expect("six limbs");
        element[5] &= (1 << 60) - 1; // below the modulus
        element
    };
    let (mut a, b) = (element(1), element(2));
    a = bls12_381::mul_loops(&a, &b);
    a = bls12_381::sqr_flat(&bls12_381::mul_flat(&a, &b));
    a = bls12_381::add(&bls12_381::sub(&a, &b), &bls12_381::neg(&b));
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("bmi2") {
        // SAFETY: as for the scalar machine below.
        let machine = unsafe { bls12_381::Adx::assume() };
        machine.sqr_assign(&mut a);
        a = machine.mul(&a, &b);
        bls12_381::add_assign(&mut a, &b);
        bls12_381::sub_assign(&mut a, &b);
    }
    a = bls12_381::invert(&a);
    std::hint::black_box(a);
    println!("BLS12-381: products, squares, sums, inverse");
}

/// What must be found: a branch that depends on a secret.
fn leak() {
    if secret(1, 5, false)[0] & 8 == 0 {
        println!("leaked");
    }
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("leak") {
        return leak();
    }
    batches(zariz_machines::batch::Portable::<1>::new(), "portable");
    limbwise(zariz_machines::scalar::Portable::new(), "scalar");
    wide(zariz_machines::rsaz::Portable::new(), "portable");
    #[cfg(feature = "papers")]
    carry_chains(zariz_machines::carry::Portable::new(), "portable");
    pairs(zariz_machines::batch::Portable::<8>::new(), "portable");
    field();
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(machine) = zariz_machines::batch::Avx2Fma::new() {
            batches(machine, "avx2-fma");
        }
        if let Some(machine) = zariz_machines::rsaz::Avx2::new() {
            wide(machine, "avx2");
        }
        // Valgrind runs the instructions, but its processor does not name ADX.
        if is_x86_feature_detected!("bmi2") {
            // SAFETY: this processor, or valgrind in its place, has BMI2, and those that do and run this have
            // ADX.
            limbwise(unsafe { zariz_machines::scalar::Adx::assume() }, "scalar-adx");
        }
    }
}
