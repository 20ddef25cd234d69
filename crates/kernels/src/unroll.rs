//! Loops unrolled before the compiler sees them, and digits read anew: what keeps accumulators in registers
//! (see docs/notes/code-generation.md).

/// Writes `$body` once for every `$j` in `0..$t`, `$t ≤ 20`: a loop unrolled before the compiler sees it.
macro_rules! each {
    ($j:ident in 0..$t:ident $body:block) => {
        each!(@ $j $t $body 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19)
    };
    (@ $j:ident $t:ident $body:block $($i:literal)*) => {{
        const { assert!($t <= 20, "more than each! unrolls") };
        $(if $i < $t {
            let $j: usize = $i;
            $body
        })*
    }};
}

/// Returns its argument, hidden from the compiler, which then reads the digits from memory again.
#[inline(always)]
pub(crate) fn reread<T: ?Sized>(digits: &T) -> &T {
    core::hint::black_box(digits)
}

/// Like [`reread`], for memory that is written too: values are stored before it, and loaded after it.
#[inline(always)]
pub(crate) fn reread_mut<T: ?Sized>(columns: &mut T) -> &mut T {
    core::hint::black_box(columns)
}
