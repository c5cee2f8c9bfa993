//! Audit logs.

use horngate_gate::{AuditLog, Entry, Event, verify};
use std::io::Write;
use std::sync::{Arc, LazyLock, Mutex};

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("a lock").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub(crate) struct Written {
    pub(crate) bytes: Vec<u8>,
    key: Option<&'static [u8]>,
    count: u64,
    head: String,
}

impl Written {
    fn new(key: Option<&'static [u8]>) -> Self {
        let buffer = Buffer::default();
        let log = AuditLog::to_writer(buffer.clone(), key);
        let events = [
            Event::Policy,
            Event::Executing,
            Event::Executed,
            Event::Denied,
        ];
        for (at, event) in (0_u64..).zip(events.into_iter().cycle().take(6)) {
            log.append(&Entry::new(at, event, "gate"))
                .expect("a buffer takes all");
        }
        let (count, head) = log.head();
        let bytes = buffer.0.lock().expect("a lock").clone();
        Self {
            bytes,
            key,
            count,
            head,
        }
    }
}

pub(crate) static WRITTEN: LazyLock<[Written; 2]> =
    LazyLock::new(|| [Written::new(None), Written::new(Some(b"key"))]);

/// No text but the log itself is taken for it, and of a part of it only its beginning.
pub fn audit(data: &[u8]) {
    let Some((form, rest)) = data.split_first() else {
        return;
    };
    for log in &*WRITTEN {
        let changed = match form % 2 {
            0 => rest.to_vec(),
            _ => edited(&log.bytes, rest),
        };
        let whole = verify(&*changed, log.key, Some(&log.head), Some(log.count)).expect("a buffer");
        // More lines may follow what was kept elsewhere, if there is no key: anybody can hash.
        assert!(whole.is_err() || changed.starts_with(&log.bytes));
        let part = verify(&*changed, log.key, None, None).expect("a buffer");
        if part.is_ok() && log.key.is_some() {
            assert!(log.bytes.starts_with(&changed));
            assert!(changed.is_empty() || changed.ends_with(b"\n"));
        }
        let _ = verify(&*changed, log.key, Some("x"), Some(u64::MAX)).expect("a buffer");
    }
}

/// The log with parts of it taken away, doubled, exchanged or written over, as the bytes say.
fn edited(log: &[u8], edits: &[u8]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = log
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    for edit in edits.chunks_exact(4).take(6) {
        let [what, line, at, with] = edit else {
            continue;
        };
        if lines.is_empty() {
            break;
        }
        let line = usize::from(*line) % lines.len();
        let other = usize::from(*at) % lines.len();
        match what % 6 {
            0 => {
                lines.remove(line);
            }
            1 => lines.insert(other, lines[line].clone()),
            2 => lines.swap(line, other),
            3 => {
                let length = lines[line].len();
                let place = (usize::from(*at) * 3) % length.max(1);
                if let Some(byte) = lines[line].get_mut(place) {
                    *byte = *with;
                }
            }
            4 => {
                let length = lines[line].len();
                lines[line].truncate(length.saturating_sub(usize::from(*with)));
            }
            _ => {
                let place = usize::from(*at).min(lines[line].len());
                lines[line].insert(place, *with);
            }
        }
    }
    lines.concat()
}
