//! The state of a signature operation.

use std::sync::Arc;

use super::algorithm_id;
use super::scheme::{DIGEST, Lengths, MGF1_DIGEST, SALTLEN, Scheme, bad_signature};
use crate::digest::Digest;
use crate::failure::{Failure, Outcome, Reason};
use crate::ffi::core::Core;
use crate::ffi::params::{Param, Params, Requested};
use crate::key::Key;
use crate::openssl::{DigestValue, MdCtx, Operation};
use crate::padding::{PAD_MODE, Padding};
use crate::pointers::Held;
use crate::provider::Provider;
use crate::queue::Primitive;
use crate::salt::Salt;

/// The digest of PSS if the program names none.
const DEFAULT_DIGEST: &str = "SHA1";

/// The context of an operation, which OpenSSL holds.
pub struct SignatureContext {
    properties: Option<String>,
    key: Option<Arc<Key>>,
    operation: Operation,
    scheme: Scheme,
    /// The message so far, if the program signs a message rather than a digest. The digest cannot be changed
    /// then.
    pub message: Option<MdCtx>,
    /// Dropped last: keys and digests belong to its library context.
    pub provider: Arc<Provider>,
}

impl Held for SignatureContext {
    fn core(&self) -> *const Core {
        &raw const self.provider.core
    }
}

impl SignatureContext {
    /// A context without an operation. `properties` are for fetching digests.
    pub fn new(provider: Arc<Provider>, properties: Option<String>) -> Self {
        let scheme = Scheme::new(provider.default_salt);
        Self { provider, properties, key: None, operation: Operation::Sign, scheme, message: None }
    }

    /// A copy in the same state.
    pub fn duplicate(&self) -> Outcome<Self> {
        Ok(Self {
            provider: self.provider.clone(),
            properties: self.properties.clone(),
            key: self.key.clone(),
            operation: self.operation,
            scheme: self.scheme.clone(),
            message: self.message.as_ref().map(MdCtx::copy).transpose()?,
        })
    }

    /// Begins an operation, with a new key or the previous one.
    pub fn begin(&mut self, operation: Operation, key: Option<Arc<Key>>, params: &Params) -> Outcome {
        if let Some(key) = key {
            self.key = Some(key);
        }
        let key = self.key()?;
        if operation == Operation::Sign {
            key.private()?;
        }
        self.operation = operation;
        self.message = None;
        // Like OpenSSL, keep the choices made for an earlier key, except padding and salt.
        self.scheme.padding = Padding::Pkcs1;
        self.scheme.salt = self.provider.default_salt;
        self.set(params)
    }

    /// Begins to take a message.
    ///
    /// # Safety
    /// `params` is null or an array of parameters.
    pub unsafe fn begin_message(&mut self, digest: Option<&str>, params: *const Param) -> Outcome {
        match digest {
            Some(name) if !name.is_empty() => self.set_digest(name, None)?,
            _ => {}
        }
        let digest = self.scheme.digest.as_ref();
        let digest = digest
            .ok_or_else(|| Failure::new(Reason::Digest, "signing a message needs a digest; none is set"))?;
        // SAFETY: the caller's promise.
        self.message = Some(unsafe { MdCtx::new(&digest.md, params)? });
        Ok(())
    }

    /// The digest of the whole message.
    pub fn finish_message(&mut self) -> Outcome<DigestValue> {
        self.message()?.finish()
    }

    /// The message so far.
    pub fn message(&mut self) -> Outcome<&mut MdCtx> {
        self.message.as_mut().ok_or_else(|| Failure::new(Reason::Order, "no message was begun"))
    }

    fn key(&self) -> Outcome<&Arc<Key>> {
        self.key.as_ref().ok_or_else(|| Failure::new(Reason::Order, "no key is set"))
    }

    fn lengths(&self) -> Outcome<Lengths> {
        let key = self.key()?;
        Ok(Lengths { bits: key.bits(), size: key.size() })
    }

    /// The length of a signature in bytes.
    pub fn size(&self) -> Outcome<usize> {
        Ok(self.lengths()?.size)
    }

    fn expect(&self, operation: Operation) -> Outcome {
        if self.operation == operation {
            Ok(())
        } else {
            Err(Failure::new(Reason::Order, "the context was initialised for another operation"))
        }
    }

    /// The digest that the scheme signs.
    pub fn digest(&self) -> Option<&Digest> {
        self.scheme.digest.as_ref()
    }

    /// Signs a digest.
    pub fn sign(&self, digest: &[u8]) -> Outcome<Vec<u8>> {
        self.expect(Operation::Sign)?;
        let (key, provider) = (self.key()?, &*self.provider);
        if let Some(private) = key.private()?
            && let Some(block) = self.scheme.encode(digest, self.lengths()?)?
        {
            return Ok(provider.compute(Primitive::Private(private.clone(), block.into()))?.to_vec());
        }
        let mut out = vec![0; key.size()];
        let size = key.transform_foreign(
            provider,
            Operation::Sign,
            &mut self.scheme.parameters(),
            digest,
            &mut out,
        )?;
        out.truncate(size);
        Ok(out)
    }

    /// Checks that a signature is that of a digest.
    pub fn verify(&self, signature: &[u8], digest: &[u8]) -> Outcome {
        self.expect(Operation::Verify)?;
        let (key, provider) = (self.key()?, &*self.provider);
        match key.public().filter(|_| self.scheme.decodes()) {
            Some(public) => {
                // With PKCS#1 v1.5 and a digest, a signature is exactly as long as the key. Otherwise it may
                // be shorter.
                if self.scheme.padding == Padding::Pkcs1
                    && self.digest().is_some()
                    && signature.len() != key.size()
                {
                    return Err(bad_signature());
                }
                let block = key.open(provider, public, signature)?;
                self.scheme.check(block, digest, self.lengths()?)
            }
            None => key.verify_foreign(provider, &mut self.scheme.parameters(), signature, digest),
        }
    }

    /// The signed data of a signature.
    pub fn recover(&self, signature: &[u8]) -> Outcome<Vec<u8>> {
        self.expect(Operation::VerifyRecover)?;
        let (key, provider) = (self.key()?, &*self.provider);
        match key.public().filter(|_| self.scheme.decodes()) {
            Some(public) => Ok(self.scheme.recover(&key.open(provider, public, signature)?)?.to_vec()),
            None => {
                let (mut out, mut parameters) = (vec![0; key.size()], self.scheme.parameters());
                let operation = Operation::VerifyRecover;
                let size =
                    key.transform_foreign(provider, operation, &mut parameters, signature, &mut out)?;
                out.truncate(size);
                Ok(out)
            }
        }
    }

    fn fetch(&self, name: &str, properties: Option<&str>) -> Outcome<Digest> {
        let digest = Digest::fetch(&self.provider.openssl, name, properties.or(self.properties.as_deref()))?;
        if !digest.is_signed() {
            self.key()?.check_digest_foreign(&self.provider, name)?;
        }
        Ok(digest)
    }

    fn set_digest(&mut self, name: &str, properties: Option<&str>) -> Outcome {
        let digest = self.fetch(name, properties)?;
        match &self.scheme.digest {
            Some(fixed) if self.message.is_some() && !fixed.same(&digest) => {
                let text = format!("digest {name} is not {}, with which the message was begun", fixed.name);
                return Err(Failure::new(Reason::Digest, text));
            }
            _ => self.scheme.digest = Some(digest),
        }
        Ok(())
    }

    /// Takes parameters from the program.
    pub fn set(&mut self, params: &Params) -> Outcome {
        let text = |name| {
            params.get(name).map(|param: &Param| param.text().ok_or_else(|| not_text(name))).transpose()
        };
        let mut scheme = self.scheme.clone();
        if let Some(param) = params.get(PAD_MODE) {
            scheme.padding = Padding::read(param)?;
            let why = match (scheme.padding, self.operation) {
                (Padding::Oaep | Padding::Tls, _) => Some("this padding is for encryption"),
                (Padding::Pss, Operation::VerifyRecover) => Some("PSS is for signing and verifying only"),
                _ => None,
            };
            if let Some(why) = why {
                return Err(Failure::new(Reason::Padding, why));
            }
        }
        if let Some(param) = params.get(SALTLEN) {
            if scheme.padding != Padding::Pss {
                return Err(Failure::new(
                    Reason::Padding,
                    "a salt length is for PSS padding only: set that first",
                ));
            }
            scheme.salt = Salt::read(param)?;
        }
        if let Some(name) = text(MGF1_DIGEST)? {
            if scheme.padding != Padding::Pss {
                return Err(Failure::new(Reason::Padding, "MGF1 is for PSS padding only: set that first"));
            }
            scheme.mgf1 = Some(self.fetch(name, text(c"mgf1-properties")?)?);
        }
        self.scheme = scheme;
        match (text(DIGEST)?, self.scheme.padding) {
            (Some(name), _) => self.set_digest(name, text(c"properties")?),
            (None, Padding::Pss) if self.scheme.digest.is_none() => self.set_digest(DEFAULT_DIGEST, None),
            _ => Ok(()),
        }
    }

    /// Writes the requested parameters.
    pub fn write_requested(&self, requested: &mut Requested) -> Outcome<bool> {
        let name = |digest: Option<&Digest>| digest.map_or(String::new(), |digest| digest.name.clone());
        let mut identifier = Ok(true);
        requested.put(c"algorithm-id", |param| {
            identifier = self
                .lengths()
                .and_then(|key| algorithm_id::encode(&self.scheme, key))
                .map(|identifier| param.put_octets(&identifier));
            true
        });
        Ok(identifier?
            && requested.put(PAD_MODE, |param| self.scheme.padding.write(param))
            && requested.put(DIGEST, |param| param.put_text(&name(self.digest())))
            && requested.put(MGF1_DIGEST, |param| param.put_text(&name(self.scheme.mgf1())))
            && requested.put(SALTLEN, |param| self.scheme.salt.write(param)))
    }
}

fn not_text(name: &std::ffi::CStr) -> Failure {
    Failure::new(Reason::Parameter, format!("{} is not text", name.to_string_lossy()))
}
