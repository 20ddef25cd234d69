//! One operation on fixed numbers, twice: `traced rsaz|scalar product|amm|ams BITS`. Prints the result. The
//! second time, `lab/model/arm.py` traces what runs between `begin` and `finish`.

#[cfg(target_arch = "aarch64")]
mod arm {
    use std::arch::asm;
    use std::hint::black_box;

    use zariz_kernels::mul::{self, Product};
    use zariz_kernels::rsaz::{self, Context};
    use zariz_kernels::{Montgomery, OddModulus, scalar};
    use zariz_machines::rsaz::Neon;
    use zariz_machines::scalar::A64;

    #[unsafe(no_mangle)]
    #[inline(never)]
    extern "C" fn begin() {
        // SAFETY: the instruction does nothing.
        unsafe { asm!("nop") }
    }
    #[unsafe(no_mangle)]
    #[inline(never)]
    extern "C" fn finish() {
        // SAFETY: the instructions do nothing.
        unsafe { asm!("nop", "nop") }
    }

    fn run<M: Montgomery, C>(
        operation: &str,
        m: &C,
        [a, b]: &[Vec<u64>; 2],
        mont: impl Fn() -> M,
    ) -> Vec<u64> {
        let bits = 64 * a.len();
        let product = [Product { modulus: m, a, a_bits: bits, b }];
        let mut numbers = mont();
        let [mut x, mut y] = [a, b].map(|number| numbers.enter(&[number], bits));
        let (mut result, start) = (Vec::new(), x.clone());
        for _ in 0..2 {
            x.copy_from_slice(&start);
            begin();
            match operation {
                "product" => result = mul::mul(&mut mont(), black_box(&product))[0].to_vec(),
                "amm" => numbers.amm(black_box(&mut x), black_box(&mut y)),
                "ams" => numbers.ams(black_box(&mut x), 1),
                _ => panic!("no such operation"),
            }
            finish();
        }
        if result.is_empty() { numbers.leave(x, 1)[0].to_vec() } else { result }
    }

    pub fn main() {
        let arguments: Vec<String> = std::env::args().collect();
        let bits: usize = arguments[3].parse().expect("a length");
        let number = |kind: u64| -> Vec<u64> {
            (1..=bits as u64 / 64).map(|i| (i * 3 + kind).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1).collect()
        };
        let mut modulus = number(0);
        *modulus.last_mut().expect("a limb") |= 1 << 63;
        let modulus = OddModulus::new(&modulus).expect("an odd number");
        let mut factors = [number(1), number(2)];
        factors.iter_mut().for_each(|number| *number.last_mut().expect("a limb") >>= 1);
        let result = if arguments[1] == "rsaz" {
            let constants = rsaz::constants(&modulus);
            run(&arguments[2], &constants, &factors, || Context::new(Neon::new(), &constants))
        } else {
            let constants = scalar::Constants::new(&modulus, 1);
            run(&arguments[2], &constants, &factors, || scalar::Context::new(A64::new(), &constants))
        };
        println!("{result:x?}");
    }
}

fn main() {
    #[cfg(target_arch = "aarch64")]
    arm::main();
}
