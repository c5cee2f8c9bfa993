//! What compiled modules derive, beside what the engine derives from the same rules and facts.
//!
//! The long run: `HORNGATE_COMPILED=100 cargo test -p horngate-compile-tests`.
#![expect(
    clippy::allow_attributes,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking; the modules are generated"
)]

use horngate::compiled::{Derived, Mismatch, Predicate};
use horngate::{Budget, Code, Loader, PredicateKey, QueryError, Refused, Rulebase, Source};

/// One compiled module.
struct Compiled {
    name: &'static str,
    /// The rules, with their facts.
    rules: &'static str,
    load: fn(Vec<Source>) -> Result<Rulebase, Refused>,
    evaluate: fn(&Rulebase) -> Result<Derived, Mismatch>,
}

include!(concat!(env!("OUT_DIR"), "/modules.rs"));

fn load(rules: &str) -> Rulebase {
    Rulebase::load([Source::new("rules.pl", rules)]).unwrap()
}

/// The clauses of a generated program that are facts; each has a line of its own.
fn facts(program: &str) -> String {
    program
        .lines()
        .filter(|line| !line.contains(":-"))
        .flat_map(|line| [line, "\n"])
        .collect()
}

fn is_generated(compiled: &&Compiled) -> bool {
    compiled.name.starts_with("generated_")
}

/// Compares all predicates of the rulebase, and says how many tuples there were, and how many predicates were refused though
/// the engine has a model.
fn compare(compiled: &Compiled, rulebase: &Rulebase) -> (usize, usize) {
    let model = rulebase.evaluate(&Budget::default()).unwrap();
    let derived = (compiled.evaluate)(rulebase).unwrap();
    let (mut tuples, mut refused) = (0, 0);
    for key in rulebase.predicates() {
        match (derived.tuples(key), model.tuples(key)) {
            (Ok(ours), Some(theirs)) => {
                assert_eq!(ours, theirs, "{key} of {}", compiled.name);
                assert_eq!(derived.count(key).unwrap(), theirs.len());
                tuples += ours.len();
            }
            (Ok(_), None) => panic!("{key} of {} has no model", compiled.name),
            // The engine may stop before it comes to what has no value.
            (Err(error), Some(_)) if error.diagnostics[0].code == Code::Evaluation => refused += 1,
            (Err(error), Some(_)) => panic!("{key} of {}: {error}", compiled.name),
            (Err(_), None) => {}
        }
    }
    (tuples, refused)
}

#[test]
fn every_tuple_is_the_engines() {
    let mut refused = 0;
    for compiled in ALL {
        let (tuples, fewer) = compare(compiled, &load(compiled.rules));
        refused += fewer;
        assert!(tuples > 0, "{}", compiled.name);
    }
    assert!(refused * 50 <= ALL.len(), "{refused}");
    assert!(ALL.iter().filter(is_generated).count() >= 12);
}

/// Facts that the module has never seen, loaded with its own rules.
#[test]
fn facts_of_other_programs_give_the_engines_tuples() {
    let (mut tuples, mut refused) = (0, 0);
    for compiled in ALL.iter().filter(is_generated) {
        for other in ALL.iter().filter(is_generated) {
            let facts = Source::new("facts.pl", facts(other.rules));
            let rulebase = (compiled.load)(vec![facts]).unwrap();
            let (more, fewer) = compare(compiled, &rulebase);
            tuples += more;
            refused += fewer;
        }
    }
    println!("{tuples} tuples, {refused} predicates refused");
    assert!(tuples > 1_000 && refused * 100 < tuples);
}

#[test]
fn the_shipped_rules_decide() {
    let derived =
        governance::evaluate(&load(include_str!("../../../rules/governance.pl"))).unwrap();
    let holds = |atoms| {
        derived
            .holds(governance::MAY_EXECUTE_TOOL_2, atoms)
            .unwrap()
    };
    assert!(holds(["U:Qa", "tool_repl"]));
    assert!(!holds(["U:Qa", "tool_remote_trigger"]));
    assert!(
        !holds(["U:Qa", "repl"]) && !holds(["'U:Qa'", "tool_repl"]),
        "atoms, not Prolog"
    );
    assert!(!holds(["NOBODY", "tool_rm_rf_slash"]));
    assert_eq!(
        derived
            .count(&governance::MAY_EXECUTE_TOOL_2.key())
            .unwrap(),
        7
    );
    let permissive = PredicateKey::new("may_execute", 2);
    let error = derived.tuples(&permissive).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("no predicate that the module was compiled for"),
        "{error}"
    );
}

#[test]
fn facts_are_loaded_at_run_time() {
    let facts = "
        tool_guard(tool_x, confirm). level_needs(confirm, operator). includes(admin, operator).
        actor_role(root, admin). refused(root, tool_y). given(root, tool_y). given(guest, tool_y).
    ";
    let rulebase = roles::load([Source::new("facts.pl", facts)]).unwrap();
    let derived = roles::evaluate(&rulebase).unwrap();
    assert_eq!(
        derived.tuples(&roles::MAY_EXECUTE_TOOL_2.key()).unwrap(),
        [["guest", "tool_y"], ["root", "tool_x"]]
    );
}

#[test]
fn facts_are_read_piece_by_piece() {
    let mut loader = Loader::new();
    for (name, text) in roles::RULES {
        loader.begin(*name);
        loader.feed(text.as_bytes());
    }
    loader.begin("facts.pl");
    for number in 0..1_000 {
        loader.feed(format!("given(actor_{number}, tool_x).\n").as_bytes());
    }
    loader.feed(b"level_needs(none, viewer). includes(admin, viewer). refused(actor_7, tool_x).");
    let derived = roles::evaluate(&loader.finish().unwrap()).unwrap();
    let key = roles::MAY_EXECUTE_TOOL_2.key();
    assert_eq!(derived.count(&key).unwrap(), 999);
    assert!(
        derived
            .holds(roles::MAY_EXECUTE_TOOL_2, ["actor_999", "tool_x"])
            .unwrap()
    );
}

/// What a fact file lacks or gets wrong is an error of what depends on it, as it is for the engine.
#[test]
fn facts_that_do_not_fit_deny() {
    let holds = |facts: &str| -> Result<bool, QueryError> {
        let rulebase = roles::load([Source::new("facts.pl", facts)]).unwrap();
        let derived = roles::evaluate(&rulebase).unwrap();
        derived.holds(roles::MAY_EXECUTE_TOOL_2, ["ann", "tool_x"])
    };
    let enough = "level_needs(none, viewer). includes(admin, viewer). given(ann, tool_x).";
    assert!(holds(enough).unwrap());
    let codes = |facts: &str| -> Vec<Code> {
        let error = holds(facts).unwrap_err();
        error.diagnostics.iter().map(|found| found.code).collect()
    };
    let missing = "level_needs(none, viewer). given(ann, tool_x).";
    assert_eq!(
        codes(missing),
        [Code::UndefinedCall],
        "nothing defines includes/2"
    );
    assert_eq!(
        codes(&format!("{enough} given(Ann, tool_x).")),
        [Code::OpenFact]
    );
    assert_eq!(
        codes(&format!("{enough} has_role(ann, admin).")),
        [Code::SplitDefinition],
        "a derived predicate that is not multifile"
    );
    assert!(roles::load([Source::new("facts.pl", "given(ann, tool_x")]).is_err());
}

#[test]
fn facts_of_derived_predicates_count_where_they_are_multifile() {
    let facts = ":- multifile reach/2. reach(x, y). reach(y, z).";
    let rulebase = control::load([Source::new("facts.pl", facts)]).unwrap();
    let derived = control::evaluate(&rulebase).unwrap();
    assert!(derived.holds(control::REACH_2, ["x", "z"]).unwrap());
}

#[test]
fn other_rules_are_refused() {
    let rules = include_str!("../../../rules/roles/roles.pl");
    assert!(roles::evaluate(&load(rules)).is_ok());
    let changes = [
        (
            "a literal less",
            rules.replace(
                "    given(Actor, Tool),\n    \\+ refused",
                "    \\+ \\+ given(Actor, Tool), given(Actor, Tool),\n    \\+ refused",
            ),
        ),
        (
            "a rule less",
            rules.replacen(
                "has_role(Actor, Role) :-\n    actor_role(Actor, Role).\n",
                "",
                1,
            ),
        ),
        (
            "a rule more",
            format!(
                "{rules}\nmay_execute_tool(Actor, _) :- has_role(Actor, admin), \\+ refused(Actor, _), 1 = 2.\n"
            ),
        ),
        (
            "a rule for what had facts only",
            format!("{rules}\ngiven(Actor, tool_x) :- actor_role(Actor, admin).\n"),
        ),
        ("no rules", "given(ann, tool_x).".to_owned()),
    ];
    for (what, changed) in changes {
        assert_ne!(changed, rules);
        let error = roles::evaluate(&load(&changed)).unwrap_err();
        assert!(matches!(error, Mismatch::Rules(_)), "{what}: {error}");
    }
    let spaces = rules.replace("given(Actor, Tool)", "given( Actor,Tool )");
    assert!(
        roles::evaluate(&load(&spaces)).is_ok(),
        "layout is nothing to refuse"
    );
}

#[test]
fn what_must_not_be_asked_is_no_answer() {
    let rules = |name: &str| load(ALL.iter().find(|one| one.name == name).unwrap().rules);
    let derived = terms::evaluate(&rules("terms")).unwrap();
    assert_eq!(derived.count(&terms::TESTED_FIRST_1.key()).unwrap(), 2);
    let error = derived.holds(terms::TESTED_FIRST_1, ["ann"]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("arithmetic with what the call brings"),
        "{error}"
    );

    let derived = module::evaluate(&rules("module")).unwrap();
    assert!(derived.holds(module::SHOWN_1, ["a"]).unwrap());
    let error = derived
        .holds(Predicate::<1>::new("hidden"), ["a"])
        .unwrap_err();
    assert_eq!(error.diagnostics[0].code, Code::PrivateCall);
    assert!(
        derived
            .holds(Predicate::<2>::new("shown"), ["a", "b"])
            .is_err()
    );
}

#[test]
fn what_has_no_value_is_no_answer() {
    let derived = terms::evaluate(&load(
        ALL.iter().find(|one| one.name == "terms").unwrap().rules,
    ))
    .unwrap();
    for (name, place) in [
        ("broken", "item(X), X > 1"),
        ("broken_too", "item(X), X > 1"),
        ("broken_late", "L - 1"),
        ("broken_list", "memberchk(a, X)"),
    ] {
        let error = derived.tuples(&PredicateKey::new(name, 1)).unwrap_err();
        let found = &error.diagnostics[0];
        assert_eq!(found.code, Code::Evaluation, "{name}");
        assert!(
            error.sources.text(found.span).contains(place),
            "{name}: {}",
            found.message
        );
    }
    assert!(derived.holds(terms::FINE_1, ["ann"]).unwrap());
}
