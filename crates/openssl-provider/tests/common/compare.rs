//! Holding one provider's results against the other's.

use std::fmt::Debug;

use super::failure::Failure;

/// Everything in which two providers differ, to be shown at once.
#[derive(Default)]
pub struct Faults {
    faults: Vec<String>,
    compared: usize,
    succeeded: usize,
}

impl Faults {
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes a fault unless it holds.
    pub fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        self.compared += 1;
        if !holds {
            self.faults.push(what());
        }
    }

    /// The same value on both sides.
    pub fn same<T: PartialEq + Debug>(&mut self, what: &str, subject: &T, reference: &T) {
        self.check(subject == reference, || format!("{what}: {subject:?}, but {reference:?} of the default provider"));
    }

    /// Both succeed, or both fail, unless we are stricter on purpose; where the default provider says why, so does the subject. Whether both succeeded.
    pub fn outcome<T: Debug, R: Debug>(
        &mut self,
        what: &str,
        subject: &Result<T, Failure>,
        reference: &Result<R, Failure>,
    ) -> bool {
        match (subject, reference) {
            (Err(ours), Ok(_)) if is_stricter(ours) => {
                self.compared += 1;
                false
            }
            (Ok(_), Ok(_)) => {
                self.compared += 1;
                self.succeeded += 1;
                true
            }
            (Err(ours), Err(theirs)) => {
                // Which call fails is not compared: some mistakes are seen when they are made, or when they matter.
                let fine = ours.code <= 0 && (ours.is_readable() || !theirs.is_readable());
                self.check(fine, || format!("{what}: {ours:?}, but {theirs:?} of the default provider"));
                false
            }
            _ => {
                self.check(false, || format!("{what}: {subject:?}, but {reference:?} of the default provider"));
                false
            }
        }
    }

    /// Both succeed with the same value, or both fail.
    pub fn identical<T: PartialEq + Debug>(
        &mut self,
        what: &str,
        subject: &Result<T, Failure>,
        reference: &Result<T, Failure>,
    ) {
        if self.outcome(what, subject, reference)
            && let (Ok(subject), Ok(reference)) = (subject, reference)
        {
            self.same(what, subject, reference);
        }
    }

    /// It succeeds.
    pub fn done<T>(&mut self, what: &str, result: &Result<T, Failure>) {
        self.succeeded += usize::from(result.is_ok());
        self.check(result.is_ok(), || format!("{what}: {:?}", result.as_ref().err()));
    }

    /// It fails.
    pub fn refused<T: Debug>(&mut self, what: &str, result: &Result<T, Failure>) {
        self.check(result.is_err(), || format!("{what}: {result:?}, but it should fail"));
    }

    /// Ends with all faults, if there are any; and unless at least so many calls succeeded, so that a test that compares
    /// failures alone is noticed.
    #[track_caller]
    pub fn none(self, succeeded: usize) {
        let (count, compared) = (self.faults.len(), self.compared);
        assert!(self.faults.is_empty(), "{count} of {compared} differ:\n{}", self.faults.join("\n"));
        assert!(self.succeeded >= succeeded, "only {} calls succeeded, not {succeeded}", self.succeeded);
    }
}

/// Whether a refusal is stricter than the default provider on purpose: a text that means nothing, which that ignores or
/// takes for zero, or a digest that zariz leaves out.
fn is_stricter(ours: &Failure) -> bool {
    let stricter = [
        "there is no such padding mode",
        "padding is for",
        "PSS is for",
        "no length of a salt",
        // SM3, which later versions of OpenSSL sign.
        "RSA does not sign it",
    ];
    stricter.iter().any(|stricter| ours.text().contains(stricter))
}
