//! `ahmm`: Almost Half Montgomery Multiplication.

mod crypto_mb;
mod speed;

use zariz::Method;
use zariz_cli::exit::Failure;
use zariz_cli::measure::benchmark::{self, Rsa};
use zariz_cli::measure::sample::Measured;
use zariz_peers::CryptoMb;

use super::grid::{Grid, Line, What};
use super::measure::Operation;
use super::timing::{Contestant, Timing, interleaved};
use super::{Bench, Paper, Row, Table, TablePlan, Unit, eight};

/// The paper.
pub const PAPER: Paper = Paper {
    name: "ahmm",
    citation: "Erdinc Ozturk, Tomasz Kantecki, Kirk Yap (Intel): Intel AVX-512 - Fast Modular Multiplication Technique, \
               March 2024",
    machine: "Intel Xeon Gold 6454S, two cores of it (taskset -c 2,4), turbo off; OpenSSL 3.1.3 with QAT Engine 1.3.0 \
              (openssl speed -provider qatprovider -elapsed -async_jobs 8)",
    notes: |engine| {
        vec![
            "The baseline is almost-Montgomery multiplication (amm), the new method multiplies table entries by half of \
             it (ahmm). Published rates are those of an OpenSSL provider with eight asynchronous jobs; ours are \
             those of the library alone, on one thread, with eight signatures for each call, and in the second table \
             those of our provider."
                .into(),
            format!("This engine does eight operations {}.", eight(engine)),
        ]
    },
    uses_ifma: true,
    has_peers: false,
    tables: &[
        TablePlan { name: RSA_2048, timed: 4, run: rsa2048 },
        TablePlan { name: speed::NAME, timed: 0, run: speed::run },
        TablePlan { name: RSA_MORE, timed: 6, run: rsa_more },
        TablePlan {
            name: MULTIPLICATION.name,
            timed: MULTIPLICATION.timed(),
            run: |bench| MULTIPLICATION.run(bench),
        },
    ],
};

/// About how many seconds a table takes besides the time of its timed rows.
pub fn more_seconds(plan: &TablePlan, bench: &Bench) -> f64 {
    let crypto_mb = |rows: usize| if bench.crypto_mb.is_some() { rows as f64 * bench.seconds } else { 0.0 };
    match plan.name {
        speed::NAME => speed::seconds(bench),
        RSA_2048 | RSA_MORE => crypto_mb(2),
        _ => 0.0,
    }
}

const RSA_2048: &str = "rsa2048";
const RSA_MORE: &str = "rsa-more";

/// The paper's figures of RSA: sign/s and verify/s of both versions.
struct Published {
    baseline: [f64; 2],
    new: [f64; 2],
    gain: f64,
}

/// RSA-2048: sections 3.2.1 (baseline), 3.2.2 (new), 3.2.3 and 4 (8.9 % more signatures per second).
const PUBLISHED: Published =
    Published { baseline: [7809.6, 125_591.4], new: [8508.0, 126_700.8], gain: 1.089 };

/// Signatures at once: the paper's eight asynchronous jobs.
const BATCH: usize = 8;

const VERIFICATION: &str = "Public keys have no table entries: verification is the same in both.";

/// A sixth is the share of products with table entries among all products of digits of `pow` in
/// docs/generated/counts.md.
const SMALL_GAIN: &str = "Why the gain in signing is small here: products with table entries are about a sixth of a \
                          signature's work, and each entry's K and a table twice as long cost most of what is saved on \
                          them. Our signing includes blinding and the check with the public exponent.";

/// Multiplications of the sizes of RSA's primes. The paper has no such table.
const MULTIPLICATION: Grid = Grid {
    name: "multiplication",
    title: "Modular multiplications, eight of each, modulo numbers as long as the primes of RSA-2048, 3072, 4096 and \
            8192 (cycles)",
    source: "the paper describes the method in section 2.3.1, and prints no figures of it",
    notes: &[],
    operation: Operation::Multiply,
    unit: Unit::Cycles,
    sizes: &[1024, 1536, 2048, 4096],
    lines: &[
        Line { row: "AMM", what: What::Ours(Method::AMM), published: &[] },
        Line { row: "AHMM", what: What::Ours(Method::AHMM), published: &[] },
        Line { row: "AHMM: speedup vs AMM", what: What::Speedup(Method::AHMM, Method::AMM), published: &[] },
    ],
};

fn rsa2048(bench: &Bench) -> Result<Table, Failure> {
    let mut notes = vec![VERIFICATION.into(), SMALL_GAIN.into()];
    notes.extend(bench.crypto_mb.as_ref().map(crypto_mb::note));
    Ok(Table {
        name: RSA_2048,
        title: "RSA-2048 (operations per second)".into(),
        source: "sections 3.2.1 to 3.2.3, figure 5",
        notes,
        rows: rsa(2048, Some(PUBLISHED), bench)?,
    })
}

fn rsa_more(bench: &Bench) -> Result<Table, Failure> {
    let mut rows = Vec::new();
    for bits in [3072, 4096, 8192] {
        rows.extend(rsa(bits, None, bench)?);
    }
    Ok(Table {
        name: RSA_MORE,
        title: "RSA-3072, RSA-4096 and RSA-8192 (signatures per second)".into(),
        source: "section 5 suggests these sizes, and prints no figures of them",
        notes: Vec::new(),
        rows,
    })
}

/// Signing, and where the paper has it verification, by both methods in turn, and by crypto_mb where it was
/// named and has keys of this size.
fn rsa(bits: usize, published: Option<Published>, bench: &Bench) -> Result<Vec<Row>, Failure> {
    let load = |method| Rsa::new((bench.key)(bits, bench.engine.into())?.with_method(method), BATCH);
    let loads = [load(Method::AMM)?, load(Method::AHMM)?];
    let theirs = |prepare: crypto_mb::Prepare| match &bench.crypto_mb {
        Some(library) => prepare(library, &loads[0]),
        None => Ok(None),
    };
    let signing = race(loads.iter().map(Rsa::sign), theirs(crypto_mb::sign)?, bench)?;
    let row = |name: &str, unit, published, measured, nanoseconds| Row {
        measured,
        nanoseconds,
        engine: bench.engine.name().to_owned(),
        ..Row::new(name, bits, unit, published)
    };
    let rate = |name: &str, published, timing: &Timing| {
        let measured = Measured::times(timing.nanoseconds(), |nanoseconds| 1e9 / nanoseconds);
        row(name, Unit::PerSecond, published, measured, Some(timing.nanoseconds().median()))
    };
    let of = |which: fn(&Published) -> f64| published.as_ref().map(which);
    let gain = Measured::ratios(&signing[1].speedup_over(&signing[0]), |gain| gain);
    let mut rows = vec![
        rate("sign: baseline (AMM)", of(|published| published.baseline[0]), &signing[0]),
        rate("sign: new (AHMM)", of(|published| published.new[0]), &signing[1]),
        row("sign: gain", Unit::Gain, of(|published| published.gain), gain, None),
    ];
    let by_crypto_mb = |name, timing| Row {
        engine: bench.crypto_mb.as_ref().map_or("", CryptoMb::version).to_owned(),
        ..rate(name, None, timing)
    };
    if let Some(timing) = signing.get(2) {
        let ratio = Measured::ratios(&signing[1].speedup_over(timing), |ratio| ratio);
        rows.push(by_crypto_mb("sign: crypto_mb", timing));
        rows.push(row("sign: AHMM vs crypto_mb", Unit::Times, None, ratio, None));
    }
    if published.is_some() {
        let verifying = race(loads.iter().map(Rsa::verify), theirs(crypto_mb::verify)?, bench)?;
        rows.push(rate("verify: baseline (AMM)", of(|published| published.baseline[1]), &verifying[0]));
        rows.push(rate("verify: new (AHMM)", of(|published| published.new[1]), &verifying[1]));
        rows.extend(verifying.get(2).map(|timing| by_crypto_mb("verify: crypto_mb", timing)));
    }
    Ok(rows)
}

/// Times operations of a batch in turn, ours and then theirs: each, for one of the batch.
fn race<'a>(
    operations: impl Iterator<Item = benchmark::Benchmark<'a>>,
    theirs: Option<crypto_mb::Call<'a>>,
    bench: &Bench,
) -> Result<Vec<Timing>, Failure> {
    let contestant = |operation: benchmark::Benchmark<'a>| {
        let call = move || {
            (operation.call)();
            Ok(())
        };
        Contestant { call: Box::new(call), calls: 1.0 / BATCH as f64 }
    };
    let theirs = theirs.map(|call| Contestant { call, calls: 1.0 / BATCH as f64 });
    let mut contestants: Vec<Contestant> = operations.map(contestant).chain(theirs).collect();
    interleaved(&mut contestants, bench.seconds, &bench.clock)
}
