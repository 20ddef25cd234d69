//! Progress: a bar with rate and remaining time, on a terminal, for work that takes more than a second.

use std::fmt::Display;
use std::io::{self, IsTerminal};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::measure::figures::grouped;
use crate::report;

/// How long work takes before a bar appears.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows the progress of a run: a bar, and lines of text above it.
pub struct Progress {
    quiet: bool,
    bar: ProgressBar,
    started: Instant,
    noun: &'static str,
    done: u64,
    appearance: Option<Appearance>,
}

impl Progress {
    /// For work on `size` bytes of input, if known, with items named `noun`. Draws no bar if `quiet`, if
    /// standard error is not a terminal, or if the results themselves appear on the terminal.
    pub fn new(quiet: bool, size: Option<u64>, noun: &'static str, results_on_terminal: bool) -> Self {
        let template = match size {
            Some(_) => "{wide_bar} {percent:>3}%  {msg}  {eta} left",
            None => "{spinner} {msg}  {elapsed}",
        };
        Self::with_template(quiet, results_on_terminal, size, noun, template)
    }

    /// For making `count` things, named `noun`. Draws a bar under the conditions of [`new`](Self::new).
    pub fn of(quiet: bool, count: u64, noun: &'static str, results_on_terminal: bool) -> Self {
        Self::new(quiet, Some(count), noun, results_on_terminal)
    }

    /// Counts one thing that was made.
    pub fn made(&mut self) {
        self.advance(1, 1);
    }

    /// For work on one item of `size` bytes, if known: counts the bytes.
    pub fn bytes(quiet: bool, size: Option<u64>, results_on_terminal: bool) -> Self {
        let template = match size {
            Some(_) => "{wide_bar} {percent:>3}%  {decimal_bytes}, {decimal_bytes_per_sec}  {eta} left",
            None => "{spinner} {decimal_bytes}, {decimal_bytes_per_sec}  {elapsed}",
        };
        Self::with_template(quiet, results_on_terminal, size, "", template)
    }

    /// A spinner for one long step.
    pub fn step(quiet: bool, text: impl Into<String>) -> Self {
        let progress = Self::new(quiet, None, "", false);
        progress.bar.set_message(text.into());
        progress
    }

    fn with_template(
        quiet: bool,
        hidden: bool,
        size: Option<u64>,
        noun: &'static str,
        template: &str,
    ) -> Self {
        let bar = ProgressBar::with_draw_target(size, ProgressDrawTarget::hidden());
        // The templates are valid. If one were not, the plain bar would appear.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let appearance =
            if quiet || hidden || !io::stderr().is_terminal() { None } else { Appearance::of(&bar) };
        Self { quiet, bar, started: Instant::now(), noun, done: 0, appearance }
    }

    /// Counts finished items, and their bytes of input.
    pub fn advance(&mut self, items: u64, bytes: u64) {
        self.done += items;
        self.bar.inc(bytes);
        if self.bar.is_hidden() || self.noun.is_empty() {
            return;
        }
        let rate = self.done as f64 / self.started.elapsed().as_secs_f64().max(1e-9);
        let count = report::counted(self.done, self.noun);
        let rate = if rate < 10.0 { format!("{rate:.1}") } else { grouped(rate as u64) };
        self.bar.set_message(format!("{count}, {rate}/s"));
    }

    /// Reports an error that does not end the run.
    pub fn error(&self, text: impl Display) {
        self.bar.suspend(|| report::error(text));
    }

    /// Reports a summary of the errors, unless quiet.
    pub fn failures(&self, text: impl Display) {
        if !self.quiet {
            self.error(text);
        }
    }

    /// Removes the bar, and ends with a line of text, unless quiet.
    pub fn note(mut self, text: impl Display) {
        self.clear();
        if !self.quiet {
            report::note(text);
        }
    }

    /// Removes the bar.
    pub fn clear(&mut self) {
        // The bar must not appear afterwards.
        drop(self.appearance.take());
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Shows a bar after [`PATIENCE`], even during the computation of one item. If this is dropped earlier, no
/// bar appears.
struct Appearance {
    cancel: Option<Sender<()>>,
    waiting: Option<JoinHandle<()>>,
}

impl Appearance {
    /// `None` if no thread can be started: the run goes on without a bar.
    fn of(bar: &ProgressBar) -> Option<Self> {
        let (bar, (cancel, cancelled)) = (bar.clone(), channel());
        let wait = move || {
            if cancelled.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.enable_steady_tick(Duration::from_millis(200));
            }
        };
        let waiting = thread::Builder::new().name("progress".into()).spawn(wait).ok()?;
        Some(Self { cancel: Some(cancel), waiting: Some(waiting) })
    }
}

impl Drop for Appearance {
    fn drop(&mut self) {
        drop(self.cancel.take());
        if let Some(waiting) = self.waiting.take() {
            // A thread that panicked has shown nothing or everything.
            let _ = waiting.join();
        }
    }
}
