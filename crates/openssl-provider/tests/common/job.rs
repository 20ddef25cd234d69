//! ASYNC jobs.
