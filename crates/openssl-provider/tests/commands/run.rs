//! Runs the `openssl` program, with zariz or without, and reads what the provider counted meanwhile.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::counters::Counters;
use crate::module::Module;

/// A command that runs longer than this hangs: all take seconds at most.
const HANGS: Duration = Duration::from_secs(180);

/// How a command gets its provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Only OpenSSL's default provider.
    Default,
    /// zariz, by options of the command.
    Options,
    /// zariz, only by the configuration.
    Configuration,
}

/// Both ways to zariz.
pub const OURS: [Way; 2] = [Way::Options, Way::Configuration];

/// A folder to run commands in.
pub struct Place {
    folder: TempDir,
    module: Module,
    runs: AtomicUsize,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = Self { folder, module: Module::get(), runs: AtomicUsize::new(0) };
        for bits in [1024, 2048, 3072, 4096] {
            let name = format!("{bits}.pem");
            fs::copy(key(bits), place.path(&name)).expect("a copy of the key");
            let public = format!("{bits}.pub");
            place.run(Way::Default, &["pkey", "-in", &name, "-pubout", "-out", &public]).succeeds();
        }
        place.write("message", b"The quick brown fox jumps over the lazy dog\n");
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, contents: &[u8]) {
        fs::write(self.path(name), contents).expect("a file in the temporary folder");
    }

    #[track_caller]
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs `openssl` in the folder, with nothing on standard input.
    #[track_caller]
    pub fn run(&self, way: Way, arguments: &[&str]) -> Done {
        self.run_with(way, arguments, Settings::default())
    }

    /// Runs `openssl` with more settings.
    #[track_caller]
    pub fn run_with(&self, way: Way, arguments: &[&str], settings: Settings) -> Done {
        let mut started = self.start(way, arguments, settings);
        drop(started.child.stdin.take());
        started.end()
    }

    /// Runs a command that the default provider must refuse, and zariz must refuse with an error of its own.
    #[track_caller]
    pub fn refuses(&self, arguments: &[&str]) {
        let [default, ours @ ..] = self.alike(arguments);
        default.fails(&[]);
        for ours in ours {
            // `40F7…:error:4000000A:zariz::bad signature:…`: only a loaded provider writes this.
            ours.fails(&[":error:", ":zariz:"]);
        }
    }

    /// Runs a command that OpenSSL must refuse with either provider: it never calls zariz, or zariz leaves it
    /// to OpenSSL.
    #[track_caller]
    pub fn openssl_refuses(&self, arguments: &[&str]) {
        for done in self.alike(arguments) {
            done.fails(&[]);
        }
    }

    /// Runs a command with the default provider and in both ways with zariz; all must end with equal exit
    /// codes. If the default provider puts errors on OpenSSL's queue, zariz must do so too, with a text.
    #[track_caller]
    pub fn alike(&self, arguments: &[&str]) -> [Done; 3] {
        let default = self.run(Way::Default, arguments);
        let [options, configuration] = OURS.map(|way| self.run(way, arguments));
        for ours in [&options, &configuration] {
            assert_eq!(ours.code, default.code, "{default:?}\n{ours:?}");
            let [theirs, mine] = [&default, ours].map(Done::reasons);
            let said = theirs.is_empty() || mine.iter().any(|reason| reason.chars().any(char::is_alphabetic));
            assert!(said, "the default provider says why, ours does not:\n{default:?}\n{ours:?}");
        }
        [default, options, configuration]
    }

    /// Starts `openssl` in the folder, with pipes to and from it.
    pub fn start(&self, way: Way, arguments: &[&str], settings: Settings) -> Started {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        let [configuration, counters] = ["cnf", "counters"].map(|end| self.path(&format!("run-{run}.{end}")));
        let mut ours =
            format!("module = {}\ncounters = {}\n", self.module.file().display(), counters.display());
        ours.push_str(&settings.provider);
        let active = "activate = 1\n";
        let others = if settings.alone { "" } else { active };
        // A provider loaded by the command's options comes before others, unless the configuration has loaded
        // one.
        let (more, ours, default) = match way {
            Way::Default => ("", None, others),
            Way::Options => ("", Some(ours), ""),
            Way::Configuration => ("alg_section = algorithms\n", Some(format!("{active}{ours}")), others),
        };
        let mut text = format!(
            "openssl_conf = all\n[all]\nproviders = list\n{more}[algorithms]\ndefault_properties = ?provider=zariz\n\
             [other]\n{default}{}[list]\ndefault = other\n",
            settings.tail
        );
        if let Some(ours) = ours {
            text.push_str(&format!("zariz = ours\n[ours]\n{ours}"));
        }
        fs::write(&configuration, text).expect("a configuration");

        let mut command = Command::new("openssl");
        command.arg(arguments[0]);
        if way == Way::Options {
            command.arg("-provider-path").arg(self.module.folder());
            command.args(["-provider", "zariz", "-provider", "default", "-propquery", "?provider=zariz"]);
        }
        command.args(&arguments[1..]).current_dir(self.folder.path()).env("OPENSSL_CONF", &configuration);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("openssl starts");
        let what: Vec<OsString> = command.get_args().map(Into::into).collect();
        Started { child, what: format!("{way:?}: openssl {what:?}"), counters }
    }
}

/// More lines for the configuration.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// In the provider's section.
    pub provider: String,
    /// Sections for the command.
    pub tail: String,
    /// Whether the configuration activates only zariz, without OpenSSL's provider.
    pub alone: bool,
}

/// The benchmark keys of the program `zariz`.
pub fn key(bits: usize) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../cli/keys/bench-{bits}.pem"))
}

/// A running command; killed when dropped.
pub struct Started {
    pub child: Child,
    what: String,
    counters: PathBuf,
}

impl Started {
    /// The rest of the first line of standard output that begins with this. Later lines are still unread.
    #[track_caller]
    pub fn line(&mut self, beginning: &str) -> String {
        let mut all = String::new();
        let stdout = self.child.stdout.as_mut().expect("standard output is a pipe");
        let mut line = Vec::new();
        let mut byte = [0];
        // One byte at a time: bytes read ahead would be lost.
        while stdout.read(&mut byte).expect("standard output can be read") == 1 {
            if byte[0] != b'\n' {
                line.push(byte[0]);
                continue;
            }
            let text = String::from_utf8_lossy(&line).into_owned();
            if let Some(rest) = text.strip_prefix(beginning) {
                return rest.to_owned();
            }
            all.push_str(&text);
            all.push('\n');
            line.clear();
        }
        let stderr = String::from_utf8_lossy(&crate::run::all(self.child.stderr.take())).into_owned();
        panic!("{} ended without a line {beginning}…:\n{all}{stderr}", self.what)
    }

    /// Waits for the end. Kills a command that hangs, and fails the test.
    #[track_caller]
    pub fn end(mut self) -> Done {
        let (stdout, stderr) = (self.child.stdout.take(), self.child.stderr.take());
        let (stdout, stderr) = (thread::spawn(|| all(stdout)), thread::spawn(|| all(stderr)));
        let start = Instant::now();
        let status = loop {
            match self.child.try_wait().expect("the command can be waited for") {
                Some(status) => break Some(status),
                None if start.elapsed() > HANGS => break None,
                None => thread::sleep(Duration::from_millis(2)),
            }
        };
        if status.is_none() {
            // Its pipes end with it.
            let _ = self.child.kill();
        }
        let stdout = stdout.join().expect("standard output is read");
        let stderr = String::from_utf8_lossy(&stderr.join().expect("standard error is read")).into_owned();
        let Some(status) = status else { panic!("{} hung; it had said {stderr}", self.what) };
        let counters = Counters::in_file(&self.counters);
        let done = Done { what: self.what.clone(), code: status.code(), stdout, stderr, counters };
        assert_eq!(status.signal(), None, "crashed: {done:?}");
        done
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn all(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}

/// A command that has ended.
pub struct Done {
    what: String,
    code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
    pub counters: Counters,
}

impl std::fmt::Debug for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        writeln!(f, "{}\nexit code {:?}, {:?}", self.what, self.code, self.counters)?;
        write!(f, "{}\n{}", String::from_utf8_lossy(&self.stdout), self.stderr)
    }
}

impl Done {
    #[track_caller]
    pub fn succeeds(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Checks that it failed without a crash and said why.
    #[track_caller]
    pub fn fails(self, words: &[&str]) -> Self {
        assert!(self.code.is_some_and(|code| code != 0), "{self:?}");
        let said = format!("{}{}", String::from_utf8_lossy(&self.stdout), self.stderr);
        for word in words {
            assert!(said.contains(word), "{word:?} is not said: {self:?}");
        }
        self
    }

    /// The reasons of the errors on OpenSSL's queue, from lines such as `40F7…:error:0200007A:rsa
    /// routines:…:reason:file:…`.
    pub fn reasons(&self) -> Vec<&str> {
        self.stderr.lines().filter_map(|line| line.split_once(":error:")?.1.split(':').nth(3)).collect()
    }

    /// Checks that standard output contains this.
    #[track_caller]
    pub fn prints(self, word: &str) -> Self {
        assert!(String::from_utf8_lossy(&self.stdout).contains(word), "{word:?} is not printed: {self:?}");
        self
    }

    /// Checks that zariz did exactly this many private and public operations, without fallbacks.
    #[track_caller]
    pub fn did(self, private: u64, public: u64) -> Self {
        let Counters { fallbacks, check_failures, .. } = self.counters;
        let did = (self.counters.private, self.counters.public, fallbacks, check_failures);
        assert_eq!(did, (private, public, 0, 0), "private, public, fallbacks, check failures: {self:?}");
        self
    }

    /// Checks that zariz left exactly this many operations to OpenSSL, and did none itself.
    #[track_caller]
    pub fn left(self, fallbacks: u64) -> Self {
        let did = (self.counters.private, self.counters.public, self.counters.fallbacks);
        assert_eq!(did, (0, 0, fallbacks), "private, public, fallbacks: {self:?}");
        self
    }

    /// Checks that zariz made exactly this many keys.
    #[track_caller]
    pub fn made_keys(self, keys: u64) -> Self {
        assert_eq!(self.counters.keys_generated, keys, "{self:?}");
        self
    }
}
