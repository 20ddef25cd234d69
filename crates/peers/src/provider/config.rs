//! OpenSSL's configuration: which section is about a module, and that section alone put into effect.

use std::env;
use std::ffi::{CStr, CString, c_int};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};

use super::api::{Api, Conf, ConfValue, Context, text};
use super::{Programs, Section};

/// `OPENSSL_INFO_MODULES_DIR`.
const MODULES_DIR: c_int = 1003;

/// What OpenSSL itself reads in a provider's section.
const OPENSSL: [&str; 4] = ["module", "activate", "identity", "soft_load"];

/// The words that mean no, as OpenSSL 3.2 and later read them; earlier ones take any word for yes.
const NO: [&str; 7] = ["0", "no", "NO", "false", "FALSE", "off", "OFF"];

/// A configuration: that in effect, as it was read, or one of our own.
pub struct Config {
    api: Api,
    pointer: *mut Conf,
    file: PathBuf,
}

/// A section that is about a module.
pub struct Found {
    pub section: Section,
    /// Whether it names the module's file.
    pub has_module: bool,
}

impl Config {
    /// Reads the file; nothing where there is none, which is no error to OpenSSL either.
    pub fn read(context: &Context) -> Result<Option<Self>, String> {
        let api = context.api;
        // SAFETY: no arguments; null is handled.
        let name = unsafe { (api.default_config)() };
        if name.is_null() {
            return Err(api.errors());
        }
        // SAFETY: a text that OpenSSL gave us to free by `CRYPTO_free`; the place is for its debugging.
        let file = unsafe {
            let file = CStr::from_ptr(name).to_owned();
            (api.free)(name.cast(), c"".as_ptr(), 0);
            file
        };
        let path = PathBuf::from(file.to_string_lossy().into_owned());
        if !path.exists() {
            return match env::var_os("OPENSSL_CONF") {
                Some(_) => Err(format!("OPENSSL_CONF names {}, which does not exist", path.display())),
                None => Ok(None),
            };
        }
        let config = Self::new(context, path)?;
        let mut line = 0;
        // SAFETY: a live configuration, a text that ends in a zero, and room for a number.
        if unsafe { (api.conf_load)(config.pointer, file.as_ptr(), &raw mut line) } > 0 {
            return Ok(Some(config));
        }
        let file = config.file.display();
        Err(if line > 0 {
            format!("{file}, line {line}: {}", api.errors())
        } else {
            format!("{file}: {}", api.errors())
        })
    }

    /// Without a line yet.
    fn new(context: &Context, file: PathBuf) -> Result<Self, String> {
        let api = context.api;
        // SAFETY: a live context, and null for the usual method; null is handled.
        let pointer = unsafe { (api.conf_new)(context.pointer, null()) };
        if pointer.is_null() { Err(api.errors()) } else { Ok(Self { api, pointer, file }) }
    }

    /// What keeps OpenSSL from loading the module as this configuration says: a section that is not there, or
    /// one of the module's name that names another file, which is not there.
    pub fn mistake(&self, module: &Path) -> Option<String> {
        let all = self.string(None, "openssl_conf")?;
        let file = self.file.display();
        let is_missing = |section: &str| self.section(section).is_none();
        if is_missing(&all) {
            return Some(format!("{file}: openssl_conf names the section {all}, which is not there"));
        }
        let list = self.string(Some(&all), "providers")?;
        if is_missing(&list) {
            return Some(format!("{file}: providers names the section {list}, which is not there"));
        }
        let stem = module.file_stem().map(|stem| stem.to_string_lossy())?;
        let (name, section) = self.lines(&list).into_iter().find(|(name, _)| skip_dot(name) == stem)?;
        if is_missing(&section) {
            return Some(format!("{file}: [{list}] names the section {section}, which is not there"));
        }
        let found = self.found(name, section.clone())?;
        let path = found.module().map(|path| self.resolved(&path)).filter(|path| !path.exists())?;
        Some(format!("{file}: [{section}] names the module {}, which does not exist", path.display()))
    }

    /// The section about the module in this file: one that names it, else one of its name that names no file.
    pub fn section_for(&self, module: &Path) -> Option<Found> {
        let all = self.string(None, "openssl_conf")?;
        let list = self.string(Some(&all), "providers")?;
        let sections =
            || self.lines(&list).into_iter().filter_map(|(name, section)| self.found(name, section));
        let named = sections()
            .find(|found| found.module().is_some_and(|path| is_same(&self.resolved(&path), module)));
        let stem = module.file_stem().map(|stem| stem.to_string_lossy());
        named.or_else(|| {
            sections()
                .find(|found| !found.has_module && stem.as_ref() == Some(&(&found.section.provider).into()))
        })
    }

    /// The providers that are active in every program, and what programs ask for.
    pub fn programs(&self) -> Programs {
        let Some(all) = self.string(None, "openssl_conf") else { return Programs::default() };
        let value = |name| self.string(Some(&all), name);
        let list = value("providers").map(|list| self.lines(&list)).unwrap_or_default();
        let found = list.into_iter().filter_map(|(name, section)| self.found(name, section));
        let active = found.filter(|found| found.section.active).map(|found| found.section.provider).collect();
        let query =
            value("alg_section").and_then(|section| self.string(Some(&section), "default_properties"));
        Programs { active, query }
    }

    fn found(&self, provider: String, name: String) -> Option<Found> {
        let lines = self.lines(&name);
        let value = |wanted| last(&lines, wanted);
        if lines.is_empty() {
            return None;
        }
        let provider = value("identity").unwrap_or_else(|| skip_dot(&provider)).to_owned();
        let active = value("activate").is_some_and(|word| !NO.contains(&word));
        let has_module = value("module").is_some();
        Some(Found {
            section: Section { file: self.file.clone(), name, provider, active, lines },
            has_module,
        })
    }

    /// A value; nothing where there is none.
    fn string(&self, section: Option<&str>, name: &str) -> Option<String> {
        let section = section.map(CString::new).transpose().ok()?;
        let name = CString::new(name).ok()?;
        let section = section.as_ref().map_or(null(), |section| section.as_ptr());
        // SAFETY: a live configuration, texts that end in a zero, and null for the part before all sections.
        let value = unsafe { (self.api.conf_string)(self.pointer, section, name.as_ptr()) };
        self.api.clear_errors();
        // SAFETY: null, or a text of the live configuration.
        (!value.is_null()).then(|| unsafe { text(value) })
    }

    /// The lines of a section; none where there is no such section.
    fn lines(&self, section: &str) -> Vec<(String, String)> {
        self.section(section).unwrap_or_default()
    }

    /// The lines of a section, if it is there.
    fn section(&self, section: &str) -> Option<Vec<(String, String)>> {
        let section = CString::new(section).ok()?;
        // SAFETY: a live configuration, and a text that ends in a zero.
        let stack = unsafe { (self.api.conf_section)(self.pointer, section.as_ptr()) };
        self.api.clear_errors();
        if stack.is_null() {
            return None;
        }
        // SAFETY: a live stack.
        let size = unsafe { (self.api.stack_size)(stack) };
        let line = |i| {
            // SAFETY: a stack of lines, of which there is one at `i`; their texts live as long as the
            // configuration.
            unsafe {
                let line = (self.api.stack_value)(stack, i).cast::<ConfValue>();
                (text((*line).name), text((*line).value))
            }
        };
        Some((0..size).map(line).collect())
    }

    /// A module's path as OpenSSL resolves it.
    fn resolved(&self, module: &str) -> PathBuf {
        let folder = env::var_os("OPENSSL_MODULES").map(PathBuf::from);
        // SAFETY: a constant text, or null.
        let folder = folder.unwrap_or_else(|| unsafe { text((self.api.info)(MODULES_DIR)) }.into());
        folder.join(module)
    }
}

impl Drop for Config {
    fn drop(&mut self) {
        // SAFETY: ours, and nothing uses it any more.
        unsafe { (self.api.conf_free)(self.pointer) };
    }
}

impl Found {
    /// Puts this section alone into effect, but activates nothing: loading the provider then reports its
    /// errors.
    pub fn apply(&self, context: &Context) -> Result<(), String> {
        let mut text = format!(
            "openssl_conf = all\n[all]\nproviders = list\n[list]\n{} = it\n[it]\n",
            self.section.provider
        );
        for (key, value) in &self.section.lines {
            if skip_dot(key) == "module" || !is_for_openssl(key) {
                text.push_str(&format!("{key} = {}\n", escaped(value)));
            }
        }
        let api = context.api;
        let length = c_int::try_from(text.len()).map_err(|_| format!("{} is too long", self.section))?;
        let config = Config::new(context, self.section.file.clone())?;
        // SAFETY: `length` readable bytes, which live until the BIO is freed; null is handled.
        let bio = unsafe { (api.bio_new)(text.as_ptr().cast(), length) };
        if bio.is_null() {
            return Err(api.errors());
        }
        // SAFETY: a live BIO that nothing uses after this, a live configuration of its own, and null for the
        // number of a bad line and for the usual key.
        let done = unsafe {
            let read = (api.conf_load_bio)(config.pointer, bio, null_mut());
            (api.bio_free)(bio);
            read > 0 && (api.conf_apply)(config.pointer, null(), 0) > 0
        };
        if done { Ok(()) } else { Err(format!("{}: {}", self.section, api.errors())) }
    }

    fn module(&self) -> Option<String> {
        last(&self.section.lines, "module").map(Into::into)
    }
}

/// Whether a line of a provider's section is for OpenSSL, and not for the provider.
pub fn is_for_openssl(key: &str) -> bool {
    OPENSSL.contains(&skip_dot(key))
}

/// The value of a keyword that OpenSSL understands: the last one, if there are several.
fn last<'a>(lines: &'a [(String, String)], wanted: &str) -> Option<&'a str> {
    lines.iter().rev().find(|(key, _)| skip_dot(key) == wanted).map(|(_, value)| value.as_str())
}

/// The part of such a keyword that matters: the part before a dot only keeps keywords apart.
fn skip_dot(key: &str) -> &str {
    key.split_once('.').map_or(key, |(_, rest)| rest)
}

/// A value that is read back unchanged: a backslash precedes every character that could mean something to
/// OpenSSL.
fn escaped(value: &str) -> String {
    let mut text = String::new();
    for c in value.chars() {
        match c {
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => text.extend(['\\', c]),
            c => text.push(c),
        }
    }
    text
}

/// Whether two paths lead to one file.
fn is_same(a: &Path, b: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(a).zip(real(b)).is_some_and(|(a, b)| a == b)
}
