//! Secrets that the command line names: files that only their owner can read.
//!
//! Nothing here shows a secret.

use crate::problem::{Problem, Unreadable};
use horngate_gate::{Signatory, read_secret};
use std::io::{self, Read};
use std::path::Path;

/// The longest secret on standard input.
const MAX_BYTES: u64 = 4096;

/// The key of an approver; `-` is standard input.
pub(crate) fn signatory(path: &Path) -> Result<Signatory, Problem> {
    let read = match path.to_str() {
        Some("-") => standard_input().and_then(|bytes| {
            Signatory::from_file(&bytes)
                .ok_or_else(|| io::Error::other("it is no key of an approver"))
        }),
        _ => Signatory::open(path),
    };
    read.map_err(|error| unreadable(path, &error))
}

/// The key of a log: the file's bytes without one line end.
pub(crate) fn log_key(path: &Path) -> Result<Vec<u8>, Problem> {
    let bytes = read_secret(path).map_err(|error| unreadable(path, &error))?;
    let key = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let key = key.strip_suffix(b"\r").unwrap_or(key);
    match key {
        [] => Err(unreadable(path, &io::Error::other("the key is empty"))),
        key => Ok(key.to_vec()),
    }
}

fn standard_input() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unreadable(path: &Path, error: &io::Error) -> Problem {
    Problem::Unreadable(vec![Unreadable::new(path, error.to_string())])
}
