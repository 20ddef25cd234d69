//! 64-bit Arm, not measured: cycles of Neoverse N1 by LLVM's model of it, as
//! `lab/model/arm.py --costs neoverse-n1` prints them.
//!
//! They are for the cores on which RSAZ is fast. On others `Auto` has one engine, and needs no costs.

use super::EngineCosts;
use crate::engine::Engine;

pub const ROWS: &[EngineCosts] = &[
    EngineCosts {
        engine: Engine::Rsaz,
        numbers: 1,
        costs: [
            [3929, 279, 264],
            [4797, 580, 528],
            [8012, 1465, 1200],
            [13118, 3319, 2611],
            [19686, 5994, 4671],
            [36496, 13351, 10454],
            [59244, 22997, 18039],
            [236976, 91988, 72156],
            [947904, 367952, 288624],
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
