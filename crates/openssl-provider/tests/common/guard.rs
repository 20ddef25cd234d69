//! A generous time limit for tests that could hang: otherwise they would wait for ever.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

/// Ends the process with a message unless it is dropped in time.
pub struct Guard(#[allow(dead_code)] Sender<()>);

impl Guard {
    pub fn new(what: &'static str) -> Self {
        let (sender, receiver): (Sender<()>, Receiver<()>) = channel();
        thread::spawn(move || {
            if receiver.recv_timeout(Duration::from_secs(300)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                eprintln!("{what}: still not done after five minutes: hangs");
                std::process::abort();
            }
        });
        Self(sender)
    }
}
