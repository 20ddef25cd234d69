//! Products and squares of slices of elements.

use zariz::Engine;

use crate::lanes::scalars;
use crate::{Fp, FpError};

/// `out[i] = a[i]·b[i]`: eight at once if the processor has AVX512-IFMA, otherwise one at a time.
///
/// Each product moves its elements into lanes and back. For several operations in a row, use [`crate::Fp8`].
///
/// # Errors
/// [`FpError::LengthsDiffer`] unless all three slices have the same length.
pub fn mul_batch(a: &[Fp], b: &[Fp], out: &mut [Fp]) -> Result<(), FpError> {
    lengths(a.len(), [b.len(), out.len()])?;
    if !by_lanes(|engine| scalars(engine, a, Some(b), out)) {
        for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
            *out = *a;
            *out *= b;
        }
    }
    Ok(())
}

/// `out[i] = a[i]²`: eight at once if the processor has AVX512-IFMA, otherwise one at a time.
///
/// # Errors
/// [`FpError::LengthsDiffer`] unless both slices have the same length.
pub fn sqr_batch(a: &[Fp], out: &mut [Fp]) -> Result<(), FpError> {
    lengths(a.len(), [out.len(); 2])?;
    if !by_lanes(|engine| scalars(engine, a, None, out)) {
        for (out, a) in out.iter_mut().zip(a) {
            *out = *a;
            out.square_assign();
        }
    }
    Ok(())
}

/// Like [`mul_batch`], in the lanes of a given engine, even if that is slower.
///
/// # Errors
/// [`FpError::Engine`] if the processor lacks the engine, [`FpError::WithoutLanes`] for an engine without
/// lanes, and those of [`mul_batch`].
pub fn mul_batch_on(engine: Engine, a: &[Fp], b: &[Fp], out: &mut [Fp]) -> Result<(), FpError> {
    lengths(a.len(), [b.len(), out.len()])?;
    scalars(engine, a, Some(b), out)
}

/// Like [`sqr_batch`], in the lanes of a given engine, even if that is slower.
///
/// # Errors
/// [`FpError::Engine`] if the processor lacks the engine, [`FpError::WithoutLanes`] for an engine without
/// lanes, and those of [`sqr_batch`].
pub fn sqr_batch_on(engine: Engine, a: &[Fp], out: &mut [Fp]) -> Result<(), FpError> {
    lengths(a.len(), [out.len(); 2])?;
    scalars(engine, a, None, out)
}

fn lengths(expected: usize, others: [usize; 2]) -> Result<(), FpError> {
    match others.into_iter().find(|&found| found != expected) {
        Some(found) => Err(FpError::LengthsDiffer { expected, found }),
        None => Ok(()),
    }
}

/// Does the work in lanes if that is faster, including the conversions. Returns whether it did.
///
/// Measured (lab/results/bls12-381-xeon-6-cf-2.json), as a multiple of the time of a product in assembly:
/// 0.95 with AVX512-IFMA, 1.3 with FMA and eight lanes, 1.9 with four.
fn by_lanes(work: impl FnOnce(Engine) -> Result<(), FpError>) -> bool {
    let engine = Engine::best();
    engine == Engine::Avx512Ifma && work(engine).is_ok()
}
