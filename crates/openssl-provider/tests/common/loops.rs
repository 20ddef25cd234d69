//! Signatures in jobs, in event loops like those of servers.

use std::cell::{Cell, RefCell};

use super::job::{Job, Wait, serve};
use super::module::is_zariz;
use super::operation::Ctx;
use super::signing::{Digest, Known, sign_into};
use super::world::World;

/// A signature under way: the job's buffer and context.
pub struct Signing<'w> {
    known: &'w Known<'w>,
    digest: Digest,
    pub ctx: Option<Ctx<'w>>,
    pub out: Vec<u8>,
}

impl<'w> Signing<'w> {
    pub fn new(world: &'w World, known: &'w Known<'w>) -> Self {
        let (digest, ctx) = (known.digest(), Some(known.context(world)));
        Self { known, digest, ctx, out: vec![0; known.size()] }
    }

    /// A job that signs. It does not borrow this, so the job may be abandoned and this freed.
    pub fn job(&mut self, wait: Wait) -> Job<'w> {
        let (digest, size) = (self.digest, self.out.len());
        let (ctx, out) = (self.ctx.as_ref().expect("a context").raw(), self.out.as_mut_ptr());
        Job::with(wait, move || {
            // SAFETY: the buffer is as long as the signature, and nothing reads it before the job is done.
            sign_into(ctx, &digest, unsafe { std::slice::from_raw_parts_mut(out, size) })
        })
    }

    pub fn is_right(&self) -> bool {
        self.known.is(&self.digest, &self.out)
    }
}

/// Signatures that one thread's event loop makes.
pub struct Signings<'w>(Vec<Signing<'w>>);

impl<'w> Signings<'w> {
    pub fn new(world: &'w World, known: &'w [Known<'w>], total: usize) -> Self {
        Self((0..total).map(|i| Signing::new(world, &known[i % known.len()])).collect())
    }

    /// Runs them in an event loop, `concurrent` at a time. Returns how often their jobs paused.
    pub fn run(&mut self, concurrent: usize) -> usize {
        let (results, pauses) = (RefCell::new(vec![None; self.0.len()]), Cell::new(0));
        serve(
            concurrent,
            self.0.len(),
            |i, wait| self.0[i].job(wait),
            |i, job| {
                results.borrow_mut()[i] = job.result;
                pauses.set(pauses.get() + job.pauses);
            },
        );
        assert!(results.into_inner().iter().all(|result| *result == Some(1)), "some signatures failed");
        pauses.get()
    }

    pub fn are_right(&self) -> bool {
        self.0.iter().all(Signing::is_right)
    }
}

/// Runs signatures in an event loop, and checks them all.
pub fn sign_in_a_loop(world: &World, known: &[Known], concurrent: usize, total: usize) {
    let mut signings = Signings::new(world, known, total);
    let pauses = signings.run(concurrent);
    assert!(signings.are_right(), "some signatures are wrong");
    if is_zariz() {
        // A worker may have the result before its job pauses; but most jobs pause.
        assert!(pauses >= total / 2, "jobs do not pause: {pauses} pauses of {total} jobs");
    }
}
