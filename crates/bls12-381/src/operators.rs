//! The operators `+`, `-`, `*` and their assigning forms.
//!
//! The assigning forms work in place. A returned value is copied, and the copy is read in halves of what was
//! written, which costs as much as an addition. So write chains with the assigning forms.

use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use zariz_machines::bls12_381 as field;

use crate::Fp;

macro_rules! operator {
    ($assign:ident $assigned:ident, $operator:ident $operated:ident, $what:literal, |$a:ident, $b:ident| $work:block) => {
        impl $assign<&Fp> for Fp {
            #[doc = $what]
            #[inline]
            fn $assigned(&mut self, other: &Self) {
                let ($a, $b) = (&mut self.0, &other.0);
                $work
            }
        }

        impl $assign for Fp {
            #[inline]
            fn $assigned(&mut self, other: Self) {
                self.$assigned(&other);
            }
        }

        impl $operator for Fp {
            type Output = Self;

            #[doc = $what]
            #[inline]
            fn $operated(mut self, other: Self) -> Self {
                self.$assigned(&other);
                self
            }
        }

        impl $operator<&Fp> for Fp {
            type Output = Self;

            #[inline]
            fn $operated(mut self, other: &Self) -> Self {
                self.$assigned(other);
                self
            }
        }

        impl $operator<&Fp> for &Fp {
            type Output = Fp;

            #[inline]
            fn $operated(self, other: &Fp) -> Fp {
                (*self).$operated(other)
            }
        }
    };
}

operator!(AddAssign add_assign, Add add, "The sum.", |a, b| { field::add_assign(a, b) });
operator!(SubAssign sub_assign, Sub sub, "The difference.", |a, b| { field::sub_assign(a, b) });
operator!(MulAssign mul_assign, Mul mul, "The product.", |a, b| {
    #[cfg(target_arch = "x86_64")]
    if let Some(adx) = field::Adx::new() {
        return adx.mul_assign(a, b);
    }
    *a = field::mul_flat(a, b);
});

impl Neg for Fp {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Self::ZERO - self
    }
}

impl Neg for &Fp {
    type Output = Fp;

    #[inline]
    fn neg(self) -> Fp {
        Fp::ZERO - *self
    }
}
