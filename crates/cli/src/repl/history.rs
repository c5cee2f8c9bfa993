//! Where the history of the REPL lies: in the user's state folder.
//!
//! Nothing here writes anywhere else, and nobody else may read it.

use std::env;
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};

/// The history file; `None` where the user has no folder for such things.
pub(crate) fn path() -> Option<PathBuf> {
    let folder = |name: &str| {
        // The XDG specification says that relative paths are to be ignored.
        let value: OsString = env::var_os(name)?;
        Some(PathBuf::from(value)).filter(|path| path.is_absolute())
    };
    let state = folder("XDG_STATE_HOME")
        .or_else(|| folder("LOCALAPPDATA"))
        .or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    Some(state.join("horngate/history"))
}

/// Creates the folder of the history.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
