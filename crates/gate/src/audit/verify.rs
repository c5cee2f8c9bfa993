//! Checks the chain of an audit log.
//!
//! Nothing here repairs anything.

use super::file::{MAC_BYTES, Seal, hash_of, prefix_of};
use serde::Deserialize;
use std::io::{self, BufRead};

/// The longest line that is read, and written.
pub(super) const MAX_LINE: u64 = 16 << 20;

/// A log whose chain is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// How many lines it has.
    pub count: u64,
    /// The hash of the last line; of none, zeros.
    pub head: String,
}

/// A log whose chain is broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Broken {
    /// The first line that is wrong, from 1.
    pub line: u64,
    /// What is wrong.
    pub what: String,
    /// Whether it is only that the last line has no end: its writer was stopped, or is writing now.
    pub torn: bool,
}

#[derive(Deserialize)]
struct Link {
    seq: u64,
    prev: String,
}

/// Checks that no line was changed, taken away from within, or added. Whether lines are missing at the end only shows
/// against a `head` or `count` that was kept elsewhere. `key` is the key of the log, if it has one.
///
/// # Errors
/// The outer error when the log cannot be read.
///
/// ```
/// let whole = horngate_gate::verify(&b""[..], None, None, None)?.unwrap();
/// assert_eq!(whole.count, 0);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn verify(
    mut log: impl BufRead,
    key: Option<&[u8]>,
    head: Option<&str>,
    count: Option<u64>,
) -> io::Result<Result<Whole, Broken>> {
    let seal = Seal::new(key);
    let mut whole = Whole {
        count: 0,
        head: "0".repeat(MAC_BYTES * 2),
    };
    let mut seen = head.is_none_or(|head| head == whole.head);
    let broken = |line: u64, what: &str| {
        Ok(Err(Broken {
            line,
            what: what.to_owned(),
            torn: false,
        }))
    };
    loop {
        let mut line = Vec::new();
        let number = whole.count + 1;
        io::Read::take(&mut log, MAX_LINE).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            break;
        }
        let Some(line) = line.strip_suffix(b"\n") else {
            // A longer line than any has no end here, either.
            let torn = io::Read::read(&mut log, &mut [0])? == 0;
            return Ok(Err(Broken {
                line: number,
                what: "the line was cut short".to_owned(),
                torn,
            }));
        };
        let (Some(prefix), Some(hash)) = (prefix_of(line), hash_of(line)) else {
            return broken(number, "the line has no hash");
        };
        let Ok(link) = serde_json::from_slice::<Link>(line) else {
            return broken(number, "the line is not one of an audit log");
        };
        if seal.hash(prefix) != hash {
            return broken(number, "the line was changed, or the key is another");
        }
        if link.seq != number {
            return broken(
                number,
                &format!("its number is {}: lines are missing or doubled", link.seq),
            );
        }
        if link.prev != whole.head {
            return broken(number, "it does not follow the line before");
        }
        whole.count = number;
        whole.head = hash;
        seen |= head == Some(&whole.head);
    }
    if count.is_some_and(|count| whole.count < count) {
        return broken(whole.count + 1, "the end of the log is missing");
    }
    if !seen {
        return broken(whole.count + 1, "the line with the given hash is missing");
    }
    Ok(Ok(whole))
}
