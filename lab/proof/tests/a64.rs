//! The proofs of the assembly for 64-bit Arm fail where the code is wrong. They need a program for Arm with a
//! symbol table, whose path is in `ZARIZ_ARM_PROGRAM`.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::path::PathBuf;

use zariz_proof::a64::code::{Code, Instruction};
use zariz_proof::a64::machine::Machine;
use zariz_proof::claims::a64::{CLAIMS, PREFIXES};
use zariz_proof::program::Program;
use zariz_proof::prove_on;

/// Wrong versions of an instruction: left out; the neighbouring limb; the other half; without the carry, with
/// one, or without leaving one; another register.
fn mutants(instruction: Instruction) -> Vec<(&'static str, Instruction)> {
    use Instruction as I;
    // Moves zero to zero.
    let mut mutants = vec![("dropped", I::Move { d: 31, m: 31 })];
    let mut add = |what, mutant| mutants.push((what, mutant));
    match instruction {
        I::Multiply { high, d, n, m } => {
            add("half", I::Multiply { high: !high, d, n, m });
            add("register", I::Multiply { high, d, n: n ^ 1, m });
        }
        I::Sum { subtracts, carries, flags, d, n, m } => {
            add("carry", I::Sum { subtracts, carries: !carries, flags, d, n, m });
            if flags {
                add("flags", I::Sum { subtracts, carries, flags: false, d, n, m });
            }
            add("register", I::Sum { subtracts, carries, flags, d, n, m: m ^ 1 });
            add("opposite", I::Sum { subtracts: !subtracts, carries, flags, d, n, m });
        }
        I::Load { t, second, n, offset } => {
            add("beside", I::Load { t, second, n, offset: offset + 8 });
            add("beside", I::Load { t, second, n, offset: offset - 8 });
        }
        I::Store { t, second, n, offset } => {
            add("beside", I::Store { t, second, n, offset: offset + 8 });
            add("beside", I::Store { t, second, n, offset: offset - 8 });
        }
        _ => {}
    }
    mutants
}

/// Mutants of squares that compute the same, by the number of their instruction. The lowest limb of a block's
/// triangle is as it was; the carry of doubling is 0 at the end, where it is wiped.
const SQUARE: &[(u64, &str)] = &[(42, "dropped"), (42, "beside"), (216, "beside")];

#[test]
#[ignore = "needs a program for Arm: cargo xtask test arm runs it"]
fn changes_are_found() {
    let path = PathBuf::from(std::env::var_os("ZARIZ_ARM_PROGRAM").expect("ZARIZ_ARM_PROGRAM is not set"));
    let code = Code::decode(Program::read(&path, PREFIXES).expect("a program for Arm"));
    // Rows by a second block need 16 limbs.
    let expected: [&[(u64, &str)]; 3] = [&[], SQUARE, &[]];
    let mut found = Vec::new();
    for (function, operation) in CLAIMS {
        let proved = |code: &Code| {
            let address = code.function(function).expect("linked").0;
            prove_on(|cases| Machine::new(code, cases), |m| operation.claim(m, address, 16)).is_ok()
        };
        assert!(proved(&code), "{function}: the code itself is not proved");
        let (begin, end) = code.function(function).expect("linked");
        let (mut count, mut survivors, mut mutated) = (0, Vec::new(), code.clone());
        for (address, instruction) in code.instructions.range(begin..end) {
            for (what, mutant) in mutants(instruction.expect("known")) {
                count += 1;
                mutated.instructions.insert(*address, Some(mutant));
                if proved(&mutated) {
                    survivors.push(((address - begin) / 4, what));
                    println!("{} {what}: {instruction:?}", (address - begin) / 4);
                }
            }
            mutated.instructions.insert(*address, *instruction);
        }
        println!("{function}: {count} mutants, {} proved all the same", survivors.len());
        found.push(survivors);
    }
    assert_eq!(found, expected);
}
