//! The provider's settings, from its section in OpenSSL's configuration.

use std::ffi::CStr;
use std::path::PathBuf;
use std::str::FromStr;
use std::thread::available_parallelism;

use zariz::{Dispatch, Method};

use crate::failure::{Failure, Outcome, Reason};
use crate::ffi::core::Core;

/// The default for the most operations in a batch. Larger batches cost no less per operation, and every
/// operation waits for the last of its batch.
const MAX_BATCH: usize = 16;
/// The largest allowed values; more is an error.
const MOST_THREADS: usize = 1024;
const LARGEST_BATCH: usize = 65_536;

/// The settings, checked.
pub struct Settings {
    /// The engines that compute.
    pub dispatch: Dispatch,
    /// Whether all of RSA is left to OpenSSL: by default on Arm, where nobody has measured on a processor that
    /// zariz is faster. The setting `engine` changes it.
    pub leaves_rsa: bool,
    /// How they multiply and reduce. By default, the fastest way.
    pub method: Option<Method>,
    /// The most batches that are computed at once, and the most threads that compute for jobs; with 0, there
    /// are no such threads. By default, the number of processors ([`processors`]).
    pub threads: Option<usize>,
    /// The most operations in a batch.
    pub max_batch: usize,
    /// Whether to test the primes of each private key that is loaded.
    pub validate_keys: bool,
    /// The path of the counters file.
    pub counters: Option<PathBuf>,
}

const NAMES: [&CStr; 6] = [c"engine", c"method", c"threads", c"max-batch", c"validate-keys", c"counters"];

impl Settings {
    /// The names of all settings, separated by spaces. OpenSSL returns settings by name, and does not list
    /// the others of a configuration.
    pub fn names() -> String {
        NAMES.map(CStr::to_string_lossy).join(" ")
    }

    /// Reads and checks them.
    pub fn read(core: &Core) -> Outcome<Self> {
        let [engine, method, threads, max_batch, validate_keys, counters] = core.settings(NAMES);
        let leaves_rsa = cfg!(target_arch = "aarch64") && engine.is_none();
        let dispatch = engine.map_or(Ok(Dispatch::Auto), |name| name.parse::<Dispatch>());
        let dispatch = dispatch.and_then(|dispatch| dispatch.check().map(|()| dispatch));
        let dispatch = dispatch.map_err(|error| wrong("engine", &error))?;
        let method = match method.as_deref() {
            None | Some("auto") => None,
            Some(name) => Some(name.parse().map_err(|_| unknown_method(name))?),
        };
        Ok(Self {
            dispatch,
            leaves_rsa,
            method,
            threads: threads.map(|text| number("threads", &text, 0, MOST_THREADS)).transpose()?,
            max_batch: max_batch
                .map_or(Ok(MAX_BATCH), |text| number("max-batch", &text, 1, LARGEST_BATCH))?,
            validate_keys: validate_keys.map_or(Ok(false), |text| yes_or_no("validate-keys", &text))?,
            counters: counters.map(|path| absolute(&path)).transpose()?,
        })
    }
}

/// How many processors this process may use. It makes more than a dozen system calls.
pub fn processors() -> usize {
    available_parallelism().map_or(1, |count| count.get())
}

/// Checks that a path is absolute, so that it does not depend on the working directory.
fn absolute(path: &str) -> Outcome<PathBuf> {
    let path = PathBuf::from(path);
    if path.is_absolute() {
        Ok(path)
    } else {
        Err(wrong("counters", &format_args!("{path:?} is not an absolute path")))
    }
}

fn wrong(name: &str, why: &dyn std::fmt::Display) -> Failure {
    Failure::new(Reason::Setting, format!("setting {name} of provider zariz: {why}"))
}

fn yes_or_no(name: &str, text: &str) -> Outcome<bool> {
    match text.trim() {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(wrong(name, &format_args!("{text:?} is neither yes nor no"))),
    }
}

fn unknown_method(name: &str) -> Failure {
    let known: Vec<_> = Method::ALL.iter().map(Method::to_string).collect();
    wrong("method", &format_args!("there is no {name:?}; choose auto, {}", known.join(", ")))
}

fn number(name: &str, text: &str, least: usize, most: usize) -> Outcome<usize> {
    let value = usize::from_str(text.trim()).ok().filter(|value| (least..=most).contains(value));
    value.ok_or_else(|| wrong(name, &format_args!("{text:?} is not a number from {least} to {most}")))
}
