//! Temporary files and folders of an interrupted run: Ctrl-C and a request to terminate remove them. Then the
//! process ends by the signal, as usual.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

static DOOMED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// As long as this exists, an interruption removes the path.
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

/// Starts the thread that waits for a signal. If it cannot be started, the work goes on, and an interruption
/// leaves a temporary file behind.
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
