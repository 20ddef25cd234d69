//! Whether the processor's clock follows what it multiplies.
//!
//! A chain of scalar multiplications takes a fixed number of cycles. Vector products beside it use other
//! pipes. If they make it longer, as on processors with few pipes, they do so whatever they multiply. If
//! their operands change the time all the same, then it is the core's clock that changes: the time stamp
//! counter keeps its rate.

use anyhow::Result;
use rand::RngCore;
use rand::rngs::StdRng;
use std::arch::asm;

use crate::sample::Experiment;

/// The classes, in order. Each is compared with the first; the second is the control.
pub const CLASSES: [&str; 3] = ["random operands", "random operands again (control)", "operands 0"];

/// Bytes of a vector.
const VECTOR: usize = 64;
/// Rounds of a sample: 16 links of the chain each, at three cycles. A sample then takes as long as a batch of
/// powers.
const ROUNDS: u64 = 3500;

/// Factors: one vector for each of 16 sums, and one that all are multiplied by. Neighbouring products have
/// different factors, so that random ones change what the pipes hold. AVX2 has 12 sums, and uses the lower
/// half of each vector.
const VECTORS: usize = 17;

/// The factors of the products.
#[repr(align(64))]
struct Operands([u8; VECTORS * VECTOR]);

/// Products beside the chain, which this processor can compute.
pub struct Products(Kind);

enum Kind {
    /// None: the chain alone.
    Alone,
    /// VPMADD52 on 512-bit vectors.
    Ifma,
    /// VFMADD231PD on 256-bit vectors.
    Fma,
}

impl Products {
    /// All of them, and how they are called.
    pub fn here() -> Vec<(Self, &'static str)> {
        let ifma = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512ifma");
        let fma = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        let all = [
            (true, Kind::Alone, "alone"),
            (ifma, Kind::Ifma, "VPMADD52 beside it"),
            (fma, Kind::Fma, "VFMADD231PD beside it"),
        ];
        all.into_iter().filter(|(is_here, ..)| *is_here).map(|(_, kind, name)| (Self(kind), name)).collect()
    }
}

/// A chain, the products beside it, and what they multiply.
pub struct Chain {
    products: Products,
    operands: Box<Operands>,
}

impl Chain {
    pub fn new(products: Products) -> Self {
        Self { products, operands: Box::new(Operands([0; VECTORS * VECTOR])) }
    }
}

impl Experiment for Chain {
    type Output = u64;

    fn classes(&self) -> usize {
        CLASSES.len()
    }

    fn input_len(&self) -> usize {
        VECTORS * VECTOR
    }

    /// Operands are digits of 52 bits, as integers for VPMADD52, and else as floating-point numbers.
    fn prepare(&mut self, class: usize, random: &mut StdRng, input: &mut [u8]) -> Result<()> {
        for word in input.chunks_exact_mut(8) {
            let digit = if class == 2 { 0 } else { random.next_u64() >> 12 };
            let digit = match self.products.0 {
                Kind::Alone | Kind::Ifma => digit,
                Kind::Fma => (digit as f64).to_bits(),
            };
            word.copy_from_slice(&digit.to_le_bytes());
        }
        Ok(())
    }

    fn place(&mut self, input: &[u8]) -> Result<()> {
        self.operands.0.copy_from_slice(input);
        Ok(())
    }

    fn run(&mut self) -> Result<Self::Output> {
        // SAFETY: only `Products::here` makes products, and it has found their instructions.
        Ok(unsafe {
            match self.products.0 {
                Kind::Alone => alone(),
                Kind::Ifma => ifma(&self.operands),
                Kind::Fma => fma(&self.operands),
            }
        })
    }
}

/// One link, and four products beside it. The link takes three cycles, and two pipes begin the products in
/// two.
macro_rules! link {
    () => {
        "imul {chain}, {chain}\n"
    };
    (ifma $($low:literal $high:literal),+) => {
        concat!(
            link!(),
            $(
                concat!("vpmadd52luq zmm", $low, ", zmm16, zmmword ptr [{operands} + 64 * ", $low, "]\n"),
                concat!("vpmadd52huq zmm", $high, ", zmm16, zmmword ptr [{operands} + 64 * ", $high, "]\n"),
            )+
        )
    };
    (fma $($sum:literal)+) => {
        concat!(link!(), $(concat!("vfmadd231pd ymm", $sum, ", ymm15, ymmword ptr [{operands} + 64 * ", $sum, "]\n"),)+)
    };
}

/// Sixteen links in each round; returns the end of the chain.
fn alone() -> u64 {
    let mut end = 3;
    // SAFETY: it writes nothing but the registers named.
    unsafe {
        asm!(
            "2:",
            link!(), link!(), link!(), link!(), link!(), link!(), link!(), link!(),
            link!(), link!(), link!(), link!(), link!(), link!(), link!(), link!(),
            "dec {rounds}",
            "jnz 2b",
            chain = inout(reg) end,
            rounds = inout(reg) ROUNDS => _,
            options(nomem, nostack)
        );
    }
    end
}

/// Like [`alone`], with products of digits beside the chain. Their sums begin at 0. A register may hold any
/// number before: floating-point sums take longer with some.
#[target_feature(enable = "avx512f,avx512ifma")]
fn ifma(operands: &Operands) -> u64 {
    let mut end = 3;
    // SAFETY: it reads the vectors of `operands`, which are aligned, and writes nothing but the registers
    // named. The caller has the instructions.
    unsafe {
        asm!(
            "vzeroall",
            "vmovdqa64 zmm16, zmmword ptr [{operands} + 64 * 16]",
            "2:",
            link!(ifma 0 1, 2 3), link!(ifma 4 5, 6 7), link!(ifma 8 9, 10 11), link!(ifma 12 13, 14 15),
            link!(ifma 0 1, 2 3), link!(ifma 4 5, 6 7), link!(ifma 8 9, 10 11), link!(ifma 12 13, 14 15),
            link!(ifma 0 1, 2 3), link!(ifma 4 5, 6 7), link!(ifma 8 9, 10 11), link!(ifma 12 13, 14 15),
            link!(ifma 0 1, 2 3), link!(ifma 4 5, 6 7), link!(ifma 8 9, 10 11), link!(ifma 12 13, 14 15),
            "dec {rounds}",
            "jnz 2b",
            chain = inout(reg) end,
            rounds = inout(reg) ROUNDS => _,
            operands = in(reg) operands,
            out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _, out("zmm4") _, out("zmm5") _, out("zmm6") _,
            out("zmm7") _, out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _, out("zmm12") _,
            out("zmm13") _, out("zmm14") _, out("zmm15") _, out("zmm16") _,
            options(readonly, nostack)
        );
    }
    end
}

/// Like [`ifma`], with products of floating-point numbers.
#[target_feature(enable = "avx2,fma")]
fn fma(operands: &Operands) -> u64 {
    let mut end = 3;
    // SAFETY: as above.
    unsafe {
        asm!(
            "vzeroall",
            "vmovapd ymm15, ymmword ptr [{operands} + 64 * 16]",
            "2:",
            link!(fma 0 1 2 3), link!(fma 4 5 6 7), link!(fma 8 9 10 11), link!(fma 0 1 2 3),
            link!(fma 4 5 6 7), link!(fma 8 9 10 11), link!(fma 0 1 2 3), link!(fma 4 5 6 7),
            link!(fma 8 9 10 11), link!(fma 0 1 2 3), link!(fma 4 5 6 7), link!(fma 8 9 10 11),
            link!(fma 0 1 2 3), link!(fma 4 5 6 7), link!(fma 8 9 10 11), link!(fma 0 1 2 3),
            "dec {rounds}",
            "jnz 2b",
            chain = inout(reg) end,
            rounds = inout(reg) ROUNDS => _,
            operands = in(reg) operands,
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _, out("ymm4") _, out("ymm5") _, out("ymm6") _,
            out("ymm7") _, out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _, out("ymm12") _,
            out("ymm13") _, out("ymm14") _, out("ymm15") _,
            options(readonly, nostack)
        );
    }
    end
}
