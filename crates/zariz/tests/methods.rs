//! Methods of the caller's choice, through the public interface.

mod common;

use common::{Random, engines};
use num_bigint::BigUint;
use zariz::{Engine, Method, Modulus, PowJob, Residues, ResiduesError, pow_many};

// Where the processor lacks AVX-IFMA or AVX512-IFMA, their machine code runs all the same.
zariz_emulator::install_before_main!();

fn odd(random: &mut Random, bytes: usize) -> Vec<u8> {
    let mut number = random.bytes(bytes);
    number[0] |= 0x80;
    number[bytes - 1] |= 1;
    number
}

fn big(bytes: &[u8]) -> BigUint {
    BigUint::from_bytes_be(bytes)
}

/// Jobs of all methods, several sizes and all engines in one call.
#[test]
fn powers_of_all_methods_in_one_call() {
    let mut random = Random::new(21);
    for engine in engines() {
        let cases: Vec<_> = (0..40)
            .map(|i| {
                let method = Method::ALL[i % Method::ALL.len()];
                let number = odd(&mut random, [100, 128, 256][i % 3]);
                let modulus =
                    Modulus::new(&number).expect("a modulus").with_engine(engine).expect("available");
                let modulus = if i % 4 == 3 { modulus } else { modulus.with_method(method) };
                (modulus, number, random.bytes(130), random.bytes(9))
            })
            .collect();
        let jobs: Vec<_> =
            cases.iter().map(|(modulus, _, base, exponent)| PowJob { modulus, base, exponent }).collect();
        for (result, (_, modulus, base, exponent)) in pow_many(&jobs).iter().zip(&cases) {
            assert_eq!(big(result), big(base).modpow(&big(exponent), &big(modulus)), "{engine}");
        }
    }
}

/// Single operations, a modulus of its own in every lane, and lanes left over.
#[test]
fn residues_are_multiplied_and_squared() {
    let mut random = Random::new(22);
    for engine in engines() {
        for &method in Method::ALL {
            for count in [1, engine.lanes()] {
                let numbers: Vec<_> = (0..count).map(|_| odd(&mut random, 128)).collect();
                let moduli: Vec<_> = numbers
                    .iter()
                    .map(|n| {
                        Modulus::new(n)
                            .expect("a modulus")
                            .with_engine(engine)
                            .expect("available")
                            .with_method(method)
                    })
                    .collect();
                let (x, y): (Vec<_>, Vec<_>) =
                    (0..count).map(|_| (random.bytes(140), random.bytes(20))).unzip();
                let xs: Vec<&[u8]> = x.iter().map(|x| &x[..]).collect();
                let ys: Vec<&[u8]> = y.iter().map(|y| &y[..]).collect();
                let moduli: Vec<_> = moduli.iter().collect();
                let [mut x_residues, y_residues] =
                    [&xs, &ys].map(|numbers| Residues::new(&moduli, numbers).expect("residues"));
                assert_eq!(x_residues.lanes(), engine.lanes());
                #[cfg(feature = "papers")]
                let entry = y_residues.to_entry();
                // ((x·y)²·y)², and once more.
                for _ in 0..2 {
                    x_residues.multiply(&y_residues).expect("the moduli are the same");
                    x_residues.square();
                    #[cfg(feature = "papers")]
                    x_residues.multiply_entry(&entry).expect("the moduli are the same");
                    #[cfg(not(feature = "papers"))]
                    x_residues.multiply(&y_residues).expect("the moduli are the same");
                    x_residues.square();
                }
                for (i, result) in x_residues.to_bytes().iter().enumerate() {
                    let (m, y) = (big(&numbers[i]), big(&y[i]));
                    let mut x = big(&x[i]);
                    for _ in 0..2 {
                        x = (&x * &y).pow(2) % &m;
                        x = (&x * &y).pow(2) % &m;
                    }
                    assert_eq!(big(result), x, "{method} on {engine}, lane {i} of {count}");
                    assert_eq!(result.len(), 128);
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_residues_is_told_why() {
    let modulus = |bytes: &[u8]| {
        Modulus::new(bytes).expect("a modulus").with_engine(Engine::Portable).expect("available")
    };
    let (small, large) = (modulus(&[35]), modulus(&[0xff; 32]));
    let refused =
        |moduli: &[&Modulus], numbers: &[&[u8]]| Residues::new(moduli, numbers).expect_err("no residues");
    assert_eq!(refused(&[], &[]), ResiduesError::Empty);
    assert_eq!(refused(&[&small, &small], &[&[1][..]; 2]), ResiduesError::TooMany { moduli: 2, lanes: 1 });
    assert_eq!(refused(&[&small], &[]), ResiduesError::Lengths { moduli: 1, numbers: 0 });
    assert_eq!(refused(&[&small], &[&[1], &[2]]), ResiduesError::Lengths { moduli: 1, numbers: 2 });
    if let Some(engine) = engines().into_iter().find(|engine| engine.has_lanes() && engine.lanes() > 1) {
        let modulus =
            |bytes: &[u8]| Modulus::new(bytes).expect("a modulus").with_engine(engine).expect("available");
        let (first, longer) = (modulus(&[0xff; 32]), modulus(&[0xff; 64]));
        let other = first.with_method(Method::KARATSUBA_SQUARES);
        for second in [&longer, &other, &large] {
            let error = refused(&[&first, second], &[&[1][..]; 2]);
            assert_eq!(error, ResiduesError::Mixed { index: 1 });
            assert!(error.to_string().contains("modulus 1"));
        }
    }
}

#[test]
fn a_copy_of_residues_goes_its_own_way() {
    for engine in engines() {
        let modulus = Modulus::new(&[0xff; 32]).expect("a modulus").with_engine(engine).expect("available");
        let mut x = Residues::new(&[&modulus], &[&[3]]).expect("residues");
        x.square();
        let mut copy = x.clone();
        assert_eq!((copy.len(), copy.is_empty(), copy.lanes()), (1, false, x.lanes()), "{engine}");
        copy.multiply(&x).expect("the same modulus");
        assert_eq!([&x, &copy].map(|x| x.to_bytes()[0][31]), [9, 81], "{engine}");
        let text = format!("{x:?}");
        assert!(text.contains("numbers: 1") && !text.contains('9'), "{text}");
    }
}

#[test]
fn factors_have_the_same_moduli_engine_and_method() {
    let thirty_five =
        Modulus::new(&[35]).expect("a modulus").with_engine(Engine::Portable).expect("available");
    let again = Modulus::new(&[0, 35]).expect("a modulus").with_engine(Engine::Portable).expect("available");
    let mut x = Residues::new(&[&thirty_five], &[&[2]]).expect("residues");
    assert_eq!(x.multiply(&Residues::new(&[&again], &[&[3]]).expect("residues")), Ok(()), "equal moduli");
    let others = [
        Modulus::new(&[37]).expect("a modulus").with_engine(Engine::Portable).expect("available"),
        thirty_five.with_engine(Engine::Scalar).expect("available"),
        thirty_five.with_engine(Engine::Rsaz).expect("available"),
        thirty_five.with_method(Method::KARATSUBA_SQUARES),
    ];
    for other in &others {
        let y = Residues::new(&[other], &[&[3]]).expect("residues");
        assert_eq!(x.multiply(&y), Err(ResiduesError::Different), "{other:?}");
    }
    assert_eq!(x.to_bytes(), [[6]], "nothing changed");
    if let Some(engine) = engines().into_iter().find(|engine| engine.lanes() > 1) {
        let modulus = thirty_five.with_engine(engine).expect("available");
        let [mut one, two] = [1, 2]
            .map(|count| Residues::new(&vec![&modulus; count], &vec![&[3][..]; count]).expect("residues"));
        assert_eq!(one.multiply(&two), Err(ResiduesError::Different), "another number of lanes");
    }
}

/// One method's state leaves no trace in the next.
#[test]
fn the_last_method_counts() {
    for engine in engines() {
        // Primes of 1536 bits: 30 digits, which Karatsuba pads.
        let number = [&[0x80][..], &[1; 191]].concat();
        let modulus = Modulus::new(&number).expect("a modulus").with_engine(engine).expect("available");
        let usual = modulus.with_method(modulus.method());
        for &method in Method::ALL {
            let back = modulus.with_method(method).with_method(modulus.method());
            assert_eq!(back.method(), modulus.method());
            // They have as many digits, or they could not share a batch.
            let moduli = &[&back, &usual][..engine.lanes().min(2)];
            Residues::new(moduli, &vec![&[2][..]; moduli.len()]).expect("residues");
            let default = modulus.with_method(method).with_method(None);
            assert_eq!((default.method(), default.dispatch()), (modulus.method(), modulus.dispatch()));
            Residues::new(&[&default, &modulus][..moduli.len()], &vec![&[2][..]; moduli.len()])
                .expect("residues");
            let expected = if engine.has_lanes() { method } else { Method::AMM };
            assert_eq!(modulus.with_method(method).method(), expected, "{method} on {engine}");
        }
    }
}
