//! Names that look like another name.
//!
//! Nothing here decides anything: near names only ever appear in advice. Nothing compares all pairs: names that may be
//! alike are found by keys that they share.

use std::collections::BTreeSet;
use unicode_security::confusable_detection::skeleton;

/// The length of the shortest names that differ in case by accident.
const SHORTEST: usize = 3;
/// The lengths, in characters, of the names between which an edit is looked for.
const EDITED: std::ops::RangeInclusive<usize> = 4..=64;
/// So many names with a key in common are an enumeration (`zone_a`, `zone_b`, …), not an accident.
const CROWD: usize = 4;
/// How many pairs are found; who shows them shows fewer.
const MAX_PAIRS: usize = 1_000;

/// In which way two names look alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Likeness {
    /// They are drawn alike, or differ in what is not drawn at all: invisible characters, blanks at an end.
    Confusable,
    /// They differ in upper and lower case only.
    Case,
    /// They are one edit apart, case kept.
    Edit,
}

/// The candidate that is nearest to `name`, if one is within two edits (one, for short names).
pub(crate) fn nearest<'c>(
    name: &str,
    candidates: impl Iterator<Item = &'c str>,
) -> Option<&'c str> {
    let limit = if name.chars().count() < 5 { 1 } else { 2 };
    candidates
        .filter(|candidate| *candidate != name)
        .filter_map(|candidate| Some((distance(name, candidate, limit)?, candidate)))
        .min()
        .map(|(_, candidate)| candidate)
}

/// The number of characters to insert, delete, replace or swap with their neighbour, up to `limit`.
pub(crate) fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX - 1);
            let mut best = (at(&last, j) + usize::from(x != y))
                .min(at(&last, j + 1) + 1)
                .min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                best = best.min(at(&before_last, j - 1) + 1);
            }
            row.push(best);
        }
        if row.iter().all(|cost| *cost > limit) {
            return None;
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().filter(|cost| *cost <= limit)
}

/// Whether the character is not drawn, such as a zero-width space.
pub(crate) fn is_invisible(c: char) -> bool {
    !c.is_ascii() && skeleton(c.encode_utf8(&mut [0; 4])).next().is_none()
}

/// The pairs of different names that look alike and that `accept` takes, sorted: each in order, as positions in
/// `names`. Names that differ in digits only never do, and neither do those that differ in a word of one letter.
pub(crate) fn alike(
    names: &[&str],
    mut accept: impl FnMut(usize, usize, Likeness) -> bool,
) -> Vec<(usize, usize, Likeness)> {
    let drawn: Vec<Vec<char>> = (0..128_u8)
        .map(|byte| skeleton(char::from(byte).encode_utf8(&mut [0; 4])).collect())
        .collect();
    let look = |name: &str, visit: &mut dyn FnMut(u64)| {
        let mut key = Key::default();
        let name = name.trim();
        if name.is_ascii() {
            let forms = name.bytes().filter_map(|byte| drawn.get(usize::from(byte)));
            forms.flatten().for_each(|c| key.push(*c));
        } else {
            skeleton(name).for_each(|c| key.push(c));
        }
        visit(key.0);
    };
    let folded = |name: &str, visit: &mut dyn FnMut(u64)| {
        let mut key = Key::default();
        name.chars()
            .flat_map(char::to_lowercase)
            .for_each(|c| key.push(c));
        visit(key.0);
    };
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    let mut try_groups = |groups: Vec<Vec<u32>>, likeness: Likeness| {
        for group in groups {
            if likeness == Likeness::Edit && group.len() > CROWD {
                continue;
            }
            let others = match likeness {
                Likeness::Edit => group.len(),
                // All look like the first.
                _ => 1,
            };
            for (index, a) in group.iter().take(others).enumerate() {
                for b in group.iter().skip(index + 1).take(CROWD) {
                    let (a, b) = (*a as usize, *b as usize);
                    let (Some(x), Some(y)) = (names.get(a), names.get(b)) else {
                        continue;
                    };
                    if found.len() < MAX_PAIRS
                        && are_alike(x, y, likeness)
                        && seen.insert((a, b))
                        && accept(a, b, likeness)
                    {
                        found.push((a, b, likeness));
                    }
                }
            }
        }
    };
    try_groups(groups(names, look), Likeness::Confusable);
    try_groups(groups(names, folded), Likeness::Case);
    // What a key is multiplied with when so many characters follow.
    let powers: Vec<u64> = std::iter::successors(Some(1), |power| Some(multiply(*power, BASE)))
        .take(*EDITED.end())
        .collect();
    let edited = |name: &str, visit: &mut dyn FnMut(u64)| shortened(name, &powers, visit);
    try_groups(groups(names, edited), Likeness::Edit);
    found.sort_unstable();
    found
}

/// Whether the names look alike in this way, and it is no numbering.
fn are_alike(x: &str, y: &str, likeness: Likeness) -> bool {
    let letters = |name: &str| -> String { name.chars().filter(|c| !c.is_numeric()).collect() };
    match likeness {
        _ if x == y => false,
        Likeness::Confusable => skeleton(x.trim()).eq(skeleton(y.trim())),
        Likeness::Case if x.len() < SHORTEST => false,
        Likeness::Case => {
            let fold =
                |name: &str| -> String { name.chars().flat_map(char::to_lowercase).collect() };
            fold(x) == fold(y)
        }
        Likeness::Edit => {
            distance(x, y, 1).is_some() && letters(x) != letters(y) && !differ_in_a_label(x, y)
        }
    }
}

/// `team_a` and `team_b`: what differs is a word of one letter in both.
fn differ_in_a_label(x: &str, y: &str) -> bool {
    let (x, y): (Vec<char>, Vec<char>) = (x.chars().collect(), y.chars().collect());
    let Some(at) = x.iter().zip(&y).position(|(a, b)| a != b) else {
        return false;
    };
    let alone = |name: &[char]| {
        let inside = |c: Option<&char>| c.is_some_and(|c| c.is_alphanumeric());
        let before = at.checked_sub(1).and_then(|before| name.get(before));
        inside(name.get(at)) && !inside(before) && !inside(name.get(at + 1))
    };
    alone(&x) && alone(&y)
}

/// The name's key, and those of the name without one of its characters: two names one edit apart have one of them in
/// common. Digits stay: names that differ in digits only are not looked for, and a million numbered names would share
/// such keys.
fn shortened(name: &str, powers: &[u64], visit: &mut dyn FnMut(u64)) {
    let length = name.chars().count();
    if !EDITED.contains(&length) {
        return;
    }
    // The key of the name without the character at `at` is that of what stands before, moved to the left, and that of
    // what stands behind.
    let mut whole = Key::default();
    name.chars().for_each(|c| whole.push(c));
    visit(whole.0);
    let (mut before, mut last) = (Key::default(), None);
    for (at, c) in name.chars().enumerate() {
        let mut with = before;
        with.push(c);
        if !c.is_numeric() && last != Some(c) {
            let power = powers.get(length - 1 - at).copied().unwrap_or(0);
            let behind = subtract(whole.0, multiply(with.0, power));
            visit(add(multiply(before.0, power), behind));
        }
        (before, last) = (with, Some(c));
    }
}

/// The key of a text: a polynomial of its characters modulo a prime. It is not secret: what it finds is compared.
#[derive(Clone, Copy, Default)]
struct Key(u64);

const MODULUS: u64 = (1 << 61) - 1;
const BASE: u64 = 0x1b87_3593_cc9e_2d51;

impl Key {
    fn push(&mut self, c: char) {
        self.0 = add(multiply(self.0, BASE), u64::from(u32::from(c)) + 1);
    }
}

fn multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let low = u64::try_from(product & u128::from(MODULUS)).unwrap_or(0);
    let high = u64::try_from(product >> 61).unwrap_or(0);
    add(low, high)
}

fn add(a: u64, b: u64) -> u64 {
    let sum = a + b;
    if sum >= MODULUS { sum - MODULUS } else { sum }
}

fn subtract(a: u64, b: u64) -> u64 {
    if a >= b { a - b } else { a + MODULUS - b }
}

/// The names that share a key, as positions in order. Most keys occur once: they are sifted out by two rows of bits,
/// so that a million names take little memory.
fn groups(names: &[&str], keys: impl Fn(&str, &mut dyn FnMut(u64))) -> Vec<Vec<u32>> {
    let size: usize = names.iter().map(|name| name.len() + 1).sum();
    let bits = size
        .saturating_mul(8)
        .next_power_of_two()
        .clamp(1 << 10, 1 << 28);
    let shift = 64 - bits.trailing_zeros();
    let slot = |key: u64| (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift) as usize;
    let (mut once, mut twice) = (Bits::new(bits), Bits::new(bits));
    for name in names {
        keys(name, &mut |key| {
            if once.set(slot(key)) {
                twice.set(slot(key));
            }
        });
    }
    let mut repeated: Vec<(u64, u32)> = Vec::new();
    for (at, name) in (0..).zip(names) {
        keys(name, &mut |key| {
            if twice.get(slot(key)) {
                repeated.push((key, at));
            }
        });
    }
    repeated.sort_unstable();
    repeated.dedup();
    repeated
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|group| group.len() > 1)
        .map(|group| group.iter().map(|(_, at)| *at).collect())
        .collect()
}

struct Bits(Vec<u64>);

impl Bits {
    fn new(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    fn get(&self, at: usize) -> bool {
        self.0
            .get(at / 64)
            .is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    /// Sets the bit; says whether it was set.
    fn set(&mut self, at: usize) -> bool {
        let before = self.get(at);
        if let Some(word) = self.0.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edits_are_counted_up_to_the_limit() {
        assert_eq!(distance("banend", "banned", 2), Some(1));
        assert_eq!(distance("banend", "baned", 2), Some(1));
        assert_eq!(distance("abc", "acb", 1), Some(1));
        assert_eq!(distance("abc", "xyz", 2), None);
        assert_eq!(distance("", "a", 1), Some(1));
    }

    fn all(names: &[&str]) -> Vec<(usize, usize, Likeness)> {
        alike(names, |_, _, _| true)
    }

    #[test]
    fn each_likeness_is_found() {
        use Likeness::{Case, Confusable, Edit};
        assert_eq!(all(&["blocked", "blocker", "block"]), [(0, 1, Edit)]);
        assert_eq!(
            all(&["junior", "juniro", "jnior"]),
            [(0, 1, Edit), (0, 2, Edit)]
        );
        assert_eq!(all(&["U:Qa", "U:QA", "B:Qab"]), [(0, 1, Case)]);
        assert_eq!(all(&["p\u{430}y", "pay"]), [(0, 1, Confusable)]);
        assert_eq!(all(&["pa\u{200b}y", "pay"]), [(0, 1, Confusable)]);
        assert_eq!(all(&["caf\u{e9}", "cafe\u{301}"]), [(0, 1, Confusable)]);
        assert_eq!(all(&["tool_l0", "tool_1O"]), [(0, 1, Confusable)]);
        assert_eq!(all(&["U:Qa ", "U:Qa"]), [(0, 1, Confusable)]);
        assert_eq!(all(&["Blocked", "blocker"]), []);
        assert_eq!(all(&["A", "a"]), []);
    }

    #[test]
    fn numbers_labels_and_enumerations_are_no_accidents() {
        assert_eq!(all(&["tool1", "tool2", "tool12", "tool21", "tool"]), []);
        assert_eq!(all(&["team_a", "team_b"]), []);
        assert_eq!(all(&["rack1a", "rack1b", "rack1c", "rack1d", "rack1e"]), []);
        assert_eq!(all(&["abc", "abd"]), []);
    }

    #[test]
    fn the_nearest_other_name_is_found() {
        let names = ["blocked", "banned", "member"];
        assert_eq!(nearest("banend", names.into_iter()), Some("banned"));
        assert_eq!(nearest("banned", names.into_iter()), None);
    }

    proptest! {
        /// The index finds what comparing all pairs finds.
        #[test]
        fn the_index_finds_every_edit(names in proptest::collection::btree_set("[ab_1]{4,7}", 0..7)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let found: BTreeSet<(usize, usize)> = all(&names)
                .into_iter()
                .filter(|(_, _, likeness)| *likeness == Likeness::Edit)
                .map(|(a, b, _)| (a, b))
                .collect();
            for (a, x) in names.iter().enumerate() {
                for (b, y) in names.iter().enumerate().skip(a + 1) {
                    let alike = are_alike(x, y, Likeness::Edit);
                    prop_assert!(alike || !found.contains(&(a, b)), "{} {}", x, y);
                    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).count();
                    // A digit for a letter is not looked for, and neither are crowded forms.
                    if alike && digits(x) == digits(y) && names.len() <= CROWD {
                        prop_assert!(found.contains(&(a, b)), "{} {}", x, y);
                    }
                }
            }
        }
    }
}
