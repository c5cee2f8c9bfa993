//! Rule files as texts.

use crate::{STEPS, budget, parts, text};
use horngate::explain::{Reference, Verifier, VerifyError, why, why_not};
use horngate::suite::{Suite, Verdict};
use horngate::{
    Allowlist, Answers, Code, FactEdit, Loader, Model, PredicateKey, Program, QueryError, Rulebase,
    Source, SourceId, Sources, compile, syntax,
};
use std::collections::BTreeSet;

/// Every text is read, and every place that is named lies in it.
pub fn parse(data: &[u8]) {
    let program = Program::parse([Source::from_bytes("a.pl", data.to_vec())]);
    check_places(program.sources(), program.diagnostics());
    let read = text(data);
    let source = Source::new("goal", &*read);
    let _ = syntax::parse_goal(SourceId::default(), &source);
}

fn check_places(sources: &Sources, found: &[horngate::Diagnostic]) {
    for found in found {
        let spans = found.labels.iter().map(|label| label.span);
        for span in std::iter::once(found.span).chain(spans) {
            let source = sources.get(span.source).expect("a source that there is");
            if source.has_text() {
                assert!(source.text().get(span.range()).is_some(), "{found:?}");
            }
            let (start, end) = (sources.start(span), sources.end(span));
            assert!(start <= end, "{found:?}");
        }
    }
}

fn clauses(text: &str) -> Vec<syntax::ClauseKind> {
    let program = Program::parse([Source::new("a.pl", text)]);
    assert_eq!(program.diagnostics(), [], "{text}");
    program
        .clauses()
        .map(|clause| clause.kind.clone())
        .collect()
}

/// What is laid out is read as the same clauses, and laid out again stays as it is.
pub fn format(data: &[u8]) {
    let source = Source::from_bytes("a.pl", data.to_vec());
    let Ok(once) = syntax::format(&source) else {
        let read = text(data);
        let program = Program::parse([source]);
        assert!(
            read.contains("op") || !program.diagnostics().is_empty(),
            "{read}"
        );
        return;
    };
    let twice = syntax::format(&Source::new("a.pl", &*once));
    assert_eq!(twice.as_deref(), Ok(&*once));
    assert_eq!(clauses(&once), clauses(source.text()));
}

/// The engine derives what the naive reference derives, and all that is said of the rules is said without a fault.
pub fn evaluate(data: &[u8]) {
    let texts = parts(data).take(3).enumerate();
    let sources = texts.map(|(at, part)| Source::from_bytes(format!("{at}.pl"), part.to_vec()));
    let checked = Rulebase::check(Program::parse_within(sources, &budget()));
    check_places(&checked.sources, &checked.diagnostics);
    if let Ok(rulebase) = &checked.rulebase {
        agree(rulebase, "");
        if let Ok(module) = compile::module(rulebase) {
            assert!(!module.is_empty());
        }
    }
    let review = checked.review(Some("may_execute_tool/2"), &budget());
    check_places(&review.sources, &review.diagnostics);
}

/// The model, if there is one within the budget; the reference has the same.
pub(crate) fn agree(rulebase: &Rulebase, shown: &str) -> Option<Model> {
    let model = rulebase.evaluate(&budget()).ok()?;
    if let Ok(reference) = Reference::derive(rulebase, STEPS) {
        let mut keys: Vec<_> = rulebase.predicates().collect();
        keys.sort();
        for key in keys {
            assert_eq!(
                model.tuples(key),
                reference.tuples(key),
                "{key} in\n{shown}"
            );
        }
    }
    Some(model)
}

/// Everything that can be said about a rulebase from outside.
fn said(rulebase: &Rulebase) -> Option<Vec<String>> {
    let model = rulebase.evaluate(&budget()).ok()?;
    let mut keys: Vec<_> = rulebase.predicates().cloned().collect();
    keys.sort();
    let said = keys.iter().map(|key| {
        let faults = rulebase.faults_of(key).into_iter();
        let faults: Vec<_> = faults
            .map(|fault| (fault.code, fault.span, &fault.message))
            .collect();
        let bound = Allowlist::bind(&model, &key.to_string());
        let doubts = bound
            .map(|bound| bound.doubts().to_vec())
            .unwrap_or_default();
        format!("{key}: {:?} {faults:?} {doubts:?}", model.tuples(key))
    });
    Some(said.collect())
}

/// Facts that are read on the fast path, in pieces of any size, are those that the grammar reads.
pub fn pieces(data: &[u8]) {
    let Some((size, data)) = data.split_first() else {
        return;
    };
    let mut loader = Loader::within(&budget());
    for (at, part) in parts(data).take(3).enumerate() {
        loader.begin(format!("{at}.pl"));
        for piece in part.chunks(usize::from(*size) + 1) {
            loader.feed(piece);
        }
    }
    let texts = parts(data).take(3).enumerate();
    let sources = texts.map(|(at, part)| Source::from_bytes(format!("{at}.pl"), part.to_vec()));
    let whole = Rulebase::check(Program::parse_within(sources, &budget())).rulebase;
    match (loader.finish(), whole) {
        (Ok(pieces), Ok(whole)) => assert_eq!(said(&pieces), said(&whole)),
        (Err(_), Err(_)) => {}
        (pieces, whole) => panic!("in pieces: {:?}, whole: {:?}", pieces.err(), whole.err()),
    }
}

type Said = Result<(Vec<String>, u64, Vec<Vec<String>>), Vec<horngate::Diagnostic>>;

/// What was answered; `None` when a budget ran out.
fn answer(answer: Result<Answers, QueryError>) -> Option<Said> {
    match answer {
        Ok(answers) => Some(Ok((
            answers.names().iter().map(ToString::to_string).collect(),
            answers.count(),
            answers.solutions(),
        ))),
        Err(error)
            if error
                .diagnostics
                .iter()
                .any(|found| found.code == Code::Budget) =>
        {
            None
        }
        Err(error) => Some(Err(error.diagnostics)),
    }
}

/// A goal is answered alike with and without a model, and what holds has a proof that stands up to the verifier.
pub fn goals(data: &[u8]) {
    if let Some((0xff, bytes)) = data.split_first() {
        if let Some((program, goals)) = crate::generated::program_and_goals(bytes) {
            for goal in goals {
                ask(&program, goal);
            }
        }
        return;
    }
    let mut parts = parts(data);
    let (Some(rules), Some(goal)) = (parts.next(), parts.next()) else {
        return;
    };
    ask(&text(rules), &text(goal));
}

fn ask(rules: &str, goal: &str) {
    let program = Program::parse_within([Source::new("a.pl", rules)], &budget());
    let Ok(rulebase) = Rulebase::check(program).rulebase else {
        return;
    };
    let Ok(model) = rulebase.evaluate(&budget()) else {
        return;
    };
    let known = answer(model.query(goal));
    let demanded = answer(rulebase.query(goal, &budget()));
    if let (Some(known), Some(demanded)) = (&known, &demanded) {
        assert_eq!(known, demanded, "{goal} in\n{rules}");
    }
    let Some(Ok((_, count, _))) = known else {
        return;
    };
    let _ = rulebase.probe(goal, &budget());
    match why(&model, goal) {
        Ok(None) => {
            assert_eq!(count, 0, "{goal} in\n{rules}");
            let denied = why_not(&model, goal).map(|found| found.is_some());
            assert!(denied.unwrap_or(true), "{goal} in\n{rules}");
        }
        Ok(Some(proof)) => {
            assert!(count > 0, "{goal} in\n{rules}");
            let verifier = Verifier::new(&rulebase).with_steps(STEPS);
            let hash = verifier.policy_hash().unwrap_or_default();
            match verifier.verify(&proof.to_json(&hash)) {
                Ok(_) | Err(VerifyError::Undecided(_)) => {}
                Err(error) => panic!("{error}: {goal} in\n{rules}"),
            }
        }
        Err(error) => panic!("{error}: {goal} in\n{rules}"),
    }
}

/// Tests of rule files get a verdict, the same each time, and coverage changes none.
pub fn suites(data: &[u8]) {
    let program = Program::parse_within([Source::from_bytes("a.pl", data.to_vec())], &budget());
    let suite = Suite::read(&program);
    let Ok(rulebase) = Rulebase::check(program).rulebase else {
        return;
    };
    let (plain, covered) = (
        suite.run(&rulebase, &budget()),
        suite.run_with_coverage(&rulebase, &budget()),
    );
    let (Ok(plain), Ok((report, coverage))) = (plain, covered) else {
        return;
    };
    assert_eq!(plain.results.len(), suite.len());
    let kind = |verdict: &Verdict| std::mem::discriminant(verdict);
    for (a, b) in plain.results.iter().zip(&report.results) {
        assert_eq!(kind(&a.verdict), kind(&b.verdict), "{a:?} {b:?}");
    }
    assert!(coverage.unused().len() <= coverage.clauses());
}

fn facts(text: &str, key: &PredicateKey) -> Option<BTreeSet<Vec<String>>> {
    let rulebase = Rulebase::load([Source::new("a.pl", text)]).ok()?;
    let model = rulebase.evaluate(&budget()).ok()?;
    Some(model.tuples(key)?.into_iter().collect())
}

/// A fact that is written into a text is the only one that is there more, and taken out it is gone.
pub fn edits(data: &[u8]) {
    let mut parts = parts(data);
    let (Some(first), Some(second)) = (parts.next(), parts.next()) else {
        return;
    };
    let Some(rules) = parts.next().filter(|rules| rules.len() < 2_000) else {
        return;
    };
    let (first, second, rules) = (text(first), text(second), text(rules));
    let key: PredicateKey = "may/2".parse().expect("a key");
    let arguments = [&*first, &*second];
    let source = Source::new("a.pl", &*rules);
    let fact = vec![
        syntax::quoted_atom(&first).to_string(),
        syntax::quoted_atom(&second).to_string(),
    ];
    let before = facts(&rules, &key);
    if let Ok(edit) = FactEdit::insert(&source, &key, arguments) {
        let old = clauses(&rules);
        let new = clauses(&edit.text);
        assert_eq!(new.len(), old.len() + 1, "{}", edit.text);
        if let (Some(mut before), Some(after)) = (before.clone(), facts(&edit.text, &key)) {
            before.insert(fact.clone());
            assert_eq!(before, after, "{}", edit.text);
        }
        let taken = FactEdit::remove(&Source::new("a.pl", &*edit.text), &key, arguments);
        let Ok(Some(taken)) = taken else {
            panic!("what was written is not found: {taken:?}");
        };
        let left: Vec<_> = clauses(&taken.text);
        assert!(left.len() <= old.len());
    }
    if let Ok(Some(edit)) = FactEdit::remove(&source, &key, arguments) {
        assert!(clauses(&edit.text).len() < clauses(&rules).len());
        // A rule may derive it still.
        if let (Some(before), Some(after)) = (before, facts(&edit.text, &key)) {
            assert!(after.is_subset(&before) || rules.contains("\\+"));
        }
    }
}
