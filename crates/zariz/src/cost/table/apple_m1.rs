//! Apple's cores, not measured: cycles of LLVM's `apple-m1`, as `lab/model/arm.py --costs apple-m1` prints
//! them. Rows above 4096 bits are that row, times the square of the length. LLVM describes a much older core.

use super::EngineCosts;
use crate::engine::Engine;

pub const ROWS: &[EngineCosts] = &[
    EngineCosts {
        engine: Engine::Rsaz,
        numbers: 1,
        costs: [
            [3795, 222, 235],
            [4670, 404, 424],
            [7093, 842, 703],
            [10659, 1804, 1482],
            [15015, 3120, 2563],
            [26717, 7448, 6418],
            [41002, 12748, 10802],
            [164008, 50992, 43208],
            [656032, 203968, 172832],
        ],
    },
    EngineCosts {
        engine: Engine::Scalar,
        numbers: 1,
        costs: [
            [1426, 281, 253],
            [1563, 312, 254],
            [3291, 1096, 855],
            [6088, 2396, 1841],
            [9852, 4212, 3214],
            [20487, 9392, 7122],
            [35305, 16657, 12594],
            [141220, 66628, 50376],
            [564880, 266512, 201504],
        ],
    },
];
