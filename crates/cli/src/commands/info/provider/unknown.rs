//! Settings in OpenSSL's configuration that the module does not have. OpenSSL ignores them, so nothing else
//! reports a mistake in a name.

use serde::Serialize;

/// The share of letters that must agree with another name to suggest it.
const ALIKE: f64 = 0.6;

/// A name that is not a setting of the module.
#[derive(Debug, PartialEq, Serialize)]
pub struct Unknown {
    name: String,
    /// A similar setting, if there is one.
    suggestion: Option<String>,
}

impl Unknown {
    /// Finds the names that are not settings.
    pub fn among(names: &[&str], known: &[String]) -> Vec<Self> {
        let unknown = names.iter().filter(|name| !known.iter().any(|known| known == *name));
        unknown.map(|name| Self { name: (*name).to_owned(), suggestion: closest(name, known) }).collect()
    }

    /// The mistake, and what to write instead.
    pub fn text(&self, known: &[String]) -> String {
        match &self.suggestion {
            Some(suggestion) => format!("unknown setting {}; did you mean {suggestion}?", self.name),
            None => format!("unknown setting {}; the settings are {}", self.name, known.join(", ")),
        }
    }
}

/// The known name that is most similar.
fn closest(name: &str, known: &[String]) -> Option<String> {
    let name = name.to_lowercase().replace('_', "-");
    let score = |known: &String| strsim::normalized_damerau_levenshtein(&name, known);
    let alike = known.iter().map(|known| (score(known), known)).filter(|(score, _)| *score > ALIKE);
    alike.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, known)| known.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_are_recognised() {
        let known = ["engine", "method", "threads", "max-batch", "counters"].map(str::to_owned);
        for (name, meant) in [
            ("thread", "threads"),
            ("Threads", "threads"),
            ("treads", "threads"),
            ("max_batch", "max-batch"),
            ("maxbatch", "max-batch"),
            ("counter", "counters"),
            ("counters-file", "counters"),
            ("engines", "engine"),
            ("mehtod", "method"),
            ("1.threads", "threads"),
        ] {
            assert_eq!(closest(name, &known).as_deref(), Some(meant), "{name}");
        }
        for name in ["x", "provider", "default_properties", "lanes"] {
            assert_eq!(closest(name, &known), None, "{name}");
        }
        let unknown = Unknown::among(&["engine", "thread", "x"], &known);
        let texts: Vec<_> = unknown.iter().map(|unknown| unknown.text(&known)).collect();
        assert_eq!(
            texts,
            [
                "unknown setting thread; did you mean threads?",
                "unknown setting x; the settings are engine, method, threads, max-batch, counters"
            ]
        );
    }
}
