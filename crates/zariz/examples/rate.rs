//! Signatures and verifications per second, quickly: `rate BITS [ENGINE]`.
use std::time::Instant;
use zariz::{
    Engine,
    rsa::{Algorithm, PrivateKey, Signed},
};

/// The benchmark key of that size, wherever this is run.
fn key_file(bits: usize) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../cli/keys/bench-{bits}.pem"))
}

fn main() {
    let bits: usize = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(2048);
    let only = std::env::args().nth(2).unwrap_or_default();
    for engine in Engine::ALL.iter().copied().filter(|e| e.is_available() && e.name().contains(&only)) {
        let t = Instant::now();
        let key = PrivateKey::parse(&std::fs::read(key_file(bits)).unwrap()).unwrap().with_engine(engine).unwrap();
        let gen_time = t.elapsed();
        let pem = key.to_pkcs8_pem().unwrap();
        let t = Instant::now();
        let key = PrivateKey::parse(pem.as_bytes()).unwrap().with_engine(engine).unwrap();
        let load = t.elapsed();
        let messages = vec![&b"message"[..]; 64];
        let mut best = [0f64; 2];
        for _ in 0..40 {
            let t = Instant::now();
            let s: Vec<_> = key.sign_batch(Algorithm::RS256, &messages).into_iter().map(|s| s.unwrap()).collect();
            best[0] = best[0].max(64.0 / t.elapsed().as_secs_f64());
            let items: Vec<_> = s.iter().map(|s| Signed { message: messages[0], signature: s }).collect();
            for _ in 0..4 {
                let t = Instant::now();
                assert!(key.public_key().verify_batch(Algorithm::RS256, &items).iter().all(|r| r.is_ok()));
                best[1] = best[1].max(64.0 / t.elapsed().as_secs_f64());
            }
        }
        println!(
            "{engine:12} rsa{bits} sign {:8.0}/s verify {:8.0}/s  load {load:?} generate {gen_time:?}",
            best[0], best[1]
        );
    }
}
