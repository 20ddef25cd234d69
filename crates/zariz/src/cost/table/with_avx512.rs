//! Measured on an AMD EPYC (family 26, model 2), one core: the shortest time of 40 rounds.
//!
//! The row of [`Engine::AvxIfma`] is **counted, not measured**: no processor with AVX-IFMA was at hand. A
//! multiplication or a squaring is that of `avx512-ifma` before its products were split, times the quotient
//! of the two machines' port operations (docs/generated/counts.md: VPMADD52, additions, carries, loads and
//! stores), as if a core did as many of each in 256 bits as in 512. A product of plain numbers is that of
//! `avx2-fma` at that time, which has as many lanes, with its three multiplications (in, the product, out)
//! exchanged.

use super::EngineCosts;
use crate::engine::Engine;

pub const ROWS: &[EngineCosts] = &[
    EngineCosts {
        engine: Engine::Portable,
        numbers: 1,
        costs: [
            [1377, 61, 49],
            [1648, 182, 152],
            [2544, 623, 491],
            [4111, 1337, 1042],
            [6640, 2384, 1850],
            [13435, 5165, 3813],
            [21863, 9279, 6783],
            [77871, 36880, 26202],
            [291395, 142535, 100543],
        ],
    },
    EngineCosts {
        engine: Engine::Rsaz,
        numbers: 1,
        costs: [
            [1302, 51, 51],
            [1397, 70, 64],
            [1873, 152, 135],
            [2614, 356, 321],
            [3260, 533, 481],
            [5118, 1174, 974],
            [7396, 1973, 1615],
            [29584, 7891, 6460],
            [118336, 31564, 25840],
        ],
    },
    EngineCosts {
        engine: Engine::Scalar,
        numbers: 1,
        costs: [
            [296, 48, 42],
            [421, 106, 100],
            [957, 356, 298],
            [1743, 764, 628],
            [3075, 1415, 1114],
            [6991, 3355, 2559],
            [12614, 6144, 4637],
            [51923, 25653, 19349],
            [213664, 106244, 79434],
        ],
    },
    EngineCosts {
        engine: Engine::ScalarAdx,
        numbers: 1,
        costs: [
            [326, 56, 49],
            [306, 57, 49],
            [601, 168, 142],
            [927, 358, 293],
            [1442, 601, 486],
            [2850, 1292, 1017],
            [4828, 2258, 1758],
            [18047, 8721, 6678],
            [70170, 34562, 26142],
        ],
    },
    EngineCosts {
        engine: Engine::PairFma,
        numbers: 1,
        costs: [
            [1447, 88, 87],
            [1387, 87, 86],
            [1667, 112, 111],
            [1993, 178, 165],
            [2384, 288, 263],
            [3741, 594, 563],
            [4627, 796, 766],
            [10241, 2664, 2281],
            [40962, 10656, 9123],
        ],
    },
    EngineCosts {
        engine: Engine::PairFma,
        numbers: 2,
        costs: [
            [1548, 58, 58],
            [1728, 75, 75],
            [2469, 156, 144],
            [3475, 326, 316],
            [4146, 448, 423],
            [6034, 869, 766],
            [8017, 1442, 1224],
            [19184, 5173, 4146],
            [76734, 20691, 16585],
        ],
    },
    EngineCosts {
        engine: Engine::PairIfma,
        numbers: 1,
        costs: [
            [1172, 52, 53],
            [1077, 51, 51],
            [1247, 74, 74],
            [1417, 98, 93],
            [1518, 128, 115],
            [2209, 288, 243],
            [2734, 428, 363],
            [6365, 1838, 1477],
            [25458, 7351, 5908],
        ],
    },
    EngineCosts {
        engine: Engine::PairIfma,
        numbers: 2,
        costs: [
            [1247, 33, 34],
            [1387, 45, 44],
            [1673, 74, 68],
            [2189, 163, 143],
            [2489, 233, 203],
            [3561, 558, 481],
            [4657, 954, 766],
            [11798, 3763, 2905],
            [47190, 15053, 11618],
        ],
    },
    EngineCosts {
        engine: Engine::Avx2Fma,
        numbers: 4,
        costs: [
            [2439, 80, 69],
            [2699, 152, 136],
            [4107, 416, 346],
            [6565, 834, 671],
            [8433, 1372, 1094],
            [13991, 2885, 2246],
            [21036, 4963, 3821],
            [68608, 19171, 13743],
            [240734, 75015, 52852],
        ],
    },
    EngineCosts {
        engine: Engine::AvxIfma,
        numbers: 4,
        costs: [
            [2662, 44, 38],
            [2836, 83, 68],
            [3913, 327, 247],
            [4967, 573, 449],
            [6247, 990, 764],
            [11904, 2179, 1662],
            [15727, 3744, 2890],
            [37998, 14609, 11148],
            [116649, 57768, 43866],
        ],
    },
    EngineCosts {
        engine: Engine::Avx512Fma,
        numbers: 8,
        costs: [
            [2679, 64, 50],
            [3135, 129, 106],
            [4492, 363, 295],
            [6811, 756, 616],
            [8528, 1295, 1042],
            [14882, 2764, 2239],
            [20506, 4807, 3771],
            [55914, 18728, 13866],
            [215286, 72175, 51933],
        ],
    },
    EngineCosts {
        engine: Engine::Avx512Ifma,
        numbers: 8,
        costs: [
            [2158, 28, 28],
            [2434, 58, 49],
            [3566, 198, 153],
            [4712, 408, 336],
            [5819, 658, 531],
            [8543, 1382, 1109],
            [11803, 2391, 1921],
            [30766, 9171, 7374],
            [127786, 48482, 36620],
        ],
    },
];
