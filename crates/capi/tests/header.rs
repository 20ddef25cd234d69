//! include/zariz.h is made of the code. A change of it shows in a diff.

use std::{env, fs};

/// `ZARIZ_BLESS=1` writes it instead, as `cargo xtask api` does.
#[test]
fn header() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let config = cbindgen::Config::from_file(format!("{folder}/cbindgen.toml")).expect("cbindgen.toml");
    let bindings = cbindgen::Builder::new().with_crate(folder).with_config(config).generate();
    let mut header = Vec::new();
    bindings.expect("the code is read").write(&mut header);
    let path = format!("{folder}/include/zariz.h");
    if env::var_os("ZARIZ_BLESS").is_some() {
        fs::write(&path, &header).expect("the header is written");
    }
    let before = fs::read(&path).expect("the header is there");
    assert!(
        before == header,
        "include/zariz.h is not what the code makes; `cargo xtask api` writes it again. What programs were compiled with \
         must stay: a function or struct that changes needs a new minor version (from 1.0, a new major one)."
    );
}
