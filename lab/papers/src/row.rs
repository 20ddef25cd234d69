//! A row of a table: our figure beside the published one.

use serde::{Serialize, Serializer};

use zariz_cli::measure::figures::rounded;
use zariz_cli::measure::sample::Measured;

/// The engine of rows that are counted: none.
pub const COUNTED: &str = "counted";

/// A figure beside the published one.
#[derive(Serialize)]
pub struct Row {
    /// What was measured.
    pub row: String,
    /// Length of the modulus or key in bits.
    pub size: usize,
    /// The unit of both figures.
    pub unit: Unit,
    /// The paper's figure; nothing where it has none.
    pub published: Option<f64>,
    /// How the paper's figure was derived, if the paper does not print it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_note: Option<&'static str>,
    /// Ours.
    #[serde(flatten)]
    pub measured: Measured,
    /// The measured time in nanoseconds; nothing for ratios and counts.
    pub nanoseconds: Option<f64>,
    /// What computed it: our engine, or a library with its version; `counted` of counts.
    pub engine: String,
    /// Why nothing was measured, or a caution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The unit of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Reference cycles.
    Cycles,
    /// Thousands of reference cycles.
    ThousandCycles,
    /// Nanoseconds.
    Nanoseconds,
    /// Operations per second.
    PerSecond,
    /// Millions of operations per second.
    MillionsPerSecond,
    /// How many times as fast.
    Times,
    /// How many times as fast, with three decimals.
    Gain,
    /// What is saved, in percent.
    Percent,
    /// Full multiplications of numbers of the modulus's size, by the same way of multiplying.
    Products,
    /// Multiplications of digits.
    DigitProducts,
    /// Vector instructions.
    VectorInstructions,
    /// Machine instructions.
    Instructions,
    /// Bits.
    Bits,
    /// Millionths of a second.
    Microseconds,
    /// Thousandths of a second.
    Milliseconds,
}

impl Unit {
    /// The unit in JSON.
    fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::ThousandCycles => "1000 cycles",
            Self::Nanoseconds => "ns",
            Self::PerSecond => "per second",
            Self::MillionsPerSecond => "millions per second",
            Self::Times | Self::Gain => "times",
            Self::Percent => "percent",
            Self::Products => "M",
            Self::DigitProducts => "digit products",
            Self::VectorInstructions => "vector instructions",
            Self::Instructions => "instructions",
            Self::Bits => "bits",
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
        }
    }

    /// Meaningful decimals.
    fn decimals(self) -> i32 {
        match self {
            Self::Cycles | Self::ThousandCycles | Self::PerSecond | Self::Percent | Self::DigitProducts => 1,
            Self::Instructions | Self::VectorInstructions | Self::Bits => 0,
            Self::Times
            | Self::Gain
            | Self::Products
            | Self::Nanoseconds
            | Self::MillionsPerSecond
            | Self::Microseconds
            | Self::Milliseconds => 3,
        }
    }
}

impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Row {
    /// A row without our figure, which is measured later.
    pub fn new(row: impl Into<String>, size: usize, unit: Unit, published: Option<f64>) -> Self {
        Self {
            row: row.into(),
            size,
            unit,
            published,
            published_note: None,
            measured: Measured::default(),
            nanoseconds: None,
            engine: COUNTED.into(),
            note: None,
        }
    }

    /// A row of something counted.
    pub fn counted(
        row: impl Into<String>,
        size: usize,
        unit: Unit,
        published: Option<f64>,
        count: f64,
    ) -> Self {
        Self { measured: Measured::counted(Some(count)), ..Self::new(row, size, unit, published) }
    }

    /// The row with figures that have no more decimals than mean something.
    pub fn rounded(self) -> Self {
        let decimals = self.unit.decimals();
        Self {
            published: self.published.map(|figure| rounded(figure, decimals)),
            measured: self.measured.rounded(decimals),
            nanoseconds: self.nanoseconds.map(|nanoseconds| rounded(nanoseconds, 1)),
            ..self
        }
    }
}
