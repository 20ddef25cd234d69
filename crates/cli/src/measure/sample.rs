//! A sample has one figure for each round: medians, and how well the rounds agree.

use serde::Serialize;

use super::figures::rounded;

/// Rounds whose spread exceeds this share of their median are marked as noisy.
pub const SPREAD: f64 = 0.15;

/// A figure for each round.
#[derive(Clone, Debug, Default)]
pub struct Sample(Vec<f64>);

impl Sample {
    /// Adds a round.
    pub fn push(&mut self, figure: f64) {
        self.0.push(figure);
    }

    /// How many rounds there were.
    pub fn rounds(&self) -> usize {
        self.0.len()
    }

    /// The median: the middle figure, or the mean of the middle two; zero if there are none.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The mean; zero if there are none.
    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len().max(1) as f64
    }

    /// How many rounds are below `limit`.
    pub fn below(&self, limit: f64) -> usize {
        self.0.iter().filter(|figure| **figure < limit).count()
    }

    /// This divided by `other`, round by round.
    pub fn per(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(own, other)| own / other).collect())
    }

    /// Applies a function to each figure.
    fn map(&self, turn: impl Fn(f64) -> f64) -> Self {
        Self(self.0.iter().map(|&figure| turn(figure)).collect())
    }

    /// The least one.
    pub fn least(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn most(&self) -> f64 {
        self.0.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// A quantile: `part` of the rounds do not exceed it. Interpolates between two rounds.
    fn quantile(&self, part: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let at = part * sorted.len().saturating_sub(1) as f64;
        let (below, above) = (at.floor() as usize, at.ceil() as usize);
        match (sorted.get(below), sorted.get(above)) {
            (Some(low), Some(high)) => low + (high - low) * at.fract(),
            _ => 0.0,
        }
    }

    /// Whether the middle half of the rounds spreads by more than [`SPREAD`] of the median.
    fn is_spread(&self) -> bool {
        self.quantile(0.75) - self.quantile(0.25) > SPREAD * self.median()
    }

    /// Whether most rounds were disturbed: the middle half of the times spreads by more than [`SPREAD`] of
    /// the median, or the best time is below the median by more than that.
    fn is_disturbed(&self) -> bool {
        self.is_spread() || self.median() - self.least() > SPREAD * self.median()
    }
}

impl FromIterator<f64> for Sample {
    fn from_iter<I: IntoIterator<Item = f64>>(figures: I) -> Self {
        Self(figures.into_iter().collect())
    }
}

/// The figures that a row reports of its rounds, in the row's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Measured {
    /// The median; `None` if it could not be measured.
    pub measured: Option<f64>,
    /// How many rounds there were; `None` for counts.
    pub rounds: Option<usize>,
    /// The least of the rounds.
    pub least: Option<f64>,
    /// The largest of the rounds.
    pub most: Option<f64>,
    /// Whether the rounds spread by more than `SPREAD`.
    pub noisy: bool,
}

impl Measured {
    /// Figures of times, converted by `turn`, for example to thousands of cycles or to a rate.
    pub fn times(sample: &Sample, turn: impl Fn(f64) -> f64) -> Self {
        Self { noisy: sample.is_disturbed(), ..Self::ratios(sample, turn) }
    }

    /// Figures of ratios of times, converted by `turn`.
    pub fn ratios(sample: &Sample, turn: impl Fn(f64) -> f64) -> Self {
        let turned = sample.map(turn);
        Self {
            measured: Some(turned.median()),
            rounds: Some(turned.rounds()),
            least: Some(turned.least()),
            most: Some(turned.most()),
            noisy: sample.is_spread(),
        }
    }

    /// A count instead of a measurement.
    pub fn counted(count: Option<f64>) -> Self {
        Self { measured: count, ..Self::default() }
    }

    /// The same figures with this many decimals.
    pub fn rounded(self, decimals: i32) -> Self {
        let [measured, least, most] = [self.measured, self.least, self.most]
            .map(|figure| figure.map(|figure| rounded(figure, decimals)));
        Self { measured, least, most, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(Sample::default().median(), 0.0);
        assert_eq!(Sample(vec![3.0, 1.0, 2.0]).median(), 2.0);
        assert_eq!(Sample(vec![4.0, 1.0, 2.0, 3.0]).median(), 2.5);
    }

    #[test]
    fn a_row_tells_its_median_and_how_far_its_rounds_are_apart() {
        let sample = Sample(vec![4.0, 2.0, 8.0]);
        let rate = Measured::times(&sample, |time| 8.0 / time);
        let expected =
            Measured { measured: Some(2.0), rounds: Some(3), least: Some(1.0), most: Some(4.0), noisy: true };
        assert_eq!(rate, expected);
        let saved = Measured::ratios(&sample.per(&Sample(vec![4.0; 3])), |ratio| 100.0 * (1.0 - ratio));
        assert_eq!((saved.measured, saved.least, saved.most), (Some(0.0), Some(-100.0), Some(50.0)));
        assert_eq!(Measured::counted(Some(2.04)).rounded(1), Measured::counted(Some(2.0)));
    }

    #[test]
    fn rounds_that_agree_are_not_noisy_and_others_are() {
        let noisy = |rounds: &[f64]| Measured::times(&Sample(rounds.to_vec()), |time| time).noisy;
        // One interrupted round in five does not disqualify the others.
        assert!(!noisy(&[100.0, 101.0, 102.0, 103.0, 900.0]));
        assert!(noisy(&[100.0, 101.0, 110.0, 130.0, 140.0]));
        // The middle half agrees, but one round was much faster.
        assert!(noisy(&[80.0, 100.0, 100.0, 101.0, 101.0]));
        let ratios = Sample(vec![0.8, 1.0, 1.0, 1.01, 1.01]);
        assert!(!Measured::ratios(&ratios, |ratio| ratio).noisy);
        assert_eq!(Sample(vec![1.0, 2.0, 4.0]).quantile(0.75), 3.0);
    }
}
