//! Which provider the servers use, and their OpenSSL configuration.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::counters::Counters;
use crate::module::{Module, is_zariz};

/// A folder with everything that one server needs, removed when the test ends.
pub struct Setup {
    folder: TempDir,
    /// `None` for OpenSSL's own code.
    module: Option<Module>,
}

/// How the provider is activated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Active {
    /// By the configuration, for all programs that read it.
    Everywhere,
    /// By the program, which names it; the configuration only has its settings.
    ByName,
}

impl Setup {
    /// With zariz, or with OpenSSL's own code if the environment says so.
    pub fn new() -> Self {
        if is_zariz() { Self::zariz() } else { Self::default_provider() }
    }

    /// With zariz.
    pub fn zariz() -> Self {
        Self { module: Some(Module::get()), ..Self::default_provider() }
    }

    /// With OpenSSL's own code only.
    pub fn default_provider() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        // Servers that drop root's rights read it.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("our own folder");
        Self { folder, module: None }
    }

    /// The folder of this test.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The folder with zariz.so, if zariz is used.
    pub fn module(&self) -> Option<&Path> {
        self.module.as_ref().map(Module::folder)
    }

    /// Writes a configuration of OpenSSL, for the environment variable OPENSSL_CONF.
    pub fn configuration(&self, active: Active) -> PathBuf {
        let path = self.folder().join("openssl.cnf");
        let text = match &self.module {
            None => String::new(),
            Some(module) => {
                let (activate, properties) = match active {
                    Active::Everywhere => ("activate = 1\n", "default_properties = ?provider=zariz\n"),
                    Active::ByName => ("", ""),
                };
                format!(
                    "openssl_conf = openssl_init\n[openssl_init]\nproviders = providers\nalg_section = algorithms\n\
                     [providers]\ndefault = default_section\nzariz = zariz_section\n\
                     [default_section]\nactivate = 1\n\
                     [zariz_section]\nmodule = {}\n{activate}counters = {}\n\
                     [algorithms]\n{properties}",
                    module.file().display(),
                    self.counters_file().display(),
                )
            }
        };
        fs::write(&path, text).expect("our own folder");
        path
    }

    fn counters_file(&self) -> PathBuf {
        self.folder().join("counters")
    }

    /// The counters of all processes that used the configuration.
    pub fn counters(&self) -> Counters {
        Counters::in_file(&self.counters_file())
    }

    /// Checks that zariz made exactly this many signatures since, none wrong and none through OpenSSL's code.
    pub fn assert_signed(&self, earlier: Counters, signatures: usize) {
        if self.module.is_none() {
            return;
        }
        let counted = self.counters().since(earlier);
        assert_eq!(counted.private, signatures as u64, "{counted:?}");
        assert_eq!((counted.fallbacks, counted.check_failures), (0, 0), "{counted:?}");
    }
}
