//! The state of an encryption or decryption.

use std::ffi::CStr;
use std::sync::Arc;

use zariz::rsa::hazmat::{oaep, pkcs1v15, premaster};
use zariz::rsa::{Hash, Mgf, PrivateKey, PublicKey};
use zeroize::Zeroizing;

use crate::digest::Digest;
use crate::failure::{Failure, Outcome, Reason};
use crate::ffi::core::Core;
use crate::ffi::params::{Built, Param, Params, Requested};
use crate::key::Key;
use crate::openssl::Operation;
use crate::padding::{PAD_MODE, Padding};
use crate::pointers::Held;
use crate::provider::Provider;
use crate::queue::Primitive;

/// Parameters.
const DIGEST: &CStr = c"digest";
const MGF1_DIGEST: &CStr = c"mgf1-digest";
const LABEL: &CStr = c"oaep-label";
const CLIENT_VERSION: &CStr = c"tls-client-version";
const NEGOTIATED_VERSION: &CStr = c"tls-negotiated-version";
const IMPLICIT_REJECTION: &CStr = c"implicit-rejection";

/// The digest of OAEP if the program names none.
const DEFAULT_DIGEST: &str = "SHA1";

/// The context of an operation, which OpenSSL holds.
#[derive(Clone)]
pub struct CipherContext {
    key: Option<Arc<Key>>,
    operation: Operation,
    padding: Padding,
    digest: Option<Digest>,
    mgf1: Option<Digest>,
    label: Vec<u8>,
    client_version: u32,
    negotiated_version: u32,
    implicit_rejection: bool,
    /// Dropped last: keys and digests belong to its library context.
    pub provider: Arc<Provider>,
}

impl Held for CipherContext {
    fn core(&self) -> *const Core {
        &raw const self.provider.core
    }
}

impl CipherContext {
    /// A context without an operation.
    pub fn new(provider: Arc<Provider>) -> Self {
        Self {
            provider,
            key: None,
            operation: Operation::Encrypt,
            padding: Padding::Pkcs1,
            digest: None,
            mgf1: None,
            label: Vec::new(),
            client_version: 0,
            negotiated_version: 0,
            implicit_rejection: true,
        }
    }

    /// Begins an operation with a key.
    pub fn begin(&mut self, operation: Operation, key: Arc<Key>, params: &Params) -> Outcome {
        if operation == Operation::Decrypt {
            key.private()?;
        }
        (self.operation, self.key, self.padding) = (operation, Some(key), Padding::Pkcs1);
        self.implicit_rejection = true;
        self.set(params)
    }

    fn key(&self, operation: Operation) -> Outcome<&Arc<Key>> {
        let key = self.key.as_ref().filter(|_| self.operation == operation);
        key.ok_or_else(|| Failure::new(Reason::Order, "the context was not initialised for this operation"))
    }

    /// The longest result in bytes.
    pub fn size(&self) -> Outcome<usize> {
        let size = self.key(self.operation)?.size();
        let premaster = (self.operation, self.padding) == (Operation::Decrypt, Padding::Tls);
        Ok(if premaster { premaster::PREMASTER_SIZE } else { size })
    }

    /// The hash and mask of OAEP, if zariz supports them.
    fn oaep(&self) -> Option<(Hash, Mgf)> {
        let digest = self.digest.as_ref()?;
        Some((digest.hash()?, Mgf::Mgf1(self.mgf1.as_ref().unwrap_or(digest).hash()?)))
    }

    /// Whether zariz supports the padding.
    fn is_known(&self) -> bool {
        match self.padding {
            Padding::Pkcs1 => self.operation == Operation::Encrypt || self.implicit_rejection,
            Padding::Oaep => self.oaep().is_some(),
            Padding::X931 | Padding::Pss => false,
            Padding::None | Padding::Tls => true,
        }
    }

    /// Encrypts a message.
    pub fn encrypt(&self, message: &[u8]) -> Outcome<Zeroizing<Vec<u8>>> {
        let key = self.key(Operation::Encrypt)?;
        match key.public().filter(|_| self.is_known()) {
            Some(public) => self.provider.compute(self.encode(message, key.size(), public)?),
            None => self.foreign(key, message),
        }
    }

    /// The padded message.
    fn encode(&self, message: &[u8], size: usize, key: &PublicKey) -> Outcome<Primitive> {
        let block = match (self.padding, self.oaep()) {
            (Padding::Oaep, Some((hash, mgf))) => oaep::encode(hash, mgf, &self.label, message, size)?,
            (Padding::Pkcs1, _) => pkcs1v15::encode_message(message, size)?,
            (Padding::None, _) if message.len() == size => Zeroizing::new(message.to_vec()),
            (Padding::None, _) => {
                let given = message.len();
                let text = format!("{given} bytes given; without padding the key takes exactly {size}");
                return Err(Failure::new(Reason::Length, text));
            }
            _ => return Err(Failure::new(Reason::Padding, "this padding is not for encryption")),
        };
        Ok(Primitive::Public(key.clone(), block))
    }

    /// Decrypts a ciphertext.
    pub fn decrypt(&self, ciphertext: &[u8]) -> Outcome<Zeroizing<Vec<u8>>> {
        let key = self.key(Operation::Decrypt)?;
        let Some(private) = key.private()?.filter(|_| self.is_known()) else {
            return self.foreign(key, ciphertext);
        };
        let block =
            self.provider.compute(Primitive::Private(private.clone(), key.padded(ciphertext)?.into()))?;
        self.decode(block, ciphertext, key, private)
    }

    /// The message inside a decrypted block.
    fn decode(
        &self,
        mut block: Zeroizing<Vec<u8>>,
        ciphertext: &[u8],
        key: &Key,
        private: &PrivateKey,
    ) -> Outcome<Zeroizing<Vec<u8>>> {
        match (self.padding, self.oaep()) {
            (Padding::Oaep, Some((hash, mgf))) => Ok(oaep::decode(hash, mgf, &self.label, &mut block)?),
            (Padding::Pkcs1, _) => {
                let substitute = private.implicit_rejection(&key.padded(ciphertext)?)?;
                Ok(pkcs1v15::decode_message(&block, &substitute)?)
            }
            (Padding::Tls, _) => {
                let version = |version: u32| u16::try_from(version).ok().filter(|&version| version != 0);
                let wrong = || {
                    Failure::new(
                        Reason::Parameter,
                        "tls-client-version must be set, to what the client offered",
                    )
                };
                let client = version(self.client_version).ok_or_else(wrong)?;
                let secret = premaster::decode(&block, client, version(self.negotiated_version))?;
                Ok(Zeroizing::new(secret.to_vec()))
            }
            _ => Ok(block),
        }
    }

    /// Leaves the operation to OpenSSL.
    fn foreign(&self, key: &Key, input: &[u8]) -> Outcome<Zeroizing<Vec<u8>>> {
        let mut out = Zeroizing::new(vec![0; key.size()]);
        let mut parameters = self.parameters();
        let size = key.transform_foreign(&self.provider, self.operation, &mut parameters, input, &mut out)?;
        out.truncate(size);
        Ok(out)
    }

    /// The operation's parameters, for OpenSSL.
    fn parameters(&self) -> Built {
        let mut out = Built::default();
        out.int(PAD_MODE, self.padding as i32);
        if self.padding == Padding::Oaep {
            for (name, digest) in [(DIGEST, &self.digest), (MGF1_DIGEST, &self.mgf1)] {
                if let Some(digest) = digest {
                    out.text(name, &digest.name);
                }
            }
            out.octets(LABEL, &self.label);
        }
        if self.padding == Padding::Tls {
            out.unsigned(CLIENT_VERSION, self.client_version as usize);
            out.unsigned(NEGOTIATED_VERSION, self.negotiated_version as usize);
        }
        if !self.implicit_rejection {
            out.unsigned(IMPLICIT_REJECTION, 0);
        }
        out
    }

    /// Takes parameters from the program.
    pub fn set(&mut self, params: &Params) -> Outcome {
        let wrong = |name: &CStr| {
            Failure::new(Reason::Parameter, format!("{} is of the wrong type", name.to_string_lossy()))
        };
        let text = |name| params.get(name).map(|param| param.text().ok_or_else(|| wrong(name))).transpose();
        let number = |name| {
            let read = |param: &Param| param.int().and_then(|number| u32::try_from(number).ok());
            params.get(name).map(|param| read(param).ok_or_else(|| wrong(name))).transpose()
        };
        let mut new = self.clone();
        let openssl = &self.provider.openssl;
        if let Some(name) = text(DIGEST)? {
            new.digest = Some(Digest::fetch(openssl, name, text(c"digest-props")?)?);
        }
        if let Some(param) = params.get(PAD_MODE) {
            new.padding = Padding::read(param)?;
            if new.padding == Padding::Pss {
                return Err(Failure::new(Reason::Padding, "PSS is for signatures"));
            }
            if new.padding == Padding::Oaep && new.digest.is_none() {
                new.digest = Some(Digest::fetch(openssl, DEFAULT_DIGEST, text(c"digest-props")?)?);
            }
        }
        if let Some(name) = text(MGF1_DIGEST)? {
            new.mgf1 = Some(Digest::fetch(openssl, name, text(c"mgf1-properties")?)?);
        }
        if let Some(param) = params.get(LABEL) {
            new.label = param.octets().ok_or_else(|| wrong(LABEL))?.to_vec();
        }
        if let Some(version) = number(CLIENT_VERSION)? {
            new.client_version = version;
        }
        if let Some(version) = number(NEGOTIATED_VERSION)? {
            new.negotiated_version = version;
        }
        if let Some(reject) = number(IMPLICIT_REJECTION)? {
            new.implicit_rejection = reject != 0;
        }
        *self = new;
        Ok(())
    }

    /// Writes the requested parameters.
    pub fn write_requested(&self, requested: &mut Requested) -> bool {
        let name = |digest: Option<&Digest>| digest.map_or("", |digest| digest.md.name()).to_owned();
        let mgf1 = self.mgf1.as_ref().or(self.digest.as_ref());
        requested.put(DIGEST, |param| param.put_text(&name(self.digest.as_ref())))
            && requested.put(PAD_MODE, |param| self.padding.write(param))
            && requested.put(MGF1_DIGEST, |param| param.put_text(&name(mgf1)))
            // SAFETY: it lives as long as the context, as OpenSSL expects.
            && requested.put(LABEL, |param| unsafe { param.put_octets_address(&self.label) })
            && requested.put(CLIENT_VERSION, |param| param.put_int(self.client_version.into()))
            && requested.put(NEGOTIATED_VERSION, |param| param.put_int(self.negotiated_version.into()))
            && requested.put(IMPLICIT_REJECTION, |param| param.put_int(self.implicit_rejection.into()))
    }
}
