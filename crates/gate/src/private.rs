//! Files for their owner only, locks with an end.
//!
//! Nothing here follows a link or waits forever.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Instant;

#[cfg(unix)]
mod unix {
    use super::{File, Instant, Path, io};
    use rustix::fs::{FlockOperation, OFlags, flock};
    use rustix::io::Errno;
    use std::fs::Metadata;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    use std::path::PathBuf;
    use std::time::Duration;

    /// Opens or creates a file for reading and writing. A new one can be read by its owner only; one that others could
    /// change is refused, and so is a link.
    pub(crate) fn open(path: &Path) -> io::Result<File> {
        let no_link = i32::try_from((OFlags::NOFOLLOW | OFlags::CLOEXEC).bits()).unwrap_or(0);
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(no_link)
            .open(path)
            .map_err(|error| named(path, &error))?;
        check_private(path, &file.metadata()?)?;
        Ok(file)
    }

    /// The place of a file, without the file being open: whoever closes a file ends all locks that the process has on it.
    #[derive(Debug)]
    pub(crate) struct Place {
        path: PathBuf,
        file: (u64, u64),
    }

    impl Place {
        /// Creates the file if there is none. As with [`open`], one that others could change is refused, and a link.
        pub(crate) fn take(path: &Path) -> io::Result<Self> {
            match create_new(path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(named(path, &error));
                }
                _ => {}
            }
            let about = std::fs::symlink_metadata(path).map_err(|error| named(path, &error))?;
            check_private(path, &about)?;
            Ok(Self {
                path: path.to_owned(),
                file: (about.dev(), about.ino()),
            })
        }

        /// Refuses to go on with a file that is no longer there.
        pub(crate) fn check(&self) -> io::Result<()> {
            let about = std::fs::symlink_metadata(&self.path);
            let about = about.map_err(|error| named(&self.path, &error))?;
            if (about.dev(), about.ino()) == self.file {
                Ok(())
            } else {
                Err(named(&self.path, &REPLACED))
            }
        }
    }

    const REPLACED: &str = "the file was replaced by another";

    fn check_private(path: &Path, about: &Metadata) -> io::Result<()> {
        if !about.is_file() {
            return Err(named(path, &"it is no plain file"));
        }
        if about.mode() & 0o022 != 0 {
            return Err(named(
                path,
                &"others may write to it; take that right away (chmod 600)",
            ));
        }
        Ok(())
    }

    /// Creates a file that only its owner can read; one that is there already is refused, and so is a link.
    pub(crate) fn create_new(path: &Path) -> io::Result<File> {
        File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
    }

    /// Opens a file that nobody but its owner can read or change.
    pub(crate) fn open_secret(path: &Path) -> io::Result<File> {
        // Without waiting for somebody to write, should it be a pipe.
        let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = File::options()
            .read(true)
            .custom_flags(i32::try_from(flags.bits()).unwrap_or(0))
            .open(path)?;
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(io::Error::other("it is no plain file"));
        }
        if about.mode() & 0o077 != 0 {
            return Err(io::Error::other(
                "others may read it; take that right away (chmod 600)",
            ));
        }
        Ok(file)
    }

    fn named(path: &Path, what: &dyn std::fmt::Display) -> io::Error {
        io::Error::other(format!("{}: {what}", path.display()))
    }

    /// Refuses to go on with a file that is no longer the one at `path`.
    pub(crate) fn check_in_place(file: &File, path: &Path) -> io::Result<()> {
        let (ours, theirs) = (file.metadata()?, std::fs::symlink_metadata(path)?);
        if (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino()) {
            Ok(())
        } else {
            Err(named(path, &REPLACED))
        }
    }

    pub(crate) fn lock(file: &File, until: Instant) -> io::Result<()> {
        loop {
            match flock(file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(()),
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub(crate) fn unlock(file: &File) {
        let _ = flock(file, FlockOperation::Unlock);
    }
}

#[cfg(unix)]
pub(crate) use unix::{Place, check_in_place, create_new, lock, open, open_secret, unlock};

#[cfg(not(unix))]
mod other {
    use super::{File, Instant, Path, io};

    fn unsupported() -> io::Error {
        io::Error::new(
            io::ErrorKind::Unsupported,
            "files that only their owner can read are not supported on this system",
        )
    }

    pub(crate) fn open(_: &Path) -> io::Result<File> {
        Err(unsupported())
    }

    #[derive(Debug)]
    pub(crate) struct Place;

    impl Place {
        pub(crate) fn take(_: &Path) -> io::Result<Self> {
            Err(unsupported())
        }

        pub(crate) fn check(&self) -> io::Result<()> {
            Err(unsupported())
        }
    }

    pub(crate) fn create_new(_: &Path) -> io::Result<File> {
        Err(unsupported())
    }

    pub(crate) fn open_secret(_: &Path) -> io::Result<File> {
        Err(unsupported())
    }

    pub(crate) fn check_in_place(_: &File, _: &Path) -> io::Result<()> {
        Err(unsupported())
    }

    pub(crate) fn lock(_: &File, _: Instant) -> io::Result<()> {
        Err(unsupported())
    }

    pub(crate) fn unlock(_: &File) {}
}

#[cfg(not(unix))]
pub(crate) use other::{Place, check_in_place, create_new, lock, open, open_secret, unlock};
