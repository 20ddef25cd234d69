//! The system's `openssl` program, for tests that have `#[needs("openssl")]`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder of its own for the files of one test, removed at the end, in which `openssl` runs.
pub struct OpenSsl {
    folder: PathBuf,
}

impl Drop for OpenSsl {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl OpenSsl {
    pub fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("openssl-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&folder).expect("a folder for test files");
        Self { folder }
    }

    /// Where it runs.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.folder.join(name), bytes).expect("a test file");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs `openssl` with the words of `args` and `input` on its standard input; its output, if it succeeds.
    pub fn attempt(&self, args: &str, input: &[u8]) -> Result<Vec<u8>, String> {
        let mut child = Command::new("openssl")
            .args(args.split_whitespace())
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program openssl is installed");
        // It may end without reading its input: then it says why.
        let _ = child.stdin.take().expect("a pipe").write_all(input);
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(format!("openssl {args}: {}", String::from_utf8_lossy(&output.stderr)))
        }
    }

    /// The same, for what must succeed.
    pub fn run(&self, args: &str, input: &[u8]) -> Vec<u8> {
        self.attempt(args, input).unwrap_or_else(|error| panic!("{error}"))
    }
}
