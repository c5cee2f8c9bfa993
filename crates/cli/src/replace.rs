//! Writes a file whole or not at all.
//!
//! Nothing here follows a name that somebody else could have put in the way: the new text has a file of its own first.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Gives the file this content: whoever reads it meanwhile sees the old or the new, and an error leaves the old. A file
/// that has the content already is not touched, and what is no file (a pipe, a device) is written to as it is.
pub(crate) fn whole(path: &Path, content: &[u8]) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(known) if !known.is_file() => fs::write(path, content),
        Ok(_) => {
            let old = fs::read(path)?;
            match old == content {
                true => Ok(()),
                false => replace(path, &old, content),
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => put(path, None, content),
        Err(error) => Err(error),
    }
}

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
    put(&path, Some((old, &metadata)), new)
}

/// Puts a new file in the place of what stood there, or of nothing.
fn put(path: &Path, before: Option<(&[u8], &Metadata)>, new: &[u8]) -> io::Result<()> {
    let (mut file, temporary) = create_beside(path, before.is_some())?;
    let written = file
        .write_all(new)
        .and_then(|()| match before {
            None => file.sync_all(),
            Some((_, metadata)) => keep_owner(&file, metadata)
                .and_then(|()| file.set_permissions(metadata.permissions()))
                .and_then(|()| file.sync_all()),
        })
        .and_then(|()| match before {
            Some((old, _)) if fs::read(path)? != old => {
                Err(io::Error::other("it was changed meanwhile"))
            }
            _ => fs::rename(&temporary, path),
        });
    if written.is_err() {
        // The error above is the one to tell.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A new file in the same folder. Until it has the permissions of the one that it replaces, only its owner may read it.
fn create_beside(path: &Path, private: bool) -> io::Result<(File, PathBuf)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    for attempt in 0..100 {
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.{attempt}.tmp", std::process::id()));
        let temporary = path.with_file_name(hidden);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(not(unix))]
        let _ = private;
        #[cfg(unix)]
        if private {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
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
fn keep_owner(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let new = file.metadata()?;
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    fchown(file, Some(old.uid()), Some(old.gid()))
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}
