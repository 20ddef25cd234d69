//! The messages that all libraries sign, and the check that all signatures are equal.

use anyhow::{Context, Result, ensure};

use crate::measure::Contestant;
use crate::peers::{Library, Ready, Signed, Signer, Verifier};

/// Bytes of a message: about a token or a mail header.
pub const MESSAGE_BYTES: usize = 200;

/// Distinct messages and their signatures under one key.
pub struct Workload {
    messages: Vec<Vec<u8>>,
    signatures: Vec<Vec<u8>>,
}

impl Workload {
    /// `count` messages, signed by `signer`.
    pub fn new(count: usize, signer: &mut dyn Signer) -> Result<Workload> {
        let message = |index: usize| {
            let mut message = format!("message {index}: ").into_bytes();
            message.resize(MESSAGE_BYTES, b'.');
            message
        };
        let messages: Vec<_> = (0..count).map(message).collect();
        let slices: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let signatures = signer.sign(&slices)?;
        Ok(Workload { messages, signatures })
    }

    /// Distinct messages.
    pub fn count(&self) -> usize {
        self.messages.len()
    }

    /// The messages, twice over: `count` follow every place to start from.
    pub fn messages(&self) -> Vec<&[u8]> {
        self.messages.iter().chain(&self.messages).map(Vec::as_slice).collect()
    }

    /// The messages with their signatures, twice over.
    pub fn signed(&self) -> Vec<Signed<'_>> {
        let signatures = self.signatures.iter().chain(&self.signatures);
        self.messages()
            .into_iter()
            .zip(signatures)
            .map(|(message, signature)| Signed { message, signature })
            .collect()
    }

    /// A library that takes part, with its key.
    pub fn contestant<'a>(
        &'a self,
        library: &'a dyn Library,
        mut ready: Ready,
        batches: Vec<usize>,
    ) -> Contestant<'a, &'a dyn Library> {
        let (messages, signed) = (self.messages(), self.signed());
        let call = move |from: usize, batch: usize| {
            let range = from..from + batch;
            let result = match &mut ready {
                Ready::Sign(signer) => signer.sign(&messages[range]).map(|signatures| {
                    std::hint::black_box(signatures);
                }),
                Ready::Verify(verifier) => verifier.verify(&signed[range]),
            };
            result.with_context(|| describe(library))
        };
        Contestant { who: library, lanes: library.lanes(), batches, call: Box::new(call) }
    }

    /// Fails unless `signer` gives the same signatures, one at a time and as a batch.
    pub fn check_signer(&self, library: &dyn Library, signer: &mut dyn Signer) -> Result<()> {
        let messages = self.messages();
        for batch in [1, 3, 8] {
            let range = 0..batch.min(self.count());
            let signatures = signer.sign(&messages[range.clone()]).with_context(|| describe(library))?;
            ensure!(signatures == self.signatures[range], "{} gives another signature", describe(library));
        }
        Ok(())
    }

    /// Fails unless `verifier` accepts the signatures and rejects a wrong one.
    pub fn check_verifier(&self, library: &dyn Library, verifier: &mut dyn Verifier) -> Result<()> {
        let signed = self.signed();
        for batch in [1, 3, 8] {
            verifier.verify(&signed[..batch.min(self.count())]).with_context(|| describe(library))?;
        }
        let wrong = Signed { message: b"another message", ..signed[0] };
        ensure!(verifier.verify(&[wrong]).is_err(), "{} accepts a wrong signature", describe(library));
        Ok(())
    }
}

/// A library's name with its engine.
pub fn describe(library: &dyn Library) -> String {
    match library.engine() {
        Some(engine) => format!("{} ({engine})", library.name()),
        None => library.name().to_owned(),
    }
}

/// Bytes without a pattern.
pub fn random(bytes: usize) -> Result<Vec<u8>> {
    let mut out = vec![0; bytes];
    getrandom::fill(&mut out).map_err(|error| anyhow::anyhow!("{error}"))?;
    Ok(out)
}
