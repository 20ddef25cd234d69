//! Executes an operation on the saved state and on memory.

use std::ptr;

use crate::frame::Frame;
use crate::model::multiply_add;
use crate::operation::{Function, Lanewise, Operation, Place};

/// Carries the operation out; `false`, and nothing done, if the processor would raise a fault for
/// misalignment.
///
/// # Safety
/// The interrupted thread must be about to execute the operation: its memory operands are read and written in
/// place of that thread. An address that the thread may not access faults here as it would there.
pub unsafe fn execute(operation: &Operation, frame: &mut Frame) -> bool {
    match *operation {
        Operation::Lanewise(lanewise) => {
            // SAFETY: the caller's promise.
            let value = unsafe { result(&lanewise, frame) };
            frame.set_vector(lanewise.to, value);
        }
        Operation::Load { to, from, lanes, align } => {
            let value = match from {
                Place::Register(from) => frame.vector(from),
                Place::Memory(from) if from % align != 0 => return false,
                // SAFETY: the caller's promise.
                Place::Memory(from) if lanes == 8 => unsafe { read(from) },
                // SAFETY: the same; four lanes are read by this instruction.
                Place::Memory(from) => widened(unsafe { read(from) }),
            };
            frame.set_vector(
                to,
                if lanes == 8 { value } else { widened([value[0], value[1], value[2], value[3]]) },
            );
        }
        Operation::Store { to, align, .. } if to % align != 0 => return false,
        // SAFETY: the caller's promise.
        Operation::Store { to, from, lanes: 8, .. } => unsafe { write(to, frame.vector(from)) },
        Operation::Store { to, from, .. } => {
            let [a, b, c, d, ..] = frame.vector(from);
            // SAFETY: the same; four lanes are written by this instruction.
            unsafe { write(to, [a, b, c, d]) }
        }
        Operation::LoadWord { to, from } => {
            let value = match from {
                Place::Register(from) => frame.general(from as libc::c_int),
                // SAFETY: the caller's promise.
                Place::Memory(from) => unsafe { read(from) },
            };
            frame.set_general(to, value);
        }
        // SAFETY: the caller's promise.
        Operation::StoreWord { to, from } => unsafe { write(to, frame.general(from)) },
    }
    true
}

/// Four lanes, and zeros above.
fn widened([a, b, c, d]: [u64; 4]) -> [u64; 8] {
    [a, b, c, d, 0, 0, 0, 0]
}

/// # Safety
/// As for [`execute`].
unsafe fn result(lanewise: &Lanewise, frame: &Frame) -> [u64; 8] {
    let &Lanewise { function, lanes, to, a, b, broadcast, mask, zeroing } = lanewise;
    let (old, a) = (frame.vector(to), frame.vector(a));
    let mask = mask.map_or(u64::MAX, |mask| frame.mask(mask));
    let all = (1 << lanes) - 1;
    let b = match b {
        Place::Register(b) => frame.vector(b),
        // Lanes that the mask leaves out are not read: they may lie in a page that is not there.
        Place::Memory(_) if mask & all == 0 => [0; 8],
        // SAFETY: the caller's promise.
        Place::Memory(address) if broadcast => [unsafe { read(address) }; 8],
        // SAFETY: the same; 64 bytes are read by this instruction.
        Place::Memory(address) if mask & all == 0xff => unsafe { read(address) },
        // SAFETY: the same; 32 bytes are read by this instruction.
        Place::Memory(address) if mask & all == 0xf && lanes == 4 => widened(unsafe { read(address) }),
        Place::Memory(address) => std::array::from_fn(|lane| {
            let wanted = mask & all & 1 << lane != 0;
            // SAFETY: the same; the instruction reads the words of its lanes.
            if wanted { unsafe { read(address.wrapping_add(8 * lane as u64)) } } else { 0 }
        }),
    };
    std::array::from_fn(|lane| match (lane < lanes, mask >> lane & 1 != 0) {
        (false, _) => 0,
        (true, true) => word(function, old[lane], a[lane], b[lane]),
        (true, false) if zeroing => 0,
        (true, false) => old[lane],
    })
}

fn word(function: Function, old: u64, a: u64, b: u64) -> u64 {
    match function {
        Function::Multiply(half) => multiply_add(half, old, a, b),
        Function::Add => a.wrapping_add(b),
        Function::Subtract => a.wrapping_sub(b),
        Function::And => a & b,
        Function::Xor => a ^ b,
        Function::ShiftRight(bits) => a.checked_shr(bits.into()).unwrap_or(0),
    }
}

/// # Safety
/// The bytes at the address must be readable.
unsafe fn read<T: Copy>(address: u64) -> T {
    // SAFETY: the caller's promise; types read here are integers and arrays of them, valid for any bytes.
    unsafe { ptr::read_unaligned(ptr::with_exposed_provenance(address as usize)) }
}

/// # Safety
/// The bytes at the address must be writable.
unsafe fn write<T: Copy>(address: u64, value: T) {
    // SAFETY: the caller's promise.
    unsafe { ptr::write_unaligned(ptr::with_exposed_provenance_mut(address as usize), value) }
}
