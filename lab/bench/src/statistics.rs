//! Medians, percentiles and ratios of paired samples.

/// The sample below which a share `quantile` of all samples lie (nearest rank); none without samples.
pub fn percentile(samples: &[f64], quantile: f64) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let rank = (quantile * last as f64).round() as usize;
    sorted.get(rank.min(last)).copied()
}

/// The middle sample, or the mean of the two in the middle; none without samples.
pub fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some((lower + upper) / 2.0)
}

/// How many times the rate of `theirs` ours is: the median over the rounds in which both were measured, and
/// where there is no such round, the ratio of the medians.
///
/// Noise that lasts longer than a round, such as a change of clock, moves both rates of a pair and leaves
/// their ratio.
pub fn median_ratio(ours: &[Option<f64>], theirs: &[Option<f64>]) -> Option<f64> {
    let ratio = |pair: (&Option<f64>, &Option<f64>)| Some((*pair.0)? / (*pair.1)?);
    let ratios: Vec<f64> = ours.iter().zip(theirs).filter_map(ratio).collect();
    median(&ratios).or_else(|| Some(median_of(ours)? / median_of(theirs)?))
}

/// The median of the rounds that were measured.
pub fn median_of(rates: &[Option<f64>]) -> Option<f64> {
    median(&rates.iter().flatten().copied().collect::<Vec<_>>())
}

/// The mean of samples, and its standard error.
#[derive(Clone, Copy, Debug)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// The standard deviation of the samples over the root of their number.
    pub error: f64,
}

impl Mean {
    /// Of two samples or more.
    pub fn of(samples: &[f64]) -> Self {
        let count = samples.len() as f64;
        let value = samples.iter().sum::<f64>() / count;
        let squares: f64 = samples.iter().map(|sample| (sample - value).powi(2)).sum();
        Self { value, error: (squares / (count - 1.0) / count).sqrt() }
    }

    /// The ratio to another mean, and its 95 % confidence interval: relative errors add as squares.
    pub fn over(&self, other: &Self) -> (f64, [f64; 2]) {
        let ratio = self.value / other.value;
        let relative = (self.error / self.value).hypot(other.error / other.value);
        let half = 1.96 * relative * ratio;
        (ratio, [ratio - half, ratio + half])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_percentiles() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(percentile(&[], 0.5), None);
        let samples: Vec<f64> = (0..=100).map(f64::from).collect();
        assert_eq!(percentile(&samples, 0.99), Some(99.0));
        assert_eq!(percentile(&samples, 1.0), Some(100.0));
    }

    #[test]
    fn means_and_their_ratios() {
        let (a, b) = (Mean::of(&[9.0, 11.0, 10.0, 10.0]), Mean::of(&[5.0, 5.0, 5.0]));
        assert_eq!((a.value, b.value, b.error), (10.0, 5.0, 0.0));
        assert!((a.error - (2.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-12);
        let (ratio, [low, high]) = a.over(&b);
        assert_eq!(ratio, 2.0);
        assert!(
            (high - 2.0 - 1.96 * 2.0 * a.error / 10.0).abs() < 1e-12
                && (2.0 - low - (high - 2.0)).abs() < 1e-12
        );
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        // The clock halves after the first round; the ratio does not move.
        let (ours, theirs) = ([Some(200.0), Some(100.0), None], [Some(100.0), Some(50.0), Some(7.0)]);
        assert_eq!(median_ratio(&ours, &theirs), Some(2.0));
        // No round in common: medians.
        assert_eq!(median_ratio(&[Some(6.0), None], &[None, Some(3.0)]), Some(2.0));
        assert_eq!(median_ratio(&[None], &[Some(3.0)]), None);
    }
}
