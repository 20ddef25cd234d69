//! Lists of numbers in one piece of memory.

use alloc::vec::Vec;
use core::fmt;
use core::ops::{Index, IndexMut};

use super::{Limbs, be_limbs};

/// Numbers of any lengths that may be secret, one after the other in one piece of memory. Zeroised when
/// dropped.
///
/// A batch takes two allocations, however many numbers it has.
#[derive(Clone, Default, PartialEq)]
pub struct Numbers {
    limbs: Limbs,
    /// Where each number ends.
    ends: Vec<usize>,
}

impl Numbers {
    /// An empty list with room for `numbers` numbers of `limbs` limbs together.
    pub fn with_capacity(numbers: usize, limbs: usize) -> Self {
        Self { limbs: Limbs::new(Vec::with_capacity(limbs)), ends: Vec::with_capacity(numbers) }
    }

    /// Numbers given by big-endian bytes, each as [`from_be_bytes`](super::from_be_bytes) makes it.
    pub fn from_be_bytes<'a>(numbers: impl Iterator<Item = &'a [u8]> + Clone) -> Self {
        let (count, limbs) = numbers
            .clone()
            .fold((0, 0), |(count, limbs), bytes| (count + 1, limbs + bytes.len().div_ceil(8)));
        let mut out = Self::with_capacity(count, limbs);
        for bytes in numbers {
            let number = out.push_zero(bytes.len().div_ceil(8));
            number.iter_mut().zip(be_limbs(bytes)).for_each(|(limb, value)| *limb = value);
        }
        out
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Adds a number of `len` limbs, all 0, and returns it.
    pub fn push_zero(&mut self, len: usize) -> &mut [u64] {
        let start = self.limbs.len();
        self.reserve(len);
        self.limbs.resize(start + len, 0);
        self.ends.push(start + len);
        &mut self.limbs[start..]
    }

    /// Adds a number.
    pub fn push(&mut self, number: &[u64]) {
        self.reserve(number.len());
        self.limbs.extend_from_slice(number);
        self.ends.push(self.limbs.len());
    }

    /// Adds all numbers of another list.
    pub fn append(&mut self, others: Self) {
        if self.limbs.capacity() == 0 && self.is_empty() {
            *self = others;
            return;
        }
        let start = self.limbs.len();
        self.reserve(others.limbs.len());
        self.limbs.extend_from_slice(&others.limbs);
        self.ends.extend(others.ends.iter().map(|end| start + end));
    }

    /// The numbers, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u64]> + DoubleEndedIterator + Clone {
        (0..self.len()).map(|i| &self[i])
    }

    /// The numbers in these places, one after the other.
    pub fn in_order(&self, places: &[usize]) -> Self {
        let mut out = Self::with_capacity(places.len(), self.limbs.len());
        places.iter().for_each(|&place| out.push(&self[place]));
        out
    }

    /// Makes room for so many limbs more. The old memory is wiped.
    fn reserve(&mut self, more: usize) {
        let needed = self.limbs.len() + more;
        if needed > self.limbs.capacity() {
            let mut larger = Vec::with_capacity(needed.max(2 * self.limbs.capacity()));
            larger.extend_from_slice(&self.limbs);
            self.limbs = Limbs::new(larger);
        }
    }

    fn range(&self, i: usize) -> core::ops::Range<usize> {
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[i]
    }
}

impl fmt::Debug for Numbers {
    /// Shows lengths, not numbers: they may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_list().entries(self.iter().map(<[u64]>::len)).finish()
    }
}

impl From<Limbs> for Numbers {
    /// A list of one number, which stays where it is.
    fn from(number: Limbs) -> Self {
        Self { ends: Vec::from([number.len()]), limbs: number }
    }
}

impl Index<usize> for Numbers {
    type Output = [u64];

    fn index(&self, i: usize) -> &[u64] {
        &self.limbs[self.range(i)]
    }
}

impl IndexMut<usize> for Numbers {
    fn index_mut(&mut self, i: usize) -> &mut [u64] {
        let range = self.range(i);
        &mut self.limbs[range]
    }
}

impl<'a> FromIterator<&'a [u64]> for Numbers {
    fn from_iter<I: IntoIterator<Item = &'a [u64]>>(numbers: I) -> Self {
        let mut out = Self::default();
        numbers.into_iter().for_each(|number| out.push(number));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_what_they_were_while_the_list_grows() {
        for room in [0, 3, 100] {
            let mut list = Numbers::with_capacity(room, room);
            assert!(list.is_empty());
            let numbers: Vec<Vec<u64>> =
                (0..9).map(|len| (0..len).map(|i| 100 * len + i).collect()).collect();
            for number in &numbers {
                list.push(number);
            }
            list.push_zero(2)[1] = 7;
            list.append(Numbers::from_be_bytes([&[1, 0, 0, 0, 0, 0, 0, 0, 2][..]].into_iter()));
            let other = list.clone();
            list.append(other.clone());
            assert_eq!(list.len(), 22);
            for (i, expected) in
                numbers.iter().map(|number| &number[..]).chain([&[0, 7][..], &[2, 1]]).enumerate()
            {
                assert_eq!([&list[i], &list[i + 11]], [expected; 2]);
            }
            list[5][0] = 1;
            assert!(list != other && list.iter().zip(other.iter()).filter(|(a, b)| a != b).count() == 1);
            assert_eq!(list.iter().collect::<Numbers>(), list);
            let mut moved = Numbers::default();
            moved.append(list.clone());
            assert_eq!(moved, list);
            assert_eq!(list.in_order(&[21, 3]).iter().collect::<Vec<_>>(), [&list[21], &list[3]]);
        }
        let one = Numbers::from(Limbs::new(alloc::vec![0xab, 1]));
        assert_eq!((one.len(), &one[0], alloc::format!("{one:?}").as_str()), (1, &[0xab, 1][..], "[2]"));
    }
}
