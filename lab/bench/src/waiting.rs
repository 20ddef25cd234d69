//! Few requests as a picture: how many wait at once, against signatures per second and how long a call takes.

use anyhow::{Result, anyhow};
use plotters::prelude::*;

use crate::chart::{Area, GRID, engine_colour, text};
use crate::peers::REFERENCE;
use crate::report::{Kind, Measurement, Report, Who};

/// Width and height of the picture.
const SIZE: (u32, u32) = (1060, 980);

/// Height of the heading with the legend.
const HEADING: u32 = 130;

/// The most requests that are shown: they fill the lanes of the widest engine four times, with two numbers
/// each.
const MOST: usize = 16;

/// A line: a name, a colour, and what was measured for each number of requests.
struct Line<'a> {
    name: String,
    colour: RGBColor,
    width: u32,
    points: Vec<(f64, &'a Measurement, f64)>,
}

/// The picture for one size of key, as SVG; none where fewer than three small batches were measured.
pub fn svg(report: &Report, bits: usize) -> Result<Option<String>> {
    let waiting: Vec<usize> = report.batches().into_iter().filter(|&batch| batch <= MOST).collect();
    if waiting.len() < 3 {
        return Ok(None);
    }
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        draw(&root, report, bits, &waiting).map_err(|why| anyhow!("drawing the chart: {why}"))?;
    }
    Ok(Some(svg))
}

fn draw(root: &Area<'_>, report: &Report, bits: usize, waiting: &[usize]) -> Result<()> {
    root.fill(&WHITE)?;
    let lines = lines(report, bits, waiting);
    let (heading, panels) = root.split_vertically(HEADING);
    heading.draw_text(&format!("RSA-{bits} signatures, by requests waiting at once"), &text(24), (20, 16))?;
    let facts = format!(
        "{}; AVX512-IFMA {}; {}, zariz {}; one thread, medians of interleaved rounds",
        report.processor.describe(),
        report.ifma(),
        report.date,
        report.commit
    );
    heading.draw_text(&facts, &text(14), (20, 50))?;
    let mut x = 20;
    for line in &lines {
        heading.draw(&PathElement::new([(x, 97), (x + 18, 97)], line.colour.stroke_width(line.width)))?;
        heading.draw_text(&line.name, &text(15), (x + 24, 90))?;
        x += 50 + 8 * line.name.len() as i32;
    }
    let panels = panels.split_evenly((2, 1));
    let [rates, latencies] = panels.as_slice() else { return Err(anyhow!("two panels were requested")) };
    let rate = |measurement: &Measurement, _: f64| measurement.ops_per_second_median;
    panel(rates, "Signatures per second", &lines, waiting, rate)?;
    let latency = |measurement: &Measurement, calls: f64| calls * measurement.p50_us / 1000.0;
    panel(latencies, "Milliseconds until the last is signed (p50)", &lines, waiting, latency)
}

/// OpenSSL, which does one after the other, and every engine.
fn lines<'a>(report: &'a Report, bits: usize, waiting: &[usize]) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    if let Some(peer) = report.find(Kind::Sign, bits, Who::Peer(REFERENCE, 1)) {
        let points = waiting.iter().map(|&count| (count as f64, peer, count as f64)).collect();
        lines.push(Line { name: REFERENCE.into(), colour: RGBColor(150, 150, 150), width: 2, points });
    }
    for engine in report.engines() {
        let point = |&count: &usize| {
            Some((count as f64, report.find(Kind::Sign, bits, Who::Engine(engine, count))?, 1.0))
        };
        let width = if engine == "auto" { 5 } else { 2 };
        let points = waiting.iter().filter_map(point).collect();
        lines.push(Line { name: engine.to_owned(), colour: engine_colour(engine), width, points });
    }
    lines
}

/// Lines of what `value` makes of a measurement and of how many calls answer the requests.
fn panel(
    area: &Area<'_>,
    title: &str,
    lines: &[Line<'_>],
    waiting: &[usize],
    value: impl Fn(&Measurement, f64) -> f64,
) -> Result<()> {
    let points = |line: &Line<'_>| -> Vec<(f64, f64)> {
        line.points.iter().map(|&(count, measurement, calls)| (count, value(measurement, calls))).collect()
    };
    let top = lines.iter().flat_map(points).map(|(_, y)| y).fold(0.0, f64::max) * 1.1;
    let last = waiting.last().copied().unwrap_or(1) as f64;
    let mut chart = ChartBuilder::on(area)
        .caption(title, text(18))
        .margin(10)
        .margin_right(20)
        .x_label_area_size(44)
        .y_label_area_size(70)
        .build_cartesian_2d(0.5..last + 0.5, 0.0..top)?;
    let label = |x: &f64| match waiting.iter().find(|&&count| (count as f64 - x).abs() < 1e-6) {
        Some(count) => count.to_string(),
        None => String::new(),
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE)
        .bold_line_style(GRID)
        .x_labels(2 * last as usize + 1)
        .x_label_formatter(&label)
        .x_desc("requests waiting at once")
        .label_style(text(14))
        .axis_desc_style(text(15))
        .draw()?;
    for line in lines {
        let style = line.colour.stroke_width(line.width);
        chart.draw_series(LineSeries::new(points(line), style))?;
        let radius = line.width + 1;
        chart.draw_series(
            points(line).into_iter().map(|point| Circle::new(point, radius, line.colour.filled())),
        )?;
    }
    Ok(())
}
