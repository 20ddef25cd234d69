//! The system's `openssl` program, to compare with.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::processor::{children_time, processors, since};
use super::sample::Sample;
use super::stopwatch::{Laps, Stopwatch};
use crate::exit::Failure;

/// For how many seconds starts of a process are timed.
const STARTS: f64 = 0.2;

/// The RSA sizes of zariz that `openssl speed` can measure.
const SPEED_SIZES: [usize; 4] = [1024, 2048, 3072, 4096];

/// An `openssl` program that works.
pub struct OpenSsl {
    /// Its name and version, such as `OpenSSL 3.0.19`.
    pub version: String,
}

/// What `openssl speed` measured, in operations per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Signatures per second.
    pub sign: f64,
    /// Verifications per second.
    pub verify: f64,
}

impl OpenSsl {
    /// The `openssl` on the search path.
    pub fn find() -> Result<Self, Failure> {
        let output = openssl(["version"])?;
        let version: Vec<&str> = output.split_whitespace().take(2).collect();
        Ok(Self { version: version.join(" ") })
    }

    /// Whether [`rates`](Self::rates) can measure keys of this size.
    pub fn has_speed(bits: usize) -> bool {
        SPEED_SIZES.contains(&bits)
    }

    /// Measures signing and then verifying with a key of `bits` bits, in `threads` processes, each for
    /// `seconds`; `openssl speed` takes whole seconds. Returns signatures and verifications per second of
    /// processor time, on as many processors as the processes can have at once.
    pub fn rates(&self, bits: usize, seconds: f64, threads: usize) -> Result<Vec<f64>, Failure> {
        let (seconds, target) = ((seconds.round().max(1.0) as u32).to_string(), format!("rsa{bits}"));
        // Its option -multi would count seconds by the clock.
        let speed = || speed_in(&openssl(["speed", "-mr", "-seconds", &seconds, &target])?, bits);
        let speeds = on_threads(threads, speed)?;
        let mean = |rate: fn(&Speed) -> f64| speeds.iter().map(rate).collect::<Sample>().mean();
        Ok([mean(|speed| speed.sign), mean(|speed| speed.verify)]
            .map(|mean| mean * processors(threads))
            .to_vec())
    }

    /// Makes RSA keys of `bits` bits for `seconds`, each in its own process, `threads` at a time, and at
    /// least one per thread. Returns keys per second, including the start of the processes.
    pub fn keys(&self, bits: usize, seconds: f64, threads: usize) -> Result<f64, Failure> {
        runs(&["genrsa", &bits.to_string()], seconds, threads)
    }

    /// Makes primes of `bits` bits, or safe primes, like [`keys`](Self::keys). Returns primes per second.
    pub fn primes(&self, bits: usize, safe: bool, seconds: f64, threads: usize) -> Result<f64, Failure> {
        let bits = bits.to_string();
        let arguments = ["prime", "-generate", "-bits", &bits, "-safe"];
        runs(&arguments[..if safe { 5 } else { 4 }], seconds, threads)
    }

    /// The processor time of a process that only tests the number 7, in seconds.
    pub fn start_seconds(&self) -> Result<f64, Failure> {
        Ok(1.0 / runs(&["prime", "7"], STARTS, 1)?)
    }

    /// Whether `openssl dgst` accepts a PKCS#1 v1.5 SHA-256 signature of a message; all three are files.
    pub fn accepts(&self, public_key: &Path, signature: &Path, message: &Path) -> bool {
        let arguments = [
            OsStr::new("dgst"),
            OsStr::new("-sha256"),
            OsStr::new("-verify"),
            public_key.as_os_str(),
            OsStr::new("-signature"),
            signature.as_os_str(),
            message.as_os_str(),
        ];
        openssl(arguments).is_ok_and(|output| output.contains("Verified OK"))
    }
}

/// Asynchronous jobs for `openssl speed`.
pub struct Jobs<'a> {
    /// How many run at once.
    pub count: usize,
    /// The configuration for it.
    pub configuration: &'a Path,
    /// A module to load before the default provider, and its name; `None` for the default provider only.
    pub provider: Option<(&'a Path, &'a str)>,
}

impl Jobs<'_> {
    /// Measures signing and then verifying with a key of `bits` bits, `seconds` each by the clock.
    pub fn speed(&self, bits: usize, seconds: u32) -> Result<Speed, Failure> {
        let mut command = Command::new("openssl");
        command.arg("speed").env("OPENSSL_CONF", self.configuration);
        if let Some((module, name)) = self.provider {
            let folder = module.parent().unwrap_or(Path::new("/"));
            command.arg("-provider-path").arg(folder).args(["-provider", name, "-provider", "default"]);
        }
        let (seconds, jobs, target) = (seconds.to_string(), self.count.to_string(), format!("rsa{bits}"));
        command.args(["-elapsed", "-async_jobs", &jobs, "-mr", "-seconds", &seconds, &target]);
        speed_in(&run(&mut command)?, bits)
    }
}

/// Runs the program repeatedly on `threads` threads for `seconds`, at least once on each. Returns runs per
/// second of the processes' processor time, on as many processors as they can have at once.
fn runs(arguments: &[&str], seconds: f64, threads: usize) -> Result<f64, Failure> {
    let limit = Duration::from_secs_f64(seconds);
    let start = children_time();
    let laps = on_threads(threads, || Stopwatch::of_time().laps(1, limit, || openssl(arguments).map(drop)))?;
    let runs = laps.iter().map(|laps| laps.each.len()).sum::<usize>() as f64;
    // If the system reports no processor time, or counts too coarsely, use the clock.
    Ok(match since(start, children_time).filter(|time| !time.is_zero()) {
        Some(time) => runs * processors(threads) / time.as_secs_f64(),
        None => runs * threads as f64 / laps.iter().map(Laps::time).sum::<Duration>().as_secs_f64().max(1e-9),
    })
}

/// Calls on `threads` threads at once. Returns all results, or the first failure.
fn on_threads<T: Send>(
    threads: usize,
    call: impl Fn() -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    thread::scope(|scope| {
        let started: Vec<_> =
            (1..threads).map(|_| thread::Builder::new().spawn_scoped(scope, &call)).collect();
        let mut results = vec![call()?];
        for thread in started {
            let thread =
                thread.map_err(|error| Failure::io(format!("cannot start {threads} threads"), &error))?;
            results.push(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(results)
    })
}

/// Runs the program, and returns what it wrote to standard output.
fn openssl<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Result<String, Failure> {
    run(Command::new("openssl").args(arguments))
}

fn run(command: &mut Command) -> Result<String, Failure> {
    let run = command.stdin(Stdio::null()).output();
    let run = run.map_err(|error| Failure::io("the openssl program cannot be run", &error))?;
    if !run.status.success() {
        let errors = String::from_utf8_lossy(&run.stderr);
        let last = errors.lines().last().unwrap_or_default();
        return Err(Failure::Input(format!("openssl failed ({}): {last}", run.status)));
    }
    Ok(String::from_utf8_lossy(&run.stdout).into_owned())
}

/// The rates of keys of `bits` bits in the output of `openssl speed`.
fn speed_in(output: &str, bits: usize) -> Result<Speed, Failure> {
    parse_speed(output, bits)
        .ok_or_else(|| Failure::Input(format!("openssl speed printed nothing about rsa{bits}")))
}

/// Reads the line `+F2:index:bits:sign/s:verify/s` of machine-readable output.
fn parse_speed(output: &str, bits: usize) -> Option<Speed> {
    output.lines().find_map(|line| {
        let mut fields = line.strip_prefix("+F2:")?.split(':').skip(1);
        let found: usize = fields.next()?.parse().ok()?;
        let mut rate = || fields.next()?.trim().parse().ok().filter(|rate: &f64| *rate > 0.0);
        let speed = Speed { sign: rate()?, verify: rate()? };
        (found == bits).then_some(speed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_openssl_speed_prints() {
        let one = "+F2:1:1024:9740.449438:157145.161290\n";
        assert_eq!(parse_speed(one, 1024), Some(Speed { sign: 9740.449438, verify: 157145.161290 }));
        // Since OpenSSL 3.2, encryption and decryption follow.
        let newer = "+R1:1:1024:1.00\n+F2:2:2048:1500.0:50000.0:49000.0:1490.0\n";
        assert_eq!(parse_speed(newer, 2048), Some(Speed { sign: 1500.0, verify: 50000.0 }));
        for other in ["", "+F2:", "+F2:1:2048", "+F2:1:2048:x:y", "+F2:1:2048:0:0", newer] {
            assert_eq!(parse_speed(other, 1024), None);
        }
    }
}
