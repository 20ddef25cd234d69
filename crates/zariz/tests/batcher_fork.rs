//! A batcher after a fork. Alone in its process, since other tests would see the fork, too.
#![cfg(all(feature = "batcher", feature = "keygen"))]

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use zariz::batcher::{Batcher, Error, QueueError};
use zariz::rsa::{Algorithm, PrivateKey};

/// What a child of `fork` sees: its own queue, and futures of its parent that say so.
#[test]
fn after_a_fork_there_is_another_queue() {
    let batcher = Batcher::builder().capacity(1).build();
    let signer = batcher.signer(&PrivateKey::generate(1024).expect("a key"), Algorithm::RS256);
    assert!(signer.sign_blocking(b"before").is_ok());
    // More than the capacity wait.
    let (mut pending, mut outside) = (pin!(signer.sign(b"first")), pin!(signer.sign(b"second")));
    let mut context = Context::from_waker(Waker::noop());
    assert!(
        pending.as_mut().poll(&mut context).is_pending() && outside.as_mut().poll(&mut context).is_pending()
    );
    zariz_process::note_fork();
    for of_parent in [pending.as_mut(), outside.as_mut()] {
        assert_eq!(of_parent.poll(&mut context), Poll::Ready(Err(Error::Queue(QueueError::Forked))));
    }
    assert_eq!(batcher.metrics().operations, 0);
    assert_eq!(
        signer.sign_blocking(b"after"),
        Ok(signer.key().sign(Algorithm::RS256, b"after").expect("a signature"))
    );
    assert_eq!(batcher.metrics().operations, 1);
}
