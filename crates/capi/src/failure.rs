//! Statuses, and the message of the last failure of a thread.

use std::cell::Cell;
use std::ffi::c_char;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use zariz::batcher::{self, QueueError};
use zariz::rsa::{self, KeyError};

/// What a function returns: `ZARIZ_OK`, or the kind of failure.
pub type Status = i32;

/// Success. For a verification: the signature is valid.
pub const ZARIZ_OK: Status = 0;
/// A pointer that must not be NULL is NULL.
pub const ZARIZ_NULL_POINTER: Status = 1;
/// A handle is of another kind, or was freed already. Not every use after a free is noticed.
pub const ZARIZ_WRONG_HANDLE: Status = 2;
/// An argument is not valid: an unknown algorithm, or a length that no key can have.
pub const ZARIZ_INVALID_ARGUMENT: Status = 3;
/// The bytes are not an RSA key, or zariz refuses the key.
pub const ZARIZ_INVALID_KEY: Status = 4;
/// The key is encrypted, and the password is missing or wrong.
pub const ZARIZ_PASSWORD: Status = 5;
/// An input has the wrong length, or is too long for the key.
pub const ZARIZ_INPUT_LENGTH: Status = 6;
/// The memory for the result is too small.
pub const ZARIZ_OUTPUT_LENGTH: Status = 7;
/// A number is not below the modulus.
pub const ZARIZ_OUT_OF_RANGE: Status = 8;
/// The key does not allow this use, or is too short for the algorithm.
pub const ZARIZ_UNSUPPORTED: Status = 9;
/// The signature is not valid.
pub const ZARIZ_VERIFICATION: Status = 10;
/// The ciphertext cannot be decrypted. No message says why, because an attacker could use that.
pub const ZARIZ_DECRYPTION: Status = 11;
/// The system gave no random bytes.
pub const ZARIZ_RANDOM: Status = 12;
/// A result was wrong twice, and is withheld: the processor or memory is faulty or attacked.
pub const ZARIZ_FAULT: Status = 13;
/// The batcher's queue is full.
pub const ZARIZ_FULL: Status = 14;
/// The time limit of the request has passed.
pub const ZARIZ_EXPIRED: Status = 15;
/// The request was cancelled.
pub const ZARIZ_CANCELLED: Status = 16;
/// The request belongs to the parent process.
pub const ZARIZ_FORKED: Status = 17;
/// There is no result to take.
pub const ZARIZ_EMPTY: Status = 18;
/// The system gave no thread, descriptor or memory.
pub const ZARIZ_RESOURCES: Status = 19;
/// A defect of zariz. Please report it.
pub const ZARIZ_INTERNAL: Status = 20;

/// The meaning of each status, by its number.
const MEANINGS: [&str; 21] = [
    "ok\0",
    "a pointer that must not be NULL is NULL\0",
    "the handle is of another kind, or was freed already\0",
    "an argument has no meaning\0",
    "this is not an RSA key, or zariz refuses it\0",
    "the key is encrypted, and the password is missing or wrong\0",
    "an input has the wrong length, or is too long for the key\0",
    "the memory for the result is too small\0",
    "a number is not below the modulus\0",
    "the key does not allow this use, or is too short for the algorithm\0",
    "the signature is not valid\0",
    "the ciphertext cannot be decrypted\0",
    "the system gave no random bytes\0",
    "a result was wrong twice and is withheld: the processor or memory is faulty or attacked\0",
    "the queue is full\0",
    "the time limit of the request has passed\0",
    "the request was cancelled\0",
    "the request belongs to the parent process\0",
    "the list is empty\0",
    "the system has no thread, descriptor or memory left\0",
    "an error of zariz itself; please report it\0",
];

/// Returns the meaning of a status, in English. The text is constant.
#[unsafe(no_mangle)]
pub extern "C" fn zariz_status_text(status: Status) -> *const c_char {
    let meaning = usize::try_from(status).ok().and_then(|status| MEANINGS.get(status));
    meaning.unwrap_or(&"this is not a status of zariz\0").as_ptr().cast()
}

/// Longer messages are cut.
const MESSAGE_SIZE: usize = 512;

thread_local! {
    /// It has no destructor, so it can be read as long as the thread runs.
    static MESSAGE: Cell<[u8; MESSAGE_SIZE]> = const { Cell::new([0; MESSAGE_SIZE]) };
}

/// Returns the message of the last call on this thread that failed: what was wrong and where. It stays until
/// another call on this thread fails. It is "" if none has failed.
#[unsafe(no_mangle)]
pub extern "C" fn zariz_last_error() -> *const c_char {
    MESSAGE.with(|message| message.as_ptr().cast_const().cast())
}

/// A failure: its status, and a message for people.
#[derive(Debug)]
pub struct Failure {
    pub(crate) status: Status,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(status: Status, message: impl Display) -> Self {
        Self { status, message: message.to_string() }
    }

    pub(crate) fn null(what: &str) -> Self {
        Self::new(ZARIZ_NULL_POINTER, format_args!("{what} is NULL"))
    }

    pub(crate) fn argument(message: impl Display) -> Self {
        Self::new(ZARIZ_INVALID_ARGUMENT, message)
    }

    /// Leaves the message for this thread.
    pub(crate) fn leave(&self) -> Status {
        let mut text = [0; MESSAGE_SIZE];
        // Cut between characters, before the last byte, which stays 0.
        let mut message = self.message.as_str();
        while message.len() >= MESSAGE_SIZE {
            message = message.char_indices().next_back().map_or("", |(last, _)| &message[..last]);
        }
        text[..message.len()].copy_from_slice(message.as_bytes());
        MESSAGE.set(text);
        self.status
    }
}

/// Runs the body of a function of the interface. A panic becomes `ZARIZ_INTERNAL`.
pub(crate) fn guard(body: impl FnOnce() -> Result<(), Failure>) -> Status {
    let result = catch_unwind(AssertUnwindSafe(body))
        .unwrap_or_else(|_| Err(Failure::new(ZARIZ_INTERNAL, "zariz panicked; please report it")));
    result.map_or_else(|failure| failure.leave(), |()| ZARIZ_OK)
}

impl From<rsa::Error> for Failure {
    fn from(error: rsa::Error) -> Self {
        let status = match error {
            rsa::Error::Verification | rsa::Error::SaltLength { .. } => ZARIZ_VERIFICATION,
            rsa::Error::Decryption => ZARIZ_DECRYPTION,
            rsa::Error::Fault => ZARIZ_FAULT,
            rsa::Error::InvalidKey => ZARIZ_INVALID_KEY,
            rsa::Error::OutOfRange => ZARIZ_OUT_OF_RANGE,
            rsa::Error::Random => ZARIZ_RANDOM,
            rsa::Error::Digest { .. } | rsa::Error::Length { .. } | rsa::Error::MessageTooLong { .. } => {
                ZARIZ_INPUT_LENGTH
            }
            _ => ZARIZ_UNSUPPORTED,
        };
        Self::new(status, error)
    }
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        let status = match error {
            KeyError::Encrypted | KeyError::Password => ZARIZ_PASSWORD,
            KeyError::Random => ZARIZ_RANDOM,
            _ => ZARIZ_INVALID_KEY,
        };
        Self::new(status, error)
    }
}

impl From<batcher::Error> for Failure {
    fn from(error: batcher::Error) -> Self {
        let status = match error {
            batcher::Error::Rsa(error) => return error.into(),
            batcher::Error::Queue(QueueError::Full) => ZARIZ_FULL,
            batcher::Error::Queue(QueueError::Expired) => ZARIZ_EXPIRED,
            batcher::Error::Queue(QueueError::Closed) => ZARIZ_CANCELLED,
            batcher::Error::Queue(QueueError::Forked) => ZARIZ_FORKED,
            batcher::Error::Queue(QueueError::NoThread) => ZARIZ_RESOURCES,
            _ => ZARIZ_INTERNAL,
        };
        Self::new(status, error)
    }
}
