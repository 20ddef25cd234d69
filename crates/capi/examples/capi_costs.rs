//! What the C interface costs: `zariz_sign_many` of 64 messages beside Rust's `sign_batch`, in turns, and the
//! median of their ratios. `cargo run --release -p zariz-capi --example capi_costs`

use std::ptr;
use std::time::Instant;

use zariz::rsa::{Algorithm, PrivateKey};
use zariz_capi::{
    Bytes, PrivateJob, ZARIZ_OK, ZARIZ_RS256, zariz_private_key_free, zariz_private_key_parse,
    zariz_sign_many,
};

const JOBS: usize = 64;
const ROUNDS: usize = 41;

fn seconds(work: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for bits in [2048, 3072, 4096] {
        let key = PrivateKey::generate(bits)?;
        let der = key.to_der()?;
        let mut handle = ptr::null_mut();
        // SAFETY: the bytes and the handle are there.
        let status =
            unsafe { zariz_private_key_parse(der.as_ptr(), der.len(), ptr::null(), 0, &raw mut handle) };
        assert_eq!(status, ZARIZ_OK);
        let messages: Vec<Vec<u8>> = (0..JOBS).map(|i| format!("message {i}").into_bytes()).collect();
        let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let mut signatures = vec![vec![0; key.size()]; JOBS];
        let job = |(message, signature): (&&[u8], &mut Vec<u8>)| PrivateJob {
            key: handle,
            algorithm: ZARIZ_RS256,
            status: -1,
            input: Bytes { data: message.as_ptr(), len: message.len() },
            label: Bytes { data: ptr::null(), len: 0 },
            output: signature.as_mut_ptr(),
            capacity: signature.len(),
            output_len: 0,
        };
        let mut jobs: Vec<PrivateJob> = messages.iter().zip(&mut signatures).map(job).collect();
        let (mut expected, mut ratios) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let rust = seconds(&mut || expected = key.sign_batch(Algorithm::RS256, &messages));
            let c = seconds(&mut || {
                // SAFETY: all memory of the jobs is there.
                assert_eq!(unsafe { zariz_sign_many(jobs.as_mut_ptr(), jobs.len()) }, ZARIZ_OK);
            });
            ratios.push(rust / c);
        }
        assert!(expected.iter().zip(&signatures).all(|(one, other)| one.as_ref() == Ok(other)));
        ratios.sort_by(f64::total_cmp);
        println!("RSA-{bits}: zariz_sign_many has {:.3} times the rate of sign_batch", ratios[ROUNDS / 2]);
        // SAFETY: made above.
        unsafe { zariz_private_key_free(handle) };
    }
    Ok(())
}
