//! The results as a picture: one bar for each library, signatures per second with one size of key.

use crate::peers::{CRYPTO_MB, REFERENCE};
use crate::report::{Kind, Report, Who};

/// The size of key that is shown, if it was measured.
const BITS: usize = 2048;
/// Pixels: the picture, a bar with the space below it, the heading, and where bars begin.
const WIDTH: usize = 760;
const ROW: usize = 32;
const HEADING: usize = 84;
const LEFT: usize = 190;
/// How long the longest bar is: its figure stands to the right of it.
const LONGEST: usize = 410;
/// Peers are grey.
const PEER: &str = "#9a9a9a";
const ZARIZ: &str = "#c84600";

/// A bar: whose, signatures per second, times OpenSSL's rate, and its colour.
type Bar = (String, f64, f64, &'static str);

/// The chart as SVG; none where OpenSSL was not measured, or zariz was not left to itself.
pub fn svg(report: &Report) -> Option<String> {
    let bars = bars(report)?;
    let most = bars.iter().map(|bar| bar.1).fold(0.0, f64::max);
    let height = HEADING + ROW * bars.len() + 8;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"15\" fill=\"#222\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let text = |x: usize, y: usize, more: &str, text: &str| {
        format!("<text x=\"{x}\" y=\"{y}\"{more}>{text}</text>\n")
    };
    svg += &text(16, 30, " font-size=\"19\"", &format!("RSA-{BITS} signatures per second on one core"));
    let facts = format!("{}. AVX512-IFMA {}.", report.processor.describe(), report.ifma());
    svg += &text(16, 52, " font-size=\"12\" fill=\"#666\"", &facts);
    let facts = format!("{}, zariz {}. In brackets: times OpenSSL's rate.", report.date, report.commit);
    svg += &text(16, 69, " font-size=\"12\" fill=\"#666\"", &facts);
    for (row, (name, rate, ratio, colour)) in bars.into_iter().enumerate() {
        let (top, length) = (HEADING + ROW * row, (rate / most * LONGEST as f64).round() as usize);
        svg += &text(LEFT - 10, top + 17, " text-anchor=\"end\"", &name);
        svg += &text(LEFT + length + 8, top + 17, "", &format!("{} ({ratio:.1}×)", thousands(rate)));
        svg +=
            &format!("<rect x=\"{LEFT}\" y=\"{top}\" width=\"{length}\" height=\"24\" fill=\"{colour}\"/>\n");
    }
    Some(svg + "</svg>\n")
}

/// The peers from the slowest to the fastest, then zariz: one signature, and the largest batch.
fn bars(report: &Report) -> Option<Vec<Bar>> {
    let bar = |name: String, who: Who<'_>, colour| {
        let measured = report.find(Kind::Sign, BITS, who)?;
        Some((name, measured.ops_per_second_median, measured.ratio_vs_openssl?, colour))
    };
    bar(String::new(), Who::Peer(REFERENCE, 1), PEER)?;
    let mut bars: Vec<Bar> = report
        .peers()
        .filter_map(|peer| {
            let batch = *report.batches_of(&peer.library).last()?;
            let batches = if peer.library == CRYPTO_MB { ", batches" } else { "" };
            bar(format!("{}{batches}", peer.library), Who::Peer(&peer.library, batch), PEER)
        })
        .collect();
    bars.sort_by(|a, b| a.1.total_cmp(&b.1));
    bars.push(bar("zariz, one alone".into(), Who::Engine("auto", 1), ZARIZ)?);
    let most = *report.batches().last()?;
    bars.push(bar(format!("zariz, batches of {most}"), Who::Engine("auto", most), ZARIZ)?);
    Some(bars)
}

/// A whole number with commas.
fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}
