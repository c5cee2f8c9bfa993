//! Secrets in files: the keys of approvers, and of audit logs.
//!
//! Nothing here overwrites a file, follows a link, or reads a secret that others can read, too.

use crate::approval::Signatory;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// The longest secret that is read.
const MAX_BYTES: u64 = 4096;

/// The form of a key file.
const FORM: u32 = 1;

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    horngate_key: u32,
    name: String,
    public: String,
    secret: String,
}

impl Signatory {
    /// Writes the key to a new file that only its owner can read.
    ///
    /// # Errors
    /// When the file cannot be written, or is there already.
    ///
    /// ```
    /// use horngate_gate::Signatory;
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("ann.key");
    /// let ann = Signatory::generate("ann")?;
    /// ann.save(&path)?;
    /// assert_eq!(Signatory::open(&path)?.key(), ann.key());
    /// assert!(Signatory::generate("ann")?.save(&path).is_err());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let file = KeyFile {
            horngate_key: FORM,
            name: self.name().to_owned(),
            public: self.key().to_string(),
            secret: self.secret(),
        };
        let mut text = serde_json::to_vec(&file)?;
        text.push(b'\n');
        create_secret(path.as_ref(), &text)
    }

    /// The key in a file that [`Signatory::save`] wrote.
    ///
    /// # Errors
    /// When the file cannot be read, is no key, or others can read it.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let bytes = read_secret(path.as_ref())?;
        Self::from_file(&bytes).ok_or_else(|| io::Error::other("it is no key of an approver"))
    }

    /// The key in the content of such a file.
    ///
    /// ```
    /// assert!(horngate_gate::Signatory::from_file(b"ann").is_none());
    /// ```
    #[must_use]
    pub fn from_file(content: &[u8]) -> Option<Self> {
        let file: KeyFile = serde_json::from_slice(content).ok()?;
        let signatory = Self::parse(file.name, &file.secret).ok()?;
        let is_whole = file.horngate_key == FORM
            && !signatory.name().is_empty()
            && signatory.key().to_string() == file.public;
        is_whole.then_some(signatory)
    }
}

/// Writes a new file that only its owner can read.
fn create_secret(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = crate::private::create_new(path)?;
    let written = io::Write::write_all(&mut file, content).and_then(|()| file.sync_all());
    if written.is_err() {
        // The error above is the one to tell.
        let _ = std::fs::remove_file(path);
    }
    written
}

/// Reads a file that nobody but its owner can read.
///
/// # Errors
/// When it cannot be read, is a link or no plain file, is longer than 4096 bytes, or others can read or change it.
///
/// ```
/// assert!(horngate_gate::read_secret("no such file").is_err());
/// ```
pub fn read_secret(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let file = crate::private::open_secret(path.as_ref())?;
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(file, MAX_BYTES + 1), &mut bytes)?;
    match bytes.len() as u64 > MAX_BYTES {
        true => Err(io::Error::other("it is too long for a secret")),
        false => Ok(bytes),
    }
}
