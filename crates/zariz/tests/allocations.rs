//! What batches allocate: something for each batch of lanes, and for each request its result alone.
#![cfg(feature = "rsa")]

use allocation_counter::measure;
use zariz::Engine;
use zariz::rsa::hazmat::primitive::{PrivateJob, PublicJob, private_many, public_many_vartime};
use zariz::rsa::{Algorithm, PrivateKey};

/// Allowed for each batch of lanes: 29 and 5 were counted. One more for each of four requests would exceed
/// it.
const PRIVATE: usize = 32;
const PUBLIC: usize = 8;

#[test]
fn requests_allocate_their_results_alone() {
    let key = PrivateKey::parse(include_bytes!("../../cli/keys/bench-2048.pem")).expect("a key");
    let number = vec![1; key.size()];
    for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available() && engine.lanes() >= 4) {
        let key = key.with_engine(engine).expect("available");
        let check = |what: &str, of_request: usize, of_batch: usize, operation: &dyn Fn(usize)| {
            let lanes = engine.lanes();
            operation(8 * lanes); // what is prepared and kept
            let allocations = |batches: usize| measure(|| operation(batches * lanes)).count_total as usize;
            let more = allocations(8) - allocations(4);
            assert!(more >= 4 * lanes, "{engine}, {what}: {more}: results are allocated");
            let most = 4 * (of_request * lanes + of_batch);
            assert!(
                more <= most,
                "{engine}, {what}: {more} allocations for four batches of {lanes}, not {most}"
            );
        };
        check("private", 1, PRIVATE, &|count| {
            drop(private_many(&vec![PrivateJob { key: &key, number: &number }; count]));
        });
        check("public", 1, PUBLIC, &|count| {
            drop(public_many_vartime(&vec![PublicJob { key: key.public_key(), number: &number }; count]));
        });
        // A signature has a digest too.
        check("sign", 2, PRIVATE, &|count| {
            drop(key.sign_batch(Algorithm::RS256, &vec![&b"message"[..]; count]));
        });
    }
}
