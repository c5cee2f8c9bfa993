//! `horngate query`: all solutions of a goal.
//!
//! Nothing here is a decision, a permissive probe least of all.

use crate::args::{Format, Query};
use crate::outcome::Outcome;
use crate::printable::Printable;
use crate::problem::Problem;
use crate::{guard, json, render, rules};
use horngate::syntax::{self, Term, TermKind};
use horngate::{Answers, Budget, Model, PredicateKey, Probed, Rulebase, Source, SourceId};
use std::io::{self, Write};

/// What a goal gave.
enum Answer {
    Solutions(Box<Answers>),
    /// It is no decision: see [`Rulebase::probe`].
    Probed(Probed),
}

impl Answer {
    fn count(&self) -> u64 {
        match self {
            Self::Solutions(answers) => answers.count(),
            Self::Probed(probed) => u64::from(probed.holds()),
        }
    }
}

pub(crate) fn run(args: &Query) -> io::Result<Outcome> {
    let (paths, budget) = (args.rules.paths.clone(), args.limits.budget());
    let (goal, permissive, shown) = (args.goal.clone(), args.permissive, !args.count);
    let answer = guard::run(args.limits.timeout, move || {
        let answer = rules::with(&paths, &budget, |rulebase| {
            answer(rulebase, &goal, permissive, &budget)
        })?;
        if let Answer::Solutions(answers) = &answer
            && shown
        {
            // To sort many is work that the clock should see.
            drop(answers.iter());
        }
        Ok(answer)
    });
    let answer = match answer {
        Ok(answer) => answer,
        Err(problem) => return no_answer(args, &problem),
    };
    match args.format {
        Format::Json => print_json(args, &answer)?,
        Format::Human => print_human(args, &answer)?,
    }
    Ok(Outcome::of(answer.count() > 0))
}

fn answer(
    rulebase: &Rulebase,
    goal: &str,
    permissive: bool,
    budget: &Budget,
) -> Result<Answer, Problem> {
    // A goal that does not parse is asked all the same: that says why.
    let term = syntax::parse_goal(SourceId::default(), &Source::new("goal", goal)).ok();
    if permissive
        && let Some((name, arity)) = term.as_ref().and_then(Term::functor)
        && rulebase.is_permissive(&PredicateKey::new(name, arity))
    {
        return Ok(Answer::Probed(rulebase.probe(goal, budget)?));
    }
    let answers = rulebase.query(goal, budget)?;
    rules::keep(rulebase);
    rules::keep(&answers);
    Ok(Answer::Solutions(Box::new(answers)))
}

/// The model of all that the goal may call.
pub(crate) fn model(rulebase: &Rulebase, goal: &str, budget: &Budget) -> Result<Model, Problem> {
    // A goal that does not parse calls nothing.
    let mut keys = Vec::new();
    if let Ok(term) = syntax::parse_goal(SourceId::default(), &Source::new("goal", goal)) {
        mentioned(&term, &mut keys);
    }
    rulebase
        .evaluate_slice(&keys, budget)
        .map_err(|exceeded| Problem::budget(rulebase.sources(), &exceeded))
}

/// All that looks like a predicate in the goal: at least the predicates that it calls.
fn mentioned(term: &Term, keys: &mut Vec<PredicateKey>) {
    if let Some((name, arity)) = term.functor() {
        keys.push(PredicateKey::new(name, arity));
    }
    match &term.kind {
        TermKind::Compound(_, parts)
        | TermKind::Conjunction(parts)
        | TermKind::Disjunction(parts) => {
            parts.iter().for_each(|part| mentioned(part, keys));
        }
        _ => {}
    }
}

fn no_answer(args: &Query, problem: &Problem) -> io::Result<Outcome> {
    match args.format {
        Format::Human => problem.print(),
        Format::Json => json::print(&json::QueryProblem {
            goal: &args.goal,
            error: problem.json().into_iter().next(),
        })?,
    }
    Ok(Outcome::NoAnswer)
}

fn print_json(args: &Query, answer: &Answer) -> io::Result<()> {
    let count = answer.count();
    json::print(&json::Query {
        goal: &args.goal,
        count,
        holds: count > 0,
        solutions: (!args.count).then(|| json::Solutions {
            answers: shown(args, answer),
            limit: args.limit.unwrap_or(usize::MAX),
        }),
        permissive: matches!(answer, Answer::Probed(_)).then_some(true),
    })
}

fn print_human(args: &Query, answer: &Answer) -> io::Result<()> {
    let count = answer.count();
    let answers = shown(args, answer);
    let limit = args.limit.unwrap_or(usize::MAX);
    let probed = matches!(answer, Answer::Probed(_));
    json::stdout(|out| {
        if args.count {
            return writeln!(out, "{count}");
        }
        match (probed, count) {
            (true, count) => return write_verdict(out, count > 0),
            (false, 0) => return writeln!(out, "no"),
            _ => {}
        }
        let Some(answers) = answers else {
            return writeln!(out, "yes");
        };
        write_rows(out, answers, 0, limit)
    })?;
    if probed && args.count {
        render::tell("note: this is a permissive probe, not a decision");
    }
    if answers.is_some() && (limit as u64) < count {
        render::tell(&format!("note: {limit} of {count} solutions are shown"));
    }
    Ok(())
}

/// Writes at most `count` solutions from the one at `from` on, one a line.
pub(crate) fn write_rows(
    out: &mut dyn Write,
    answers: &Answers,
    from: usize,
    count: usize,
) -> io::Result<()> {
    for row in answers.iter().skip(from).take(count) {
        for (at, (name, value)) in answers.names().iter().zip(&row).enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(out, "{comma}{} = {}", Printable(name), Printable(value))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Writes what a probe found.
pub(crate) fn write_probed(out: &mut dyn Write, probed: Probed) -> io::Result<()> {
    write_verdict(out, probed.holds())
}

fn write_verdict(out: &mut dyn Write, holds: bool) -> io::Result<()> {
    let verdict = if holds { "holds" } else { "does not hold" };
    writeln!(out, "{verdict} (permissive probe: not a decision)")
}

/// The answers whose solutions are to be shown, if they have any names.
fn shown<'a>(args: &Query, answer: &'a Answer) -> Option<&'a Answers> {
    match answer {
        Answer::Solutions(answers) if !args.count && !answers.names().is_empty() => Some(answers),
        _ => None,
    }
}
