//! What a program or library needs of the system: its processor, its glibc and other libraries.

use anyhow::{Context, Result, ensure};
use object::LittleEndian;
use object::elf::{DT_NEEDED, FileHeader64, Machine};
use object::read::elf::{Dyn, FileHeader};
use std::fs;
use std::path::Path;

use super::GLIBC;
use crate::target::Target;

/// The libraries that a file may need, by the start of their names: parts of glibc, and the unwinder of GCC.
const LIBRARIES: &[&str] =
    &["libc.so.", "libm.so.", "libpthread.so.", "libdl.so.", "librt.so.", "ld-linux-", "libgcc_s.so."];

/// What a file says of itself.
struct Needs {
    machine: Machine,
    libraries: Vec<String>,
    /// The newest version of glibc among those that its symbols need.
    glibc: Option<(String, (u32, u32))>,
}

/// Fails if a file is for another processor, or needs a newer glibc or other libraries than we promise.
pub fn check(file: &Path, target: &Target) -> Result<()> {
    let data = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let needs = read(&data).with_context(|| format!("{} cannot be read as 64-bit ELF", file.display()))?;
    let shown = file.display();
    ensure!(needs.machine == target.machine, "{shown} is for machine {:?}", needs.machine);
    let may_need = |name: &&String| LIBRARIES.iter().any(|start| name.starts_with(start));
    let others: Vec<_> = needs.libraries.iter().filter(|name| !may_need(name)).collect();
    ensure!(others.is_empty(), "{shown} needs {others:?}");
    let (name, needed) = needs.glibc.with_context(|| format!("{shown} needs no glibc at all"))?;
    ensure!(needed <= GLIBC, "{shown} needs {name}, which is newer than {}.{}", GLIBC.0, GLIBC.1);
    println!("{} for {}: needs {name}", file.file_name().unwrap_or_default().display(), target.arch);
    Ok(())
}

/// The part of a version that compatible ones share: as crates/capi/build.rs names the library.
pub fn compatible(version: &str) -> String {
    let mut parts = version.split('.');
    match (parts.next().unwrap_or_default(), parts.next().unwrap_or_default()) {
        ("0", minor) => format!("0.{minor}"),
        (major, _) => major.to_owned(),
    }
}

fn read(data: &[u8]) -> object::Result<Needs> {
    let header = FileHeader64::<LittleEndian>::parse(data)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, data)?;
    let mut needs = Needs { machine: header.e_machine(endian), libraries: Vec::new(), glibc: None };
    if let Some((entries, link)) = sections.dynamic(endian, data)? {
        let strings = sections.strings(endian, data, link)?;
        for entry in entries.iter().filter(|entry| entry.tag(endian) == DT_NEEDED) {
            needs.libraries.push(String::from_utf8_lossy(entry.string(endian, strings)?).into_owned());
        }
    }
    let Some((mut libraries, link)) = sections.gnu_verneed(endian, data)? else { return Ok(needs) };
    let strings = sections.strings(endian, data, link)?;
    let mut newest = None;
    while let Some((_, mut versions)) = libraries.next()? {
        while let Some(version) = versions.next()? {
            let name = String::from_utf8_lossy(version.name(endian, strings)?).into_owned();
            let number = name.strip_prefix("GLIBC_").and_then(number);
            newest = newest.max(number.map(|number| (number, name)));
        }
    }
    needs.glibc = newest.map(|(number, name)| (name, number));
    Ok(needs)
}

/// `2.2.5` is older than `2.28`.
fn number(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_needs_a_glibc() {
        let program = fs::read(std::env::current_exe().unwrap()).unwrap();
        let needs = read(&program).unwrap();
        let (name, needed) = needs.glibc.unwrap();
        assert!(name.starts_with("GLIBC_2.") && needed > number("2.2.5").unwrap(), "{name}");
        assert!(needs.libraries.iter().any(|name| name == "libc.so.6"), "{:?}", needs.libraries);
        assert!(needs.machine == Target::host().unwrap().machine);
        assert!(number("PRIVATE").is_none() && number("2.9") < number("2.28"));
    }
}
