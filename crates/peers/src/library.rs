//! Opening a shared library and finding its functions.

use std::ffi::OsStr;
use std::path::{self, Path};

use libloading::Library;

use crate::error::NotFound;

/// The names of OpenSSL's libcrypto, the best first.
#[cfg(windows)]
pub const OPENSSL: &[&str] = &["libcrypto-3-x64.dll", "libcrypto-3.dll", "libcrypto-1_1-x64.dll"];
/// The names of OpenSSL's libcrypto, the best first.
#[cfg(target_vendor = "apple")]
pub const OPENSSL: &[&str] =
    &["libcrypto.3.dylib", "/opt/homebrew/lib/libcrypto.3.dylib", "/usr/local/lib/libcrypto.3.dylib"];
/// The names of OpenSSL's libcrypto, the best first.
#[cfg(not(any(windows, target_vendor = "apple")))]
pub const OPENSSL: &[&str] = &["libcrypto.so.3", "libcrypto.so.4", "libcrypto.so.1.1"];

/// A shared library that stays until the process ends.
pub struct Open {
    library: &'static Library,
    /// What the library is called in messages, and the file that was opened.
    title: &'static str,
    file: String,
}

impl Open {
    /// Opens the first of these files that the system's loader finds and accepts. If there is none, the
    /// reason is that of the first, and the advice to install `package`.
    ///
    /// # Safety
    /// Loading runs the initialisers of the files: each must be the library it is called, or something else
    /// that is safe to load.
    pub unsafe fn first(
        title: &'static str,
        files: &[impl AsRef<OsStr>],
        package: &str,
    ) -> Result<Self, NotFound> {
        let mut reason = None;
        for file in files {
            let file = file.as_ref();
            // SAFETY: the caller's promise.
            match unsafe { Self::new(title, file) } {
                Ok(open) => return Ok(open),
                Err(why) => drop(reason.get_or_insert(why)),
            }
        }
        let reason = reason.unwrap_or_else(|| "no name is known for this system".into());
        Err(NotFound {
            library: title,
            why: format!("{reason}; install {title} (on Debian and Ubuntu: {package})"),
        })
    }

    /// Opens the file that the user named.
    ///
    /// # Safety
    /// As for [`Open::first`].
    pub unsafe fn named(title: &'static str, file: &Path) -> Result<Self, NotFound> {
        // A path without a folder is a name for the loader, which looks for it in the system's folders alone.
        let file = path::absolute(file).unwrap_or_else(|_| file.to_owned());
        // SAFETY: the caller's promise.
        let open = unsafe { Self::new(title, file.as_os_str()) };
        open.map_err(|why| NotFound { library: title, why })
    }

    /// Opens a file, or says why that fails.
    ///
    /// # Safety
    /// As for [`Open::first`].
    unsafe fn new(title: &'static str, file: &OsStr) -> Result<Self, String> {
        // SAFETY: the caller's promise.
        let library = unsafe { Library::new(file) }.map_err(|error| explain(&error, file))?;
        let library = Box::leak(Box::new(library));
        Ok(Self { library, title, file: file.to_string_lossy().into_owned() })
    }

    /// A function or variable of the library: a function pointer, or a pointer to the variable.
    ///
    /// # Safety
    /// `T` must be the symbol's type as the library's header declares it.
    pub unsafe fn symbol<T: Copy>(&self, name: &'static str) -> Result<T, NotFound> {
        // SAFETY: the caller's promise; the symbol cannot outlive the library, which is never closed.
        let symbol = unsafe { self.library.get::<T>(name) };
        symbol.map(|symbol| *symbol).map_err(|_| self.unfit(format_args!("has no {name}")))
    }

    /// The error for a library that was opened, but is not the one we need.
    pub fn unfit(&self, why: std::fmt::Arguments) -> NotFound {
        NotFound { library: self.title, why: format!("{} {why}", self.file) }
    }
}

/// The loader's error, which on most systems names the file; else the file's name before it.
fn explain(error: &libloading::Error, file: &OsStr) -> String {
    let mut text = error.to_string();
    if let Some(source) = std::error::Error::source(error) {
        text = format!("{text}: {source}");
    }
    let file = file.to_string_lossy();
    if text.contains(&*file) { text } else { format!("{file}: {text}") }
}
