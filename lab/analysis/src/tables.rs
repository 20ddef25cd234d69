//! The tables in docs/generated, and what the program shows of them.

use std::fs;
use std::path::{Path, PathBuf};

mod carry;
mod chains;
mod counts;
mod intervals;
mod json;
pub mod markdown;
#[cfg(target_arch = "x86_64")]
mod pair;
mod results;
mod rsaz;

/// What writes the tables.
pub const COMMAND: &str = "cargo xtask tables";

/// The lengths in bits for which tables have a row of their own.
pub const SIZES: [usize; 7] = [1024, 1536, 2048, 3072, 4096, 8192, 16_384];

/// A file that is generated.
pub struct Table {
    /// Its path from the root of the repository.
    pub path: &'static str,
    /// Its text.
    pub text: String,
}

/// Runs the analyses and makes all tables.
///
/// # Errors
/// What the intervals could not prove: machine, digit count, block and column; or that this processor's
/// architecture lacks machines that the tables are about.
pub fn all() -> Result<Vec<Table>, String> {
    if !cfg!(target_arch = "x86_64") {
        return Err("the tables are about machines that exist on x86-64 only: make them there".into());
    }
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut))]
    let mut tables = vec![
        Table { path: "docs/generated/intervals.md", text: intervals::make()? },
        Table { path: "docs/generated/counts.md", text: counts::make() },
        Table { path: "lab/papers/src/counts.json", text: json::make() },
        Table { path: "docs/generated/carry.md", text: carry::make()? },
        Table { path: "lab/papers/src/carry.json", text: carry::json() },
        Table { path: "docs/generated/rsaz.md", text: rsaz::make()? },
        Table { path: "lab/papers/src/rsaz.json", text: rsaz::json() },
        Table { path: "docs/generated/results.md", text: results::make()? },
    ];
    #[cfg(target_arch = "x86_64")]
    tables.push(Table { path: "docs/generated/pair.md", text: pair::make()? });
    Ok(tables)
}

/// Writes the tables.
///
/// # Errors
/// The file that cannot be written, and why.
pub fn write(tables: &[Table]) -> Result<(), String> {
    for table in tables {
        let path = absolute(table);
        let folder = path.parent().expect("a table is in a folder");
        fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        fs::write(&path, &table.text).map_err(|error| format!("cannot write {}: {error}", table.path))?;
    }
    Ok(())
}

/// Compares the tables with the files.
///
/// # Errors
/// Each file that differs, with the first lines that do, and the command that writes it anew.
pub fn check(tables: &[Table]) -> Result<(), String> {
    let mut problems = Vec::new();
    for table in tables {
        match fs::read_to_string(absolute(table)) {
            Ok(found) => {
                problems.extend(difference(&found, &table.text).map(|what| format!("{}: {what}", table.path)))
            }
            Err(error) => problems.push(format!("{}: cannot be read: {error}", table.path)),
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(format!(
        "generated tables are not those of this code:\n{}\nLook at what changed, and if it is right, `{COMMAND}` and commit.",
        problems.join("\n")
    ))
}

fn absolute(table: &Table) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(table.path)
}

/// Lines shown of a difference.
const SHOWN: usize = 5;

/// How a file differs from what it shall be.
pub fn difference(found: &str, wanted: &str) -> Option<String> {
    if found == wanted {
        return None;
    }
    let (found, wanted): (Vec<_>, Vec<_>) = (found.lines().collect(), wanted.lines().collect());
    let line = |lines: &[&str], i: usize| {
        lines.get(i).map_or("(no such line)".to_owned(), |line| (*line).to_owned())
    };
    let differing: Vec<usize> =
        (0..found.len().max(wanted.len())).filter(|&i| found.get(i) != wanted.get(i)).collect();
    let mut out = match differing.len() {
        0 => "line ends differ".to_owned(),
        1 => "1 line differs".to_owned(),
        n => format!("{n} lines differ"),
    };
    for &i in differing.iter().take(SHOWN) {
        out +=
            &format!("\n  line {}\n    is     {}\n    should {}", i + 1, line(&found, i), line(&wanted, i));
    }
    Some(out)
}
