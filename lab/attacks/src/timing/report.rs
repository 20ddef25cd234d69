//! What was found: a table for people, and data.

use serde_json::{Value, json};
use std::fmt::{self, Display, Formatter};

use crate::welch::{TESTS, THRESHOLD, Verdict};

/// Two classes of an operation.
pub struct Row {
    /// The operation.
    pub operation: &'static str,
    /// What computed it: an engine, or how one is chosen.
    pub engine: String,
    /// The class that the other is compared with.
    pub reference: &'static str,
    /// The other class.
    pub class: &'static str,
    /// What their times tell.
    pub verdict: Verdict,
    /// Whether the classes differ on purpose.
    pub planted: bool,
}

impl Row {
    /// Whether the test found what it should.
    pub fn passes(&self) -> bool {
        self.verdict.differs() == self.planted
    }

    /// Data of this row.
    pub fn json(&self) -> Value {
        let &Self { operation, ref engine, reference, class, verdict, planted } = self;
        let mut row = json!({
            "operation": operation, "engine": engine, "reference": reference, "class": class,
            "planted": planted, "passes": self.passes(),
        });
        if let (Value::Object(row), Value::Object(numbers)) = (&mut row, verdict.json()) {
            row.extend(numbers);
        }
        row
    }
}

/// The first lines of the table of rows.
pub fn head() -> String {
    format!(
        "Passes: |t| < {THRESHOLD}, or, where a leak was planted, |t| ≥ {THRESHOLD}. |t| is the largest of {TESTS} tests: \
         on times, and on times less the median of the eight samples around each (local); on means (order 1) and \
         variances (order 2); of what is kept, the fastest samples or those nearest to that median. The difference is \
         that of local means with 90 % kept, and its standard error. Cycles are those of the time stamp counter, for \
         a whole batch.\n\n\
         | operation | engine | class | against | samples | median cycles | difference | \\|t\\| | of | order | kept | |\n\
         |---|---|---|---|---:|---:|---:|---:|---|---:|---:|---|"
    )
}

impl Display for Row {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let Self { operation, engine, reference, class, verdict, .. } = self;
        let Verdict { t, view, order, crop, samples, median, difference: (difference, error) } = verdict;
        let (t, crop, passes) = (t.abs(), 100.0 * crop, if self.passes() { "passes" } else { "FAILS" });
        write!(
            f,
            "| {operation} | {engine} | {class} | {reference} | {samples} | {median} | {difference:+.1} ± {error:.1} \
             | {t:.2} | {} | {order} | {crop} % | {passes} |",
            view.name()
        )
    }
}
