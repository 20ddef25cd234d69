//! Many jobs in one call: bad ones among good ones get their own status.

use crate::failure::{Failure, Status, ZARIZ_INTERNAL, ZARIZ_OK};
use crate::memory::{array, put};

/// What all kinds of jobs have.
pub(crate) trait Job {
    fn finish(&mut self, status: Status, len: usize);
    fn output(&self) -> (*mut u8, usize);
}

/// Reads jobs, computes the valid ones, and writes each job's result and status. The call fails as the first
/// failed job does.
///
/// # Safety
/// `jobs` is NULL or points to `count` jobs, whose memory is as the header asks.
pub(crate) unsafe fn many<J: Job, P, R: AsRef<[u8]>>(
    jobs: *mut J,
    count: usize,
    read: impl Fn(&J) -> Result<P, Failure>,
    compute: impl FnOnce(&[P]) -> Vec<Result<R, Failure>>,
    has_output: bool,
) -> Result<(), Failure> {
    // SAFETY: as the caller promises.
    let jobs = unsafe { array(jobs, count, "the array of jobs") }?;
    // If there is a panic, no job looks as if it had succeeded.
    jobs.iter_mut().for_each(|job| job.finish(ZARIZ_INTERNAL, 0));
    let (mut right, mut failures) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for job in jobs.iter() {
        failures.push(read(job).map(|parts| right.push(parts)).err());
    }
    let mut results = compute(&right).into_iter();
    drop(right);
    let mut first = None;
    for (i, (job, failure)) in jobs.iter_mut().zip(failures).enumerate() {
        let result = match failure {
            Some(failure) => Err(failure),
            None => results.next().unwrap_or_else(|| Err(Failure::new(ZARIZ_INTERNAL, "there is no result"))),
        };
        let written = result.and_then(|result| {
            let result = result.as_ref();
            let (output, capacity) = job.output();
            if has_output {
                // SAFETY: the caller promises that the output may be written. No reference to an input is
                // left.
                unsafe { put(result, output, capacity) }?;
            }
            Ok(result.len())
        });
        match written {
            Ok(len) => job.finish(ZARIZ_OK, len),
            Err(Failure { status, message }) => {
                job.finish(status, 0);
                let message = if count == 1 { message } else { format!("job {i} of {count}: {message}") };
                first.get_or_insert(Failure { status, message });
            }
        }
    }
    first.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;
    use crate::failure::guard;

    struct Plain(Status, usize);

    impl Job for Plain {
        fn finish(&mut self, status: Status, len: usize) {
            (self.0, self.1) = (status, len);
        }
        fn output(&self) -> (*mut u8, usize) {
            (ptr::null_mut(), 0)
        }
    }

    /// A panic while jobs are computed is a failure of the call and of every job, whatever was there before.
    #[test]
    fn panics_fail_closed() {
        let mut jobs = [const { Plain(ZARIZ_OK, 7) }; 3];
        let compute = |_: &[()]| -> Vec<Result<[u8; 0], Failure>> { panic!("a fault of zariz") };
        // SAFETY: the jobs are there, and have no other memory.
        let status = guard(|| unsafe { many(jobs.as_mut_ptr(), jobs.len(), |_| Ok(()), compute, false) });
        assert_eq!(status, ZARIZ_INTERNAL);
        assert!(jobs.iter().all(|job| job.0 == ZARIZ_INTERNAL && job.1 == 0));
    }

    /// A result that is missing is a failure too.
    #[test]
    fn missing_results_are_failures() {
        let mut jobs = [const { Plain(ZARIZ_OK, 7) }; 2];
        let compute = |_: &[()]| vec![Ok([0; 0])];
        // SAFETY: the jobs are there, and have no other memory.
        let status = guard(|| unsafe { many(jobs.as_mut_ptr(), jobs.len(), |_| Ok(()), compute, false) });
        assert_eq!((status, jobs[0].0, jobs[1].0), (ZARIZ_INTERNAL, ZARIZ_OK, ZARIZ_INTERNAL));
    }
}
