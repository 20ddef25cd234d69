//! The counts that the program shows.

#[cfg(target_arch = "x86_64")]
use crate::model::Avx512Ifma as Shown;
use crate::model::Model;
#[cfg(not(target_arch = "x86_64"))]
use crate::model::Portable as Shown;
use crate::operation::{Operation, digits_for};

/// Sizes that the program shows.
const SIZES: [usize; 3] = [1024, 2048, 4096];

/// crates/cli/src/papers/counts.json: an object a line.
pub fn make() -> String {
    let mut lines = Vec::new();
    for (name, operation) in [("multiply", Operation::Amm), ("square", Operation::Ams)] {
        for bits in SIZES {
            let l = digits_for(bits, Shown::DIGIT_BITS);
            let counts = super::counts::of::<Shown>(operation, l);
            lines.push(format!(
                "  {{\"method\": \"amm\", \"operation\": \"{name}\", \"bits\": {bits}, \"digits\": {l}, \"products\": {}, \
                 \"low\": {}, \"high\": {}, \"additions\": {}, \"carries\": {}}}",
                counts.products, counts.low, counts.high, counts.additions, counts.carries
            ));
        }
    }
    format!("[\n{}\n]\n", lines.join(",\n"))
}
