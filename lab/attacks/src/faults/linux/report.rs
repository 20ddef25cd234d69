//! What was found: a table for people, and data.

use anyhow::{Context, Result};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::time::Instant;

use super::phase::{PHASES, Phase};
use super::target::{REGIONS, Region};
use super::trial::{OUTCOMES, Outcome, Trial};
use super::victim::Work;

/// All trials of one campaign.
pub struct Results {
    work: Work,
    seed: u64,
    unchecked: bool,
    start: Instant,
    counts: BTreeMap<(Phase, Region, Outcome), usize>,
    /// Wrong signatures: phase, region, place, function, whether it was guarded; and how many.
    wrong: BTreeMap<(Phase, Region, String, String, bool), usize>,
    /// How many processes each signal has ended.
    signals: BTreeMap<String, usize>,
    /// Operations that went wrong without a flip, and the last reason.
    pub abandoned: usize,
    reason: String,
}

impl Results {
    pub fn new(work: Work, seed: u64, unchecked: bool) -> Self {
        let (counts, wrong, signals) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (start, reason) = (Instant::now(), String::new());
        Self { work, seed, unchecked, start, counts, wrong, signals, abandoned: 0, reason }
    }

    pub fn add(&mut self, trial: Trial) {
        let Trial { phase, flip, function, outcome, signal, broken } = trial;
        *self.counts.entry((phase, flip.region, outcome)).or_default() += 1;
        if let Some(signal) = signal {
            *self.signals.entry(signal.to_string()).or_default() += 1;
        }
        if outcome == Outcome::Wrong {
            *self.wrong.entry((phase, flip.region, flip.place, function, broken)).or_default() += 1;
        }
    }

    pub fn abandoned(&mut self, error: &anyhow::Error) {
        self.abandoned += 1;
        self.reason = format!("{error:#}");
    }

    pub fn count(&self) -> usize {
        self.counts.values().sum()
    }

    /// How many wrong signatures left that a check guards.
    pub fn broken(&self) -> usize {
        self.wrong.iter().filter(|(key, _)| key.4).map(|(_, count)| count).sum()
    }

    fn sum(&self, is: impl Fn(Phase, Region, Outcome) -> bool) -> usize {
        let mine = self.counts.iter().filter(|((phase, region, outcome), _)| is(*phase, *region, *outcome));
        mine.map(|(_, count)| count).sum()
    }

    pub fn summary(&self) -> String {
        let (count, seconds, broken) = (self.count(), self.start.elapsed().as_secs(), self.broken());
        let guarded = self.sum(|phase, _, _| phase.is_guarded());
        format!(
            "{}: {count} flips in {seconds} s, {guarded} of them between entry and comparison; {broken} wrong signatures of \
             those left",
            self.work
        )
    }

    /// Writes the data, if it is to be kept.
    pub fn write(&self, path: Option<&str>) -> Result<()> {
        let Some(path) = path else { return Ok(()) };
        let counts: Vec<_> = self
            .counts
            .iter()
            .map(|((phase, region, outcome), count)| {
                json!({"phase": phase.to_string(), "region": region.to_string(),
                    "outcome": outcome.to_string(), "count": count})
            })
            .collect();
        let wrong: Vec<_> = self
            .wrong
            .iter()
            .map(|((phase, region, place, function, broken), count)| {
                json!({"phase": phase.to_string(), "region": region.to_string(), "place": place,
                    "function": function, "guarded": broken, "count": count})
            })
            .collect();
        let data = json!({
            "engine": self.work.engine.to_string(), "keys": self.work.keys, "batches": self.work.batches,
            "flips": self.count(), "seed": self.seed, "unchecked": self.unchecked,
            "seconds": self.start.elapsed().as_secs(), "broken": self.broken(), "abandoned": self.abandoned,
            "counts": counts, "wrong": wrong, "signals": self.signals,
        });
        let path = format!("{path}.json");
        std::fs::write(&path, format!("{data:#}\n")).with_context(|| format!("cannot write {path}"))
    }
}

impl Display for Results {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        writeln!(f, "{}. Seed {}.", self.summary(), self.seed)?;
        if self.unchecked {
            writeln!(f, "\nIn these operations, every comparison said that the numbers are equal.")?;
        }
        if self.abandoned > 0 {
            writeln!(f, "\n{} victims were given up; the last: {}.", self.abandoned, self.reason)?;
        }
        let of = |outcome| self.sum(|phase, _, it| phase.is_guarded() && it == outcome);
        writeln!(
            f,
            "\nBetween entry and comparison, the check with the public exponent caught {} (recomputed: right by a second \
             computation; withheld: wrong twice, or the number has changed); {} ended in a panic, {} by a signal, {} did \
             not end. Signals: {:?}.",
            of(Outcome::Recomputed) + of(Outcome::Withheld),
            of(Outcome::Panicked),
            of(Outcome::Crashed),
            of(Outcome::Hung),
            self.signals
        )?;
        let heads: String = OUTCOMES.iter().map(|outcome| format!(" {outcome} |")).collect();
        let ruler = "---:|".repeat(OUTCOMES.len());
        let cells = |is: &dyn Fn(Phase, Region) -> bool| -> String {
            let count = |outcome| self.sum(|phase, region, it| it == outcome && is(phase, region));
            OUTCOMES.iter().map(|&outcome| format!(" {} |", count(outcome))).collect()
        };
        writeln!(f, "\n| phase | bit in |{heads}\n|---|---|{ruler}")?;
        for phase in PHASES {
            for region in REGIONS {
                if self.sum(|p, r, _| (p, r) == (phase, region)) > 0 {
                    writeln!(f, "| {phase} | {region} |{}", cells(&|p, r| (p, r) == (phase, region)))?;
                }
            }
        }
        writeln!(f, "| **between entry and comparison** | |{}", cells(&|phase, _| phase.is_guarded()))?;
        writeln!(f, "| **before and after** | |{}", cells(&|phase, _| !phase.is_guarded()))?;
        if !self.wrong.is_empty() {
            writeln!(
                f,
                "\nWrong signatures:\n\n| phase | bit in | where | in function | flips |\n|---|---|---|---|---:|"
            )?;
        }
        // Places in one object are one row here; the data has each.
        let mut rows: BTreeMap<_, usize> = BTreeMap::new();
        for ((phase, region, place, function, _), count) in &self.wrong {
            let object = place.rsplit_once(" of ").map_or(place.clone(), |(_, size)| format!("one of {size} bytes"));
            let object = if *region == Region::Vector || *region == Region::Stack { "" } else { &object };
            *rows.entry((phase, region, object.to_owned(), function)).or_default() += count;
        }
        for ((phase, region, object, function), count) in rows {
            writeln!(f, "| {phase} | {region} | {object} | `{function}` | {count} |")?;
        }
        Ok(())
    }
}
