//! 64-bit Arm, not measured: cycles of Neoverse N1 by LLVM's model of it, as
//! `lab/model/arm.py --costs neoverse-n1` prints them.
//!
//! Rows above 4096 bits are that row, times the square of the length.
//!
//! They are for N1, on which RSAZ is fast. On others but Apple's `Auto` has one engine, and needs no costs.

use super::EngineCosts;
use crate::engine::Engine;

pub const ROWS: &[EngineCosts] = &[
    EngineCosts {
        engine: Engine::Rsaz,
        numbers: 1,
        costs: [
            [3931, 281, 264],
            [4809, 584, 527],
            [8028, 1472, 1200],
            [13115, 3318, 2611],
            [19696, 5999, 4671],
            [36500, 13224, 10454],
            [59384, 23044, 18025],
            [237536, 92176, 72100],
            [950144, 368704, 288400],
        ],
    },
    EngineCosts {
        engine: Engine::Scalar,
        numbers: 1,
        costs: [
            [1508, 254, 221],
            [2708, 817, 656],
            [7439, 3140, 2424],
            [15377, 6996, 5341],
            [26267, 12389, 9414],
            [57287, 27789, 21016],
            [100705, 49327, 37226],
            [402820, 197308, 148904],
            [1611280, 789232, 595616],
        ],
    },
];
