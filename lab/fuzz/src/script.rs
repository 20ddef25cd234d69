//! Inputs that make a target choose what we want: what `Unstructured` and `structure` read, written.

use std::ops::RangeInclusive;

/// An input under construction. At its end, a target reads zeros: each time the first choice.
#[derive(Clone, Default)]
pub struct Script(pub Vec<u8>);

impl Script {
    /// `int_in_range` of the same range gives this value.
    pub fn int(mut self, range: RangeInclusive<usize>, value: usize) -> Self {
        assert!(range.contains(&value), "{value} is not in {range:?}");
        let most = range.end() - range.start();
        let length = (usize::BITS - most.leading_zeros()).div_ceil(8) as usize;
        self.0.extend(&(value - range.start()).to_be_bytes()[size_of::<usize>() - length..]);
        self
    }

    /// `ratio` with this denominator gives this answer.
    pub fn ratio(self, denominator: usize, answer: bool) -> Self {
        self.int(1..=denominator, if answer { 1 } else { denominator })
    }

    /// `one_of` gives the element at this place of so many.
    pub fn at(self, place: usize, of: usize) -> Self {
        self.int(0..=of - 1, place)
    }

    /// `one_of` gives this element.
    pub fn one_of<T: PartialEq>(self, wanted: &T, of: &[T]) -> Self {
        self.at(of.iter().position(|element| element == wanted).expect("an element"), of.len())
    }

    /// What the target reads as it is.
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// `bytes` gives these.
    pub fn bytes(self, most: usize, bytes: &[u8]) -> Self {
        self.int(0..=most, bytes.len()).raw(bytes)
    }

    /// `edit` of data of that length overwrites these bytes.
    pub fn overwrite(self, length: usize, at: usize, bytes: &[u8]) -> Self {
        self.int(0..=4, 1).int(0..=length, at).int(0..=4, 0).bytes(16, bytes)
    }

    /// `edit` changes nothing.
    pub fn unedited(self) -> Self {
        self.int(0..=4, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::{bytes, edit, one_of};
    use arbitrary::Unstructured;

    #[test]
    fn what_is_written_is_read() {
        let script =
            Script::default().int(3..=3, 3).int(1..=70_000, 69_999).int(0..=255, 200).int(0..=256, 255);
        let script = script.ratio(8, false).ratio(3, true).one_of(&'b', &['a', 'b', 'c']).bytes(64, b"text");
        let Script(input) = script.overwrite(5, 1, b"xy").unedited().raw(b"rest");
        let mut u = Unstructured::new(&input);
        assert_eq!(u.int_in_range(3..=3usize), Ok(3));
        assert_eq!(u.int_in_range(1..=70_000usize), Ok(69_999));
        assert_eq!(u.int_in_range(0..=255usize), Ok(200));
        assert_eq!(u.int_in_range(0..=256usize), Ok(255));
        assert_eq!((u.ratio(7, 8), u.ratio(2, 3)), (Ok(false), Ok(true)));
        assert_eq!(one_of(&mut u, &['a', 'b', 'c']), Ok('b'));
        assert_eq!(bytes(&mut u, 64).as_deref(), Ok(&b"text"[..]));
        let mut data = b"abcde".to_vec();
        for _ in 0..2 {
            edit(&mut u, &mut data).expect("enough bytes");
            assert_eq!(data, b"axyde");
        }
        assert_eq!(u.take_rest(), b"rest");
    }
}
