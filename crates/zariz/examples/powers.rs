//! Powers modulo odd numbers: one at a time, many with one modulus, and many with moduli of their own.

use zariz::{Modulus, ModulusError, PowJob, pow_many, pow_many_vartime};

fn main() -> Result<(), ModulusError> {
    // The prime 2^521 − 1, big-endian. By Fermat's theorem, a^(p − 1) = 1.
    let prime = [&[0x01][..], &[0xff; 65]].concat();
    let minus_one = [&prime[..65], &[0xfe]].concat();
    let modulus = Modulus::new(&prime)?;
    let one = [&[0; 65][..], &[1]].concat();
    assert_eq!(modulus.pow(b"any base", &minus_one), one);
    println!("a^(p - 1) = 1 modulo a prime of {} bits", modulus.bits());

    // Eight bases cost little more than one where the processor has AVX-512.
    let bases: [&[u8]; 8] = [b"a", b"b", b"c", b"d", b"e", b"f", b"g", b"h"];
    assert_eq!(modulus.pow_batch(&bases, &minus_one), vec![one.clone(); 8]);

    // Moduli, bases and exponents of any length in one call.
    let short = Modulus::new(&[35])?;
    let jobs = [
        PowJob { modulus: &modulus, base: b"any base", exponent: &minus_one },
        PowJob { modulus: &short, base: &[2], exponent: &[10] },
    ];
    let powers = pow_many(&jobs);
    assert_eq!(powers, [one, vec![9]]);
    // For exponents that are public: faster, in time that depends on them.
    assert_eq!(pow_many_vartime(&jobs), powers);
    println!("2^10 = {} modulo 35", powers[1][0]);
    Ok(())
}
