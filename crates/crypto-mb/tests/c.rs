//! The library as C programs have it: the headers in C99 and C++17, linked and run, with every setting; what
//! the library exports.

mod common;

use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Key, SIZES, bytes, words};
use num_bigint::BigUint;
use zariz_crypto_mb::LANES;
use zariz_needs::needs;

/// All functions of the interface that zariz has, in the order of the dynamic symbols.
const FUNCTIONS: &[&str] = &[
    "mbx_RSA1K_private_Method",
    "mbx_RSA1K_private_crt_Method",
    "mbx_RSA1K_pub65537_Method",
    "mbx_RSA2K_private_Method",
    "mbx_RSA2K_private_crt_Method",
    "mbx_RSA2K_pub65537_Method",
    "mbx_RSA3K_private_Method",
    "mbx_RSA3K_private_crt_Method",
    "mbx_RSA3K_pub65537_Method",
    "mbx_RSA4K_private_Method",
    "mbx_RSA4K_private_crt_Method",
    "mbx_RSA4K_pub65537_Method",
    "mbx_RSA_Method_BufSize",
    "mbx_RSA_private_Method",
    "mbx_RSA_private_crt_Method",
    "mbx_RSA_pub65537_Method",
    "mbx_exp1024_mb8",
    "mbx_exp2048_mb8",
    "mbx_exp3072_mb8",
    "mbx_exp4096_mb8",
    "mbx_exp_BufferSize",
    "mbx_exp_mb8",
    "mbx_get_algo_info",
    "mbx_get_cpu_features",
    "mbx_getversion",
    "mbx_is_crypto_mb_applicable",
    "mbx_rsa_private_crt_mb8",
    "mbx_rsa_private_crt_ssl_mb8",
    "mbx_rsa_private_mb8",
    "mbx_rsa_private_ssl_mb8",
    "mbx_rsa_public_mb8",
    "mbx_rsa_public_ssl_mb8",
    "mbx_set_cpu_features",
    "mbx_sm3_final_mb16",
    "mbx_sm3_init_mb16",
    "mbx_sm3_update_mb16",
];

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

/// The shared library, which cargo makes beside the tests.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("this test's path");
    let folder = test.parent().expect("its folder");
    folder.join("libzariz_crypto_mb.so")
}

/// Runs a command, which must succeed, and returns what it prints.
fn run(program: impl AsRef<OsStr>, arguments: &[&OsStr], environment: &[(&str, &OsStr)]) -> String {
    let mut command = Command::new(&program);
    command.args(arguments).envs(environment.iter().copied());
    let output = command.output().expect("it starts");
    let [out, errors] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{command:?}: {}\n{out}{errors}", output.status);
    out.into_owned()
}

#[needs("nm")]
#[test]
fn exports_are_those_of_the_interface() {
    let library = library();
    let listed = run(
        "nm",
        &["-D", "--defined-only", "--format=posix"]
            .map(OsStr::new)
            .iter()
            .copied()
            .chain([library.as_os_str()])
            .collect::<Vec<_>>(),
        &[],
    );
    let names: Vec<_> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, FUNCTIONS);
}

/// Numbers and results as arrays of C, for `tests/calls.c`.
fn numbers() -> String {
    let mut text = String::from("#include <crypto_mb/defs.h>\n");
    for bits in SIZES {
        let keys = Key::generate(bits, 65_537);
        let inputs: Vec<_> = keys.iter().enumerate().map(|(i, key)| key.number(i)).collect();
        let mut array = |kind: &str, name: &str, len: usize, number: &dyn Fn(usize) -> String| {
            writeln!(text, "static const {kind} {name}_{bits}[{LANES}][{len}] = {{").expect("memory");
            (0..LANES).for_each(|lane| writeln!(text, "{{{}}},", number(lane)).expect("memory"));
            text.push_str("};\n");
        };
        let in_words = |number: &BigUint, len: usize| {
            words(number, len).iter().map(|word| format!("{word:#x}ull")).collect::<Vec<_>>().join(",")
        };
        let in_bytes = |number: &BigUint| {
            bytes(number, bits / 8).iter().map(u8::to_string).collect::<Vec<_>>().join(",")
        };
        let (full, half, size) = (bits / 64, bits / 128, bits / 8);
        array("int64u", "n", full, &|i| in_words(&keys[i].n, full));
        array("int64u", "d", full, &|i| in_words(&keys[i].d, full));
        array("int64u", "p", half, &|i| in_words(&keys[i].p, half));
        array("int64u", "q", half, &|i| in_words(&keys[i].q, half));
        array("int64u", "dp", half, &|i| in_words(&keys[i].dp, half));
        array("int64u", "dq", half, &|i| in_words(&keys[i].dq, half));
        array("int64u", "iq", half, &|i| in_words(&keys[i].qinv, half));
        array("int64u", "x_words", full, &|i| in_words(&inputs[i], full));
        array("int64u", "signed_words", full, &|i| in_words(&keys[i].private(&inputs[i]), full));
        array("int8u", "x", size, &|i| in_bytes(&inputs[i]));
        array("int8u", "signed", size, &|i| in_bytes(&keys[i].private(&inputs[i])));
        array("int8u", "opened", size, &|i| in_bytes(&keys[i].public(&inputs[i])));
    }
    text
}

#[needs("cc", "c++", "libcrypto")]
#[test]
fn programs_in_c_and_cpp() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("numbers.h"), numbers()).expect("written");
    // What crypto_mb's users link and load.
    for name in ["libcrypto_mb.so", "libcrypto_mb.so.12", "libzariz_crypto_mb.so"] {
        std::os::unix::fs::symlink(library(), folder.path().join(name)).expect("a link");
    }
    let source = Path::new(FOLDER).join("tests/calls.c");
    let headers = Path::new(FOLDER).join("include");
    let flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1"].map(OsStr::new);
    for (compiler, standard, language) in [("cc", "-std=c99", "c"), ("c++", "-std=c++17", "c++")] {
        let program = folder.path().join(language.replace('+', "p"));
        let mut arguments = flags.to_vec();
        arguments.extend([standard, "-x", language].map(OsStr::new));
        arguments.extend([source.as_os_str(), OsStr::new("-o"), program.as_os_str()]);
        arguments.extend([
            OsStr::new("-I"),
            headers.as_os_str(),
            OsStr::new("-I"),
            folder.path().as_os_str(),
        ]);
        arguments.extend([OsStr::new("-L"), folder.path().as_os_str()]);
        arguments.extend(["-lcrypto_mb", "-lcrypto"].map(OsStr::new));
        run(compiler, &arguments, &[]);
        // With processors that have less, and with no, few and many kept keys.
        let settings = [("", "256"), ("avx512", "0"), ("avx512,ifma", "3"), ("avx512,ifma,avx2,adx", "x")];
        for (hidden, kept) in settings.into_iter().take(if language == "c" { 4 } else { 1 }) {
            let environment = [
                ("LD_LIBRARY_PATH", folder.path().as_os_str()),
                ("ZARIZ_HIDE", OsStr::new(hidden)),
                ("ZARIZ_CRYPTO_MB_KEYS", OsStr::new(kept)),
            ];
            assert_eq!(
                run(&program, &[], &environment),
                "right\n",
                "{language}, without {hidden}, {kept} keys"
            );
        }
    }
}
