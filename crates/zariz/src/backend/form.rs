//! Numbers in Montgomery form on a machine that the caller does not name.

use std::any::Any;

use zariz_kernels::Domain;
use zariz_kernels::limbs;
use zariz_kernels::place::Placed;

use super::Arithmetic;
use crate::prepared::Prepared;

/// Numbers in Montgomery form, one for each of some moduli, on one machine.
pub(crate) trait MontgomeryForm: Send + Sync {
    /// The numbers themselves, to pass to the other functions.
    fn numbers(&self) -> &dyn Any;
    /// Multiplies by the numbers of another form. Returns whether that is of the same machine and length; if
    /// not, nothing changes. Precondition: its moduli, how many they are, and its engine are the same.
    fn multiply(&mut self, numbers: &dyn Any) -> bool;
    fn square(&mut self);
    fn clone_box<'b>(&self) -> Box<dyn MontgomeryForm + 'b>
    where
        Self: 'b;
    /// The numbers as they are, fully reduced.
    fn leave(&self) -> limbs::Numbers;
    /// The numbers as a table entry, for [`multiply_entry`](Self::multiply_entry).
    #[cfg(feature = "papers")]
    fn to_entry(&self) -> Box<dyn Any + Send + Sync>;
    /// Like [`multiply`](Self::multiply), by a table entry.
    #[cfg(feature = "papers")]
    fn multiply_entry(&mut self, entry: &dyn Any) -> bool;
}

pub(super) struct InDomain<'a, A: Arithmetic> {
    machine: A,
    moduli: Vec<&'a Prepared>,
    domain: A::Domain<'a>,
    numbers: Numbers<A>,
}

/// Numbers in the domain of an arithmetic.
type Numbers<A> = Placed<<A as Arithmetic>::Word>;

impl<'a, A: Arithmetic> InDomain<'a, A> {
    /// Brings numbers of at most `bits` bits into the domain. Precondition: the machine is
    /// [held](Arithmetic::held).
    pub fn new(machine: A, moduli: &[&'a Prepared], numbers: &[&[u64]], bits: usize) -> Self {
        let mut domain = super::domain(machine, moduli);
        let numbers = domain.enter(numbers, bits);
        // The domain is kept as long as the numbers, which change.
        domain.forget();
        Self { machine, moduli: moduli.to_vec(), domain, numbers }
    }

    /// Another form's numbers, if they have the length of ours or, for a table entry, of an entry.
    fn downcast<'b>(&self, other: &'b dyn Any, words: usize) -> Option<&'b Numbers<A>> {
        other.downcast_ref::<Numbers<A>>().filter(|numbers| numbers.len() == words)
    }
}

impl<A: Arithmetic> MontgomeryForm for InDomain<'_, A> {
    fn numbers(&self) -> &dyn Any {
        &self.numbers
    }
    fn multiply(&mut self, numbers: &dyn Any) -> bool {
        let Some(numbers) = self.downcast(numbers, self.numbers.len()) else { return false };
        self.machine.held(|| self.domain.amm(&mut self.numbers, numbers));
        true
    }
    fn square(&mut self) {
        self.machine.held(|| self.domain.ams(&mut self.numbers, 1));
    }
    fn clone_box<'b>(&self) -> Box<dyn MontgomeryForm + 'b>
    where
        Self: 'b,
    {
        let Self { machine, moduli, numbers, .. } = self;
        let domain = machine.held(|| super::domain(*machine, moduli));
        Box::new(Self { machine: *machine, moduli: moduli.clone(), domain, numbers: numbers.clone() })
    }
    fn leave(&self) -> limbs::Numbers {
        self.machine.held(|| super::domain(self.machine, &self.moduli).leave(self.numbers.clone(), self.moduli.len()))
    }
    #[cfg(feature = "papers")]
    fn to_entry(&self) -> Box<dyn Any + Send + Sync> {
        self.machine.held(|| {
            let mut domain = super::domain(self.machine, &self.moduli);
            let mut entry = domain.zeros(domain.entry_words());
            entry[..self.numbers.len()].copy_from_slice(&self.numbers);
            domain.complete_entry(&mut entry);
            Box::new(entry)
        })
    }
    #[cfg(feature = "papers")]
    fn multiply_entry(&mut self, entry: &dyn Any) -> bool {
        let Some(entry) = self.downcast(entry, self.domain.entry_words()) else { return false };
        self.machine.held(|| self.domain.multiply_entry(&mut self.numbers, entry));
        true
    }
}
