//! The security of a modulus in bits.

/// The security of an RSA modulus (NIST SP 800-56B rev. 2, appendix D): for the usual lengths the figures that are always
/// quoted, for others the formula for the number field sieve, rounded to a multiple of eight.
pub fn security(bits: usize) -> usize {
    match bits {
        2048 => 112,
        3072 => 128,
        4096 => 152,
        6144 => 176,
        7680 => 192,
        8192 => 200,
        15_360 => 256,
        ..8 => 0,
        _ => {
            let x = bits as f64 * std::f64::consts::LN_2;
            let work = (1.923 * (x * x.ln().powi(2)).cbrt() - 4.69) / std::f64::consts::LN_2;
            // Never more than the next figure that is quoted.
            let most = match bits {
                ..=7680 => 192,
                7681..=15_360 => 256,
                _ => 1200,
            };
            ((work as usize + 4) & !7).min(most)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::security;

    #[test]
    fn as_quoted() {
        // 1024 bits: 80, as everybody quotes.
        assert_eq!([512, 1024, 2048, 2047, 2056].map(security), [56, 80, 112, 112, 112]);
    }
}
