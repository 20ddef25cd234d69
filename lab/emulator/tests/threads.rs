//! Several threads that trap at once, compiled code of this very program, and what the counters say of it.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::arch::x86_64::*;
use std::thread;
use zariz_emulator::model::{Half, multiply_add};
use zariz_emulator::{Form, Mode};

/// `sums[i] += lo(a[i]·b[j])`, `highs[i] += hi(a[i]·b[j])` for all `j`: what a compiler makes of kernels.
#[target_feature(enable = "avx2,avxifma")]
#[inline(never)]
fn reached(sums: &mut [[u64; 4]; 6], highs: &mut [[u64; 4]; 6], a: &[[u64; 4]; 6], b: &[[u64; 4]]) {
    // SAFETY: arrays of four words are as large as a vector; loads and stores need no alignment.
    unsafe {
        let load = |x: &[u64; 4]| _mm256_loadu_si256(x.as_ptr().cast());
        let mut low = [_mm256_setzero_si256(); 6];
        let mut high = low;
        for i in 0..6 {
            (low[i], high[i]) = (load(&sums[i]), load(&highs[i]));
        }
        for b in b {
            let b = load(b);
            for i in 0..6 {
                low[i] = _mm256_madd52lo_avx_epu64(low[i], load(&a[i]), b);
                high[i] = _mm256_madd52hi_avx_epu64(high[i], load(&a[i]), b);
            }
        }
        for i in 0..6 {
            _mm256_storeu_si256(sums[i].as_mut_ptr().cast(), low[i]);
            _mm256_storeu_si256(highs[i].as_mut_ptr().cast(), high[i]);
        }
    }
}

/// In the program, but not called.
#[target_feature(enable = "avx2,avxifma")]
#[inline(never)]
fn not_reached(a: __m256i) -> __m256i {
    _mm256_madd52hi_avx_epu64(a, a, a)
}

#[test]
fn threads_do_not_disturb_each_other() {
    std::hint::black_box(not_reached as unsafe fn(__m256i) -> __m256i);
    thread::scope(|scope| {
        for seed in 0..8u64 {
            scope.spawn(move || {
                // All at once: one installs, the others wait.
                match zariz_emulator::emulate().of(Form::Vex) {
                    Mode::Emulated => work(seed),
                    mode => {
                        assert!(!zariz_machines::has_avx2(), "no emulation, though it is possible: {mode:?}");
                        eprintln!("skipped: {mode:?}");
                    }
                }
            });
        }
    });
    if !zariz_emulator::is_emulating(Form::Vex) {
        return;
    }
    let coverage = zariz_emulator::coverage();
    let of = |name: &str| {
        let mut found = coverage.iter().filter(|function| function.name.ends_with(name));
        let one = found.next().unwrap_or_else(|| panic!("{name} is not among {coverage:#?}"));
        assert_eq!(found.next(), None);
        one
    };
    assert!(of("threads::reached").instructions >= 2);
    assert_eq!(of("threads::reached").missed, 0);
    assert_eq!((of("threads::not_reached").instructions, of("threads::not_reached").missed), (1, 1));
    assert_eq!(
        zariz_emulator::missed(|name| name.starts_with("threads::")),
        [of("threads::not_reached").clone()]
    );
    let statistics = zariz_emulator::statistics();
    // Beside the work, each form is tried once where the processor refuses it.
    let tried = statistics.multiplications - 8 * ROUNDS * ROWS * 12;
    assert!(tried <= Form::ALL.len() as u64, "{statistics:?}");
}

const ROUNDS: u64 = 300;
const ROWS: u64 = 5;

fn work(seed: u64) {
    let mut word = seed;
    let mut words = || {
        std::array::from_fn(|_| {
            word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            word ^ (word >> 31)
        })
    };
    for round in 0..ROUNDS {
        let a: [[u64; 4]; 6] = std::array::from_fn(|_| words());
        let mut sums: [[u64; 4]; 6] = std::array::from_fn(|_| words());
        let mut highs = sums;
        let b: Vec<[u64; 4]> = (0..ROWS).map(|_| words()).collect();
        let (mut expected_sums, mut expected_highs) = (sums, highs);
        // SAFETY: AVX2 is there, and VPMADD52 is emulated.
        unsafe { reached(&mut sums, &mut highs, &a, &b) };
        for b in &b {
            for i in 0..6 {
                for lane in 0..4 {
                    let (low, high) = (&mut expected_sums[i][lane], &mut expected_highs[i][lane]);
                    *low = multiply_add(Half::Low, *low, a[i][lane], b[lane]);
                    *high = multiply_add(Half::High, *high, a[i][lane], b[lane]);
                }
            }
        }
        assert_eq!((sums, highs), (expected_sums, expected_highs), "thread {seed}, round {round}");
    }
}
