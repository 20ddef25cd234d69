//! What was found: a table for people, and data.

use anyhow::{Context, Result};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::time::Instant;

use super::target::{REGIONS, Region};
use super::trial::{OUTCOMES, Outcome, Trial};
use super::victim::Work;

/// All trials of one campaign.
pub struct Results {
    work: Work,
    seed: u64,
    start: Instant,
    /// Step, region and outcome.
    counts: BTreeMap<(String, Region, Outcome), usize>,
    /// Wrong results: outcome, step, function, region and place.
    wrong: BTreeMap<(Outcome, String, String, Region, String), usize>,
    /// How many processes each signal has ended.
    signals: BTreeMap<String, usize>,
    /// Operations that went wrong without a flip, and the last reason.
    pub abandoned: usize,
    reason: String,
}

impl Results {
    pub fn new(work: Work, seed: u64) -> Self {
        let (counts, wrong, signals) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { work, seed, start: Instant::now(), counts, wrong, signals, abandoned: 0, reason: String::new() }
    }

    pub fn add(&mut self, trial: Trial) {
        let Trial { step, flip, function, outcome, signal } = trial;
        *self.counts.entry((step.clone(), flip.region, outcome)).or_default() += 1;
        if let Some(signal) = signal {
            *self.signals.entry(signal.to_string()).or_default() += 1;
        }
        if matches!(outcome, Outcome::Damaged | Outcome::Revealed) {
            *self.wrong.entry((outcome, step, function, flip.region, flip.place)).or_default() += 1;
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
        self.sum(|_, outcome| outcome == Outcome::Revealed)
    }

    fn sum(&self, is: impl Fn(Region, Outcome) -> bool) -> usize {
        self.counts.iter().filter(|((_, region, outcome), _)| is(*region, *outcome)).map(|(_, count)| count).sum()
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
        let count = |((step, region, outcome), count): (&(String, Region, Outcome), _)| json!({"step": step, "region": region.to_string(), "outcome": outcome.to_string(), "count": count});
        let wrong = |((outcome, step, function, region, place), count): (&(Outcome, _, _, Region, _), _)| {
            json!({"outcome": outcome.to_string(), "step": step, "function": function,
                "region": region.to_string(), "place": place, "count": count})
        };
        let Work { engine, keys, batches, unchecked } = self.work;
        let data = json!({
            "engine": engine.to_string(), "keys": keys, "batches": batches, "unchecked": unchecked,
            "flips": self.count(), "seed": self.seed, "seconds": self.start.elapsed().as_secs(),
            "revealed": self.revealed(), "abandoned": self.abandoned, "signals": self.signals,
            "counts": self.counts.iter().map(count).collect::<Vec<_>>(),
            "wrong": self.wrong.iter().map(wrong).collect::<Vec<_>>(),
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
        // Only what must not be; the data has all wrong results.
        let broken = self.wrong.iter().filter(|(key, _)| key.0 == Outcome::Revealed && !self.work.unchecked);
        for ((_, step, function, region, place), count) in broken {
            writeln!(f, "{count} revealed a key: {region}, {place}; in `{function}`, after `{step}` began.")?;
        }
        Ok(())
    }
}
