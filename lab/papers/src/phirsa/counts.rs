//! Counted instructions of the carry chains, from the kernels themselves.

use serde::Deserialize;
use zariz_cli::exit::Failure;

/// Counted by running the kernels on counters; the file is generated.
const COUNTS: &str = include_str!("../carry.json");

/// What was counted of a multiplication, or of the two powers of a decryption.
#[derive(Deserialize)]
pub struct Count {
    /// Length of the modulus, of a multiplication.
    bits: Option<usize>,
    /// Length of the key, of a decryption.
    key: Option<usize>,
    /// The bits of a window, of a decryption.
    pub window: Option<usize>,
    /// Instructions in rounds, in the coprocessor's words.
    pub rounds: Option<f64>,
    /// All instructions, in the coprocessor's words.
    pub whole: f64,
    /// What the paper's formula gives for redundant representation.
    pub redundant: Option<f64>,
    /// All instructions by AVX-512F, moves and loads not counted.
    pub avx512f: f64,
}

/// All that was counted.
pub struct Counts(Vec<Count>);

impl Counts {
    /// Reads the file.
    pub fn read() -> Result<Self, Failure> {
        let counts = serde_json::from_str(COUNTS);
        counts.map(Self).map_err(|error| Failure::Input(format!("the counts in this program: {error}")))
    }

    /// A multiplication modulo a number of `bits` bits.
    pub fn multiplication(&self, bits: usize) -> Result<&Count, Failure> {
        self.find(bits, |count| count.bits)
    }

    /// A decryption with a key of `bits` bits.
    pub fn decryption(&self, bits: usize) -> Result<&Count, Failure> {
        self.find(bits, |count| count.key)
    }

    fn find(&self, bits: usize, of: fn(&Count) -> Option<usize>) -> Result<&Count, Failure> {
        let missing = || Failure::Input(format!("the counts in this program lack {bits} bits"));
        self.0.iter().find(|&count| of(count) == Some(bits)).ok_or_else(missing)
    }
}
