//! The JSON documents of the contract, and the one place that writes to standard output.
//!
//! Nothing here computes an answer.

use crate::problem::has_place;
use horngate::explain::ClauseText;
use horngate::{Answers, Severity, Sources};
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;
use std::io::{self, BufWriter, Write};

/// Writes to standard output, all or an error.
pub(crate) fn stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out)?;
    out.flush()
}

/// Writes one document to standard output, with a line end.
pub(crate) fn print(document: &impl Serialize) -> io::Result<()> {
    stdout(|out| {
        serde_json::to_writer(&mut *out, document)?;
        out.write_all(b"\n")
    })
}

/// One finding. What is no matter of rule texts (a file, a clock) has no code, and what has no place no line.
#[derive(Debug, Serialize)]
pub(crate) struct Diagnostic<'a> {
    pub(crate) code: Option<&'static str>,
    pub(crate) severity: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    pub(crate) help: Option<&'a str>,
    pub(crate) file: Option<&'a str>,
    pub(crate) line: Option<usize>,
    pub(crate) column: Option<usize>,
    pub(crate) end_line: Option<usize>,
    pub(crate) end_column: Option<usize>,
    pub(crate) predicate: Option<&'a str>,
}

impl<'a> Diagnostic<'a> {
    /// A finding in rule texts or a goal.
    pub(crate) fn new(sources: &'a Sources, found: &'a horngate::Diagnostic) -> Self {
        let place = has_place(found).then(|| {
            let (start, end) = (sources.start(found.span), sources.end(found.span));
            (sources.name(found.span), start, end)
        });
        Self {
            code: Some(found.code.as_str()),
            severity: match found.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "note",
            },
            kind: found.code.kind(),
            message: found.message.clone(),
            help: found.help.as_deref(),
            file: place.map(|(file, ..)| file),
            line: place.map(|(_, start, _)| start.line),
            column: place.map(|(_, start, _)| start.column),
            end_line: place.map(|(.., end)| end.line),
            end_column: place.map(|(.., end)| end.column),
            predicate: found.predicate.as_deref(),
        }
    }

    /// An error that is not about rule texts.
    pub(crate) fn outside(kind: &'static str, message: String, file: Option<&'a str>) -> Self {
        Self {
            code: None,
            severity: "error",
            kind,
            message,
            help: None,
            file,
            line: None,
            column: None,
            end_line: None,
            end_column: None,
            predicate: None,
        }
    }
}

/// What `check` says.
#[derive(Debug, Serialize)]
pub(crate) struct Check<'a> {
    pub(crate) files: Vec<&'a str>,
    pub(crate) diagnostics: Vec<Diagnostic<'a>>,
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) silenced: Vec<Silenced<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) allowlist: Option<&'a Grounds>,
}

/// A finding that a comment silences.
#[derive(Debug, Serialize)]
pub(crate) struct Silenced<'a> {
    pub(crate) reason: &'a str,
    #[serde(flatten)]
    pub(crate) diagnostic: Diagnostic<'a>,
}

/// What an allowlist rests on.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Grounds {
    pub(crate) predicate: String,
    pub(crate) facts: Vec<String>,
    pub(crate) absences: Vec<String>,
    pub(crate) widened_by: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) silenced: Vec<String>,
    /// Those of the absences that nothing states.
    #[serde(skip)]
    pub(crate) unstated: Vec<String>,
    /// How many facts there are in all.
    #[serde(skip)]
    pub(crate) fact_count: usize,
}

/// What `query` says.
#[derive(Debug, Serialize)]
pub(crate) struct Query<'a> {
    pub(crate) goal: &'a str,
    pub(crate) count: u64,
    pub(crate) holds: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) solutions: Option<Solutions<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) permissive: Option<bool>,
}

/// The solutions of a goal, at most so many: for each a map from name to constant; none for a goal without names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Solutions<'a> {
    pub(crate) answers: Option<&'a Answers>,
    pub(crate) limit: usize,
}

impl Serialize for Solutions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        if let Some(answers) = self.answers {
            for row in answers.iter().take(self.limit) {
                list.serialize_element(&Solution(answers.names(), &row))?;
            }
        }
        list.end()
    }
}

struct Solution<'a>(&'a [Box<str>], &'a [String]);

impl Serialize for Solution<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0.iter().zip(self.1) {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// What `query` says when there is no answer.
#[derive(Debug, Serialize)]
pub(crate) struct QueryProblem<'a> {
    pub(crate) goal: &'a str,
    pub(crate) error: Option<Diagnostic<'a>>,
}

/// What `explain` says when there is no answer.
#[derive(Debug, Serialize)]
pub(crate) struct ExplainProblem<'a> {
    pub(crate) goal: Option<&'a str>,
    pub(crate) error: Vec<Diagnostic<'a>>,
}

/// What `explain --verify` says.
#[derive(Debug, Serialize)]
pub(crate) struct Verified<'a> {
    pub(crate) valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) goal: Option<&'a str>,
    /// The node at which a proof that is not valid fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) node: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'a str>,
}

/// What `decide` says.
#[derive(Debug, Serialize)]
pub(crate) struct Decision<'a> {
    pub(crate) decision: &'static str,
    pub(crate) actor: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) atom: String,
    pub(crate) allowlist: String,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    /// `None` when no policy could be bound.
    pub(crate) policy_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Vec<Diagnostic<'a>>>,
}

/// One line of a batch of decisions.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct BatchLine<'a> {
    pub(crate) decision: &'static str,
    pub(crate) actor: Option<&'a str>,
    pub(crate) tool: Option<&'a str>,
    pub(crate) reason: &'static str,
}

/// What `grants` says.
#[derive(Debug, Serialize)]
pub(crate) struct Grants<'a> {
    pub(crate) grants: &'a [Pair<'a>],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Vec<Diagnostic<'a>>>,
}

/// An actor and a tool that it may run.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Pair<'a> {
    pub(crate) actor: &'a str,
    pub(crate) tool: &'a str,
}

/// What `test` says.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Tests<'a> {
    pub(crate) tests: Vec<Test<'a>>,
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) refused: usize,
    pub(crate) blocked: usize,
    pub(crate) skipped: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) coverage: Option<Coverage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Vec<Diagnostic<'a>>>,
}

/// One test and its verdict.
#[derive(Debug, Serialize)]
pub(crate) struct Test<'a> {
    pub(crate) block: &'a str,
    pub(crate) name: &'a str,
    pub(crate) file: &'a str,
    pub(crate) line: usize,
    pub(crate) verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expected: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) found: Option<&'a [String]>,
    /// As `explain` has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) explanations: Vec<serde_json::Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) diagnostics: Vec<Diagnostic<'a>>,
}

/// Which clauses no test's proof used.
#[derive(Debug, Serialize)]
pub(crate) struct Coverage<'a> {
    pub(crate) clauses: usize,
    pub(crate) used: usize,
    pub(crate) unused: Vec<Clause<'a>>,
}

/// What `pin` says.
#[derive(Debug, Serialize)]
pub(crate) struct Pin<'a> {
    pub(crate) findings: Vec<Finding<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Vec<Diagnostic<'a>>>,
}

/// A disagreement between rules and lists of tools. The place is that of the grant, or the list's if there is none.
#[derive(Debug, Serialize)]
pub(crate) struct Finding<'a> {
    pub(crate) kind: &'static str,
    pub(crate) actor: Option<&'a str>,
    pub(crate) tool: Option<&'a str>,
    pub(crate) message: &'a str,
    pub(crate) help: &'a str,
    pub(crate) file: Option<&'a str>,
    pub(crate) line: Option<usize>,
}

impl<'a> Finding<'a> {
    pub(crate) fn new(
        finding: &'a horngate::pins::Finding,
        file: Option<&'a str>,
        line: Option<usize>,
    ) -> Self {
        Self {
            kind: finding.kind.as_str(),
            actor: finding.actor.as_deref(),
            tool: finding.tool.as_deref(),
            message: &finding.message,
            help: &finding.help,
            file,
            line,
        }
    }
}

/// What `grant` and `revoke` say.
#[derive(Debug, Serialize)]
pub(crate) struct Edit<'a> {
    pub(crate) changed: bool,
    pub(crate) actor: &'a str,
    pub(crate) tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fact: Option<&'a str>,
    pub(crate) file: String,
    /// Where the fact stands now, or stood before.
    pub(crate) lines: &'a [usize],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) diff: Option<&'a str>,
    /// The clause that grants already, if there is nothing to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<Clause<'a>>,
    /// What there is to say of the new rules that there was not of the old.
    pub(crate) warnings: Vec<Diagnostic<'a>>,
    /// In what they no longer agree with the lists of tools.
    pub(crate) findings: Vec<Finding<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Vec<Diagnostic<'a>>>,
}

impl<'a> Edit<'a> {
    /// Nothing changed.
    pub(crate) fn of(actor: &'a str, tool: &'a str) -> Self {
        Self {
            changed: false,
            actor,
            tool,
            fact: None,
            file: String::new(),
            lines: &[],
            diff: None,
            by: None,
            warnings: Vec::new(),
            findings: Vec::new(),
            error: None,
        }
    }
}

/// What `diff` says.
#[derive(Debug, Serialize)]
pub(crate) struct Diff<'a> {
    pub(crate) allowed: Vec<Change<'a>>,
    pub(crate) denied: Vec<Change<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Vec<Diagnostic<'a>>>,
}

/// A pair that changes, and the clause that allows it now or did so before.
#[derive(Debug, Serialize)]
pub(crate) struct Change<'a> {
    pub(crate) actor: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) clause: Option<Clause<'a>>,
    /// Of what becomes allowed: a node, as `explain` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) proof: Option<Box<RawValue>>,
    /// Of what becomes denied: what of its proof holds no more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) lost: Vec<Lost<'a>>,
}

/// A step of a proof that holds no more.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Lost<'a> {
    Fact {
        fact: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        clause: Option<Clause<'a>>,
    },
    Absent {
        absent: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        clause: Option<Clause<'a>>,
    },
}

/// A clause as it stands in its file.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Clause<'a> {
    pub(crate) file: &'a str,
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) text: &'a str,
}

impl<'a> Clause<'a> {
    pub(crate) fn new(clause: &'a ClauseText) -> Self {
        Self {
            file: &clause.file,
            line: clause.line,
            column: clause.column,
            text: &clause.text,
        }
    }
}
