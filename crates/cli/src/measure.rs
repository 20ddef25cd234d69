//! Measurements for `speed`, `demo` and the tables of the papers: [`stopwatch`] takes the time, [`processor`]
//! has processor times, [`throughput`] compares rates round by round, [`sample`] says how well rounds agree,
//! and [`openssl`] runs the system's program.

pub mod benchmark;
pub mod figures;
pub mod openssl;
pub mod processor;
pub mod sample;
pub mod stopwatch;
pub mod throughput;
pub mod workload;
