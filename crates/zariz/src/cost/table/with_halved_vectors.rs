//! Measured on an AMD EPYC (family 23, model 1), one core: two runs of `cost::measure`, the lower figure of
//! each. Times of vector code are raised by 7 %, as in `without_avx512`.
//!
//! No processor with AVX-IFMA is known to report halves. The row of [`Engine::AvxIfma`] is a guess: that of
//! `without_avx512`, times the quotient of the two processors' times on [`Engine::Avx2Fma`].

use super::EngineCosts;
use crate::engine::Engine;

pub const ROWS: &[EngineCosts] = &[
    EngineCosts {
        engine: Engine::Portable,
        numbers: 1,
        costs: [
            [3978, 180, 138],
            [4659, 583, 473],
            [7449, 1910, 1498],
            [12328, 4123, 3194],
            [19687, 7384, 5716],
            [41057, 16301, 12120],
            [65939, 28366, 20651],
            [239124, 113338, 80048],
            [929549, 454455, 319056],
        ],
    },
    EngineCosts {
        engine: Engine::Rsaz,
        numbers: 1,
        costs: [
            [4015, 168, 181],
            [4293, 278, 261],
            [5982, 753, 679],
            [8779, 1723, 1613],
            [11974, 2849, 2519],
            [20309, 6231, 5357],
            [30815, 10562, 8876],
            [123260, 42248, 35505],
            [493039, 168992, 142019],
        ],
    },
    EngineCosts {
        engine: Engine::Scalar,
        numbers: 1,
        costs: [
            [722, 97, 98],
            [1022, 245, 238],
            [2265, 850, 721],
            [4318, 1864, 1561],
            [7204, 3264, 2675],
            [15599, 7439, 5949],
            [28955, 14034, 10675],
            [111795, 55121, 41673],
            [446152, 221513, 166410],
        ],
    },
    EngineCosts {
        engine: Engine::ScalarAdx,
        numbers: 1,
        costs: [
            [892, 155, 135],
            [751, 155, 132],
            [1528, 488, 397],
            [2640, 1035, 844],
            [4148, 1759, 1423],
            [8576, 3865, 3048],
            [14588, 6868, 5353],
            [55580, 27058, 20639],
            [217007, 107176, 80902],
        ],
    },
    EngineCosts {
        engine: Engine::Avx2Fma,
        numbers: 4,
        costs: [
            [6695, 266, 226],
            [8061, 661, 578],
            [13883, 2050, 1703],
            [22115, 4063, 3288],
            [30167, 6976, 5537],
            [51489, 14783, 11489],
            [79908, 25495, 19701],
            [271331, 98086, 70584],
            [995598, 392506, 275681],
        ],
    },
    EngineCosts {
        engine: Engine::AvxIfma,
        numbers: 4,
        costs: [
            [6619, 164, 128],
            [8291, 373, 285],
            [13091, 1751, 1292],
            [16587, 3059, 2316],
            [21194, 5546, 4148],
            [43603, 12524, 9218],
            [58684, 21444, 16278],
            [150875, 85873, 64177],
            [482413, 335607, 249060],
        ],
    },
];
