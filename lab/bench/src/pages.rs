//! `zariz-bench pages`: a page of each run from its data, with a chart where signatures were compared.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::report::Report;
use crate::{bls12_381, bulk, chart, table};

/// What each page says of itself.
const MADE: &str = "<!-- Made by `cargo xtask results` of the data in lab/results. -->\n\n";

/// Writes the pages of all data in one folder to another.
pub fn write(data: &Path, out: &Path) -> Result<()> {
    // A page for each subject and processor; so there may be one file of data for each.
    let mut made: BTreeMap<String, String> = BTreeMap::new();
    for entry in fs::read_dir(data).with_context(|| format!("cannot list {}", data.display()))? {
        let path = entry?.path();
        let Some(stem) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".json")) else {
            continue;
        };
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let why = || format!("cannot read {} as data", path.display());
        let mut chart = None;
        let (page, commit) = if stem.contains("-bulk-") {
            bulk::page(&text).with_context(why)?
        } else if stem.starts_with("bls12-381-") {
            (bls12_381::page(&text).with_context(why)?, String::new())
        } else if text.contains("\n  \"measurements\": [") {
            let report: Report = serde_json::from_str(&text).with_context(why)?;
            chart = chart::svg(&report);
            (table::markdown(&report), report.commit)
        } else {
            continue;
        };
        let name = name(stem, &commit);
        if let Some(other) = made.insert(name.clone(), stem.to_owned()) {
            bail!("{other} and {stem} are of one subject: keep the newer one");
        }
        let mut page = MADE.to_owned() + &page;
        if let Some(svg) = chart {
            let shown = format!("\n![Signatures per second]({name}.svg)\n\n## ");
            page = page.replacen("\n## ", &shown, 1);
            save(out, &name, "svg", svg)?;
        }
        save(out, &name, "md", page)?;
    }
    Ok(())
}

/// A page's name: that of its data, without day and commit.
fn name(stem: &str, commit: &str) -> String {
    let is_day = |day: &str| day.chars().all(|c| c.is_ascii_digit() || c == '-');
    let rest = stem.split_at_checked(11).filter(|(day, _)| is_day(day)).map_or(stem, |(_, rest)| rest);
    rest.replacen(&format!("-{commit}"), "", usize::from(!commit.is_empty()))
}

/// Writes a file of results, and says so.
pub fn save(folder: &Path, name: &str, ending: &str, text: String) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("making the folder {}", folder.display()))?;
    let path = folder.join(format!("{name}.{ending}"));
    fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn names_of_pages_stay_from_run_to_run() {
        assert_eq!(
            name("2026-11-28-epyc-19-11-1-118dc07-dirty-3072-alone", "118dc07-dirty"),
            "epyc-19-11-1-3072-alone"
        );
        assert_eq!(name("2026-11-26-bulk-epyc-19-11-1-6d63d83", "6d63d83"), "bulk-epyc-19-11-1");
        assert_eq!(name("bls12-381-xeon-6-cf-2", ""), "bls12-381-xeon-6-cf-2");
    }
}
