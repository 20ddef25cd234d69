//! What the tests of forms are made of: random registers and operands, the plain model, encoding.

use iced_x86::{Code, Encoder, Instruction, MemoryOperand, Register};

use super::run::{Region, State};
use zariz_emulator::Form;

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
    /// A word, now and then of a shape that drives carries.
    pub fn word(&mut self) -> u64 {
        let word = self.next();
        match self.below(8) {
            0 => u64::MAX,
            1 => (1 << 52) - 1,
            2 => word | 0x000f_ffff_ffff_ffff,
            3 => word & 0xfff0_0000_0000_0000,
            4 => 1 << (word % 64),
            _ => word,
        }
    }
    pub fn state(&mut self, region: &Region) -> State {
        let mut state = State::new(&mut || self.word());
        state.general[4] = region.address(Region::STACK);
        state
    }
    pub fn fill(&mut self, region: &mut Region) -> Vec<u8> {
        let bytes = region.bytes(Region::DATA, Region::DATA_LEN);
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.word().to_le_bytes());
        }
        bytes.to_vec()
    }
}

/// The codes of the forms that are emulated here: see [`CODES`].
pub fn codes() -> Vec<(Code, bool, usize, bool)> {
    let is_emulated = |evex| zariz_emulator::is_emulating(if evex { Form::Evex } else { Form::Vex });
    CODES.into_iter().filter(|&(.., evex)| is_emulated(evex)).collect()
}

/// Code, whether it is the high half, lanes, and whether it is EVEX.
pub const CODES: [(Code, bool, usize, bool); 10] = [
    (Code::EVEX_Vpmadd52luq_xmm_k1z_xmm_xmmm128b64, false, 2, true),
    (Code::EVEX_Vpmadd52luq_ymm_k1z_ymm_ymmm256b64, false, 4, true),
    (Code::EVEX_Vpmadd52luq_zmm_k1z_zmm_zmmm512b64, false, 8, true),
    (Code::EVEX_Vpmadd52huq_xmm_k1z_xmm_xmmm128b64, true, 2, true),
    (Code::EVEX_Vpmadd52huq_ymm_k1z_ymm_ymmm256b64, true, 4, true),
    (Code::EVEX_Vpmadd52huq_zmm_k1z_zmm_zmmm512b64, true, 8, true),
    (Code::VEX_Vpmadd52luq_xmm_xmm_xmmm128, false, 2, false),
    (Code::VEX_Vpmadd52luq_ymm_ymm_ymmm256, false, 4, false),
    (Code::VEX_Vpmadd52huq_xmm_xmm_xmmm128, true, 2, false),
    (Code::VEX_Vpmadd52huq_ymm_ymm_ymmm256, true, 4, false),
];

pub const GENERAL: [Register; 16] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RBX,
    Register::RSP,
    Register::RBP,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];

pub fn vector(lanes: usize, number: usize) -> Register {
    let first = match lanes {
        2 => Register::XMM0,
        4 => Register::YMM0,
        _ => Register::ZMM0,
    };
    first + number as u32
}

pub fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes"))).collect()
}

/// The manual's pseudo-code.
#[allow(clippy::too_many_arguments)]
pub fn model(
    old: [u64; 8],
    a: [u64; 8],
    b: &[u64],
    high: bool,
    lanes: usize,
    mask: u64,
    zeroing: bool,
) -> [u64; 8] {
    let mut out = [0; 8];
    for lane in 0..lanes {
        let product = u128::from(a[lane] % (1 << 52)) * u128::from(b[lane] % (1 << 52));
        let half = if high { product / (1 << 52) } else { product % (1 << 52) };
        let sum = ((u128::from(old[lane]) + half) % (1 << 64)) as u64;
        out[lane] = under_mask(mask, lane, old[lane], sum, zeroing);
    }
    out
}

/// What becomes of a lane under a mask.
pub fn under_mask(mask: u64, lane: usize, old: u64, new: u64, zeroing: bool) -> u64 {
    match (mask >> lane & 1, zeroing) {
        (1, _) => new,
        (_, true) => 0,
        (_, false) => old,
    }
}

pub fn encode(instruction: &Instruction, at: u64) -> Vec<u8> {
    let mut encoder = Encoder::new(64);
    encoder.encode(instruction, at).expect("encodable");
    encoder.take_buffer()
}

/// A memory operand for the address `target`; sets the registers that it needs. `what` says which kind it is.
pub fn memory(
    random: &mut Random,
    state: &mut State,
    target: u64,
    bases: (u64, u64),
    what: &mut String,
) -> MemoryOperand {
    let number = |random: &mut Random| [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15][random.below(15)];
    // Small, a multiple of a vector, any.
    let displacement = match random.below(4) {
        0 => 0,
        1 => random.below(256) as i64 - 128,
        2 => 64 * (random.below(256) as i64 - 128),
        _ => i64::from(random.next() as i32),
    };
    let (segment, segment_base) = match random.below(6) {
        0 => (Register::FS, bases.0),
        1 => (Register::GS, bases.1),
        _ => (Register::None, 0),
    };
    let offset = target.wrapping_sub(segment_base);
    let (base, mut index) = (number(random), number(random));
    while index == base {
        index = number(random);
    }
    let scale = 1u32 << random.below(4);
    let kind = random.below(7);
    *what = format!("memory kind {kind}, segment {segment:?}");
    let new = |base, index, scale, displacement: i64, segment| {
        let size = if displacement == 0 { 0 } else { 1 };
        MemoryOperand::new(base, index, scale, displacement, size, false, segment)
    };
    match kind {
        // From the instruction pointer, or absolute; displacements of 32 bits, so without segment.
        0 => MemoryOperand::with_base_displ(Register::RIP, target as i64),
        1 => MemoryOperand::new(Register::None, Register::None, 1, target as i64, 4, false, Register::None),
        // Base.
        2 => {
            state.general[base] = offset.wrapping_sub(displacement as u64);
            new(GENERAL[base], Register::None, 1, displacement, segment)
        }
        // Base and index.
        3 => {
            state.general[base] = (offset.wrapping_sub(displacement as u64))
                .wrapping_sub(state.general[index].wrapping_mul(u64::from(scale)));
            new(GENERAL[base], GENERAL[index], scale, displacement, segment)
        }
        // Index alone.
        4 => {
            state.general[index] = target / u64::from(scale);
            MemoryOperand::new(
                Register::None,
                GENERAL[index],
                scale,
                (target % u64::from(scale)) as i64,
                8,
                false,
                Register::None,
            )
        }
        // The stack pointer, which the call has moved.
        5 => new(
            Register::RSP,
            Register::None,
            1,
            target.wrapping_sub(state.general[4] - 8) as i64,
            Register::None,
        ),
        // 32-bit registers; the bits above are ignored.
        _ => {
            let low = |number: usize| Register::EAX + number as u32;
            let wanted = (target as u32)
                .wrapping_sub(displacement as u32)
                .wrapping_sub((state.general[index] as u32).wrapping_mul(scale));
            state.general[base] = state.general[base] & !u64::from(u32::MAX) | u64::from(wanted);
            new(low(base), low(index), scale, displacement, Register::None)
        }
    }
}

pub fn difference(expected: &State, found: &State) -> String {
    let mut lines = Vec::new();
    for number in 0..32 {
        let (expected, found) = (expected.vectors[number], found.vectors[number]);
        if expected != found {
            lines.push(format!("zmm{number} is {found:x?}, expected {expected:x?}"));
        }
    }
    if (expected.masks, expected.general, expected.flags) != (found.masks, found.general, found.flags) {
        lines.push(format!("masks {:x?} {:x?}", expected.masks, found.masks));
        lines.push(format!("general {:x?} {:x?}", expected.general, found.general));
        lines.push(format!("flags {:x} {:x}", expected.flags, found.flags));
    }
    lines.join("\n")
}
