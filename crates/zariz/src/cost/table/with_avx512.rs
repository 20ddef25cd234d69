//! Measured on an AMD EPYC (family 26, model 2), one core: the shortest time of 40 rounds.
//!
//! The rows of [`Engine::PairFma`] and [`Engine::PairIfma`] were measured with an older layout. Each is multiplied by
//! the time of today's code over that of the old one, on an AMD EPYC (family 25, model 17): medians of 4,000 rounds.
//!
//! The row of [`Engine::AvxIfma`] is **counted, not measured**: no processor with AVX-IFMA was at hand. A
//! multiplication or a squaring is that of `avx512-ifma`, times the quotient of the two machines' port operations
//! (docs/generated/counts.md: VPMADD52, additions, carries, loads and stores), as if a core did as many of each in
//! 256 bits as in 512. A product of plain numbers is that of `avx2-fma`, which has as many lanes, with its three
//! multiplications (in, the product, out) exchanged.

use super::EngineCosts;
use crate::engine::Engine;

pub const ROWS: &[EngineCosts] = &[
    EngineCosts {
        engine: Engine::Portable,
        numbers: 1,
        costs: [
            [1312, 65, 53],
            [1527, 189, 158],
            [2594, 647, 513],
            [4181, 1415, 1107],
            [6791, 2544, 1966],
            [14246, 5541, 4071],
            [23165, 9702, 7138],
            [82133, 38783, 27574],
            [311535, 152858, 108069],
        ],
    },
    EngineCosts {
        engine: Engine::Rsaz,
        numbers: 1,
        costs: [
            [1587, 53, 58],
            [1428, 74, 69],
            [1878, 160, 148],
            [2639, 378, 401],
            [3396, 558, 573],
            [5428, 1262, 1062],
            [7842, 2128, 1755],
            [31368, 8513, 7021],
            [125472, 34052, 28084],
        ],
    },
    EngineCosts {
        engine: Engine::Scalar,
        numbers: 1,
        costs: [
            [280, 50, 45],
            [416, 111, 108],
            [941, 384, 321],
            [1843, 821, 676],
            [3310, 1527, 1202],
            [7581, 3620, 2764],
            [13650, 6615, 5008],
            [56144, 27714, 20886],
            [229362, 113675, 85603],
        ],
    },
    EngineCosts {
        engine: Engine::ScalarAdx,
        numbers: 1,
        costs: [
            [366, 57, 53],
            [286, 56, 51],
            [551, 178, 153],
            [956, 376, 316],
            [1532, 639, 528],
            [3105, 1392, 1109],
            [5248, 2446, 1913],
            [19695, 9457, 7231],
            [76584, 37554, 28398],
        ],
    },
    EngineCosts {
        engine: Engine::PairFma,
        numbers: 1,
        costs: [
            [1700, 96, 88],
            [1542, 93, 89],
            [1843, 118, 121],
            [2140, 197, 201],
            [2620, 251, 332],
            [3680, 644, 620],
            [4835, 909, 847],
            [10915, 3062, 2560],
            [43663, 12250, 10241],
        ],
    },
    EngineCosts {
        engine: Engine::PairFma,
        numbers: 2,
        costs: [
            [1618, 49, 46],
            [1637, 73, 75],
            [2274, 129, 137],
            [3440, 357, 382],
            [3927, 476, 603],
            [5673, 997, 857],
            [7858, 1643, 1371],
            [20035, 5688, 4507],
            [80141, 22752, 18027],
        ],
    },
    EngineCosts {
        engine: Engine::PairIfma,
        numbers: 1,
        costs: [
            [1280, 47, 51],
            [1097, 49, 52],
            [1302, 75, 67],
            [1404, 99, 90],
            [1666, 139, 118],
            [2313, 335, 284],
            [2670, 454, 376],
            [5977, 1764, 1390],
            [23906, 7058, 5559],
        ],
    },
    EngineCosts {
        engine: Engine::PairIfma,
        numbers: 2,
        costs: [
            [1252, 32, 31],
            [1187, 45, 46],
            [1500, 78, 70],
            [2045, 171, 153],
            [2374, 255, 218],
            [3329, 617, 499],
            [4238, 917, 715],
            [10942, 3439, 2619],
            [43768, 13758, 10479],
        ],
    },
    EngineCosts {
        engine: Engine::Avx2Fma,
        numbers: 4,
        costs: [
            [2764, 78, 69],
            [3070, 161, 143],
            [4372, 480, 402],
            [6125, 959, 794],
            [8047, 1590, 1297],
            [15243, 3292, 2621],
            [21382, 5629, 4347],
            [58482, 21437, 15826],
            [196038, 84231, 60388],
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
            [3415, 64, 53],
            [4021, 130, 112],
            [5944, 377, 298],
            [8368, 779, 631],
            [12329, 1365, 1129],
            [17987, 2955, 2351],
            [24121, 5055, 3918],
            [61367, 19567, 14324],
            [234340, 77629, 55763],
        ],
    },
    EngineCosts {
        engine: Engine::Avx512Ifma,
        numbers: 8,
        costs: [
            [3360, 44, 38],
            [3861, 83, 68],
            [5303, 250, 186],
            [6775, 536, 426],
            [7937, 919, 721],
            [12078, 2013, 1550],
            [16480, 3450, 2679],
            [42168, 13368, 10193],
            [134051, 52676, 39832],
        ],
    },
];
