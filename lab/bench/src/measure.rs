//! The stopwatch: many short rounds in which all contestants take turns.
//!
//! A *cell* is one contestant (a library, or zariz on one engine) at one batch size. In each round every cell
//! runs for a slice of its time, one after another, and each round begins with another cell, so that slow
//! changes of the machine (clock, temperature, neighbours) fall on all of them alike and cancel in the ratio
//! of two rates of the same round. A cell whose single call is long takes part in fewer rounds, at least
//! [`FEWEST_ROUNDS`]; one whose call is longer than [`LONGEST_CALL`] times its whole budget is left out.

use std::time::{Duration, Instant};

use anyhow::Result;

/// Rounds that even a slow cell takes part in, where there are so many.
const FEWEST_ROUNDS: usize = 3;

/// The longest call that is measured, in budgets of a cell.
const LONGEST_CALL: f64 = 2.0;

/// How long to measure.
#[derive(Clone, Copy)]
pub struct Budget {
    /// Seconds of a cell over all rounds.
    pub seconds: f64,
    /// Rounds.
    pub rounds: usize,
}

/// What takes part.
pub struct Contestant<'a, Who> {
    /// Who it is.
    pub who: Who,
    /// How many operations it computes at once: a larger batch, up to this, may take no longer.
    pub lanes: usize,
    /// The batch sizes to measure it at, ascending.
    pub batches: Vec<usize>,
    /// Does operations: on the items from the place that is the first argument, as many as the second.
    pub call: Box<dyn FnMut(usize, usize) -> Result<()> + 'a>,
}

/// What was measured of one cell.
pub struct Cell<Who> {
    /// Who was measured.
    pub who: Who,
    /// Operations per call.
    pub batch: usize,
    /// Operations per second in each round; none where the cell did not take part.
    pub rates: Vec<Option<f64>>,
    /// Seconds of each call.
    pub calls: Vec<f64>,
    /// Why the cell was left out, if it was.
    pub left_out: Option<String>,
    contestant: usize,
    visits: usize,
}

/// Measures all contestants side by side. There are `items` to work on; after the last comes the first again.
pub fn measure<Who: Clone>(
    contestants: &mut [Contestant<'_, Who>],
    items: usize,
    budget: Budget,
) -> Result<Vec<Cell<Who>>> {
    let mut cells = Vec::new();
    for index in 0..contestants.len() {
        cells.extend(calibrate(contestants, index, budget)?);
    }
    let slice = Duration::from_secs_f64(budget.seconds / budget.rounds as f64);
    for round in 0..budget.rounds {
        let first = round * cells.len() / budget.rounds;
        cells.rotate_left(first);
        for cell in &mut cells {
            let rate = match takes_part(cell.visits, round, budget.rounds) {
                true => Some(run(&mut contestants[cell.contestant], cell, items, slice)?),
                false => None,
            };
            cell.rates.push(rate);
        }
        cells.rotate_right(first);
    }
    Ok(cells)
}

/// Whether a cell with `visits` visits in `rounds` rounds has one in this round: they are spread evenly.
fn takes_part(visits: usize, round: usize, rounds: usize) -> bool {
    (round + 1) * visits / rounds > round * visits / rounds
}

/// The cells of one contestant, each with the number of rounds that its time allows. Also warms everything
/// up.
fn calibrate<Who: Clone>(
    contestants: &mut [Contestant<'_, Who>],
    index: usize,
    budget: Budget,
) -> Result<Vec<Cell<Who>>> {
    let contestant = &mut contestants[index];
    let longest = LONGEST_CALL * budget.seconds;
    let mut cells = Vec::new();
    // Seconds and batch of the cell before, which tell about the next without running it.
    let mut before: Option<(f64, usize)> = None;
    for batch in contestant.batches.clone() {
        // Up to the lanes of a vector, a larger batch may take no longer; from there on, time grows with it.
        let expected = before
            .map_or(0.0, |(seconds, smaller)| seconds * batch as f64 / smaller.max(contestant.lanes) as f64);
        let seconds = match expected > longest {
            true => expected,
            false => fastest_call(contestant, batch)?,
        };
        before = Some((seconds, batch));
        let left_out = (seconds > longest).then(|| {
            format!("one call takes at least {seconds:.1} s, too long for {} s in all", budget.seconds)
        });
        let visits = match left_out {
            Some(_) => 0,
            None => ((budget.seconds / seconds) as usize).max(FEWEST_ROUNDS).min(budget.rounds),
        };
        let (who, rates, calls) = (contestant.who.clone(), Vec::new(), Vec::new());
        cells.push(Cell { who, batch, rates, calls, left_out, contestant: index, visits });
    }
    Ok(cells)
}

/// Seconds of the fastest of a few calls.
fn fastest_call<Who>(contestant: &mut Contestant<'_, Who>, batch: usize) -> Result<f64> {
    let begin = Instant::now();
    let mut fastest = f64::INFINITY;
    while fastest.is_infinite() || begin.elapsed() < Duration::from_millis(5) {
        let start = Instant::now();
        (contestant.call)(0, batch)?;
        fastest = fastest.min(start.elapsed().as_secs_f64());
    }
    Ok(fastest)
}

/// Runs a cell for a slice of time, at least one call; operations per second.
fn run<Who>(
    contestant: &mut Contestant<'_, Who>,
    cell: &mut Cell<Who>,
    items: usize,
    slice: Duration,
) -> Result<f64> {
    let mut from = 0;
    let mut operations = 0;
    let begin = Instant::now();
    let mut last = begin;
    while operations == 0 || last - begin < slice {
        (contestant.call)(from, cell.batch)?;
        // One reading of the clock per call: the end of one is the beginning of the next.
        let now = Instant::now();
        cell.calls.push((now - last).as_secs_f64());
        last = now;
        operations += cell.batch;
        from = (from + cell.batch) % items;
    }
    Ok(operations as f64 / (last - begin).as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::takes_part;

    #[test]
    fn visits_are_spread_evenly() {
        for rounds in 1..30 {
            for visits in 0..=rounds {
                let taken = (0..rounds).filter(|&round| takes_part(visits, round, rounds)).count();
                assert_eq!(taken, visits, "{visits} of {rounds}");
            }
        }
    }
}
