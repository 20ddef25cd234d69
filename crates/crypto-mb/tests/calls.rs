//! Calls through the interface against another library's powers: every size, different keys in the lanes,
//! null lanes, and bad arguments among good ones.

mod common;

use std::array;
use std::ffi::c_int;
use std::ptr;

use common::{Key, SIZES, bytes, words};
use num_bigint::BigUint;
use zariz_crypto_mb::*;
use zariz_needs::needs;

const OK: u32 = 0;
const MISMATCH: u32 = 1;
const NULL: u32 = 2;

/// What an output holds before a call.
const UNTOUCHED: u8 = 0xaa;

fn statuses(status: u32) -> [u32; LANES] {
    array::from_fn(|lane| status >> (4 * lane) & 0xf)
}

/// Pointers to a number of each lane; null where there is none.
fn pointers<T>(numbers: &[Option<Vec<T>>]) -> [*const T; LANES] {
    array::from_fn(|lane| numbers[lane].as_ref().map_or(ptr::null(), |number| number.as_ptr()))
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Public,
    Private,
    Crt,
}

use Operation::{Crt, Private, Public};

/// A call with numbers of its own in each lane.
#[derive(Clone)]
struct Call {
    operation: Operation,
    bits: usize,
    /// Without a number, its pointer is null.
    from: Vec<Option<Vec<u8>>>,
    /// Whether a lane has a place for its result.
    to: [bool; LANES],
    /// The key's numbers, in the order of the arguments.
    numbers: Vec<Vec<Option<Vec<u64>>>>,
}

impl Call {
    fn new(operation: Operation, keys: &[Key], from: &[BigUint]) -> Self {
        let bits = keys[0].bits;
        let column = |number: &dyn Fn(&Key) -> BigUint, len: usize| {
            keys.iter().map(|key| Some(words(&number(key), len))).collect::<Vec<_>>()
        };
        let (full, half) = (bits / 64, bits / 128);
        let numbers = match operation {
            Public => vec![column(&|key| key.n.clone(), full)],
            Private => vec![column(&|key| key.d.clone(), full), column(&|key| key.n.clone(), full)],
            Crt => vec![
                column(&|key| key.p.clone(), half),
                column(&|key| key.q.clone(), half),
                column(&|key| key.dp.clone(), half),
                column(&|key| key.dq.clone(), half),
                column(&|key| key.qinv.clone(), half),
            ],
        };
        let from = from.iter().map(|number| Some(bytes(number, bits / 8))).collect();
        Self { operation, bits, from, to: [true; LANES], numbers }
    }

    fn method(&self) -> *const Method {
        match self.operation {
            Public => mbx_RSA_pub65537_Method(self.bits as c_int),
            Private => mbx_RSA_private_Method(self.bits as c_int),
            Crt => mbx_RSA_private_crt_Method(self.bits as c_int),
        }
    }

    fn run(&self) -> ([u32; LANES], Vec<Vec<u8>>) {
        let mut results = vec![vec![UNTOUCHED; self.bits / 8]; LANES];
        let to = array::from_fn(|i| if self.to[i] { results[i].as_mut_ptr() } else { ptr::null_mut() });
        let status = self.call(&to, self.bits as c_int, self.method());
        (statuses(status), results)
    }

    fn call(&self, to: &[*mut u8; LANES], bits: c_int, method: *const Method) -> u32 {
        let from = pointers(&self.from);
        let numbers: Vec<_> = self.numbers.iter().map(|numbers| pointers(numbers)).collect();
        let buffer = ptr::null_mut();
        // SAFETY: arrays of pointers that are null or to numbers of these lengths.
        unsafe {
            match &numbers[..] {
                [n] => mbx_rsa_public_mb8(&from, to, n, bits, method, buffer),
                [d, n] => mbx_rsa_private_mb8(&from, to, d, n, bits, method, buffer),
                [p, q, dp, dq, qinv] => {
                    mbx_rsa_private_crt_mb8(&from, to, p, q, dp, dq, qinv, bits, method, buffer)
                }
                _ => panic!("no such operation"),
            }
        }
    }
}

fn expected(operation: Operation, key: &Key, number: &BigUint) -> Vec<u8> {
    let result = if operation == Public { key.public(number) } else { key.private(number) };
    bytes(&result, key.bits / 8)
}

#[test]
fn results_are_right_for_every_size() {
    for bits in SIZES {
        let keys = Key::generate(bits, 65_537);
        let numbers: Vec<_> = keys.iter().enumerate().map(|(i, key)| key.number(i)).collect();
        for operation in [Public, Private, Crt] {
            let right: Vec<_> =
                keys.iter().zip(&numbers).map(|(key, number)| expected(operation, key, number)).collect();
            let call = Call::new(operation, &keys, &numbers);
            // The second time, the keys are found again.
            for _ in 0..2 {
                assert!(call.run() == ([OK; LANES], right.clone()), "{operation:?} of {bits} bits");
            }
            // Over the inputs, without a method.
            let mut call = call;
            let mut inputs: Vec<_> = call.from.iter().map(|number| number.clone().expect("all")).collect();
            let to = array::from_fn(|lane| inputs[lane].as_mut_ptr());
            call.from = Vec::new();
            let from: [*const u8; LANES] = to.map(|pointer| pointer.cast_const());
            let numbers: Vec<_> = call.numbers.iter().map(|numbers| pointers(numbers)).collect();
            if let [p, q, dp, dq, qinv] = &numbers[..] {
                let (none, length) = (ptr::null(), bits as c_int);
                // SAFETY: as in `Call::call`.
                let status = unsafe {
                    mbx_rsa_private_crt_mb8(&from, &to, p, q, dp, dq, qinv, length, none, ptr::null_mut())
                };
                assert!(status == OK && inputs == right, "over the inputs");
            }
        }
    }
}

/// With primes, the public exponent may be any; without, a usual one.
#[test]
fn other_public_exponents() {
    let keys = Key::generate(1024, 0x1_0000_0000_000d);
    let numbers: Vec<_> = keys.iter().enumerate().map(|(i, key)| key.number(i)).collect();
    let right: Vec<_> = keys.iter().zip(&numbers).map(|(key, number)| expected(Crt, key, number)).collect();
    assert!(Call::new(Crt, &keys, &numbers).run() == ([OK; LANES], right));
    let refused = Call::new(Private, &keys, &numbers).run();
    assert!(refused == ([MISMATCH; LANES], vec![vec![UNTOUCHED; 128]; LANES]));
}

/// Every pointer of a lane may be null; the other lanes have their results.
#[test]
fn null_lanes() {
    let keys = Key::generate(1024, 65_537);
    let numbers: Vec<_> = keys.iter().map(|key| key.number(9)).collect();
    for operation in [Public, Private, Crt] {
        let right: Vec<_> =
            keys.iter().zip(&numbers).map(|(key, number)| expected(operation, key, number)).collect();
        let whole = Call::new(operation, &keys, &numbers);
        for mask in [0u32, 1, 0x80, 0x0f, 0xf0, 0x55, 0xfe, 0x7f, 0xff] {
            for argument in 0..whole.numbers.len() + 2 {
                let mut call = whole.clone();
                for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                    match argument {
                        0 => call.from[lane] = None,
                        1 => call.to[lane] = false,
                        _ => call.numbers[argument - 2][lane] = None,
                    }
                }
                let (statuses, results) = call.run();
                for lane in 0..LANES {
                    let (status, result) = match mask >> lane & 1 {
                        0 => (OK, right[lane].clone()),
                        _ => (NULL, vec![UNTOUCHED; 128]),
                    };
                    assert!(
                        statuses[lane] == status && results[lane] == result,
                        "{operation:?}, mask {mask:#x}, argument {argument}, lane {lane}"
                    );
                }
            }
        }
    }
}

/// Numbers that fit no key fail in their lane, whatever is wrong, and leave the others alone.
#[test]
fn bad_numbers_among_good_ones() {
    let keys = Key::generate(1024, 65_537);
    let numbers: Vec<_> = keys.iter().map(|key| key.number(9)).collect();
    let all_ones = (BigUint::from(1u8) << 1024) - 1u8;
    for operation in [Public, Private, Crt] {
        let right: Vec<_> =
            keys.iter().zip(&numbers).map(|(key, number)| expected(operation, key, number)).collect();
        let whole = Call::new(operation, &keys, &numbers);
        let mut wrong: Vec<(usize, Call)> = Vec::new();
        for (lane, message) in [(0, &keys[0].n), (7, &(&keys[7].n + 1u8)), (3, &all_ones)] {
            let mut call = whole.clone();
            call.from[lane] = Some(bytes(message, 128));
            wrong.push((lane, call));
        }
        for argument in 0..whole.numbers.len() {
            let len = whole.numbers[argument][0].as_ref().expect("a number").len();
            // Zero, one, even, all ones, without its top, and another key's.
            for (lane, change) in (0..6).enumerate() {
                let mut call = whole.clone();
                let other = call.numbers[argument][7].clone();
                let number = call.numbers[argument][lane].as_mut().expect("a number");
                match change {
                    0 => number.fill(0),
                    1 => *number = words(&BigUint::from(1u8), len),
                    2 => number[0] ^= 1,
                    3 => number.fill(u64::MAX),
                    4 => number[len - 1] = 0,
                    _ => *number = other.expect("a number"),
                }
                // An odd number without a known factor is a modulus.
                if operation != Public || [0, 1, 2].contains(&change) {
                    wrong.push((lane, call));
                }
            }
        }
        for (i, (bad, call)) in wrong.into_iter().enumerate() {
            let (statuses, results) = call.run();
            for lane in 0..LANES {
                let (status, result) = match lane == bad {
                    false => (OK, right[lane].clone()),
                    true => (MISMATCH, vec![UNTOUCHED; 128]),
                };
                assert!(
                    statuses[lane] == status && results[lane] == result,
                    "{operation:?}, change {i}, lane {lane} of which {bad} is bad: {:x}",
                    statuses[lane]
                );
            }
        }
    }
}

/// Sizes, methods and arrays are checked before anything else. A method's pointer is never followed.
#[test]
fn bad_calls() {
    let keys = Key::generate(1024, 65_537);
    let numbers: Vec<_> = keys.iter().map(|key| key.number(9)).collect();
    for operation in [Public, Private, Crt] {
        let call = Call::new(operation, &keys, &numbers);
        let to = [ptr::null_mut(); LANES];
        for bits in [0, -1, 1, 1023, 1025, 2049, 8192, c_int::MAX, c_int::MIN] {
            assert_eq!(call.call(&to, bits, ptr::null()), 0x1111_1111, "{bits} bits");
        }
        let others = [
            mbx_RSA1K_pub65537_Method(),
            mbx_RSA1K_private_Method(),
            mbx_RSA1K_private_crt_Method(),
            mbx_RSA2K_private_crt_Method(),
            ptr::without_provenance(1),
            ptr::without_provenance(usize::MAX),
        ];
        for other in others {
            let status = if other == call.method() { 0x2222_2222 } else { 0x1111_1111 };
            assert_eq!(call.call(&to, 1024, other), status, "{operation:?}");
            assert_eq!(mbx_RSA_Method_BufSize(other) > 0, !others[4..].contains(&other));
        }
    }
    assert_eq!(mbx_RSA_Method_BufSize(ptr::null()), 0);
    assert!([0, -1, 1000, 8192].iter().all(|&bits| mbx_RSA_private_Method(bits).is_null()));
    assert!(ptr::eq(mbx_RSA_pub65537_Method(3072), mbx_RSA3K_pub65537_Method()));
    assert!(ptr::eq(mbx_RSA_private_Method(4096), mbx_RSA4K_private_Method()));
    let (none, from, to) = (ptr::null(), [ptr::null(); LANES], [ptr::null_mut(); LANES]);
    let words = [ptr::null::<u64>(); LANES];
    // SAFETY: null arrays, and arrays of null pointers.
    let statuses = unsafe {
        [
            mbx_rsa_public_mb8(ptr::null(), &to, &words, 1024, none, ptr::null_mut()),
            mbx_rsa_public_mb8(&from, ptr::null(), &words, 1024, none, ptr::null_mut()),
            mbx_rsa_public_mb8(&from, &to, ptr::null(), 1024, none, ptr::null_mut()),
            mbx_rsa_private_mb8(&from, &to, ptr::null(), &words, 1024, none, ptr::null_mut()),
            mbx_rsa_private_mb8(&from, &to, &words, ptr::null(), 1024, none, ptr::null_mut()),
        ]
    };
    assert_eq!(statuses, [0x2222_2222; 5]);
}

/// A power of each lane, as numbers.
struct Powers {
    modulus_bits: usize,
    exponent_bits: usize,
    /// Modulus, base, exponent.
    lanes: Vec<[BigUint; 3]>,
}

impl Powers {
    /// Statuses and results. The words of all numbers are at odd addresses.
    fn run(&self, function: Exp) -> ([u32; LANES], Vec<BigUint>) {
        let len = self.modulus_bits.div_ceil(64);
        let at_odd = |i: usize, len: usize| -> Vec<Vec<u8>> {
            let number = |lane: &[BigUint; 3]| {
                let words = words(&lane[i], len);
                [vec![0], words.iter().flat_map(|word| word.to_ne_bytes()).collect()].concat()
            };
            self.lanes.iter().map(number).collect()
        };
        let numbers = [at_odd(0, len), at_odd(1, len), at_odd(2, self.exponent_bits.div_ceil(64).max(1))];
        let [modulus, base, exponent] = numbers.each_ref().map(|numbers| {
            let pointers: [*const u64; LANES] = array::from_fn(|lane| numbers[lane][1..].as_ptr().cast());
            pointers
        });
        let mut results = vec![vec![UNTOUCHED; 8 * len + 1]; LANES];
        let out = array::from_fn(|lane| results[lane][1..].as_mut_ptr().cast());
        let (bits, exponent_bits) = (self.modulus_bits as c_int, self.exponent_bits as c_int);
        let mut buffer = vec![0; mbx_exp_BufferSize(bits) as usize];
        let (buffer, buffer_len) = (buffer.as_mut_ptr(), buffer.len() as c_int);
        // SAFETY: arrays of pointers to numbers of these lengths.
        let status =
            unsafe { function(&out, &base, &exponent, exponent_bits, &modulus, bits, buffer, buffer_len) };
        (statuses(status), results.iter().map(|result| BigUint::from_bytes_le(&result[1..])).collect())
    }
}

type Exp = unsafe extern "C" fn(
    Output<u64>,
    Input<u64>,
    Input<u64>,
    c_int,
    Input<u64>,
    c_int,
    *mut u8,
    c_int,
) -> u32;

fn function(length: usize) -> Exp {
    match length {
        1024 => mbx_exp1024_mb8,
        2048 => mbx_exp2048_mb8,
        3072 => mbx_exp3072_mb8,
        _ => mbx_exp4096_mb8,
    }
}

#[test]
fn powers_are_right() {
    let one = BigUint::from(1u8);
    let below = |bits: usize| (&one << bits) - 1u8;
    for (length, modulus_bits) in
        [(1024, 989), (1024, 1024), (1024, 1038), (2048, 2048), (2048, 2078), (3072, 3072), (4096, 4096)]
    {
        for exponent_bits in
            [0, 1, 5, 63, 64, 65, 500, modulus_bits].into_iter().take(if length > 1024 { 3 } else { 8 })
        {
            let random = |i: usize, bits: usize| {
                (BigUint::from(0x1234_5677_usize + 2 * i).pow(bits as u32 / 28 + 1) | &one) & below(bits)
            };
            // Moduli of the whole length, and short ones; bases above their modulus; extreme exponents.
            let (full, top) = (below(modulus_bits), &one << (modulus_bits - 1));
            let lanes = vec![
                [full.clone(), &full - 2u8, below(exponent_bits)],
                [&top | &one, full.clone(), below(exponent_bits)],
                [random(1, modulus_bits) | &top, random(2, modulus_bits), BigUint::ZERO],
                [random(3, modulus_bits) | &top, BigUint::ZERO, random(4, exponent_bits)],
                [BigUint::from(3u8), full.clone(), random(5, exponent_bits)],
                [random(6, modulus_bits / 2), full.clone(), random(7, exponent_bits)],
                [random(8, modulus_bits) | &top, one.clone(), below(exponent_bits)],
                [random(9, modulus_bits) | &top, random(10, modulus_bits), random(11, exponent_bits)],
            ];
            let right: Vec<_> = lanes.iter().map(|[m, base, e]| base.modpow(e, m)).collect();
            let powers = Powers { modulus_bits, exponent_bits, lanes };
            for function in [function(length), mbx_exp_mb8] {
                assert!(
                    powers.run(function) == ([OK; LANES], right.clone()),
                    "{modulus_bits} bits, exponents of {exponent_bits}"
                );
            }
            // What is above the exponent's bits does not count.
            let mut stray = powers;
            if exponent_bits % 64 != 0 {
                stray.lanes.iter_mut().for_each(|lane| lane[2] |= &one << exponent_bits);
                assert!(stray.run(mbx_exp_mb8) == ([OK; LANES], right), "stray bits above {exponent_bits}");
            }
        }
    }
}

#[test]
fn bad_moduli_and_calls_of_powers() {
    let one = BigUint::from(1u8);
    let good = [(&one << 1023usize) | &one, BigUint::from(5u8), BigUint::from(7u8)];
    let bad = [BigUint::ZERO, one.clone(), BigUint::from(4u8), &one << 1023usize, (&one << 1030usize) | &one];
    let untouched = BigUint::from_bytes_le(&[UNTOUCHED; 136]);
    for (i, modulus) in bad.into_iter().enumerate() {
        let mut lanes = vec![good.clone(); LANES];
        lanes[i][0] = modulus;
        let powers = Powers { modulus_bits: 1030, exponent_bits: 3, lanes };
        let (statuses, results) = powers.run(mbx_exp_mb8);
        for lane in 0..LANES {
            let right = if lane == i { (MISMATCH, &untouched) } else { (OK, &BigUint::from(78_125u32)) };
            assert_eq!((statuses[lane], &results[lane]), right, "lane {lane}, {i} is bad");
        }
    }
    let all = |powers: Powers, function: Exp| powers.run(function).0;
    let lanes = || vec![good.clone(); LANES];
    let wrong = Powers { modulus_bits: 1024, exponent_bits: 1025, lanes: lanes() };
    assert_eq!(all(wrong, mbx_exp_mb8), [MISMATCH; LANES], "an exponent above the modulus");
    let other = Powers { modulus_bits: 1024, exponent_bits: 3, lanes: lanes() };
    assert_eq!(all(other, mbx_exp2048_mb8), [MISMATCH; LANES], "another function's length");

    let words = [ptr::null::<u64>(); LANES];
    let (out, mut buffer) = ([ptr::null_mut(); LANES], [0u8; 64]);
    let buffer = buffer.as_mut_ptr();
    // SAFETY: null arrays, arrays of null pointers, and a buffer of 64 bytes.
    let call = |out, base, exponent, bits, modulus, buffer, len| unsafe {
        mbx_exp_mb8(out, base, exponent, bits, modulus, 1024, buffer, len)
    };
    let none = ptr::null_mut();
    for (status, expected) in [
        (call(ptr::null(), &words, &words, 8, &words, buffer, 64), NULL),
        (call(&out, ptr::null(), &words, 8, &words, buffer, 64), NULL),
        (call(&out, &words, ptr::null(), 8, &words, buffer, 64), NULL),
        (call(&out, &words, &words, 8, ptr::null(), buffer, 64), NULL),
        (call(&out, &words, &words, 8, &words, none, 64), NULL),
        (call(&out, &words, &words, 8, &words, buffer, 64), NULL),
        (call(&out, &words, &words, 8, &words, buffer, 63), MISMATCH),
        (call(&out, &words, &words, 8, &words, buffer, -1), MISMATCH),
        (call(&out, &words, &words, -1, &words, buffer, 64), MISMATCH),
    ] {
        assert_eq!(statuses(status), [expected; LANES]);
    }
}

/// OpenSSL's numbers, from a libcrypto that only this test sees.
#[needs("libcrypto")]
#[test]
fn numbers_of_openssl() {
    // SAFETY: a system library is loaded, and stays.
    let library = unsafe { libc::dlopen(c"libcrypto.so.3".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!library.is_null());
    type New = unsafe extern "C" fn(*const u8, c_int, *mut Bignum) -> *mut Bignum;
    type Negate = unsafe extern "C" fn(*mut Bignum, c_int);
    // SAFETY: functions of these types (openssl/bn.h).
    let (new, negate): (New, Negate) = unsafe {
        (
            std::mem::transmute::<*mut libc::c_void, New>(libc::dlsym(library, c"BN_bin2bn".as_ptr())),
            std::mem::transmute::<*mut libc::c_void, Negate>(libc::dlsym(
                library,
                c"BN_set_negative".as_ptr(),
            )),
        )
    };
    // They are never freed.
    let bignum = |number: &BigUint| {
        let bytes = number.to_bytes_be();
        // SAFETY: a byte string.
        unsafe { new(bytes.as_ptr(), bytes.len() as c_int, ptr::null_mut()) }
    };
    for (bits, e) in [(1024, 65_537), (1024, 0x1_0000_0000_000d), (2048, 65_537)] {
        let keys = Key::generate(bits, e);
        let column = |number: &dyn Fn(&Key) -> &BigUint| -> [*const Bignum; LANES] {
            array::from_fn(|lane| bignum(number(&keys[lane])).cast_const())
        };
        let (n, e, d) = (column(&|key| &key.n), column(&|key| &key.e), column(&|key| &key.d));
        let (p, q) = (column(&|key| &key.p), column(&|key| &key.q));
        let (dp, dq, qinv) = (column(&|key| &key.dp), column(&|key| &key.dq), column(&|key| &key.qinv));
        let size = bits / 8;
        let numbers: Vec<_> = keys.iter().enumerate().map(|(i, key)| key.number(i)).collect();
        let inputs: Vec<_> = numbers.iter().map(|number| bytes(number, size)).collect();
        let from = array::from_fn(|lane| inputs[lane].as_ptr());
        let length = bits as c_int;
        let run = |call: &dyn Fn(&[*mut u8; LANES]) -> u32| {
            let mut results = vec![vec![UNTOUCHED; size]; LANES];
            let to = array::from_fn(|lane| results[lane].as_mut_ptr());
            (statuses(call(&to)), results)
        };
        let right = |operation| -> Vec<_> {
            keys.iter().zip(&numbers).map(|(key, number)| expected(operation, key, number)).collect()
        };
        // SAFETY: arrays of pointers to numbers of these lengths, and of that OpenSSL; here and below.
        let crt = |p: &[*const Bignum; LANES], to: &[*mut u8; LANES]| unsafe {
            mbx_rsa_private_crt_ssl_mb8(&from, to, p, &q, &dp, &dq, &qinv, length)
        };
        assert!(run(&|to| crt(&p, to)) == ([OK; LANES], right(Crt)));
        // SAFETY: as above.
        let public = |e: &[*const Bignum; LANES], to: &[*mut u8; LANES]| unsafe {
            mbx_rsa_public_ssl_mb8(&from, to, e, &n, length)
        };
        assert!(run(&|to| public(&e, to)) == ([OK; LANES], right(Public)));
        // SAFETY: as above.
        let private = |length: c_int, to: &[*mut u8; LANES]| unsafe {
            mbx_rsa_private_ssl_mb8(&from, to, &d, &n, length)
        };
        if keys[0].e == BigUint::from(65_537u32) {
            assert!(run(&|to| private(length, to)) == ([OK; LANES], right(Private)));
        }
        // Not there, negative, even, too long, another length, zero.
        let mut changed = p;
        changed[1] = ptr::null();
        let minus = bignum(&keys[2].p);
        // SAFETY: a number of that OpenSSL.
        unsafe { negate(minus, 1) };
        changed[2] = minus;
        changed[3] = bignum(&(&keys[3].p - 1u8));
        changed[4] = bignum(&keys[4].n);
        changed[5] = bignum(&(&keys[5].p >> 1usize));
        changed[6] = bignum(&BigUint::ZERO);
        let (statuses, results) = run(&|to| crt(&changed, to));
        assert_eq!(statuses, [OK, NULL, MISMATCH, MISMATCH, MISMATCH, MISMATCH, MISMATCH, OK]);
        let right = right(Crt);
        for lane in 0..LANES {
            let untouched = vec![UNTOUCHED; size];
            assert!(results[lane] == if statuses[lane] == OK { &right[lane] } else { &untouched }[..]);
        }
        let mut changed = e;
        let one = BigUint::from(1u8);
        changed[1] = bignum(&one);
        changed[2] = bignum(&BigUint::from(65_536u32));
        changed[3] = bignum(&((&one << 256usize) + 1u8));
        let (statuses, _) = run(&|to| public(&changed, to));
        assert_eq!(statuses, [OK, MISMATCH, MISMATCH, MISMATCH, OK, OK, OK, OK]);
        assert_eq!(run(&|to| private(length + 1024, to)).0[7], MISMATCH, "keys of another length");
    }
}

#[test]
fn what_the_library_says() {
    assert_eq!(
        [0, 1, 2, 3, 4, 5, 10, 99, -1].map(|algorithm| mbx_get_algo_info(algorithm)),
        [8, 8, 8, 8, 0, 0, 0, 0, 0]
    );
    assert_eq!([0, u64::MAX].map(|features| mbx_is_crypto_mb_applicable(features)), [1, 1]);
    let real = mbx_get_cpu_features();
    #[cfg(target_arch = "x86_64")]
    assert_eq!(real & 0x8000 != 0, std::arch::is_x86_feature_detected!("avx2"));
    mbx_set_cpu_features(7);
    assert_eq!(mbx_get_cpu_features(), 7);
    mbx_set_cpu_features(0);
    assert_eq!(mbx_get_cpu_features(), real);
    assert!(!mbx_getversion().is_null());
}

/// Threads with the same keys, and keys of their own.
#[test]
fn threads() {
    let shared = Key::generate(1024, 65_537);
    let numbers: Vec<_> = shared.iter().map(|key| key.number(9)).collect();
    let right: Vec<_> = shared.iter().zip(&numbers).map(|(key, x)| expected(Crt, key, x)).collect();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (shared, numbers, right) = (&shared, &numbers, &right);
            scope.spawn(move || {
                let own = Key::generate(1024, 65_537);
                let inputs: Vec<_> = own.iter().map(|key| key.number(4 + thread)).collect();
                let own_right: Vec<_> =
                    own.iter().zip(&inputs).map(|(key, x)| expected(Crt, key, x)).collect();
                for _ in 0..20 {
                    assert!(Call::new(Crt, shared, numbers).run() == ([OK; LANES], right.clone()));
                    assert!(Call::new(Crt, &own, &inputs).run() == ([OK; LANES], own_right.clone()));
                }
            });
        }
    });
}
