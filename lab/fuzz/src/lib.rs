//! Fuzz targets. Each module is one target: its `run` takes any bytes, and panics when zariz is wrong.
//!
//! `cargo xtask fuzz` runs them under libFuzzer (`fuzz_targets`); the test below replays `corpus-small` on a
//! stable compiler.
#![deny(unsafe_code)]

pub mod ciphertexts;
mod evp;
pub mod interface;
pub mod keys;
pub mod lines;
mod oracle;
pub mod parameters;
pub mod powers;
mod script;
pub mod signatures;
pub mod stream;
mod structure;

/// A target.
pub struct Target {
    /// The name of its program and of the folders of its inputs.
    pub name: &'static str,
    /// Tries an input.
    pub run: fn(&[u8]),
    /// Inputs made of real things: where a search begins.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

macro_rules! targets {
    ($($name:ident)*) => {
        /// Every target.
        pub const TARGETS: &[Target] =
            &[$(Target { name: stringify!($name), run: $name::run, seeds: $name::seeds }),*];
    };
}
targets!(ciphertexts interface keys lines parameters powers signatures stream);

/// Writes the seeds of a target to the folder that `ZARIZ_FUZZ_SEEDS` names, if it is set.
pub fn write_seeds(target: &str) {
    let Some(folder) = std::env::var_os("ZARIZ_FUZZ_SEEDS").map(std::path::PathBuf::from) else { return };
    let target = TARGETS.iter().find(|known| known.name == target).expect("a target");
    for (i, seed) in (target.seeds)().iter().enumerate() {
        let file = folder.join(format!("seed-{i:03}"));
        std::fs::write(&file, seed).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    /// The small corpus of a target, unpacked.
    fn small_corpus(target: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let archive = here(&format!("corpus-small/{target}.tar.gz"));
        let done = Command::new("tar")
            .arg("-xzf")
            .arg(&archive)
            .arg("-C")
            .arg(folder.path())
            .status()
            .expect("tar runs");
        assert!(done.success(), "cannot unpack {}", archive.display());
        folder
    }

    /// A file or folder of this crate.
    fn here(path: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
    }

    /// The files of a folder, in order.
    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries =
            std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut files: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
        files.sort();
        files
    }

    /// Every seed, every input of the small corpus, and the empty one, through its target.
    #[test]
    fn seeds_and_the_small_corpus_find_nothing() {
        for target in TARGETS {
            (target.run)(&[]);
            for (i, seed) in (target.seeds)().iter().enumerate() {
                // Captured, and shown if it panics.
                println!("seed {i} of {}: {seed:x?}", target.name);
                (target.run)(seed);
            }
            let small = small_corpus(target.name);
            let inputs = files(small.path());
            assert!(inputs.len() >= 5, "{}: a corpus of {} inputs", target.name, inputs.len());
            for path in &inputs {
                println!("{}", path.display());
                (target.run)(
                    &std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
                );
            }
        }
    }

    /// cargo-fuzz finds the targets in files, and we in a list.
    #[test]
    fn every_target_has_its_file() {
        let stem = |path: &PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
        let names: Vec<_> = files(&here("fuzz_targets")).iter().map(stem).collect();
        assert_eq!(names, TARGETS.iter().map(|target| target.name).collect::<Vec<_>>());
    }
}
