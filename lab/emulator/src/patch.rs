//! Makes instructions trap that the processor has: their first two bytes become UD2, and the table of
//! [`sites`] keeps what they were.

use std::ptr;
use std::sync::atomic::AtomicU64;

use crate::form::Form;
use crate::operation::{LONGEST, decode, multiplication};
use crate::scan::Found;
use crate::sites::{self, Site};

/// The instruction that is undefined for ever: 0F 0B.
pub const UD2: [u8; 2] = [0x0f, 0x0b];

/// The sizes of pages in which protections can be changed are multiples of this; text is at least so aligned.
pub const PAGE: u64 = 4096;

/// The table entries of what a scan has found.
pub fn sites(found: Vec<Found>) -> Vec<Site> {
    let entry = |found: Found| {
        let mut original = [0; LONGEST];
        original[..found.bytes.len()].copy_from_slice(&found.bytes);
        let functions = Vec::leak(found.functions);
        Site { address: found.address, original, form: found.form, functions, executed: AtomicU64::new(0) }
    };
    found.into_iter().map(entry).collect()
}

/// Overwrites every known site of this program's text that has this form.
///
/// # Safety
/// The sites must be instructions of this program's text, known to the table, and the handler must be
/// installed. Threads that run that text meanwhile find the old instruction or the new one: the pages stay
/// executable, and the two bytes are written as one word where they do not straddle a cache line.
pub unsafe fn overwrite(form: Form) -> Result<(), String> {
    let sites: Vec<&Site> = sites::all().iter().copied().filter(|site| site.form == form).collect();
    let mut next = 0;
    while next < sites.len() {
        // A run of sites whose pages touch.
        let (first, mut end) = (page(sites[next].address), next);
        let mut last = first;
        while end < sites.len() && page(sites[end].address) <= last + PAGE {
            last = page(sites[end].address + 1);
            end += 1;
        }
        let len = last + PAGE - first;
        protect(first, len, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC)?;
        let result = sites[next..end].iter().try_for_each(|site| {
            // SAFETY: the caller's promise; the pages are readable and writable now.
            unsafe { overwrite_one(site) }
        });
        protect(first, len, libc::PROT_READ | libc::PROT_EXEC)?;
        result?;
        next = end;
    }
    Ok(())
}

fn page(address: u64) -> u64 {
    address & !(PAGE - 1)
}

fn protect(address: u64, len: u64, protection: libc::c_int) -> Result<(), String> {
    // SAFETY: pages of this program's text, which stays readable and executable; nothing borrows it as data.
    let result = unsafe {
        libc::mprotect(ptr::with_exposed_provenance_mut(address as usize), len as usize, protection)
    };
    match result {
        0 => Ok(()),
        _ => Err(format!(
            "cannot change the protection of {len} bytes of text at {address:#x}: {}",
            std::io::Error::last_os_error()
        )),
    }
}

/// # Safety
/// The site must be an instruction in readable and writable memory.
unsafe fn overwrite_one(site: &Site) -> Result<(), String> {
    let code: *mut u8 = ptr::with_exposed_provenance_mut(site.address as usize);
    let Some(instruction) = decode(&site.original, site.address) else {
        return Err(format!("{:02x?} at {:#x} is not an instruction", site.original, site.address));
    };
    // SAFETY: the caller's promise; the instruction is `len` bytes long.
    let there = unsafe { std::slice::from_raw_parts(code, instruction.len()) };
    if there != &site.original[..instruction.len()] {
        return Err(format!(
            "at {:#x} memory has {there:02x?}, but the file has {:02x?}",
            site.address, site.original
        ));
    }
    // SAFETY: the same.
    unsafe { ptr::write_unaligned(code.cast(), UD2) };
    Ok(())
}

/// Makes every VPMADD52 in `code` trap, which is straight machine code from its first byte to its last, and
/// returns how many there are. For tests of instructions that no compiler emits.
///
/// # Safety
/// The handler must be installed before the code runs. As long as the process lives, the address must have no
/// other code than that of this function's last call: a later UD2 at this address would be taken for the
/// instruction.
pub unsafe fn trap(code: &mut [u8]) -> usize {
    let (mut found, mut at) = (Vec::new(), 0);
    let address = code.as_ptr().expose_provenance() as u64;
    while let Some(instruction) = decode(&code[at..code.len().min(at + LONGEST)], address + at as u64) {
        if let Some((form, ..)) = multiplication(&instruction) {
            let bytes = &mut code[at..at + instruction.len()];
            found.push(Found {
                address: address + at as u64,
                bytes: bytes.to_vec(),
                form,
                functions: Vec::new(),
            });
            bytes[..2].copy_from_slice(&UD2);
        }
        at += instruction.len();
    }
    let count = found.len();
    sites::add(sites(found));
    count
}
