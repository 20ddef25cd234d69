//! The results as a picture: ratios to OpenSSL, by size for signing and verifying, and by batch for one size.

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::peers::REFERENCE;
use crate::report::{Kind, Report, Who};

/// Width and height of the picture.
const SIZE: (u32, u32) = (1060, 1290);

/// Height of the heading with the legend.
const HEADING: u32 = 165;

/// The size whose batches are shown, where it was measured.
const BATCHES_OF: usize = 2048;

/// Peers are grey to brown, zariz is in colours that the colour-blind can tell apart.
const PEER_COLOURS: [RGBColor; 6] = [
    RGBColor(70, 70, 70),
    RGBColor(120, 120, 120),
    RGBColor(165, 165, 165),
    RGBColor(205, 205, 205),
    RGBColor(202, 187, 150),
    RGBColor(150, 110, 70),
];
/// See [`PEER_COLOURS`]: `auto`, then engines from the fastest to the slowest.
const ENGINE_COLOURS: [RGBColor; 12] = [
    RGBColor(0, 0, 0),
    RGBColor(200, 70, 0),
    RGBColor(230, 159, 0),
    RGBColor(0, 114, 178),
    RGBColor(86, 180, 233),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(150, 140, 60),
    RGBColor(120, 60, 160),
    RGBColor(150, 200, 90),
    RGBColor(170, 110, 110),
    RGBColor(110, 170, 170),
];
// One for each, and one for `auto`.
const _: () = assert!(zariz::Engine::ALL.len() < ENGINE_COLOURS.len());
pub const GRID: RGBColor = RGBColor(225, 225, 225);

pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// One colour of the bars.
struct Series<'a> {
    label: String,
    who: Bars<'a>,
    colour: RGBColor,
}

/// Whose bars.
#[derive(Clone, Copy)]
enum Bars<'a> {
    Peer(&'a str),
    Engine(&'a str),
}

impl Bars<'_> {
    /// Whether they are zariz's.
    fn is_zariz(self) -> bool {
        matches!(self, Bars::Engine(_))
    }

    /// The height of the bar, times OpenSSL's rate.
    fn ratio(self, report: &Report, kind: Kind, bits: usize) -> Option<f64> {
        let batches = match self {
            Bars::Peer(name) => report.batches_of(name),
            Bars::Engine(_) => report.batches(),
        };
        let who = |batch| match self {
            Bars::Peer(name) => Who::Peer(name, batch),
            Bars::Engine(name) => Who::Engine(name, batch),
        };
        let measured = batches.into_iter().rev().find_map(|batch| report.find(kind, bits, who(batch)));
        measured?.ratio_vs_openssl
    }
}

/// The chart as SVG; none when OpenSSL was not measured, as it shows ratios to it.
pub fn svg(report: &Report) -> Result<Option<String>> {
    if !report.measurements.iter().any(|measurement| measurement.library == REFERENCE) {
        return Ok(None);
    }
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        draw(&root, report).map_err(|why| anyhow!("drawing the chart: {why}"))?;
    }
    Ok(Some(text))
}

/// Heading and three panels.
fn draw(root: &Area<'_>, report: &Report) -> Result<()> {
    root.fill(&WHITE)?;
    let series = series(report);
    let (heading, panels) = root.split_vertically(HEADING);
    draw_heading(&heading, report, &series)?;
    let panels = panels.split_evenly((3, 1));
    let [signing, verifying, batches] = panels.as_slice() else {
        return Err(anyhow!("three panels were requested"));
    };
    draw_sizes(signing, report, &series, Kind::Sign)?;
    draw_sizes(verifying, report, &series, Kind::Verify)?;
    if report.batches().len() > 1 {
        draw_batches(batches, report)?;
    }
    root.present()?;
    Ok(())
}

/// Who has bars: the peers but OpenSSL, and the engines. Batches are the largest that were measured at each
/// size.
fn series(report: &Report) -> Vec<Series<'_>> {
    let peers = report.peers().filter(|peer| peer.library != REFERENCE);
    let peers = peers.zip(PEER_COLOURS).map(|(peer, colour)| {
        let who = Bars::Peer(&peer.library);
        Series { label: peer.library.clone(), who, colour }
    });
    let engines = report.engines().into_iter().map(|engine| Series {
        label: format!("zariz {engine}"),
        who: Bars::Engine(engine),
        colour: engine_colour(engine),
    });
    peers.chain(engines).collect()
}

/// An engine's colour, whichever others take part.
pub fn engine_colour(engine: &str) -> RGBColor {
    let index =
        zariz::Engine::ALL.iter().rev().position(|known| known.name() == engine).map_or(0, |index| index + 1);
    ENGINE_COLOURS[index]
}

/// Text of this size, in dark grey.
pub fn text(size: i32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&RGBColor(40, 40, 40))
}

/// Title, facts and legend.
fn draw_heading(area: &Area<'_>, report: &Report, series: &[Series<'_>]) -> Result<()> {
    let batch = report.batches().last().copied().unwrap_or(1);
    let reference = report.peers().find(|peer| peer.library == REFERENCE);
    let version = reference.and_then(|peer| peer.version.split(' ').next()).unwrap_or_default();
    area.draw_text("RSA signatures and verifications per second, relative to OpenSSL", &text(24), (20, 16))?;
    let facts = [
        format!("{}; AVX512-IFMA {}", report.processor.describe(), report.ifma()),
        format!(
            "{}, zariz {}, OpenSSL {version}; one thread, medians of interleaved rounds",
            report.date, report.commit
        ),
    ];
    for (line, fact) in facts.iter().enumerate() {
        area.draw_text(fact, &text(14), (20, 50 + 20 * line as i32))?;
    }
    // Two rows: peers, then zariz.
    for (row, is_zariz) in [false, true].into_iter().enumerate() {
        let (mut x, y) = (20, 102 + 26 * row as i32);
        if !is_zariz {
            area.draw(&PathElement::new([(x, y + 7), (x + 14, y + 7)], BLACK.stroke_width(2)))?;
            area.draw_text(REFERENCE, &text(15), (x + 20, y))?;
            x += 100;
        }
        for series in series.iter().filter(|series| series.who.is_zariz() == is_zariz) {
            area.draw(&Rectangle::new([(x, y), (x + 14, y + 14)], series.colour.filled()))?;
            area.draw_text(&series.label, &text(15), (x + 20, y))?;
            x += 45 + 8 * series.label.len() as i32;
        }
        if is_zariz {
            area.draw_text(&format!("(bars: batch of {batch}, or the largest measured)"), &text(15), (x, y))?;
        }
    }
    Ok(())
}

/// Bars by modulus size.
fn draw_sizes(area: &Area<'_>, report: &Report, series: &[Series<'_>], kind: Kind) -> Result<()> {
    let sizes = report.sizes();
    let all =
        sizes.iter().flat_map(|&bits| series.iter().filter_map(move |s| s.who.ratio(report, kind, bits)));
    let top = all.fold(1.0, f64::max) * 1.12;
    let title = match kind {
        Kind::Sign => "Signing, by modulus size",
        Kind::Verify => "Verifying, by modulus size",
    };
    let mut chart = ChartBuilder::on(area)
        .caption(title, text(18))
        .margin(10)
        .margin_right(20)
        .x_label_area_size(44)
        .y_label_area_size(60)
        .build_cartesian_2d(-0.5..sizes.len() as f64 - 0.5, 0.0..top)?;
    let label = |x: &f64| match sizes.get(x.round() as usize) {
        Some(bits) if (x - x.round()).abs() < 1e-6 => format!("RSA-{bits}"),
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE)
        .bold_line_style(GRID)
        .x_labels(2 * sizes.len() + 1)
        .x_label_formatter(&label)
        .y_label_formatter(&|y| format!("{y:.1}×"))
        .x_desc("modulus size (bits)")
        .y_desc("rate, times OpenSSL's")
        .label_style(text(14))
        .axis_desc_style(text(15))
        .draw()?;
    let width = 0.84 / series.len().max(1) as f64;
    for (place, &bits) in sizes.iter().enumerate() {
        for (index, series) in series.iter().enumerate() {
            let Some(ratio) = series.who.ratio(report, kind, bits) else { continue };
            let left = place as f64 - 0.42 + index as f64 * width;
            let corners = [(left, 0.0), (left + width * 0.92, ratio)];
            chart.draw_series([Rectangle::new(corners, series.colour.filled())])?;
            if series.who.is_zariz() {
                let style = text(11).pos(Pos::new(HPos::Center, VPos::Bottom));
                let at = (left + width * 0.46, ratio + top * 0.012);
                chart.draw_series([Text::new(format!("{ratio:.1}"), at, style)])?;
            }
        }
    }
    let ends = [(-0.5, 1.0), (sizes.len() as f64 - 0.5, 1.0)];
    chart.draw_series(LineSeries::new(ends, BLACK.stroke_width(2)))?;
    Ok(())
}

/// Lines by batch size, signing with one size of key.
fn draw_batches(area: &Area<'_>, report: &Report) -> Result<()> {
    let (sizes, batches) = (report.sizes(), report.batches());
    let Some(&bits) = sizes.iter().find(|&&bits| bits == BATCHES_OF).or(sizes.first()) else { return Ok(()) };
    let points = |engine: &str| -> Vec<(f64, f64)> {
        let point = |(place, &batch): (usize, &usize)| {
            let ratio = report.find(Kind::Sign, bits, Who::Engine(engine, batch))?.ratio_vs_openssl?;
            Some((place as f64, ratio))
        };
        batches.iter().enumerate().filter_map(point).collect()
    };
    let top =
        report.engines().into_iter().flat_map(points).map(|(_, ratio)| ratio).fold(1.0, f64::max) * 1.12;
    let mut chart = ChartBuilder::on(area)
        .caption(format!("zariz signing with RSA-{bits}, by batch size"), text(18))
        .margin(10)
        .margin_right(20)
        .x_label_area_size(44)
        .y_label_area_size(60)
        .build_cartesian_2d(-0.3..batches.len() as f64 - 0.7, 0.0..top)?;
    let label = |x: &f64| match batches.get(x.round() as usize) {
        Some(batch) if (x - x.round()).abs() < 1e-6 => batch.to_string(),
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE)
        .bold_line_style(GRID)
        .x_labels(2 * batches.len() + 1)
        .x_label_formatter(&label)
        .y_label_formatter(&|y| format!("{y:.1}×"))
        .x_desc("batch (signatures requested at once)")
        .y_desc("rate, times OpenSSL's")
        .label_style(text(14))
        .axis_desc_style(text(15))
        .draw()?;
    let ends = [(-0.3, 1.0), (batches.len() as f64 - 0.7, 1.0)];
    chart.draw_series(LineSeries::new(ends, BLACK.stroke_width(2)))?;
    for engine in report.engines() {
        let (points, colour) = (points(engine), engine_colour(engine));
        chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(3)))?;
        chart.draw_series(points.into_iter().map(|point| Circle::new(point, 4, colour.filled())))?;
    }
    Ok(())
}
