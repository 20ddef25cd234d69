//! The field of blst, whose Rust binding has functions of C alone: safe calls of those that are measured.
//!
//! The only `unsafe` of the benchmarks. Functions are inlined, so that a call costs what it costs blst's own
//! users.

use blst::{
    blst_bendian_from_fp, blst_fp, blst_fp_add, blst_fp_from_bendian, blst_fp_inverse, blst_fp_mul,
    blst_fp_sqr,
};

/// An element in blst's form.
#[derive(Clone, Copy)]
pub struct Element(blst_fp);

impl Element {
    /// The element that these big-endian bytes encode.
    pub fn from_be_bytes(bytes: &[u8; 48]) -> Self {
        let mut out = blst_fp::default();
        // SAFETY: 48 bytes are read.
        unsafe { blst_fp_from_bendian(&mut out, bytes.as_ptr()) };
        Self(out)
    }

    /// Its encoding.
    pub fn to_be_bytes(self) -> [u8; 48] {
        let mut out = [0; 48];
        // SAFETY: 48 bytes are written.
        unsafe { blst_bendian_from_fp(out.as_mut_ptr(), &self.0) };
        out
    }

    /// `a ← a·b`.
    #[inline(always)]
    pub fn multiply(&mut self, other: &Self) {
        let a: *mut blst_fp = &mut self.0;
        // SAFETY: the result may be where a factor is, as in blst's own code.
        unsafe { blst_fp_mul(a, a, &other.0) }
    }

    /// `a ← a²`.
    #[inline(always)]
    pub fn square(&mut self) {
        let a: *mut blst_fp = &mut self.0;
        // SAFETY: the result may be where the factor is, as in blst's own code.
        unsafe { blst_fp_sqr(a, a) }
    }

    /// `a ← a + b`.
    #[inline(always)]
    pub fn add(&mut self, other: &Self) {
        let a: *mut blst_fp = &mut self.0;
        // SAFETY: the result may be where a summand is, as in blst's own code.
        unsafe { blst_fp_add(a, a, &other.0) }
    }

    /// `a ← 1/a`.
    #[inline(always)]
    pub fn invert(&mut self) {
        let a = self.0;
        // SAFETY: one element is read and one written.
        unsafe { blst_fp_inverse(&mut self.0, &a) }
    }
}
