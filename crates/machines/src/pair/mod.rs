//! One or two numbers, laid across vectors: on the machines of [`batch`](crate::batch) that have eight lanes.

#[macro_use]
mod entry_points;
mod portable;

#[cfg(target_arch = "x86_64")]
#[macro_use]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod fma;
#[cfg(target_arch = "x86_64")]
mod ifma;
