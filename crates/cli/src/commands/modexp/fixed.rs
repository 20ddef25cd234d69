//! Powers of one base modulo one modulus: lines are exponents.

use std::sync::{Arc, PoisonError, RwLock};

use zariz::{FixedBase, Modulus, PowJob, pow_many, pow_many_vartime};
use zeroize::Zeroizing;

use crate::batch::ItemResult;
use crate::number::Number;

/// A base, with a table of its powers for the longest exponents so far.
pub struct Base {
    modulus: Modulus,
    base: Number,
    /// Whether the exponents are public.
    public: bool,
    table: RwLock<Option<Table>>,
}

/// A table, and the longest exponent that it serves, in bytes.
#[derive(Clone)]
struct Table {
    powers: Arc<FixedBase>,
    bytes: usize,
}

impl Base {
    /// A base, without a table yet.
    pub fn new(modulus: Modulus, base: Number, public: bool) -> Self {
        Self { modulus, base, public, table: RwLock::new(None) }
    }

    /// The exponent on a line.
    pub fn parse(line: &[u8]) -> Result<Number, String> {
        let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
        let exponent = fields.next().ok_or("the line is empty: an exponent was expected")?;
        let exponent = Number::parse_bytes(exponent).map_err(|error| format!("exponent: {error}"))?;
        match fields.next() {
            Some(_) => {
                Err("more than one number on the line: --fixed-base takes one exponent from each line".into())
            }
            None => Ok(exponent),
        }
    }

    /// The base raised to each exponent.
    pub fn powers(&self, exponents: &[Number]) -> Vec<ItemResult<Zeroizing<Vec<u8>>>> {
        let exponents: Vec<&[u8]> = exponents.iter().map(|exponent| &exponent.0[..]).collect();
        let powers = self.with_table(&exponents).unwrap_or_else(|| self.without_table(&exponents));
        powers.into_iter().map(|power| Ok(Number::format(&Zeroizing::new(power)))).collect()
    }

    /// The powers by the table; `None` if there is no table for exponents of this length.
    fn with_table(&self, exponents: &[&[u8]]) -> Option<Vec<Vec<u8>>> {
        // Lengths include leading zeros, as on the lines: values are secret.
        let table = self.table_for(exponents.iter().map(|exponent| exponent.len()).max()?)?;
        let powers =
            if self.public { table.pow_batch_vartime(exponents) } else { table.pow_batch(exponents) };
        powers.ok()
    }

    fn without_table(&self, exponents: &[&[u8]]) -> Vec<Vec<u8>> {
        let job = |exponent| PowJob { modulus: &self.modulus, base: &self.base.0, exponent };
        let jobs: Vec<PowJob> = exponents.iter().map(|exponent| job(*exponent)).collect();
        if self.public { pow_many_vartime(&jobs) } else { pow_many(&jobs) }
    }

    /// A table for exponents of this many bytes: the present one, or a larger one. Making one takes as long
    /// as some tens of powers. Each is twice as large as the last, so only a few are ever made.
    fn table_for(&self, bytes: usize) -> Option<Arc<FixedBase>> {
        let longest = self.modulus.size();
        let serves = |table: &Option<Table>| {
            let table = table.as_ref().filter(|table| bytes <= table.bytes);
            table.map(|table| Arc::clone(&table.powers))
        };
        if bytes > longest {
            return None;
        }
        let known = serves(&self.table.read().unwrap_or_else(PoisonError::into_inner));
        if known.is_some() {
            return known;
        }
        // Other threads wait: they would only make the same table.
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        if serves(&table).is_none() {
            let twice = table.as_ref().map_or(1, |table| 2 * table.bytes);
            let bytes = bytes.max(twice.min(longest));
            let powers = Arc::new(FixedBase::new(&self.modulus, &self.base.0, 8 * bytes).ok()?);
            *table = Some(Table { powers, bytes });
        }
        serves(&table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_grow_with_the_exponents_and_end_with_the_modulus() {
        let modulus = Modulus::new(&[0xff; 24]).expect("odd");
        for public in [false, true] {
            let base = Base::new(modulus.clone(), Number(vec![3].into()), public);
            let bytes = || base.table.read().expect("no panic").as_ref().map(|table| table.bytes);
            // The lengths of exponents, and the table's length after them.
            for (lengths, expected) in
                [(&[1, 2][..], 2), (&[1], 2), (&[3], 4), (&[15], 15), (&[16, 1], 24), (&[25], 24)]
            {
                let exponents: Vec<Number> =
                    lengths.iter().map(|&length| Number(vec![0xa5; length].into())).collect();
                for (power, exponent) in base.powers(&exponents).into_iter().zip(&exponents) {
                    let power = power.expect("computed");
                    assert_eq!(power, Number::format(&modulus.pow(&[3], &exponent.0)), "{lengths:?}");
                }
                assert_eq!(bytes(), Some(expected), "{lengths:?}");
            }
        }
    }

    #[test]
    fn lines_have_one_number() {
        let error = |line: &str| Base::parse(line.as_bytes()).err().unwrap_or_default();
        assert!(error("").contains("empty") && error(" \t").contains("an exponent"));
        assert!(error("2 3").contains("more than one number"));
        assert!(error("g").starts_with("exponent: 'g'"));
        assert_eq!(error(" 0x3\t"), "");
    }
}
