//! Passwords of encrypted keys: from a file or from the terminal.

use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::cleanup;
use crate::exit::Failure;
use crate::input::{self, Input};
use crate::report::Escaped;

/// The longest password; a longer line is an error.
const LONGEST: u64 = 1 << 16;

/// Where the password of a key comes from.
#[derive(clap::Args)]
pub struct Password {
    /// The password of an encrypted key: the first line of this file [default: asked for on the terminal]
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

impl Password {
    /// The option and its file, for [`input::one_stdin`].
    pub fn source(&self) -> Option<(&str, &Path)> {
        self.password_file.as_deref().map(|path| ("--password-file", path))
    }

    /// The password in the file, if one is given.
    pub fn read(&self) -> Result<Option<Zeroizing<Vec<u8>>>, Failure> {
        self.password_file.as_deref().map(first_line).transpose()
    }
}

/// Whether there is a terminal to ask on.
pub fn can_ask() -> bool {
    io::stderr().is_terminal()
}

/// Asks for the password of the key at `path`.
pub fn ask(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let _kept = cleanup::keep_terminal();
    let prompt = format!("password of {}: ", Escaped(input::name(path)));
    let password = rpassword::prompt_password(prompt).map_err(|error| Failure::io("the terminal", &error))?;
    Ok(Zeroizing::new(password.into_bytes()))
}

/// The first line of a file, without its end.
pub fn first_line(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let input = Input::open(path)?;
    // Reserved at once and read without a buffer: growing and buffering would leave copies of the password.
    let mut line = Zeroizing::new(Vec::with_capacity(LONGEST as usize + 1));
    let mut limited = input.reader.into_inner().take(LONGEST + 1);
    limited.read_to_end(&mut line).map_err(|error| Failure::io(&input.name, &error))?;
    if line.is_empty() {
        return Err(Failure::Input(format!("{}: empty; a password was expected", input.name)));
    }
    let end = line.iter().position(|&byte| byte == b'\n').unwrap_or(line.len());
    if end as u64 > LONGEST {
        return Err(Failure::Input(format!("{}: the first line is too long to be a password", input.name)));
    }
    let text = line[..end].strip_suffix(b"\r").unwrap_or(&line[..end]).len();
    line.truncate(text);
    Ok(line)
}
