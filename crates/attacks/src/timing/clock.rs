//! Whether the processor's clock follows what it multiplies.
//!
//! A chain of scalar multiplications takes a fixed number of cycles. Vector products beside it use other pipes, and do
//! not make it longer. If their operands change its time all the same, then the core's clock has changed: the time stamp
//! counter keeps its rate. No code can hide that.

use anyhow::{Result, ensure};
use rand::RngCore;
use rand::rngs::StdRng;
use std::arch::asm;

use crate::sample::Experiment;

/// The classes, in order. Each is compared with the first; the second is the control.
pub const CLASSES: [&str; 3] = ["random operands", "random operands again (control)", "operands 0"];

/// Bytes of a vector.
const VECTOR: usize = 64;
/// Rounds of a sample: 16 links of the chain each, at three cycles.
const ROUNDS: u64 = 1000;

/// The operands of the products.
#[repr(align(64))]
struct Operands([u8; 2 * VECTOR]);

/// A proof that the processor has AVX512-IFMA, and what it multiplies.
pub struct Chain {
    operands: Box<Operands>,
}

impl Chain {
    pub fn new() -> Result<Self> {
        let has_ifma = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512ifma");
        ensure!(has_ifma, "the products beside the chain are VPMADD52, and this processor has no AVX512-IFMA");
        Ok(Self { operands: Box::new(Operands([0; 2 * VECTOR])) })
    }
}

impl Experiment for Chain {
    type Output = u64;

    fn classes(&self) -> usize {
        CLASSES.len()
    }

    fn input_len(&self) -> usize {
        2 * VECTOR
    }

    fn prepare(&mut self, class: usize, random: &mut StdRng, input: &mut [u8]) -> Result<()> {
        random.fill_bytes(input);
        if class == 2 {
            input.fill(0);
        }
        Ok(())
    }

    fn place(&mut self, input: &[u8]) -> Result<()> {
        self.operands.0.copy_from_slice(input);
        Ok(())
    }

    fn run(&mut self) -> Result<Self::Output> {
        // SAFETY: `new` has found AVX-512F and AVX512-IFMA.
        Ok(unsafe { chain(&self.operands) })
    }
}

/// One link, and two products beside it.
macro_rules! link {
    ($low:literal $high:literal) => {
        concat!(
            "imul {chain}, {chain}\n",
            concat!("vpmadd52luq zmm", $low, ", zmm16, zmmword ptr [{operands}]\n"),
            concat!("vpmadd52huq zmm", $high, ", zmm16, zmmword ptr [{operands}]\n"),
        )
    };
}

/// Sixteen links in each round; returns the end of the chain.
#[target_feature(enable = "avx512f,avx512ifma")]
fn chain(operands: &Operands) -> u64 {
    let mut end = 3;
    // SAFETY: it reads `operands`, two vectors, and writes nothing but the registers named. The caller has the
    // instructions.
    unsafe {
        asm!(
            "vmovdqa64 zmm16, zmmword ptr [{operands} + 64]",
            "2:",
            link!(0 1), link!(2 3), link!(4 5), link!(6 7), link!(8 9), link!(10 11), link!(12 13), link!(14 15),
            link!(0 1), link!(2 3), link!(4 5), link!(6 7), link!(8 9), link!(10 11), link!(12 13), link!(14 15),
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
