//! Comments that silence a lint for one clause: `% horngate: allow(near-name) -- two different agents`.
//!
//! Nothing here silences an error, and nothing that a comment says reaches a gate: there the builder names the lint.

use crate::analysis::near;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::program::Program;
use crate::source::{SourceId, Span};
use crate::syntax::{Clause, line_comments};
use std::collections::BTreeMap;

const FORM: &str = "write `% horngate: allow(near-name) -- the reason` on the line before the clause, or behind it";

/// A finding that a comment in the rules silences.
///
/// ```
/// use horngate::{Budget, Program, Rulebase, Source};
/// let rules = "p(a).\np(a). % horngate: allow(duplicate-clause) -- an example\n";
/// let review = Rulebase::check(Program::parse([Source::new("a.pl", rules)])).review(None, &Budget::default());
/// assert!(review.diagnostics.is_empty());
/// assert_eq!(review.silenced[0].reason, "an example");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silenced {
    /// What was found.
    pub diagnostic: Diagnostic,
    /// Why it is not to be told.
    pub reason: String,
    /// The comment.
    pub comment: Span,
}

/// One lint silenced for one clause.
#[derive(Clone, Debug)]
struct Silence {
    clause: Span,
    reason: String,
    comment: Span,
}

/// The silences of a file set: by the name of the lint, in the order of the clauses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Silences {
    by_kind: BTreeMap<&'static str, Vec<Silence>>,
}

impl Silences {
    /// Reads them, and says what is wrong with those that are none.
    pub(crate) fn read(program: &Program) -> (Self, Vec<Diagnostic>) {
        let (mut silences, mut problems) = (Self::default(), Vec::new());
        for (file, clauses) in program.files() {
            let Some(source) = program.sources().get(file) else {
                continue;
            };
            let text = source.text();
            if text.contains("horngate") {
                silences.file(file, text, clauses, &mut problems);
            }
        }
        for list in silences.by_kind.values_mut() {
            list.sort_by_key(|silence| silence.clause);
        }
        (silences, problems)
    }

    fn file(
        &mut self,
        file: SourceId,
        text: &str,
        clauses: &[Clause],
        problems: &mut Vec<Diagnostic>,
    ) {
        for comment in line_comments(file, text) {
            let words = text.get(comment.range()).unwrap_or("");
            let read = match parse(words.trim_start_matches('%').trim()) {
                None => continue,
                Some(read) => read,
            };
            let problem = |message: String, help: String| {
                Diagnostic::new(Code::Silence, comment, message).help(help)
            };
            let (kinds, reason) = match read {
                Ok(read) => read,
                Err((message, help)) => {
                    problems.push(problem(message, help));
                    continue;
                }
            };
            match clause_of(comment, text, clauses) {
                Some(clause) => {
                    for kind in kinds {
                        self.by_kind.entry(kind).or_default().push(Silence {
                            clause,
                            reason: reason.clone(),
                            comment,
                        });
                    }
                }
                None => problems.push(problem(
                    "this comment silences nothing: it stands at no clause".to_owned(),
                    FORM.to_owned(),
                )),
            }
        }
    }

    fn find(&self, kind: &str, place: Span) -> Option<(usize, &Silence)> {
        let list = self.by_kind.get(kind)?;
        let behind = list.partition_point(|silence| {
            silence.clause <= Span::new(place.source, place.start, u32::MAX)
        });
        let at = behind.checked_sub(1)?;
        let silence = list.get(at)?;
        let inside = silence.clause.source == place.source && place.end <= silence.clause.end;
        inside.then_some((at, silence))
    }

    /// Takes out what is silenced, and adds a warning for each silence that silences nothing.
    pub(crate) fn apply(&self, found: &mut Vec<Diagnostic>) -> Vec<Silenced> {
        let mut silenced = Vec::new();
        let mut used: BTreeMap<&'static str, Vec<bool>> = self
            .by_kind
            .iter()
            .map(|(kind, list)| (*kind, vec![false; list.len()]))
            .collect();
        found.retain(|finding| {
            if finding.severity == Severity::Error {
                return true;
            }
            let kind = finding.code.kind();
            let places = finding.labels.iter().map(|label| label.span);
            let hit = std::iter::once(finding.span)
                .chain(places)
                .find_map(|place| self.find(kind, place));
            let Some((at, silence)) = hit else {
                return true;
            };
            if let Some(flag) = used.get_mut(kind).and_then(|used| used.get_mut(at)) {
                *flag = true;
            }
            silenced.push(Silenced {
                diagnostic: finding.clone(),
                reason: silence.reason.clone(),
                comment: silence.comment,
            });
            false
        });
        for (kind, list) in &self.by_kind {
            let used = used.get(kind).into_iter().flatten();
            for (silence, used) in list.iter().zip(used) {
                if !used {
                    found.push(
                        Diagnostic::new(
                            Code::Silence,
                            silence.comment,
                            format!("this comment silences nothing: there is no `{kind}` here"),
                        )
                        .help("remove it"),
                    );
                }
            }
        }
        silenced
    }
}

/// Lints and the reason, or a message and what to write.
type Read = Result<(Vec<&'static str>, String), (String, String)>;

/// What a comment says; `None` if it speaks of something else.
fn parse(comment: &str) -> Option<Read> {
    let rest = comment.strip_prefix("horngate")?;
    let rest = match rest.strip_prefix(':') {
        Some(rest) => rest.trim_start(),
        // `% horngate allow(…)`: the colon is forgotten.
        None if rest.trim_start().starts_with("allow") => {
            return Some(Err((
                "this comment silences nothing: a colon is missing".to_owned(),
                FORM.to_owned(),
            )));
        }
        None => return None,
    };
    let Some((list, rest)) = rest
        .strip_prefix("allow")
        .and_then(|rest| rest.trim_start().strip_prefix('('))
        .and_then(|rest| rest.split_once(')'))
    else {
        return Some(Err((
            "this comment is none that horngate knows".to_owned(),
            FORM.to_owned(),
        )));
    };
    let mut kinds = Vec::new();
    for name in list.split(',').map(str::trim) {
        match lint(name) {
            Ok(kind) => kinds.push(kind),
            Err(problem) => return Some(Err(problem)),
        }
    }
    let reason = rest.trim_start().strip_prefix("--").map_or("", str::trim);
    if reason.is_empty() {
        return Some(Err((
            "this comment silences nothing: it gives no reason".to_owned(),
            format!(
                "write the reason behind two dashes: `% horngate: allow({list}) -- the reason`"
            ),
        )));
    }
    Some(Ok((kinds, reason.to_owned())))
}

fn lint(name: &str) -> Result<&'static str, (String, String)> {
    let is_lint = |code: &&Code| code.severity() != Severity::Error && **code != Code::Silence;
    let is_named = |code: &&Code| code.kind() == name || code.as_str() == name;
    if let Some(code) = Code::ALL.iter().filter(is_lint).find(is_named) {
        return Ok(code.kind());
    }
    if Code::ALL.iter().any(|code| is_named(&code)) {
        return Err((
            format!("`{name}` is not silenced by a comment"),
            "mend what it is about; only lints are silenced".to_owned(),
        ));
    }
    let mut lints = Code::ALL.iter().filter(is_lint).map(|code| code.kind());
    let help = match near::nearest(name, &mut lints) {
        Some(near) => format!("did you mean `{near}`?"),
        None => FORM.to_owned(),
    };
    Err((format!("there is no lint `{name}`"), help))
}

/// The clause that a comment is about: the one it stands in or behind on the same line, or else the one that begins
/// below, with nothing but comments between.
fn clause_of(comment: Span, text: &str, clauses: &[Clause]) -> Option<Span> {
    let next = clauses.partition_point(|clause| clause.span.start < comment.start);
    let lines = |start: u32, end: u32| {
        let between = text.get(start as usize..end as usize).unwrap_or("");
        between.matches('\n').count()
    };
    if let Some(before) = next.checked_sub(1).and_then(|at| clauses.get(at))
        && (comment.start < before.span.end || lines(before.span.end, comment.start) == 0)
    {
        return Some(before.span);
    }
    let after = clauses.get(next)?.span;
    let between = text.get(comment.end as usize..after.start as usize)?;
    let mut lines = between.split('\n').skip(1).collect::<Vec<_>>();
    // The last is what stands before the clause on its own line.
    lines.pop();
    lines
        .iter()
        .all(|line| line.trim_start().starts_with('%'))
        .then_some(after)
}
