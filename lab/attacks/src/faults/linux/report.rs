//! What was found: a table for people, and data.

use anyhow::{Context, Result};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::time::Instant;

use super::target::{Flip, REGIONS, Region};
use super::trial::{OUTCOMES, Outcome, Trial};
use super::victim::Work;

/// All trials of one campaign.
pub struct Results {
    work: Work,
    seed: u64,
    start: Instant,
    counts: BTreeMap<(Region, Outcome), usize>,
    /// How many flips each step had, and how many of them gave a wrong result that reveals nothing.
    steps: BTreeMap<String, [usize; 2]>,
    /// Each flip that revealed a key, in words.
    revealed: Vec<String>,
    /// How many processes each signal has ended.
    signals: BTreeMap<String, usize>,
    /// Operations that went wrong without a flip, and the last reason.
    pub abandoned: usize,
    reason: String,
}

impl Results {
    pub fn new(work: Work, seed: u64) -> Self {
        let (counts, steps, signals) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (start, revealed, reason) = (Instant::now(), Vec::new(), String::new());
        Self { work, seed, start, counts, steps, revealed, signals, abandoned: 0, reason }
    }

    pub fn add(&mut self, trial: Trial) {
        let Trial { step, flip: Flip { region, place }, function, outcome, signal } = trial;
        *self.counts.entry((region, outcome)).or_default() += 1;
        if outcome == Outcome::Revealed {
            self.revealed.push(format!("{region}, {place}; in {function}, after {step} began"));
        }
        let [flips, damaged] = self.steps.entry(step).or_default();
        *flips += 1;
        *damaged += usize::from(outcome == Outcome::Damaged);
        if let Some(signal) = signal {
            *self.signals.entry(signal.to_string()).or_default() += 1;
        }
    }

    pub fn abandoned(&mut self, error: &anyhow::Error) {
        self.abandoned += 1;
        self.reason = format!("{error:#}");
    }

    pub fn count(&self) -> usize {
        self.counts.values().sum()
    }

    /// How many flips revealed a key.
    pub fn revealed(&self) -> usize {
        self.revealed.len()
    }

    fn sum(&self, is: impl Fn(Region, Outcome) -> bool) -> usize {
        self.counts
            .iter()
            .filter(|((region, outcome), _)| is(*region, *outcome))
            .map(|(_, count)| count)
            .sum()
    }

    pub fn summary(&self) -> String {
        let (count, seconds, revealed) = (self.count(), self.start.elapsed().as_secs(), self.revealed());
        let damaged = self.sum(|_, outcome| outcome == Outcome::Damaged);
        format!(
            "{}: {count} flips in {seconds} s; {revealed} revealed a key, {damaged} only damaged a result",
            self.work
        )
    }

    /// Writes the data, if it is to be kept.
    pub fn write(&self, path: Option<&str>) -> Result<()> {
        let Some(path) = path else { return Ok(()) };
        let count = |((region, outcome), count): (&(Region, Outcome), _)| json!({"region": region.to_string(), "outcome": outcome.to_string(), "count": count});
        let step = |(step, [flips, damaged]): (_, &[usize; 2])| json!({"step": step, "flips": flips, "damaged": damaged});
        let Work { engine, keys, batches, unchecked } = self.work;
        let data = json!({
            "engine": engine.to_string(), "keys": keys, "batches": batches, "unchecked": unchecked,
            "flips": self.count(), "seed": self.seed, "seconds": self.start.elapsed().as_secs(),
            "abandoned": self.abandoned, "signals": self.signals, "revealed": self.revealed,
            "counts": self.counts.iter().map(count).collect::<Vec<_>>(),
            "steps": self.steps.iter().map(step).collect::<Vec<_>>(),
        });
        let path = format!("{path}.json");
        std::fs::write(&path, format!("{data:#}\n")).with_context(|| format!("cannot write {path}"))
    }
}

impl Display for Results {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        writeln!(f, "{}. Seed {}.", self.summary(), self.seed)?;
        if self.abandoned > 0 {
            writeln!(f, "\n{} victims were given up; the last: {}.", self.abandoned, self.reason)?;
        }
        let heads: String = OUTCOMES.iter().map(|outcome| format!(" {outcome} |")).collect();
        let cells = |is: &dyn Fn(Region) -> bool| -> String {
            let count = |outcome| self.sum(|region, it| it == outcome && is(region));
            OUTCOMES.iter().map(|&outcome| format!(" {} |", count(outcome))).collect()
        };
        writeln!(f, "\n| bit in |{heads}\n|---|{}", "---:|".repeat(OUTCOMES.len()))?;
        for region in REGIONS {
            writeln!(f, "| {region} |{}", cells(&|it| it == region))?;
        }
        writeln!(f, "| **together** |{}", cells(&|_| true))?;
        writeln!(f, "\nSignals: {:?}.", self.signals)?;
        // Without a check, there are many.
        for flip in self.revealed.iter().filter(|_| !self.work.unchecked) {
            writeln!(f, "A key was revealed: {flip}.")?;
        }
        Ok(())
    }
}
