//! `phirsa`: vector carry propagation chains, and RSA by them.
//!
//! The source is a set of slides without numbers; tables are named by their slide's title.

mod counts;
mod measure;

use zariz_cli::exit::Failure;
use zariz_cli::measure::benchmark::Rsa;
use zariz_cli::measure::sample::Measured;

use super::measure::{Lanes, Numbers, Operation};
use super::timing::{Contestant, Timing, interleaved};
use super::{Bench, Paper, Row, Table, TablePlan, Unit};
use counts::Counts;

/// The paper.
pub const PAPER: Paper = Paper {
    name: "phirsa",
    citation: "Yuan Zhao, Wuqiong Pan, Jingqiang Lin, Peng Liu, Cong Xue, Fangyu Zheng: PhiRSA: Exploiting the Computing \
               Power of Vector Instructions on Intel Xeon Phi for RSA, 2016",
    machine: "Intel Xeon Phi 7120P: 61 cores of four threads each, 1.33 GHz; 32-bit lanes with carries in masks",
    notes: |engine| {
        let machine = if measure::ENGINE.uses_vectors() {
            "The carry chains run on AVX-512F. It has neither the coprocessor's addition with carry nor its high \
             halves of 32-bit products; each takes several instructions."
        } else {
            "The carry chains run on arrays, since this processor has no AVX-512F."
        };
        vec![
            machine.into(),
            format!(
                "The rows of eight use the engine that was named ({engine}); all others of ours are engine carry-chains."
            ),
            "Our decryptions are complete, unlike the paper's raw powers: blinded, with PKCS#1 v1.5 padding, and \
             each result is checked by the public exponent."
                .into(),
            format!(
                "All threads: the paper's 244 on 61 cores; here {}. Cycles and latencies are those of one operation \
                 while the other threads compute too.",
                measure::threads()
            ),
            "Instructions are counted from our kernels, in the coprocessor's words or in AVX-512F's \
             (docs/generated/carry.md). VPU utilization is a share of the peak: one vector instruction a cycle there; \
             here, two AVX-512F instructions in each cycle of the core's clock in scalar code, on each thread."
                .into(),
        ]
    },
    uses_ifma: false,
    has_peers: true,
    tables: &[
        TablePlan { name: ANALYSIS, timed: 0, run: analysis },
        TablePlan { name: MULTIPLICATION, timed: 9, run: multiplication },
        TablePlan { name: DECRYPTION, timed: 9, run: decryption },
        TablePlan { name: REDUNDANT, timed: 0, run: redundant },
        TablePlan { name: CARRIES, timed: 3, run: carries },
        TablePlan { name: PLATFORMS, timed: 6, run: platforms },
    ],
};

const ANALYSIS: &str = "analysis";
const MULTIPLICATION: &str = "multiplication";
const DECRYPTION: &str = "decryption";
const REDUNDANT: &str = "keliris";
const CARRIES: &str = "chang";
const PLATFORMS: &str = "platforms";

/// Why a row of other work has nothing measured.
const NOT_HERE: &str = "it cannot be run here: it is another program, on another machine";

/// The lengths of moduli, and of the keys whose primes they are.
const MODULI: [usize; 3] = [512, 1024, 2048];
const KEYS: [usize; 3] = [1024, 2048, 4096];

/// A row of other work.
fn others(name: &str, size: usize, unit: Unit, published: f64) -> Row {
    Row {
        note: Some(NOT_HERE.into()),
        engine: "not here".into(),
        ..Row::new(name, size, unit, Some(published))
    }
}

/// Rows of something timed.
struct Timed<'a> {
    timing: &'a Timing,
    size: usize,
    engine: &'a str,
    bench: &'a Bench,
}

impl Timed<'_> {
    /// A time or a rate, which `turn` computes from nanoseconds.
    fn of(&self, name: &str, unit: Unit, published: Option<f64>, turn: impl Fn(f64) -> f64) -> Row {
        let nanoseconds = self.timing.nanoseconds();
        Row {
            measured: Measured::times(nanoseconds, turn),
            nanoseconds: Some(nanoseconds.median()),
            engine: self.engine.to_owned(),
            ..Row::new(name, self.size, unit, published)
        }
    }

    /// Reference cycles, where there is a counter.
    fn cycles(&self, name: &str, unit: Unit, published: Option<f64>) -> Row {
        let scale = if unit == Unit::ThousandCycles { 1000.0 } else { 1.0 };
        let measured = self.timing.cycles().map(|cycles| Measured::times(cycles, |cycles| cycles / scale));
        Row {
            measured: measured.unwrap_or_default(),
            nanoseconds: Some(self.timing.nanoseconds().median()),
            engine: self.engine.to_owned(),
            ..Row::new(name, self.size, unit, published)
        }
    }

    /// `instructions`, as a share of two vector instructions for each cycle.
    fn utilization(&self, name: &str, published: Option<f64>, instructions: f64) -> Row {
        let base =
            Row { engine: self.engine.to_owned(), ..Row::new(name, self.size, Unit::Percent, published) };
        match self.bench.clock.core_hertz().filter(|_| measure::ENGINE.uses_vectors()) {
            Some(hertz) => {
                let least = 1e9 * instructions / 2.0 / hertz;
                let share =
                    Measured::ratios(self.timing.nanoseconds(), |nanoseconds| 100.0 * least / nanoseconds);
                Row { measured: share, ..base }
            }
            None => Row {
                note: Some("without vector instructions or a clock there is no such share".into()),
                ..base
            },
        }
    }
}

/// Slide "Performance Analysis".
fn analysis(_: &Bench) -> Result<Table, Failure> {
    let counts = Counts::read()?;
    let mut rows = Vec::new();
    for bits in MODULI {
        let count = counts.multiplication(bits)?;
        let (Some(rounds), Some(redundant)) = (count.rounds, count.redundant) else {
            return Err(Failure::Input(format!("the counts in this program lack the rounds of {bits} bits")));
        };
        let printed = |figure: f64| (bits == 1024).then_some(figure);
        rows.push(Row::counted(
            "carry chains: rounds",
            bits,
            Unit::VectorInstructions,
            printed(704.0),
            rounds,
        ));
        rows.push(Row::counted(
            "redundant, by formula",
            bits,
            Unit::VectorInstructions,
            printed(1224.0),
            redundant,
        ));
        rows.push(Row::counted(
            "carry chains : redundant",
            bits,
            Unit::Gain,
            printed(0.58),
            rounds / redundant,
        ));
    }
    Ok(Table {
        name: ANALYSIS,
        title: "Instructions of a Montgomery multiplication, by kinds of representation".into(),
        source: "slide \"Performance Analysis\"",
        notes: vec![
            "Rounds of carry chains are counted by running our kernels; the tail is not in them. Redundant representation \
             is the slide's formula with 3 bits of each lane free (29-bit digits), which alone gives the 1224 it prints: no \
             kernel of ours was counted for it."
                .into(),
            "The slide's formula for carry chains has no split: at 2048 bits it would give 64 rounds of 9·4 + 4 \
             instructions. Ours are in four parts, as the paper splits them, and digits that pass from one to the next are \
             broadcast."
                .into(),
        ],
        rows,
    })
}

/// Slide "Implementation Results: Montgomery Multiplication": instructions, cycles, utilization, throughput
/// and that of one thread in millions per second, latency in microseconds.
const MULTIPLICATIONS: [[f64; 6]; 3] = [
    [218.0, 948.0, 92.0, 343.78, 1.41, 0.71],
    [724.0, 3076.0, 94.0, 105.73, 0.43, 2.31],
    [2797.0, 12_211.0, 92.0, 26.64, 0.11, 9.16],
];

fn multiplication(bench: &Bench) -> Result<Table, Failure> {
    let threads = measure::threads();
    let counts = Counts::read()?;
    let mut rows = Vec::new();
    for (bits, published) in MODULI.into_iter().zip(MULTIPLICATIONS) {
        let count = counts.multiplication(bits)?;
        let numbers = Numbers::new(bits, Operation::Multiply)?;
        let lanes = Lanes::new(&numbers, bench.engine, None)?;
        let batch = lanes.contestant(Operation::Multiply, &numbers)?;
        let batch = Contestant { calls: batch.calls / Numbers::LANES as f64, ..batch };
        let mut contestants = [measure::multiply(bits, threads)?, measure::multiply(bits, 1)?, batch];
        let timings = interleaved(&mut contestants, bench.seconds, &bench.clock)?;
        let timed = |i: usize, engine| Timed { timing: &timings[i], size: bits, engine, bench };
        let (all, one, eight) =
            (timed(0, measure::engine()), timed(1, measure::engine()), timed(2, bench.engine.name()));
        let [instructions, cycles, utilization, throughput, of_thread, latency] = published.map(Some);
        let n = threads as f64;
        rows.extend([
            Row::counted("vector instructions", bits, Unit::VectorInstructions, instructions, count.whole),
            Row::counted("by AVX-512F", bits, Unit::VectorInstructions, None, count.avx512f),
            all.cycles("cycles", Unit::Cycles, cycles),
            one.cycles("cycles, on one thread alone", Unit::Cycles, None),
            all.utilization("VPU utilization", utilization, count.avx512f),
            one.utilization("VPU utilization, one thread", None, count.avx512f),
            all.of("throughput (millions/s)", Unit::MillionsPerSecond, throughput, |nanoseconds| {
                n * 1e3 / nanoseconds
            }),
            all.of("of a thread (millions/s)", Unit::MillionsPerSecond, of_thread, |nanoseconds| {
                1e3 / nanoseconds
            }),
            all.of("latency (us)", Unit::Microseconds, latency, |nanoseconds| nanoseconds / 1e3),
            eight.cycles("eight lanes: cycles for each", Unit::Cycles, None),
        ]);
    }
    Ok(Table {
        name: MULTIPLICATION,
        title: "Montgomery multiplications".into(),
        source: "slide \"Implementation Results\": Montgomery Multiplication, 244 threads on 61 cores",
        notes: vec![
            "Instructions of the paper are measured, its tail's number of steps depends on the carries; ours are counted, \
             with a tail of a fixed number of steps and a subtraction under a mask. Eight lanes: the engine's own \
             batches of eight, to compare with a lone multiplication."
                .into(),
        ],
        rows,
    })
}

/// Slide "Implementation Results: RSA Decryption", for each key.
struct Decryptions {
    window: f64,
    instructions: f64,
    /// On one thread: cycles, utilization, throughput, latency in milliseconds.
    one: [f64; 4],
    /// On all threads: cycles, utilization, throughput, latency in milliseconds, and the throughput of a
    /// thread.
    all: [f64; 5],
}

const DECRYPTIONS: [Decryptions; 3] = [
    Decryptions {
        window: 5.0,
        instructions: 0.28e6,
        one: [0.91e6, 31.0, 1466.0, 0.68],
        all: [1.26e6, 90.0, 258_370.0, 0.94, 1059.0],
    },
    Decryptions {
        window: 6.0,
        instructions: 1.82e6,
        one: [3.97e6, 46.0, 336.0, 2.98],
        all: [7.78e6, 94.0, 41_803.0, 5.84, 171.0],
    },
    Decryptions {
        window: 6.0,
        instructions: 13.7e6,
        one: [29.71e6, 46.0, 45.0, 22.29],
        all: [60.66e6, 90.0, 5358.0, 45.54, 22.0],
    },
];

fn decryption(bench: &Bench) -> Result<Table, Failure> {
    let threads = measure::threads();
    let counts = Counts::read()?;
    let mut rows = Vec::new();
    for (bits, published) in KEYS.into_iter().zip(&DECRYPTIONS) {
        let count = counts.decryption(bits)?;
        let signatures = Rsa::new((bench.key)(bits, bench.engine.into())?, 8)?;
        let signing = signatures.sign();
        let sign = move || {
            (signing.call)();
            Ok(())
        };
        let mut contestants = [
            measure::decrypt(bits, 1, bench)?,
            measure::decrypt(bits, threads, bench)?,
            Contestant { call: Box::new(sign), calls: 1.0 / 8.0 },
        ];
        let timings = interleaved(&mut contestants, bench.seconds, &bench.clock)?;
        let timed = |i: usize, engine| Timed { timing: &timings[i], size: bits, engine, bench };
        let (one, all, eight) =
            (timed(0, measure::engine()), timed(1, measure::engine()), timed(2, bench.engine.name()));
        let Decryptions { window, instructions, one: alone, all: together } = *published;
        let n = threads as f64;
        let rate = |nanoseconds: f64| 1e9 / nanoseconds;
        let milliseconds = |nanoseconds: f64| nanoseconds / 1e6;
        let windows = count.window.map_or(0.0, |window| window as f64);
        rows.extend([
            Row::counted("window size (bits)", bits, Unit::Bits, Some(window), windows),
            Row::counted(
                "vector instructions",
                bits,
                Unit::VectorInstructions,
                Some(instructions),
                count.whole,
            ),
            Row::counted("by AVX-512F", bits, Unit::VectorInstructions, None, count.avx512f),
            one.cycles("one thread: 1000 cycles", Unit::ThousandCycles, Some(alone[0] / 1e3)),
            one.utilization("one thread: VPU utilization", Some(alone[1]), count.avx512f),
            one.of("one thread: throughput", Unit::PerSecond, Some(alone[2]), rate),
            one.of("one thread: latency (ms)", Unit::Milliseconds, Some(alone[3]), milliseconds),
            all.cycles("all threads: 1000 cycles", Unit::ThousandCycles, Some(together[0] / 1e3)),
            all.utilization("all threads: VPU utilization", Some(together[1]), count.avx512f),
            all.of("all threads: throughput", Unit::PerSecond, Some(together[2]), |nanoseconds| {
                n * rate(nanoseconds)
            }),
            all.of("all threads: of a thread", Unit::PerSecond, Some(together[4]), rate),
            all.of("all threads: latency (ms)", Unit::Milliseconds, Some(together[3]), milliseconds),
            eight.of("eight signatures: throughput", Unit::PerSecond, None, rate),
        ]);
    }
    Ok(Table {
        name: DECRYPTION,
        title: "RSA decryption".into(),
        source: "slide \"Implementation Results\": RSA Decryption, 1 thread, and 244 on 61 cores",
        notes: vec![
            "Ours are complete decryptions by the Chinese remainder theorem, blinded and checked. Only their two \
             powers are counted, and utilization is of these alone. RSA-1024 on all threads is 258,370 here and 234,981 in the paper's table of platforms. Eight \
             signatures: those of the engine that was named, on one thread, also blinded and checked."
                .into(),
        ],
        rows,
    })
}

/// Slide "Previous Works on Intel Xeon Phi": Keliris et al., scaled.
fn redundant(_: &Bench) -> Result<Table, Failure> {
    let counts = Counts::read()?;
    let mut rows = Vec::new();
    for ((bits, keliris), published) in
        MODULI.into_iter().zip([3846.0, 9498.0, 28_776.0]).zip(MULTIPLICATIONS)
    {
        let count = counts.multiplication(bits)?;
        rows.push(others("Keliris et al. (scaled)", bits, Unit::VectorInstructions, keliris));
        rows.push(Row::counted(
            "carry chains",
            bits,
            Unit::VectorInstructions,
            Some(published[0]),
            count.whole,
        ));
    }
    Ok(Table {
        name: REDUNDANT,
        title: "Instructions of a Montgomery multiplication, beside redundant representation".into(),
        source: "slide \"Previous Works on Intel Xeon Phi\": comparison with redundant representation",
        notes: Vec::new(),
        rows,
    })
}

/// Slide "Previous Works on Intel Xeon Phi": Chang et al., scaled, in the slide's columns, and ours.
const CHANG: [[f64; 2]; 3] = [[1310.0, 5358.0], [7217.0, 41_803.0], [30_282.0, 258_370.0]];
/// The note on figures that the slide prints under another key's size.
const REVERSED: &str = "the slide prints its columns in reverse order: see the table of decryptions";

fn carries(bench: &Bench) -> Result<Table, Failure> {
    let threads = measure::threads();
    let mut rows = Vec::new();
    for (i, bits) in KEYS.into_iter().enumerate() {
        let mut contestants = [measure::decrypt(bits, threads, bench)?];
        let timings = interleaved(&mut contestants, bench.seconds, &bench.clock)?;
        let timed = Timed { timing: &timings[0], size: bits, engine: measure::engine(), bench };
        let rate = |nanoseconds: f64| threads as f64 * 1e9 / nanoseconds;
        let ([chang, phirsa], right) = (CHANG[i], CHANG[KEYS.len() - 1 - i]);
        let reversed = |row: Row| Row { published_note: (i != 1).then_some(REVERSED), ..row };
        rows.extend([
            reversed(others("Chang et al. (scaled), as printed", bits, Unit::PerSecond, chang)),
            reversed(timed.of("carry chains, as printed", Unit::PerSecond, Some(phirsa), rate)),
            others("Chang et al., order put right", bits, Unit::PerSecond, right[0]),
            timed.of("carry chains, order put right", Unit::PerSecond, Some(right[1]), rate),
        ]);
    }
    Ok(Table {
        name: CARRIES,
        title: "RSA decryptions per second, beside carries propagated otherwise".into(),
        source: "slide \"Previous Works on Intel Xeon Phi\": comparison with carry propagation; all threads",
        notes: Vec::new(),
        rows,
    })
}

/// Slide "Implementations on CPUs and GPUs".
struct Platform {
    name: &'static str,
    /// For each key: decryptions per second, and latency in milliseconds.
    figures: [Option<[f64; 2]>; 3],
}

const OTHERS: [Platform; 2] = [
    Platform { name: "Yang (GT 750m)", figures: [Some([34_981.0, 2.6]), Some([5244.0, 6.5]), None] },
    Platform { name: "Zheng (GTX Titan)", figures: [None, Some([38_975.0, 22.47]), None] },
];
const OPENSSL: [[f64; 2]; 3] = [[25_850.0, 0.16], [3427.0, 1.17], [485.0, 8.26]];
const PHI: [[f64; 2]; 3] = [[234_981.0, 1.04], [41_803.0, 5.84], [5358.0, 45.54]];

fn platforms(bench: &Bench) -> Result<Table, Failure> {
    let threads = measure::threads();
    let (throughput, latency) = (" throughput", " latency (ms)");
    let mut rows = Vec::new();
    for (i, bits) in KEYS.into_iter().enumerate() {
        let peer = measure::openssl(bits, bench)?;
        let missing = peer.as_ref().err().cloned();
        let mut contestants = vec![measure::decrypt(bits, threads, bench)?];
        contestants.extend(peer.ok());
        let timings = interleaved(&mut contestants, bench.seconds, &bench.clock)?;
        let milliseconds = |nanoseconds: f64| nanoseconds / 1e6;
        let [rate, delay] = OPENSSL[i];
        let names = [format!("OpenSSL{throughput}"), format!("OpenSSL{latency}")];
        match (timings.get(1), &bench.peers.openssl) {
            (Some(timing), Ok(openssl)) => {
                let timed = Timed { timing, size: bits, engine: openssl.version(), bench };
                rows.push(timed.of(&names[0], Unit::PerSecond, Some(rate), |nanoseconds| 1e9 / nanoseconds));
                rows.push(timed.of(&names[1], Unit::Milliseconds, Some(delay), milliseconds));
            }
            _ => {
                let without =
                    |row: Row| Row { note: missing.clone(), engine: "OpenSSL, not here".into(), ..row };
                rows.push(without(Row::new(&names[0], bits, Unit::PerSecond, Some(rate))));
                rows.push(without(Row::new(&names[1], bits, Unit::Milliseconds, Some(delay))));
            }
        }
        for Platform { name, figures } in OTHERS {
            if let Some([rate, delay]) = figures[i] {
                rows.push(others(&format!("{name}:{throughput}"), bits, Unit::PerSecond, rate));
                rows.push(others(&format!("{name}:{latency}"), bits, Unit::Milliseconds, delay));
            }
        }
        let timed = Timed { timing: &timings[0], size: bits, engine: measure::engine(), bench };
        let rate = |nanoseconds: f64| threads as f64 * 1e9 / nanoseconds;
        rows.push(timed.of("Xeon Phi: throughput", Unit::PerSecond, Some(PHI[i][0]), rate));
        rows.push(timed.of("Xeon Phi: latency (ms)", Unit::Milliseconds, Some(PHI[i][1]), milliseconds));
    }
    Ok(Table {
        name: PLATFORMS,
        title: "RSA decryption on processors and graphics processors".into(),
        source: "slide \"Implementations on CPUs and GPUs\"",
        notes: vec![
            "Published: OpenSSL 1.0.1f on an Intel Haswell i7 4770R (4 cores, 3.2 GHz, 410 SP GFLOPS); Yang et al. on an \
             NVIDIA GT 750m (384 cores, 0.967 GHz, 743 SP GFLOPS); Zheng et al. on an NVIDIA GTX Titan (2688 cores, \
             0.836 GHz, 4500 SP GFLOPS); carry chains on the Xeon Phi 7120P (61 cores, 1.33 GHz, 2600 SP GFLOPS)."
                .into(),
            "Measured: OpenSSL's two constant-time powers of a decryption, on one thread; our carry chains, beside the \
             figures of the Xeon Phi, on all threads. RSA-1024 is 258,370 in the paper's table of decryptions."
                .into(),
        ],
        rows,
    })
}
