//! The provider under test: which one it is, and zariz as cargo built it, in a folder of its own as
//! `zariz.so`.
#![allow(dead_code)] // Each test program uses a part of this.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tempfile::TempDir;

/// A folder with `zariz.so`, removed with the last copy of this.
#[derive(Clone)]
pub struct Module(Arc<TempDir>);

impl Module {
    /// The module of this test program, whose tests share one folder.
    pub fn get() -> Self {
        static FOLDER: Mutex<Weak<TempDir>> = Mutex::new(Weak::new());
        let mut shared = FOLDER.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = shared.upgrade() {
            return Self(folder);
        }
        let module = Self::apart();
        *shared = Arc::downgrade(&module.0);
        module
    }

    /// A module in a folder of its own, for a test that changes it.
    pub fn apart() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        // A link, not a copy: the module stays in memory when it is unloaded, and so would each copy.
        symlink(built(), folder.path().join("zariz.so")).expect("a link to the provider");
        Self(Arc::new(folder))
    }

    /// The folder: OpenSSL's search path for modules.
    pub fn folder(&self) -> &Path {
        self.0.path()
    }

    /// The file.
    pub fn file(&self) -> PathBuf {
        self.folder().join("zariz.so")
    }
}

/// The newest library that cargo built: beside this test program, or one folder above.
fn built() -> PathBuf {
    let program = std::env::current_exe().expect("the path of this program");
    let folders = program.ancestors().skip(1).take(2);
    let files = folders.map(|folder| folder.join("libzariz_provider.so"));
    let dated = files.filter_map(|file| Some((fs::metadata(&file).ok()?.modified().ok()?, file)));
    let newest = dated.max_by_key(|(time, _)| *time);
    newest.unwrap_or_else(|| panic!("no libzariz_provider.so beside {}", program.display())).1
}

/// Whether zariz is under test. `ZARIZ_SUBJECT=default` in the environment replaces it by OpenSSL's own
/// provider, to test the tests, or to tell a server's faults from zariz's.
pub fn is_zariz() -> bool {
    match std::env::var("ZARIZ_SUBJECT").as_deref() {
        Ok("default") => false,
        Ok("zariz") | Err(std::env::VarError::NotPresent) => true,
        other => panic!("ZARIZ_SUBJECT is {other:?}, and not zariz or default"),
    }
}
