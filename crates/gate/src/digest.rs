//! SHA-256 over parts that cannot run into each other.
//!
//! Nothing here is secret.

use sha2::{Digest as _, Sha256};
use std::fmt;

/// A SHA-256 digest.
///
/// ```
/// use horngate_gate::Arguments;
/// let digest = Arguments::parse(r#"{"a":1.0}"#)?.digest();
/// assert_eq!(digest, Arguments::parse(r#"{ "a": 1 }"#)?.digest());
/// assert_eq!(digest.to_string().len(), 64);
/// # Ok::<(), horngate_gate::ArgumentsError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Of one text.
    pub(crate) fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Of a list of texts, each with its length before it.
    pub(crate) fn of_parts<'p>(
        tag: &'static str,
        parts: impl IntoIterator<Item = &'p str>,
    ) -> Self {
        Self(Sha256::digest(framed(tag, parts)).into())
    }
}

/// The texts, each with its length before it: no two lists give the same bytes.
pub(crate) fn framed<'p>(tag: &'static str, parts: impl IntoIterator<Item = &'p str>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in std::iter::once(tag).chain(parts) {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes
}

/// The bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'0');
    let mut text = Vec::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.extend([digit(byte >> 4), digit(byte & 15)]);
    }
    String::from_utf8(text).unwrap_or_default()
}

/// The bytes that a hexadecimal text stands for.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    digits
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(high * 16 + low).ok(),
            _ => None,
        })
        .collect()
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        let digest = |parts: [&str; 2]| Digest::of_parts("t", parts);
        assert_ne!(digest(["ab", "c"]), digest(["a", "bc"]));
        assert_ne!(digest(["", "a"]), digest(["a", ""]));
    }

    #[test]
    fn hexadecimal_goes_both_ways() {
        assert_eq!(hex(&[0, 0xa5, 0xff]), "00a5ff");
        assert_eq!(unhex("00a5FF"), Some(vec![0, 0xa5, 0xff]));
        assert_eq!(unhex("0"), None);
        assert_eq!(unhex("zz"), None);
    }
}
