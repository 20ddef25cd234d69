//! Every VPMADD52 that is known beforehand: its address, its bytes before it was made to trap, and how often
//! it ran.
//!
//! A signal handler reads the table, so it takes no lock: the table is replaced as a whole, and never freed.

use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::form::Form;
use crate::operation::LONGEST;

/// One instruction.
#[derive(Debug)]
pub struct Site {
    /// Its address.
    pub address: u64,
    /// Its bytes, as they are without us; those behind its end are zero.
    pub original: [u8; LONGEST],
    pub form: Form,
    /// The functions it is in, by mangled name, smallest first: more than one where the linker has merged
    /// equal ones.
    pub functions: &'static [String],
    /// How often it was emulated.
    pub executed: AtomicU64,
}

/// Sorted by address.
type Table = Vec<&'static Site>;

static TABLE: AtomicPtr<Table> = AtomicPtr::new(ptr::null_mut());
static WRITER: Mutex<()> = Mutex::new(());

/// All sites, sorted by address.
pub fn all() -> &'static [&'static Site] {
    let table = TABLE.load(Ordering::Acquire);
    // SAFETY: null, or made by `add` from a box that is never freed or changed.
    unsafe { table.as_ref() }.map_or(&[], Vec::as_slice)
}

/// Makes sites known. Those whose address is known already replace the older ones.
pub fn add(new: Vec<Site>) {
    let _writer = WRITER.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let new: Table = new.into_iter().map(|site| &*Box::leak(Box::new(site))).collect();
    let kept = all().iter().copied().filter(|old| !new.iter().any(|new| new.address == old.address));
    let mut table: Table = kept.chain(new.iter().copied()).collect();
    table.sort_by_key(|site| site.address);
    TABLE.store(Box::into_raw(Box::new(table)), Ordering::Release);
}

/// Finds sites one after the other; in straight code the next is mostly the neighbour of the last.
pub struct Finder {
    sites: &'static [&'static Site],
    next: usize,
}

impl Finder {
    pub fn new() -> Self {
        Self { sites: all(), next: usize::MAX }
    }

    /// The site at an address.
    pub fn find(&mut self, address: u64) -> Option<&'static Site> {
        let index = match self.sites.get(self.next) {
            Some(site) if site.address == address => self.next,
            _ => self.sites.binary_search_by_key(&address, |site| site.address).ok()?,
        };
        self.next = index + 1;
        self.sites.get(index).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(address: u64, first: u8) -> Site {
        let mut original = [0; LONGEST];
        original[0] = first;
        Site { address, original, form: Form::Evex, functions: &[], executed: AtomicU64::new(0) }
    }

    #[test]
    fn found_in_any_order_and_replaced() {
        // Addresses that no code has.
        add(vec![site(30, 1), site(10, 2)]);
        add(vec![site(20, 3), site(30, 4)]);
        let mut finder = Finder::new();
        let mut first = |address| finder.find(address).map(|site| site.original[0]);
        assert_eq!(
            [10, 20, 30, 20, 10, 15, 31, 30].map(&mut first),
            [Some(2), Some(3), Some(4), Some(3), Some(2), None, None, Some(4)]
        );
    }
}
