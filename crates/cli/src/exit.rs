//! The outcomes of a run, and its exit codes.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use crate::{cleanup, report};

/// The outcome of a complete run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was done: 0.
    Done,
    /// A signature did not verify, a checked number is composite, or there was nothing to check: 1.
    NotVerified,
    /// Some items of a batch failed, the others were delivered in their places: 4.
    SomeFailed,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => Self::SUCCESS,
            Outcome::NotVerified => Self::from(1),
            Outcome::SomeFailed => Self::from(4),
        }
    }
}

/// Why a run stopped early.
#[derive(Debug)]
pub enum Failure {
    /// Wrong usage: 2.
    Usage(String),
    /// A bad key, bad input, or an input or output that failed: 3.
    Input(String),
    /// The reader closed our output, like `head`. The run ends without a message, by the signal for closed
    /// pipes, like other programs; exit code 3 on systems without signals.
    Closed,
}

impl Failure {
    /// Reports the failure, and returns the exit code.
    pub fn report(&self) -> ExitCode {
        match self {
            #[cfg(unix)]
            Self::Closed => zariz_process::end_by(signal_hook::consts::SIGPIPE),
            #[cfg(not(unix))]
            Self::Closed => {}
            Self::Usage(_) | Self::Input(_) => report::error(self),
        }
        self.code().into()
    }

    fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Input(_) | Self::Closed => 3,
        }
    }

    /// A failed operation on `what`, a file's name or a phrase.
    pub fn io(what: impl fmt::Display, error: &io::Error) -> Self {
        Self::Input(format!("{what}: {error}"))
    }

    /// Turns an error of the key in the file at `path` into a failure.
    pub fn key<E: fmt::Display>(path: &Path) -> impl Fn(E) -> Self {
        move |error| Self::Input(format!("{}: {error}", path.display()))
    }

    /// A failed write to `what`; a closed pipe gets no message.
    pub fn write(what: impl fmt::Display, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Self::Closed } else { Self::io(what, error) }
    }
}

/// Ends the process at once, after a failure that leaves nothing to do.
pub fn at_once(failure: &Failure) -> ! {
    cleanup::remove();
    failure.report();
    std::process::exit(failure.code().into())
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Usage(text) | Self::Input(text) => f.write_str(text),
            Self::Closed => f.write_str("the output was closed"),
        }
    }
}

/// Converts errors of the library whose texts need no context.
macro_rules! input {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::Input(error.to_string())
            }
        })*
    };
}
input!(zariz::EngineError, zariz::ModulusError, zariz::ResiduesError);
