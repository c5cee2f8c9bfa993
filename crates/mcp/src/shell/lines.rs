//! Lines in, lines out, with bounds: threads that read and write, and queues that know their size.
//!
//! Nothing here looks into a line.

use crate::MAX_FRAME_BYTES;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc as blocking;
use std::thread;
use tokio::sync::{Notify, mpsc};

/// How many lines may wait to be looked at.
const WAITING: usize = 16;
/// How many bytes may wait to be written before nothing more is read that could add to them.
const MAX_WAITING_BYTES: usize = 2 * MAX_FRAME_BYTES;

/// What was read.
#[derive(Debug)]
pub(super) enum Line {
    Text(Vec<u8>),
    /// A line that was too long; nothing of it was kept.
    Oversize,
}

/// Reads lines in a thread of its own. The channel closes at the end of the input.
pub(super) fn read(input: impl Read + Send + 'static) -> io::Result<mpsc::Receiver<Line>> {
    let (sender, receiver) = mpsc::channel(WAITING);
    thread::Builder::new()
        .name("horngate-read".to_owned())
        .spawn(move || {
            let mut input = BufReader::with_capacity(1 << 16, input);
            while let Ok(Some(line)) = next(&mut input) {
                if sender.blocking_send(line).is_err() {
                    break;
                }
            }
        })?;
    Ok(receiver)
}

/// The next line that is not empty.
fn next(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    loop {
        let mut line = Vec::new();
        let limit = u64::try_from(MAX_FRAME_BYTES).unwrap_or(u64::MAX);
        let read = input
            .by_ref()
            .take(limit + 1)
            .read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        let whole = line.last() == Some(&b'\n');
        if !whole && read > MAX_FRAME_BYTES {
            input.skip_until(b'\n')?;
            return Ok(Some(Line::Oversize));
        }
        if !line.trim_ascii().is_empty() {
            return Ok(Some(Line::Text(line)));
        }
    }
}

/// Lines that wait to be written.
pub(super) struct Outbox {
    sender: Option<blocking::Sender<String>>,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    bytes: AtomicUsize,
    closed: AtomicBool,
    changed: Notify,
}

impl Outbox {
    /// Writes lines in a thread of its own.
    pub(super) fn new(mut output: impl Write + Send + 'static) -> io::Result<Self> {
        let (sender, receiver) = blocking::channel::<String>();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        thread::Builder::new()
            .name("horngate-write".to_owned())
            .spawn(move || {
                for mut line in receiver {
                    let length = line.len();
                    line.push('\n');
                    let written = output
                        .write_all(line.as_bytes())
                        .and_then(|()| output.flush());
                    shared.bytes.fetch_sub(length, Ordering::SeqCst);
                    if written.is_err() {
                        break;
                    }
                    shared.changed.notify_one();
                }
                drop(output);
                shared.closed.store(true, Ordering::SeqCst);
                shared.changed.notify_one();
            })?;
        Ok(Self {
            sender: Some(sender),
            state,
        })
    }

    /// Adds a line. When nobody takes it any more it is gone.
    pub(super) fn send(&self, line: String) {
        let length = line.len();
        if let Some(sender) = &self.sender {
            self.state.bytes.fetch_add(length, Ordering::SeqCst);
            if sender.send(line).is_err() {
                self.state.bytes.fetch_sub(length, Ordering::SeqCst);
            }
        }
    }

    /// No more lines: the output is closed when those that wait are written.
    pub(super) fn close(&mut self) {
        self.sender = None;
    }

    /// Whether so much waits that nothing should be added.
    pub(super) fn is_full(&self) -> bool {
        !self.is_closed() && self.state.bytes.load(Ordering::SeqCst) > MAX_WAITING_BYTES
    }

    /// Whether the output has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.state.closed.load(Ordering::SeqCst)
    }

    /// Something was written, or the output has ended.
    pub(super) async fn changed(&self) {
        self.state.changed.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_a_bound_and_an_end() {
        let mut text = b"\n \r\n{}\r\n".to_vec();
        text.extend(vec![b'x'; MAX_FRAME_BYTES + 1]);
        text.extend(b"\n[]\nlast");
        let mut input = BufReader::new(&*text);
        let mut told = Vec::new();
        while let Some(line) = next(&mut input).unwrap() {
            told.push(match line {
                Line::Text(line) => String::from_utf8(line).unwrap(),
                Line::Oversize => "oversize".to_owned(),
            });
        }
        assert_eq!(told, ["{}\r\n", "oversize", "[]\n", "last"]);
    }
}
