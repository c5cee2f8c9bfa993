//! Explanations for people: trees that fit a terminal, with the place of every clause.
//!
//! Nothing here recurses, and what the rules say is shown escaped.

use crate::printable::{Printable, printable};
use horngate::explain::{ClauseText, Obstacle, Proof, WhyNot};
use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};

/// How deep a tree goes before what is below stands further down.
const MAX_DEPTH: usize = 12;
/// How wide lines are where no terminal says so.
const WIDTH: usize = 80;
/// How many sets of missing facts are shown.
pub(crate) const MAX_MISSING: usize = 5;
/// The least width that a clause gets.
const LEAST: usize = 24;

pub(crate) fn width() -> usize {
    let known = match io::stdout().is_terminal() {
        true => terminal_size::terminal_size(),
        false => None,
    };
    known.map_or(WIDTH, |(width, _)| usize::from(width.0))
}

/// A step that is to be shown.
struct Open {
    step: usize,
    /// What stands before its line, and what before the lines below it.
    lead: String,
    below: String,
    depth: usize,
}

/// Shows a proof as a tree. A fact that several steps rest on is explained once.
pub(crate) fn proof(out: &mut dyn Write, proof: &Proof) -> io::Result<()> {
    let width = width();
    let steps = proof.steps();
    let mut explained = vec![false; steps.len()];
    // The steps whose reasons stand further down, numbered in this order.
    let mut further: Vec<usize> = vec![0];
    let mut numbers: HashMap<usize, usize> = HashMap::new();
    let mut next = 0;
    while let Some(root) = further.get(next).copied() {
        if next > 0 {
            write!(out, "\n({next}) ")?;
        }
        next += 1;
        let mut path = vec![Open {
            step: root,
            lead: String::new(),
            below: String::new(),
            depth: 0,
        }];
        while let Some(open) = path.pop() {
            let Some(step) = steps.get(open.step) else {
                continue;
            };
            write!(out, "{}{}", open.lead, Printable(&step.claim().to_string()))?;
            let clause = proof.clause(step);
            if step.because().is_empty() {
                match clause {
                    Some(clause) => writeln!(out, "  {}", place(clause))?,
                    None => writeln!(out)?,
                }
                continue;
            }
            if let Some(number) = numbers.get(&open.step)
                && open.depth > 0
            {
                writeln!(out, "  (see {number})")?;
                continue;
            }
            let seen = explained.get_mut(open.step);
            if seen.is_some_and(|flag| std::mem::replace(flag, true)) {
                writeln!(out, "  (see above)")?;
                continue;
            }
            if open.depth >= MAX_DEPTH {
                writeln!(out, "  (see {})", further.len())?;
                numbers.insert(open.step, further.len());
                further.push(open.step);
                if let Some(flag) = explained.get_mut(open.step) {
                    *flag = false;
                }
                continue;
            }
            writeln!(out)?;
            if let Some(clause) = clause {
                let lead = format!("{}│  by ", open.below);
                line(out, &lead, clause, width)?;
            }
            for (at, premise) in step.because().iter().enumerate().rev() {
                let last = at + 1 == step.because().len();
                let (branch, below) = if last {
                    ("└─ ", "   ")
                } else {
                    ("├─ ", "│  ")
                };
                path.push(Open {
                    step: *premise,
                    lead: format!("{}{branch}", open.below),
                    below: format!("{}{below}", open.below),
                    depth: open.depth + 1,
                });
            }
        }
    }
    Ok(())
}

/// Shows why something does not hold.
pub(crate) fn why_not(out: &mut dyn Write, why_not: &WhyNot) -> io::Result<()> {
    let width = width();
    match why_not.obstacle() {
        Obstacle::SomethingForbids => {
            writeln!(out, "something forbids it:")?;
            for defeat in why_not.defeated_by() {
                write!(out, "   {}", Printable(&defeat.fact))?;
                match &defeat.clause {
                    Some(clause) => writeln!(out, "  {}", place(clause))?,
                    None => writeln!(out)?,
                }
            }
        }
        _ => writeln!(out, "nothing grants it")?,
    }
    let (tried, other): (Vec<_>, Vec<_>) = why_not
        .clauses()
        .iter()
        .partition(|failed| failed.reached.is_some());
    if !tried.is_empty() {
        writeln!(out, "how far each clause gets:")?;
    }
    for failed in tried {
        line(out, "   ", &failed.clause, width)?;
        writeln!(out, "      fails at {}", Printable(&failed.fails_at))?;
    }
    if !other.is_empty() {
        writeln!(out, "clauses for other arguments:")?;
    }
    for failed in other {
        line(out, "   ", &failed.clause, width)?;
    }
    let smallest: Vec<&Vec<String>> = smallest(why_not).collect();
    if !smallest.is_empty() {
        writeln!(out, "it would hold with one of these added:")?;
    }
    for facts in smallest.iter().take(MAX_MISSING) {
        writeln!(out, "   {}", Printable(&facts.join(" and ")))?;
    }
    if let Some(more @ 1..) = smallest.len().checked_sub(MAX_MISSING) {
        writeln!(out, "   and {more} more like these")?;
    }
    if !why_not.near().is_empty() {
        let names = why_not
            .near()
            .iter()
            .map(|name| format!("`{}`", printable(name)));
        writeln!(
            out,
            "did you mean {}?",
            names.collect::<Vec<_>>().join(" or ")
        )?;
    }
    Ok(())
}

/// The sets of missing facts that are as small as any.
pub(crate) fn smallest(why_not: &WhyNot) -> impl Iterator<Item = &Vec<String>> {
    let least = why_not.missing().first().map_or(0, Vec::len);
    let missing = why_not.missing().iter();
    missing.filter(move |facts| facts.len() == least)
}

/// One line with a clause and its place: the text is cut to the width, never the place.
pub(crate) fn line(
    out: &mut dyn Write,
    lead: &str,
    clause: &ClauseText,
    width: usize,
) -> io::Result<()> {
    let place = place(clause);
    let used = lead.chars().count() + place.chars().count() + 2;
    let text = shortened(&clause.text, width.saturating_sub(used).max(LEAST));
    writeln!(out, "{lead}{place}: {text}")
}

/// Where a clause stands; the column only if others may stand before it.
pub(crate) fn place(clause: &ClauseText) -> String {
    let (file, line) = (Printable(&clause.file), clause.line);
    match clause.column {
        1 => format!("{file}:{line}"),
        column => format!("{file}:{line}:{column}"),
    }
}

/// A clause on one line without its comments, cut to so many characters.
pub(crate) fn shortened(clause: &str, most: usize) -> String {
    let clause = without_comments(clause);
    let words: Vec<&str> = clause.split_whitespace().collect();
    let text = printable(&words.join(" "));
    if text.chars().count() <= most {
        return text;
    }
    let cut: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

/// The text with a blank for each comment. It is one that parses, so quotes and comments end.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars().peekable();
    // The character before, and the one before that.
    let mut before = (' ', ' ');
    while let Some(c) = rest.next() {
        match c {
            '%' => {
                while rest.next_if(|c| *c != '\n').is_some() {}
                out.push(' ');
            }
            '/' if rest.peek() == Some(&'*') && !is_symbol(before.1) => {
                let mut last = ' ';
                for c in rest.by_ref().skip(1) {
                    if (last, c) == ('*', '/') {
                        break;
                    }
                    last = c;
                }
                out.push(' ');
            }
            // `0'c` is a number.
            '\'' if before.1 == '0' && !before.0.is_alphanumeric() && before.0 != '_' => {
                out.push(c);
                out.extend(rest.next());
            }
            '\'' | '"' => {
                out.push(c);
                while let Some(inner) = rest.next() {
                    out.push(inner);
                    if inner == '\\' {
                        out.extend(rest.next());
                    } else if inner == c {
                        break;
                    }
                }
            }
            _ => out.push(c),
        }
        before = (before.1, c);
    }
    out
}

/// Whether a comment cannot begin directly behind the character.
fn is_symbol(c: char) -> bool {
    "#$&*+-./:<=>?@^~\\".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_left_out_and_quotes_are_not() {
        for (clause, shown) in [
            ("p(X) :- % why\n    q(X).", "p(X) :- q(X)."),
            ("p :- /* a % b */ q.", "p :- q."),
            (
                "p('%', \"/* x */\", 'it''s%').",
                "p('%', \"/* x */\", 'it''s%').",
            ),
            ("p(0'%, 0'', x). % end", "p(0'%, 0'', x)."),
            ("p('\\'%', a). %", "p('\\'%', a)."),
            ("p(A) :- A = b*/*c*/d.", "p(A) :- A = b*/*c*/d."),
            ("p/**/.", "p ."),
            ("% only", ""),
        ] {
            assert_eq!(shortened(clause, 80), shown);
        }
        assert_eq!(shortened("p(aaaaaaaaaa).", 6), "p(aaa…");
    }
}
