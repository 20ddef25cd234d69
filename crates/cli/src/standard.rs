//! The standard streams, by number or by a path that names one. A stream that was closed at the start is
//! refused: Rust replaces it by the null device, which loses results and gives empty input.

use std::path::Path;

use crate::exit::Failure;

/// Refuses a stream that was closed at the start: input (0), output (1) or error (2).
pub fn must_be_open(stream: i32) -> Result<(), Failure> {
    match stream {
        _ if !zariz_process::was_closed(stream) => Ok(()),
        0 => Err(Failure::Input("standard input is closed; name a file, or /dev/null for no input".into())),
        1 => Err(Failure::Input("standard output is closed, and the result would be lost".into())),
        _ => Err(Failure::Input("standard error is closed, and the result would be lost".into())),
    }
}

/// Like [`must_be_open`], for a path that names a standard stream.
pub fn must_name_open(path: &Path) -> Result<(), Failure> {
    const NAMES: [[&str; 3]; 3] = [
        ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"],
        ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"],
        ["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"],
    ];
    let named = (0..).zip(NAMES).find(|(_, names)| names.iter().any(|name| path == Path::new(name)));
    named.map_or(Ok(()), |(stream, _)| must_be_open(stream))
}
