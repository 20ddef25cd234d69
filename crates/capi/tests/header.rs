//! include/zariz.h is made of the code. A change of it shows in a diff.

use std::{env, fs};

/// cbindgen writes decimal numbers. Codes have fields, and 32 bits.
fn with_codes_in_hexadecimal(header: &str) -> String {
    let line = |line: &str| match line.rsplit_once(' ') {
        Some((define, number)) if define.starts_with("#define ") => match number.parse::<u32>() {
            Ok(code) if code > 0xffff => format!("{define} {code:#010x}u\n"),
            _ => format!("{line}\n"),
        },
        _ => format!("{line}\n"),
    };
    header.lines().map(line).collect()
}

/// `ZARIZ_BLESS=1` writes it instead, as `cargo xtask api` does.
#[test]
fn header() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let config = cbindgen::Config::from_file(format!("{folder}/cbindgen.toml")).expect("cbindgen.toml");
    let bindings = cbindgen::Builder::new().with_crate(folder).with_config(config).generate();
    let mut header = Vec::new();
    bindings.expect("the code is read").write(&mut header);
    let header = with_codes_in_hexadecimal(&String::from_utf8(header).expect("UTF-8"));
    let path = format!("{folder}/include/zariz.h");
    if env::var_os("ZARIZ_BLESS").is_some() {
        fs::write(&path, &header).expect("the header is written");
    }
    let before = fs::read_to_string(&path).expect("the header is there");
    assert!(
        before == header,
        "include/zariz.h is not what the code makes; `cargo xtask api` writes it again. What programs use must \
         stay: a function or struct that changes needs a new minor version (from 1.0, a new major one)."
    );
}

/// The version of the header is that of the crate.
#[test]
fn version() {
    let parts = [env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR")].map(|part| part.parse());
    assert_eq!(parts, [Ok(zariz_capi::ZARIZ_VERSION_MAJOR), Ok(zariz_capi::ZARIZ_VERSION_MINOR)]);
}
