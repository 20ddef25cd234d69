//! All assembly in the source has a claim, or a reason why not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use zariz_proof::claims::{others::OTHERS, proved};

#[test]
fn all_assembly_is_proved_or_named() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = BTreeSet::new();
    let crates = ["crates", "lab"].into_iter().flat_map(|folder| entries(&root.join(folder)));
    for folder in crates.filter(|path| path.join("src").is_dir()) {
        let name = folder.file_name().expect("a folder").to_string_lossy().replace('-', "_");
        let name = if name == "zariz" { name } else { format!("zariz_{name}") };
        assembly(&folder.join("src"), &name, &mut found);
    }
    let (claims, others) = (proved(), OTHERS.map(|(place, _)| place));
    let listed: BTreeSet<String> = claims.iter().chain(&others).map(|place| (*place).to_owned()).collect();
    assert_eq!(listed.len(), claims.len() + others.len(), "a place is listed twice");
    assert_eq!(found, listed, "left: in the source; right: with a claim, or a reason in `claims/others.rs`");
}

/// The functions and macros in a folder that contain assembly.
fn assembly(folder: &Path, module: &str, found: &mut BTreeSet<String>) {
    for path in entries(folder) {
        let stem = path.file_stem().expect("a name").to_string_lossy();
        let inner = if matches!(&*stem, "lib" | "main" | "mod") {
            module.to_owned()
        } else {
            format!("{module}::{stem}")
        };
        if path.is_dir() {
            assembly(&path, &inner, found);
            continue;
        }
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        assert!(!matches!(&*extension, "s" | "asm"), "{}: a file of assembly", path.display());
        if extension == "rs" {
            let source = std::fs::read_to_string(&path).expect("a text");
            found.extend(places(&source).into_iter().map(|item| format!("{inner}::{item}")));
        }
    }
}

/// The items of a source that contain assembly.
fn places(source: &str) -> BTreeSet<&str> {
    let (mut item, mut places) = ("", BTreeSet::new());
    for line in source.lines().filter(|line| !line.trim_start().starts_with("//")) {
        item = after(line, "fn ").or(after(line, "macro_rules! ")).unwrap_or(item);
        assert!(!line.contains("asm as "), "assembly by another name: {line}");
        if line.contains("asm!") {
            places.insert(item);
        }
    }
    places
}

/// The name behind a keyword.
fn after<'a>(line: &'a str, keyword: &str) -> Option<&'a str> {
    let at = line
        .find(keyword)
        .filter(|at| line[..*at].chars().next_back().is_none_or(|c| !c.is_alphanumeric()))?;
    let rest = &line[at + keyword.len()..];
    let name = &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())];
    (!name.is_empty()).then_some(name)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    read.map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn assembly_in_functions_and_macros_is_found() {
    let source = "use std::arch::asm;\n// asm!(\npub unsafe extern \"sysv64\" fn one(a: u64) {\n    naked_asm!(\"ret\")\n}\n\
                  fn two() {}\nmacro_rules! three {\n    () => { asm!(\"\") };\n}\nfn four<T>() {\n    global_asm!(\"\");\n}\n";
    assert_eq!(places(source), BTreeSet::from(["one", "three", "four"]));
}
