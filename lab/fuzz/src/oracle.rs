//! OpenSSL's own RSA, by the crate `openssl`: the second opinion on signatures and ciphertexts.

use std::sync::OnceLock;

use openssl::md::{Md, MdRef};
use openssl::pkey::{PKey, Private};
use openssl::pkey_ctx::PkeyCtx;
use openssl::rsa::Padding;
use openssl::sign::RsaPssSaltlen;
use zariz::rsa::{Algorithm, Hash, Mgf};

use crate::structure::PEMS;

fn keys() -> &'static [PKey<Private>; 2] {
    static KEYS: OnceLock<[PKey<Private>; 2]> = OnceLock::new();
    KEYS.get_or_init(|| PEMS.map(|pem| PKey::private_key_from_pem(pem.as_bytes()).expect("a good key")))
}

/// OpenSSL's hash; it has no RSA with SHAKE.
fn md(hash: Hash) -> Option<&'static MdRef> {
    Some(match hash {
        Hash::Sha1 => Md::sha1(),
        Hash::Sha224 => Md::sha224(),
        Hash::Sha256 => Md::sha256(),
        Hash::Sha384 => Md::sha384(),
        Hash::Sha512 => Md::sha512(),
        Hash::Sha3_224 => Md::sha3_224(),
        Hash::Sha3_256 => Md::sha3_256(),
        Hash::Sha3_384 => Md::sha3_384(),
        Hash::Sha3_512 => Md::sha3_512(),
        _ => return None,
    })
}

fn mask(mgf: Mgf) -> Option<&'static MdRef> {
    match mgf {
        Mgf::Mgf1(hash) => md(hash),
        _ => None,
    }
}

/// Whether a signature is that of the digest; `None` where OpenSSL does not know the algorithm.
pub fn verifies(key: usize, algorithm: Algorithm, digest: &[u8], signature: &[u8]) -> Option<bool> {
    let mut ctx = PkeyCtx::new(&keys()[key]).expect("a context");
    ctx.verify_init().expect("a key that verifies");
    match algorithm {
        Algorithm::Pkcs1v15(hash) => {
            ctx.set_rsa_padding(Padding::PKCS1).expect("a padding");
            ctx.set_signature_md(md(hash)?).expect("a digest");
        }
        Algorithm::Pss { hash, mgf, salt_len } => {
            ctx.set_rsa_padding(Padding::PKCS1_PSS).expect("a padding");
            ctx.set_signature_md(md(hash)?).expect("a digest");
            ctx.set_rsa_mgf1_md(mask(mgf)?).expect("a digest");
            ctx.set_rsa_pss_saltlen(RsaPssSaltlen::custom(i32::try_from(salt_len).ok()?)).expect("a length");
        }
        _ => return None,
    }
    Some(ctx.verify(digest, signature).is_ok_and(|valid| valid))
}

/// The message of OAEP, or that there is none; `None` where OpenSSL does not know the hashes.
pub fn decrypts(
    key: usize,
    hash: Hash,
    mgf: Mgf,
    label: &[u8],
    ciphertext: &[u8],
) -> Option<Option<Vec<u8>>> {
    let mut ctx = PkeyCtx::new(&keys()[key]).expect("a context");
    ctx.decrypt_init().expect("a key that decrypts");
    ctx.set_rsa_padding(Padding::PKCS1_OAEP).expect("a padding");
    ctx.set_rsa_oaep_md(md(hash)?).expect("a digest");
    ctx.set_rsa_mgf1_md(mask(mgf)?).expect("a digest");
    if !label.is_empty() {
        ctx.set_rsa_oaep_label(label).expect("a label");
    }
    let mut out = Vec::new();
    Some(ctx.decrypt_to_vec(ciphertext, &mut out).is_ok().then_some(out))
}
