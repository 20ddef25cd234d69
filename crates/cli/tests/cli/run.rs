//! Runs the program and its peers, with temporary files.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use tempfile::TempDir;

/// The result of a run.
#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Done {
    /// Standard output as text.
    pub fn text(&self) -> &str {
        str::from_utf8(&self.stdout).expect("text on standard output")
    }

    /// The lines of standard output.
    pub fn lines(&self) -> Vec<&str> {
        self.text().lines().collect()
    }

    /// Checks the exit code; if it is wrong, shows the whole run.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    /// Checks that standard error contains all these words.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is not in {:?}", self.stderr);
        }
        self
    }

    /// Checks that nothing was written to standard error.
    #[track_caller]
    pub fn says_nothing(self) -> Self {
        assert_eq!(self.stderr, "");
        self
    }
}

/// The program, without arguments yet.
pub fn program() -> Command {
    Command::new(crate::PROGRAM)
}

/// Runs the program with nothing on standard input.
pub fn zariz<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Done {
    zariz_with(arguments, b"")
}

/// Runs the program with bytes on standard input.
pub fn zariz_with<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>, stdin: &[u8]) -> Done {
    run(program().args(arguments), stdin)
}

/// Runs a command with bytes on standard input. Fails the test if the program panics.
pub fn run(command: &mut Command, stdin: &[u8]) -> Done {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", command.get_program()));
    let mut pipe = child.stdin.take().expect("a pipe");
    let output = thread::scope(|scope| {
        // The program may end before it has read everything.
        scope.spawn(move || drop(pipe.write_all(stdin)));
        child.wait_with_output().expect("the command ends")
    });
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!stderr.contains("panicked"), "{stderr}");
    Done { code: output.status.code(), stdout: output.stdout, stderr }
}

/// Runs `openssl`, which must succeed, and returns its standard output. Tests that call it have
/// `#[needs("openssl")]`.
#[track_caller]
pub fn openssl<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Vec<u8> {
    run(Command::new("openssl").args(arguments), b"").exits(0).stdout
}

/// The newest module for OpenSSL that cargo built: beside this test program, or one folder above.
#[cfg(target_os = "linux")]
pub fn module() -> PathBuf {
    let program = std::env::current_exe().expect("the path of this program");
    let files = program.ancestors().skip(1).take(2).map(|folder| folder.join("libzariz_provider.so"));
    let dated = files.filter_map(|file| Some((fs::metadata(&file).ok()?.modified().ok()?, file)));
    dated.max_by_key(|(time, _)| *time).expect("cargo builds the module for these tests").1
}

/// A library without any function that the program loads at run time: the compiler's own.
#[cfg(target_os = "linux")]
pub fn another_library() -> PathBuf {
    let maps = fs::read_to_string("/proc/self/maps").expect("the libraries of this program");
    let mut paths = maps.lines().filter_map(|line| Some(&line[line.find('/')?..]));
    paths.find(|path| path.contains("/libgcc_s.so")).expect("libgcc_s").into()
}

/// The path of a benchmark key, the private key of the tests.
pub fn key(bits: usize) -> OsString {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("keys/bench-{bits}.pem")).into()
}

/// A folder of test files.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file, and returns its path.
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        fs::write(&path, contents).expect("a file in the temporary folder");
        path
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.join(name)).expect("the file is there")
    }

    /// The names in the folder, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).expect("the folder is there");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// The public half of a benchmark key, as written by `openssl`.
    pub fn public_key(&self, bits: usize) -> PathBuf {
        let path = self.join(&format!("public-{bits}.pem"));
        openssl([
            OsStr::new("pkey"),
            OsStr::new("-in"),
            &key(bits),
            "-pubout".as_ref(),
            "-out".as_ref(),
            path.as_ref(),
        ]);
        path
    }
}

/// A list of arguments of different types.
#[macro_export]
macro_rules! args {
    ($($argument:expr),* $(,)?) => {
        vec![$(std::ffi::OsString::from(&$argument)),*] as Vec<std::ffi::OsString>
    };
}
