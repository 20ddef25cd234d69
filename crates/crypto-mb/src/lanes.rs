//! Lanes: their pointers, numbers and statuses.

use std::array;
use std::panic::{AssertUnwindSafe, catch_unwind};

use zeroize::Zeroizing;

/// Operations of one call.
pub const LANES: usize = 8;

/// Pointers that are read, one for each lane.
pub type Input<T> = *const [*const T; LANES];
/// Pointers that are written, one for each lane.
pub type Output<T> = *const [*mut T; LANES];

/// Secret or public numbers in words, the lowest first, one after the other.
pub type Words = Zeroizing<Vec<u64>>;

/// How a lane failed: `MBX_STATUS_…` of `crypto_mb/status.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A size, method or number is wrong.
    Mismatch = 1,
    /// A pointer is null.
    Null = 2,
    /// The result failed its check and is withheld, or it could not be computed.
    Withheld = 8,
    /// The functions for OpenSSL's numbers are not in this process.
    Unsupported = 10,
}

/// The result of a lane.
pub type Lane<T> = Result<T, Failure>;

/// The status of a call whose lanes all failed in the same way.
pub fn all(failure: Failure) -> u32 {
    status([Err(failure); LANES])
}

/// The status of a call: four bits for each lane, the lowest for lane 0.
pub fn status(lanes: [Lane<()>; LANES]) -> u32 {
    let bits = |lane: &Lane<()>| lane.err().map_or(0, |failure| failure as u32);
    lanes.iter().rev().fold(0, |status, lane| status << 4 | bits(lane))
}

/// Runs a call. A panic must not unwind into C: after one, every lane has failed.
pub fn guard(call: impl FnOnce() -> Lane<[Lane<()>; LANES]>) -> u32 {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(lanes)) => status(lanes),
        Ok(Err(failure)) => all(failure),
        Err(_) => all(Failure::Withheld),
    }
}

/// The pointers of an argument.
///
/// # Safety
/// `array` is null, or has one pointer for each lane.
pub unsafe fn pointers<P: Copy>(array: *const [P; LANES]) -> Lane<[P; LANES]> {
    if array.is_null() {
        return Err(Failure::Null);
    }
    // SAFETY: the caller's promise. Alignment does not matter.
    Ok(unsafe { array.read_unaligned() })
}

/// Reads a number of as many words as `out` has.
///
/// # Safety
/// `words` points to as many words as `out` has. They need no alignment.
pub unsafe fn read_words(words: *const u64, out: &mut [u64]) {
    // SAFETY: the caller's promise; `out` is ours, so they do not overlap.
    unsafe { words.cast::<u8>().copy_to_nonoverlapping(out.as_mut_ptr().cast(), size_of_val(out)) };
}

/// A number in words as big-endian bytes.
pub fn to_be_bytes(words: &[u64]) -> Zeroizing<Vec<u8>> {
    let mut out = Zeroizing::new(vec![0; size_of_val(words)]);
    out.chunks_exact_mut(8)
        .zip(words.iter().rev())
        .for_each(|(out, word)| out.copy_from_slice(&word.to_be_bytes()));
    out
}

/// Writes a big-endian number as words, the lowest first, padded to `len` words.
///
/// # Safety
/// `words` points to `len` words, which may be written. They need no alignment.
pub unsafe fn write_words(number: &[u8], words: *mut u64, len: usize) {
    let mut chunks = number.rchunks(8);
    for i in 0..len {
        let limb = chunks.next().unwrap_or(&[]).iter().fold(0u64, |limb, &byte| limb << 8 | u64::from(byte));
        // SAFETY: the caller's promise, for `i` below `len`.
        unsafe { words.add(i).write_unaligned(limb) };
    }
}

/// Writes a big-endian number, padded to `len` bytes. Precondition: it has at most `len` bytes.
///
/// # Safety
/// `out` points to `len` bytes, which may be written.
pub unsafe fn write_bytes(number: &[u8], out: *mut u8, len: usize) {
    let zeros = len - number.len();
    // SAFETY: the caller's promise; `number` is ours, so they do not overlap.
    unsafe {
        out.write_bytes(0, zeros);
        out.add(zeros).copy_from_nonoverlapping(number.as_ptr(), number.len());
    }
}

/// Calls `make` for each lane.
pub fn each<T>(make: impl FnMut(usize) -> T) -> [T; LANES] {
    array::from_fn(make)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_in_order() {
        let mut lanes = [Ok(()); LANES];
        lanes[0] = Err(Failure::Null);
        lanes[7] = Err(Failure::Unsupported);
        assert_eq!(status(lanes), 0xa000_0002);
        assert_eq!(all(Failure::Mismatch), 0x1111_1111);
        assert_eq!(guard(|| Err(Failure::Null)), 0x2222_2222);
        assert_eq!(guard(|| panic!("a defect")), 0x8888_8888);
    }
}
