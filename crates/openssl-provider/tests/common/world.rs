//! Library contexts with both the provider under test and OpenSSL's own.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char};
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, ptr};

use tempfile::TempDir;

use super::call;
use super::counters::Counters;
use super::failure::{Failure, take_errors};
use super::ffi;
use super::module::Module;
use super::module::is_zariz;
use super::params::{Reading, names, read};

/// One of the two providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The provider under test.
    Subject,
    /// OpenSSL's own.
    Reference,
}

impl Side {
    pub const BOTH: [Side; 2] = [Side::Subject, Side::Reference];

    pub fn other(self) -> Self {
        if self == Self::Subject { Self::Reference } else { Self::Subject }
    }

    /// The property query that selects it. Digests, encoders and the like are always OpenSSL's.
    pub fn query(self) -> &'static CStr {
        match self {
            Self::Subject if is_zariz() => c"?provider=zariz",
            _ => c"provider=default",
        }
    }

    /// The provider's name.
    pub fn provider(self) -> &'static str {
        if self == Self::Subject && is_zariz() { "zariz" } else { "default" }
    }
}

/// Taken by all tests of a program if one of them compares exact counters, or the process's memory or files.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A library context with the provider under test and OpenSSL's own.
pub struct World {
    context: *mut ffi::LibCtx,
    /// Providers to unload; none if a configuration file loaded them.
    loaded: Vec<*mut ffi::Provider>,
    /// Null once it is unloaded.
    subject: AtomicPtr<ffi::Provider>,
    _files: Option<TempDir>,
    _module: Module,
}

// SAFETY: any thread may use a library context and what it holds.
unsafe impl Send for World {}
// SAFETY: several threads may use it at once.
unsafe impl Sync for World {}

impl World {
    /// Without settings; loads the providers by name.
    #[track_caller]
    pub fn new() -> Self {
        Self::load(&Module::get()).unwrap_or_else(|failure| panic!("the provider does not load: {failure:?}"))
    }

    /// Without settings, with a given module.
    pub fn load(module: &Module) -> Result<Self, Failure> {
        Self::of_folder(module)?.and_load(&BOTH)
    }

    /// With only the provider under test.
    pub fn only(module: &Module) -> Result<Self, Failure> {
        Self::of_folder(module)?.and_load(&[Side::Subject])
    }

    fn empty(module: Module) -> Self {
        // SAFETY: no arguments.
        let context = unsafe { ffi::OSSL_LIB_CTX_new() };
        assert!(!context.is_null());
        Self { context, loaded: Vec::new(), subject: AtomicPtr::default(), _files: None, _module: module }
    }

    fn of_folder(module: &Module) -> Result<Self, Failure> {
        if cfg!(target_arch = "aarch64") {
            Self::of_module(module.clone(), &[], false)
        } else {
            Self::by_name(module)
        }
    }

    /// Without a configuration, as [`World::new`] is but for Arm.
    pub fn unconfigured(module: &Module) -> Result<Self, Failure> {
        Self::by_name(module)?.and_load(&BOTH)
    }

    fn by_name(module: &Module) -> Result<Self, Failure> {
        let world = Self::empty(module.clone());
        let folder = path(module.folder());
        call!(OSSL_PROVIDER_set_default_search_path(world.context, folder.as_ptr()))?;
        Ok(world)
    }

    /// Loads providers by name; the last is the one under test.
    fn and_load(mut self, sides: &[Side]) -> Result<Self, Failure> {
        for side in sides {
            let name = CString::new(side.provider()).expect("a name");
            // SAFETY: live, and a text.
            let provider = unsafe { ffi::OSSL_PROVIDER_load(self.context, name.as_ptr()) };
            if provider.is_null() {
                return Err(Failure::take("OSSL_PROVIDER_load", 0));
            }
            self.subject = AtomicPtr::new(provider);
            self.loaded.push(provider);
        }
        Ok(self)
    }

    /// With settings, in a configuration file that activates both providers, like programs do.
    #[track_caller]
    pub fn with(settings: &[(&str, &str)]) -> Self {
        let mut world = Self::of_file(settings, true).expect("OpenSSL takes the file");
        let subject = world.find(Side::Subject.provider());
        // OpenSSL ignores a provider that it cannot activate, without an error.
        assert!(!subject.is_null(), "{settings:?} are refused");
        world.subject = AtomicPtr::new(subject);
        assert_eq!(take_errors().len(), 0, "errors are left behind");
        world
    }

    /// With settings in a configuration file that activates no provider; loads the providers by name. Or why
    /// the settings are refused.
    pub fn configured(settings: &[(&str, &str)]) -> Result<Self, Failure> {
        Self::of_file(settings, false)?.and_load(&BOTH)
    }

    fn of_file(settings: &[(&str, &str)], activate: bool) -> Result<Self, Failure> {
        Self::of_module(Module::get(), settings, activate)
    }

    fn of_module(module: Module, settings: &[(&str, &str)], activate: bool) -> Result<Self, Failure> {
        let files = tempfile::tempdir().expect("a temporary folder");
        let file = files.path().join("openssl.cnf");
        fs::write(&file, configuration(&module, settings, activate)).expect("a configuration file");
        let mut world = Self::empty(module);
        world._files = Some(files);
        let file = path(&file);
        call!(OSSL_LIB_CTX_load_config(world.context, file.as_ptr()))?;
        Ok(world)
    }

    /// Finds the active provider of that name.
    fn find(&self, name: &str) -> *mut ffi::Provider {
        struct Search {
            name: CString,
            found: *mut ffi::Provider,
        }
        unsafe extern "C" fn each(provider: *mut ffi::Provider, search: *mut std::ffi::c_void) -> i32 {
            // SAFETY: the argument given below, and a provider's name is a text.
            unsafe {
                let search = &mut *search.cast::<Search>();
                if CStr::from_ptr(ffi::OSSL_PROVIDER_get0_name(provider)) == &*search.name {
                    search.found = provider;
                }
            }
            1
        }
        let mut search = Search { name: CString::new(name).expect("a name"), found: ptr::null_mut() };
        // SAFETY: the argument outlives the call.
        unsafe { ffi::OSSL_PROVIDER_do_all(self.context, each, (&raw mut search).cast()) };
        search.found
    }

    pub fn context(&self) -> *mut ffi::LibCtx {
        self.context
    }

    /// The provider under test.
    pub fn provider(&self) -> *mut ffi::Provider {
        let subject = self.subject.load(Ordering::Relaxed);
        assert!(!subject.is_null(), "it is unloaded");
        subject
    }

    /// Unloads only the provider under test, which was loaded by name. Objects made in it live on. Its
    /// counters are gone, except those in a file.
    pub fn unload_subject(&self) {
        let subject = self.provider();
        assert!(self.loaded.contains(&subject), "not ours to unload");
        self.subject.store(ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: loaded by us, and unloaded once: it is null from now on.
        assert_eq!(unsafe { ffi::OSSL_PROVIDER_unload(subject) }, 1);
    }

    /// Unloads both providers, and frees the library context.
    pub fn unload(self) {
        self.unload_subject();
    }

    /// A parameter of the provider under test.
    pub fn parameter(&self, name: &str) -> Option<Reading> {
        // SAFETY: a live provider.
        let described = unsafe { names(ffi::OSSL_PROVIDER_gettable_params(self.provider())) };
        let data_type = *described.get(name)?;
        // SAFETY: a live provider and a list with an end.
        read(name, data_type, 8, |params| unsafe { ffi::OSSL_PROVIDER_get_params(self.provider(), params) })
    }

    /// All parameters that the provider under test says it has.
    pub fn parameters(&self) -> BTreeMap<String, Option<Reading>> {
        // SAFETY: a live provider.
        let described = unsafe { names(ffi::OSSL_PROVIDER_gettable_params(self.provider())) };
        described.into_keys().map(|name| (name.clone(), self.parameter(&name))).collect()
    }

    /// The counters; all zero if OpenSSL's own provider is under test.
    pub fn counters(&self) -> Counters {
        if !is_zariz() {
            return Counters::default();
        }
        let count = |name| self.parameter(name).unwrap_or_else(|| panic!("no counter {name}")).unsigned();
        Counters {
            private: count("private-operations"),
            public: count("public-operations"),
            batches: count("batches"),
            largest_batch: count("largest-batch"),
            fallbacks: count("fallbacks"),
            check_failures: count("check-failures"),
            keys_generated: count("keys-generated"),
        }
    }

    /// Does something, and checks that zariz computed at least this many private and public operations for
    /// it, without fallbacks.
    #[track_caller]
    pub fn counted<T>(&self, private: u64, public: u64, work: impl FnOnce() -> T) -> T {
        let before = self.counters();
        let result = work();
        let done = self.counters().since(before);
        if is_zariz() {
            assert!(
                done.private >= private && done.public >= public,
                "not all of it was done by zariz: {done:?}"
            );
            assert_eq!((done.fallbacks, done.check_failures), (0, 0), "left to OpenSSL, or wrong: {done:?}");
        }
        result
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // The last of them is the one under test; it may be unloaded already.
        if !self.loaded.is_empty() && self.subject.get_mut().is_null() {
            self.loaded.pop();
        }
        for provider in self.loaded.drain(..).rev() {
            // SAFETY: loaded by us, and unloaded once.
            unsafe { ffi::OSSL_PROVIDER_unload(provider) };
        }
        // SAFETY: everything made in it is gone, since it borrowed the `World`.
        unsafe { ffi::OSSL_LIB_CTX_free(self.context) };
    }
}

/// In the order of loading.
const BOTH: [Side; 2] = [Side::Reference, Side::Subject];

/// A configuration file with settings in the section of the provider under test. On Arm, `engine` is among
/// them, since without it the provider computes nothing there.
pub fn configuration(module: &Module, settings: &[(&str, &str)], activate: bool) -> String {
    let activate = if activate { "activate = 1\n" } else { "" };
    let mut text = String::from(
        "openssl_conf = init\n[init]\nproviders = providers\n[providers]\ndefault = default_section\n",
    );
    if is_zariz() {
        text.push_str("zariz = zariz_section\n");
    }
    write!(text, "[default_section]\n{activate}").expect("to memory");
    if is_zariz() {
        write!(text, "[zariz_section]\nmodule = {}\n{activate}", module.file().display()).expect("to memory");
        let engine = [("engine", "auto")];
        let missing = cfg!(target_arch = "aarch64") && settings.iter().all(|(name, _)| *name != "engine");
        for (name, value) in settings.iter().chain(engine.iter().filter(|_| missing)) {
            writeln!(text, "{name} = {value}").expect("to memory");
        }
    }
    text
}

/// A path in OpenSSL's form.
pub fn path(path: &Path) -> CString {
    CString::new(path.to_str().expect("UTF-8")).expect("no zero in it")
}

/// Reads a text of OpenSSL's.
///
/// # Safety
/// Null, or a text that ends with a zero.
pub unsafe fn text<'a>(text: *const c_char) -> Option<&'a str> {
    // SAFETY: the caller's promise.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_str().expect("UTF-8"))
}
