//! The recorded budget: what every entry point was when it was last blessed.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write;

use super::entry_points::{EntryPoint, Fit};
use super::expect;

/// Another compiler may spill this many vectors more than the one that was recorded.
const SLACK: usize = 8;
/// The bytes of a vector, for slack in bytes.
const VECTOR: usize = 64;

/// A recorded budget.
pub struct Budget {
    /// `rustc --version`.
    pub compiler: String,
    entry_points: BTreeMap<Key, Limits>,
}

/// Machine, block, width.
type Key = (String, String, Option<usize>);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Limits {
    multiplies: usize,
    stores: usize,
    loads: usize,
    frame: usize,
}

impl Budget {
    /// What the entry points are now.
    pub fn new(compiler: String, entry_points: &[EntryPoint]) -> Self {
        Self {
            compiler,
            entry_points: entry_points
                .iter()
                .map(|entry_point| (key(entry_point), limits(entry_point)))
                .collect(),
        }
    }

    /// The file.
    pub fn to_text(&self) -> String {
        let mut text = String::from(
            "# What the entry points of crates/machines compile to; written by `cargo xtask codegen --bless`, not by hand.\n\
             # multiplies: multiply instructions. stores, loads: vector instructions that write or read the stack.\n\
             # frame: bytes of stack.\n",
        );
        let _ = writeln!(text, "compiler: {}", self.compiler);
        text.push_str("# machine        block                     width multiplies stores  loads  frame\n");
        for ((machine, block, width), limits) in &self.entry_points {
            let width = width.map_or("-".into(), |width| width.to_string());
            let Limits { multiplies, stores, loads, frame } = limits;
            let _ = writeln!(
                text,
                "{machine:<16} {block:<25} {width:>5} {multiplies:>10} {stores:>6} {loads:>6} {frame:>6}"
            );
        }
        text
    }

    /// Reads the file.
    pub fn parse(text: &str) -> Result<Self> {
        let (mut compiler, mut entry_points) = (None, BTreeMap::new());
        for (i, line) in
            text.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && !line.trim().is_empty())
        {
            if let Some(version) = line.strip_prefix("compiler: ") {
                compiler = Some(version.to_owned());
                continue;
            }
            let at = || format!("line {}", i + 1);
            let number =
                |text: &str| text.parse().with_context(|| format!("{}: {text:?} is not a number", at()));
            let cells: Vec<&str> = line.split_whitespace().collect();
            let [machine, block, width, multiplies, stores, loads, frame] = cells[..] else {
                bail!("{}: 7 columns expected, found {}", at(), cells.len());
            };
            let width = if width == "-" { None } else { Some(number(width)?) };
            let limits = Limits {
                multiplies: number(multiplies)?,
                stores: number(stores)?,
                loads: number(loads)?,
                frame: number(frame)?,
            };
            if entry_points.insert((machine.to_owned(), block.to_owned(), width), limits).is_some() {
                bail!("{}: {machine} {block} {} is there twice", at(), cells[2]);
            }
        }
        Ok(Self { compiler: compiler.context("no line names the compiler")?, entry_points })
    }

    /// The entry points that are worse than recorded, and how many are only better.
    ///
    /// Under another compiler, unrolling may differ (the formulas of [`expect`] hold the counts), and spills
    /// have slack.
    pub fn compare(&self, entry_points: &[EntryPoint], same_compiler: bool) -> (Vec<String>, usize) {
        let (mut worse, mut better) = (Vec::new(), 0);
        let slack = if same_compiler { 0 } else { SLACK };
        for entry_point in entry_points {
            let Some(&recorded) = self.entry_points.get(&key(entry_point)) else {
                worse.push(format!("  {}: is not recorded", entry_point.name()));
                continue;
            };
            let now = limits(entry_point);
            let mut differences = Vec::new();
            let free_count = !same_compiler && expect::fit(entry_point) != Fit::Wrong;
            if now.multiplies != recorded.multiplies && !free_count {
                differences.push(format!("multiplies {} -> {}", recorded.multiplies, now.multiplies));
            }
            for (what, was, is, slack) in [
                ("vector stores to the stack", recorded.stores, now.stores, slack),
                ("vector loads from the stack", recorded.loads, now.loads, slack),
                ("bytes of stack", recorded.frame, now.frame, slack * VECTOR),
            ] {
                if is > was + slack {
                    let allowed =
                        if slack > 0 { format!(" (up to {} allowed)", was + slack) } else { String::new() };
                    differences.push(format!("{what} {was} -> {is}{allowed}"));
                }
            }
            if !differences.is_empty() {
                worse.push(format!("  {}: {}", entry_point.name(), differences.join(", ")));
            } else if now != recorded && same_compiler {
                better += 1;
            }
        }
        for gone in self
            .entry_points
            .keys()
            .filter(|recorded| !entry_points.iter().any(|entry_point| key(entry_point) == **recorded))
        {
            let width = gone.2.map_or(String::new(), |width| format!("<{width}>"));
            worse.push(format!("  {} {}{width}: is recorded, but is not compiled any more", gone.0, gone.1));
        }
        (worse, better)
    }
}

fn key(entry_point: &EntryPoint) -> Key {
    (entry_point.machine.clone(), entry_point.block.clone(), entry_point.width)
}

fn limits(entry_point: &EntryPoint) -> Limits {
    Limits {
        multiplies: entry_point.multiplies(),
        stores: entry_point.stores,
        loads: entry_point.loads,
        frame: entry_point.frame,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry_point(fused: usize, stores: usize) -> EntryPoint {
        let names = ("avx2-fma".to_owned(), "mac_rows".to_owned());
        EntryPoint {
            machine: names.0,
            block: names.1,
            width: Some(3),
            fused,
            stores,
            ..EntryPoint::default()
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let plain = EntryPoint { block: "splat".into(), width: None, ..entry_point(0, 0) };
        let budget = Budget::new("rustc 1.95.0 (x)".into(), &[entry_point(6, 2), plain]);
        let read = Budget::parse(&budget.to_text()).unwrap();
        assert_eq!((read.compiler, read.entry_points), (budget.compiler, budget.entry_points));
        assert!(Budget::parse("avx2-fma mac_rows 3 6 0 0 0\n").is_err());
        assert!(Budget::parse("compiler: x\navx2-fma mac_rows 3 six 0 0 0\n").is_err());
        assert!(Budget::parse("compiler: x\navx2-fma mac_rows 3\n").is_err());
    }

    #[test]
    fn worse_is_told_from_better() {
        let budget = Budget::new("rustc".into(), &[entry_point(6, 2)]);
        let worse = |now: &EntryPoint, same| budget.compare(std::slice::from_ref(now), same).0;
        assert!(worse(&entry_point(6, 2), true).is_empty());
        assert!(worse(&entry_point(6, 3), true)[0].contains("vector stores to the stack 2 -> 3"));
        assert!(worse(&entry_point(6, 10), false).is_empty());
        assert!(!worse(&entry_point(6, 11), false).is_empty());
        assert!(worse(&entry_point(12, 2), true)[0].contains("multiplies 6 -> 12"));
        assert!(worse(&entry_point(12, 2), false).is_empty());
        assert!(!worse(&entry_point(7, 2), false).is_empty());
        assert_eq!(budget.compare(&[entry_point(6, 1)], true), (vec![], 1));
        assert_eq!(budget.compare(&[], true).0.len(), 1);
        let other = EntryPoint { width: Some(4), ..entry_point(8, 0) };
        assert!(
            budget.compare(&[entry_point(6, 2), other], true).0[0].contains("mac_rows<4>: is not recorded")
        );
    }
}
