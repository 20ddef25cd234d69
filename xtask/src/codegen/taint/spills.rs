//! Which places of a frame the compiler keeps to itself.
//!
//! A store at an index into an array on the stack may go to any place of the array. The function being safe
//! Rust, it goes nowhere else; but machine code does not say where arrays begin and end. Taken for the
//! compiler's own are eight bytes that are always accessed directly and whole, below every place of the frame
//! whose address is taken, or that is indexed in a store. An element of an array could pass for that only if
//! the array is indexed from further up alone, downwards, and the element is read directly as well.

use super::mnemonic::Kind;
use super::operand::{Operand, RSP};
use super::step::Decoded;
use crate::codegen::assembly::Instruction;

/// Those places, by their distance from the stack pointer when the frame is complete.
pub fn find(body: &[Instruction], decoded: &[Decoded]) -> Vec<i64> {
    let (mut direct, mut lowest_address) = (Vec::new(), i64::MAX);
    for (at, (instruction, this)) in body.iter().zip(decoded).enumerate() {
        // The stack pointer itself as an address.
        if this.operands.all.split_last().is_some_and(|(_, from)| from.contains(&Operand::General(RSP, 8))) {
            lowest_address = lowest_address.min(0);
        }
        for operand in &this.operands.all {
            let Operand::Memory(address) = operand else { continue };
            // Where an array is only read makes no difference.
            let reads = this.operands.all.last() != Some(operand);
            let indexed = address.index.is_some() || this.kind == Kind::Lea;
            if address.base != Some(RSP) || instruction.operands.ends_with(", %rsp") {
                continue;
            }
            if indexed && reads && this.kind != Kind::Lea {
                continue;
            }
            if indexed {
                let further =
                    this.operands.all.last().and_then(|register| added(decoded.get(at + 1), register));
                lowest_address = lowest_address.min(address.displacement + further.unwrap_or(0));
            } else {
                // Of unknown length: up to a vector.
                direct.push((address.displacement, this.bytes().unwrap_or(64)));
            }
        }
    }
    let alone = |&(at, bytes): &(i64, i64)| {
        let apart = |&(other, length): &(i64, i64)| {
            (other, length) == (at, bytes) || other + length <= at || at + 8 <= other
        };
        bytes == 8 && at + 8 <= lowest_address && direct.iter().all(apart)
    };
    let mut spills: Vec<i64> = direct.iter().filter(|access| alone(access)).map(|&(at, _)| at).collect();
    spills.sort_unstable();
    spills.dedup();
    spills
}

/// What an instruction adds to a register that was just given an address: `leaq (%rsp,%rax), %r11` and
/// `addq $16, %r11` make one address in two steps.
fn added(next: Option<&Decoded>, register: &Operand) -> Option<i64> {
    let next = next?;
    match (next.kind, &next.operands.all[..]) {
        (Kind::Add(1, _), [Operand::Immediate(Some(number)), to]) if to == register => Some(*number),
        _ => None,
    }
}
