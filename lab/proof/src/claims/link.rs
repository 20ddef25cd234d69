//! Keeps the functions in the program whose file is read.

use std::hint::black_box;
use zariz_kernels::scalar::Kernels;
use zariz_machines::bls12_381::{self, Fe};
use zariz_machines::scalar::Adx;

/// Refers to every function that a claim is about, so that the linker does not drop it.
pub fn link() {
    black_box(<Adx as Kernels>::mul as fn(Adx, &mut [u64], &[u64], &[u64]));
    black_box(<Adx as Kernels>::sqr as fn(Adx, &mut [u64], &[u64]));
    black_box(<Adx as Kernels>::reduce as fn(Adx, &mut [u64], &mut [u64], &[u64], u64));
    black_box(bls12_381::Adx::mul as fn(bls12_381::Adx, &Fe, &Fe) -> Fe);
    black_box(bls12_381::Adx::sqr as fn(bls12_381::Adx, &Fe) -> Fe);
    black_box(bls12_381::add_assign as fn(&mut Fe, &Fe));
    black_box(bls12_381::sub_assign as fn(&mut Fe, &Fe));
}
