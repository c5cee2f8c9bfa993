//! `horngate grant` and `horngate revoke`: one fact of a rule file more or fewer.
//!
//! Nothing here is written before the rules with the new text were checked and decide as asked, and change no other pair.

use crate::args::{Edit, Format};
use crate::outcome::Outcome;
use crate::printable::Printable;
use crate::problem::{Problem, Unreadable};
use crate::replace::replace;
use crate::rules::{self, Bound};
use crate::{files, guard, json, lists, render, tree};
use horngate::explain::ClauseText;
use horngate::pins::{Finding, Pins};
use horngate::{
    Allowlist, Code, DEFAULT_TOOL_PREFIX, Diagnostic, Diff, FactEdit, GrantingClauses, Program,
    Rulebase, Severity, Source, Sources, syntax,
};
use similar::TextDiff;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How many other pairs that an edit would change are named.
const MAX_NAMED: usize = 5;

/// How much of a clause is shown in a message.
const MAX_CLAUSE: usize = 100;

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Grant,
    Revoke,
}

/// What comes of it.
struct Answer {
    /// The fact as rules have it.
    fact: String,
    edited: Option<Edited>,
    /// If there is nothing to do, the clause that grants already.
    by: Option<ClauseText>,
    remarks: Vec<String>,
    /// What there is to say of the new rules that there was not of the old.
    sources: Sources,
    found: Vec<Diagnostic>,
    /// In what they no longer agree with the lists of tools.
    findings: Vec<Finding>,
}

struct Edited {
    lines: Vec<usize>,
    diff: String,
}

pub(crate) fn run(args: &Edit, wish: Wish) -> io::Result<Outcome> {
    let own = args.clone();
    let answer = guard::run(args.limits.timeout, move || answer(&own, wish));
    let answer = match answer {
        Ok(answer) => answer,
        Err(problem) => return no_answer(args, &problem),
    };
    match args.format {
        Format::Json => print_json(args, &answer)?,
        Format::Human => print_human(args, wish, &answer)?,
    }
    Ok(Outcome::of(answer.edited.is_some()))
}

fn no_answer(args: &Edit, problem: &Problem) -> io::Result<Outcome> {
    match args.format {
        Format::Human => problem.print(),
        Format::Json => json::print(&json::Edit {
            file: args.file.display().to_string(),
            error: Some(problem.json()),
            ..json::Edit::of(&args.actor, &args.tool)
        })?,
    }
    Ok(Outcome::NoAnswer)
}

/// The rule files of the set, and which of them is to be edited.
struct Set {
    names: Vec<PathBuf>,
    edited: usize,
    bytes: Vec<u8>,
}

impl Set {
    fn read(args: &Edit) -> Result<Self, Problem> {
        let file = &args.file;
        let unreadable = |reason: String| Problem::Unreadable(vec![Unreadable::new(file, reason)]);
        let place = |path: &Path| fs::canonicalize(path);
        if fs::metadata(file).is_ok_and(|known| known.is_dir()) {
            return Err(unreadable(
                "it is a folder: name the file to edit".to_owned(),
            ));
        }
        let bytes = files::bytes(file).map_err(|error| unreadable(error.to_string()))?;
        let paths: Vec<PathBuf> = args.rules.iter().chain([file]).cloned().collect();
        let names = files::names(&paths)?;
        let own = place(file).map_err(|error| unreadable(error.to_string()))?;
        let edited = names
            .iter()
            .position(|name| place(name).is_ok_and(|place| place == own))
            .ok_or_else(|| unreadable("it is gone".to_owned()))?;
        Ok(Self {
            names,
            edited,
            bytes,
        })
    }

    /// All texts, one of them this.
    fn with(&self, text: &[u8]) -> Result<Vec<Source>, Problem> {
        let source = |(at, path): (usize, &PathBuf)| {
            let bytes = match at == self.edited {
                true => Ok(text.to_vec()),
                false => files::bytes(path),
            };
            match bytes {
                Ok(bytes) => Ok(Source::from_bytes(path.display().to_string(), bytes)),
                Err(error) => {
                    let found = vec![Unreadable::new(path, error.to_string())];
                    Err(Problem::Unreadable(found))
                }
            }
        };
        self.names.iter().enumerate().map(source).collect()
    }
}

/// Rules that decide, and all there is to say of them.
struct Side {
    bound: Bound,
    sources: Sources,
    found: Vec<Diagnostic>,
}

impl Side {
    fn of(args: &Edit, sources: Vec<Source>) -> Result<Self, Problem> {
        let budget = args.limits.budget();
        let checked = Rulebase::check(Program::parse_within(sources, &budget));
        let rulebase = match &checked.rulebase {
            Ok(rulebase) => rulebase.clone(),
            Err(refused) => return Err(refused.clone().into()),
        };
        let bound = rules::bound(&rulebase, &args.authority, &budget)?;
        let review = checked.review(Some(&args.authority.allowlist.text), &budget);
        Ok(Self {
            bound,
            sources: review.sources,
            found: review.diagnostics,
        })
    }

    fn allowlist(&self) -> &Allowlist {
        &self.bound.allowlist
    }

    fn allows(&self, args: &Edit) -> bool {
        self.allowlist().decide(&args.actor, &args.tool).is_allow()
    }

    /// The clause that grants what is asked about.
    fn clause(&self, args: &Edit) -> Option<ClauseText> {
        let span =
            GrantingClauses::new(self.allowlist(), &self.sources).find(&args.actor, &args.tool)?;
        let start = self.sources.start(span);
        Some(ClauseText {
            file: self.sources.name(span).to_owned(),
            line: start.line,
            column: start.column,
            text: self.sources.text(span).to_owned(),
        })
    }
}

fn answer(args: &Edit, wish: Wish) -> Result<Answer, Problem> {
    sensible(args, wish)?;
    let authority = &args.authority;
    let atom = format!("{}{}", authority.tool_prefix, args.tool);
    let arguments = [args.actor.as_str(), atom.as_str()];
    let set = Set::read(args)?;
    // Rules by which nobody can be allowed yet may become some by the grant.
    let old = match Side::of(args, set.with(&set.bytes)?) {
        Ok(old) => Some(old),
        Err(problem) if wish == Wish::Revoke => return Err(problem),
        Err(_) => None,
    };
    let fact = |text: &str| syntax::quoted_atom(text).to_string();
    let mut answer = Answer {
        fact: format!(
            "{}({},{})",
            fact(authority.allowlist.key.name()),
            fact(&args.actor),
            fact(&atom)
        ),
        edited: None,
        by: None,
        remarks: Vec::new(),
        sources: Sources::default(),
        found: Vec::new(),
        findings: Vec::new(),
    };
    let allowed = old.as_ref().is_some_and(|old| old.allows(args));
    if allowed == (wish == Wish::Grant) {
        answer.by = old.and_then(|old| old.clause(args));
        return Ok(answer);
    }
    let name = args.file.display().to_string();
    let source = Source::from_bytes(name.clone(), set.bytes.clone());
    let key = &authority.allowlist.key;
    let edit = match wish {
        Wish::Grant => FactEdit::insert(&source, key, arguments).map(Some),
        Wish::Revoke => FactEdit::remove(&source, key, arguments),
    };
    let edit = edit.map_err(|diagnostics| Problem::Refused {
        message: format!("`{name}` is left as it is"),
        sources: Sources::new([source.clone()]),
        diagnostics,
    })?;
    let Some(edit) = edit else {
        return Err(not_by_a_fact(args, old.as_ref()));
    };
    let new = set.with(edit.text.as_bytes());
    let new = new.and_then(|texts| Side::of(args, texts));
    let new = new.map_err(|problem| left_alone(args, problem))?;
    as_asked(args, wish, old.as_ref(), &new)?;
    if !args.tools.is_empty() {
        let tools = lists::read(&args.tools, Some(&args.actor), &[])?;
        let findings = |side: &Side| Pins::compare(side.allowlist(), &tools).findings().to_vec();
        let before = old.as_ref().map(findings).unwrap_or_default();
        let known = |finding: &Finding| before.iter().any(|other| same_finding(other, finding));
        answer.findings = findings(&new);
        answer.findings.retain(|finding| !known(finding));
    }
    answer.edited = Some(Edited {
        lines: edit.lines,
        diff: unified(&name, source.text(), &edit.text),
    });
    let Side {
        bound,
        sources,
        mut found,
    } = new;
    let known: Vec<&Diagnostic> = old.iter().flat_map(|old| &old.found).collect();
    // A review knows tools by the common prefix only.
    let foreign = authority.tool_prefix != DEFAULT_TOOL_PREFIX;
    found.retain(|new| {
        new.severity >= Severity::Warning
            && !(foreign && new.code == Code::UnreachableGrant)
            && !known.iter().any(|old| same_diagnostic(old, new))
    });
    let remarked = old.as_ref().map(|old| old.bound.remarks());
    let remarked = remarked.unwrap_or_default();
    let remarks = bound.remarks().iter();
    answer.remarks = remarks
        .filter(|remark| !remarked.contains(remark))
        .cloned()
        .collect();
    (answer.sources, answer.found) = (sources, found);
    if !args.dry_run {
        replace(&args.file, &set.bytes, edit.text.as_bytes())
            .map_err(|error| Problem::Unwritten(format!("cannot write `{name}`: {error}")))?;
    }
    Ok(answer)
}

/// The problem of rules that are therefore not written.
fn left_alone(args: &Edit, mut problem: Problem) -> Problem {
    if let Problem::Refused { message, .. } = &mut problem {
        *message = format!("`{}` is left as it is: {message}", args.file.display());
    }
    problem
}

/// Refuses what is most likely a slip.
fn sensible(args: &Edit, wish: Wish) -> Result<(), Problem> {
    let prefix = &args.authority.tool_prefix;
    let message = match (&*args.actor, &*args.tool) {
        ("", _) => "the actor is empty".to_owned(),
        (_, "") => "the tool is empty".to_owned(),
        (_, tool) if wish == Wish::Grant && !prefix.is_empty() => {
            match tool.strip_prefix(&**prefix) {
                None => return Ok(()),
                Some(bare) => format!(
                    "tools are named without the prefix `{prefix}`: write `{bare}`, or edit the file by hand if the \
                     tool's own name is `{tool}`"
                ),
            }
        }
        _ => return Ok(()),
    };
    Err(Problem::Usage(message))
}

/// That the new rules decide as asked, and all other pairs as before.
fn as_asked(args: &Edit, wish: Wish, old: Option<&Side>, new: &Side) -> Result<(), Problem> {
    let (actor, tool) = (&args.actor, &args.tool);
    let file = args.file.display();
    if new.allows(args) != (wish == Wish::Grant) {
        return Err(Problem::Usage(match new.clause(args) {
            Some(clause) => format!(
                "`{file}` is left as it is: without the fact `{actor}` could still run `{tool}`, by {}",
                quoted(&clause)
            ),
            None => {
                format!("`{file}` is left as it is: the decision would not be the one asked for")
            }
        }));
    }
    let (allowed, denied) = match old {
        Some(old) => {
            let diff = Diff::between(old.allowlist(), new.allowlist());
            (diff.allowed, diff.denied)
        }
        None => (new.allowlist().grants(), Vec::new()),
    };
    let asked = |pair: &&(&str, &str)| *pair != &(actor.as_str(), tool.as_str());
    let named = |(actor, tool): &(&str, &str), what: &str| format!("`{actor}` {what} `{tool}`");
    let others: Vec<String> = allowed
        .iter()
        .filter(asked)
        .map(|pair| named(pair, "could run"))
        .chain(
            denied
                .iter()
                .filter(asked)
                .map(|pair| named(pair, "could no longer run")),
        )
        .collect();
    if others.is_empty() {
        return Ok(());
    }
    let more = match others.len().checked_sub(MAX_NAMED) {
        Some(more @ 1..) => format!(" and {more} more"),
        _ => String::new(),
    };
    let shown: Vec<&str> = others.iter().take(MAX_NAMED).map(String::as_str).collect();
    Err(Problem::Usage(format!(
        "`{file}` is left as it is, since more would change: {}{more}; edit it by hand if that is meant",
        shown.join(", ")
    )))
}

/// Why there is no fact to remove.
fn not_by_a_fact(args: &Edit, old: Option<&Side>) -> Problem {
    let (actor, tool) = (&args.actor, &args.tool);
    let file = args.file.display();
    Problem::Usage(match old.and_then(|old| old.clause(args)) {
        Some(clause) => format!(
            "no fact of `{file}` lets `{actor}` run `{tool}`: it is granted by {}; horngate explain says why",
            quoted(&clause)
        ),
        None => format!("no fact of `{file}` lets `{actor}` run `{tool}`, but the rules do"),
    })
}

fn quoted(clause: &ClauseText) -> String {
    let text = tree::shortened(&clause.text, MAX_CLAUSE);
    format!("{}:{}: `{text}`", clause.file, clause.line)
}

fn same_diagnostic(old: &Diagnostic, new: &Diagnostic) -> bool {
    (old.code, &old.message) == (new.code, &new.message)
}

fn same_finding(old: &Finding, new: &Finding) -> bool {
    (old.kind, &old.actor, &old.tool, &old.message)
        == (new.kind, &new.actor, &new.tool, &new.message)
}

fn unified(name: &str, old: &str, new: &str) -> String {
    TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(2)
        .header(name, name)
        .to_string()
}

fn print_json(args: &Edit, answer: &Answer) -> io::Result<()> {
    let edited = answer.edited.as_ref();
    let warnings = answer.found.iter();
    json::print(&json::Edit {
        changed: edited.is_some() && !args.dry_run,
        fact: Some(&answer.fact),
        file: args.file.display().to_string(),
        lines: edited.map_or(&[], |edited| &edited.lines),
        diff: edited.map(|edited| edited.diff.as_str()),
        by: answer.by.as_ref().map(json::Clause::new),
        warnings: warnings
            .map(|found| json::Diagnostic::new(&answer.sources, found))
            .collect(),
        findings: answer
            .findings
            .iter()
            .map(|finding| json::Finding::new(finding, finding.list.as_deref(), None))
            .collect(),
        ..json::Edit::of(&args.actor, &args.tool)
    })
}

fn print_human(args: &Edit, wish: Wish, answer: &Answer) -> io::Result<()> {
    let (actor, tool) = (Printable(&args.actor), Printable(&args.tool));
    let file = args.file.display().to_string();
    let (already, done, plan) = match wish {
        Wish::Grant => ("may run", "granted", "would grant"),
        Wish::Revoke => ("may not run", "revoked", "would revoke"),
    };
    let Some(edited) = &answer.edited else {
        return json::stdout(|out| {
            writeln!(out, "nothing to do: `{actor}` {already} `{tool}` as it is")?;
            match &answer.by {
                Some(clause) => tree::line(out, "  by ", clause, tree::width()),
                None => Ok(()),
            }
        });
    };
    render::tell_diagnostics(&answer.sources, &answer.found);
    answer
        .remarks
        .iter()
        .for_each(|remark| render::tell(remark));
    for finding in &answer.findings {
        render::tell(&format!("warning: {finding}"));
        render::tell(&format!("  help: {}", finding.help));
    }
    json::stdout(|out| {
        for line in edited.diff.lines() {
            writeln!(out, "{}", Printable(line))?;
        }
        let what = if args.dry_run { plan } else { done };
        let lines: Vec<String> = edited.lines.iter().map(ToString::to_string).collect();
        let place = format!("{file}:{}", lines.join(","));
        writeln!(
            out,
            "{what}: {} at {}",
            Printable(&answer.fact),
            Printable(&place)
        )
    })
}
