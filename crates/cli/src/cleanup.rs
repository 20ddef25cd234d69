//! Temporary files and folders that must not outlive an interrupted run: Ctrl-C and a request to terminate remove them
//! before the process dies of the signal as it would have without us.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

static DOOMED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// While it lives, an interruption removes the path.
pub struct Watch(PathBuf);

impl Drop for Watch {
    fn drop(&mut self) {
        doomed().retain(|path| *path != self.0);
    }
}

/// Has an interruption remove `path`, a file or a folder with all it holds, until the watch is dropped.
pub fn watch(path: &Path) -> Watch {
    static LISTENER: Once = Once::new();
    LISTENER.call_once(listen);
    doomed().push(path.to_owned());
    Watch(path.to_owned())
}

/// Removes what is watched, for a run that ends without unwinding.
pub fn remove() {
    for path in doomed().drain(..) {
        let _ = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
    }
}

fn doomed() -> MutexGuard<'static, Vec<PathBuf>> {
    // The list is whole even if a thread panicked while it held the lock.
    DOOMED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the thread that waits for a signal. Where that cannot be had, an interruption leaves a temporary file behind,
/// which is no reason to refuse the work.
#[cfg(unix)]
fn listen() {
    use signal_hook::consts::{SIGINT, SIGTERM};

    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) else { return };
    let wait = move || {
        for signal in signals.forever() {
            remove();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    let _ = std::thread::Builder::new().name("cleanup".into()).spawn(wait);
}

#[cfg(not(unix))]
fn listen() {}
