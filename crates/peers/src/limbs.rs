//! Numbers as libraries of C take them: limbs of 64 bits, the lowest first.

/// `count` limbs, the lowest first, of a big-endian number that is not longer.
pub fn limbs(number: &[u8], count: usize) -> Vec<u64> {
    let mut limbs: Vec<u64> = number
        .rchunks(8)
        .map(|limb| limb.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)))
        .collect();
    limbs.resize(count, 0);
    limbs
}

/// The big-endian number of these limbs.
pub fn bytes(limbs: &[u64]) -> Vec<u8> {
    limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect()
}
