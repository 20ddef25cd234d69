//! Tables that all numbers of a domain share.

use crate::domain::Domain;
use crate::place::Placed;

/// A domain whose numbers can read one table: all of one modulus, each at its own index. The table holds each
/// entry once, not once for each number side by side.
pub trait Shared: Domain {
    /// The element of a shared table.
    type Element: Copy + Send + Sync + 'static;

    /// The elements of an entry.
    fn elements(&self) -> usize;

    /// `elements` elements, all 0.
    fn blank(&mut self, elements: usize) -> Placed<Self::Element>;

    /// The table entries of all numbers side by side, one after the other: [`elements`](Self::elements) of
    /// each.
    fn share(&mut self, out: &mut [Self::Element], entries: &[Self::Word]);

    /// Brings an entry for each number side by side together. Where there are fewer than
    /// [`count`](Domain::count), the last is repeated.
    fn collect(&mut self, out: &mut [Self::Word], entries: &[&[Self::Element]]);

    /// The entries that the indices name, one for each number side by side. The whole row is read; nothing
    /// else depends on the indices.
    fn select_shared(&mut self, out: &mut [Self::Word], row: &[Self::Element], index: &[u64]);
}

/// The methods of [`Shared`] where numbers come one at a time: its tables are those of one exponentiation.
macro_rules! alone {
    () => {
        type Element = <Self as crate::Domain>::Word;

        fn elements(&self) -> usize {
            crate::Domain::entry_words(self)
        }

        fn blank(&mut self, elements: usize) -> crate::place::Placed<Self::Element> {
            crate::Domain::zeros(self, elements)
        }

        fn share(&mut self, out: &mut [Self::Element], entries: &[Self::Element]) {
            assert!(crate::Domain::count(self) == 1, "a table of one number, for several");
            out.copy_from_slice(entries);
        }

        fn collect(&mut self, out: &mut [Self::Element], entries: &[&[Self::Element]]) {
            out.copy_from_slice(entries[0]);
        }

        fn select_shared(&mut self, out: &mut [Self::Element], row: &[Self::Element], index: &[u64]) {
            assert!(crate::Domain::count(self) == 1, "a table of one number, for several");
            crate::Domain::select(self, out, row, index);
        }
    };
}
