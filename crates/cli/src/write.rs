//! Writes a file whole or not at all.
//!
//! Nothing here follows a name that somebody else could have put in the way: the new text has a file of its own first.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Gives the file this content: whoever reads it meanwhile sees the old or the new, and an error leaves the old. A file that
/// has the content already is not touched, and what is no file (a pipe, a device) is written to as it is.
pub(crate) fn whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let place = match fs::metadata(path) {
        Ok(known) if !known.is_file() => return fs::write(path, content),
        Ok(_) => fs::canonicalize(path)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let old = fs::metadata(&place).ok();
    if old.is_some() && fs::read(&place)? == content {
        return Ok(());
    }
    let draft = draft(&place)?;
    let written = fill(&draft, content).and_then(|()| {
        if let Some(old) = old {
            fs::set_permissions(&draft, old.permissions())?;
        }
        fs::rename(&draft, &place)
    });
    if written.is_err() {
        // The error above is the one to tell.
        let _ = fs::remove_file(&draft);
    }
    written
}

fn draft(place: &Path) -> io::Result<PathBuf> {
    let name = place.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut draft = OsString::from(".");
    draft.push(name);
    draft.push(format!(".{}.tmp", std::process::id()));
    Ok(place.with_file_name(draft))
}

fn fill(draft: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(draft)?;
    file.write_all(content)?;
    file.sync_all()
}
