//! Taking samples: the classes at random, one after the other, through the same memory.

use anyhow::Result;
use rand::Rng;
use rand::rngs::StdRng;
use std::hint::black_box;
use zariz_machines::CycleCounter;

use crate::welch::Sample;

/// An operation whose time is measured, and classes of its input that may not be told apart.
pub trait Experiment {
    /// What the operation returns; it is dropped after the clock was read.
    type Output;

    /// How many classes there are.
    fn classes(&self) -> usize;

    /// The bytes of an input.
    fn input_len(&self) -> usize;

    /// Writes an input of a class. All classes must do the same work here, as far as possible.
    fn prepare(&mut self, class: usize, random: &mut StdRng, input: &mut [u8]) -> Result<()>;

    /// Copies an input to where the operation reads it: the same place for all classes.
    fn place(&mut self, input: &[u8]) -> Result<()>;

    /// The operation.
    fn run(&mut self) -> Result<Self::Output>;
}

/// Inputs that are prepared together, before the first of them is measured: so the branches that were taken
/// just before an operation, which a processor remembers, are those of the measurement, and do not depend on
/// a class.
const CHUNK: usize = 64;

/// Samples that are thrown away, until caches and branch predictors know the operation.
const WARM_UP: usize = 4 * CHUNK;

/// About `count` samples of each class. Each sample's class is drawn at random, so that whatever else
/// happens on the machine slows all classes alike.
pub fn collect(
    experiment: &mut impl Experiment,
    clock: CycleCounter,
    random: &mut StdRng,
    count: usize,
) -> Result<Vec<Sample>> {
    let (classes, len) = (experiment.classes(), experiment.input_len());
    let mut samples = Vec::with_capacity(count * classes + CHUNK);
    let mut inputs = vec![0; CHUNK * len];
    let (mut drawn, mut taken) = ([0; CHUNK], [0; CHUNK]);
    for done in (0..WARM_UP + count * classes).step_by(CHUNK) {
        for (class, input) in drawn.iter_mut().zip(inputs.chunks_exact_mut(len)) {
            *class = random.random_range(0..classes);
            experiment.prepare(*class, random, input)?;
        }
        for (time, input) in taken.iter_mut().zip(inputs.chunks_exact(len)) {
            experiment.place(input)?;
            let start = clock.now();
            let output = black_box(experiment.run());
            let end = clock.now();
            drop(output?);
            *time = u32::try_from(end.saturating_sub(start)).unwrap_or(u32::MAX);
        }
        if done >= WARM_UP {
            samples.extend(drawn.iter().zip(taken).map(|(&class, time)| Sample { class, time }));
        }
    }
    Ok(samples)
}
