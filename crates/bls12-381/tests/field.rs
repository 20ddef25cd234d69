//! The base field of BLS12-381: every form and engine against num-bigint and dashu-int, and the laws of a
//! field.

#[allow(dead_code)]
#[path = "../../zariz/tests/common/engines.rs"]
mod engines;
#[allow(dead_code)]
#[path = "../../zariz/tests/common/numbers.rs"]
mod numbers;
#[allow(dead_code)]
#[path = "../../zariz/tests/common/random.rs"]
mod random;

use dashu_int::UBig;
use engines::engines;
use num_bigint::BigUint;
use numbers::{big, fixed, number, two_to};
use proptest::prelude::*;
use random::Random;
use zariz::Engine;
use zariz_bls12_381::{Form, Fp, Fp8, FpError, mul_batch, mul_batch_on, sqr_batch, sqr_batch_on};

// If the processor lacks AVX-IFMA or AVX512-IFMA, these engines run emulated.
zariz_emulator::install_before_main!();

/// The engines with lanes; checks that the others say they have none.
fn vector_engines() -> Vec<Engine> {
    let (with, without): (Vec<_>, Vec<_>) = engines().into_iter().partition(|engine| engine.has_lanes());
    for engine in without {
        let error = Fp8::new_on(engine, &[Fp::ONE; 8]).expect_err("no lanes");
        assert_eq!(error, FpError::WithoutLanes(engine));
    }
    with
}

fn modulus() -> BigUint {
    Fp::MODULUS.iter().rev().fold(BigUint::ZERO, |number, &limb| (number << 64) + limb)
}

fn element(number: &BigUint) -> Fp {
    let bytes = fixed(&(number % modulus()), 48);
    Fp::try_from(&bytes[..]).expect("below the modulus")
}

fn value(element: &Fp) -> BigUint {
    BigUint::from_bytes_be(&element.to_be_bytes())
}

/// The product modulo p with both libraries, which must agree.
fn product(a: &BigUint, b: &BigUint) -> BigUint {
    let by_num = a * b % modulus();
    let [a, b, p] = [a, b, &modulus()].map(|number| UBig::from_be_bytes(&number.to_bytes_be()));
    assert_eq!(by_num, BigUint::from_bytes_be(&(a * b % p).to_be_bytes()), "the libraries differ");
    by_num
}

/// Numbers with the longest carries, borrows and corrections, in either form.
fn edges() -> Vec<BigUint> {
    let p = modulus();
    let mut edges =
        vec![BigUint::ZERO, big(1), big(2), &p - big(1), &p - big(2), (&p - big(1)) >> 1, (&p + big(1)) >> 1];
    // Limbs and digits of all ones below p; R; and the numbers whose Montgomery form is 1, all ones and p −
    // 1.
    edges.extend([64, 128, 192, 256, 320, 380, 364, 357, 51, 52].map(|bits| two_to(bits) - big(1)));
    edges.extend([384, 408, 416].map(|bits| two_to(bits) % &p));
    let out_of = two_to(384).modpow(&(&p - big(2)), &p);
    edges.extend([1, 64, 320, 380].map(|bits| (two_to(bits) - big(1)) * &out_of % &p));
    edges.push((&p - big(1)) * &out_of % &p);
    edges
}

/// An edge case, a number with long carries, or any number.
fn any_number(random: &mut Random) -> BigUint {
    let edges = edges();
    match random.below(4) {
        0 => edges[random.below(edges.len())].clone(),
        _ => number(random, 381) % modulus(),
    }
}

fn eight(random: &mut Random) -> [BigUint; 8] {
    std::array::from_fn(|_| any_number(random))
}

#[test]
fn the_modulus_is_that_of_the_curve() {
    // r = z⁴ − z² + 1 and p = (z − 1)²·r/3 + z, with z = −0xd201000000010000.
    let z = big(0xd201_0000_0001_0000);
    let r = z.pow(4) - z.pow(2) + big(1);
    assert_eq!(modulus() + &z, (&z + big(1)).pow(2) * r / big(3));
    assert_eq!((Fp::default(), value(&Fp::ONE)), (Fp::ZERO, big(1)));
}

#[test]
fn every_form_multiplies_as_the_libraries_do() {
    let mut random = Random::new(1);
    let mut pairs: Vec<_> =
        edges().iter().flat_map(|a| edges().into_iter().map(|b| (a.clone(), b))).collect();
    pairs.extend((0..2000).map(|_| (any_number(&mut random), any_number(&mut random))));
    for &form in Form::ALL {
        let Some(multiply) = form.multiplier() else {
            eprintln!("skipped by {form}: the processor lacks {}", form.requires());
            continue;
        };
        for (a, b) in &pairs {
            let mut result = element(a);
            multiply(&mut result, &element(b));
            assert_eq!(value(&result), product(a, b), "{form}: {a:x} · {b:x}");
            result = element(a);
            let same = result;
            multiply(&mut result, &same);
            assert_eq!(value(&result), product(a, a), "{form}: {a:x} squared");
        }
    }
    assert!(Form::Flat.is_available() && Form::Loops.is_available());
}

#[test]
fn operators_are_those_of_the_libraries() {
    let mut random = Random::new(2);
    let p = modulus();
    let mut pairs: Vec<_> =
        edges().iter().flat_map(|a| edges().into_iter().map(|b| (a.clone(), b))).collect();
    pairs.extend((0..2000).map(|_| (any_number(&mut random), any_number(&mut random))));
    for (a, b) in &pairs {
        let (x, y) = (element(a), element(b));
        assert_eq!(value(&(x * y)), product(a, b), "{a:x} · {b:x}");
        assert_eq!(value(&x.square()), product(a, a), "{a:x}²");
        assert_eq!(value(&(x + y)), (a + b) % &p, "{a:x} + {b:x}");
        assert_eq!(value(&(x - y)), (a + &p - b) % &p, "{a:x} − {b:x}");
        assert_eq!(value(&-x), (&p - a) % &p, "−{a:x}");
        let (by_ref, other) = (&x, &y);
        let (mut sum, mut difference, mut both) = (x, x, x);
        sum += y;
        difference -= y;
        both *= y;
        assert_eq!((sum, difference, both), (by_ref + other, by_ref - other, by_ref * other));
        assert_eq!(x == y, a == b);
    }
}

#[test]
fn portable_code_agrees_with_the_operators() {
    use zariz_machines::bls12_381 as field;
    let mut random = Random::new(3);
    let limbs = |number: &BigUint| -> field::Fe {
        let mut digits = number.iter_u64_digits();
        std::array::from_fn(|_| digits.next().unwrap_or(0))
    };
    let whole =
        |limbs: field::Fe| limbs.iter().rev().fold(BigUint::ZERO, |number, &limb| (number << 64) + limb);
    let p = modulus();
    let out_of = two_to(384).modpow(&(&p - big(2)), &p);
    for _ in 0..2000 {
        let (a, b) = (any_number(&mut random), any_number(&mut random));
        let (x, y) = (limbs(&a), limbs(&b));
        assert_eq!(whole(field::add(&x, &y)), (&a + &b) % &p);
        assert_eq!(whole(field::sub(&x, &y)), (&a + &p - &b) % &p);
        assert_eq!(whole(field::neg(&x)), (&p - &a) % &p);
        // The paper's second oracle, "Montgomery-BigUint": a·b/R mod p.
        assert_eq!(whole(field::mul_loops(&x, &y)), &a * &b * &out_of % &p);
        assert_eq!(whole(field::mul_flat(&x, &y)), &a * &b * &out_of % &p);
        assert_eq!(whole(field::sqr_flat(&x)), &a * &a * &out_of % &p);
    }
}

#[test]
fn inverses_are_those_of_fermat() {
    let mut random = Random::new(4);
    let (p, mut numbers) = (modulus(), edges());
    numbers.extend((0..381).map(two_to));
    numbers.extend((0..1000).map(|_| any_number(&mut random)));
    for number in numbers {
        let number = number % &p;
        let expected = number.modpow(&(&p - big(2)), &p);
        assert_eq!(value(&element(&number).invert_or_zero()), expected, "1/{number:x}");
        let inverse = element(&number).invert();
        assert_eq!(inverse.is_none(), number == BigUint::ZERO);
        assert!(inverse.is_none_or(|inverse| value(&inverse) == expected));
    }
}

#[test]
fn eight_at_once_on_every_engine() {
    let (mut random, p) = (Random::new(5), modulus());
    for engine in vector_engines() {
        for _ in 0..300 {
            let (a, b) = (eight(&mut random), eight(&mut random));
            let held = |numbers: &[BigUint; 8]| {
                Fp8::new_on(engine, &std::array::from_fn(|i| element(&numbers[i]))).expect("available")
            };
            let check = |what: &str, held: &Fp8, expected: &dyn Fn(&BigUint, &BigUint) -> BigUint| {
                assert_eq!(held.engine(), engine);
                for (lane, result) in held.to_array().iter().enumerate() {
                    let (a, b) = (&a[lane], &b[lane]);
                    assert_eq!(
                        value(result),
                        expected(a, b),
                        "{what} on {engine}, lane {lane}: {a:x}, {b:x}"
                    );
                }
            };
            let (x, y) = (held(&a), held(&b));
            check("in and out", &x, &|a, _| a.clone());
            let mut z = x.clone();
            z *= &y;
            check("product", &z, &product);
            z = x.clone();
            z += &y;
            check("sum", &z, &|a, b| (a + b) % &p);
            // A value in the lanes that is not below p, only below 2p.
            z *= &y;
            check("product with a sum", &z, &|a, b| product(&((a + b) % &p), b));
            z -= &y;
            check("difference from a product", &z, &|a, b| (product(&((a + b) % &p), b) + &p - b) % &p);
            z = x.clone();
            z -= &y;
            check("difference", &z, &|a, b| (a + &p - b) % &p);
            z.square_assign();
            check("square of a difference", &z, &|a, b| product(&((a + &p - b) % &p), &((a + &p - b) % &p)));
            z = x.clone();
            z.square_times(5);
            check("32nd power", &z, &|a, _| a.modpow(&big(32), &p));
            z -= &z.clone();
            check("zero", &z, &|_, _| BigUint::ZERO);
            for _ in 0..9 {
                z -= &y;
                z += &x;
                z += &x;
            }
            check("a chain of sums", &z, &|a, b| (big(18) * a + big(9) * (&p - b)) % &p);
        }
    }
}

#[test]
fn engines_may_be_mixed() {
    let mut random = Random::new(6);
    let (a, b) = (eight(&mut random), eight(&mut random));
    let [x, y] = [&a, &b].map(|numbers| -> [Fp; 8] { std::array::from_fn(|i| element(&numbers[i])) });
    for first in vector_engines() {
        for second in vector_engines() {
            let mut held = Fp8::new_on(first, &x).expect("available");
            let other = Fp8::new_on(second, &y).expect("available");
            assert_eq!(held == other, x == y);
            held *= &other;
            assert_eq!(held.engine(), first);
            assert_eq!(held.to_array(), std::array::from_fn(|i| x[i] * y[i]));
        }
    }
    assert_eq!(Fp8::new(&x).engine(), Engine::best());
    assert!(format!("{:?}", Fp8::new(&x)).contains(&x[7].to_string()));
    let mut held = Fp8::new(&x);
    zeroize::Zeroize::zeroize(&mut held);
    assert_eq!(held.to_array(), [Fp::ZERO; 8]);
}

#[test]
fn batches_of_any_length() {
    let mut random = Random::new(7);
    for count in [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 100] {
        let a: Vec<Fp> = (0..count).map(|_| element(&any_number(&mut random))).collect();
        let b: Vec<Fp> = (0..count).map(|_| element(&any_number(&mut random))).collect();
        let products: Vec<Fp> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
        let squares: Vec<Fp> = a.iter().map(Fp::square).collect();
        let mut out = vec![Fp::ONE; count];
        assert_eq!(mul_batch(&a, &b, &mut out), Ok(()));
        assert_eq!(out, products);
        assert_eq!(sqr_batch(&a, &mut out), Ok(()));
        assert_eq!(out, squares);
        for engine in vector_engines() {
            out.fill(Fp::ONE);
            assert_eq!(mul_batch_on(engine, &a, &b, &mut out), Ok(()));
            assert_eq!(out, products, "{engine}, {count}");
            assert_eq!(sqr_batch_on(engine, &a, &mut out), Ok(()));
            assert_eq!(out, squares, "{engine}, {count}");
        }
    }
    let (a, mut out) = ([Fp::ONE; 3], [Fp::ZERO; 3]);
    let wrong = |expected, found| Err(FpError::LengthsDiffer { expected, found });
    assert_eq!(mul_batch(&a, &a[..2], &mut out), wrong(3, 2));
    assert_eq!(mul_batch(&a[..2], &a[..2], &mut out), wrong(2, 3));
    assert_eq!(sqr_batch(&a, &mut out[..1]), wrong(3, 1));
    assert_eq!(sqr_batch_on(Engine::Portable, &a, &mut out[..1]), wrong(3, 1));
    assert_eq!(out, [Fp::ZERO; 3]);
}

#[test]
fn bytes_that_encode_no_element_are_refused() {
    let p = modulus();
    for number in [p.clone(), &p + big(1), two_to(384) - big(1), two_to(383), &p + two_to(64)] {
        let bytes = fixed(&number, 48);
        assert_eq!(Fp::try_from(&bytes[..]), Err(FpError::OutOfRange), "{number:x}");
    }
    for length in [0, 1, 47, 49, 96] {
        let error = Fp::try_from(&vec![0; length][..]).expect_err("not 48 bytes");
        assert_eq!(error, FpError::WrongLength(length));
        assert!(error.to_string().contains(&format!("not {length}")), "{error}");
    }
    assert!(FpError::OutOfRange.to_string().contains("modulus"));
}

#[test]
fn numbers_are_shown_in_full() {
    assert_eq!(Fp::from(0xabc).to_string(), format!("0x{:096x}", 0xabc));
    assert_eq!(format!("{:?}", -Fp::ONE), format!("Fp(0x{:096x})", modulus() - big(1)));
    assert_eq!(value(&Fp::from(u64::MAX)), big(u64::MAX));
}

fn any_element() -> impl Strategy<Value = Fp> {
    any::<u64>().prop_map(|seed| element(&any_number(&mut Random::new(seed))))
}

proptest! {
    #[test]
    fn it_is_a_field(a in any_element(), b in any_element(), c in any_element()) {
        prop_assert_eq!((a + b, a * b), (b + a, b * a));
        prop_assert_eq!(((a + b) + c, (a * b) * c), (a + (b + c), a * (b * c)));
        prop_assert_eq!(a * (b + c), a * b + a * c);
        prop_assert_eq!((a + Fp::ZERO, a * Fp::ONE, a * Fp::ZERO), (a, a, Fp::ZERO));
        prop_assert_eq!((a + -a, a - b, -(-a)), (Fp::ZERO, a + -b, a));
        prop_assert_eq!(a.square() - b.square(), (a + b) * (a - b));
        if let Some(inverse) = a.invert() {
            prop_assert_eq!((a * inverse, inverse.invert()), (Fp::ONE, Some(a)));
        } else {
            prop_assert!(a.is_zero());
        }
    }

    #[test]
    fn bytes_go_round(a in any_element()) {
        prop_assert_eq!(Fp::from_be_bytes(&a.to_be_bytes()), Ok(a));
        prop_assert_eq!(a.to_string().trim_start_matches("0x").len(), 96);
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_floating_point_environment_changes_nothing() {
    let number = |i: u8| Fp::try_from(&[i.wrapping_mul(29) >> 4; 48][..]).expect("below the modulus");
    let a: [Fp; 8] = std::array::from_fn(|i| number(i as u8 + 1));
    let b: [Fp; 8] = std::array::from_fn(|i| number(i as u8 + 101));
    let all = |engine: Engine| {
        let [mut x, y] =
            [&a, &b].map(|elements| Fp8::new_on(engine, elements).expect("an engine of this processor"));
        x *= &y;
        x += &y;
        x.square_times(3);
        x -= &y;
        let (mut products, mut squares) = ([Fp::ZERO; 8], [Fp::ZERO; 8]);
        mul_batch_on(engine, &a, &b, &mut products).expect("lengths are equal");
        sqr_batch_on(engine, &a, &mut squares).expect("lengths are equal");
        (x.to_array(), products, squares)
    };
    let expected = all(Engine::Portable);
    for engine in vector_engines() {
        zariz_emulator::environment::in_every_environment(engine, &expected, || all(engine));
    }
}
