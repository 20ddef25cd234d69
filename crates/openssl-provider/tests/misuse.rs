//! Random sequences of calls, right and wrong, on both providers in step: each call must end alike on both.

mod common;

use common::keys::{PEM_1024, native, rsa_2048};
use common::{Ctx, Faults, Operation, Params, Side, World, stricter};

/// Marsaglia's xorshift: an equal sequence in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % bound
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.below(256) as u8).collect()
    }

    /// Some parameters, most of them valid.
    fn params(&mut self) -> Params {
        let mut params = Params::new();
        // Each name once: of repeated ones, OpenSSL's versions take the first, or none.
        let (mut left, first) = (self.below(4), self.below(9));
        for kind in (first..9).chain(0..first) {
            if left == 0 || self.below(2) == 0 {
                continue;
            }
            left -= 1;
            params = match kind {
                0 => {
                    params.text("digest", self.one_of(&["SHA1", "SHA256", "SHA512", "MD5-SHA1", "nonsense"]))
                }
                1 if self.below(3) == 0 => params.int("pad-mode", self.one_of(&[1, 3, 4, 5, 6, 7, 8])),
                1 | 2 if format!("{params:?}").contains("pad-mode") => params,
                1 | 2 => params.text("pad-mode", self.one_of(&["pkcs1", "pss", "none", "oaep"])),
                3 => params.text("mgf1-digest", self.one_of(&["SHA1", "SHA384", "nonsense"])),
                4 if self.below(2) == 0 => {
                    params.text("saltlen", self.one_of(&["digest", "max", "auto", "0", "9"]))
                }
                4 => params.int("saltlen", self.one_of(&[-1, -2, -3, 0, 20, 300])),
                5 => params.bytes("oaep-label", b"label"),
                6 => params.uint("tls-client-version", 0x303),
                7 => params.uint("implicit-rejection", self.one_of(&[0, 1])),
                _ => params.text("nonsense", "nonsense"),
            };
        }
        params
    }

    fn input(&mut self) -> Vec<u8> {
        let length = self.one_of(&[0, 1, 20, 32, 32, 36, 48, 64, 64, 100, 127, 128, 200, 255, 256, 256, 257]);
        match self.below(6) {
            0 => vec![0; length],
            1 => vec![0xff; length],
            2 => vec![1; length],
            _ => self.bytes(length),
        }
    }
}

#[test]
fn random_sequences_of_calls() {
    let world = World::new();
    let keys = [0, 1].map(|i| {
        let side = Side::BOTH[i];
        let long = rsa_2048(&world, side);
        let short = native(&world, side, PEM_1024);
        [long.public(&world, side), long, short]
    });
    // With implicit rejection, OpenSSL has an answer where OpenSSL 3.0 has an error.
    let implicit = {
        let ctx = Ctx::ready(&world, Side::Reference, &keys[1][1], Operation::Decrypt, &Params::new())
            .expect("ready");
        ctx.run(Operation::Decrypt, &[7; 256]).is_ok()
    };
    let (mut faults, mut random) = (Faults::new(), Random(0x5eed));
    for round in 0..1500 {
        let k = random.below(3);
        let mut pair = [0, 1].map(|i| Ctx::of(&world, Side::BOTH[i], &keys[i][k]).expect("a context"));
        let (mut history, mut last) = (format!("round {round}, key {k}"), vec![1; 256]);
        // The operation for which the context is initialised.
        let mut operation = Operation::Sign;
        for _ in 0..12 {
            match random.below(8) {
                0..=2 => {
                    let params = random.params();
                    let ready = random.below(3) > 0;
                    let results = if ready {
                        operation = random.one_of(&Operation::ALL);
                        history += &format!("; ready to {operation:?} with {params:?}");
                        pair.each_ref().map(|ctx| ctx.init(operation, &params))
                    } else {
                        history += &format!("; set {params:?}");
                        pair.each_ref().map(|ctx| ctx.set(&params))
                    };
                    let [ours, theirs] = &results;
                    if ours.is_ok() && theirs.is_err() {
                        // The default provider refuses this combination when it is set, zariz when it is
                        // used.
                        let used = match operation {
                            Operation::Verify => pair[0].verify(&[1; 256], &[1; 32]).map(|()| Vec::new()),
                            _ => pair[0].run(operation, &[1; 32]),
                        };
                        faults.refused(&history, &used);
                        break;
                    }
                    // zariz notices a missing half of a key at once.
                    let missing =
                        ours.as_ref().is_err_and(|failure| failure.text().contains("this is a public key"));
                    if !missing {
                        faults.allowing(stricter(operation, &params)).outcome(&history, ours, theirs);
                    }
                    if ours.is_err() {
                        // In the default provider, parameters set before a refused one stay set.
                        break;
                    }
                }
                3 => {
                    history += "; duplicate";
                    let copies = pair.each_ref().map(|ctx| ctx.duplicate());
                    if !faults.outcome(&history, &copies[0], &copies[1]) {
                        break;
                    }
                    pair = copies.map(|copy| copy.expect("both succeeded"));
                }
                4 => {
                    let input = if random.below(2) == 0 { last.clone() } else { random.input() };
                    let data = random.input();
                    history += &format!("; verify {} bytes of {}", input.len(), data.len());
                    let results = pair.each_ref().map(|ctx| ctx.verify(&input, &data));
                    faults.identical(&history, &results[0], &results[1]);
                }
                _ => {
                    if operation == Operation::Verify {
                        continue;
                    }
                    let input = if random.below(3) == 0 { last.clone() } else { random.input() };
                    history += &format!("; {operation:?} {} bytes", input.len());
                    let results = pair.each_ref().map(|ctx| ctx.run(operation, &input));
                    if operation == Operation::Decrypt && input.is_empty() {
                        // A number without bytes is zero; later versions of OpenSSL refuse it.
                        continue;
                    }
                    if operation == Operation::Decrypt
                        && !implicit
                        && results[0].is_ok() != results[1].is_ok()
                    {
                        continue;
                    }
                    if faults.outcome(&history, &results[0], &results[1]) {
                        let [ours, theirs] = results.map(|answer| answer.expect("both succeeded"));
                        // Results may be random; their lengths are not.
                        faults.same(&history, &ours.len(), &theirs.len());
                        last = theirs;
                    }
                }
            }
        }
    }
    faults.none(500);
}
