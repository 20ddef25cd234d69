//! `zariz info --provider`: the settings and counters of the module for OpenSSL, loaded like by OpenSSL's
//! programs.

mod reach;
mod unknown;

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;
use zariz_peers::{ParamValue, Provider, ProviderError};

use crate::exit::Failure;
use crate::measure::figures::grouped;
use crate::report::Escaped;
use unknown::Unknown;

/// The module's parameters.
#[derive(Serialize)]
pub struct Module {
    /// The name that the module gives itself.
    provider: String,
    version: String,
    build: Option<String>,
    /// The file that was loaded.
    module: String,
    /// Its name in OpenSSL's configuration.
    name: String,
    /// The section of OpenSSL's configuration with the module's settings, if there is one.
    configuration: Option<String>,
    /// Whether that section activates the module in every program.
    active: bool,
    /// The file in which all processes count; `None` if each counts for itself.
    counters: Option<String>,
    /// The names of all settings of the module.
    known_settings: Vec<String>,
    /// Names in the module's section of the configuration that are not settings of the module.
    unknown_settings: Vec<Unknown>,
    /// What keeps programs from using the module, or from using anything else, and how to fix it.
    unreached: Option<String>,
    openssl: String,
    running: bool,
    engine: String,
    method: String,
    threads: u64,
    max_batch: u64,
    validate_keys: bool,
    operations: u64,
    private_operations: u64,
    public_operations: u64,
    batches: u64,
    mean_batch: f64,
    largest_batch: u64,
    fallbacks: u64,
    check_failures: u64,
    keys_generated: u64,
}

impl Module {
    /// Loads the module in the file at `path`, and reads its parameters.
    pub fn ask(path: &Path) -> Result<Self, Failure> {
        let provider = Provider::load(path).map_err(|error| match error {
            ProviderError::OpenSsl(missing) => Failure::Input(missing.to_string()),
            error => Failure::key(path)(error),
        })?;
        let parameters = Parameters(provider.parameters());
        if parameters.count("private-operations").is_none() {
            let name = parameters.text("name").unwrap_or_else(|| provider.name());
            return Err(Failure::Input(format!(
                "{}: is another provider ({name}), not zariz",
                path.display()
            )));
        }
        let missing = |what: &str| Failure::Input(format!("{}: does not give its {what}", path.display()));
        let text = |what| parameters.text(what).ok_or_else(|| missing(what));
        let count = |what| parameters.count(what).ok_or_else(|| missing(what));
        let known_settings: Vec<_> = text("known-settings")?.split(' ').map(str::to_owned).collect();
        let settings = provider.section().map(|section| section.settings()).unwrap_or_default();
        Ok(Self {
            provider: text("name")?,
            version: text("version")?,
            build: parameters.text("buildinfo"),
            module: path.display().to_string(),
            name: provider.name(),
            configuration: provider.section().map(ToString::to_string),
            active: provider.section().is_some_and(|section| section.active),
            counters: provider.section().and_then(|section| {
                let line = section.lines.iter().rev().find(|(name, _)| name == "counters");
                line.map(|(_, file)| file.clone())
            }),
            unknown_settings: Unknown::among(&settings, &known_settings),
            known_settings,
            unreached: provider.section().and_then(|section| reach::warning(section, provider.programs())),
            openssl: provider.openssl(),
            running: count("status")? == 1,
            engine: text("engine")?,
            method: text("method")?,
            threads: count("threads")?,
            max_batch: count("max-batch")?,
            validate_keys: count("validate-keys")? == 1,
            operations: count("operations")?,
            private_operations: count("private-operations")?,
            public_operations: count("public-operations")?,
            batches: count("batches")?,
            mean_batch: parameters.real("mean-batch").ok_or_else(|| missing("mean-batch"))?,
            largest_batch: count("largest-batch")?,
            fallbacks: count("fallbacks")?,
            check_failures: count("check-failures")?,
            keys_generated: count("keys-generated")?,
        })
    }

    /// All parameters as text, one per line.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let mut line = |label: &str, value: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{label:<20}  {}", Escaped(value));
        };
        line("provider", &format!("{} {}", self.provider, self.version));
        if let Some(build) = self.build.as_ref().filter(|build| **build != self.version) {
            line("build", build);
        }
        line("module", &self.module);
        line("name", &self.name);
        let settings = match &self.configuration {
            Some(section) if self.active => format!("{section}, active in every program"),
            Some(section) => format!("{section}, active in programs that load it"),
            None => {
                "none in OpenSSL's configuration: all by default, and only in programs that load it themselves".into()
            }
        };
        line("settings", &settings);
        for unknown in &self.unknown_settings {
            line("warning", &unknown.text(&self.known_settings));
        }
        if let Some(unreached) = &self.unreached {
            line("warning", unreached);
        }
        line("loaded by", &self.openssl);
        line("status", if self.running { "running" } else { "not running" });
        line("engine", &self.engine);
        line("method", &self.method);
        line("threads", &grouped(self.threads));
        line("max batch", &grouped(self.max_batch));
        line("validate keys", if self.validate_keys { "yes" } else { "no" });
        line("counters", self.counters.as_deref().unwrap_or("each process has its own"));
        line("", "");
        line("operations", &grouped(self.operations));
        line("  private", &grouped(self.private_operations));
        line("  public", &grouped(self.public_operations));
        line("batches", &grouped(self.batches));
        line("  mean", &format!("{:.2}", self.mean_batch));
        line("  largest", &grouped(self.largest_batch));
        line("fallbacks", &grouped(self.fallbacks));
        line("check failures", &grouped(self.check_failures));
        line("keys generated", &grouped(self.keys_generated));
        if self.counters.is_none() {
            text.push_str(
                "\nThis process has computed nothing yet. Other processes are counted here if `counters`, in the provider's\n\
                 section of openssl.cnf, names a file for all of them.\n",
            );
        }
        text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
    }
}

/// A provider's parameters, by name.
struct Parameters(Vec<(String, ParamValue)>);

impl Parameters {
    fn value(&self, name: &str) -> Option<&ParamValue> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value)
    }

    fn text(&self, name: &str) -> Option<String> {
        match self.value(name)? {
            ParamValue::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    fn count(&self, name: &str) -> Option<u64> {
        match self.value(name)? {
            ParamValue::Count(count) => Some(*count),
            ParamValue::Integer(integer) => u64::try_from(*integer).ok(),
            _ => None,
        }
    }

    fn real(&self, name: &str) -> Option<f64> {
        match self.value(name)? {
            ParamValue::Real(real) => Some(*real),
            _ => None,
        }
    }
}
