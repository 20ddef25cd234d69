//! The real machines, where the processor has them.

/// A machine that may be there.
pub trait Present: Sized {
    /// The machine, if the processor has it.
    fn present() -> Option<Self>;
}

impl Present for zariz_machines::batch::Portable<1> {
    fn present() -> Option<Self> {
        Some(Self::new())
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Present;
    use zariz_machines::batch::{Avx2Fma, Avx512Fma, Avx512Ifma, AvxIfma};

    impl Present for Avx2Fma {
        fn present() -> Option<Self> {
            Self::new()
        }
    }
    impl Present for AvxIfma {
        fn present() -> Option<Self> {
            Self::new()
        }
    }
    impl Present for Avx512Fma {
        fn present() -> Option<Self> {
            Self::new()
        }
    }
    impl Present for Avx512Ifma {
        fn present() -> Option<Self> {
            Self::new()
        }
    }
}

/// Calls a generic function for each machine.
macro_rules! each {
    ($function:ident) => {
        $function::<zariz_machines::batch::Portable<1>>();
        #[cfg(target_arch = "x86_64")]
        {
            $function::<zariz_machines::batch::Avx2Fma>();
            $function::<zariz_machines::batch::AvxIfma>();
            $function::<zariz_machines::batch::Avx512Fma>();
            $function::<zariz_machines::batch::Avx512Ifma>();
        }
    };
}
pub(crate) use each;
