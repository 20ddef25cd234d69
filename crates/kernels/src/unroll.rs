//! Two means to keep accumulators in registers: loops unrolled before the compiler sees them, and digits
//! loaded again (see docs/notes/code-generation.md).

/// Writes `$body` once for every `$j` in `0..$t`: a loop unrolled before the compiler sees it.
///
/// The macro sees the name of a bound, not its value. A bound with a line of its own gets as many copies as
/// that line has numbers. Any other bound gets 20, and the compiler drops those at `$t` and above, but only
/// after it has checked them: two nested loops are 400 copies. So a constant bound, or a small one, should
/// have its line.
macro_rules! each {
    ($j:ident in 0..EIGHT $body:block) => { each!(@ $j EIGHT $body 0 1 2 3 4 5 6 7) };
    ($j:ident in 0..DIGITS $body:block) => { each!(@ $j DIGITS $body 0 1 2 3 4 5 6 7) };
    ($j:ident in 0..LIMBS $body:block) => { each!(@ $j LIMBS $body 0 1 2 3 4 5) };
    ($j:ident in 0..TERM $body:block) => { each!(@ $j TERM $body 0 1 2 3 4 5 6 7 8 9) };
    ($j:ident in 0..HALF_TERM $body:block) => { each!(@ $j HALF_TERM $body 0 1 2 3 4) };
    ($j:ident in 0..HALF_TERM_STEPS $body:block) => { each!(@ $j HALF_TERM_STEPS $body 0 1 2) };
    ($j:ident in 0..WINDOWS $body:block) => { each!(@ $j WINDOWS $body 0 1 2 3) };
    ($j:ident in 0..SETS $body:block) => { each!(@ $j SETS $body 0 1) };
    ($j:ident in 0..PAIRS $body:block) => { each!(@ $j PAIRS $body 0 1 2 3) };
    ($j:ident in 0..ROWS $body:block) => { each!(@ $j ROWS $body 0 1 2 3) };
    ($j:ident in 0..ABOVE $body:block) => { each!(@ $j ABOVE $body 0 1 2 3) };
    ($j:ident in 0..$t:ident $body:block) => {
        each!(@ $j $t $body 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19)
    };
    (@ $j:ident $t:ident $body:block $($i:literal)*) => {{
        const { assert!($t <= [$($i),*].len(), "each! has too few copies for this bound") };
        $(if $i < $t {
            let $j: usize = $i;
            $body
        })*
    }};
}

/// Returns its argument, hidden from the compiler: it then loads the digits from memory again.
#[inline(always)]
pub(crate) fn reload<T: ?Sized>(digits: &T) -> &T {
    core::hint::black_box(digits)
}

/// Like [`reload`], for memory that is written too: values are stored before it, and loaded after it.
#[inline(always)]
pub(crate) fn reload_mut<T: ?Sized>(columns: &mut T) -> &mut T {
    core::hint::black_box(columns)
}
