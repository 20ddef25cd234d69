//! The two encodings of VPMADD52, and the machines that they belong to.

/// How VPMADD52 is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// EVEX (AVX512-IFMA): the machine `avx512-ifma`.
    Evex,
    /// VEX (AVX-IFMA): the machine `avx-ifma`.
    Vex,
}

impl Form {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Evex, Self::Vex];

    /// Whether zariz may use the vectors that it needs, which are never emulated.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    pub(crate) fn has_vectors(self) -> bool {
        match self {
            Self::Evex => zariz_machines::has_avx512dq(),
            Self::Vex => zariz_machines::has_avx2(),
        }
    }

    /// Whether the processor announces the instructions, and zariz may use them.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    pub(crate) fn is_announced(self) -> bool {
        match self {
            Self::Evex => zariz_machines::has_avx512ifma(),
            Self::Vex => zariz_machines::has_avxifma(),
        }
    }

    /// The vectors that it needs, in words.
    pub(crate) fn vectors(self) -> &'static str {
        match self {
            Self::Evex => "AVX-512F or AVX-512DQ",
            Self::Vex => "AVX2",
        }
    }
}
