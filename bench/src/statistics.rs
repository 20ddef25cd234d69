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
    fn ratios_are_taken_round_by_round() {
        // The clock halves after the first round; the ratio does not move.
        let (ours, theirs) = ([Some(200.0), Some(100.0), None], [Some(100.0), Some(50.0), Some(7.0)]);
        assert_eq!(median_ratio(&ours, &theirs), Some(2.0));
        // No round in common: medians.
        assert_eq!(median_ratio(&[Some(6.0), None], &[None, Some(3.0)]), Some(2.0));
        assert_eq!(median_ratio(&[None], &[Some(3.0)]), None);
    }
}
