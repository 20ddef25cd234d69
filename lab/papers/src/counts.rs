//! Counted operations: what each method costs in multiplications of digits, from the kernels themselves.

use serde::Deserialize;
use zariz::Method;
use zariz_cli::exit::Failure;

/// Counted by running the kernels on counters; the file is generated.
const COUNTS: &str = include_str!("counts.json");

/// The operations of one product, square or full product of two numbers in every lane.
#[derive(Deserialize)]
struct Count {
    method: String,
    operation: String,
    bits: usize,
    /// Products of two digits of which both halves are used.
    products: f64,
    /// Products of which the lower half alone is used.
    low: f64,
    /// Products of which the upper half alone is used.
    high: f64,
}

/// What was counted of every method.
pub struct Counts(Vec<Count>);

impl Counts {
    /// Reads the file.
    pub fn read() -> Result<Self, Failure> {
        let counts = serde_json::from_str(COUNTS);
        counts.map(Self).map_err(|error| Failure::Input(format!("the counts in this program: {error}")))
    }

    /// What a modular multiplication of numbers of `bits` bits costs, in full products of such numbers by the
    /// same way of multiplying (M). Half a product of digits counts one half. Nothing if it was not counted.
    pub fn multiplication(&self, method: Method, bits: usize) -> Option<f64> {
        Some(self.digit_products(method, bits)? / self.of(method, "product", bits)?)
    }

    /// What a modular multiplication of numbers of `bits` bits costs, in products of digits. Half a product
    /// counts one half. Nothing if it was not counted.
    pub fn digit_products(&self, method: Method, bits: usize) -> Option<f64> {
        self.of(method, "multiply", bits)
    }

    fn of(&self, method: Method, operation: &str, bits: usize) -> Option<f64> {
        let name = method.to_string();
        let is = |count: &&Count| count.method == name && count.operation == operation && count.bits == bits;
        self.0.iter().find(is).map(|count| count.products + (count.low + count.high) / 2.0)
    }
}
