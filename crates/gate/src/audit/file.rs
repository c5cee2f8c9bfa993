//! Writes the log: one line at a time, under a lock, bound to the line before.
//!
//! Nothing here rewrites a line. What is cut short at the end of a file is taken away, and that is written down.

use super::verify::MAX_LINE;
use super::{Entry, Event};
use crate::canonical;
use crate::digest::hex;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(super) const MAC_BYTES: usize = 32;

/// What stands between a line's content and its hash, and behind it.
const BEFORE_HASH: &str = ",\"hash\":\"";
const AFTER_HASH: &str = "\"}";

/// How long to wait for other processes that write to the same file.
const LOCK_LIMIT: Duration = Duration::from_secs(5);

/// When a line is known to be on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Before the call goes on: a crash of the machine loses no line.
    #[default]
    EachLine,
    /// When the operating system writes it: a crash of the process loses no line.
    OperatingSystem,
}

/// How a line is hashed.
pub(super) struct Seal(Option<Hmac<Sha256>>);

impl Seal {
    pub(super) fn new(key: Option<&[u8]>) -> Self {
        // A key of any length will do.
        Self(key.and_then(|key| Hmac::new_from_slice(key).ok()))
    }

    pub(super) fn hash(&self, prefix: &[u8]) -> String {
        match &self.0 {
            Some(keyed) => {
                let mut mac = keyed.clone();
                mac.update(prefix);
                hex(&mac.finalize().into_bytes())
            }
            None => hex(&Sha256::digest(prefix)),
        }
    }
}

/// The part of a line that is hashed.
pub(super) fn prefix_of(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_suffix(AFTER_HASH.as_bytes())?;
    let rest = rest.get(..rest.len().checked_sub(MAC_BYTES * 2)?)?;
    rest.strip_suffix(BEFORE_HASH.as_bytes())
}

/// The hash of a line.
pub(super) fn hash_of(line: &[u8]) -> Option<String> {
    let rest = line.strip_suffix(AFTER_HASH.as_bytes())?;
    let hash = rest.get(rest.len().checked_sub(MAC_BYTES * 2)?..)?;
    String::from_utf8(hash.to_vec()).ok()
}

/// An audit log, shared by all that write to it.
///
/// ```
/// use horngate_gate::{AuditLog, Entry, Event, verify};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("audit.jsonl");
/// let log = AuditLog::open(&path)?;
/// log.append(&Entry::new(0, Event::Policy, "gate"))?;
/// let whole = verify(std::io::BufReader::new(std::fs::File::open(&path)?), None, None, None)?;
/// assert_eq!(whole.unwrap().count, 1);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct AuditLog {
    seal: Seal,
    sink: Mutex<Sink>,
}

struct Sink {
    output: Output,
    count: u64,
    head: String,
    /// The memory of the line before.
    spare: String,
}

/// A line with its end, and its hash.
struct Line {
    text: String,
    hash: String,
}

enum Output {
    Writer(Box<dyn Write + Send>),
    File {
        file: File,
        path: PathBuf,
        durability: Durability,
        /// Where the last line known ends.
        end: u64,
    },
}

impl AuditLog {
    /// Appends to a file, which is created for its owner only; a link in its place is refused.
    ///
    /// # Errors
    /// When the file cannot be opened, or is no audit log.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::open_with(path, Durability::default(), None)
    }

    /// The same with another durability, or with a key that makes each hash an HMAC.
    ///
    /// # Errors
    /// As [`AuditLog::open`].
    pub fn open_with(
        path: impl AsRef<Path>,
        durability: Durability,
        key: Option<&[u8]>,
    ) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        let file = crate::private::open(&path)?;
        let log = Self::with(
            Output::File {
                file,
                path,
                durability,
                end: 0,
            },
            key,
        );
        log.sink
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .catch_up(&log.seal)?;
        Ok(log)
    }

    /// Writes to anything, from the first line on. It is never flushed: that is up to the writer.
    #[must_use]
    pub fn to_writer(writer: impl Write + Send + 'static, key: Option<&[u8]>) -> Self {
        Self::with(Output::Writer(Box::new(writer)), key)
    }

    fn with(output: Output, key: Option<&[u8]>) -> Self {
        Self {
            seal: Seal::new(key),
            sink: Mutex::new(Sink {
                output,
                count: 0,
                head: "0".repeat(MAC_BYTES * 2),
                spare: String::new(),
            }),
        }
    }

    /// Writes one line.
    ///
    /// # Errors
    /// When it is not known to be written.
    pub fn append(&self, entry: &Entry<'_>) -> io::Result<()> {
        let mut sink = self
            .sink
            .lock()
            .map_err(|_| io::Error::other("a writer panicked"))?;
        sink.append(&self.seal, entry)
    }

    /// How many lines there are, and the hash of the last: to be kept elsewhere, since it shows whether the end of the
    /// log is missing.
    #[must_use]
    pub fn head(&self) -> (u64, String) {
        let sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        (sink.count, sink.head.clone())
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLog").finish_non_exhaustive()
    }
}

impl Sink {
    fn append(&mut self, seal: &Seal, entry: &Entry<'_>) -> io::Result<()> {
        if let Output::Writer(_) = &self.output {
            let line = self.line(seal, entry)?;
            let hash = line.hash;
            if let Output::Writer(writer) = &mut self.output {
                writer.write_all(line.text.as_bytes())?;
            }
            self.spare = line.text;
            self.count += 1;
            self.head = hash;
            return Ok(());
        }
        self.lock()?;
        let written = self
            .catch_up_locked(seal, Some(entry.at))
            .and_then(|()| self.write_line(seal, entry));
        self.unlock();
        written
    }

    fn catch_up(&mut self, seal: &Seal) -> io::Result<()> {
        self.lock()?;
        let done = self.catch_up_locked(seal, None);
        self.unlock();
        done
    }

    fn line(&mut self, seal: &Seal, entry: &Entry<'_>) -> io::Result<Line> {
        let mut text = std::mem::take(&mut self.spare);
        text.clear();
        entry.write_open(&mut text);
        text.push_str(",\"seq\":");
        canonical::write_whole(&mut text, self.count + 1);
        for part in [",\"prev\":\"", &self.head, "\""] {
            text.push_str(part);
        }
        let hash = seal.hash(text.as_bytes());
        for part in [BEFORE_HASH, &hash, AFTER_HASH, "\n"] {
            text.push_str(part);
        }
        if text.len() as u64 > MAX_LINE {
            return Err(io::Error::other(
                "the line would be longer than any that is read",
            ));
        }
        Ok(Line { text, hash })
    }

    fn write_line(&mut self, seal: &Seal, entry: &Entry<'_>) -> io::Result<()> {
        let line = self.line(seal, entry)?;
        let Output::File {
            file,
            durability,
            end,
            ..
        } = &mut self.output
        else {
            return Ok(());
        };
        file.seek(SeekFrom::Start(*end))?;
        let written = file
            .write_all(line.text.as_bytes())
            .and_then(|()| match durability {
                Durability::EachLine => file.sync_data(),
                Durability::OperatingSystem => Ok(()),
            });
        if let Err(error) = written {
            // Half a line must not stay. If even that fails, the next writer finds it.
            let _ = file.set_len(*end);
            return Err(error);
        }
        *end += line.text.len() as u64;
        self.spare = line.text;
        self.count += 1;
        self.head = line.hash;
        Ok(())
    }

    /// Follows what others wrote since, and with `repair_at` takes away what somebody began to write and did not finish.
    fn catch_up_locked(&mut self, seal: &Seal, repair_at: Option<u64>) -> io::Result<()> {
        let Output::File {
            file, path, end, ..
        } = &mut self.output
        else {
            return Ok(());
        };
        crate::private::check_in_place(file, path)?;
        let length = file.metadata()?.len();
        if length == *end {
            return Ok(());
        }
        if length < *end {
            return Err(io::Error::other("the audit log became shorter"));
        }
        let (last, whole) = last_line(file, length)?;
        let torn = length - whole;
        if let Some(last) = last {
            let bad = || io::Error::other("the last line of the file is not one of an audit log");
            let link: Link = serde_json::from_slice(&last).map_err(|_| bad())?;
            let hash = hash_of(&last).ok_or_else(bad)?;
            if prefix_of(&last).is_none_or(|prefix| seal.hash(prefix) != hash) {
                return Err(io::Error::other(
                    "the last line of the audit log was changed, or its key is another",
                ));
            }
            self.count = link.seq;
            self.head = hash;
        } else if *end > 0 {
            return Err(io::Error::other("the audit log was replaced"));
        }
        *end = whole;
        if let Some(at) = repair_at.filter(|_| torn > 0) {
            file.set_len(whole)?;
            let detail = format!("{torn} bytes of a line that was cut short were taken away");
            let mut entry = Entry::new(at, Event::Repaired, "");
            entry.detail = &detail;
            self.write_line(seal, &entry)?;
        }
        Ok(())
    }

    fn lock(&mut self) -> io::Result<()> {
        match &self.output {
            Output::File { file, .. } => crate::private::lock(file, Instant::now() + LOCK_LIMIT),
            Output::Writer(_) => Ok(()),
        }
    }

    fn unlock(&mut self) {
        if let Output::File { file, .. } = &self.output {
            crate::private::unlock(file);
        }
    }
}

#[derive(serde::Deserialize)]
struct Link {
    seq: u64,
}

/// The last whole line of a file, without its end, and where it ends.
fn last_line(file: &mut File, length: u64) -> io::Result<(Option<Vec<u8>>, u64)> {
    let mut tail: Vec<u8> = Vec::new();
    let mut start = length;
    loop {
        let size = start.min(64 << 10);
        start -= size;
        let mut chunk = vec![0; usize::try_from(size).unwrap_or(0)];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut chunk)?;
        chunk.append(&mut tail);
        tail = chunk;
        let mut ends = tail
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, byte)| **byte == b'\n');
        let last = ends.next().map(|(at, _)| at);
        let before = ends.next().map(|(at, _)| at + 1);
        match (last, before) {
            (Some(last), before) if before.is_some() || start == 0 => {
                let line = tail.get(before.unwrap_or(0)..last).map(<[u8]>::to_vec);
                return Ok((line, start + last as u64 + 1));
            }
            (None, _) if start == 0 => return Ok((None, 0)),
            _ => {}
        }
    }
}
