//! Limits of size, so that what is repeated fits where processors keep it.
//!
//! A *hot loop* is the largest loop body of an entry point, an outer loop with all that is in it; of an entry
//! point without loops, the whole entry point, which its caller repeats. It must fit the cache of decoded
//! instructions (µops): 1,536 of Skylake's servers, less 36 for what calls the loop; 2,250 of Ice Lake's, the
//! first servers with AVX512-IFMA. Processors with AVX-IFMA have a larger one or none: there, an entry point
//! must fit the 32 KB that every first-level cache of instructions has.
//!
//! One µop is counted for each instruction. These caches keep a load and the operation on it as one, and so
//! the two parts of a store (Intel's optimization manual, "micro-fusion"; AMD's, "macro-ops"). A comparison
//! and the branch behind it are counted as two, though they may be one.

use std::collections::BTreeSet;

use super::entry_points::EntryPoint;
use super::expect::is_vector;
use super::rsaz;

/// A machine's limit: the number, of what, and that size of an entry point.
type Limit = (usize, &'static str, fn(&EntryPoint) -> usize);

/// The limit of a machine; portable ones have none.
fn limit(machine: &str) -> Option<Limit> {
    const UOPS: &str = "µops in its hot loop";
    let limit: Limit = match machine {
        "avx512-ifma" | "pair-ifma" => (2250, UOPS, |it| it.hot),
        "avx-ifma" => (32 << 10, "bytes of code", |it| it.bytes),
        _ => (1500, UOPS, |it| it.hot),
    };
    is_vector(machine).then_some(limit)
}

/// Entry points that are larger, and how large they may be. Straight code for RSAZ's squares of 29-bit digits
/// is older than the limit, and may not grow. Numbers of two terms are used only on AMD's processors (Zen 4
/// and later), whose caches hold 6,000 µops or more. A squaring executes 2,200 µops of this entry point, a
/// multiplication 2,600.
const LARGER: [(&str, &str, Option<usize>, usize); 4] = [
    ("avx512-ifma", "karatsuba_two_terms", Some(20), 3720),
    (rsaz::MACHINE, "square_29_chained", Some(9), 2134),
    (rsaz::MACHINE, "square_29_friendly", Some(9), 1907),
    (rsaz::MIXED, "square_29_friendly", Some(9), 1986),
];

/// What is known of an entry point that is larger.
fn larger(entry_point: &EntryPoint) -> Option<usize> {
    let is_root = |&&(machine, block, width, _): &&(&str, &str, Option<usize>, usize)| {
        (machine, block, width)
            == (entry_point.machine.as_str(), entry_point.block.as_str(), entry_point.width)
    };
    LARGER.iter().find(is_root).map(|&(.., uops)| uops)
}

/// What is wrong with an entry point's size.
pub fn problems(entry_point: &EntryPoint) -> Vec<String> {
    let Some((most, what, size)) = limit(&entry_point.machine) else { return Vec::new() };
    let (most, size) = (larger(entry_point).unwrap_or(most), size(entry_point));
    let problem = || format!("  {}: {size} {what}, at most {most} expected", entry_point.name());
    (size > most).then(problem).into_iter().collect()
}

/// For each machine, the entry point that comes closest to its limit, of those that must keep it.
pub fn closest(entry_points: &[EntryPoint]) -> String {
    let machines: BTreeSet<&str> = entry_points.iter().map(|it| it.machine.as_str()).collect();
    let line = |machine: &str| {
        let (most, what, size) = limit(machine)?;
        let mine = entry_points.iter().filter(|it| it.machine == machine && larger(it).is_none());
        let largest = mine.max_by_key(|it| size(it))?;
        Some(format!("\n  {}: {} of {most} {what}", largest.name(), size(largest)))
    };
    format!("closest to their limits:{}", machines.into_iter().filter_map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_of_the_machine() {
        let entry_point = |machine: &str, hot, bytes| EntryPoint {
            machine: machine.into(),
            hot,
            bytes,
            ..EntryPoint::default()
        };
        let count = |machine, hot, bytes| problems(&entry_point(machine, hot, bytes)).len();
        for (machine, uops, bytes) in
            [("avx2-fma", 1500, 1 << 20), ("pair-ifma", 2250, 1 << 20), ("avx-ifma", 9999, 32768)]
        {
            assert_eq!(count(machine, uops, bytes), 0, "{machine}");
            assert_eq!(count(machine, uops + 1, bytes + 1), 1, "{machine}");
        }
        assert_eq!(count("portable-one", 1 << 20, 1 << 20), 0);
        assert_eq!(count("a new one", 1501, 0), 1);
        let known = |hot| EntryPoint {
            block: "karatsuba_two_terms".into(),
            width: Some(20),
            ..entry_point("avx512-ifma", hot, 0)
        };
        assert_eq!([3720, 3721].map(|hot| problems(&known(hot)).len()), [0, 1]);
        let closest = closest(&[
            entry_point("avx2-fma", 7, 0),
            entry_point("avx2-fma", 9, 0),
            entry_point("avx-ifma", 1, 5),
        ]);
        assert!(closest.contains(": 9 of 1500 µops") && closest.contains(": 5 of 32768 bytes"), "{closest}");
    }
}
