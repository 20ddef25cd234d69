//! Errors of failed OpenSSL calls.

use std::ffi::{CStr, c_char, c_int};
use std::{fmt, ptr};

use super::ffi;

/// A failed call, and its error queue, oldest first.
#[derive(Clone)]
pub struct Failure {
    /// The function.
    pub call: &'static str,
    /// What it returned.
    pub code: c_int,
    pub errors: Vec<Entry>,
}

/// An entry of the error queue.
#[derive(Clone)]
pub struct Entry {
    /// The text of the reason's number, if known.
    pub reason: Option<String>,
    /// The text that was added.
    pub data: String,
}

impl Failure {
    /// Takes this thread's error queue.
    pub fn take(call: &'static str, code: c_int) -> Self {
        Self { call, code, errors: take_errors() }
    }

    /// Whether the error queue says in words what went wrong.
    pub fn is_readable(&self) -> bool {
        self.errors.iter().any(|error| error.reason.is_some() || !error.data.is_empty())
    }

    /// The whole error queue as one text.
    pub fn text(&self) -> String {
        self.errors.iter().map(|error| format!("{error:?}; ")).collect()
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} returned {}: {:?}", self.call, self.code, self.errors)
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.reason.as_deref().unwrap_or("(unknown reason)"))?;
        if self.data.is_empty() { Ok(()) } else { write!(f, ": {}", self.data) }
    }
}

/// Takes all entries of this thread's error queue.
pub fn take_errors() -> Vec<Entry> {
    let mut entries = Vec::new();
    loop {
        let (mut data, mut flags) = (ptr::null::<c_char>(), 0);
        let [mut file, mut function] = [ptr::null::<c_char>(); 2];
        let mut line = 0;
        // SAFETY: places for each answer.
        let code =
            unsafe { ffi::ERR_get_error_all(&mut file, &mut line, &mut function, &mut data, &mut flags) };
        if code == 0 {
            return entries;
        }
        // SAFETY: any code is allowed.
        let reason = text(unsafe { ffi::ERR_reason_error_string(code) });
        entries.push(Entry { reason, data: text(data).unwrap_or_default() });
    }
}

fn text(text: *const c_char) -> Option<String> {
    // SAFETY: OpenSSL's texts end with a zero, and live until the next error of this thread.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// Calls a function that returns 1 on success.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        // Remove the errors of earlier calls.
        // SAFETY: no arguments.
        unsafe { $crate::common::ffi::ERR_clear_error() };
        // SAFETY: the objects are live, lengths are those of their slices, and nulls are where OpenSSL allows
        // them.
        match unsafe { $crate::common::ffi::$function($($argument),*) } {
            1 => Ok(()),
            code => Err($crate::common::failure::Failure::take(stringify!($function), code)),
        }
    }    };
}

pub(crate) use call;
