//! `#[needs("openssl")]` above `#[test]`: where the program is missing, the test is ignored, and the report
//! says why.
//!
//! This is decided at compile time: a test that was compiled where a program was missing stays ignored until
//! it is compiled again. With `ZARIZ_REQUIRE_TOOLS` in the environment, as in all of `cargo xtask`, no test
//! is ignored for this: it runs, and fails without its program. Setting the variable compiles again what was
//! ignored, and nothing else.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;
use std::env::{self, consts::EXE_SUFFIX};
use std::path::Path;
use std::process::Command;

use zariz_peers::{Gmp, OpenSsl};

/// Ignores the test where something of a list is missing: a program by its name, or `"GMP"`, `"libcrypto"` or
/// `"legacy.so"`, OpenSSL's own module.
#[proc_macro_attribute]
pub fn needs(names: TokenStream, test: TokenStream) -> TokenStream {
    // Below `#[test]`, it would come too late to be seen.
    if !test.to_string().contains("[test]") {
        return tokens("compile_error!(\"#[needs] must be above #[test]\");");
    }
    let names = names.to_string();
    let Some(why) = names.split(',').find_map(|name| missing(name.trim().trim_matches('"'))) else {
        return test;
    };
    let mut before = tokens("const _: Option<&str> = option_env!(\"ZARIZ_REQUIRE_TOOLS\");");
    if env::var_os("ZARIZ_REQUIRE_TOOLS").is_none() {
        before.extend(tokens(&format!("#[ignore = {why:?}]")));
    }
    before.extend(test);
    before
}

/// What the report says where this is missing.
fn missing(name: &str) -> Option<String> {
    match name {
        "GMP" => Gmp::load().err().map(|error| error.to_string()),
        "libcrypto" => OpenSsl::load().err().map(|error| error.to_string()),
        "legacy.so" => {
            let said = Command::new("openssl").args(["info", "-modulesdir"]).output();
            let folder =
                said.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_owned()).unwrap_or_default();
            (!Path::new(&folder).join(name).is_file())
                .then(|| "legacy.so, a module of OpenSSL, is missing".into())
        }
        program => {
            let folders = env::var_os("PATH").unwrap_or_default();
            let found = env::split_paths(&folders)
                .any(|folder| folder.join(format!("{program}{EXE_SUFFIX}")).is_file());
            (!found).then(|| format!("the program {program} is missing"))
        }
    }
}

fn tokens(text: &str) -> TokenStream {
    text.parse().expect("Rust")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(missing("cargo"), None);
        assert_eq!(missing("no-such-program"), Some("the program no-such-program is missing".into()));
    }
}
