//! Parts of long tests: series of samples, whether they are flat, and a report that is complete at any time.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Samples of one quantity, against the work done.
#[derive(Default)]
pub struct Series(Vec<(f64, f64)>);

/// The movement of a series after its first quarter, in which pools and the heap fill.
#[derive(Clone, Copy, Debug)]
pub struct Trend {
    /// The means of its second and last quarters.
    pub second: f64,
    pub last: f64,
    /// Its growth for each unit of work, by least squares.
    pub slope: f64,
}

impl Series {
    pub fn push(&mut self, done: usize, value: f64) {
        self.0.push((done as f64, value));
    }

    /// Sixteen of its values, from first to last.
    pub fn along(&self) -> String {
        let step = self.0.len().div_ceil(16).max(1);
        self.0
            .iter()
            .rev()
            .step_by(step)
            .map(|(_, value)| format!("{value:.0}"))
            .rev()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The trend; `None` with fewer than eight samples.
    pub fn trend(&self) -> Option<Trend> {
        let quarter = self.0.len() / 4;
        if quarter < 2 {
            return None;
        }
        let mean = |samples: &[(f64, f64)]| {
            samples.iter().map(|&(_, value)| value).sum::<f64>() / samples.len() as f64
        };
        let settled = &self.0[quarter..];
        let middle = settled.iter().map(|&(done, _)| done).sum::<f64>() / settled.len() as f64;
        let spread: f64 = settled.iter().map(|&(done, _)| (done - middle).powi(2)).sum();
        let product: f64 = settled.iter().map(|&(done, value)| (done - middle) * value).sum();
        let slope = if spread > 0.0 { product / spread } else { 0.0 };
        Some(Trend {
            second: mean(&settled[..quarter]),
            last: mean(&self.0[self.0.len() - quarter..]),
            slope,
        })
    }
}

impl Trend {
    pub fn growth(&self) -> f64 {
        self.last - self.second
    }
}

/// The file that `ZARIZ_RESULTS` names, with this ending.
pub struct Report(Option<PathBuf>);

impl Report {
    pub fn new(ending: &str) -> Self {
        Self(std::env::var("ZARIZ_RESULTS").ok().map(|path| format!("{path}{ending}").into()))
    }

    /// Replaces the whole text, so a run that is stopped leaves its latest report.
    pub fn write(&self, text: &str) {
        let Some(path) = &self.0 else { return };
        let new = path.with_extension("new");
        let written = fs::write(&new, text).and_then(|()| fs::rename(&new, path));
        written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// How much work the environment asks for.
pub fn amount(variable: &str, default: usize) -> usize {
    let Ok(text) = std::env::var(variable) else { return default };
    text.parse().unwrap_or_else(|_| panic!("{variable} is {text:?}, which is not a number"))
}

/// When a run that began at `start` must end, even if work is left: after the minutes that the environment
/// allows.
pub fn end(start: Instant) -> Instant {
    start + Duration::from_secs(60 * amount("ZARIZ_SOAK_MINUTES", 60 * 24) as u64)
}

/// The state of a run that has ended.
pub fn state(done: usize, wanted: usize) -> String {
    if done < wanted { format!("ended before {wanted}, as it was told") } else { "done".into() }
}

/// The processor's name, and the number of processors.
pub fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown");
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {count} processors", name.trim_start_matches([' ', '\t', ':']))
}
