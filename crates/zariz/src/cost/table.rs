//! Nanoseconds of operations, as `cargo test --release -p zariz --lib cost::measure -- --ignored --nocapture`
//! printed them.

use crate::engine::Engine;

/// Lengths in bits at which costs are known.
pub const LENGTHS: [usize; 9] = [256, 512, 1024, 1536, 2048, 3072, 4096, 8192, 16_384];

/// What one engine costs for a call with `numbers` numbers: at each length a product of plain numbers, a
/// multiplication and a squaring in Montgomery's domain.
pub struct EngineCosts {
    pub engine: Engine,
    pub numbers: usize,
    pub costs: [[u32; 3]; LENGTHS.len()],
}

/// On an AMD EPYC (family 26, model 2), one core.
///
/// The row of [`Engine::AvxIfma`] is **counted, not measured**: no processor with AVX-IFMA was at hand. A
/// multiplication or a squaring is that of `avx512-ifma`, times the quotient of the two machines' port operations
/// (docs/generated/counts.md: VPMADD52, additions, carries, loads and stores), as if a core did as many of each in
/// 256 bits as in 512. A product of plain numbers is that of `avx2-fma`, which has as many lanes, with its three
/// multiplications (in, the product, out) exchanged.
pub const ROWS: [EngineCosts; 12] = [
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
            [2264, 79, 78],
            [1983, 78, 78],
            [2449, 116, 116],
            [2885, 238, 238],
            [3616, 416, 413],
            [5238, 721, 711],
            [6945, 989, 994],
            [16745, 3465, 3458],
            [66980, 13860, 13830],
        ],
    },
    EngineCosts {
        engine: Engine::PairFma,
        numbers: 2,
        costs: [
            [2880, 99, 96],
            [2629, 98, 96],
            [3520, 166, 168],
            [4507, 396, 398],
            [5604, 799, 809],
            [9264, 1387, 1377],
            [12193, 1956, 1946],
            [31973, 6915, 6875],
            [127890, 27661, 27501],
        ],
    },
    EngineCosts {
        engine: Engine::PairIfma,
        numbers: 1,
        costs: [
            [1678, 67, 67],
            [1488, 68, 67],
            [1738, 95, 93],
            [1903, 138, 140],
            [2214, 191, 193],
            [3345, 516, 518],
            [3896, 676, 676],
            [8373, 2306, 2301],
            [33490, 9224, 9204],
        ],
    },
    EngineCosts {
        engine: Engine::PairIfma,
        numbers: 2,
        costs: [
            [2093, 81, 80],
            [1933, 81, 80],
            [2279, 123, 125],
            [2654, 213, 215],
            [3195, 318, 323],
            [5408, 972, 964],
            [6565, 1302, 1295],
            [15779, 4685, 4665],
            [63114, 18738, 18658],
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
