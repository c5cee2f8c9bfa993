//! Puts a new text in a file's place, whole or not at all.
//!
//! Nothing here follows what is no regular file, and no change that somebody made meanwhile is overwritten.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Replaces the file's bytes, which are `old`, by `new`. A link stays a link to the file, and its permissions stay.
///
/// # Errors
/// Also when the file is not `old` any more. The file is then as it was.
pub(crate) fn replace(path: &Path, old: &[u8], new: &[u8]) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let metadata = fs::metadata(&path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    // A file that may not be written is not to be replaced either.
    OpenOptions::new().append(true).open(&path)?;
    let (mut file, temporary) = create_beside(&path)?;
    let written = file
        .write_all(new)
        .and_then(|()| keep_owner(&file, &metadata))
        .and_then(|()| file.set_permissions(metadata.permissions()))
        .and_then(|()| file.sync_all())
        .and_then(|()| match fs::read(&path)? == old {
            true => fs::rename(&temporary, &path),
            false => Err(io::Error::other("it was changed meanwhile")),
        });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A new file that only its owner may read, in the same folder.
fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    let name = path.file_name().unwrap_or_default();
    for attempt in 0..100 {
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.{attempt}.tmp", std::process::id()));
        let temporary = path.with_file_name(hidden);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(
        "no name for a temporary file is free beside it",
    ))
}

/// Gives the new file the owner of the old one, if that is another.
#[cfg(unix)]
fn keep_owner(file: &File, old: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let new = file.metadata()?;
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    fchown(file, Some(old.uid()), Some(old.gid()))
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}
