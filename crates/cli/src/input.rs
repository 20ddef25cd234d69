//! Input: a file or standard input, read whole or through a buffer.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, IsTerminal, Read};
use std::path::Path;

use zariz::rsa::Hash;

use crate::encoding::{Encoding, LONGEST_ENCODED};
use crate::exit::Failure;
use crate::progress::Progress;
use crate::{report, standard};

/// Larger than a pipe, so that one read takes all its contents.
const BUFFER: usize = 256 * 1024;

/// Whether `path` means standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name of the input at `path` in errors.
pub fn name(path: &Path) -> String {
    if is_stdin(path) { "standard input".into() } else { path.display().to_string() }
}

/// Refuses to read standard input for two purposes. Each path comes with the name of its option.
pub fn one_stdin<'a>(paths: impl IntoIterator<Item = (&'a str, &'a Path)>) -> Result<(), Failure> {
    let names: Vec<&str> =
        paths.into_iter().filter(|(_, path)| is_stdin(path)).map(|(name, _)| name).collect();
    match names.len() {
        0 | 1 => Ok(()),
        _ => Err(Failure::Usage(format!(
            "standard input can be read only once, not for {}: name files",
            names.join(" and ")
        ))),
    }
}

/// An open input.
pub struct Input {
    /// The bytes to come.
    pub reader: BufReader<Box<dyn Read + Send>>,
    /// Its name in errors.
    pub name: String,
    /// Its length in bytes, if it is a regular file.
    pub size: Option<u64>,
}

impl Input {
    /// Opens a file, or standard input for `-`.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        if is_stdin(path) {
            if io::stdin().is_terminal() {
                report::note("reading from the terminal; Ctrl-D at the start of a line ends the input");
            }
            return Self::stdin();
        }
        standard::must_name_open(path)?;
        let name = name(path);
        let file = File::open(path).map_err(|e| Failure::io(&name, &e))?;
        Ok(Self::from_file(file, name))
    }

    fn from_file(file: File, name: String) -> Self {
        let size = file.metadata().ok().filter(|about| about.is_file()).map(|about| about.len());
        Self { reader: BufReader::with_capacity(BUFFER, Box::new(file)), name, size }
    }

    /// Standard input as a file, to know whether it is a regular file and how long.
    #[cfg(unix)]
    fn stdin() -> Result<Self, Failure> {
        use std::os::fd::AsFd;

        standard::must_be_open(0)?;
        let name = "standard input";
        let file = io::stdin().as_fd().try_clone_to_owned().map_err(|e| Failure::io(name, &e))?;
        Ok(Self::from_file(file.into(), name.into()))
    }

    #[cfg(not(unix))]
    fn stdin() -> Result<Self, Failure> {
        let reader = BufReader::with_capacity(BUFFER, Box::new(io::stdin()) as Box<dyn Read + Send>);
        Ok(Self { reader, name: "standard input".into(), size: None })
    }

    /// The digest of the rest of the input, which may be larger than memory.
    pub fn digest(&mut self, hash: Hash, progress: &mut Progress) -> Result<Vec<u8>, Failure> {
        let mut hasher = hash.hasher();
        loop {
            let bytes = match self.reader.fill_buf() {
                Ok([]) => return Ok(hasher.finish()),
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(Failure::io(&self.name, &error)),
            };
            hasher.update(bytes);
            let taken = bytes.len();
            self.reader.consume(taken);
            progress.advance(0, taken as u64);
        }
    }

    /// Reads one signature or ciphertext in `encoding` for a key of `size` bytes. Also returns advice if the
    /// input has another form.
    pub fn read_item(self, encoding: Encoding, size: usize) -> Result<(Vec<u8>, String), Failure> {
        let mut contents = Vec::new();
        self.reader
            .take(LONGEST_ENCODED + 1)
            .read_to_end(&mut contents)
            .map_err(|e| Failure::io(&self.name, &e))?;
        let advice = encoding.advice(&contents, size);
        if contents.len() as u64 > LONGEST_ENCODED {
            let (name, what) = (self.name, "too long for one signature or ciphertext");
            return Err(Failure::Input(format!("{name}: {what}: more than {LONGEST_ENCODED} bytes{advice}")));
        }
        Ok((contents, advice))
    }
}
