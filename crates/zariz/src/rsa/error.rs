//! Errors: what went wrong, with what, and what to do.

use std::fmt;

use super::other_format::OtherFormat;
use super::pss_parameters::PssParameters;

/// Why a key cannot be used. The texts never show a secret part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// The PEM armour is damaged.
    Pem(String),
    /// The PEM block is not an RSA key of the kind that is needed.
    Label(String),
    /// The PEM block holds something else than its label says, and no key that is needed.
    Mislabelled {
        /// The label.
        label: String,
        /// What the block holds, as an error of its own.
        holds: String,
    },
    /// The file has another format.
    Format(OtherFormat),
    /// The key is encrypted, and no password was given.
    Encrypted,
    /// The password is wrong, or the encrypted key is damaged: the two cannot be told apart.
    Password,
    /// The key is encrypted in a way that is not supported.
    Encryption(String),
    /// The key is for another algorithm.
    NotRsa(String),
    /// The parameters of the key's algorithm identifier cannot be used.
    Parameters(String),
    /// The DER structure is damaged.
    Der(String),
    /// A public key was given where a private key is needed.
    PublicOnly,
    /// A private key was given where a public key is needed.
    PrivateOnly,
    /// The key has more than two primes.
    MultiPrime,
    /// The modulus is shorter or longer than supported.
    Size {
        /// Its length in bits.
        bits: usize,
    },
    /// The public exponent is even, below 3 or too long.
    Exponent(&'static str),
    /// The numbers of the key do not fit together.
    Inconsistent(&'static str),
    /// The random generator failed, or repeated itself.
    Random,
    /// The search for primes failed for another reason.
    #[cfg(feature = "keygen")]
    Primes(crate::primes::PrimeError),
}

impl std::error::Error for KeyError {}

#[cfg(feature = "keygen")]
impl From<crate::primes::PrimeError> for KeyError {
    fn from(error: crate::primes::PrimeError) -> Self {
        use crate::primes::PrimeError;
        match error {
            PrimeError::Random(_) => Self::Random,
            error => Self::Primes(error),
        }
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Pem(what) => write!(f, "the PEM text is damaged: {what}"),
            Self::Label(label) => {
                write!(f, "the PEM block is labelled {label:?}, which is not the kind of RSA key needed")
            }
            Self::Mislabelled { label, holds } => write!(f, "the PEM block is labelled {label:?}, but {holds}"),
            Self::Format(format) => format.fmt(f),
            Self::Encrypted => f.write_str(
                "the key is encrypted; give its password, or decrypt it first: openssl pkey -in KEY -out DECRYPTED",
            ),
            Self::Password => f.write_str("the password is wrong, or the encrypted key is damaged"),
            Self::Encryption(what) => write!(
                f,
                "the key is encrypted in a way that is not supported ({what}); convert it: \
                 openssl pkcs8 -topk8 -in KEY -out CONVERTED \
                 (for DES, RC2 and RC4 with -provider legacy -provider default)"
            ),
            Self::NotRsa(oid) => write!(f, "the key is not an RSA key (algorithm {oid})"),
            Self::Parameters(what) => write!(f, "the parameters of the key's algorithm cannot be used: {what}"),
            Self::Der(what) => {
                write!(f, "the key is neither PEM text nor the DER of an RSA key, or it is damaged: {what}")
            }
            Self::PublicOnly => f.write_str("this is a public key; the private key is needed"),
            Self::PrivateOnly => {
                f.write_str("this is a private key; take its public key: openssl pkey -in KEY -pubout -out CONVERTED")
            }
            Self::MultiPrime => f.write_str("the key has more than two primes; only two-prime keys are supported"),
            Self::Size { bits } => write!(
                f,
                "the modulus has {bits} bits; keys of {} to {} bits are supported",
                super::PublicKey::MIN_BITS,
                super::PublicKey::MAX_BITS
            ),
            Self::Exponent(what) => write!(f, "the public exponent {what}"),
            Self::Inconsistent(what) => write!(f, "the key is damaged: {what}"),
            Self::Random => f.write_str("the random generator failed, or repeated itself"),
            #[cfg(feature = "keygen")]
            Self::Primes(error) => error.fmt(f),
        }
    }
}

/// Why an operation with a good key failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The signature is not one of the message under the key.
    Verification,
    /// The signature is one of the message, but with a PSS salt of another length.
    SaltLength {
        /// The length that the algorithm has, in bytes.
        expected: usize,
        /// The length of the signature's.
        actual: usize,
    },
    /// The key and padding cannot decrypt the ciphertext. The error deliberately says no more.
    Decryption,
    /// The input, or the buffer for the result, is not as long as the modulus.
    Length {
        /// The length needed, in bytes.
        expected: usize,
        /// The length given.
        actual: usize,
    },
    /// The input is as long as the modulus, but its value is not below the modulus.
    OutOfRange,
    /// The message is too long for the key and padding.
    MessageTooLong {
        /// The longest that fits, in bytes.
        most: usize,
    },
    /// The key is too short for the hash and salt, or for the padding.
    KeyTooShort,
    /// The digest has the wrong length for the hash.
    Digest {
        /// The length needed, in bytes.
        expected: usize,
        /// The length given.
        actual: usize,
    },
    /// PKCS#1 v1.5 has no identifier for this hash.
    Unsupported,
    /// The key is for PSS signatures only.
    PssOnly,
    /// The key is for PSS signatures with these parameters only.
    PssParameters(PssParameters),
    /// A result failed its check with the public exponent, and so did the second computation: the processor
    /// or its memory is faulty. The wrong results are withheld: they could reveal the key.
    Fault,
    /// A result was wrong because a prime of the private key is not prime. Nothing was revealed.
    /// [`PrivateKey::validate`](super::PrivateKey::validate) finds this before the key is used.
    InvalidKey,
    /// The operating system's random generator failed.
    Random,
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Verification => f.write_str("the signature does not verify"),
            Self::SaltLength { expected, actual } => write!(
                f,
                "the signature is right, but its salt has {actual} bytes where the algorithm has {expected}; \
                 to make such signatures with openssl: -sigopt rsa_pss_saltlen:{expected}"
            ),
            Self::Decryption => f.write_str("the ciphertext cannot be decrypted with this key and padding"),
            Self::Length { expected, actual } => {
                write!(f, "{actual} bytes given where the key needs exactly {expected}")
            }
            Self::OutOfRange => f.write_str("the number is not below the key's modulus"),
            Self::MessageTooLong { most } => {
                write!(f, "the message is too long: at most {most} bytes fit this key and padding")
            }
            Self::KeyTooShort => f.write_str("the key is too short for this hash, salt length or padding"),
            Self::Digest { expected, actual } => {
                write!(f, "the digest has {actual} bytes; the hash makes {expected}")
            }
            Self::Unsupported => f.write_str("PKCS#1 v1.5 signatures are not defined for this hash"),
            Self::PssOnly => f.write_str("the key is restricted to PSS signatures"),
            Self::PssParameters(only) => write!(f, "the key is restricted to PSS signatures with {only}"),
            Self::Fault => {
                f.write_str("a result was wrong twice: this machine's processor or memory is faulty")
            }
            Self::InvalidKey => f.write_str("the private key is damaged: p or q is not prime"),
            Self::Random => f.write_str("the operating system's random generator failed"),
        }
    }
}
