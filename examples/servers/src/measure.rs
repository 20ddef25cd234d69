//! Servers as separate processes on one processor, and statistics of their measurements.

use std::io::{self, BufRead, BufReader, Error};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

/// The processor that servers run on.
pub const SERVER_CPU: usize = 0;
/// The processor for clients.
pub const CLIENT_CPU: usize = 1;

/// Keeps this thread, and all threads that it starts later, on one processor.
///
/// # Errors
/// If the system refuses, or there is no such processor.
pub fn pin(cpu: usize) -> io::Result<()> {
    let done = core_affinity::set_for_current(core_affinity::CoreId { id: cpu });
    if done {
        Ok(())
    } else {
        Err(Error::other(format!("cannot run on processor {cpu}; two are needed, 0 and 1")))
    }
}

/// This program as a server, in another process. The server ends when this is dropped.
#[derive(Debug)]
pub struct Server {
    /// The address where it listens.
    pub address: SocketAddr,
    child: Child,
}

impl Server {
    /// Starts the server with these arguments. It prints its address when it is ready ([`ready`]).
    ///
    /// # Errors
    /// If it cannot be started, or ends at once.
    pub fn start(arguments: &[&str]) -> io::Result<Self> {
        let mut child =
            Command::new(std::env::current_exe()?).args(arguments).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            // If there is no line, there is no address.
            let _ = BufReader::new(stdout).read_line(&mut line);
        }
        match line.trim().parse() {
            Ok(address) => Ok(Self { address, child }),
            Err(_) => {
                let _ = child.kill();
                Err(Error::other(format!(
                    "the server {arguments:?} does not start: {} {line}",
                    child.wait()?
                )))
            }
        }
    }
}

impl Server {
    /// The processor time that the server has used, in seconds, in steps of 10 ms. Unlike a rate, its ratios
    /// are also valid on a processor that other programs use: there, a server with more threads gets more of
    /// it.
    ///
    /// # Errors
    /// If the server has ended.
    pub fn processor_time(&self) -> io::Result<f64> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // After the name, which is in parentheses, comes the third field; fields 14 and 15 are the times, in
        // ticks.
        let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
        Ok(fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Tells the server's address to the process that started it. Call it before serving.
pub fn ready(address: SocketAddr) {
    println!("{address}");
}

/// The median; NaN if there are no numbers.
#[must_use]
pub fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    quantile(numbers, 0.5)
}

/// The quantile: this share of the numbers does not exceed it. NaN if there are no numbers.
#[must_use]
pub fn quantile(numbers: impl IntoIterator<Item = f64>, share: f64) -> f64 {
    let mut numbers: Vec<f64> = numbers.into_iter().collect();
    numbers.sort_by(f64::total_cmp);
    let at = ((numbers.len().saturating_sub(1)) as f64 * share).round() as usize;
    numbers.get(at).copied().unwrap_or(f64::NAN)
}

/// The median of the ratios of single rounds.
#[must_use]
pub fn ratio(ours: &[f64], theirs: &[f64]) -> f64 {
    median(ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs))
}

/// The processor's name, family, model and stepping.
#[must_use]
pub fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.split_once(':').filter(|(key, _)| key.trim() == name));
        line.map_or_else(|| "?".to_owned(), |(_, value)| value.trim().to_owned())
    };
    format!(
        "{}, family {} model {} stepping {}",
        field("model name"),
        field("cpu family"),
        field("model"),
        field("stepping")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_quantiles() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(quantile((0..=1000).map(f64::from), 0.999), 999.0);
        assert!(median([]).is_nan());
        assert_eq!(ratio(&[2.0, 9.0, 4.0], &[1.0, 1.0, 2.0]), 2.0);
    }
}
