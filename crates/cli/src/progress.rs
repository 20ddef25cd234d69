//! How far the work is: a bar with rate and remaining time, on a terminal, for work that lasts.

use std::fmt::Display;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::report;

/// Work that is done sooner needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// Tells what becomes of a run: a bar that moves, and lines of text that do not disturb it.
pub struct Progress {
    quiet: bool,
    bar: ProgressBar,
    shown: bool,
    started: Instant,
    noun: &'static str,
    done: u64,
}

impl Progress {
    /// For work on `size` bytes of input, if that is known, which counts items by `noun`. No bar is drawn if `quiet`,
    /// if standard error is no terminal, or if the results themselves appear on the terminal.
    pub fn new(quiet: bool, size: Option<u64>, noun: &'static str, results_on_terminal: bool) -> Self {
        let bar = ProgressBar::with_draw_target(size, ProgressDrawTarget::hidden());
        let template = match size {
            Some(_) => "{wide_bar} {percent:>3}%  {msg}  {eta} left",
            None => "{spinner} {msg}  {elapsed}",
        };
        // The templates above are right; were one not, the plain bar would do.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let silent = quiet || results_on_terminal || !io::stderr().is_terminal();
        Self { quiet, bar, shown: silent, started: Instant::now(), noun, done: 0 }
    }

    /// A spinner beside one long step, from its beginning.
    pub fn step(quiet: bool, text: impl Into<String>) -> Self {
        let mut progress = Self::new(quiet, None, "", false);
        progress.bar.set_message(text.into());
        progress.show();
        progress
    }

    /// Counts items that are done, and the bytes of input they took.
    pub fn advance(&mut self, items: u64, bytes: u64) {
        self.done += items;
        self.bar.inc(bytes);
        let elapsed = self.started.elapsed();
        if !self.shown && elapsed > PATIENCE {
            self.show();
        }
        if self.bar.is_hidden() {
            return;
        }
        let rate = self.done as f64 / elapsed.as_secs_f64().max(1e-9);
        let (count, rate) = (report::counted(self.done, self.noun), report::grouped(rate as u64));
        self.bar.set_message(format!("{count}, {rate}/s"));
    }

    /// Reports an error that does not end the run, unless quiet.
    pub fn error(&self, text: impl Display) {
        if !self.quiet {
            self.bar.suspend(|| report::error(text));
        }
    }

    /// Takes the bar away, and ends with a line of text, unless quiet.
    pub fn note(&self, text: impl Display) {
        self.bar.finish_and_clear();
        if !self.quiet {
            report::note(text);
        }
    }

    fn show(&mut self) {
        if !self.shown {
            self.shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
