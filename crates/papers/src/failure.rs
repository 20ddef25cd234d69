//! Why something could not be measured.

use std::{fmt, io};

/// Why something could not be measured: what is wrong, and where.
#[derive(Debug)]
pub enum Failure {
    /// A key, an engine, a library, the `openssl` program or a file of counts that is missing, fails or is
    /// wrong.
    Input(String),
    /// What the system refused: a file, a folder, a program or threads.
    Io(String, io::Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Input(text) => f.write_str(text),
            Self::Io(what, error) => write!(f, "{what}: {error}"),
        }
    }
}

impl std::error::Error for Failure {}

/// Errors of the library that say all there is to say.
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
