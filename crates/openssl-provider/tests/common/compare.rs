//! Compares the results of two providers.

use std::fmt::Debug;

use super::failure::Failure;
use super::operation::Operation;
use super::params::{Params, Reading};

/// Collects all differences between two providers, to show them together.
#[derive(Default)]
pub struct Faults {
    faults: Vec<String>,
    compared: usize,
    succeeded: usize,
    /// The refusal that the next outcome may have.
    stricter: Option<&'static str>,
}

impl Faults {
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes a fault unless `holds`.
    pub fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        self.compared += 1;
        if !holds {
            self.faults.push(what());
        }
    }

    /// Both sides have equal values.
    pub fn same<T: PartialEq + Debug>(&mut self, what: &str, subject: &T, reference: &T) {
        self.check(subject == reference, || {
            format!("{what}: {subject:?}, but {reference:?} of the default provider")
        });
    }

    /// Lets the subject refuse the next outcome that the default provider accepts, if the refusal contains
    /// these words.
    pub fn allowing(&mut self, stricter: Option<&'static str>) -> &mut Self {
        self.stricter = stricter;
        self
    }

    /// Both succeed, or both fail. If the default provider says why, the subject must too. Returns whether
    /// both succeeded.
    pub fn outcome<T: Debug, R: Debug>(
        &mut self,
        what: &str,
        subject: &Result<T, Failure>,
        reference: &Result<R, Failure>,
    ) -> bool {
        let stricter = self.stricter.take();
        match (subject, reference) {
            (Err(ours), Ok(_)) if stricter.is_some_and(|why| ours.text().contains(why)) => {
                self.compared += 1;
                false
            }
            (Ok(_), Ok(_)) => {
                self.compared += 1;
                self.succeeded += 1;
                true
            }
            (Err(ours), Err(theirs)) => {
                // Which call fails is not compared: a mistake may be reported when it is made or when it
                // matters.
                let fine = ours.code <= 0 && (ours.is_readable() || !theirs.is_readable());
                self.check(fine, || format!("{what}: {ours:?}, but {theirs:?} of the default provider"));
                false
            }
            _ => {
                self.check(false, || {
                    format!("{what}: {subject:?}, but {reference:?} of the default provider")
                });
                false
            }
        }
    }

    /// Both succeed with equal values, or both fail.
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

    /// The call succeeds.
    pub fn done<T>(&mut self, what: &str, result: &Result<T, Failure>) {
        self.succeeded += usize::from(result.is_ok());
        self.check(result.is_ok(), || format!("{what}: {:?}", result.as_ref().err()));
    }

    /// The call fails.
    pub fn refused<T: Debug>(&mut self, what: &str, result: &Result<T, Failure>) {
        self.check(result.is_err(), || format!("{what}: {result:?}, but it should fail"));
    }

    /// Fails with all faults, if there are any. Also fails if fewer than `succeeded` calls succeeded:
    /// the test would then compare only failures.
    #[track_caller]
    pub fn none(self, succeeded: usize) {
        let (count, compared) = (self.faults.len(), self.compared);
        assert!(self.faults.is_empty(), "{count} of {compared} differ:\n{}", self.faults.join("\n"));
        assert!(self.succeeded >= succeeded, "only {} calls succeeded, not {succeeded}", self.succeeded);
    }
}

/// The error with which zariz intentionally refuses what the default provider accepts. The default provider
/// ignores some wrong parameters, takes them for zero, or signs by PKCS#1 v1.5 for every padding.
pub fn stricter(operation: Operation, params: &Params) -> Option<&'static str> {
    let signs = matches!(operation, Operation::Sign | Operation::Verify | Operation::Recover);
    let word = |name| params.find(name).filter(Reading::is_text).map(|reading| reading.text().to_owned());
    let number = |name| params.find(name).and_then(|reading| reading.int());
    let mode = match (word("pad-mode").as_deref(), number("pad-mode")) {
        (Some("pkcs1" | "none" | "x931"), _) | (_, Some(1 | 3 | 5)) => None,
        (Some("oaep"), _) | (_, Some(4 | 7)) => signs.then_some("this padding is for encryption"),
        (Some("pss"), _) | (_, Some(6)) => (!signs).then_some("PSS is for signatures"),
        _ => params.find("pad-mode").map(|_| "there is no such padding mode"),
    };
    let salt = word("saltlen").filter(|salt| !["digest", "max", "auto"].contains(&salt.as_str()));
    let no_salt = salt.is_some_and(|salt| salt.parse::<i32>().is_err());
    mode.or(no_salt.then_some("this is not a salt length"))
}
