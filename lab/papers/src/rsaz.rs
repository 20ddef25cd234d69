//! `rsaz`: one number across a vector.

use std::hint::black_box;

use serde::Deserialize;
use zariz::{Engine, Modulus};
use zariz_cli::exit::Failure;
use zariz_cli::measure::sample::{Measured, Sample};
use zariz_kernels::pow::{Power, pow};
use zariz_kernels::rsaz::{self, Quotients};
use zariz_kernels::{OddModulus, limbs};

use super::measure::{Numbers, Operation};
use super::timing::{Contestant, Timing, interleaved};
use super::{Bench, Paper, Row, Table, TablePlan, Unit};

/// The paper.
pub const PAPER: Paper = Paper {
    name: "rsaz",
    citation: "Shay Gueron, Vlad Krasnov: Software Implementation of Modular Exponentiation, Using Advanced Vector \
               Instructions Architectures, 2012",
    machine: "Intel Core i7-2600K, which has no AVX2: instructions were counted by an emulator, and times are those of a \
              \"mock\" with AVX instructions in place of AVX2; OpenSSL 1.0.1",
    notes: |_| {
        vec![
            "One number at a time, on every engine: RSAZ puts four digits of one number into a vector. Figures 11 and \
             12 are pictures; the ratios are those of the text. \"Chained\" quotients are the paper's, each by two products \
             from the one before; \"friendly\" ones are four at a time, without products, by a multiple of the modulus."
                .into(),
            "OpenSSL has several implementations, of which one is RSAZ by the paper's authors: it uses that on \
             processors with AVX2 and without ADX. OPENSSL_ia32cap=:~0x80000 hides ADX from it, :~0x80020 AVX2 too, which \
             leaves the scalar code that the paper compares with."
                .into(),
        ]
    },
    uses_ifma: false,
    has_peers: true,
    tables: &[
        TablePlan { name: "instructions", timed: 0, run: instructions },
        TablePlan { name: "power", timed: 15, run: power },
        TablePlan { name: "products", timed: 0, run: products },
    ],
};

fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::Input(format!("the counts in this program: {error}")))
}

/// Instructions that valgrind counted of one exponentiation; the file is generated.
const INSTRUCTIONS: &str = include_str!("instructions.json");

#[derive(Deserialize)]
struct Instructions {
    name: String,
    instructions: f64,
    by: String,
}

fn instructions(_: &Bench) -> Result<Table, Failure> {
    let all: Vec<Instructions> = read(INSTRUCTIONS)?;
    let of = |name: &str| {
        let found = all.iter().find(|counted| counted.name == name);
        found.ok_or_else(|| Failure::Input(format!("the counts in this program lack {name}")))
    };
    let (scalar, original) = (of("openssl-scalar")?, of("openssl-rsaz")?);
    let mut rows = Vec::new();
    for (row, name) in [
        ("RSAZ, chained quotients", "rsaz-chained"),
        ("RSAZ, friendly quotients", "rsaz-friendly"),
        ("zariz's scalar code, MULX and ADX", "scalar-adx"),
        ("zariz's scalar code, portable", "scalar-portable"),
        ("OpenSSL's scalar code", "openssl-scalar"),
        ("OpenSSL's RSAZ", "openssl-rsaz"),
    ] {
        rows.push(Row::counted(row, 1024, Unit::Instructions, None, of(name)?.instructions));
    }
    for (row, published, (less, than)) in [
        ("RSAZ, chained: fewer than OpenSSL's scalar", Some(51.0), (of("rsaz-chained")?, scalar)),
        ("RSAZ, friendly: fewer than OpenSSL's scalar", None, (of("rsaz-friendly")?, scalar)),
        (
            "RSAZ: fewer than the best scalar code then",
            Some(43.0),
            (of("rsaz-chained")?, of("scalar-portable")?),
        ),
        ("RSAZ, chained: fewer than scalar with MULX", Some(26.0), (of("rsaz-chained")?, of("scalar-adx")?)),
        ("RSAZ, friendly: fewer than scalar with MULX", None, (of("rsaz-friendly")?, of("scalar-adx")?)),
        ("OpenSSL's RSAZ: fewer than its scalar", None, (original, scalar)),
    ] {
        let saved = 100.0 * (1.0 - less.instructions / than.instructions);
        rows.push(Row::counted(row, 1024, Unit::Percent, published, saved));
    }
    Ok(Table {
        name: "instructions",
        title: "Instructions of one exponentiation, conversions and table included".into(),
        source: "figure 11, and the text below it",
        notes: vec![
            format!("Counted by valgrind when this program was made (cargo xtask instructions), of {}.", scalar.by),
            "Published are ratios to OpenSSL 1.0.1 and to the authors' own scalar code, without and with MULX. Ours \
             are ratios to a later OpenSSL, to our portable scalar code, and to ours with MULX, ADCX and ADOX. The \
             paper is older than these two; with them scalar code takes fewer instructions than RSAZ (a negative \
             saving)."
                .into(),
        ],
        rows,
    })
}

/// Digit products that `analysis` counted; the file is generated.
const PRODUCTS: &str = include_str!("rsaz.json");

#[derive(Deserialize)]
struct Products {
    bits: usize,
    quotients: String,
    operation: String,
    digit_products: f64,
}

fn products(_: &Bench) -> Result<Table, Failure> {
    let all: Vec<Products> = read(PRODUCTS)?;
    let row = |counts: &Products| {
        let name = if counts.operation == "ams" { "squaring" } else { "multiplication" };
        // The paper prints it for 1024 bits; for the others it is 2·⌈n/m⌉².
        let published =
            (name == "multiplication" && counts.quotients == "chained").then_some(match counts.bits {
                512 => 2 * 18 * 18,
                1024 => 2592,
                _ => 2 * 74 * 74,
            });
        let mut row = Row::counted(
            format!("{name}, {} quotients", counts.quotients),
            counts.bits,
            Unit::DigitProducts,
            published.map(f64::from),
            counts.digit_products,
        );
        row.published_note =
            (published.is_some() && counts.bits != 1024).then_some("computed from its formula, 2·⌈n/m⌉²");
        row
    };
    Ok(Table {
        name: "products",
        title: "Products of digits in a modular multiplication and squaring".into(),
        source: "section 4.2",
        notes: vec![
            "Ours compute four rows at a time, with 20, 36 and 76 digits where the paper has 18, 36 and 74, and \
             every row of a product has one vector more than the digits. Of 64-bit digits the paper \
             counts 512 products and 1536 sums for 1024 bits."
                .into(),
        ],
        rows: all.iter().map(row).collect(),
    })
}

/// Lengths of moduli.
const SIZES: [usize; 3] = [512, 1024, 2048];

fn power(bench: &Bench) -> Result<Table, Failure> {
    let mut rows = Vec::new();
    for bits in SIZES {
        rows.extend(powers(bits, bench)?);
    }
    Ok(Table {
        name: "power",
        title: "Exponentiations in constant time, one number at a time (1000 cycles)".into(),
        source: "figure 12, and the text below it: 1.85 times as fast as OpenSSL 1.0.1, 1.63 times as the best scalar code then",
        notes: vec!["OpenSSL is timed as it runs here: see above how to hide instructions from it.".into()],
        rows,
    })
}

/// One modulus, base and exponent, and their power.
struct Case {
    modulus: Vec<u8>,
    base: Vec<u8>,
    exponent: Vec<u8>,
    power: Vec<u8>,
}

impl Case {
    /// A contestant. Its results are checked.
    fn contestant<'a>(&'a self, mut work: impl FnMut() -> Vec<u8> + 'a) -> Result<Contestant<'a>, Failure> {
        if work() != self.power {
            return Err(Failure::Input(
                "zariz computes wrong numbers one at a time: do not use it here".into(),
            ));
        }
        let call = move || {
            drop(black_box(work()));
            Ok(())
        };
        Ok(Contestant { call: Box::new(call), calls: 1.0 })
    }

    /// An engine.
    fn engine(&self, engine: Engine) -> Result<Contestant<'_>, Failure> {
        let modulus = Modulus::new(&self.modulus)?.with_engine(engine)?;
        self.contestant(move || modulus.pow(&self.base, &self.exponent))
    }

    /// RSAZ with quotients as in the paper, which no engine has: by the kernels.
    fn chained<W: rsaz::Kernels + 'static>(&self, w: W) -> Result<Contestant<'_>, Failure> {
        let [modulus, base, exponent] =
            [&self.modulus, &self.base, &self.exponent].map(|n| limbs::from_be_bytes(n));
        let constants = rsaz::constants(&OddModulus::new(&modulus).expect("an odd modulus"));
        let bits = 8 * self.modulus.len();
        self.contestant(move || {
            let modulus = &constants;
            let power =
                Power { modulus, base: &base, base_bits: bits, exponent: &exponent, exponent_bits: bits };
            let mut out = vec![0; bits / 8];
            limbs::to_be_bytes(
                &pow(&mut rsaz::Context::with_quotients(w, modulus, Quotients::Chained), &[power])[0],
                &mut out,
            );
            out
        })
    }

    /// RSAZ with quotients as in the paper, on the best machine here.
    fn best_chained(&self) -> Result<Contestant<'_>, Failure> {
        #[cfg(target_arch = "x86_64")]
        if let Some(w) = zariz_machines::rsaz::Avx2::new() {
            return self.chained(w);
        }
        #[cfg(target_arch = "aarch64")]
        return self.chained(zariz_machines::rsaz::Neon::new());
        #[cfg(not(target_arch = "aarch64"))]
        self.chained(zariz_machines::rsaz::Portable::new())
    }
}

/// The rows of one size.
fn powers(bits: usize, bench: &Bench) -> Result<Vec<Row>, Failure> {
    let numbers = Numbers::new(bits, Operation::Power)?;
    let of = |all: &[Vec<u8>]| all[0].clone();
    let case = Case {
        modulus: of(&numbers.moduli),
        base: of(&numbers.bases),
        exponent: of(&numbers.exponents),
        power: of(&numbers.powers),
    };
    let mut contestants = Vec::new();
    let mut names = Vec::new();
    let mut add = |name: &str, engine: &str, contestant| {
        names.push((name.to_owned(), engine.to_owned()));
        contestants.push(contestant);
    };
    let rsaz = match Engine::Rsaz.uses_vectors() {
        true if cfg!(target_arch = "aarch64") => "rsaz, NEON",
        true => "rsaz, AVX2",
        false => "rsaz, no vectors",
    };
    add("RSAZ, chained quotients", rsaz, case.best_chained()?);
    add("RSAZ, friendly quotients", rsaz, case.engine(Engine::Rsaz)?);
    let scalar = if Engine::ScalarAdx.is_available() { Engine::ScalarAdx } else { Engine::Scalar };
    add("zariz's scalar code", scalar.name(), case.engine(scalar)?);
    add("zariz's scalar code, portable", Engine::Scalar.name(), case.engine(Engine::Scalar)?);
    let openssl = match &bench.peers.openssl {
        Ok(openssl) => {
            let power = openssl.power(&numbers.bases[0], &numbers.exponents[0], &numbers.moduli[0]);
            let failed = |error: zariz_peers::Error| Failure::Input(format!("OpenSSL: {error}"));
            let mut power = power.map_err(failed)?;
            power.compute().map_err(failed)?;
            if power.value().map_err(failed)? != case.power {
                return Err(Failure::Input(
                    "OpenSSL and zariz compute different results: nothing was measured".into(),
                ));
            }
            let call = move || power.compute().map_err(failed);
            add("OpenSSL consttime", openssl.version(), Contestant { call: Box::new(call), calls: 1.0 });
            Ok(())
        }
        Err(missing) => Err(missing.why().to_owned()),
    };
    let timings = interleaved(&mut contestants, bench.seconds, &bench.clock)?;
    drop(contestants);
    Ok(rows(bits, &names, &timings, openssl.err()))
}

/// What was timed, and how it compares.
fn rows(bits: usize, names: &[(String, String)], timings: &[Timing], missing: Option<String>) -> Vec<Row> {
    let row = |name: &str, unit, published, measured, nanoseconds, engine: &str, note| Row {
        measured,
        nanoseconds,
        engine: engine.into(),
        note,
        ..Row::new(name, bits, unit, published)
    };
    let mut rows = Vec::new();
    for ((name, engine), timing) in names.iter().zip(timings) {
        let measured = timing.cycles().map(|cycles| Measured::times(cycles, |cycles| cycles / 1000.0));
        let nanoseconds = Some(timing.nanoseconds().median());
        rows.push(row(
            name,
            Unit::ThousandCycles,
            None,
            measured.unwrap_or_default(),
            nanoseconds,
            engine,
            None,
        ));
    }
    let note = missing;
    if note.is_some() {
        rows.push(row(
            "OpenSSL consttime",
            Unit::ThousandCycles,
            None,
            Measured::default(),
            None,
            "OpenSSL",
            note.clone(),
        ));
    }
    let published = |figure| (bits == 1024).then_some(figure);
    let ratio = |a: usize, b: usize| timings.get(b).map(|b| timings[a].speedup_over(b));
    for (name, published, of, to) in [
        ("RSAZ, chained: speedup vs OpenSSL", published(1.85), 0, 4),
        ("RSAZ, friendly: speedup vs OpenSSL", None, 1, 4),
        ("RSAZ, chained: vs portable scalar", published(1.63), 0, 3),
        ("RSAZ, friendly: vs our scalar", None, 1, 2),
    ] {
        let measured = ratio(of, to).map(|sample: Sample| Measured::ratios(&sample, |ratio| ratio));
        let note = if measured.is_none() { note.clone() } else { None };
        rows.push(row(name, Unit::Times, published, measured.unwrap_or_default(), None, &names[of].1, note));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_there_and_plausible() {
        let all: Vec<Instructions> = read(INSTRUCTIONS).expect("the counts can be read");
        let of = |name: &str| all.iter().find(|row| row.name == name).expect("a row").instructions;
        assert!(of("rsaz-friendly") < of("rsaz-chained") && of("rsaz-chained") < of("openssl-scalar"));
        assert!(of("scalar-adx") < of("scalar-portable"));
        let products: Vec<Products> = read(PRODUCTS).expect("the counts can be read");
        assert_eq!(products.len(), 12);
    }
}
