//! Servers as processes: started, watched, signalled and stopped, and never left running.

use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// How long anything may take before it counts as hanging. Nothing here takes a tenth of it.
const HANGING: Duration = Duration::from_secs(120);
/// Words in a server's log that mean a crash, in upper or lower case.
const CRASH: &[&str] = &[
    "segmentation",
    "core dump",
    "panicked",
    "double free",
    "corrupt",
    "abort",
    "exited on signal",
    "[emerg]",
    "[alert]",
    "[crit]",
    "exit signal",
    "bug in",
];

/// A running server; dropping it kills it and all its children.
pub struct Server {
    name: &'static str,
    child: Child,
    log: PathBuf,
    /// The port it listens on.
    pub port: u16,
}

impl Server {
    /// Starts a server by the command that `command` makes for a free port, and waits until it accepts
    /// connections.
    pub fn start(name: &'static str, folder: &Path, mut command: impl FnMut(u16) -> Command) -> Self {
        // Another program may take the port first.
        let mut attempt = || {
            let port = free_port();
            Self::start_on(name, folder, port, command(port))
        };
        let started = attempt().or_else(|_| attempt()).or_else(|_| attempt());
        started.unwrap_or_else(|log| panic!("{name} does not start:\n{log}"))
    }

    /// Starts a server on `port`, and waits until it accepts connections. The error is its log.
    pub fn start_on(
        name: &'static str,
        folder: &Path,
        port: u16,
        mut command: Command,
    ) -> Result<Self, String> {
        let log = folder.join(format!("{name}.log"));
        let file = File::create(&log).expect("our own folder");
        command.stdin(Stdio::null()).stdout(file.try_clone().expect("a file")).stderr(file).process_group(0);
        let child = command.spawn().unwrap_or_else(|error| panic!("cannot start {name}: {error}"));
        let mut server = Self { name, child, log, port };
        if server.accepts() { Ok(server) } else { Err(server.log()) }
    }

    /// Waits until it accepts connections. Returns false if it ends instead.
    fn accepts(&mut self) -> bool {
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            if self.ended().is_some() {
                return false;
            }
            assert!(start.elapsed() < HANGING, "{} does not listen:\n{}", self.name, self.log());
            sleep(Duration::from_millis(20));
        }
        true
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("our own child")
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        self.name
    }

    /// The process that was started.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its log so far.
    pub fn log(&self) -> String {
        let bytes = fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Its children, without grandchildren, in order of their identifiers.
    pub fn children(&self) -> Vec<u32> {
        let mut children: Vec<u32> = processes().filter(|&id| parent(id) == Some(self.id())).collect();
        children.sort_unstable();
        children
    }

    /// Sends a signal to the process that was started.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.id() as i32).expect("a process");
        kill_process(pid, signal)
            .unwrap_or_else(|error| panic!("{} cannot be signalled: {error}", self.name));
    }

    /// Waits until `done` is true.
    pub fn wait(&mut self, what: &str, mut done: impl FnMut(&Self) -> bool) {
        let start = Instant::now();
        while !done(self) {
            let ended = self.ended();
            assert!(ended.is_none(), "{} ended ({ended:?}) before {what}:\n{}", self.name, self.log());
            assert!(start.elapsed() < HANGING, "{} hangs before {what}:\n{}", self.name, self.log());
            sleep(Duration::from_millis(20));
        }
    }

    /// Stops it by a signal. It must end with exit code 0 and without a crash in its log. A master of haproxy
    /// loses signals that come while it restarts itself, so the signal is sent again.
    pub fn stop(mut self, signal: Signal) {
        let (start, mut sent) = (Instant::now(), None::<Instant>);
        let status = loop {
            if let Some(status) = self.ended() {
                break status;
            }
            if sent.is_none_or(|sent| sent.elapsed() > Duration::from_secs(5)) {
                self.signal(signal);
                sent = Some(Instant::now());
            }
            assert!(start.elapsed() < HANGING, "{} does not stop:\n{}", self.name, self.log());
            sleep(Duration::from_millis(20));
        };
        assert!(status.success(), "{} stopped with {status}:\n{}", self.name, self.log());
        self.assert_no_crash();
    }

    /// Panics if the log speaks of a crash.
    pub fn assert_no_crash(&self) {
        let log = self.log();
        let lower = log.to_lowercase();
        for word in CRASH {
            assert!(!lower.contains(word), "the log of {} says {word:?}:\n{log}", self.name);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(group) = Pid::from_raw(self.child.id() as i32) {
            // It may have ended, with all its children.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("the log of {}:\n{}", self.name, self.log());
        }
    }
}

/// The command with this configuration of OpenSSL, or with the system's.
pub fn with_openssl(mut command: Command, configuration: Option<&Path>) -> Command {
    match configuration {
        Some(file) => command.env("OPENSSL_CONF", file),
        None => command.env_remove("OPENSSL_CONF"),
    };
    command
}

/// A port on which no process listens.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("a bound socket").port()
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").expect("Linux");
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// The fields of /proc/ID/stat from the third on. The second, a name in brackets, may contain anything.
fn stat(id: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let fields = text.rsplit_once(") ")?.1;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

fn parent(id: u32) -> Option<u32> {
    let fields = stat(id)?;
    // A zombie: the process has ended, but its parent has not waited for it yet.
    if fields[0] == "Z" { None } else { fields[1].parse().ok() }
}

/// Seconds of processor time that a process and its threads have used.
pub fn processor_seconds(id: u32) -> f64 {
    let fields = stat(id).unwrap_or_else(|| panic!("process {id} is gone"));
    let ticks: u64 = [11, 12].iter().map(|&i| fields[i].parse::<u64>().expect("a number of ticks")).sum();
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

/// The resident memory of a process, in bytes.
pub fn resident_bytes(id: u32) -> u64 {
    status(id, "VmRSS:") * 1024
}

/// How many threads a process has.
pub fn threads(id: u32) -> u64 {
    status(id, "Threads:")
}

fn status(id: u32, field: &str) -> u64 {
    let status =
        fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_else(|_| panic!("process {id} is gone"));
    let line =
        status.lines().find_map(|line| line.strip_prefix(field)).expect("a process that has not ended");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// How many descriptors a process has open.
pub fn open_descriptors(id: u32) -> usize {
    fs::read_dir(format!("/proc/{id}/fd")).unwrap_or_else(|_| panic!("process {id} is gone")).count()
}
