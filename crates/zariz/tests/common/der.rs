//! A small DER and PEM writer: independent of the parsers under test, and able to write what is wrong.

use num_bigint::BigUint;

const RSA: &[u8] = &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const RSA_PSS: &[u8] = &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0a];
const NULL: &[u8] = &[0x05, 0x00];

pub fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let len = content.len().to_be_bytes();
    let len = &len[len.iter().position(|&byte| byte != 0).unwrap_or(len.len() - 1)..];
    let short = content.len() < 0x80;
    let header = if short { vec![tag, len[0]] } else { [&[tag, 0x80 | len.len() as u8], len].concat() };
    [header, content.to_vec()].concat()
}

pub fn integer(number: &BigUint) -> Vec<u8> {
    let bytes = number.to_bytes_be();
    let sign: &[u8] = if bytes[0] & 0x80 != 0 { &[0] } else { &[] };
    tlv(0x02, &[sign, &bytes].concat())
}

pub fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    tlv(0x30, &parts.concat())
}

/// PKCS#8 around a PKCS#1 private key.
pub fn pkcs8(pkcs1: &[u8], pss: bool) -> Vec<u8> {
    sequence(&[&integer(&BigUint::ZERO), &algorithm(pss), &tlv(0x04, pkcs1)])
}

/// SPKI around a PKCS#1 public key.
pub fn spki(pkcs1: &[u8], pss: bool) -> Vec<u8> {
    sequence(&[&algorithm(pss), &tlv(0x03, &[&[0], pkcs1].concat())])
}

fn algorithm(pss: bool) -> Vec<u8> {
    if pss { sequence(&[RSA_PSS]) } else { sequence(&[RSA, NULL]) }
}

/// Base64 in lines of `width` characters.
pub fn base64_lines(bytes: &[u8], width: usize) -> Vec<String> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0u32, |acc, i| acc << 8 | u32::from(chunk.get(i).copied().unwrap_or(0)));
        for i in 0..4 {
            let digit = ALPHABET[(word >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= chunk.len() { digit.into() } else { '=' });
        }
    }
    text.as_bytes().chunks(width).map(|line| String::from_utf8_lossy(line).into_owned()).collect()
}

/// A PEM block in lines of 64 characters.
pub fn pem(label: &str, der: &[u8]) -> String {
    pem_with(label, der, 64, "\n")
}

pub fn pem_with(label: &str, der: &[u8], width: usize, end: &str) -> String {
    let body: String = base64_lines(der, width).iter().map(|line| format!("{line}{end}")).collect();
    format!("-----BEGIN {label}-----{end}{body}-----END {label}-----{end}")
}
