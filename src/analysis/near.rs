//! Names that look like another name.
//!
//! Nothing here decides anything: near names only ever appear in advice.

use std::collections::{BTreeSet, HashMap};

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

/// The pairs of names of at least four characters that are one edit apart; those that differ in digits only,
/// or as singular and plural, do not count. Each pair is in order, and so are the pairs.
pub(crate) fn pairs(names: &[&str]) -> Vec<(usize, usize)> {
    // Two names one edit apart have a name in common once at most one character of each is left out.
    let mut shortened: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, name) in names.iter().enumerate() {
        let characters: Vec<char> = name.chars().collect();
        if !(4..=64).contains(&characters.len()) {
            continue;
        }
        let mut forms: Vec<String> = (0..characters.len())
            .map(|out| {
                characters
                    .iter()
                    .enumerate()
                    .filter(|(index, _)| *index != out)
                    .map(|(_, c)| *c)
                    .collect()
            })
            .collect();
        forms.push((*name).to_owned());
        forms.sort_unstable();
        forms.dedup();
        for form in forms {
            shortened.entry(form).or_default().push(at);
        }
    }
    let without_digits: Vec<String> = names
        .iter()
        .map(|name| name.replace(|c: char| c.is_ascii_digit(), ""))
        .collect();
    let mut found = BTreeSet::new();
    let mut groups: Vec<Vec<usize>> = shortened
        .into_values()
        .filter(|group| group.len() > 1)
        .collect();
    groups.sort_unstable();
    for group in groups {
        for (index, a) in group.iter().enumerate() {
            // A crowded form (`tool_1`, `tool_2`, …) is a numbering, not an accident.
            for b in group.iter().skip(index + 1).take(8) {
                let (Some(x), Some(y)) = (names.get(*a), names.get(*b)) else {
                    continue;
                };
                let plural = x.strip_suffix('s') == Some(y) || y.strip_suffix('s') == Some(x);
                let numbered = without_digits.get(*a) == without_digits.get(*b);
                if x != y && !numbered && !plural && distance(x, y, 1).is_some() {
                    found.insert((*a.min(b), *a.max(b)));
                }
            }
        }
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted_up_to_the_limit() {
        assert_eq!(distance("banend", "banned", 2), Some(1));
        assert_eq!(distance("banend", "baned", 2), Some(1));
        assert_eq!(distance("abc", "acb", 1), Some(1));
        assert_eq!(distance("abc", "xyz", 2), None);
        assert_eq!(distance("", "a", 1), Some(1));
    }

    #[test]
    fn near_pairs_are_found_by_index() {
        let names = [
            "blocked", "blocker", "tool1", "tool2", "abc", "abd", "block",
        ];
        assert_eq!(pairs(&names), [(0, 1)]);
    }

    #[test]
    fn the_nearest_other_name_is_found() {
        let names = ["blocked", "banned", "member"];
        assert_eq!(nearest("banend", names.into_iter()), Some("banned"));
        assert_eq!(nearest("banned", names.into_iter()), None);
    }
}
