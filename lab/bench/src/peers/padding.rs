//! The padding of signatures, for libraries that only compute.

use openssl::sha::sha256;

/// EMSA-PKCS1-v1_5 with SHA-256 (RFC 8017, 9.2): 00 01 FF … FF 00, the DigestInfo of SHA-256, the digest.
pub fn pad(message: &[u8], size: usize) -> Vec<u8> {
    const DIGEST_INFO: [u8; 19] = [
        0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00,
        0x04, 0x20,
    ];
    let digest = sha256(message);
    let filled = size - DIGEST_INFO.len() - digest.len() - 1;
    let mut padded = Vec::with_capacity(size);
    padded.extend([0, 1]);
    padded.resize(filled, 0xff);
    padded.push(0);
    padded.extend(DIGEST_INFO);
    padded.extend(digest);
    padded
}
