//! Products, squares and reductions in steps, each of so few instructions that a processor executes it
//! together with vector code before and behind it.
//!
//! A step is a row's part, of up to [`PART`] limbs, added to limbs in memory: registers that hold a block of a
//! number would be lost to the code around. A [list](List) has the addresses that each step works on; they
//! depend on the length alone.
//!
//! # Registers
//!
//! `r11` is the next step. From one step to the next, `rdx` is a row's multiplier, `r8` the limb that a part
//! of a row carries into the next part (of the subtraction, all ones after a borrow), `r10` the carry of a
//! row into the next one, all ones or 0 (of the diagonal, both carries). `rax`, `rcx`, `rsi`, `rdi` and `r9`
//! belong to a step. All others, and the stack but for a return address, are the caller's.

use core::arch::{asm, naked_asm};

use zariz_kernels::limbs::{self, Limbs};
use zariz_kernels::rsaz::Beside;

use super::Adx;

/// The most limbs in a step of a row.
const PART: usize = 16;
/// The limbs in a step of the diagonal, and of the last subtraction.
const FEW: usize = 4;
/// The bytes of the code for one limb of a row.
const LIMB_CODE: usize = 23;
/// The places of a row's limbs are named from here on, so that the code for each is equally long.
const BIAS: usize = 60;

/// A step, and the addresses of what it works on. The assembly has its offsets.
#[derive(Clone, Copy)]
#[repr(C)]
struct Step {
    code: usize,
    /// The limbs that are changed, less what is biased.
    t: usize,
    /// The limbs that are multiplied.
    a: usize,
    /// Of a new row, the multiplier: a limb of a number. Of a row of the reduction, the lowest limb, and `μ`:
    /// their product is the quotient. Of the subtraction, the modulus.
    multiplier: usize,
    mu: usize,
    /// Where the code of a row begins.
    entry: usize,
}

/// The code for one limb of a row, and the next. The chain of the carry flag takes the products' low halves
/// and the high halves below, that of the overflow flag the limbs of `t`.
macro_rules! two_limbs {
    ($($even:literal $odd:literal)*) => {
        concat!($(
            "mulx r9, rax, [rsi + ", $even, "]\n adcx rax, r8\n",
            "adox rax, [rdi + ", $even, "]\n mov [rdi + ", $even, "], rax\n",
            "mulx r8, rax, [rsi + ", $odd, "]\n adcx rax, r9\n",
            "adox rax, [rdi + ", $odd, "]\n mov [rdi + ", $odd, "], rax\n",
        )*)
    };
}

/// The limbs of a part, and its carry.
macro_rules! limbs_of_a_part {
    () => {
        concat!(
            two_limbs!("-60" "-52" "-44" "-36" "-28" "-20" "-12" "-4" "4" "12" "20" "28" "36" "44" "52" "60"),
            "mov ecx, 0\n adcx r8, rcx\n adox r8, rcx\n",
        )
    };
}

/// Runs the step at `r11`.
///
/// # Safety
/// Only [`Running`] may call it.
#[unsafe(naked)]
unsafe extern "sysv64" fn step() {
    naked_asm!(begin!(), "mov rdi, [r11 + 8]", "mov rsi, [r11 + 16]", "jmp [r11]", cfi!("endproc"))
}

/// A row of a product begins: its multiplier, and the first part.
#[unsafe(naked)]
unsafe extern "sysv64" fn row() {
    naked_asm!(
        begin!(),
        "mov rdx, [r11 + 24]",
        "mov rdx, [rdx]",
        "xor r8d, r8d", // clears both flags
        "xor r9d, r9d", // what an odd number of limbs begins with
        "jmp [r11 + 40]",
        cfi!("endproc"),
    )
}

/// A row of the reduction begins: its quotient, and the first part.
#[unsafe(naked)]
unsafe extern "sysv64" fn quotient_row() {
    naked_asm!(
        begin!(),
        "mov rdx, [r11 + 24]",
        "mov rax, [r11 + 32]",
        "mov rdx, [rdx]",
        "imul rdx, [rax]",
        "xor r8d, r8d", // clears both flags
        "xor r9d, r9d",
        "jmp [r11 + 40]",
        cfi!("endproc"),
    )
}

/// The next part of a row.
#[unsafe(naked)]
unsafe extern "sysv64" fn next_part() {
    naked_asm!(begin!(), "xor eax, eax", "jmp [r11 + 40]", cfi!("endproc"))
}

/// `t ← t + rdx·a + r8`, `r8 ←` its carry, for the last limbs of [`PART`]. The carry is a limb: the sum is at
/// most `2^{64l} − 1 + (2^64 − 1)(2^{64l} − 1) + 2^64 − 1 = 2^{64(l + 1)} − 1`. Cost: a product for each limb.
#[unsafe(naked)]
unsafe extern "sysv64" fn part() {
    naked_asm!(begin!(), limbs_of_a_part!(), "add r11, 48", end!())
}

/// The last [`part`] of a row: its carry, and that of the row before, are added to the limb above, and leave
/// the carry `r10` of this row.
#[unsafe(naked)]
unsafe extern "sysv64" fn last_part() {
    naked_asm!(
        begin!(),
        limbs_of_a_part!(),
        "add r10, r10",
        "adc r8, [rdi + 68]",
        "mov [rdi + 68], r8",
        "sbb r10, r10",
        "add r11, 48",
        end!(),
    )
}

/// One limb of `a`, squared and added to two doubled limbs of `t`. Keeps both chains going.
macro_rules! diagonal {
    ($($at:literal $low:literal $high:literal)*) => {
        concat!($(
            "mov rdx, [rsi + ", $at, "]\n mulx rcx, rax, rdx\n",
            "mov r8, [rdi + ", $low, "]\n adcx r8, r8\n adox r8, rax\n mov [rdi + ", $low, "], r8\n",
            "mov r9, [rdi + ", $high, "]\n adcx r9, r9\n adox r9, rcx\n mov [rdi + ", $high, "], r9\n",
        )*)
    };
}

/// `t ← 2t +` the squares of four limbs of `a`, with both carries from and to `r10`.
#[unsafe(naked)]
unsafe extern "sysv64" fn diagonal() {
    naked_asm!(
        begin!(),
        "mov eax, r10d",
        "shr eax, 1",
        "and r10d, 1",
        "add al, 127", // the overflow flag, and no carry
        "mov rax, -1",
        "adcx r10, rax", // the carry flag
        diagonal!("0" "0" "8" "8" "16" "24" "16" "32" "40" "24" "48" "56"),
        "setc al",
        "seto cl",
        "movzx eax, al",
        "movzx ecx, cl",
        "lea r10, [rax + 2*rcx]",
        "add r11, 48",
        end!(),
    )
}

/// Two limbs: `a ← t − m`, masked by `r10`, with the borrow from and to `r8`.
macro_rules! subtract {
    ($low:literal $high:literal) => {
        concat!(
            "mov rcx, [rdx + ",
            $low,
            "]\n and rcx, r10\n",
            "mov r9, [rdx + ",
            $high,
            "]\n and r9, r10\n",
            "add r8, r8\n",
            "mov r8, [rdi + ",
            $low,
            "]\n sbb r8, rcx\n mov [rsi + ",
            $low,
            "], r8\n",
            "mov r8, [rdi + ",
            $high,
            "]\n sbb r8, r9\n mov [rsi + ",
            $high,
            "], r8\n",
            "sbb r8, r8\n",
        )
    };
}

/// Four limbs of the result: `t`, less the modulus if the last row has carried; `t` is 0 again.
#[unsafe(naked)]
unsafe extern "sysv64" fn subtract() {
    naked_asm!(
        begin!(),
        "mov rdx, [r11 + 24]",
        subtract!("0" "8"),
        subtract!("16" "24"),
        "xor ecx, ecx",
        "mov [rdi], rcx\n mov [rdi + 8], rcx\n mov [rdi + 16], rcx\n mov [rdi + 24], rcx",
        "add r11, 48",
        end!(),
    )
}

/// The lowest four limbs of the result.
#[unsafe(naked)]
unsafe extern "sysv64" fn subtract_first() {
    naked_asm!(begin!(), "xor r8d, r8d", "jmp {subtract}", cfi!("endproc"), subtract = sym subtract)
}

/// No step.
#[unsafe(naked)]
unsafe extern "sysv64" fn pause() {
    naked_asm!(begin!(), "add r11, 48", end!())
}

/// No step any more.
#[unsafe(naked)]
unsafe extern "sysv64" fn stop() {
    naked_asm!(begin!(), end!())
}

/// Montgomery arithmetic modulo one modulus `m` of `n` limbs, `R = 2^{64n}`, in steps.
pub struct Steps {
    n: usize,
    /// The numbers `a` and `b`, the product `t`, of `2n` limbs and 0 between products, `m` and `μ`.
    words: Limbs,
    pub(crate) multiply: List,
    pub(crate) square: List,
}

/// The steps of a product. They read and write the numbers of the [`Steps`] that it is part of.
pub(crate) struct List {
    /// As many as code calls, or more; then one that stays.
    steps: Vec<Step>,
    /// How many are left where code has called all that it calls.
    left: usize,
}

impl Steps {
    /// The machine proves that the processor can run them. `multiply` and `square` are how many steps code calls
    /// beside each product.
    ///
    /// # Panics
    /// Where `m` has no multiple of four limbs.
    pub(crate) fn new(_: Adx, m: &[u64], mu: u64, multiply: usize, square: usize) -> Self {
        let n = m.len();
        assert!(n > 0 && n.is_multiple_of(FEW), "{n} limbs");
        let mut words = limbs::zero(5 * n + 1);
        words[4 * n..5 * n].copy_from_slice(m);
        words[5 * n] = mu;
        let base = words.as_mut_ptr().expose_provenance();
        let at = |word: usize| base + 8 * word;
        let [a, b, t, m, mu] = [0, n, 2 * n, 4 * n, 5 * n];

        let mut products = Vec::new();
        (0..n).for_each(|i| push_row(&mut products, row, at(t + i), at(a), n, [at(b + i), 0]));
        let mut squares = Vec::new();
        // The products above the diagonal, then those on it.
        for i in 0..n - 1 {
            let limbs = n - 1 - i;
            push_row(&mut squares, row, at(t + 2 * i + 1), at(a + i + 1), limbs, [at(a + i), 0]);
        }
        let simple = |code: Code, t, a, multiplier| Step {
            code: code as *const () as usize,
            t,
            a,
            multiplier,
            mu: 0,
            entry: 0,
        };
        squares.extend((0..n).step_by(FEW).map(|i| simple(diagonal, at(t + 2 * i), at(a + i), 0)));
        let lists = [(products, multiply), (squares, square)].map(|(mut steps, places)| {
            (0..n).for_each(|i| push_row(&mut steps, quotient_row, at(t + i), at(m), n, [at(t + i), at(mu)]));
            let code = |i| if i == 0 { subtract_first } else { subtract };
            let subtractions = (0..n).step_by(FEW);
            steps.extend(subtractions.map(|i| simple(code(i), at(t + n + i), at(a + i), at(m + i))));
            // Spread over the places, the last of them at the end.
            let (count, pause) = (steps.len(), simple(pause, 0, 0, 0));
            let spread = (0..places.max(count)).map(|place| {
                let from = place * count / places.max(count);
                let to = (place + 1) * count / places.max(count);
                if to > from { steps[from] } else { pause }
            });
            let steps = spread.chain([simple(stop, 0, 0, 0)]).collect();
            List { steps, left: count.saturating_sub(places) }
        });
        let [multiply, square] = lists;
        Self { n, words, multiply, square }
    }

    /// The factors of a product `a ← a·b/R`, less `m` if that reaches `R`; or of squares of `a`, the first.
    pub(crate) fn load(&mut self, a: &[u64], b: &[u64]) {
        self.words[..a.len()].copy_from_slice(a);
        self.words[self.n..][..b.len()].copy_from_slice(b);
    }

    /// `a`, after a product or squares.
    pub(crate) fn result(&self, a: &mut [u64]) {
        a.copy_from_slice(&self.words[..self.n]);
    }
}

impl List {
    /// All steps, one after the other.
    pub(crate) fn run(&mut self) {
        let steps = self.steps.len() - 1;
        let mut running = Running::new(self);
        (0..steps).for_each(|_| running.step());
    }
}

/// What proofs need of [`Steps`].
#[cfg(feature = "proof")]
pub struct Lists {
    /// The address of the code that runs a step.
    pub step: usize,
    /// The address of the numbers.
    pub numbers: usize,
    /// The words of each step: of a product, and of a square.
    pub steps: [Vec<[usize; 6]>; 2],
}

/// The lists for `n` limbs, spread over `places`. Nothing runs.
#[cfg(feature = "proof")]
pub fn lists(n: usize, places: usize) -> Lists {
    let steps = Steps::new(Adx(()), &vec![1; n], 1, places, places);
    let words = |list: &List| {
        list.steps.iter().map(|it| [it.code, it.t, it.a, it.multiplier, it.mu, it.entry]).collect()
    };
    Lists {
        step: step as *const () as usize,
        numbers: steps.words.as_ptr().expose_provenance(),
        steps: [words(&steps.multiply), words(&steps.square)],
    }
}

/// A part of the assembly.
type Code = unsafe extern "sysv64" fn();

/// Adds the steps of a row: a multiplier times `limbs` limbs at `a`, onto `t`. Its first part is the short one.
fn push_row(
    steps: &mut Vec<Step>,
    first: Code,
    t: usize,
    a: usize,
    limbs: usize,
    [multiplier, mu]: [usize; 2],
) {
    let address = |code: Code| code as *const () as usize;
    let mut done = 0;
    while done < limbs {
        let now = (limbs - done - 1) % PART + 1;
        let (skipped, is_last) = (PART - now, done + now == limbs);
        steps.push(Step {
            code: address(if done == 0 { first } else { next_part }),
            t: t + 8 * done + BIAS - 8 * skipped,
            a: a + 8 * done + BIAS - 8 * skipped,
            multiplier,
            mu,
            entry: address(if is_last { last_part } else { part }) + LIMB_CODE * skipped,
        });
        done += now;
    }
}

/// A product in steps, of which some have run.
pub(crate) struct Running<'a> {
    list: &'a List,
    next: *const Step,
    /// Registers of the steps.
    carry: u64,
    high: u64,
    multiplier: u64,
}

impl<'a> Running<'a> {
    #[inline(always)]
    pub(crate) fn new(list: &'a mut List) -> Self {
        Self { list, next: list.steps.as_ptr(), carry: 0, high: 0, multiplier: 0 }
    }
}

impl Beside for Running<'_> {
    #[inline(always)]
    fn begin(&mut self) {
        self.next = self.list.steps.as_ptr();
        self.carry = 0;
    }

    #[inline(always)]
    fn step(&mut self) {
        // SAFETY: the list was made with a proof that the processor has BMI2 and ADX. `next` is a step of it:
        // each moves on by one, but for the last, which stays. Its addresses are those of numbers that have
        // their lengths, and that live as long as the list. Nothing else uses them while it is borrowed: both
        // are parts of [`Steps`], whose methods alone read or write the numbers.
        unsafe {
            asm!(
                "call {step}",
                step = sym step,
                inout("r11") self.next,
                inout("r10") self.carry,
                inout("r8") self.high,
                inout("rdx") self.multiplier,
                out("rax") _,
                out("rcx") _,
                out("rsi") _,
                out("rdi") _,
                out("r9") _,
            );
        }
    }

    #[inline(always)]
    fn end(&mut self) {
        for _ in 0..self.list.left {
            self.step();
        }
    }
}
