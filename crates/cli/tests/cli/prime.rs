//! `zariz prime`.

use num_bigint::BigUint;
use zariz_needs::needs;

use crate::args;
use crate::run::{Folder, openssl, zariz, zariz_with};

/// Whether a number is prime, with another library's powers: Miller-Rabin with the first primes as bases.
/// This is no proof for chosen numbers, but enough for random ones.
fn is_prime(number: &BigUint) -> bool {
    let (one, two) = (BigUint::from(1u32), BigUint::from(2u32));
    let bases = [2u32, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37].map(BigUint::from);
    if bases.contains(number) {
        return true;
    }
    if *number < two || bases.iter().any(|base| (number % base).bits() == 0) {
        return false;
    }
    let less = number - &one;
    let twos = less.trailing_zeros().expect("not zero");
    bases.iter().all(|base| {
        let mut power = base.modpow(&(&less >> twos), number);
        power == one
            || (0..twos).any(|_| {
                let found = power == less;
                power = power.modpow(&two, number);
                found
            })
    })
}

fn number(line: &str) -> BigUint {
    BigUint::parse_bytes(line.as_bytes(), 16).expect("hexadecimal")
}

#[test]
fn primes_have_their_bits_and_are_prime() {
    for (bits, options) in [
        (512, &["--count", "9"][..]),
        (512, &["--count", "9", "--threads", "1", "--engine", "portable"]),
        (768, &["--count", "9", "--incremental", "--threads", "3"]),
        (1024, &[]),
    ] {
        let bits_text = bits.to_string();
        let done = zariz(["prime", "--bits", &bits_text].iter().chain(options)).exits(0).says_nothing();
        let mut lines = done.lines();
        assert_eq!(lines.len(), if options.is_empty() { 1 } else { 9 });
        for line in &lines {
            assert!(line.bytes().all(|digit| b"0123456789abcdef".contains(&digit)), "{line}");
            assert!(number(line).bits() == bits && is_prime(&number(line)), "{line}");
        }
        assert!(done.text().ends_with('\n'));
        lines.sort();
        lines.dedup();
        assert_eq!(lines.len(), done.lines().len(), "a prime came twice");
    }
}

#[test]
fn safe_primes_have_a_half_that_is_prime() {
    for options in [&[][..], &["--incremental"]] {
        let done = zariz(["prime", "--bits", "512", "--safe", "--count", "2"].iter().chain(options)).exits(0);
        for line in done.says_nothing().lines() {
            let prime = number(line);
            assert!(prime.bits() == 512 && is_prime(&prime) && is_prime(&(prime >> 1)), "{line}");
        }
    }
}

#[needs("openssl")]
#[test]
fn openssl_takes_them_for_primes() {
    for options in [&[][..], &["--incremental"], &["--safe"], &["--safe", "--incremental"]] {
        let done = zariz(["prime", "--bits", "512", "--count", "2"].iter().chain(options)).exits(0);
        for line in done.says_nothing().lines() {
            let text = String::from_utf8(openssl(["prime", "-hex", line])).expect("text");
            assert!(text.contains("is prime"), "{options:?}: {text}");
        }
    }
}

#[test]
fn primes_go_to_a_file_for_the_owner_alone() {
    let folder = Folder::new();
    let out = folder.file("primes", "before");
    let done = zariz(args!["prime", "--bits", "512", "--count", "3", "--out", out]).exits(0).says_nothing();
    assert!(done.stdout.is_empty());
    let text = String::from_utf8(folder.read("primes")).expect("text");
    assert!(text.lines().count() == 3 && text.lines().all(|line| is_prime(&number(line))), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&out).expect("there").permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(folder.names(), ["primes"]);
    zariz(args!["prime", "--bits", "512", "--out", "/does/not/exist/either"])
        .exits(3)
        .says(&["No such file"]);
}

#[test]
fn a_reader_that_has_enough_ends_the_run_quietly() {
    let mut child = crate::run::program();
    child.args(["prime", "--bits", "512", "--count", "100000000"]);
    child.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = child.spawn().expect("started");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("a pipe");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).expect("a prime");
    let output = child.wait_with_output().expect("ended");
    assert_eq!((output.status.success(), &output.stderr[..]), (false, &b""[..]));
    assert!(is_prime(&number(line.trim_end())));
}

/// Numbers in hexadecimal, and whether they are prime.
fn known() -> Vec<(String, bool)> {
    // Mersenne primes, and composite numbers of the same form.
    let mersenne = |bits: u32| format!("{:x}", (BigUint::from(1u32) << bits) - 1u32);
    let product = format!("{:x}", number(&mersenne(521)) * number(&mersenne(607)));
    let small = ["0", "1", "2", "3", "4", "5", "9", "b"]
        .map(|text| (text.to_owned(), ["2", "3", "5", "b"].contains(&text)));
    // 561, 1105 and 294409 are Carmichael numbers; 3215031751 is a strong pseudoprime for 2, 3, 5 and 7, and
    // 3825123056546413051 for the primes up to 23.
    let pseudo = ["231", "451", "47e09", "bfa17dc7", "3515818fa4ceb57b"].map(|text| (text.to_owned(), false));
    let large = [(521, true), (523, false), (1279, true), (1277, false), (2203, true), (2048, false)];
    let large = large.map(|(bits, is_prime)| (mersenne(bits), is_prime));
    let even = (format!("{}0", mersenne(521)), false);
    small.into_iter().chain(pseudo).chain(large).chain([(product, false), even]).collect()
}

#[test]
fn one_number_is_prime_or_composite() {
    for (text, prime) in known() {
        let (word, code) = if prime { ("prime\n", 0) } else { ("composite\n", 1) };
        for text in [text.clone(), format!("0x000{}", text.to_uppercase())] {
            assert_eq!(zariz(["prime", "--check", &text]).exits(code).says_nothing().text(), word, "{text}");
        }
    }
}

#[test]
fn lines_are_checked_in_order() {
    let check = |input: &str| zariz_with(["prime", "--check", "-"], input.as_bytes());
    let (mut input, mut expected) = (String::new(), Vec::new());
    for (text, prime) in known().iter().cycle().take(300) {
        input += &format!("{text}\n");
        expected.push(if *prime { "prime" } else { "composite" });
    }
    for options in [&["--threads", "1"][..], &["--threads", "3"]] {
        let done = zariz_with(["prime", "--check", "-"].iter().chain(options), input.as_bytes());
        assert_eq!(done.exits(1).says_nothing().lines(), expected);
    }
    let primes: Vec<String> = known().into_iter().filter(|(_, prime)| *prime).map(|(text, _)| text).collect();
    assert_eq!(check(&primes.join("\r\n")).exits(0).says_nothing().lines(), vec!["prime"; primes.len()]);
    check("").exits(1).says(&["nothing to check", "no lines"]);

    let folder = Folder::new();
    let done = zariz_with(args!["prime", "--check", "-", "--out", folder.join("words")], b"7\n8\n").exits(1);
    assert!(done.stdout.is_empty());
    assert_eq!(folder.read("words"), b"prime\ncomposite\n");
}

#[test]
fn bad_lines_are_named_and_leave_empty_ones() {
    let long = "f".repeat(100_000);
    let input = format!("7\n\n0x\n8\n7 7\nzz\n{long}\n\u{ff}\n b \n");
    let done = zariz_with(["prime", "--check", "-"], input.as_bytes()).exits(4);
    assert_eq!(done.lines(), ["prime", "", "", "composite", "", "", "", "", "prime"]);
    let done = done.says(&[
        "error: line 2: a hexadecimal number was expected, and there are no digits",
        "error: line 3: a hexadecimal number",
        "error: line 5: ' ' is not a hexadecimal digit",
        "error: line 6: 'z' is not",
        "error: line 7: ",
        "error: line 8: ",
        "error: 6 of 9 lines failed",
    ]);
    assert_eq!(done.stderr.lines().count(), 7);
    let quiet = zariz_with(["prime", "--check", "-", "--quiet"], b"x\n").exits(4).says(&["line 1"]);
    assert_eq!(quiet.stderr.lines().count(), 1);
    zariz(["prime", "--check", &long]).exits(3).says(&["error: --check: "]);
}

#[test]
fn mistakes_say_what_is_wrong() {
    for (options, words) in [
        (&[][..], &["--bits <N>"][..]),
        (&["--bits", "many"], &["--bits <N>"]),
        (&["--bits", "1"], &["--bits 1: "]),
        (&["--bits", "65535"], &["--bits 65535: "]),
        (&["--bits", "512", "--count", "0"], &["--count <N>"]),
        (&["--check", "x"], &["--check <NUMBER>", "'x' is not a hexadecimal digit"]),
        (&["--check", ""], &["--check"]),
        (&["--check", "7", "--bits", "512"], &["--check <NUMBER>", "--bits <N>", "cannot be used with"]),
        (&["--check", "7", "--safe"], &["--check <NUMBER>", "--safe", "cannot be used with"]),
        (&["--check", "-", "--count", "2"], &["cannot be used with"]),
        (&["--bits", "512", "--engine", "sse9"], &["sse9", "portable"]),
    ] {
        assert!(zariz(["prime"].iter().chain(options)).exits(2).says(words).stdout.is_empty(), "{options:?}");
    }
}
