//! The provider's errors, and how they reach OpenSSL's error queue.

use std::ffi::{c_int, c_uint};
use std::panic::Location;

use zariz::EngineError;
use zariz::rsa::{Error, KeyError};

use crate::ffi::core::{Core, ReasonString};
use crate::ffi::guard;

/// Why a function of the provider fails.
pub enum Failure {
    /// An error of ours: the reason, a text (what is wrong, where, what to do), and the place in our code.
    New(Reason, String, &'static Location<'static>),
    /// A function of OpenSSL failed. It usually puts its own error on the queue.
    Raised(&'static Location<'static>),
}

/// The result of a function of the provider.
pub type Outcome<T = ()> = Result<T, Failure>;

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $code:literal: $text:literal,)*) => {
        /// The kinds of errors, each with its text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Reason {
            $($(#[$doc])* $name = $code,)*
        }

        /// The texts, for OpenSSL.
        pub static REASON_STRINGS: &[ReasonString] = &[
            $(ReasonString { code: $code, text: $text.as_ptr() },)*
            ReasonString { code: 0, text: std::ptr::null() },
        ];
    };
}

reasons! {
    /// A setting in the configuration.
    Setting = 1: c"invalid setting",
    /// The numbers of a key.
    Key = 2: c"invalid key",
    /// A parameter's value.
    Parameter = 3: c"invalid parameter",
    /// A digest that is not allowed, or does not exist.
    Digest = 4: c"digest not allowed",
    /// A padding mode that the operation does not have.
    Padding = 5: c"invalid padding mode",
    /// The length of an input.
    Length = 6: c"invalid input length",
    /// The space for a result.
    Room = 7: c"output buffer too small",
    /// A signature that does not verify.
    Signature = 8: c"bad signature",
    /// A ciphertext that cannot be decrypted.
    Decryption = 9: c"decryption error",
    /// Functions called in the wrong order.
    Order = 10: c"operation not initialized",
    /// A fault of the processor or memory.
    Fault = 11: c"fault in computation",
    /// A refusal of the operating system.
    System = 12: c"system error",
    /// A mistake in the provider.
    Internal = 13: c"internal error",
}

impl Failure {
    /// An error with a text.
    #[track_caller]
    pub fn new(reason: Reason, text: impl Into<String>) -> Self {
        Self::New(reason, text.into(), Location::caller())
    }

    /// A mistake in the provider.
    #[track_caller]
    pub fn panicked() -> Self {
        Self::new(Reason::Internal, "a panic: please report it")
    }

    /// A requested parameter cannot be given in the requested form.
    #[track_caller]
    pub fn does_not_fit() -> Self {
        Self::new(Reason::Room, "a parameter is of the wrong type, or too small for its value")
    }

    /// A function of OpenSSL failed.
    #[track_caller]
    pub fn raised() -> Self {
        Self::Raised(Location::caller())
    }

    /// Puts the error on the queue. OpenSSL refuses some keys without an error; this then adds one, so that
    /// no failure leaves the queue empty.
    pub fn raise(self, core: &Core) {
        let (reason, text, place) = match self {
            Self::New(reason, text, place) => (reason, text, place),
            Self::Raised(_) if core.has_error() => return,
            Self::Raised(place) => {
                (Reason::Key, "OpenSSL refuses it, and does not say why".to_owned(), place)
            }
        };
        core.raise(reason as c_uint, &text, place.file(), place.line());
    }
}

impl From<Error> for Failure {
    #[track_caller]
    fn from(error: Error) -> Self {
        let reason = match error {
            Error::Verification | Error::SaltLength { .. } => Reason::Signature,
            Error::Decryption => Reason::Decryption,
            Error::Length { .. }
            | Error::OutOfRange
            | Error::MessageTooLong { .. }
            | Error::Digest { .. } => Reason::Length,
            Error::KeyTooShort | Error::InvalidKey => Reason::Key,
            Error::Fault => Reason::Fault,
            Error::Random => Reason::System,
            _ => Reason::Internal,
        };
        Self::new(reason, error.to_string())
    }
}

impl From<KeyError> for Failure {
    #[track_caller]
    fn from(error: KeyError) -> Self {
        Self::new(if error == KeyError::Random { Reason::System } else { Reason::Key }, error.to_string())
    }
}

impl From<EngineError> for Failure {
    #[track_caller]
    fn from(error: EngineError) -> Self {
        Self::new(Reason::Setting, error.to_string())
    }
}

/// Runs a function that OpenSSL calls. Returns 1 for success, otherwise 0 with an error on the queue.
pub fn status(core: &Core, function: impl FnOnce() -> Outcome) -> c_int {
    c_int::from(value(core, function).is_some())
}

/// Runs a function that OpenSSL calls. Returns its value, or `None` with an error on the queue.
pub fn value<T>(core: &Core, function: impl FnOnce() -> Outcome<T>) -> Option<T> {
    // Own nothing here while the function runs: in a job, this stack may be abandoned.
    let outcome = guard(None, || Some(function()));
    let outcome = outcome.unwrap_or_else(|| Err(Failure::panicked()));
    outcome.map_err(|failure| failure.raise(core)).ok()
}
