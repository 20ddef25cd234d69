//! ASYNC jobs, and event loops that wait for them like servers.

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::{mem, ptr};

use super::ffi;

/// A wait context; in a server, each connection has one. Jobs use it one after another.
#[derive(Debug)]
pub struct Wait(*mut ffi::WaitCtx);

impl Wait {
    pub fn new() -> Self {
        // SAFETY: no arguments.
        let wait = unsafe { ffi::ASYNC_WAIT_CTX_new() };
        assert!(!wait.is_null());
        Self(wait)
    }

    pub fn raw(&self) -> *mut ffi::WaitCtx {
        self.0
    }

    /// The file descriptors to wait for.
    pub fn fds(&self) -> Vec<c_int> {
        let mut count = 0;
        // SAFETY: a live context; the first call gives the number, the second has that much space.
        unsafe {
            assert_eq!(ffi::ASYNC_WAIT_CTX_get_all_fds(self.0, ptr::null_mut(), &mut count), 1);
            let mut fds = vec![-1; count];
            assert_eq!(ffi::ASYNC_WAIT_CTX_get_all_fds(self.0, fds.as_mut_ptr(), &mut count), 1);
            fds
        }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        // SAFETY: ours.
        unsafe { ffi::ASYNC_WAIT_CTX_free(self.0) };
    }
}

type Work<'a> = Box<dyn FnMut() -> c_int + 'a>;

/// A job: work that may pause, on a small stack of its own. It belongs to the thread that starts it.
pub struct Job<'a> {
    job: *mut ffi::AsyncJob,
    pub wait: Wait,
    // Boxed separately: the job's stack has its address.
    work: *mut Work<'a>,
    of: PhantomData<&'a ()>,
    /// How often it has paused.
    pub pauses: usize,
    /// What its work returned.
    pub result: Option<c_int>,
}

impl<'a> Job<'a> {
    pub fn new(work: impl FnMut() -> c_int + 'a) -> Self {
        Self::with(Wait::new(), work)
    }

    /// A job that waits through this context.
    pub fn with(wait: Wait, work: impl FnMut() -> c_int + 'a) -> Self {
        let work: Work<'a> = Box::new(work);
        let work = Box::into_raw(Box::new(work));
        Self { job: ptr::null_mut(), wait, work, of: PhantomData, pauses: 0, result: None }
    }

    /// Starts or resumes the job. Returns whether it is done.
    pub fn resume(&mut self) -> bool {
        unsafe extern "C" fn run(argument: *mut c_void) -> c_int {
            // SAFETY: the argument given below, copied: a pointer to the work, which lives as long as the
            // job.
            unsafe { (**argument.cast::<*mut Work>())() }
        }
        assert!(self.result.is_none(), "resumed, but done");
        let (mut result, mut work) = (-1, self.work);
        let (argument, size) = ((&raw mut work).cast(), size_of::<*mut Work>());
        // SAFETY: the wait context and the work live as long as the job; the argument is copied.
        let state =
            unsafe { ffi::ASYNC_start_job(&mut self.job, self.wait.0, &mut result, run, argument, size) };
        match state {
            ffi::ASYNC_PAUSE => {
                self.pauses += 1;
                false
            }
            ffi::ASYNC_FINISH => {
                self.result = Some(result);
                true
            }
            _ => panic!("ASYNC_start_job returns {state}: {:?}", super::failure::take_errors()),
        }
    }

    /// Whether it has started and is not done.
    pub fn is_paused(&self) -> bool {
        self.pauses > 0 && self.result.is_none()
    }

    /// Abandons the job, like a server whose client has gone: frees the wait context, but never the stack nor
    /// what the stack refers to.
    pub fn abandon(mut self) {
        assert!(self.is_paused());
        self.work = ptr::null_mut();
    }
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        if !self.work.is_null() {
            assert!(
                !self.is_paused() || std::thread::panicking(),
                "a job is dropped in the middle of its work"
            );
            if !self.is_paused() {
                // SAFETY: made by `Box::into_raw`, and no job runs it any more.
                drop(unsafe { Box::from_raw(self.work) });
            }
        }
    }
}

/// Waits until one of these file descriptors can be read, and returns which of them can.
pub fn readable(fds: &[c_int]) -> Vec<bool> {
    let mut polled: Vec<libc::pollfd> =
        fds.iter().map(|&fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect();
    loop {
        // SAFETY: the array has the given length.
        let ready = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, 120_000) };
        if ready > 0 {
            return polled.iter().map(|fd| fd.revents & libc::POLLIN != 0).collect();
        }
        let error = std::io::Error::last_os_error();
        assert!(
            ready < 0 && error.kind() == std::io::ErrorKind::Interrupted,
            "nothing was woken in two minutes: {error}"
        );
    }
}

/// A server's event loop: `concurrent` jobs at a time, `total` in all. Polls their file descriptors, resumes
/// the jobs that are ready, and replaces each job that is done.
pub fn serve<'a>(
    concurrent: usize,
    total: usize,
    mut make: impl FnMut(usize, Wait) -> Job<'a>,
    mut done: impl FnMut(usize, &Job<'a>),
) {
    let mut running: Vec<(usize, Job<'a>)> = Vec::new();
    let mut next = 0;
    let mut idle: Vec<Wait> = (0..concurrent).map(|_| Wait::new()).collect();
    loop {
        while next < total
            && let Some(wait) = idle.pop()
        {
            let mut job = make(next, wait);
            if job.resume() {
                done(next, &job);
                idle.push(mem::replace(&mut job.wait, Wait(ptr::null_mut())));
            } else {
                running.push((next, job));
            }
            next += 1;
        }
        if running.is_empty() {
            return;
        }
        let fds: Vec<c_int> = running.iter().map(|(_, job)| only_fd(job)).collect();
        let ready = readable(&fds);
        for at in (0..running.len()).rev().filter(|&at| ready[at]) {
            let fd = fds[at];
            if running[at].1.resume() {
                let (index, mut job) = running.swap_remove(at);
                done(index, &job);
                idle.push(mem::replace(&mut job.wait, Wait(ptr::null_mut())));
            } else {
                assert_eq!(only_fd(&running[at].1), fd, "another file descriptor than before");
            }
        }
    }
}

/// The one file descriptor of a paused job.
#[track_caller]
pub fn only_fd(job: &Job) -> c_int {
    let fds = job.wait.fds();
    assert_eq!(fds.len(), 1, "file descriptors of a paused job");
    fds[0]
}
