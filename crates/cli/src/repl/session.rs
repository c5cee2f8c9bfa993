//! The rules that the REPL asks, and the answer to one line.
//!
//! Nothing here reads a terminal.

use crate::args::{Authority, Repl};
use crate::printable::Printable;
use crate::problem::Problem;
use crate::watch::Seen;
use crate::{grants, guard, json, query, render, rules, tree};
use horngate::explain::{Explainer, Proof, WhyNot};
use horngate::syntax::{self, Term};
use horngate::{Answers, Budget, PredicateKey, Rulebase, Severity, Source, SourceId};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The commands: the name, what is behind it, and what it does.
pub(crate) const COMMANDS: &[(&str, &str, &str)] = &[
    (
        ":why",
        "GOAL",
        "why the goal holds: the proof of its first solution",
    ),
    (
        ":whynot",
        "GOAL",
        "why it does not: how far clauses get, and what is missing",
    ),
    (":more", "", "the next solutions; `;` says the same"),
    (
        ":probe",
        "GOAL",
        "a ground goal on a predicate that holds for actors nobody registered; no decision",
    ),
    (":grants", "[ACTOR]", "who may run what"),
    (":load", "PATH", "a rule file or folder more"),
    (":reload", "", "the rule files once more"),
    (":help", "", "this list"),
    (":quit", "", "the end; so are Ctrl-D and `halt`"),
];

/// What comes after a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Line,
    Quit,
}

/// Solutions of which not all were shown.
struct Rest {
    answers: Answers,
    shown: usize,
}

pub(crate) struct Session {
    paths: Vec<PathBuf>,
    authority: Authority,
    budget: Budget,
    timeout: Option<Duration>,
    limit: usize,
    /// The rules, unless they are refused.
    rulebase: Option<Rulebase>,
    loads: usize,
    /// What the files showed before they were read.
    seen: Option<Seen>,
    rest: Option<Rest>,
    failed: bool,
}

/// A goal explained.
enum Explained {
    Why(Proof),
    WhyNot(WhyNot),
    /// It is as `:why` or `:whynot` does not expect.
    Otherwise,
}

impl Session {
    pub(crate) fn new(args: &Repl) -> Self {
        Self {
            paths: args.paths.clone(),
            authority: args.authority.clone(),
            budget: args.limits.budget(),
            timeout: args.limits.timeout,
            limit: args.limit.get(),
            rulebase: None,
            loads: 0,
            seen: None,
            rest: None,
            failed: false,
        }
    }

    /// The rules, unless they are refused.
    pub(crate) fn rulebase(&self) -> Option<&Rulebase> {
        self.rulebase.as_ref()
    }

    /// How often rules were loaded.
    pub(crate) fn loads(&self) -> usize {
        self.loads
    }

    /// Whether any line had no answer.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Says why a line has no answer.
    pub(crate) fn fail(&mut self, message: &str) {
        self.failed = true;
        render::tell(&format!("error: {message}"));
    }

    fn refuse(&mut self, problem: &Problem) {
        self.failed = true;
        problem.print();
    }

    /// Reads the rules for the first time.
    pub(crate) fn start(&mut self) {
        self.reload();
    }

    /// Answers a line.
    pub(crate) fn line(&mut self, line: &str) -> io::Result<Next> {
        let line = line.trim();
        let (command, rest) = match line.split_once(char::is_whitespace) {
            Some((command, rest)) => (command, rest.trim()),
            None => (line, ""),
        };
        match command {
            "" => {}
            ";" | ":more" => self.more()?,
            ":why" => self.explain(rest, true)?,
            ":whynot" => self.explain(rest, false)?,
            ":probe" => self.probe(rest)?,
            ":grants" => self.grants(rest)?,
            ":load" => self.load(rest),
            ":reload" => self.reload(),
            ":help" | ":h" | ":?" => help()?,
            ":quit" | ":q" => return Ok(Next::Quit),
            _ if matches!(line, "halt" | "halt.") => return Ok(Next::Quit),
            _ if line.starts_with(':') && !line.starts_with(":-") => {
                self.fail(&format!("there is no command `{command}`: see `:help`"));
            }
            // As in a rule file.
            _ if line.starts_with('%') => {}
            _ => self.ask(line)?,
        }
        Ok(Next::Line)
    }

    fn reload(&mut self) {
        self.rest = None;
        self.seen = Seen::now(&self.paths).ok();
        let (paths, budget) = (self.paths.clone(), self.budget.clone());
        match guard::run(self.timeout, move || rules::whole(&paths, &budget)) {
            Ok(rulebase) => {
                self.take(rulebase);
            }
            Err(problem) => {
                self.rulebase = None;
                self.refuse(&problem);
                render::tell("note: nothing is loaded; `:reload` reads the rules once more");
            }
        }
    }

    fn take(&mut self, rulebase: Rulebase) {
        tell_loaded(&rulebase);
        self.rulebase = Some(rulebase);
        self.loads += 1;
    }

    fn load(&mut self, path: &str) {
        if path.is_empty() {
            return self.fail("`:load` wants a path");
        }
        let mut paths = self.paths.clone();
        paths.push(PathBuf::from(path));
        let seen = Seen::now(&paths).ok();
        let (wanted, budget) = (paths.clone(), self.budget.clone());
        match guard::run(self.timeout, move || rules::whole(&wanted, &budget)) {
            Ok(rulebase) => {
                (self.paths, self.seen, self.rest) = (paths, seen, None);
                self.take(rulebase);
            }
            Err(problem) => {
                self.refuse(&problem);
                render::tell(&format!(
                    "note: `{path}` is not loaded; the rules are those before"
                ));
            }
        }
    }

    /// The rules to ask, or that there are none.
    fn loaded(&mut self) -> Option<Rulebase> {
        let rulebase = self.rulebase.clone();
        match &rulebase {
            Some(_) => self.tell_changes(),
            None => self.fail("no rules are loaded; `:reload` reads them once more"),
        }
        rulebase
    }

    /// Says once that the files are not what was read.
    fn tell_changes(&mut self) {
        let Some(seen) = &self.seen else { return };
        if !Seen::now(&self.paths).is_ok_and(|now| now.shows_the_same(seen)) {
            render::tell("note: the rule files have changed; `:reload` reads them once more");
            self.seen = None;
        }
    }

    fn ask(&mut self, goal: &str) -> io::Result<()> {
        self.rest = None;
        let Some(rulebase) = self.loaded() else {
            return Ok(());
        };
        let (own, budget) = (goal.to_owned(), self.budget.clone());
        let asked = rulebase.clone();
        let answers = guard::run(self.timeout, move || {
            let answers = asked.query(&own, &budget)?;
            // To sort many is work that the clock should see.
            drop(answers.iter());
            Ok(answers)
        });
        match answers {
            Ok(answers) if answers.names().is_empty() || !answers.holds() => {
                let word = if answers.holds() { "yes" } else { "no" };
                json::stdout(|out| writeln!(out, "{word}"))
            }
            Ok(answers) => self.show(Rest { answers, shown: 0 }),
            Err(problem) => {
                self.refuse(&problem);
                if permissive(&rulebase, goal) {
                    render::tell("help: `:probe` answers it if it is ground; that is no decision");
                }
                Ok(())
            }
        }
    }

    fn more(&mut self) -> io::Result<()> {
        match self.rest.take() {
            Some(rest) => self.show(rest),
            None => {
                self.fail("there is no more to show");
                Ok(())
            }
        }
    }

    /// Shows the next solutions.
    fn show(&mut self, mut rest: Rest) -> io::Result<()> {
        let from = rest.shown;
        json::stdout(|out| query::write_rows(out, &rest.answers, from, self.limit))?;
        rest.shown = from.saturating_add(self.limit);
        let count = usize::try_from(rest.answers.count()).unwrap_or(usize::MAX);
        if let Some(more @ 1..) = count.checked_sub(rest.shown) {
            json::stdout(|out| writeln!(out, "… {more} more, sorted: `:more` or `;`"))?;
            self.rest = Some(rest);
        }
        Ok(())
    }

    fn explain(&mut self, goal: &str, expected: bool) -> io::Result<()> {
        if goal.is_empty() {
            self.fail("a goal is wanted, as in `:why may_execute_tool(Who, Tool)`");
            return Ok(());
        }
        let Some(rulebase) = self.loaded() else {
            return Ok(());
        };
        let (own, budget) = (goal.to_owned(), self.budget.clone());
        let explained = guard::run(self.timeout, move || {
            explained(&rulebase, &own, expected, &budget)
        });
        let goal = Printable(goal);
        match explained {
            Ok(Explained::Why(proof)) => json::stdout(|out| tree::proof(out, &proof)),
            Ok(Explained::WhyNot(why_not)) => {
                json::stdout(|out| tree::why_not(out, &why_not))?;
                if why_not.is_exhausted() {
                    render::tell(
                        "note: the search came to its limits: more may be missing, or less",
                    );
                }
                Ok(())
            }
            Ok(Explained::Otherwise) => json::stdout(|out| match expected {
                true => writeln!(out, "it does not hold: `:whynot {goal}` says why"),
                false => writeln!(out, "it holds: `:why {goal}` says why"),
            }),
            Err(problem) => {
                self.refuse(&problem);
                Ok(())
            }
        }
    }

    fn probe(&mut self, goal: &str) -> io::Result<()> {
        if goal.is_empty() {
            self.fail("a goal is wanted, as in `:probe may_execute('NOBODY', nothing)`");
            return Ok(());
        }
        let Some(rulebase) = self.loaded() else {
            return Ok(());
        };
        let (own, budget) = (goal.to_owned(), self.budget.clone());
        let probed = guard::run(self.timeout, move || Ok(rulebase.probe(&own, &budget)?));
        match probed {
            Ok(probed) => json::stdout(|out| query::write_probed(out, probed)),
            Err(problem) => {
                self.refuse(&problem);
                Ok(())
            }
        }
    }

    fn grants(&mut self, actor: &str) -> io::Result<()> {
        let Some(rulebase) = self.loaded() else {
            return Ok(());
        };
        let (authority, budget) = (self.authority.clone(), self.budget.clone());
        let bound = guard::run(self.timeout, move || {
            rules::bound(&rulebase, &authority, &budget)
        });
        match bound {
            Ok(bound) => {
                bound.tell();
                let actor = (!actor.is_empty()).then_some(actor);
                grants::table(&grants::pairs(&bound, actor, None))
            }
            Err(problem) => {
                self.refuse(&problem);
                Ok(())
            }
        }
    }
}

fn explained(
    rulebase: &Rulebase,
    goal: &str,
    expected: bool,
    budget: &Budget,
) -> Result<Explained, Problem> {
    let model = query::model(rulebase, goal, budget)?;
    let mut explainer = Explainer::new(&model);
    if !expected {
        return Ok(match explainer.why_not(goal)? {
            Some(why_not) => Explained::WhyNot(why_not),
            None => Explained::Otherwise,
        });
    }
    Ok(match explainer.why(goal)? {
        Some(proof) => Explained::Why(proof),
        None => Explained::Otherwise,
    })
}

/// Whether a goal asks a predicate that only a probe can be about.
fn permissive(rulebase: &Rulebase, goal: &str) -> bool {
    let term = syntax::parse_goal(SourceId::default(), &Source::new("goal", goal)).ok();
    let functor = term.as_ref().and_then(Term::functor);
    functor.is_some_and(|(name, arity)| rulebase.is_permissive(&PredicateKey::new(name, arity)))
}

fn tell_loaded(rulebase: &Rulebase) {
    let count = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    let files = count(rulebase.sources().iter().count(), "file");
    let predicates = count(rulebase.predicates().count(), "predicate");
    let faults = rulebase.diagnostics().iter();
    let faults = match faults
        .filter(|found| found.severity == Severity::Error)
        .count()
    {
        0 => String::new(),
        faults => format!(", {}: see horngate check", count(faults, "fault")),
    };
    render::tell(&format!("note: {files} with {predicates}{faults}"));
}

fn help() -> io::Result<()> {
    json::stdout(|out| {
        let goal = "its solutions, sorted; the end dot may be missing";
        writeln!(out, "{:17} {goal}", "GOAL")?;
        for (name, argument, what) in COMMANDS {
            writeln!(out, "{:17} {what}", format!("{name} {argument}"))?;
        }
        Ok(())
    })
}
