//! Keys with missing and wrong numbers: zariz accepts the keys that OpenSSL's default provider accepts, and
//! they look and behave alike.

mod common;

use std::fmt::Debug;

use common::key::{Check, Numbers};
use common::keys::{PEM_1024, native};
use common::operation::{operate, verify};
use common::{Failure, Faults, Key, Operation, Params, Side, World, ffi, is_zariz};

/// The numbers of a key with two primes.
const NAMES: [&str; 8] =
    ["n", "e", "d", "rsa-factor1", "rsa-factor2", "rsa-exponent1", "rsa-exponent2", "rsa-coefficient1"];
const PRIVATE_KEY: i32 = 1;
const PARAMETERS: i32 = 0x84;
const DATA: [u8; 32] = [7; 32];

/// The values of these numbers, big-endian; `None` if not given.
type Values = [Option<Vec<u8>>; 8];

fn list(values: &Values) -> Params {
    let given = NAMES.iter().zip(values).filter_map(|(name, value)| Some((name, value.as_ref()?)));
    given.fold(Params::new(), |list, (name, value)| list.number(name, value))
}

/// Numbers without leading zeros, which a provider may or may not write.
fn bare(numbers: Numbers) -> Vec<(String, Vec<u8>)> {
    numbers.into_iter().map(|(name, value)| (name, value.big_endian())).collect()
}

/// Compares keys one after the other.
struct Grid<'w> {
    world: &'w World,
    faults: Faults,
    /// The complete key, in the default provider.
    whole: Key<'w>,
    digest: Params,
    none: Params,
    signature: Vec<u8>,
    imported: usize,
    signed: usize,
}

impl<'w> Grid<'w> {
    fn new(world: &'w World) -> Self {
        let (whole, digest) =
            (native(world, Side::Reference, PEM_1024), Params::new().text("digest", "SHA256"));
        let signature =
            operate(world, Side::Reference, &whole, Operation::Sign, &digest, &DATA).expect("it signs");
        let none = Params::new().text("pad-mode", "none");
        Self { world, faults: Faults::new(), whole, digest, none, signature, imported: 0, signed: 0 }
    }

    fn values(&self) -> Values {
        let numbers = self.whole.numbers(ffi::KEYPAIR).expect("the numbers");
        NAMES.map(|name| Some(numbers[name].big_endian()))
    }

    /// Both succeed with equal values, or both fail. zariz always says why.
    fn alike<T: PartialEq + Debug>(&mut self, what: &str, [ours, theirs]: [Result<T, Failure>; 2]) -> bool {
        if let Err(ours) = &ours {
            self.faults.check(ours.is_readable(), || format!("{what}: fails without an error: {ours:?}"));
        }
        self.faults.identical(what, &ours, &theirs);
        ours.is_ok()
    }

    /// Imports a key on both sides, and compares everything that a program can do with it.
    fn key(&mut self, what: &str, selection: i32, numbers: &Params) {
        let (world, what) = (self.world, format!("{what}, selection {selection:#x}"));
        let keys = Side::BOTH.map(|side| Key::from_data(world, side, selection, numbers));
        self.alike(
            &format!("{what}: import"),
            keys.each_ref().map(|key| key.as_ref().map(drop).map_err(Clone::clone)),
        );
        let [Ok(ours), Ok(theirs)] = keys else { return };
        self.imported += 1;
        let keys = [(&ours, Side::Subject), (&theirs, Side::Reference)];
        let say = |text: &str| format!("{what}: {text}");

        let [our_properties, their_properties] = keys.map(|(key, _)| key.properties());
        self.faults.same(&say("properties"), &our_properties, &their_properties);
        if selection & 3 == 0 {
            return;
        }
        for selection in [0x01, 0x02, 0x03, 0x04, 0x80, PARAMETERS, ffi::PUBLIC_KEY, ffi::KEYPAIR] {
            let what = say(&format!("export of {selection:#x}"));
            self.alike(&what, keys.map(|(key, _)| key.numbers(selection).map(bare)));
        }
        for name in NAMES {
            let [ours, theirs] =
                keys.map(|(key, _)| key.get(name, ffi::UNSIGNED, 2000).map(|n| n.big_endian()));
            self.faults.same(&say(name), &ours, &theirs);
        }
        self.alike(&say("copy"), keys.map(|(key, _)| key.duplicate()?.numbers(ffi::KEYPAIR).map(bare)));
        for (key, _) in keys {
            self.faults.same(&say("equal to both"), &(key.equals(&ours), key.equals(&theirs)), &(1, 1));
        }
        let with_whole = keys.map(|(key, _)| key.equals(&self.whole));
        self.faults.same(&say("equal to the whole key"), &with_whole[0], &with_whole[1]);
        for check in Check::ALL {
            self.alike(&say(&format!("{check:?}")), keys.map(|(key, side)| key.check(world, side, check)));
        }
        for structure in ["PrivateKeyInfo", "SubjectPublicKeyInfo", "type-specific"] {
            let encoded = keys.map(|(key, _)| key.encoded(ffi::KEYPAIR, "DER", structure));
            self.faults.identical(&say(structure), &encoded[0], &encoded[1]);
        }

        let verified = keys.map(|(key, side)| verify(world, side, key, &self.digest, &self.signature, &DATA));
        self.alike(&say("verification"), verified);
        let number = [&[0; 1][..], &[3; 127]].concat();
        let (digest, none) = (self.digest.clone(), self.none.clone());
        for (operation, params, data) in [
            (Operation::Sign, &digest, &DATA[..]),
            (Operation::Encrypt, &none, &number),
            (Operation::Decrypt, &none, &number),
            (Operation::Recover, &none, &number),
        ] {
            let operate = |(key, side)| operate(world, side, key, operation, params, data);
            let (mut results, again) = (keys.map(operate), operate(keys[1]));
            // If the numbers do not fit together, OpenSSL's blinding gives a different wrong result each
            // time.
            if results[1].as_ref().ok() != again.as_ref().ok() {
                results = results.map(|result| result.map(|_| Vec::new()));
            }
            // zariz recomputes wrong dp, dq and qInv: its result is right even if OpenSSL has none.
            if let [Ok(ours), Err(_)] = &results {
                let right = operate((&self.whole, Side::Reference));
                self.faults
                    .check(right.as_ref().ok() == Some(ours), || say(&format!("{operation:?}: wrong")));
                continue;
            }
            let done = self.alike(&say(&format!("{operation:?}")), results);
            self.signed += usize::from(done && operation == Operation::Sign);
        }
    }

    /// Ends the comparison. At least this many keys must have been imported and must have signed.
    #[track_caller]
    fn end(self, imported: usize, signed: usize) {
        println!("{} keys were imported, {} signed", self.imported, self.signed);
        self.faults.none(imported);
        assert!(
            self.imported >= imported && self.signed >= signed,
            "too few: the test compares failures alone"
        );
    }
}

/// Removes the numbers whose bits are not in `given`. Returns a text that names them.
fn leave(values: &mut Values, given: u32) -> String {
    let absent = (0..8).filter(|i| given >> i & 1 == 0).inspect(|&i| values[i] = None);
    format!("without {:?}", absent.map(|i| NAMES[i]).collect::<Vec<_>>())
}

/// Each of the 256 subsets of a key's numbers.
#[test]
fn missing_numbers() {
    let world = World::new();
    let mut grid = Grid::new(&world);
    let all = grid.values();
    for given in 0..256_u32 {
        let mut values = all.clone();
        let what = leave(&mut values, given);
        for selection in [ffi::KEYPAIR, ffi::PUBLIC_KEY, PRIVATE_KEY, PARAMETERS, 0x80, 0x04] {
            grid.key(&what, selection, &list(&values));
        }
    }
    grid.end(200, 30);
}

/// Each number is wrong in many ways, with each subset of the others.
#[test]
fn wrong_numbers() {
    let world = World::new();
    let mut grid = Grid::new(&world);
    let all = grid.values();
    for (i, wrong) in NAMES.iter().enumerate() {
        for (how, change) in [
            ("has a bit flipped", &(|v: &mut Vec<u8>| v[1] ^= 2) as &dyn Fn(&mut Vec<u8>)),
            ("is even", &|v: &mut Vec<u8>| *v.last_mut().expect("bytes") &= 0xfe),
            ("is zero", &|v: &mut Vec<u8>| *v = vec![0]),
            ("is one", &|v: &mut Vec<u8>| *v = vec![1]),
            ("is longer", &|v: &mut Vec<u8>| v.insert(0, 1)),
        ] {
            // n and e are always given.
            for given in (0..64_u32).map(|private| private << 2 | 0b11).filter(|given| given >> i & 1 == 1) {
                let mut values = all.clone();
                change(values[i].as_mut().expect("a number"));
                let what = format!("{wrong} {how}, {}", leave(&mut values, given));
                grid.key(&what, ffi::KEYPAIR, &list(&values));
            }
        }
    }
    grid.end(500, 50);
}

/// Numbers in the wrong place, of the wrong type, or with names that do not belong to an RSA key.
#[test]
fn misplaced_numbers() {
    let world = World::new();
    let mut grid = Grid::new(&world);
    let all = grid.values();
    let moved = |order: [usize; 8]| order.map(|i| all[i].clone());
    for (what, values) in [
        ("p and q swapped", moved([0, 1, 2, 4, 3, 5, 6, 7])),
        ("all swapped", moved([0, 1, 2, 4, 3, 6, 5, 7])),
        ("p twice", moved([0, 1, 2, 3, 3, 5, 6, 7])),
        ("dp twice", moved([0, 1, 2, 3, 4, 5, 5, 7])),
        ("p is n", moved([0, 1, 2, 0, 4, 5, 6, 7])),
        ("d is e", moved([0, 1, 1, 3, 4, 5, 6, 7])),
        ("n is p", moved([3, 1, 2, 3, 4, 5, 6, 7])),
    ] {
        grid.key(what, ffi::KEYPAIR, &list(&values));
        grid.key(what, ffi::PUBLIC_KEY, &list(&values));
    }
    let tiny = [vec![0x0c, 0xa1], vec![17], vec![0x0a, 0xc1], vec![61], vec![53]].map(Some);
    let mut values: Values = Default::default();
    values[..5].clone_from_slice(&tiny);
    grid.key("a tiny key", ffi::KEYPAIR, &list(&values));
    for selection in [ffi::KEYPAIR, ffi::PUBLIC_KEY, PRIVATE_KEY] {
        for given in [0xff, 0b0001_1111, 0b0000_0111, 0b1111_1011] {
            for (i, name) in NAMES.iter().enumerate() {
                let mut values: Values = all.clone();
                (0..8).filter(|k| given >> k & 1 == 0 || *k == i).for_each(|k| values[k] = None);
                let what = format!("{name} is a text, of {given:#b}");
                grid.key(&what, selection, &list(&values).text(name, "a text"));
            }
        }
        for name in ["digest", "mgf", "mgf1-digest", "saltlen", "nonsense"] {
            let params =
                if name == "saltlen" { list(&all).int(name, 9) } else { list(&all).text(name, "SHA256") };
            grid.key(&format!("with {name}"), selection, &params);
        }
        // The name of a third prime or its numbers, in place of the second's and in addition.
        for (name, i) in [("rsa-factor3", 4), ("rsa-exponent3", 6), ("rsa-coefficient2", 7)] {
            let mut values = all.clone();
            let value = values[i].take().expect("a number");
            grid.key(&format!("{} is {name}", NAMES[i]), selection, &list(&values).number(name, &value));
            if name != "rsa-factor3" {
                grid.key(&format!("{name} besides"), selection, &list(&all).number(name, &value));
            }
        }
    }
    grid.end(50, 10);
}

/// OpenSSL 3.0 frees memory twice if a third prime lacks its numbers: zariz does not pass it such a key.
#[test]
fn a_third_prime_without_its_numbers() {
    let world = World::new();
    if !is_zariz() {
        return;
    }
    let all = list(&Grid::new(&world).values());
    for more in [
        all.clone().number("rsa-factor3", &[7]),
        all.clone().number("rsa-factor3", &[7]).number("rsa-exponent3", &[7]),
        all.clone().number("rsa-factor3", &[7]).number("rsa-coefficient2", &[7]),
        all.clone().number("rsa-factor10", &[7]).number("rsa-exponent3", &[7]).number("rsa-exponent4", &[7]),
    ] {
        let refused =
            Key::from_data(&world, Side::Subject, ffi::KEYPAIR, &more).expect_err("it is not a key");
        assert!(refused.text().contains("3 primes"), "{refused:?}");
    }
}
