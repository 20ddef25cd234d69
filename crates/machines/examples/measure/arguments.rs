//! What is to be measured.

use zariz_machines::batch::{Find, NAMES};

/// The words of the command line after the subject.
pub struct Arguments {
    lengths: Vec<usize>,
    names: Vec<String>,
}

impl Arguments {
    /// Numbers are lengths, and all other words names.
    pub fn new(words: impl Iterator<Item = String>) -> Self {
        let (lengths, names) = words.partition::<Vec<String>, _>(|word| word.parse::<usize>().is_ok());
        Self { lengths: lengths.iter().filter_map(|word| word.parse().ok()).collect(), names }
    }

    /// The lengths in bits that were asked for, or `usual` ones.
    pub fn lengths(&self, usual: &[usize]) -> Vec<usize> {
        if self.lengths.is_empty() { usual.to_vec() } else { self.lengths.clone() }
    }

    /// Whether to measure `name`: it is among the words, or none of `all` is.
    pub fn includes(&self, name: &str, all: &[&str]) -> bool {
        let is_named = |name: &str| self.names.iter().any(|word| word == name);
        is_named(name) || !all.iter().any(|name| is_named(name))
    }
    /// The machine of batches, if it is among those to measure and this processor has it.
    pub fn machine<M: Find>(&self) -> Option<M> {
        let wanted = self.includes(M::NAME, NAMES);
        let machine = wanted.then(M::find).flatten();
        if wanted && machine.is_none() {
            eprintln!("{}: this processor lacks it", M::NAME);
        }
        machine
    }
}
