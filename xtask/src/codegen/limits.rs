//! Limits of size, so that what is repeated fits where processors keep it.
//!
//! A *hot loop* is the largest loop body of an entry point, an outer loop with all that is in it; of an entry
//! point without loops, the whole entry point, which its caller repeats. It must fit the cache of decoded
//! instructions (µops): 1,536 of Skylake's servers, less 36 for what calls the loop, for machines of AVX2 and
//! AVX-512F; 2,250 of Ice Lake's, the first servers with AVX512-IFMA. Processors with AVX-IFMA have a larger
//! one or none: there, an entry point must fit the 32 KB that every first-level cache of instructions has.
//!
//! One µop is counted for each instruction. These caches keep a load and the operation on it as one, and so
//! the two parts of a store (Intel's optimization manual, "micro-fusion"; AMD's, "macro-ops"). A comparison
//! and the branch behind it are counted as two, though they may be one.

use super::entry_points::EntryPoint;
use super::{carry, rsaz};

/// The most µops of a hot loop, for the machines named.
const UOPS: [(usize, &[&str]); 2] = [
    (1500, &["avx2-fma", "avx512-fma", "pair-fma", carry::MACHINE, rsaz::MACHINE]),
    (2250, &["avx512-ifma", "pair-ifma"]),
];

/// The most bytes of an entry point, for the machines named.
const BYTES: [(usize, &[&str]); 1] = [(32 << 10, &["avx-ifma"])];

/// Entry points that are larger, and how large they may be. Straight code for RSAZ's squares of 29-bit digits
/// is older than the limit, and may not grow. Numbers of two terms are used only on AMD's processors (Zen 4
/// and later), whose caches hold 6,000 µops or more. A squaring executes 2,200 µops of this entry point, a
/// multiplication 2,600.
const LARGER: [(&str, &str, Option<usize>, usize); 3] = [
    ("avx512-ifma", "karatsuba_two_terms", Some(20), 3720),
    (rsaz::MACHINE, "square_29_chained", Some(9), 2134),
    (rsaz::MACHINE, "square_29_friendly", Some(9), 1907),
];

fn of(entry_point: &EntryPoint, limits: &[(usize, &[&str])]) -> Option<usize> {
    limits
        .iter()
        .find(|(_, machines)| machines.contains(&entry_point.machine.as_str()))
        .map(|&(limit, _)| limit)
}

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
    let over = |what: &str, size: usize, limit: Option<usize>| {
        let limit = limit.filter(|&limit| size > limit)?;
        Some(format!("  {}: {size} {what}, at most {limit} expected", entry_point.name()))
    };
    let uops = over("µops in its hot loop", entry_point.hot, larger(entry_point).or(of(entry_point, &UOPS)));
    uops.into_iter().chain(over("bytes of code", entry_point.bytes, of(entry_point, &BYTES))).collect()
}

/// For each limit and machine, the entry point that comes closest, of those that must keep it.
pub fn closest(entry_points: &[EntryPoint]) -> String {
    let line = |what: &str, machine: &str, limit: usize, size: fn(&EntryPoint) -> usize| {
        let largest = entry_points
            .iter()
            .filter(|entry_point| entry_point.machine == machine && larger(entry_point).is_none())
            .max_by_key(|entry_point| size(entry_point));
        largest.map_or(String::new(), |entry_point| {
            format!("  {}: {} of {limit} {what}\n", entry_point.name(), size(entry_point))
        })
    };
    let each = |limits: &[(usize, &[&'static str])]| -> Vec<(usize, &'static str)> {
        limits
            .iter()
            .flat_map(|&(limit, machines)| machines.iter().map(move |&machine| (limit, machine)))
            .collect()
    };
    let uops = each(&UOPS)
        .into_iter()
        .map(|(limit, machine)| line("µops in the hot loop", machine, limit, |r| r.hot));
    let bytes =
        each(&BYTES).into_iter().map(|(limit, machine)| line("bytes of code", machine, limit, |r| r.bytes));
    format!("closest to their limits:\n{}", uops.chain(bytes).collect::<String>().trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codegen::expect::MACHINES;

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
        for machine in MACHINES {
            assert!(count(machine, 1 << 20, 1 << 20) > 0, "{machine} has no limit");
        }
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
