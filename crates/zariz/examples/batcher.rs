//! Requests of many callers, which a batcher computes together. Callers block or await, on any executor.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use zariz::batcher::{Batcher, Error};
use zariz::rsa::{Algorithm, PrivateKey};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (batcher, key) = (Batcher::new(), PrivateKey::generate(2048)?);

    // Threads block. What comes while a batch is computed makes the next batch.
    thread::scope(|scope| {
        let sign = |i: u8| batcher.sign(&key, Algorithm::RS256, &[i]).map(|signature| signature.len());
        let callers: Vec<_> = (0..64).map(|i| scope.spawn(move || sign(i))).collect();
        callers.into_iter().try_for_each(|caller| caller.join().expect("no panic").map(drop))
    })?;

    // Tasks await.
    let signer = batcher.signer(&key, Algorithm::PS256);
    block_on(async {
        let signature = signer.sign(b"a message").await?;
        println!("a signature of {} bytes", signature.len());
        Ok::<_, Error>(())
    })?;
    println!("{:?}", batcher.metrics());
    Ok(())
}

/// A small executor of one task.
fn block_on<T>(task: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let mut task = pin!(task);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match task.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => thread::park(),
        }
    }
}
