//! `zariz modexp`.

use num_bigint::BigUint;

use crate::args;
use crate::run::{zariz, zariz_with};

#[test]
fn small_numbers_in_every_form() {
    let input = "2 a 3e9\n0X02\t0Xa\t0X3E9\r\n  02   00a 0003e9  \n0 0 7\n0 5 7\n6 ffffffffffffffffffffffffffffffff 7\n8 1 7\n1 0 3";
    for public in [&["--public"][..], &[]] {
        let done = zariz_with(["modexp"].iter().chain(public), input.as_bytes()).exits(0).says_nothing();
        assert_eq!(done.lines(), ["17", "17", "17", "1", "0", "6", "1", "1"]);
    }
}

#[test]
fn options_fill_what_lines_leave_out() {
    let options = ["modexp", "--modulus", "0x65", "--exponent", "3"];
    let done = zariz_with(options, b"2\n2 4\n2 4 7\n64\n").exits(0);
    assert_eq!(done.lines(), ["8", "10", "2", "64"]);
    // Only the exponent, too.
    assert_eq!(zariz_with(["modexp", "--exponent", "3"], b"2 2 7\n2\n").exits(4).lines(), ["4", ""]);
}

#[test]
fn bad_lines_leave_empty_ones() {
    let input = "2 3 5\n\n2 3 4\nzz 3 5\n2 3 5 7\n2 3 0\n2 3 1\n2\n2 3\n\u{ff} 1 3\n4 1 5\n";
    let done = zariz_with(["modexp"], input.as_bytes()).exits(4);
    assert_eq!(done.lines(), ["3", "", "", "", "", "", "", "", "", "", "4"]);
    let done = done.says(&[
        "error: line 2: the line is empty",
        "error: line 3: the modulus is even",
        "error: line 4: base: 'z' is not a hexadecimal digit",
        "error: line 5: more than three numbers",
        "error: line 6: the modulus is zero",
        "error: line 7: the modulus is one",
        "error: line 8: no exponent",
        "error: line 9: no modulus",
        "error: line 10: base: ",
        "error: 9 of 11 lines failed",
    ]);
    assert_eq!(done.stderr.lines().count(), 10);
    let too_long = format!("2 3 1{:0>4096}1\n2 3 5\n", 0);
    assert_eq!(
        zariz_with(["modexp"], too_long.as_bytes()).exits(4).says(&["line 1: ", "16384"]).lines(),
        ["", "3"]
    );
}

#[test]
fn an_option_that_is_no_modulus_is_bad_input() {
    for modulus in ["0", "1", "a", "10"] {
        zariz(["modexp", "--modulus", modulus]).exits(3).says(&["--modulus: the modulus is"]);
    }
}

#[test]
fn empty_input_is_empty_output() {
    assert_eq!(zariz(args!["modexp", "--modulus", "7"]).exits(0).says_nothing().stdout, b"");
}

/// Pseudo-random bytes.
fn noise(state: &mut u64, length: usize) -> Vec<u8> {
    let mut byte = || {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 56) as u8
    };
    (0..length).map(|_| byte()).collect()
}

#[test]
fn mixed_lines_agree_with_another_library() {
    let mut state = 1;
    let (mut input, mut expected) = (String::new(), Vec::new());
    for i in 0..300 {
        let number = |state: &mut u64, most: usize| {
            let length = 1 + usize::from(noise(state, 1)[0]) * most / 256;
            BigUint::from_bytes_be(&noise(state, length))
        };
        let (base, exponent) = (number(&mut state, 160), number(&mut state, 40));
        // Every third line repeats an earlier modulus.
        let modulus = if i % 3 == 0 {
            BigUint::from(1_000_003u32)
        } else {
            number(&mut state, 150) | BigUint::from(1u32)
        };
        let modulus = if modulus == BigUint::from(1u32) { BigUint::from(3u32) } else { modulus };
        input += &format!("{base:x} {exponent:X} 0x{modulus:x}\n");
        expected.push(format!("{:x}", base.modpow(&exponent, &modulus)));
    }
    for options in [&["--threads", "1"][..], &["--threads", "3"], &["--public"], &["--engine", "portable"]] {
        let done = zariz_with(["modexp"].iter().chain(options), input.as_bytes()).exits(0).says_nothing();
        assert_eq!(done.lines(), expected, "{options:?}");
    }
}

#[test]
fn a_fixed_base_gives_what_the_base_on_every_line_gives() {
    let mut state = 2;
    let modulus = BigUint::from_bytes_be(&noise(&mut state, 130)) | BigUint::from(1u32);
    let base = BigUint::from_bytes_be(&noise(&mut state, 150));
    let (mut exponents, mut lines, mut expected) = (String::new(), String::new(), Vec::new());
    for i in 0..200 {
        // Increasing lengths, to beyond the modulus; with leading zeros; and zero.
        let exponent = BigUint::from_bytes_be(&noise(&mut state, i));
        let zeros = "0".repeat(i % 7);
        exponents += &format!("  0x{zeros}{exponent:x}\n");
        lines += &format!("{base:x} {exponent:x}\n");
        expected.push(format!("{:x}", base.modpow(&exponent, &modulus)));
    }
    let (modulus, base) = (format!("{modulus:x}"), format!("{base:x}"));
    for options in [&["--threads", "1"][..], &["--threads", "3"], &["--public"], &["--engine", "portable"]] {
        let modexp = ["modexp", "--modulus", &modulus];
        let with_base = ["--fixed-base", &base];
        let fixed = modexp.iter().chain(&with_base).chain(options);
        let done = zariz_with(fixed, exponents.as_bytes()).exits(0).says_nothing();
        assert_eq!(done.lines(), expected, "{options:?}");
        assert_eq!(zariz_with(modexp.iter().chain(options), lines.as_bytes()).exits(0).stdout, done.stdout);
    }
    for (base, expected) in
        [("0", ["0", "1", "0"]), ("1", ["1", "1", "1"]), ("65", ["0", "1", "0"]), ("64", ["64", "1", "1"])]
    {
        let done =
            zariz_with(["modexp", "--modulus", "65", "--fixed-base", base], b"1\n0\nffffffffffffffffff0\n");
        assert_eq!(done.exits(0).says_nothing().lines(), expected, "{base}");
    }
}

#[test]
fn bad_exponents_of_a_fixed_base_leave_empty_lines() {
    let modexp = ["modexp", "--modulus", "65", "--fixed-base", "2"];
    let done = zariz_with(modexp, "3\n\n1 2\nxy\n0x\n\u{ff}\n4\n".as_bytes()).exits(4);
    assert_eq!(done.lines(), ["8", "", "", "", "", "", "10"]);
    let done = done.says(&[
        "error: line 2: the line is empty: an exponent was expected",
        "error: line 3: more than one number on the line",
        "error: line 4: exponent: 'x' is not a hexadecimal digit",
        "error: line 5: exponent: ",
        "error: line 6: exponent: ",
        "error: 5 of 7 lines failed",
    ]);
    assert_eq!(done.stderr.lines().count(), 6);
    assert_eq!(zariz_with(modexp, b"").exits(0).says_nothing().stdout, b"");

    zariz(["modexp", "--fixed-base", "2"]).exits(2).says(&["--fixed-base needs --modulus HEX"]);
    zariz(["modexp", "--fixed-base", "x", "--modulus", "7"]).exits(2).says(&["'x' is not"]);
    let both = ["modexp", "--fixed-base", "2", "--modulus", "7", "--exponent", "3"];
    zariz(both).exits(2).says(&["--fixed-base", "--exponent", "cannot be used with"]);
    zariz(["modexp", "--fixed-base", "2", "--modulus", "8"])
        .exits(3)
        .says(&["--modulus: the modulus is even"]);
}
