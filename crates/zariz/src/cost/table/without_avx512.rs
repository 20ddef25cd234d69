//! Measured on an AMD EPYC (family 25, model 1), one core: two runs of `cost::measure`, the lower figure of
//! each.
//!
//! The row of [`Engine::AvxIfma`] is the counted row of `with_avx512`, times the quotient of the two
//! processors' times on [`Engine::ScalarAdx`], and times 1.07 as all vector code here.
//!
//! The row of [`Engine::RsazAdx`] is not measured, and `Auto` does not use it. It is the sum of its two
//! halves' rows, divided by 1.26 at 1024 and 1536 bits, which is what this processor gained in loops of vector
//! rows and scalar rows by turns; and by 1.12 at 2048 bits, where the steps have a third more instructions.

use super::EngineCosts;
use crate::engine::Engine;

pub const ROWS: &[EngineCosts] = &[
    EngineCosts {
        engine: Engine::Portable,
        numbers: 1,
        costs: [
            [2269, 103, 77],
            [2390, 292, 242],
            [3952, 977, 776],
            [6447, 2132, 1678],
            [10535, 3870, 2998],
            [21435, 8333, 6212],
            [34880, 14840, 10875],
            [130729, 61550, 42119],
            [515567, 249678, 177313],
        ],
    },
    EngineCosts {
        engine: Engine::Rsaz,
        numbers: 1,
        costs: [
            [2343, 89, 86],
            [2412, 113, 102],
            [3131, 238, 240],
            [4202, 538, 566],
            [5328, 796, 780],
            [8207, 1734, 1552],
            [11636, 2978, 2565],
            [46545, 11910, 10259],
            [186180, 47641, 41037],
        ],
    },
    EngineCosts {
        engine: Engine::Scalar,
        numbers: 1,
        costs: [
            [466, 88, 78],
            [671, 187, 172],
            [1573, 615, 505],
            [2971, 1325, 1045],
            [4950, 2302, 1789],
            [10665, 5127, 3927],
            [18705, 9104, 6925],
            [75731, 37360, 27987],
            [321655, 159608, 120219],
        ],
    },
    EngineCosts {
        engine: Engine::ScalarAdx,
        numbers: 1,
        costs: [
            [536, 90, 80],
            [451, 89, 79],
            [872, 271, 233],
            [1473, 564, 466],
            [2289, 962, 779],
            [4704, 2112, 1643],
            [7820, 3665, 2845],
            [29906, 14417, 10978],
            [120390, 59566, 44130],
        ],
    },
    EngineCosts {
        engine: Engine::RsazAdx,
        numbers: 2,
        costs: [
            [2879, 179, 166],
            [2863, 202, 181],
            [4003, 404, 375],
            [5675, 875, 819],
            [7617, 1570, 1392],
            [17138, 3532, 3132],
            [30468, 6280, 5568],
            [121872, 25120, 22272],
            [487488, 100480, 89088],
        ],
    },
    EngineCosts {
        engine: Engine::Avx2Fma,
        numbers: 4,
        costs: [
            [4219, 120, 108],
            [4652, 250, 227],
            [7028, 624, 530],
            [10918, 1222, 1005],
            [14215, 2005, 1610],
            [22786, 4175, 3283],
            [34144, 7137, 5566],
            [111027, 27219, 19918],
            [404932, 114664, 80735],
        ],
    },
    EngineCosts {
        engine: Engine::AvxIfma,
        numbers: 4,
        costs: [
            [4171, 74, 61],
            [4785, 141, 112],
            [6627, 533, 402],
            [8189, 920, 708],
            [9987, 1594, 1206],
            [19296, 3537, 2634],
            [25075, 6003, 4599],
            [61737, 23830, 18110],
            [196208, 98042, 72939],
        ],
    },
];
