//! What a program or module needs of the system's glibc.

use anyhow::{Context, Result, ensure};
use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::FileHeader;
use std::fs;
use std::path::Path;

use super::GLIBC;

/// Fails if a file needs a newer glibc than we promise.
pub fn check(file: &Path) -> Result<()> {
    let data = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let newest = newest(&data).with_context(|| format!("{} cannot be read as ELF", file.display()))?;
    let (name, needed) = newest.with_context(|| format!("{} needs no glibc at all", file.display()))?;
    ensure!(needed <= GLIBC, "{} needs {name}, which is newer than {}.{}", file.display(), GLIBC.0, GLIBC.1);
    println!("{}: needs {name}", file.file_name().unwrap_or_default().to_string_lossy());
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

/// The newest version of glibc among those that the file's symbols need.
fn newest(data: &[u8]) -> object::Result<Option<(String, (u32, u32))>> {
    let header = FileHeader64::<LittleEndian>::parse(data)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, data)?;
    let Some((mut libraries, link)) = sections.gnu_verneed(endian, data)? else { return Ok(None) };
    let strings = sections.strings(endian, data, link)?;
    let mut newest = None;
    while let Some((_, mut versions)) = libraries.next()? {
        while let Some(version) = versions.next()? {
            let name = String::from_utf8_lossy(version.name(endian, strings)?).into_owned();
            let number = name.strip_prefix("GLIBC_").and_then(number);
            newest = newest.max(number.map(|number| (number, name)));
        }
    }
    Ok(newest.map(|(number, name)| (name, number)))
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
        let (name, needed) = newest(&program).unwrap().unwrap();
        assert!(name.starts_with("GLIBC_2.") && needed > number("2.2.5").unwrap(), "{name}");
        assert!(number("PRIVATE").is_none() && number("2.9") < number("2.28"));
    }
}
