//! How deep operations go, and what of a key is left in the memory of the process.

mod remains;
mod search;

use std::cell::Cell;
use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::thread::{self, Builder};

use super::DEPTH;
use crate::primes::{Search, is_prime};
use crate::rsa::hazmat::primitive::{PrivateJob, private_many};
use crate::rsa::{
    Algorithm, Components, Hash, KeyGenerator, KeyMethod, Padding, PrimeComponents, PrivateKey,
};
use crate::{Dispatch, Engine, FixedBase, Modulus, MultiPowJob, multi_pow_many};

thread_local! {
    /// Whether this thread wipes nothing: to measure how deep operations go, and to show that a key is found.
    pub static OFF: Cell<bool> = const { Cell::new(false) };
    /// Whether this thread marks the stack before each operation that wipes.
    pub static MARKING: Cell<bool> = const { Cell::new(false) };
}

/// The stack that is painted.
const ROOM: usize = 1 << 20;
/// The stack of a test's thread.
const STACK: usize = 8 << 20;
const PAINT: u64 = 0x5aa5_c33c_0ff0_9669;

/// The complement of the mark, a word that nothing else has.
const HIDDEN_MARK: u64 = 0x6c62_272e_07bb_0142;
/// The name of what has the mark.
const MARKED: &str = "what the stack held";

/// Fills the stack of the next operation with the mark. An operation that copies bytes to the heap that it
/// did not write (padding, or the rest of an enum) takes the mark along, where it would have taken a digit of
/// a key.
#[inline(never)]
pub fn mark() {
    black_box(&mut [!black_box(HIDDEN_MARK); DEPTH / 16]);
}

fn on_a_large_stack(test: impl FnOnce() + Send) {
    thread::scope(|scope| {
        let thread = Builder::new().stack_size(STACK).spawn_scoped(scope, test).expect("a thread");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

fn dispatches() -> impl Iterator<Item = Dispatch> {
    let engines = Engine::ALL.iter().copied().filter(|engine| engine.is_available()).map(Dispatch::Only);
    engines.chain([Dispatch::Auto])
}

/// Paints the stack below the caller; returns the lowest painted address.
#[inline(never)]
fn paint() -> u64 {
    let mut room = [0u64; ROOM / 8];
    room.fill(PAINT);
    black_box(&mut room).as_ptr() as u64
}

/// The operation that goes deepest.
struct Deepest {
    memory: File,
    depth: usize,
    what: String,
}

impl Deepest {
    fn new() -> Self {
        OFF.set(true);
        let memory = File::open("/proc/self/mem").expect("this process's memory");
        Self { memory, depth: 0, what: String::new() }
    }

    /// Measures another one.
    fn measure(&mut self, what: String, operation: &dyn Fn()) {
        let mut painted = vec![0; ROOM];
        operation(); // what runs only once in a process
        let lowest = paint();
        operation();
        self.memory.read_exact_at(&mut painted, lowest).expect("the stack");
        let untouched = painted.chunks_exact(8).take_while(|word| **word == PAINT.to_ne_bytes()).count();
        let depth = ROOM - 8 * untouched;
        println!("{depth:6} bytes: {what}");
        assert!(untouched > 0, "{what}: deeper than was painted");
        if depth > self.depth {
            (self.depth, self.what) = (depth, what);
        }
    }

    /// Twice as much is wiped, or more.
    fn assert_half_of(&self, wiped: usize) {
        assert!(
            2 * self.depth <= wiped,
            "deepest: {} bytes, {}; wiped: {wiped} bytes",
            self.depth,
            self.what
        );
    }
}

#[test]
#[cfg(feature = "batcher")]
fn no_padding_goes_deeper_than_half_of_what_is_wiped() {
    use super::PADDING_DEPTH;
    use crate::batcher::Job;
    use crate::rsa::{self, DecryptJob};

    on_a_large_stack(|| {
        let mut deepest = Deepest::new();
        let key = PrivateKey::parse(include_bytes!("../../tests/data/rsa16384.pem")).expect("a key");
        for &hash in Hash::ALL {
            for algorithm in [Algorithm::Pkcs1v15(hash), Algorithm::pss(hash, 32)] {
                deepest.measure(format!("{algorithm:?}"), &|| drop(Job::sign(&key, algorithm, b"message")));
            }
            let padding = Padding::oaep(hash);
            let job = DecryptJob { key: &key, padding: &padding, ciphertext: &[1; 2048] };
            deepest.measure(format!("{padding:?}"), &|| drop(rsa::decode(&job, &mut vec![0; 2048])));
        }
        let job = DecryptJob { key: &key, padding: &Padding::Pkcs1v15, ciphertext: &[1; 2048] };
        deepest.measure("PKCS#1".into(), &|| drop(rsa::decode(&job, &mut vec![0; 2048])));
        deepest.assert_half_of(PADDING_DEPTH);
    });
}

#[test]
fn no_operation_goes_deeper_than_half_of_what_is_wiped() {
    on_a_large_stack(|| {
        let mut deepest = Deepest::new();
        let mut measure = |dispatch: Dispatch, what: &str, operation: &dyn Fn()| {
            deepest.measure(format!("{what}, {dispatch}"), operation);
        };
        let pem = PrivateKey::generate(1024).expect("a key").to_pem().expect("a PEM block");
        let load = || PrivateKey::parse(pem.as_bytes()).expect("a key");
        let components = load().components();
        measure(Dispatch::Auto, "load", &|| drop(load()));
        measure(Dispatch::Auto, "load numbers", &|| drop(PrivateKey::from_components(&components)));
        let Components { n, e, d, p, q, .. } = &components;
        let numbers = PrimeComponents { n, e, d, p, q };
        measure(Dispatch::Auto, "load primes", &|| drop(PrivateKey::from_primes(&numbers).expect("a key")));
        measure(Dispatch::Auto, "write", &|| drop(load().to_pem()));
        #[cfg(feature = "encryption")]
        {
            let encrypted = load().to_encrypted_pem(b"password").expect("a PEM block");
            measure(Dispatch::Auto, "write encrypted", &|| drop(load().to_encrypted_pem(b"password")));
            measure(Dispatch::Auto, "load encrypted", &|| {
                drop(PrivateKey::parse_encrypted(encrypted.as_bytes(), b"password").expect("a key"));
            });
        }
        let long = PrivateKey::parse(include_bytes!("../../tests/data/rsa16384.pem")).expect("a key");
        measure(Dispatch::Auto, "sign with 16384 bits", &|| drop(long.sign(Algorithm::RS256, b"message")));
        for dispatch in dispatches() {
            let load = || load().with_engine(dispatch).expect("available");
            let ciphertext =
                |padding: &Padding| load().public_key().encrypt(padding, b"message").expect("a ciphertext");
            for algorithm in [Algorithm::RS256, Algorithm::PS256] {
                measure(dispatch, "sign", &|| drop(load().sign(algorithm, b"message").expect("a signature")));
            }
            for padding in [Padding::Pkcs1v15, Padding::oaep(Hash::Sha256)] {
                let ciphertext = ciphertext(&padding);
                measure(dispatch, "decrypt", &|| {
                    drop(load().decrypt(&padding, &ciphertext).expect("a message"))
                });
            }
            let ciphertext = ciphertext(&Padding::Pkcs1v15);
            measure(dispatch, "raw", &|| {
                let key = load();
                drop(private_many(&[PrivateJob { key: &key, number: &ciphertext }; 9]));
            });
            measure(dispatch, "validate", &|| load().validate().expect("primes"));
            for method in [KeyMethod::Fips, KeyMethod::Incremental] {
                let generator = KeyGenerator::new(1024).expect("a length").with_method(method);
                let generator = generator.with_engine(dispatch).expect("available");
                measure(dispatch, "generate", &|| drop(generator.generate().expect("a key")));
            }
            let safe = Search::new(256).and_then(|search| search.safe()).expect("a length");
            let safe = safe.with_engine(dispatch).expect("available");
            measure(dispatch, "safe prime", &|| drop(safe.generate().expect("a prime")));
            for bytes in [64, 128, 256, 384, 512, 2048] {
                let modulus =
                    Modulus::new(&vec![0xff; bytes]).expect("odd").with_engine(dispatch).expect("available");
                let exponent: &[u8] = &[0xa5; 4];
                measure(dispatch, "power", &|| drop(modulus.pow_batch(&[&[3][..]; 9], exponent)));
                let job = MultiPowJob { modulus: &modulus, bases: &[&[2], &[3]], exponents: &[exponent; 2] };
                measure(dispatch, "product of powers", &|| drop(multi_pow_many(&[job; 9])));
                measure(dispatch, "fixed base", &|| {
                    let base = FixedBase::new(&modulus, &[3], 32).expect("a table");
                    drop(base.pow_batch(&[exponent; 9]).expect("powers"));
                });
            }
        }
        measure(Dispatch::Auto, "test a number", &|| assert_eq!(is_prime(p), Ok(true)));
        deepest.assert_half_of(DEPTH);
    });
}
