//! Welch's t-test on the times of two classes, cropped at several percentiles, as dudect does (Reparaz,
//! Balasch and Verbauwhede, "Dude, is my code constant time?", DATE 2017).
//!
//! On a shared machine, most of the noise is slow: for milliseconds at a time, other programs take caches and
//! units of the core. So each test is also made on times less the median of their neighbours, which have
//! classes of their own.

use serde_json::{Value, json};

/// From this `|t|` on, two classes differ: dudect's threshold. Of the tests on two equal classes, about one
/// in 150,000 gets there.
pub const THRESHOLD: f64 = 4.5;

/// The shares of the fastest samples that are tested. What interrupts a program makes samples slow, and noise
/// hides small differences; a difference in rare slow samples shows only without cropping.
const CROPS: [f64; 9] = [1.0, 0.999, 0.99, 0.95, 0.9, 0.75, 0.5, 0.25, 0.1];

/// Fewer samples than this in a class are not tested.
const LEAST: usize = 500;

/// Samples before and after one whose times it is compared with.
const NEIGHBOURS: usize = 4;

/// One measured time.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The class of the input.
    pub class: usize,
    /// In cycles.
    pub time: u32,
}

/// What of a sample is tested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum View {
    /// Its time. Cropping keeps the fastest.
    Time,
    /// Its time less the median of its neighbours' times. Cropping keeps what is nearest to 0.
    Local,
}

impl View {
    /// In tables and data.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Local => "local",
        }
    }

    /// By what samples are cropped.
    fn key(self, value: f64) -> f64 {
        match self {
            Self::Time => value,
            Self::Local => value.abs(),
        }
    }
}

/// The test whose `|t|` is the largest.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// Welch's t; positive if the second class is slower, or varies more.
    pub t: f64,
    /// What was tested.
    pub view: View,
    /// 1 for a test on means, 2 for one on variances.
    pub order: u32,
    /// The share of samples that was kept.
    pub crop: f64,
    /// The samples of both classes, before cropping.
    pub samples: usize,
    /// The median of both classes, in cycles.
    pub median: f64,
    /// By how many cycles the second class is slower, and the standard error: the local view, 90 % of the
    /// samples.
    pub difference: (f64, f64),
}

/// How many tests a verdict is about.
pub const TESTS: usize = 2 * 2 * CROPS.len();

impl Verdict {
    /// Whether the classes differ.
    pub fn differs(&self) -> bool {
        self.t.abs() >= THRESHOLD
    }

    /// The numbers, as data.
    pub fn json(&self) -> Value {
        let &Self { t, view, order, crop, samples, median, difference: (difference, error) } = self;
        json!({
            "t": t, "view": view.name(), "order": order, "kept": crop, "samples": samples, "median_cycles": median,
            "difference_cycles": difference, "standard_error_cycles": error,
        })
    }
}

/// Mean and variance of a sample.
#[derive(Clone, Copy)]
struct Moments {
    count: f64,
    mean: f64,
    variance: f64,
}

impl Moments {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let (count, sum) = values.clone().fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
        let mean = sum / count;
        let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
        Self { count, mean, variance: squares / (count - 1.0) }
    }

    /// The difference of two means, and its standard error.
    fn compare(self, other: Self) -> (f64, f64) {
        (other.mean - self.mean, (self.variance / self.count + other.variance / other.count).sqrt())
    }
}

/// All tests on two classes, and of these the one with the largest `|t|`; `None` if there are too few
/// samples. `samples` are in the order in which they were taken, of these and of other classes.
pub fn test(samples: &[Sample], classes: [usize; 2]) -> Option<Verdict> {
    let local = local(samples);
    let of = |view| {
        classes.map(|class| -> Vec<f64> {
            let mine = samples.iter().zip(&local).filter(|(sample, _)| sample.class == class);
            mine.map(|(sample, &local)| if view == View::Time { sample.time.into() } else { local }).collect()
        })
    };
    let (mut worst, mut difference, mut median) = (None::<(f64, View, u32, f64)>, (0.0, 0.0), 0.0);
    for view in [View::Time, View::Local] {
        let both = of(view);
        let mut keys: Vec<f64> = both.iter().flatten().map(|&value| view.key(value)).collect();
        keys.sort_unstable_by(f64::total_cmp);
        if view == View::Time {
            median = *keys.get(keys.len() / 2)?;
        }
        for crop in CROPS {
            // The limit is one for both classes, so that a class with more slow samples loses more.
            let limit = *keys.get((keys.len() as f64 * crop).ceil() as usize - 1)?;
            let kept = both.each_ref().map(|values| -> Vec<f64> {
                values.iter().copied().filter(|&value| view.key(value) <= limit).collect()
            });
            if kept.iter().any(|values| values.len() < LEAST) {
                continue;
            }
            let first = kept.each_ref().map(|values| Moments::of(values.iter().copied()));
            // Each class is centred by its own mean.
            let second =
                [0, 1].map(|i| Moments::of(kept[i].iter().map(|value| (value - first[i].mean).powi(2))));
            for (order, [a, b]) in [(1, first), (2, second)] {
                let (by, error) = a.compare(b);
                // Without any spread there is no error: equal means are equal, and others differ for certain.
                let t = if by == 0.0 { 0.0 } else { by / error };
                if worst.is_none_or(|(largest, ..)| t.abs() > largest.abs()) {
                    worst = Some((t, view, order, crop));
                }
            }
            if view == View::Local && crop == 0.9 {
                difference = first[0].compare(first[1]);
            }
        }
    }
    let (t, view, order, crop) = worst?;
    let samples = samples.iter().filter(|sample| classes.contains(&sample.class)).count();
    Some(Verdict { t, view, order, crop, samples, median, difference })
}

/// Each time less the median of its neighbours' times.
fn local(samples: &[Sample]) -> Vec<f64> {
    let time = |i: usize| f64::from(samples[i].time);
    let one = |i: usize| {
        let (from, to) = (i.saturating_sub(NEIGHBOURS), (i + NEIGHBOURS + 1).min(samples.len()));
        let mut others: Vec<f64> = (from..to).filter(|&other| other != i).map(time).collect();
        others.sort_unstable_by(f64::total_cmp);
        let middle = others.len() / 2;
        match others.len() {
            0 => 0.0,
            count if count.is_multiple_of(2) => time(i) - (others[middle - 1] + others[middle]) / 2.0,
            _ => time(i) - others[middle],
        }
    };
    (0..samples.len()).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    /// Times around 50,000 cycles, one in fifty of them interrupted, and slow drift; the second class is
    /// slower by `by`, and its spread is another.
    fn samples(random: &mut StdRng, by: u32, spreads: [u32; 2], drift: u32) -> Vec<Sample> {
        let one = |i: u32| {
            let class = random.random_range(0..2usize);
            let noise: u32 = (0..8).map(|_| random.random_range(0..=spreads[class])).sum();
            let interrupted =
                if random.random_range(0..50) == 0 { random.random_range(0..200_000) } else { 0 };
            Sample { class, time: 50_000 + by * class as u32 + noise + interrupted + i / 100 % 7 * drift }
        };
        (0..40_000).map(one).collect()
    }

    #[test]
    fn equal_classes_do_not_differ_and_others_do() {
        let mut random = StdRng::seed_from_u64(1);
        let mut verdict = |by, spreads, drift| {
            let samples = samples(&mut random, by, spreads, drift);
            test(&samples, [0, 1]).expect("enough samples")
        };
        let equal = verdict(0, [100; 2], 0);
        assert!(!equal.differs(), "{equal:?}");
        let slower = verdict(10, [100; 2], 0);
        assert!(slower.t >= THRESHOLD && slower.crop < 1.0, "{slower:?}");
        assert!((slower.difference.0 - 10.0).abs() < 4.0 * slower.difference.1, "{slower:?}");
        // The same mean, and another variance.
        let varied = verdict(40, [100, 90], 0);
        assert!(varied.differs(), "{varied:?}");
        // Only the local view sees through drift.
        let drifting = verdict(10, [100; 2], 1000);
        assert!(drifting.differs() && drifting.view == View::Local, "{drifting:?}");
    }

    #[test]
    fn too_few_samples_are_no_verdict() {
        let samples = samples(&mut StdRng::seed_from_u64(2), 0, [100; 2], 0);
        assert!(test(&samples[..500], [0, 1]).is_none());
        assert!(test(&samples, [0, 2]).is_none());
        assert!(test(&[], [0, 1]).is_none());
    }

    #[test]
    fn welch_by_hand() {
        // Means 2 and 4, variances 1 and 4, three values each: t = 2/√(1/3 + 4/3).
        let [a, b] =
            [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]].map(|values: [f64; 3]| Moments::of(values.into_iter()));
        let (by, error) = a.compare(b);
        assert!((by / error - 2.0 / (5.0f64 / 3.0).sqrt()).abs() < 1e-12);
    }
}
