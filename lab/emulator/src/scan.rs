//! Finds every VPMADD52 of the running program: reads its own file, takes the functions from the symbol
//! table, and decodes each from its beginning, so that instruction boundaries are certain.

use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SymbolKind, elf};
use std::collections::BTreeMap;

use crate::form::Form;
use crate::operation::{LONGEST, decode, multiplication};

/// One VPMADD52.
#[derive(Debug)]
pub struct Found {
    /// Its address in this process.
    pub address: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
    pub form: Form,
    /// The mangled names of the functions it is in.
    pub functions: Vec<String>,
}

/// All of them, sorted by address; an error says why they cannot be found, or why not all.
pub fn running_program() -> Result<Vec<Found>, String> {
    const PATH: &str = "/proc/self/exe";
    let file = std::fs::read(PATH).map_err(|error| format!("cannot read {PATH}: {error}"))?;
    let elf = ElfFile64::<Endianness>::parse(&*file)
        .map_err(|error| format!("{PATH} is not a 64-bit ELF file: {error}"))?;
    let bias = bias(&elf)?;
    let mut functions = 0;
    // By address and size: symbols that share both are one function.
    let mut names: BTreeMap<(u64, u64), Vec<String>> = BTreeMap::new();
    for symbol in elf.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0) {
        functions += 1;
        let name = String::from_utf8_lossy(symbol.name_bytes().unwrap_or_default()).into_owned();
        names.entry((symbol.address(), symbol.size())).or_default().push(name);
    }
    if functions == 0 {
        return Err(
            "this program has no symbol table (is it stripped?), so its functions cannot be told apart"
                .into(),
        );
    }
    let sections: Vec<_> = elf.sections().collect();
    let mut found = Vec::new();
    for ((address, size), mut names) in names {
        names.sort();
        let bytes = sections.iter().find_map(|section| section.data_range(address, size).ok().flatten());
        let Some(bytes) = bytes else { continue };
        found.extend(function(bytes, address.wrapping_add(bias), &names)?);
    }
    Ok(found)
}

/// Those of one function. What cannot be decoded ends a function without any (hand-written assembly may be
/// anything); in a function with one it is an error.
fn function(code: &[u8], address: u64, names: &[String]) -> Result<Vec<Found>, String> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < code.len() {
        let rest = &code[at..code.len().min(at + LONGEST)];
        let Some(instruction) = decode(rest, address + at as u64) else {
            return match found.is_empty() {
                true => Ok(found),
                false => Err(format!(
                    "byte {at} of {} does not begin an instruction: {rest:02x?}",
                    names.first().map_or("a function", String::as_str)
                )),
            };
        };
        if let Some((form, ..)) = multiplication(&instruction) {
            let bytes = rest[..instruction.len()].to_vec();
            found.push(Found { address: address + at as u64, bytes, form, functions: names.to_vec() });
        }
        at += instruction.len();
    }
    Ok(found)
}

/// What to add to the addresses in the file: the kernel gives the address of the program headers in memory.
fn bias(elf: &ElfFile64<Endianness>) -> Result<u64, String> {
    // SAFETY: no precondition; the value is 0 if the kernel did not give it.
    let headers = unsafe { libc::getauxval(libc::AT_PHDR) };
    let endian = elf.endian();
    let segments = elf.elf_program_headers();
    let of_headers = segments.iter().find(|segment| segment.p_type(endian) == elf::PT_PHDR);
    let first = segments
        .iter()
        .find(|segment| segment.p_type(endian) == elf::PT_LOAD && segment.p_offset(endian) == 0);
    let address = match (of_headers, first) {
        (Some(segment), _) => segment.p_vaddr(endian),
        (None, Some(segment)) => segment.p_vaddr(endian) + elf.elf_header().e_phoff(endian),
        (None, None) => return Err("the program headers are in no segment of this program".into()),
    };
    match headers {
        0 => Err("the kernel does not say where this program was loaded (AT_PHDR)".into()),
        headers => Ok(headers.wrapping_sub(address)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_found_by_decoding() {
        // vpmadd52luq zmm0, zmm1, zmm2; mov rax, imm64 that holds the same bytes; vpmadd52huq ymm3, ymm4,
        // [rdi]; ret
        let low = [0x62, 0xf2, 0xf5, 0x48, 0xb4, 0xc2];
        let high = [0x62, 0xf2, 0xdd, 0x28, 0xb5, 0x1f];
        let code = [&low[..], &[0x48, 0xb8], &low, &[0, 0], &high, &[0xc3]].concat();
        let found = function(&code, 0x1000, &["f".into()]).expect("whole");
        assert_eq!(found.iter().map(|found| found.address).collect::<Vec<_>>(), [0x1000, 0x1010]);
        assert_eq!([&found[0].bytes[..], &found[1].bytes], [low, high]);
        assert_eq!(found[1].functions, ["f"]);
        // A byte that is not an instruction in 64-bit mode.
        assert!(function(&[0x06, 0xc3], 0, &[]).expect("nothing to find").is_empty());
        let error = function(&[&low[..], &[0x06]].concat(), 0, &["f".into()]).expect_err("damaged");
        assert!(error.contains("byte 6 of f"), "{error}");
    }

    #[test]
    fn the_running_program_is_where_we_think() {
        #[inline(never)]
        fn here() -> u32 {
            std::process::id()
        }
        here();
        let names = running_program().expect("a program with symbols");
        // What is found is in memory as in the file (this test program may have none).
        for found in &names {
            // SAFETY: the program's own code.
            let bytes = unsafe { std::slice::from_raw_parts(found.address as *const u8, found.bytes.len()) };
            assert_eq!(bytes, found.bytes, "{:x} in {:?}", found.address, found.functions);
        }
    }
}
