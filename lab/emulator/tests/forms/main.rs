//! Every form of VPMADD52 that can be encoded, and runs of them with other instructions between: all
//! registers, masks, flags and memory afterwards are as a plain model says, and as the processor itself leaves
//! them where it has the instructions.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod cases;
mod run;

use cases::{CODES, GENERAL, Random, codes, difference, encode, memory, model, under_mask, vector, words};
use iced_x86::{Code, IcedError, Instruction, MemoryOperand, Register};
use run::{Region, State, native_forms, segment_bases};
use std::sync::{Mutex, MutexGuard};
use zariz_emulator::{Form, Mode};

/// The runner's statics and the segment base of GS are for one test at a time.
static ONE: Mutex<()> = Mutex::new(());

/// Where a form is emulated, here and now.
fn start(form: Form) -> Option<MutexGuard<'static, ()>> {
    let guard = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let vectors = match form {
        Form::Evex => zariz_machines::has_avx512dq(),
        Form::Vex => zariz_machines::has_avx2(),
    };
    match zariz_emulator::emulate().of(form) {
        Mode::Emulated => Some(guard),
        mode => {
            assert!(!vectors, "no emulation, though the processor allows it: {mode:?}");
            eprintln!("skipped: {mode:?}");
            None
        }
    }
}

#[test]
fn every_form_with_every_kind_of_operand() {
    let Some(_guard) = start(Form::Vex) else { return };
    let (mut random, mut region) = (Random(1), Region::new());
    let (bases, native) = (segment_bases(), native_forms());
    let codes = codes();
    assert_eq!(codes.len(), if zariz_machines::has_avx512dq() { CODES.len() } else { 4 });
    let mut compared = 0;
    for round in 0..20_000 {
        let (code, high, lanes, evex) = codes[round % codes.len()];
        let mut state = random.state(&region);
        let data = random.fill(&mut region);
        let registers = if evex { 32 } else { 16 };
        let [to, a, b] = [0; 3].map(|_| random.below(registers));
        let mask = if evex { random.below(8) } else { 0 };
        let zeroing = mask > 0 && random.below(2) == 0;
        // Now and then on a page boundary, and ending there.
        let at = if random.below(4) == 0 { 4096 - random.below(16) } else { random.below(8000) };

        let mut what = "register".into();
        let (mut instructions, operand);
        match random.below(3) {
            0 => {
                operand = state.vectors[b].to_vec();
                let registers = [to, a, b].map(|number| vector(lanes, number));
                let [to, a, b] = registers;
                instructions = Instruction::with3(code, to, a, b).expect("a form");
            }
            kind => {
                let broadcast = kind == 2 && evex;
                let size = if broadcast { 8 } else { 8 * lanes };
                let offset = match random.below(3) {
                    0 => Region::DATA_LEN - size, // up to the page that is not there
                    1 => 64 * random.below(Region::DATA_LEN / 64),
                    _ => random.below(Region::DATA_LEN - size + 1),
                };
                let target = region.address(Region::DATA + offset);
                let mut memory = memory(&mut random, &mut state, target, bases, &mut what);
                memory.is_broadcast = broadcast;
                operand = if broadcast {
                    vec![words(&data[offset..offset + 8])[0]; lanes]
                } else {
                    words(&data[offset..offset + size])
                };
                let [to, a] = [to, a].map(|number| vector(lanes, number));
                instructions = Instruction::with3(code, to, a, memory).expect("a form");
                what = format!("{what}, broadcast {broadcast}");
            }
        }
        if mask > 0 {
            instructions.set_op_mask(Register::K0 + mask as u32);
            instructions.set_zeroing_masking(zeroing);
        }
        let lanes_wanted = if mask > 0 { state.masks[mask] } else { u64::MAX };
        let mut expected = state.clone();
        expected.vectors[to] =
            model(state.vectors[to], state.vectors[a], &operand, high, lanes, lanes_wanted, zeroing);

        let what =
            format!("round {round}, {code:?}, {what}, to {to}, a {a}, b {b}, mask {mask}, zeroing {zeroing}");
        let bytes = encode(&instructions, region.address(Region::CODE[0] + at));
        let before = zariz_emulator::statistics();
        let found = region.run(Region::CODE[0] + at, &bytes, true, &state);
        assert!(found == expected, "{what}: {bytes:02x?}\n{}", difference(&expected, &found));
        let after = zariz_emulator::statistics();
        assert_eq!(after.multiplications - before.multiplications, 1, "{what}");
        if if evex { native.0 } else { native.1 } {
            let bytes = encode(&instructions, region.address(Region::CODE[1] + at));
            let found = region.run(Region::CODE[1] + at, &bytes, false, &state);
            assert!(found == expected, "natively, {what}: {bytes:02x?}\n{}", difference(&expected, &found));
            compared += 1;
        }
        assert_eq!(region.bytes(Region::DATA, Region::DATA_LEN), data, "{what}: memory has changed");
    }
    eprintln!("{compared} of 20000 compared with the processor; EVEX, VEX: {native:?}");
}

/// Lanes outside of the mask may lie in a page that is not there.
#[test]
fn masked_lanes_are_not_read() {
    let Some(_guard) = start(Form::Evex) else { return };
    let (mut random, mut region) = (Random(2), Region::new());
    for round in 0..2000 {
        let (code, high, lanes, _) = CODES[round % 6];
        let mut state = random.state(&region);
        let data = random.fill(&mut region);
        let inside = random.below(lanes); // so many lanes are in the page
        state.masks[3] &= (1 << inside) - 1;
        let offset = Region::DATA_LEN - 8 * inside;
        state.general[0] = region.address(Region::DATA + offset);
        let mut instruction = Instruction::with3(
            code,
            vector(lanes, 1),
            vector(lanes, 30),
            MemoryOperand::with_base(Register::RAX),
        )
        .expect("a form");
        instruction.set_op_mask(Register::K3);
        let mut expected = state.clone();
        let mut operand = words(&data[offset..]);
        operand.resize(lanes, 0);
        expected.vectors[1] =
            model(state.vectors[1], state.vectors[30], &operand, high, lanes, state.masks[3], false);
        let at = Region::CODE[0];
        let bytes = encode(&instruction, region.address(at));
        let found = region.run(at, &bytes, true, &state);
        assert!(
            found == expected,
            "round {round}, {code:?}, {inside} lanes: {}",
            difference(&expected, &found)
        );
    }
}

/// Straight code of multiplications and other instructions, much of it done in one trap.
#[test]
fn runs_with_others_between() {
    runs(&WIDE);
}

/// The same with the VEX forms, in 256 bits.
#[test]
fn narrow_runs_with_others_between() {
    runs(&NARROW);
}

/// An instruction, and what it makes of two words.
type Lanewise = (Code, fn(u64, u64) -> u64);

/// The instructions of runs in one form.
struct Set {
    form: Form,
    lanes: usize,
    registers: usize,
    /// Into a register, from memory aligned to 64 bytes or from a register; the same from any memory.
    loads: [Code; 2],
    loads_unaligned: [Code; 2],
    stores: [Code; 2],
    stores_unaligned: [Code; 2],
    /// Addition, subtraction, AND and XOR of registers, and a shift by a constant.
    lanewise: [Lanewise; 4],
    shift: Code,
    /// An instruction that the handler does not support.
    or: Code,
    multiply: [(Code, bool); 2],
}

const WIDE: Set = Set {
    form: Form::Evex,
    lanes: 8,
    registers: 32,
    loads: [Code::EVEX_Vmovdqa64_zmm_k1z_zmmm512, Code::EVEX_Vmovaps_zmm_k1z_zmmm512],
    loads_unaligned: [Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512, Code::EVEX_Vmovups_zmm_k1z_zmmm512],
    stores: [Code::EVEX_Vmovdqa64_zmmm512_k1z_zmm, Code::EVEX_Vmovaps_zmmm512_k1z_zmm],
    stores_unaligned: [Code::EVEX_Vmovdqu64_zmmm512_k1z_zmm, Code::EVEX_Vmovups_zmmm512_k1z_zmm],
    lanewise: [
        (Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64, u64::wrapping_add),
        (Code::EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64, u64::wrapping_sub),
        (Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64, |a, b| a & b),
        (Code::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64, |a, b| a ^ b),
    ],
    shift: Code::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8,
    or: Code::EVEX_Vporq_zmm_k1z_zmm_zmmm512b64,
    multiply: [
        (Code::EVEX_Vpmadd52luq_zmm_k1z_zmm_zmmm512b64, false),
        (Code::EVEX_Vpmadd52huq_zmm_k1z_zmm_zmmm512b64, true),
    ],
};

const NARROW: Set = Set {
    form: Form::Vex,
    lanes: 4,
    registers: 16,
    loads: [Code::VEX_Vmovdqa_ymm_ymmm256, Code::VEX_Vmovaps_ymm_ymmm256],
    loads_unaligned: [Code::VEX_Vmovdqu_ymm_ymmm256, Code::VEX_Vmovups_ymm_ymmm256],
    stores: [Code::VEX_Vmovdqa_ymmm256_ymm, Code::VEX_Vmovaps_ymmm256_ymm],
    stores_unaligned: [Code::VEX_Vmovdqu_ymmm256_ymm, Code::VEX_Vmovups_ymmm256_ymm],
    lanewise: [
        (Code::VEX_Vpaddq_ymm_ymm_ymmm256, u64::wrapping_add),
        (Code::VEX_Vpsubq_ymm_ymm_ymmm256, u64::wrapping_sub),
        (Code::VEX_Vpand_ymm_ymm_ymmm256, |a, b| a & b),
        (Code::VEX_Vpxor_ymm_ymm_ymmm256, |a, b| a ^ b),
    ],
    shift: Code::VEX_Vpsrlq_ymm_ymm_imm8,
    or: Code::VEX_Vpor_ymm_ymm_ymmm256,
    multiply: [(Code::VEX_Vpmadd52luq_ymm_ymm_ymmm256, false), (Code::VEX_Vpmadd52huq_ymm_ymm_ymmm256, true)],
};

/// The instruction, which makes `new` of register `to`; now and then under a mask, where there are masks.
fn masked(
    random: &mut Random,
    set: &Set,
    expected: &mut State,
    to: usize,
    new: [u64; 8],
    instruction: Result<Instruction, IcedError>,
) -> Result<Instruction, IcedError> {
    let (old, mut instruction) = (expected.vectors[to], instruction?);
    let (mask, zeroing) = (random.below(8), random.below(2) == 0);
    expected.vectors[to] = new;
    if set.form == Form::Evex && mask > 0 {
        instruction.set_op_mask(Register::K0 + mask as u32);
        instruction.set_zeroing_masking(zeroing);
        let mask = expected.masks[mask];
        expected.vectors[to] = std::array::from_fn(|i| under_mask(mask, i, old[i], new[i], zeroing));
    }
    Ok(instruction)
}

fn runs(set: &Set) {
    let Some(_guard) = start(set.form) else { return };
    let (mut random, mut region) = (Random(3), Region::new());
    let lanes = set.lanes;
    let native = if set.form == Form::Evex { native_forms().0 } else { native_forms().1 };
    // What an instruction of so many lanes leaves in a register.
    let whole = |mut vector: [u64; 8]| {
        vector[lanes..].fill(0);
        vector
    };
    let before = zariz_emulator::statistics();
    for round in 0..4000 {
        let mut state = random.state(&region);
        let data = random.fill(&mut region);
        // rbx, rsi, r12 and r13 point to data and stay; rax, rcx, r8 and r9 are moved about.
        const POINTERS: [usize; 4] = [3, 6, 12, 13];
        const MOVED: [usize; 4] = [0, 1, 8, 9];
        for pointer in POINTERS {
            state.general[pointer] = region.address(Region::DATA + 1024 + 64 * random.below(64));
        }
        let (mut expected, mut memory) = (state.clone(), data.clone());
        let data_address = region.address(Region::DATA);
        // Anything after a page boundary is a new trap.
        let at = if random.below(4) == 0 { 4096 - random.below(60) } else { random.below(8000) };
        let mut code = Vec::new();
        for _ in 0..1 + random.below(12) {
            let [to, from] = [0; 2].map(|_| random.below(set.registers));
            let pointer = POINTERS[random.below(4)];
            let word = MOVED[random.below(4)];
            let aligned = random.below(2) == 0;
            let displacement =
                if aligned { 64 * random.below(4) as i64 - 64 } else { random.below(200) as i64 - 100 };
            let place = MemoryOperand::with_base_displ(GENERAL[pointer], displacement);
            let offset = (expected.general[pointer] - data_address) as usize;
            let offset = offset.wrapping_add_signed(displacement as isize);
            let [to_register, from_register] = [to, from].map(|number| vector(lanes, number));
            let in_memory: [u64; 8] =
                whole(words(&memory[offset..offset + 64]).try_into().expect("eight words"));
            let instruction = match random.below(18) {
                0 => {
                    expected.vectors[to] = whole(expected.vectors[from]);
                    let code = [set.loads[0], set.loads_unaligned[1]];
                    Instruction::with2(code[random.below(2)], to_register, from_register)
                }
                1 => {
                    // The instruction with its operands in the other order of the encoding.
                    expected.vectors[to] = whole(expected.vectors[from]);
                    let code = [set.stores_unaligned[0], set.stores[1]];
                    Instruction::with2(code[random.below(2)], to_register, from_register)
                }
                2 | 3 => {
                    expected.vectors[to] = in_memory;
                    let code = if aligned { set.loads } else { set.loads_unaligned };
                    Instruction::with2(code[random.below(2)], to_register, place)
                }
                4 | 5 => {
                    for (word, bytes) in
                        expected.vectors[from][..lanes].iter().zip(memory[offset..].chunks_mut(8))
                    {
                        bytes.copy_from_slice(&word.to_le_bytes());
                    }
                    let code = if aligned { set.stores } else { set.stores_unaligned };
                    Instruction::with2(code[random.below(2)], place, from_register)
                }
                6 => {
                    let other = MOVED[random.below(4)];
                    expected.general[word] = expected.general[other];
                    let code = [Code::Mov_r64_rm64, Code::Mov_rm64_r64][random.below(2)];
                    Instruction::with2(code, GENERAL[word], GENERAL[other])
                }
                7 => {
                    expected.general[word] = in_memory[0];
                    Instruction::with2(Code::Mov_r64_rm64, GENERAL[word], place)
                }
                8 => {
                    memory[offset..offset + 8].copy_from_slice(&expected.general[word].to_le_bytes());
                    Instruction::with2(Code::Mov_rm64_r64, place, GENERAL[word])
                }
                // An instruction that the handler does not support: the run ends, and the processor executes
                // it.
                9 => {
                    let (a, b) = (expected.vectors[to], expected.vectors[from]);
                    expected.vectors[to] = whole(std::array::from_fn(|i| a[i] | b[i]));
                    Instruction::with3(set.or, to_register, to_register, from_register)
                }
                10 | 11 => {
                    let (code, function) = set.lanewise[random.below(4)];
                    let a = random.below(set.registers);
                    let words = expected.vectors[a];
                    let a = vector(lanes, a);
                    // One word for all lanes, where there is such a form.
                    let broadcast = set.form == Form::Evex && random.below(2) == 0;
                    let (b, instruction) = if random.below(3) == 0 {
                        let instruction = Instruction::with3(code, to_register, a, from_register);
                        (expected.vectors[from], instruction)
                    } else {
                        let place = MemoryOperand { is_broadcast: broadcast, ..place };
                        let b = if broadcast { [in_memory[0]; 8] } else { in_memory };
                        (b, Instruction::with3(code, to_register, a, place))
                    };
                    let new = whole(std::array::from_fn(|i| function(words[i], b[i])));
                    masked(&mut random, set, &mut expected, to, new, instruction)
                }
                12 => {
                    let bits = [0, 1, 51, 52, 63, 64, 255][random.below(7)];
                    // From memory, it is left to the processor.
                    let (number, instruction) = if set.form == Form::Evex && random.below(4) == 0 {
                        (in_memory, Instruction::with3(set.shift, to_register, place, bits))
                    } else {
                        let shift = Instruction::with3(set.shift, to_register, from_register, bits);
                        (expected.vectors[from], shift)
                    };
                    let new = whole(number.map(|word| word.checked_shr(bits).unwrap_or(0)));
                    masked(&mut random, set, &mut expected, to, new, instruction)
                }
                // The usual way to make zeros.
                13 => {
                    let to = to % 16;
                    expected.vectors[to] = [0; 8];
                    let low = vector(2, to);
                    Instruction::with3(Code::VEX_Vpxor_xmm_xmm_xmmm128, low, low, low)
                }
                _ => {
                    let (code, high) = set.multiply[random.below(2)];
                    let a = random.below(set.registers);
                    expected.vectors[to] = model(
                        expected.vectors[to],
                        expected.vectors[a],
                        &in_memory,
                        high,
                        lanes,
                        u64::MAX,
                        false,
                    );
                    Instruction::with3(code, to_register, vector(lanes, a), place)
                }
            };
            code.push(instruction.expect("a form"));
        }
        let assemble = |start: u64| {
            code.iter().fold(Vec::new(), |mut bytes, instruction| {
                bytes.extend(encode(instruction, start + bytes.len() as u64));
                bytes
            })
        };
        for (place, trap) in [(Region::CODE[0] + at, true), (Region::CODE[1] + at, false)] {
            if !trap && !native {
                continue;
            }
            let bytes = assemble(region.address(place));
            region.bytes(Region::DATA, Region::DATA_LEN).copy_from_slice(&data);
            let found = region.run(place, &bytes, trap, &state);
            let what = format!("round {round}, trapped {trap}");
            assert!(found == expected, "{what}: {bytes:02x?}\n{}", difference(&expected, &found));
            assert!(
                region.bytes(Region::DATA, Region::DATA_LEN) == memory,
                "{what}: memory differs: {bytes:02x?}"
            );
        }
    }
    let after = zariz_emulator::statistics();
    let (traps, others) = (after.traps - before.traps, after.others - before.others);
    assert!(others > 0 && traps < after.multiplications - before.multiplications, "{before:?} {after:?}");
}
