//! The proofs fail where the code is wrong: every instruction is changed in several ways, one at a time.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use iced_x86::{Code as Opcode, Instruction, Mnemonic, OpKind, Register};
use zariz_proof::claims::{bls12_381, link, rows, scalar, steps};
use zariz_proof::code::Code;
use zariz_proof::{own_code, prove};

const GENERAL: [Register; 16] = {
    use Register::*;
    [RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15]
};

/// Another carry chain; with a carry, or without one.
const OTHER: &str = "another operation";
const BESIDE: &str = "the limb beside it";
const REGISTER: &str = "another register";

/// The functions in this test's own file.
fn code() -> Code {
    link::link();
    own_code().expect("tests have a symbol table")
}

/// An instruction that does nothing, in the place of another.
fn dropped(at: &Instruction) -> Instruction {
    let mut nop = Instruction::default();
    nop.set_code(Opcode::Nopd);
    nop.set_len(at.len());
    nop.set_ip(at.ip());
    nop
}

/// Wrong versions of an instruction: left out; the other carry chain; the neighbouring limb; without the
/// carry, or with one.
fn few(at: &Instruction) -> Vec<(&'static str, Instruction)> {
    let mut mutants = vec![("dropped", dropped(at))];
    let opcode = match at.code() {
        Opcode::Adcx_r64_rm64 => Some(Opcode::Adox_r64_rm64),
        Opcode::Adox_r64_rm64 => Some(Opcode::Adcx_r64_rm64),
        Opcode::Adc_r64_rm64 => Some(Opcode::Add_r64_rm64),
        Opcode::Add_r64_rm64 => Some(Opcode::Adc_r64_rm64),
        Opcode::Sbb_r64_rm64 => Some(Opcode::Sub_r64_rm64),
        Opcode::Sub_r64_rm64 => Some(Opcode::Sbb_r64_rm64),
        Opcode::Cmovb_r64_rm64 => Some(Opcode::Cmovae_r64_rm64),
        Opcode::Cmovae_r64_rm64 => Some(Opcode::Cmovb_r64_rm64),
        _ => None,
    };
    if let Some(opcode) = opcode {
        let mut mutant = *at;
        mutant.set_code(opcode);
        mutants.push((OTHER, mutant));
    }
    if (0..at.op_count()).any(|operand| at.op_kind(operand) == OpKind::Memory) {
        for by in [8_u64, 8_u64.wrapping_neg()] {
            let mut mutant = *at;
            mutant.set_memory_displacement64(at.memory_displacement64().wrapping_add(by));
            mutants.push((BESIDE, mutant));
        }
    }
    mutants
}

/// Also every other register in the place of each.
fn many(at: &Instruction) -> Vec<(&'static str, Instruction)> {
    let mut mutants = few(at);
    for operand in 0..at.op_count() {
        if at.op_kind(operand) == OpKind::Register && GENERAL.contains(&at.op_register(operand)) {
            for register in GENERAL.into_iter().filter(|register| *register != at.op_register(operand)) {
                let mut mutant = *at;
                mutant.set_op_register(operand, register);
                mutants.push((REGISTER, mutant));
            }
        }
    }
    mutants
}

/// A mutant that is proved: the number of its instruction in the code, its mnemonic, what was changed.
type Survivor = (usize, Mnemonic, &'static str);

type Mutants = fn(&Instruction) -> Vec<(&'static str, Instruction)>;

/// Changes the instructions from `begin` to `end`; the number of mutants, and those that are proved all the
/// same.
fn survivors(
    code: &Code,
    (begin, end): (u64, u64),
    mutants: Mutants,
    proved: impl Fn(&Code) -> bool,
) -> (usize, Vec<Survivor>) {
    assert!(proved(code), "the code itself is not proved");
    let (mut count, mut survivors, mut mutated) = (0, Vec::new(), code.clone());
    for (index, (address, instruction)) in code.instructions.range(begin..end).enumerate() {
        for (what, mutant) in mutants(instruction) {
            count += 1;
            mutated.instructions.insert(*address, mutant);
            if proved(&mutated) {
                survivors.push((index, instruction.mnemonic(), what));
            }
        }
        mutated.instructions.insert(*address, *instruction);
    }
    (count, survivors)
}

#[test]
fn every_change_of_a_row_is_found() {
    let code = code();
    let beginnings = rows::beginnings(&code).expect("rows");
    for row in [0, 3] {
        let range = (beginnings[row], beginnings[row + 1]);
        let proved = |code: &Code| prove(code, |machine| rows::one_row(machine, code, row)).is_ok();
        let (count, left) = survivors(&code, range, many, proved);
        println!("row {row}: {count} mutants, {} proved all the same: {left:?}", left.len());
        assert!(count > 800, "{count}");
        assert_eq!(left, []);
    }
}

/// Mutants of squares that compute the same. In the first triangle row all accumulators are 0, so nothing is
/// carried; behind a row both flags are clear; the first carry of a row reaches the next limb by either
/// chain; the lowest limb of a triangle is 0.
const SQUARE: &[Survivor] = &[
    (38, Mnemonic::Xor, "dropped"),
    (41, Mnemonic::Adcx, OTHER),
    (42, Mnemonic::Adox, OTHER),
    (44, Mnemonic::Adcx, OTHER),
    (45, Mnemonic::Adox, OTHER),
    (48, Mnemonic::Adox, OTHER),
    (51, Mnemonic::Adox, OTHER),
    (54, Mnemonic::Adox, OTHER),
    (57, Mnemonic::Adox, OTHER),
    (60, Mnemonic::Adox, "dropped"),
    (60, Mnemonic::Adox, OTHER),
    (63, Mnemonic::Xor, "dropped"),
    (66, Mnemonic::Adcx, OTHER),
    (88, Mnemonic::Adcx, OTHER),
    (107, Mnemonic::Adcx, OTHER),
    (123, Mnemonic::Adcx, OTHER),
    (136, Mnemonic::Adcx, OTHER),
    (146, Mnemonic::Adcx, OTHER),
    (147, Mnemonic::Adox, "dropped"),
    (147, Mnemonic::Adox, OTHER),
    (152, Mnemonic::Adcx, OTHER),
    (153, Mnemonic::Mov, "dropped"),
    (291, Mnemonic::Mov, "dropped"),
    (291, Mnemonic::Mov, BESIDE),
    (291, Mnemonic::Mov, BESIDE),
];

/// Mutants of reductions that compute the same. In the first quotient row all accumulators are 0, so a high
/// half with a carry carries nothing, and both flags are clear before and behind the row; the first carry of
/// a row reaches the next limb by either chain; the limb that a quotient row makes 0 is written over by the
/// quotient.
const REDUCTION: &[Survivor] = &[
    (26, Mnemonic::Xor, "dropped"),
    (27, Mnemonic::Adox, OTHER),
    (31, Mnemonic::Adcx, OTHER),
    (32, Mnemonic::Adox, OTHER),
    (35, Mnemonic::Adox, OTHER),
    (38, Mnemonic::Adox, OTHER),
    (41, Mnemonic::Adox, OTHER),
    (44, Mnemonic::Adox, OTHER),
    (47, Mnemonic::Adox, OTHER),
    (50, Mnemonic::Adox, OTHER),
    (51, Mnemonic::Mov, "dropped"),
    (54, Mnemonic::Adox, "dropped"),
    (54, Mnemonic::Adox, OTHER),
    (57, Mnemonic::Xor, "dropped"),
    (82, Mnemonic::Mov, "dropped"),
    (113, Mnemonic::Mov, "dropped"),
    (144, Mnemonic::Mov, "dropped"),
    (175, Mnemonic::Mov, "dropped"),
    (206, Mnemonic::Mov, "dropped"),
    (237, Mnemonic::Mov, "dropped"),
    (268, Mnemonic::Mov, "dropped"),
];

#[test]
#[ignore = "takes a minute: cargo xtask test proof runs it"]
fn changes_of_products_squares_and_reductions_are_found() {
    let code = code();
    let expected: [&[Survivor]; 3] = [&[], SQUARE, REDUCTION];
    // Rows by a second block need 16 limbs.
    for ((function, operation), expected) in scalar::CLAIMS.into_iter().zip(expected) {
        let range = code.function(function).expect("linked");
        let proved = |code: &Code| prove(code, |machine| operation.claim(machine, range.0, 16)).is_ok();
        let (count, left) = survivors(&code, range, few, proved);
        println!("{function}: {count} mutants, {} proved all the same", left.len());
        assert_eq!(left, expected);
    }
}

/// The mutant of steps that computes the same: rows of the reduction begin with an even number of limbs, which
/// do not read the register that is cleared.
const QUOTIENT_ROW: &[Survivor] = &[(5, Mnemonic::Xor, "dropped")];

#[test]
#[ignore = "takes minutes: cargo xtask test proof runs it"]
fn changes_of_steps_are_found() {
    let code = code();
    for function in steps::FUNCTIONS {
        // A square has all steps. Of 36 limbs, first parts that are not the last have each number of limbs,
        // and one part is between two.
        let n = if function.ends_with("::part") { 36 } else { 20 };
        let [_, list] = steps::List::both(&code, n).expect("linked");
        let range = code.function(function).expect("linked");
        let proved = |code: &Code| prove(code, |machine| list.claim(machine, code)).is_ok();
        let (count, left) = survivors(&code, range, few, proved);
        println!("{function}: {count} mutants, {} proved all the same: {left:?}", left.len());
        let expected = if function.ends_with("::quotient_row") { QUOTIENT_ROW } else { &[] };
        assert_eq!(left, expected, "{function}");
    }
}

#[test]
fn changes_of_the_field_are_found() {
    let code = code();
    for (operation, function, _) in bls12_381::OPERATIONS {
        let range = code.function(function).expect("linked");
        let same = bls12_381::Same::Nothing;
        let proved =
            |code: &Code| prove(code, |m| bls12_381::claim(m, code, (operation, function), same)).is_ok();
        let (count, left) = survivors(&code, range, few, proved);
        println!("{function}: {count} mutants, {} proved all the same", left.len());
        // Behind each row both flags are clear, and the first carry of a row reaches the next limb by either
        // chain; no carry leaves the highest limb, which has three spare bits.
        let expected = match operation {
            bls12_381::Operation::Add => 1,
            bls12_381::Operation::Sub => 0,
            bls12_381::Operation::Mul => 22,
            bls12_381::Operation::Sqr => 17,
        };
        let flags = |left: &&Survivor| left.2 == OTHER || matches!(left.1, Mnemonic::Xor | Mnemonic::Adox);
        assert_eq!((left.len(), left.iter().filter(flags).count()), (expected, expected), "{left:?}");
    }
}
