//! From machine code to what is to be done: VPMADD52 in all its forms, and what compilers put between most
//! often.
//!
//! Forms of VPMADD52LUQ and VPMADD52HUQ: EVEX with 128, 256 and 512 bits, the last factor a register, a
//! vector in memory or one word in memory for all lanes (`{1to2}` to `{1to8}`), any write mask, merging or
//! zeroing; VEX (AVX-IFMA) with 128 and 256 bits, the last factor a register or a vector in memory. Compilers
//! emit for our kernels, as of Rust 1.95, the 512-bit EVEX forms without mask and the 256-bit VEX forms, with
//! a register or a vector in memory.
//!
//! A trap costs a microsecond or more, and between two multiplications there is often a load, a store, a copy
//! or a carry. So the handler goes over these too: VMOVDQA64, VMOVDQU64, VMOVAPS, VMOVUPS of 512 bits without
//! mask, VMOVDQA, VMOVDQU, VMOVAPS, VMOVUPS of 256 bits, and MOV between 64-bit registers or a register and
//! memory; VPADDQ, VPSUBQ, VPAND(Q), VPXOR(Q) and VPSRLQ by a constant, of 256 bits (VEX) and 512 (EVEX), and
//! the VPXOR of 128 bits that makes zeros.

use iced_x86::{Code, Decoder, DecoderError, DecoderOptions, Instruction, OpKind, Register};

use crate::form::Form;
use crate::frame::Frame;
use crate::model::Half;

/// The longest instruction, in bytes.
pub const LONGEST: usize = 15;

/// One instruction, its addresses computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Each lane by itself.
    Lanewise(Lanewise),
    /// So many lanes from a register or memory into a register, those above set to zero; memory must be so
    /// aligned.
    Load { to: usize, from: Place, lanes: usize, align: u64 },
    /// So many lanes from a register into memory, which must be so aligned.
    Store { to: u64, from: usize, lanes: usize, align: u64 },
    /// A 64-bit word from a register or memory into a register; registers as libc numbers them.
    LoadWord { to: libc::c_int, from: Place },
    /// A 64-bit word from a register into memory.
    StoreWord { to: u64, from: libc::c_int },
}

/// What becomes of each lane, from its old word `c` and the words `a` and `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// VPMADD52LUQ or VPMADD52HUQ: `c + half(a·b)`.
    Multiply(Half),
    Add,
    Subtract,
    And,
    Xor,
    /// `⌊a / 2^k⌋`.
    ShiftRight(u8),
}

/// `to[i] ← function(to[i], a[i], b[i])` for the lanes of the mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanewise {
    pub function: Function,
    /// 2, 4 or 8; the lanes above are set to zero.
    pub lanes: usize,
    pub to: usize,
    pub a: usize,
    pub b: Place,
    /// Whether `b` is one word in memory for all lanes.
    pub broadcast: bool,
    /// The number of the mask register; `None` for all lanes.
    pub mask: Option<usize>,
    /// Whether lanes outside of the mask become zero; else they stay.
    pub zeroing: bool,
}

/// Where an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Register(usize),
    Memory(u64),
}

/// Decodes the first instruction of `bytes`, which are at `address`. `None` if they end before it does.
///
/// Allocates the decoder's tables when it is first called, and never again.
pub fn decode(bytes: &[u8], address: u64) -> Option<Instruction> {
    let mut decoder = Decoder::try_with_ip(64, bytes, address, DecoderOptions::NONE).ok()?;
    let instruction = decoder.decode();
    (decoder.last_error() == DecoderError::None).then_some(instruction)
}

/// Which form, which half, and how many lanes, if the instruction is a VPMADD52.
pub fn multiplication(instruction: &Instruction) -> Option<(Form, Half, usize)> {
    use Form::{Evex, Vex};
    use Half::{High, Low};
    Some(match instruction.code() {
        Code::EVEX_Vpmadd52luq_xmm_k1z_xmm_xmmm128b64 => (Evex, Low, 2),
        Code::EVEX_Vpmadd52luq_ymm_k1z_ymm_ymmm256b64 => (Evex, Low, 4),
        Code::EVEX_Vpmadd52luq_zmm_k1z_zmm_zmmm512b64 => (Evex, Low, 8),
        Code::EVEX_Vpmadd52huq_xmm_k1z_xmm_xmmm128b64 => (Evex, High, 2),
        Code::EVEX_Vpmadd52huq_ymm_k1z_ymm_ymmm256b64 => (Evex, High, 4),
        Code::EVEX_Vpmadd52huq_zmm_k1z_zmm_zmmm512b64 => (Evex, High, 8),
        Code::VEX_Vpmadd52luq_xmm_xmm_xmmm128 => (Vex, Low, 2),
        Code::VEX_Vpmadd52luq_ymm_ymm_ymmm256 => (Vex, Low, 4),
        Code::VEX_Vpmadd52huq_xmm_xmm_xmmm128 => (Vex, High, 2),
        Code::VEX_Vpmadd52huq_ymm_ymm_ymmm256 => (Vex, High, 4),
        _ => return None,
    })
}

/// What else is computed lane by lane, and of how many lanes.
fn lanewise(instruction: &Instruction) -> Option<(Function, usize)> {
    use Function::{Add, And, ShiftRight, Subtract, Xor};
    Some(match instruction.code() {
        Code::VEX_Vpaddq_ymm_ymm_ymmm256 => (Add, 4),
        Code::VEX_Vpsubq_ymm_ymm_ymmm256 => (Subtract, 4),
        Code::VEX_Vpand_ymm_ymm_ymmm256 => (And, 4),
        Code::VEX_Vpxor_xmm_xmm_xmmm128 => (Xor, 2),
        Code::VEX_Vpxor_ymm_ymm_ymmm256 => (Xor, 4),
        Code::VEX_Vpsrlq_ymm_ymm_imm8 => (ShiftRight(instruction.immediate8()), 4),
        Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64 => (Add, 8),
        Code::EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64 => (Subtract, 8),
        Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64 => (And, 8),
        Code::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64 => (Xor, 8),
        Code::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8 => (ShiftRight(instruction.immediate8()), 8),
        _ => return None,
    })
}

/// A plain move of vectors.
struct Move {
    lanes: usize,
    align: u64,
    /// Whether the first operand may be memory, not the second.
    stores: bool,
}

/// Which move, if the instruction is one.
fn vector_move(instruction: &Instruction) -> Option<Move> {
    let (lanes, align, stores) = match instruction.code() {
        Code::EVEX_Vmovdqa64_zmm_k1z_zmmm512 | Code::EVEX_Vmovaps_zmm_k1z_zmmm512 => (8, 64, false),
        Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512 | Code::EVEX_Vmovups_zmm_k1z_zmmm512 => (8, 1, false),
        Code::EVEX_Vmovdqa64_zmmm512_k1z_zmm | Code::EVEX_Vmovaps_zmmm512_k1z_zmm => (8, 64, true),
        Code::EVEX_Vmovdqu64_zmmm512_k1z_zmm | Code::EVEX_Vmovups_zmmm512_k1z_zmm => (8, 1, true),
        Code::VEX_Vmovdqa_ymm_ymmm256 | Code::VEX_Vmovaps_ymm_ymmm256 => (4, 32, false),
        Code::VEX_Vmovdqu_ymm_ymmm256 | Code::VEX_Vmovups_ymm_ymmm256 => (4, 1, false),
        Code::VEX_Vmovdqa_ymmm256_ymm | Code::VEX_Vmovaps_ymmm256_ymm => (4, 32, true),
        Code::VEX_Vmovdqu_ymmm256_ymm | Code::VEX_Vmovups_ymmm256_ymm => (4, 1, true),
        _ => return None,
    };
    Some(Move { lanes, align, stores })
}

/// What an instruction does, with the registers as they are now; `None` for all that we do not emulate.
pub fn operation(instruction: &Instruction, frame: &Frame) -> Option<Operation> {
    let place = |operand: u32| match instruction.op_kind(operand) {
        OpKind::Register => Some(Place::Register(vector(instruction.op_register(operand))?)),
        _ => address(instruction, operand, frame).map(Place::Memory),
    };
    let multiplication = multiplication(instruction)
        .map(|(form, half, lanes)| (form == Form::Evex, Function::Multiply(half), lanes));
    let other = || lanewise(instruction).map(|(function, lanes)| (lanes == 8, function, lanes));
    if let Some((evex, function, lanes)) = multiplication.or_else(other) {
        // Without AVX-512 the processor refuses all of EVEX, and so do we.
        if evex && !frame.is_wide() {
            return None;
        }
        let shifts = matches!(function, Function::ShiftRight(_));
        return Some(Operation::Lanewise(Lanewise {
            function,
            lanes,
            to: vector(instruction.op0_register())?,
            a: vector(instruction.op1_register())?,
            // A shift has one operand.
            b: place(if shifts { 1 } else { 2 })?,
            broadcast: instruction.is_broadcast(),
            mask: match instruction.op_mask() {
                Register::None => None,
                mask => Some(within(mask, Register::K0, 8)?),
            },
            zeroing: instruction.zeroing_masking(),
        }));
    }
    if instruction.op_mask() != Register::None {
        return None;
    }
    if let Some(Move { lanes, align, stores }) = vector_move(instruction) {
        if lanes == 8 && !frame.is_wide() {
            return None;
        }
        if !stores {
            return Some(Operation::Load {
                to: vector(instruction.op0_register())?,
                from: place(1)?,
                lanes,
                align,
            });
        }
        let from = vector(instruction.op1_register())?;
        return Some(match place(0)? {
            Place::Register(to) => Operation::Load { to, from: Place::Register(from), lanes, align },
            Place::Memory(to) => Operation::Store { to, from, lanes, align },
        });
    }
    match instruction.code() {
        Code::Mov_r64_rm64 => {
            let to = general(instruction.op0_register())?;
            let from = match instruction.op1_kind() {
                OpKind::Register => Place::Register(general(instruction.op1_register())? as usize),
                _ => Place::Memory(address(instruction, 1, frame)?),
            };
            Some(Operation::LoadWord { to, from })
        }
        Code::Mov_rm64_r64 => {
            let from = general(instruction.op1_register())?;
            Some(match instruction.op0_kind() {
                OpKind::Register => Operation::LoadWord {
                    to: general(instruction.op0_register())?,
                    from: Place::Register(from as usize),
                },
                _ => Operation::StoreWord { to: address(instruction, 0, frame)?, from },
            })
        }
        _ => None,
    }
}

/// The address of a memory operand: base, index, scale, displacement, segment base; with a 32-bit address
/// size, modulo `2^32`.
fn address(instruction: &Instruction, operand: u32, frame: &Frame) -> Option<u64> {
    if instruction.op_kind(operand) != OpKind::Memory {
        return None;
    }
    instruction.virtual_address(operand, 0, |register, _, _| match register {
        Register::CS | Register::DS | Register::ES | Register::SS => Some(0),
        Register::FS => segment_base(ARCH_GET_FS),
        Register::GS => segment_base(ARCH_GET_GS),
        _ => match within(register, Register::EAX, 16) {
            Some(number) => Some(frame.general(GENERAL[number]) & u64::from(u32::MAX)),
            None => Some(frame.general(general(register)?)),
        },
    })
}

const ARCH_GET_FS: libc::c_int = 0x1003;
const ARCH_GET_GS: libc::c_int = 0x1004;

/// The base of FS or GS: the kernel does not change them for a handler.
fn segment_base(which: libc::c_int) -> Option<u64> {
    let mut base = 0u64;
    // SAFETY: arch_prctl writes the base to the address given, a live word.
    let result = unsafe { libc::syscall(libc::SYS_arch_prctl, which, &raw mut base) };
    (result == 0).then_some(base)
}

/// The number of a vector register of any width.
fn vector(register: Register) -> Option<usize> {
    [Register::XMM0, Register::YMM0, Register::ZMM0].into_iter().find_map(|first| within(register, first, 32))
}

/// A 64-bit general register as libc numbers it.
fn general(register: Register) -> Option<libc::c_int> {
    within(register, Register::RAX, 16).map(|number| GENERAL[number])
}

/// General registers in the order of their encoding.
const GENERAL: [libc::c_int; 16] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

/// The number of a register in a family of `count` that begins with `first`.
fn within(register: Register, first: Register, count: usize) -> Option<usize> {
    (register as usize).checked_sub(first as usize).filter(|&number| number < count)
}
