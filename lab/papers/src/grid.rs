//! Tables of one operation, done eight times: methods and libraries by sizes, and how they compare.

use zariz::Method;
use zariz_cli::exit::Failure;
use zariz_cli::measure::sample::{Measured, Sample};

use super::measure::{Lanes, Numbers, Operation};
use super::timing::{Contestant, Timing, interleaved};
use super::{Bench, Row, Table, Unit, peers};

/// A table's rows and published figures.
pub struct Grid {
    /// Its name.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// Where it is in the paper.
    pub source: &'static str,
    /// What the paper's rows do not say.
    pub notes: &'static [&'static str],
    /// What is measured.
    pub operation: Operation,
    /// The unit of what is timed.
    pub unit: Unit,
    /// Lengths of moduli in bits.
    pub sizes: &'static [usize],
    /// The rows of every size.
    pub lines: &'static [Line],
}

/// A row for each size.
pub struct Line {
    /// What it is called.
    pub row: &'static str,
    /// What is measured.
    pub what: What,
    /// The paper's figures, one for each size; empty where it has no such row. What is saved follows from its
    /// times.
    pub published: &'static [Option<f64>],
}

/// What a line measures.
#[derive(Clone, Copy)]
pub enum What {
    /// One of our methods.
    Ours(Method),
    /// The method that the library chooses itself; the row's name ends with its name.
    Usual,
    /// Another library.
    Peer(Peer),
    /// How many times as fast as a peer the faster of some methods is.
    Faster(&'static [Method], Peer),
    /// How many times as fast as the second method the first is.
    Speedup(Method, Method),
    /// What of the first method's time the second saves.
    Saved(Method, Method),
}

/// Another library's function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// GMP.
    Gmp,
    /// OpenSSL, one number after the other.
    OpenSsl,
    /// OpenSSL, two numbers by one call.
    OpenSslPair,
}

/// Of what the paper does not print, but what follows from what it does.
const COMPUTED: &str = "computed from its cycles";

/// A pair of powers by one call is faster than two calls by so much where OpenSSL has vector code for it.
const PAIR_GAIN: f64 = 1.3;

/// Where it is not: what is won against such pairs says nothing of its vector code.
const NO_PAIR: &str = "this OpenSSL has no vector code for pairs of this size on this processor: consttime_x2 is not \
                       clearly faster than consttime, and a speedup vs consttime_x2 is one vs consttime";

impl Grid {
    /// How many things are timed.
    pub const fn timed(&self) -> usize {
        let (mut timed, mut i) = (0, 0);
        while i < self.lines.len() {
            if matches!(self.lines[i].what, What::Ours(_) | What::Usual | What::Peer(_)) {
                timed += 1;
            }
            i += 1;
        }
        timed * self.sizes.len()
    }

    /// The paper's figure of a line at a size, and how it was come by if it is not printed.
    pub fn published(&self, line: &Line, column: usize) -> (Option<f64>, Option<&'static str>) {
        let printed = |line: &Line| line.published.get(column).copied().flatten();
        let What::Saved(method, other) = line.what else { return (printed(line), None) };
        let time = |wanted: Method| {
            let mut lines = self.lines.iter();
            lines.find(|line| matches!(line.what, What::Ours(method) if method == wanted)).and_then(printed)
        };
        let saved = time(method).zip(time(other)).map(|(method, other)| 100.0 * (1.0 - other / method));
        (saved, saved.map(|_| COMPUTED))
    }

    /// Measures the table.
    pub fn run(&self, bench: &Bench) -> Result<Table, Failure> {
        let mut rows = Vec::new();
        for (column, &size) in self.sizes.iter().enumerate() {
            let results = Results::measure(self, size, bench)?;
            rows.extend(self.lines.iter().map(|line| results.row(self, line, size, column, bench)));
        }
        let notes = self.notes.iter().map(|note| (*note).to_owned()).collect();
        Ok(Table { name: self.name, title: self.title.to_owned(), source: self.source, notes, rows })
    }
}

/// What was timed at one size.
#[derive(Default)]
struct Results {
    /// By our methods, or by the one that the library chooses.
    ours: Vec<(Option<Method>, Timing)>,
    peers: Vec<(Peer, Timing)>,
    /// The library's choice, if the table has a row for it.
    choice: Option<Method>,
    /// Peers that cannot be measured, and why.
    missing: Vec<(Peer, String)>,
}

impl Results {
    fn measure(grid: &Grid, size: usize, bench: &Bench) -> Result<Self, Failure> {
        let numbers = Numbers::new(size, grid.operation)?;
        let lanes = grid.lines.iter().map(|line| match line.what {
            What::Ours(method) => Lanes::new(&numbers, bench.engine, Some(method)).map(Some),
            What::Usual => Lanes::new(&numbers, bench.engine, None).map(Some),
            _ => Ok(None),
        });
        let lanes: Vec<Option<Lanes>> = lanes.collect::<Result<_, _>>()?;
        let (mut results, mut whats, mut contestants) = (Self::default(), Vec::new(), Vec::new());
        for (line, lanes) in grid.lines.iter().zip(&lanes) {
            let contestant = match (line.what, lanes) {
                (What::Ours(_) | What::Usual, Some(lanes)) => Ok(lanes.contestant(grid.operation, &numbers)?),
                (What::Peer(peer), _) => {
                    contestant(peer, grid.operation, &numbers, bench)?.map_err(|why| (peer, why))
                }
                _ => continue,
            };
            if let (What::Usual, Some(lanes)) = (line.what, lanes) {
                results.choice = lanes.in_use();
            }
            match contestant {
                Ok(contestant) => {
                    whats.push(line.what);
                    contestants.push(contestant);
                }
                Err(missing) => results.missing.push(missing),
            }
        }
        let timings = interleaved(&mut contestants, bench.seconds, &bench.clock)?;
        for (what, timing) in whats.into_iter().zip(timings) {
            match what {
                What::Ours(method) => results.ours.push((Some(method), timing)),
                What::Usual => results.ours.push((None, timing)),
                What::Peer(peer) => results.peers.push((peer, timing)),
                _ => {}
            }
        }
        Ok(results)
    }

    fn ours(&self, method: Option<Method>) -> Option<&Timing> {
        self.ours.iter().find(|(other, _)| *other == method).map(|(_, timing)| timing)
    }

    fn peer(&self, peer: Peer) -> Option<&Timing> {
        self.peers.iter().find(|(other, _)| *other == peer).map(|(_, timing)| timing)
    }

    fn row(&self, grid: &Grid, line: &Line, size: usize, column: usize, bench: &Bench) -> Row {
        let (published, published_note) = grid.published(line, column);
        let engine = match line.what {
            What::Peer(peer) => name(peer, bench),
            _ => bench.engine.name().to_owned(),
        };
        let timed = |timing: Option<&Timing>, note| {
            let thousands = if grid.unit == Unit::ThousandCycles { 1000.0 } else { 1.0 };
            let cycles = timing.and_then(Timing::cycles);
            let measured = cycles.map(|sample| Measured::times(sample, |cycles| cycles / thousands));
            (grid.unit, measured, timing.map(|timing| timing.nanoseconds().median()), note)
        };
        let times = |sample: Sample| Measured::ratios(&sample, |ratio| ratio);
        let (unit, measured, nanoseconds, note) = match line.what {
            What::Ours(method) => timed(self.ours(Some(method)), None),
            What::Usual => timed(self.ours(None), None),
            What::Peer(peer) => timed(self.peer(peer), self.note(peer)),
            What::Faster(methods, peer) => {
                let ours = methods.iter().filter_map(|&method| self.ours(Some(method)));
                let best = ours.min_by(|a, b| a.nanoseconds().median().total_cmp(&b.nanoseconds().median()));
                let speedup = best.zip(self.peer(peer)).map(|(best, peer)| times(best.speedup_over(peer)));
                (Unit::Times, speedup, None, self.note(peer))
            }
            What::Speedup(method, other) => {
                let pair = self.ours(Some(method)).zip(self.ours(Some(other)));
                (Unit::Times, pair.map(|(method, other)| times(method.speedup_over(other))), None, None)
            }
            What::Saved(method, other) => {
                let pair = self.ours(Some(method)).zip(self.ours(Some(other)));
                // What the second takes of the first's time.
                let share = pair.map(|(method, other)| method.speedup_over(other));
                let saved = share.map(|share| Measured::ratios(&share, |share| 100.0 * (1.0 - share)));
                (Unit::Percent, saved, None, None)
            }
        };
        let row = match (line.what, self.choice) {
            (What::Usual, Some(choice)) => format!("{}: {choice}", line.row),
            _ => line.row.to_owned(),
        };
        let measured = measured.unwrap_or_default();
        Row { row, size, unit, published, published_note, measured, nanoseconds, engine, note }
    }

    /// Why a peer was not measured, or what to mind when comparing with it.
    fn note(&self, peer: Peer) -> Option<String> {
        let missing = self.missing.iter().find(|(other, _)| *other == peer).map(|(_, why)| why.clone());
        let pair =
            (peer == Peer::OpenSslPair).then(|| self.peer(peer).zip(self.peer(Peer::OpenSsl))).flatten();
        // By the best rounds, which nothing interrupted.
        let gain = pair.map(|(pair, single)| single.nanoseconds().least() / pair.nanoseconds().least());
        let no_gain = gain.is_some_and(|gain| gain < PAIR_GAIN);
        missing.or_else(|| no_gain.then(|| NO_PAIR.to_owned()))
    }
}

/// A peer that does the operation for eight lanes, or why there is none.
fn contestant(
    peer: Peer,
    operation: Operation,
    numbers: &Numbers,
    bench: &Bench,
) -> Result<Result<Contestant<'static>, String>, Failure> {
    let none = || format!("{} has no such operation", name(peer, bench));
    Ok(match (peer, &bench.peers.gmp, &bench.peers.openssl) {
        (Peer::Gmp, Err(missing), _) => Err(missing.to_string()),
        (Peer::Gmp, Ok(gmp), _) => Ok(match operation {
            Operation::Multiply => peers::gmp_multiply(gmp, numbers)?,
            Operation::Square => peers::gmp_square(gmp, numbers)?,
            Operation::Power => peers::gmp_power(gmp, numbers)?,
        }),
        (Peer::OpenSsl | Peer::OpenSslPair, _, Err(missing)) => Err(missing.to_string()),
        (Peer::OpenSsl, _, Ok(openssl)) => match operation {
            Operation::Multiply => Ok(peers::openssl_multiply(openssl, numbers)?),
            Operation::Square => Err(none()),
            Operation::Power => Ok(peers::openssl_power(openssl, numbers)?),
        },
        (Peer::OpenSslPair, _, Ok(openssl)) => match operation {
            Operation::Power => peers::openssl_power_pair(openssl, numbers)?.ok_or_else(none),
            _ => Err(none()),
        },
    })
}

/// The library's version, or its name where it was not found.
fn name(peer: Peer, bench: &Bench) -> String {
    match (peer, &bench.peers.gmp, &bench.peers.openssl) {
        (Peer::Gmp, Ok(gmp), _) => gmp.version().to_owned(),
        (Peer::Gmp, Err(missing), _) => missing.library().to_owned(),
        (_, _, Ok(openssl)) => openssl.version().to_owned(),
        (_, _, Err(missing)) => missing.library().to_owned(),
    }
}
