//! Cleans up after an interrupted run. Every signal that ends a program (Ctrl-C, a closed terminal, a request
//! to terminate, ...) removes temporary files and folders, restores the terminal, and reports how far the run
//! has come. Then the signal ends the process, as usual. Signals that were ignored at the start stay ignored.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use crate::report;

static DOOMED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// While this exists, an interruption removes the path.
pub struct Watch(PathBuf);

impl Drop for Watch {
    fn drop(&mut self) {
        doomed().retain(|path| *path != self.0);
    }
}

/// Creates a temporary file, or a folder for several. An interruption removes it with its contents, until the
/// watch is dropped. No interruption comes between creating and watching, and nothing is created after an
/// interruption.
pub fn watched<T, E>(
    create: impl FnOnce() -> Result<T, E>,
    path: impl FnOnce(&T) -> &Path,
) -> Result<(T, Watch), E> {
    listen_once();
    let mut doomed = doomed();
    let created = create()?;
    let path = path(&created).to_owned();
    doomed.push(path.clone());
    Ok((created, Watch(path)))
}

/// Removes all watched paths, for a run that ends without unwinding.
pub fn remove() {
    remove_all(&mut doomed());
}

fn remove_all(doomed: &mut Vec<PathBuf>) {
    for path in doomed.drain(..) {
        let _ = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
    }
}

/// What an interrupted run reports, if not empty.
static LAST_WORDS: Mutex<String> = Mutex::new(String::new());

/// Runs a step that an interruption waits for, so that either all of it is done or nothing. The step gets the
/// report of an interrupted run, and may change it for later interruptions.
pub fn whole<T>(step: impl FnOnce(&mut String) -> T) -> T {
    listen_once();
    step(&mut last_words())
}

fn last_words() -> MutexGuard<'static, String> {
    // The text is complete even if a thread panicked while it held the lock.
    LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn listen_once() {
    static LISTENER: Once = Once::new();
    LISTENER.call_once(listen);
}

fn doomed() -> MutexGuard<'static, Vec<PathBuf>> {
    // The list is complete even if a thread panicked while it held the lock.
    DOOMED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the thread that waits for a signal. If it cannot be started, the run goes on, and an interruption
/// leaves a temporary file behind.
#[cfg(unix)]
fn listen() {
    let signals = signal_hook::iterator::Signals::new(zariz_process::ending_signals());
    let Ok(mut signals) = signals else { return };
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            // Both locks are held until the process ends, so that no other step begins and nothing is
            // created.
            let (words, mut doomed) = (last_words(), doomed());
            remove_all(&mut doomed);
            terminal::restore();
            report::interrupted(&words);
            zariz_process::end_by(signal);
        }
    };
    let _ = std::thread::Builder::new().name("cleanup".into()).spawn(wait);
}

#[cfg(not(unix))]
fn listen() {}

/// Makes an interruption restore the terminal's present state, until the result is dropped.
#[cfg(unix)]
pub fn keep_terminal() -> terminal::Saved {
    listen_once();
    terminal::save()
}

#[cfg(not(unix))]
pub fn keep_terminal() {}

#[cfg(unix)]
mod terminal {
    use std::fs::File;
    use std::sync::{Mutex, PoisonError};

    use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

    /// The terminal, and its normal state; `None` while no password is being asked for.
    static STATE: Mutex<Option<(File, Termios)>> = Mutex::new(None);

    pub struct Saved;

    impl Drop for Saved {
        fn drop(&mut self) {
            set(None);
        }
    }

    pub fn save() -> Saved {
        let terminal = File::open("/dev/tty").ok();
        set(terminal.and_then(|terminal| tcgetattr(&terminal).ok().map(|state| (terminal, state))));
        Saved
    }

    pub fn restore() {
        if let Some((terminal, state)) = &*STATE.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = tcsetattr(terminal, OptionalActions::Now, state);
        }
    }

    fn set(state: Option<(File, Termios)>) {
        *STATE.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}
