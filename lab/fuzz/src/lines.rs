//! Lines of the program: encodings, numbers, and lines of `modexp` against a plain reading of them.

use std::sync::OnceLock;

use arbitrary::{Result, Unstructured};
use clap::Parser;
use num_bigint::BigUint;
use zariz_cli::commands::modexp::Powers;
use zariz_cli::commands::{Cli, Command};
use zariz_cli::encoding::Encoding;
use zariz_cli::number::Number;

use crate::script::Script;
use crate::structure::{bytes, one_of};

/// The target.
pub fn run(data: &[u8]) {
    // Bytes too few for a structure have none to test.
    let _ = structured(&mut Unstructured::new(data));
}

/// Texts of every encoding, numbers, and lines for every setting.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    for encoding in ENCODINGS {
        let script = Script::default().int(0..=3, 0).one_of(&encoding, &ENCODINGS);
        for length in [0, 1, 2, 3, 30] {
            let text = encoding.encode_file(&b"zariz \0\xff\xfe signs lines of a file"[..length]);
            out.push(script.clone().raw(&text).0);
        }
    }
    for number in ["0", "0x1F", "0X00ff", "", "0x", "12g", " 1", &"f3".repeat(300)] {
        out.push(Script::default().int(0..=3, 1).raw(number.as_bytes()).0);
    }
    for setting in 0..SETTINGS.len() {
        let script = Script::default().int(0..=3, 2).at(setting, SETTINGS.len());
        out.extend(SEED_LINES.iter().map(|fields| script_of(script.clone(), fields).0));
        out.push(SEED_LINES.iter().take(5).fold(script, |script, fields| script_of(script, fields)).0);
    }
    out
}

/// Lines whose fields `line` can have.
pub const SEED_LINES: [&[&str]; 8] = [
    &["3"],
    &["2", "1f"],
    &["00000002", "abc", "fedcba9876543211"],
    &["0x", "03", "10", "f000000000000001"],
    &["fedcba9876543210", "2", "0000000000000000000000000000000000000000000000000000000000000001"],
    &["3", "8", "10"],
    &["zariz", "3"],
    &[],
];

/// A line of these fields, for [`line`].
pub fn script_of(script: Script, fields: &[&str]) -> Script {
    fields.iter().fold(script.int(0..=4, fields.len()), |script, &field| {
        let digits = field.as_bytes();
        if field == "0x" {
            return script.int(0..=7, 1).one_of(&&b""[..], &ENDS);
        }
        let script =
            match digits.iter().all(|digit| DIGITS.contains(digit)) && LENGTHS.contains(&digits.len()) {
                true => digits
                    .iter()
                    .fold(script.int(0..=7, 2).one_of(&digits.len(), &LENGTHS), |script, digit| {
                        script.one_of(digit, DIGITS)
                    }),
                false => script.int(0..=7, 0).bytes(12, digits),
            };
        script.one_of(&&b" "[..], &ENDS)
    })
}

/// How many digits a field of a line has, which, and what ends it.
const LENGTHS: [usize; 8] = [1, 2, 3, 8, 15, 16, 33, 64];
const DIGITS: &[u8] = b"0123456789abcdefABCDEF13579bdf0f";
const ENDS: [&[u8]; 6] = [b" ", b"\t", b"  ", b"", b"\x0c", b"\r"];

const ENCODINGS: [Encoding; 4] = [Encoding::Raw, Encoding::Hex, Encoding::Base64, Encoding::Base64url];

fn structured(u: &mut Unstructured) -> Result<()> {
    match u.int_in_range(0..=3)? {
        0 => encodings(one_of(u, &ENCODINGS)?, u.bytes(u.len())?),
        1 => number(u.bytes(u.len())?),
        _ => modexp(u)?,
    }
    Ok(())
}

fn encodings(encoding: Encoding, data: &[u8]) {
    let text = encoding.encode(data);
    assert_eq!(text.len(), encoding.length(data.len()));
    assert_eq!(encoding.decode(&text).as_deref(), Ok(data));
    assert_eq!(encoding.decode_file(encoding.encode_file(data)).as_deref(), Ok(data));
    match encoding.decode(data) {
        // One text for each value, up to case, white space and padding.
        Ok(bytes) => {
            let mut kept = data.to_vec();
            if encoding != Encoding::Raw {
                kept = data.trim_ascii().to_vec();
            }
            let again = encoding.encode(&bytes);
            let same = match encoding {
                Encoding::Raw => kept == again,
                Encoding::Hex => kept.eq_ignore_ascii_case(&again),
                _ => stripped(&kept) == stripped(&again),
            };
            assert!(same, "{encoding:?}: {data:x?} is read as {bytes:x?}, which is written {again:x?}");
        }
        Err(error) => assert!(error.starts_with("not "), "{error}"),
    }
    let _ = encoding.decode_file(data.to_vec());
}

/// Base64 without its padding.
fn stripped(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|&byte| byte != b'=').map_or(0, |last| last + 1);
    &text[..end]
}

fn number(text: &[u8]) {
    let ours = Number::parse_bytes(text).ok().map(|number| BigUint::from_bytes_be(&number.0));
    assert_eq!(ours, plain_number(text), "{text:x?}");
    if let Some(number) = ours {
        assert_eq!(*Number::format(&number.to_bytes_be()), number.to_str_radix(16).into_bytes());
    }
}

/// Hexadecimal digits, with or without 0x.
fn plain_number(text: &[u8]) -> Option<BigUint> {
    let digits = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")).unwrap_or(text);
    let all = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    all.then(|| BigUint::parse_bytes(digits, 16)).flatten()
}

const MODULUS: &str = "d6d1c1f2b3a495867788996a5b4c3d2f";

const SETTINGS: [&[&str]; 5] = [
    &[],
    &["--modulus", MODULUS],
    &["--modulus", MODULUS, "--exponent", "10001", "--public"],
    &["--modulus", MODULUS, "--fixed-base", "0x3"],
    &["--modulus", MODULUS, "--fixed-base", "3", "--public"],
];

/// The powers of each setting.
pub fn powers() -> &'static [Powers; 5] {
    static POWERS: OnceLock<[Powers; 5]> = OnceLock::new();
    POWERS.get_or_init(|| {
        SETTINGS.map(|arguments| {
            let cli = Cli::try_parse_from(["zariz", "modexp"].iter().chain(arguments)).expect("good options");
            let Command::Modexp(args) = cli.command else { unreachable!("the command is modexp") };
            Powers::new(&args).expect("good options")
        })
    })
}

/// Lines of a setting.
fn modexp(u: &mut Unstructured) -> Result<()> {
    let setting = u.choose_index(SETTINGS.len())?;
    let powers = &powers()[setting];
    let mut lines = Vec::new();
    while lines.len() < 5 && !u.is_empty() {
        lines.push(line(u)?);
    }
    for (line, result) in lines.iter().zip(powers.of(lines.clone())) {
        let expected = plain_power(line, setting).map(|power| power.to_str_radix(16).into_bytes());
        assert_eq!(result.as_ref().ok().map(|text| text.to_vec()), expected, "{line:x?}: {result:?}");
    }
    Ok(())
}

/// Some fields, most of them numbers.
pub fn line(u: &mut Unstructured) -> Result<Vec<u8>> {
    let mut line = Vec::new();
    for _ in 0..u.int_in_range(0..=4)? {
        match u.int_in_range(0..=7)? {
            0 => line.extend(bytes(u, 12)?),
            1 => line.extend_from_slice(b"0x"),
            _ => {
                let length = one_of(u, &LENGTHS)?;
                for _ in 0..length {
                    line.push(one_of(u, DIGITS)?);
                }
            }
        }
        line.extend_from_slice(one_of(u, &ENDS)?);
    }
    line.retain(|&byte| byte != b'\n');
    Ok(line)
}

/// The power of a line, read as the help says.
pub fn plain_power(line: &[u8], setting: usize) -> Option<BigUint> {
    let fields: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect();
    let numbers: Vec<BigUint> = fields.iter().map(|field| plain_number(field)).collect::<Option<_>>()?;
    let modulus = BigUint::parse_bytes(MODULUS.as_bytes(), 16).filter(|_| setting > 0);
    let exponent = (setting == 2).then(|| BigUint::from(0x10001u32));
    let (base, exponent, modulus) = match (setting, &numbers[..]) {
        (3 | 4, [exponent]) => (BigUint::from(3u8), exponent.clone(), modulus?),
        (3 | 4, _) => return None,
        (_, [base]) => (base.clone(), exponent?, modulus?),
        (_, [base, exponent]) => (base.clone(), exponent.clone(), modulus?),
        (_, [base, exponent, modulus]) => (base.clone(), exponent.clone(), modulus.clone()),
        _ => return None,
    };
    (modulus.bit(0) && modulus > BigUint::from(1u8)).then(|| base.modpow(&exponent, &modulus))
}
