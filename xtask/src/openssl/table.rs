//! What the recipes did, for the reader.

use anyhow::{Context, Result, ensure};
use std::fmt::{self, Display};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::{Comparison, Outcome};

/// The tests that end in another way, of each recipe, which the reader sees.
const SHOWN: usize = 5;

/// What zariz did, of its file of counters.
#[derive(Default, PartialEq)]
pub struct Counts {
    private: u64,
    public: u64,
    keys: u64,
    fallbacks: u64,
}

impl Counts {
    /// Reads a file as `counters.rs` of the provider writes it; zeros if no process of the recipe loaded
    /// zariz.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = match fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            bytes => bytes.with_context(|| format!("cannot read {}", path.display()))?,
        };
        ensure!(
            bytes.len() == 64 && bytes.starts_with(b"zariz-c1"),
            "{} is not a file of counters",
            path.display()
        );
        let (numbers, _) = bytes.as_chunks();
        let [private, public, fallbacks, keys] =
            [1, 2, 5, 7].map(|at: usize| u64::from_le_bytes(numbers[at]));
        Ok(Self { private, public, keys, fallbacks })
    }

    /// Whether the recipe asked zariz for nothing.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// The line of a recipe, and the first tests that end in another way.
impl Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { private, public, keys, fallbacks } = self.counts;
        let result = if self.usual == self.zariz { "equal" } else { "DIFFERENT" };
        write!(f, "{:>4} tests, {} {result:<9} ", self.usual.tests.len(), passed(&self.usual))?;
        write!(f, "private {private}, public {public}, keys {keys}, fallbacks {fallbacks}")?;
        for (usual, zariz) in self.differences().take(SHOWN) {
            write!(f, "\n      default: {usual}\n      zariz:   {zariz}")?;
        }
        Ok(())
    }
}

impl Comparison {
    fn differences(&self) -> impl Iterator<Item = (&str, &str)> {
        fn line(outcome: &Outcome, at: usize) -> &str {
            outcome.tests.get(at).map_or("(nothing)", |line| line.trim())
        }
        let longest = self.usual.tests.len().max(self.zariz.tests.len());
        let pairs = (0..longest).map(|at| (line(&self.usual, at), line(&self.zariz, at)));
        pairs.filter(|(usual, zariz)| usual != zariz)
    }
}

fn passed(outcome: &Outcome) -> &'static str {
    if outcome.passed { "passed" } else { "FAILED" }
}

/// The page that is kept, of the whole tree or of some recipes.
pub fn of(version: &str, whole: bool, compared: &[Comparison], others: usize) -> String {
    let different = compared.iter().filter(|comparison| comparison.usual != comparison.zariz).count();
    let mut page = format!(
        "OpenSSL {version}'s own tests, with the default provider and with zariz before it (`cargo xtask openssl`), {}. {} \
         recipes reached zariz, or failed: {different} of them end in another way with zariz. {others} others passed with \
         zariz loaded, without an operation of its. The tests are lines `ok` or `not ok`. Then come the operations of \
         zariz: private, public, keys made, and those that it left to OpenSSL's code.\n\n\
         | recipe | tests | default | zariz | tests that differ | private | public | keys | left |\n\
         |---|---:|---|---|---:|---:|---:|---:|---:|\n",
        if whole { "all recipes" } else { "some of the recipes" },
        compared.len()
    );
    for comparison in compared {
        let Comparison { recipe, usual, zariz, counts } = comparison;
        let Counts { private, public, keys, fallbacks } = counts;
        let (tests, differ) = (usual.tests.len(), comparison.differences().count());
        page += &format!("| {recipe} | {tests} | {} | {} | {differ} ", passed(usual), passed(zariz));
        page += &format!("| {private} | {public} | {keys} | {fallbacks} |\n");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_ends_in_another_way_is_shown() {
        let outcome = |line: &str| Outcome { passed: true, tests: vec!["ok 1".into(), line.into()] };
        let compared = |usual: &str, zariz: &str| Comparison {
            recipe: "test_a".into(),
            usual: outcome(usual),
            zariz: outcome(zariz),
            counts: Counts { private: 1, ..Counts::default() },
        };
        let (equal, different) = (compared("ok 2 - b", "ok 2 - b"), compared("ok 2 - b", "not ok 2 - b"));
        assert!(equal.to_string().ends_with("equal     private 1, public 0, keys 0, fallbacks 0"), "{equal}");
        assert!(
            different.to_string().ends_with("\n      default: ok 2 - b\n      zariz:   not ok 2 - b"),
            "{different}"
        );
        let page = of("3.0.0", true, &[equal, different], 7);
        assert!(page.contains("1 of them end in another way with zariz. 7 others"), "{page}");
        assert!(page.ends_with("| test_a | 2 | passed | passed | 1 | 1 | 0 | 0 | 0 |\n"), "{page}");
    }

    #[test]
    fn counters_that_nobody_wrote_are_zero() {
        assert!(Counts::read(Path::new("/no/such/file")).unwrap().is_none());
        assert!(Counts::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).is_err());
    }
}
