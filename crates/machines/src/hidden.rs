//! Features of the processor that a setting hides from zariz.

use std::sync::OnceLock;

/// The environment variable that hides features of the processor, as `OPENSSL_ia32cap` does for OpenSSL. Its
/// value is names of [`HIDEABLE`], separated by commas. Each process reads it once.
pub const HIDE: &str = "ZARIZ_HIDE";

/// What [`HIDE`] can hide: ADX; AVX2, and with it AVX-512; AVX-512; the IFMA instructions, of AVX-512 and of
/// AVX.
pub const HIDEABLE: &[&str] = &["adx", "avx2", "avx512", "ifma"];

/// The names in [`HIDE`]. A name that is not in [`HIDEABLE`] hides nothing.
pub fn hidden() -> &'static [String] {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    NAMES.get_or_init(|| names(&std::env::var(HIDE).unwrap_or_default()))
}

/// Whether [`HIDE`] has the name.
pub fn is_hidden(name: &str) -> bool {
    hidden().iter().any(|hidden| hidden == name)
}

fn names(value: &str) -> Vec<String> {
    value.split(',').map(|name| name.trim().to_ascii_lowercase()).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_separated_by_commas() {
        assert_eq!(super::names(" AVX512,ifma, ,"), ["avx512", "ifma"]);
        assert!(super::names("").is_empty());
    }
}
