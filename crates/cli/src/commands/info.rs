//! `zariz info`: the processor, and every engine's self-test on it; or the settings and counters of the
//! module for OpenSSL.

pub mod provider;

use std::fmt::Write;
use std::num::NonZero;
use std::path::PathBuf;
use std::thread;

use serde::Serialize;
use zariz::Engine;

use crate::exit::{Failure, Outcome};
use crate::output::Output;
use crate::processor::{self, expected};

/// Arguments of `info`.
#[derive(clap::Args)]
pub struct Args {
    /// Load this module for OpenSSL (zariz.so), with OpenSSL's configuration, and show its settings and
    /// counters instead
    #[arg(long, value_name = "PATH")]
    provider: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Info {
    version: &'static str,
    processor: String,
    /// The everyday name of its design.
    design: Option<&'static str>,
    threads: usize,
    features: Vec<&'static str>,
    /// The features that `ZARIZ_HIDE` hides.
    hidden: &'static [String],
    /// What was measured on this design or the nearest one; `None` while instructions are hidden.
    expected: Option<Expected>,
    engines: Vec<EngineInfo>,
}

/// RSA-2048 signatures of one core, as a multiple of OpenSSL's rate.
#[derive(Serialize)]
struct Expected {
    measured_on: &'static str,
    batches_of_64: f64,
    one_at_a_time: f64,
    page: String,
}

#[derive(Serialize)]
struct EngineInfo {
    name: &'static str,
    available: bool,
    chosen: bool,
    lanes: usize,
    requires: &'static str,
    /// `passed`, or `failed: ` and the reason; `None` if the engine cannot run.
    self_test: Option<String>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let mut output = Output::stdout()?;
    if let Some(path) = &args.provider {
        let module = provider::Module::ask(path)?;
        let text = if args.json { json(&module)? } else { module.table() };
        output.write(text.as_bytes())?;
        return Ok(Outcome::Done);
    }
    let offered = zariz_machines::features().into_iter().filter(|(_, offered)| *offered);
    let features: Vec<_> = offered.map(|(name, _)| name).collect();
    let (design, hidden) = (processor::design(), zariz::hidden());
    let measured = hidden.is_empty().then(|| expected::nearest(design, &features)).flatten();
    let info = Info {
        version: env!("CARGO_PKG_VERSION"),
        processor: processor::name(),
        design,
        threads: thread::available_parallelism().map_or(1, NonZero::get),
        features,
        hidden,
        expected: measured.map(Expected::from),
        engines: Engine::ALL.iter().copied().map(EngineInfo::new).collect(),
    };
    let text = if args.json { json(&info)? } else { info.table() };
    output.write(text.as_bytes())?;
    match info.engines.iter().find(|engine| engine.has_failed()) {
        Some(engine) => {
            Err(Failure::Input(format!("engine {} must not be used on this machine", engine.name)))
        }
        None => Ok(Outcome::Done),
    }
}

fn json(info: &impl Serialize) -> Result<String, Failure> {
    Ok(serde_json::to_string_pretty(info).map_err(|e| Failure::Input(e.to_string()))? + "\n")
}

impl From<&expected::Measured> for Expected {
    fn from(measured: &expected::Measured) -> Self {
        Self {
            measured_on: measured.design,
            batches_of_64: f64::from(measured.batch) / 100.0,
            one_at_a_time: f64::from(measured.single) / 100.0,
            page: format!("docs/benchmarks/{}.md", measured.page),
        }
    }
}

impl EngineInfo {
    fn new(engine: Engine) -> Self {
        let self_test =
            || engine.self_test().map_or_else(|error| format!("failed: {error}"), |()| "passed".into());
        Self {
            name: engine.name(),
            available: engine.is_available(),
            chosen: engine == Engine::best(),
            lanes: engine.lanes(),
            requires: engine.requires(),
            self_test: engine.is_available().then(self_test),
        }
    }

    fn has_failed(&self) -> bool {
        self.self_test.as_deref().is_some_and(|result| result != "passed")
    }

    fn state(&self) -> String {
        match &self.self_test {
            Some(result) if self.chosen => format!("self-test {result}; chosen by auto"),
            Some(result) => format!("self-test {result}"),
            None => format!("not available: needs {}", self.requires),
        }
    }
}

impl Info {
    fn table(&self) -> String {
        let features = if self.features.is_empty() {
            "none that engines look for".into()
        } else {
            self.features.join(" ")
        };
        let mut text = format!("zariz      {}\nprocessor  {}\n", self.version, self.processor);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "design     {}", self.design.unwrap_or("unknown"));
        let _ = writeln!(text, "threads    {}\nfeatures   {features}", self.threads);
        if !self.hidden.is_empty() {
            let _ = writeln!(text, "hidden     {} (by {})", self.hidden.join(" "), zariz::HIDE);
        }
        text += &self.expectation();
        text.push('\n');
        let _ = writeln!(text, "engine        lanes  state");
        for engine in &self.engines {
            let _ = writeln!(text, "{:<12}  {:>5}  {}", engine.name, engine.lanes, engine.state());
        }
        text
    }

    /// What to expect of this processor, in two lines; nothing while instructions are hidden.
    fn expectation(&self) -> String {
        if !self.hidden.is_empty() {
            return String::new();
        }
        let Some(expected) = &self.expected else {
            let module = if cfg!(target_arch = "aarch64") {
                "           OpenSSL's module leaves RSA to OpenSSL here, unless its setting `engine` is given\n"
            } else {
                ""
            };
            return format!(
                "expect     nothing was measured on such a processor: `zariz speed --compare openssl` does it\n\
                 {module}"
            );
        };
        let Expected { measured_on, batches_of_64, one_at_a_time, page } = expected;
        let measured = if self.design == Some(measured_on) {
            "measured".into()
        } else {
            format!("not measured here; {measured_on}, the nearest that was, has this")
        };
        format!(
            "expect     RSA-2048 signatures, one core: {batches_of_64} times OpenSSL's rate in batches of 64, \
             {one_at_a_time} times one at a time\n           {measured} ({page}; docs/processor.md explains it)\n"
        )
    }
}
