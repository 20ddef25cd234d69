//! A module for OpenSSL 3, loaded as programs on OpenSSL load it, and its parameters.
//!
//! The module is loaded into a library context of its own, with the settings that the configuration in effect
//! (`OPENSSL_CONF`, or the system's `openssl.cnf`) has for it, and nothing else of that. OpenSSL's own
//! loading is not enough: if a configuration makes a provider active and that fails, OpenSSL drops the error
//! and goes on without it.

mod api;
mod config;

use std::ffi::{CString, c_char, c_uint, c_void};
use std::fmt;
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};

use crate::error::NotFound;
use api::{Api, Context, OsslProvider, Param, text};
use config::Config;

/// `OSSL_PARAM`'s types of data.
const INTEGER: c_uint = 1;
const UNSIGNED_INTEGER: c_uint = 2;
const REAL: c_uint = 3;
const UTF8_STRING: c_uint = 4;
const UTF8_PTR: c_uint = 6;

/// The longest text that a parameter may have: a module's texts are shorter.
const TEXT: usize = 4096;

/// Why a provider cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProviderError {
    /// There is no OpenSSL 3 to load it into.
    OpenSsl(NotFound),
    /// What is wrong with the file, or its name.
    File(String),
    /// What is wrong with the configuration's file, which comes first.
    Configuration(String),
    /// OpenSSL could not load the module: its error.
    Load(String),
    /// OpenSSL could not load the module with the settings of the configuration.
    Settings {
        /// The section with these settings.
        section: Box<Section>,
        /// OpenSSL's error.
        why: String,
    },
}

impl std::error::Error for ProviderError {}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::OpenSsl(missing) => missing.fmt(f),
            Self::File(why) => f.write_str(why),
            Self::Configuration(why) => write!(f, "OpenSSL's configuration cannot be read: {why}"),
            Self::Load(why) => write!(f, "OpenSSL cannot load it as a provider: {why}"),
            Self::Settings { section, why } => {
                write!(f, "OpenSSL cannot load it as a provider with the settings in {section}: {why}")
            }
        }
    }
}

/// A parameter's value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ParamValue {
    /// A text.
    Text(String),
    /// A count.
    Count(u64),
    /// An integer that may be negative.
    Integer(i64),
    /// A real number.
    Real(f64),
}

/// A configuration's settings for a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The configuration's file.
    pub file: PathBuf,
    /// The section's name.
    pub name: String,
    /// The name that the provider gets.
    pub provider: String,
    /// Whether it is to be active in every program.
    pub active: bool,
    /// All its lines, names and values.
    pub lines: Vec<(String, String)>,
}

impl Section {
    /// The names of the lines that are for the module, and not for OpenSSL itself, each once.
    pub fn settings(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for (name, _) in &self.lines {
            if !config::is_for_openssl(name) && !names.contains(&name.as_str()) {
                names.push(name.as_str());
            }
        }
        names
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} [{}]", self.file.display(), self.name)
    }
}

/// What a configuration says besides a module's own section. It decides whether programs get to the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Programs {
    /// The names of the providers that are active in every program, in order.
    pub active: Vec<String>,
    /// What programs ask for if they ask for nothing themselves (`default_properties`).
    pub query: Option<String>,
}

/// A provider that is loaded.
pub struct Provider {
    context: Context,
    provider: *mut OsslProvider,
    name: CString,
    section: Option<Section>,
    programs: Programs,
}

impl Provider {
    /// Loads the system's OpenSSL, and into it the module in the file at `path` with the settings that the
    /// configuration in effect has for it.
    ///
    /// This runs the module's code with all the rights of this process: to name a file here is to trust it,
    /// as with a program that is started.
    pub fn load(path: &Path) -> Result<Self, ProviderError> {
        let module = Module::new(path)?;
        let api = Api::load().map_err(ProviderError::OpenSsl)?;
        let context = Context::new(api).map_err(ProviderError::Load)?;
        let config = Config::read(&context).map_err(ProviderError::Configuration)?;
        let found = config.as_ref().and_then(|config| config.section_for(&module.file));
        if let (None, Some(mistake)) =
            (&found, config.as_ref().and_then(|config| config.mistake(&module.file)))
        {
            return Err(ProviderError::Configuration(mistake));
        }
        if found.as_ref().is_none_or(|found| !found.has_module) {
            context.search_in(&module.folder);
        }
        let programs = config.as_ref().map(Config::programs).unwrap_or_default();
        let (name, section) = match found {
            Some(found) => {
                found.apply(&context).map_err(ProviderError::Configuration)?;
                (c_text(found.section.provider.as_bytes())?, Some(found.section))
            }
            None => (module.name, None),
        };
        // SAFETY: a live context, and a text that ends in a zero.
        let provider = unsafe { (api.load)(context.pointer, name.as_ptr()) };
        if provider.is_null() {
            let why = api.errors();
            return Err(match section {
                Some(section) => ProviderError::Settings { section: Box::new(section), why },
                None => ProviderError::Load(why),
            });
        }
        Ok(Self { context, provider, name, section, programs })
    }

    /// The provider's name for OpenSSL: the configuration's, or the file's.
    pub fn name(&self) -> String {
        self.name.to_string_lossy().into_owned()
    }

    /// The configuration's settings for it.
    pub fn section(&self) -> Option<&Section> {
        self.section.as_ref()
    }

    /// What the configuration says besides.
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// The OpenSSL that loaded it, such as `OpenSSL 3.0.19`.
    pub fn openssl(&self) -> String {
        // SAFETY: 0 is OPENSSL_VERSION; the answer is a constant text.
        let version = unsafe { text((self.context.api.version)(0)) };
        version.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
    }

    /// All its parameters, in its own order; parameters of other types than [`ParamValue`]'s are left out.
    pub fn parameters(&self) -> Vec<(String, ParamValue)> {
        // SAFETY: a live provider.
        let mut described = unsafe { (self.context.api.gettable)(self.provider) };
        let mut found = Vec::new();
        if described.is_null() {
            return found;
        }
        loop {
            // SAFETY: an array that ends with a key of null, and we are not beyond that.
            let Param { key, data_type, .. } = unsafe { *described };
            if key.is_null() {
                return found;
            }
            if let Some(value) = self.parameter(key, data_type) {
                // SAFETY: keys are texts that end in a zero.
                found.push((unsafe { text(key) }, value));
            }
            // SAFETY: this was not the last element.
            described = unsafe { described.add(1) };
        }
    }

    fn parameter(&self, key: *const c_char, data_type: c_uint) -> Option<ParamValue> {
        let (mut count, mut integer, mut real, mut pointer) = (0u64, 0i64, 0f64, null::<c_char>());
        let mut bytes = vec![0u8; if data_type == UTF8_STRING { TEXT } else { 0 }];
        let (data, data_size): (*mut c_void, usize) = match data_type {
            INTEGER => ((&raw mut integer).cast(), size_of::<i64>()),
            UNSIGNED_INTEGER => ((&raw mut count).cast(), size_of::<u64>()),
            REAL => ((&raw mut real).cast(), size_of::<f64>()),
            UTF8_STRING => (bytes.as_mut_ptr().cast(), bytes.len()),
            UTF8_PTR => ((&raw mut pointer).cast(), 0),
            _ => return None,
        };
        let unset = usize::MAX;
        let asked = Param { key, data_type, data, data_size, return_size: unset };
        let end = Param { key: null(), data_type: 0, data: null_mut(), data_size: 0, return_size: 0 };
        let mut asked = [asked, end];
        // SAFETY: a live provider, and an array that ends with a key of null; `data` is `data_size` writable
        // bytes, or for a pointer room for it.
        let done = unsafe { (self.context.api.get)(self.provider, asked.as_mut_ptr()) };
        // A parameter that it cannot give is left out.
        self.context.api.clear_errors();
        if done != 1 || asked[0].return_size == unset {
            return None;
        }
        Some(match data_type {
            INTEGER => ParamValue::Integer(integer),
            UNSIGNED_INTEGER => ParamValue::Count(count),
            REAL => ParamValue::Real(real),
            UTF8_STRING => {
                let length = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
                ParamValue::Text(String::from_utf8_lossy(&bytes[..length]).into_owned())
            }
            // SAFETY: null or a text of the provider's, which lives as long as that.
            _ => ParamValue::Text(unsafe { text(pointer) }),
        })
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        // SAFETY: loaded by us, and not used any more.
        unsafe { (self.context.api.unload)(self.provider) };
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Provider")
            .field("name", &self.name)
            .field("section", &self.section)
            .finish_non_exhaustive()
    }
}

/// A module's file, as OpenSSL takes it: a folder, and a name to which it adds the system's ending.
struct Module {
    file: PathBuf,
    folder: CString,
    name: CString,
}

impl Module {
    fn new(path: &Path) -> Result<Self, ProviderError> {
        let refuse = |why: String| ProviderError::File(why);
        let file = std::path::absolute(path).map_err(|error| refuse(error.to_string()))?;
        let kind = std::fs::metadata(&file).map_err(|error| refuse(error.to_string()))?;
        if !kind.is_file() {
            return Err(refuse("is not a file: the module's own path is needed, such as …/zariz.so".into()));
        }
        let ending = std::env::consts::DLL_EXTENSION;
        if file.extension().is_none_or(|extension| extension != ending) {
            return Err(refuse(format!("OpenSSL loads only modules whose names end in .{ending}")));
        }
        let folder = c_text(file.parent().map_or(&[], |folder| folder.as_os_str().as_encoded_bytes()))?;
        let name = c_text(file.file_stem().map_or(&[], |stem| stem.as_encoded_bytes()))?;
        Ok(Self { file, folder, name })
    }
}

fn c_text(bytes: &[u8]) -> Result<CString, ProviderError> {
    CString::new(bytes).map_err(|_| ProviderError::File("a name with a zero in it".into()))
}
