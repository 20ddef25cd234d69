//! The counts that the program shows.

use zariz_kernels::batch::Method;

use super::counts::{Shown, of, product};
use crate::count::Counts;
use crate::model::Model;
use crate::operation::{Operation, digits_for};

/// Sizes that the program shows.
const SIZES: [usize; 3] = [1024, 2048, 4096];

/// lab/papers/src/counts.json: an object a line, for machines with 52-bit digits and tiles as avx512-ifma
/// has them.
///
/// `product` is the product of two numbers without reduction, where that is apart; `multiply` that with
/// reduction, by a table entry where the method has a way of its own for it; `square` a square with
/// reduction. Additions include subtractions and masked negations of columns.
pub fn make() -> String {
    let mut lines = Vec::new();
    for &(name, method) in Method::NAMED {
        for bits in SIZES {
            let l = digits_for(method, bits, Shown::DIGIT_BITS);
            let product = product::<Shown>(method, Operation::Amm, l);
            let multiply =
                of::<Shown>(method, if method.ahmm { Operation::ByEntry } else { Operation::Amm }, l);
            let square = of::<Shown>(method, Operation::Ams, l);
            let all = [("product", product), ("multiply", Some(multiply)), ("square", Some(square))];
            for (operation, counts) in all.into_iter().filter_map(|(name, counts)| Some((name, counts?))) {
                let Counts { products, low, high, carries, .. } = counts;
                lines.push(format!(
                    "  {{\"method\": \"{name}\", \"operation\": \"{operation}\", \"bits\": {bits}, \"digits\": {l}, \
                     \"products\": {products}, \"low\": {low}, \"high\": {high}, \"additions\": {}, \"carries\": {carries}}}",
                    counts.sums()
                ));
            }
        }
    }
    format!("[\n{}\n]\n", lines.join(",\n"))
}
