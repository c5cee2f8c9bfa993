//! What the shipped rules grant, what they must never grant, and that nothing can be re-pointed in silence.

use horngate::{
    Allowlist, Budget, Code, Decision, DenyReason, Model, PredicateKey, Program, Rulebase,
    Severity, Source,
};
use std::path::{Path, PathBuf};

pub fn rules(name: &str) -> Source {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("rules")
        .join(name);
    Source::new(name, std::fs::read_to_string(path).unwrap())
}

fn model(sources: impl IntoIterator<Item = Source>) -> Model {
    let rulebase = Rulebase::load(sources).unwrap_or_else(|error| panic!("{error}"));
    rulebase.evaluate(&Budget::default()).unwrap()
}

fn text(text: &str) -> Source {
    Source::new("test.pl", text)
}

fn bind(model: &Model) -> Allowlist {
    Allowlist::bind(model, "may_execute_tool/2").unwrap()
}

const GRANTS: [(&str, &str); 7] = [
    ("J:Junior", "repl"),
    ("J:Junior", "run_shell"),
    ("U:Cd", "run_shell"),
    ("U:PM", "remote_trigger"),
    ("U:Qa", "repl"),
    ("U:Qa", "run_shell"),
    ("U:SD", "repl"),
];

#[test]
fn the_seven_grants_allow_and_every_other_pair_denies() {
    let model = model([rules("governance.pl")]);
    let gate = bind(&model);
    assert_eq!(gate.grants(), GRANTS);
    let actors = [
        "U:Qa", "J:Junior", "U:SD", "U:Cd", "U:PM", "U:Ux", "NOBODY", "attacker", "",
    ];
    let tools = [
        "repl",
        "run_shell",
        "remote_trigger",
        "rm_rf_slash",
        "exfiltrate_secrets",
        "",
        "tool_repl",
    ];
    for actor in actors {
        for tool in tools {
            let granted = GRANTS.contains(&(actor, tool));
            let reason = match gate.decide(actor, tool) {
                Decision::Allow(_) => None,
                Decision::Deny(denial) => Some(denial.reason),
            };
            let expected = if granted {
                None
            } else if !GRANTS.iter().any(|(known, _)| *known == actor) {
                Some(DenyReason::UnknownActor)
            } else if !GRANTS.iter().any(|(_, known)| *known == tool) {
                Some(DenyReason::UnknownTool)
            } else {
                Some(DenyReason::NotGranted)
            };
            assert_eq!(reason, expected, "{actor} {tool}");
        }
    }
}

/// `may_execute/2` looks like the natural allowlist and allows everything: it holds for the very pair that the
/// strict predicate denies, and it can never be bound.
#[test]
fn the_strict_and_the_permissive_predicate_disagree_and_only_the_strict_one_binds() {
    let model = model([rules("governance.pl")]);
    let rulebase = model.rulebase();
    for goal in [
        "may_execute('NOBODY', rm_rf_slash)",
        "may_execute(attacker, exfiltrate_secrets)",
    ] {
        assert!(
            rulebase.probe(goal, &Budget::default()).unwrap().holds(),
            "{goal}"
        );
    }
    let gate = bind(&model);
    assert!(!gate.decide("NOBODY", "rm_rf_slash").is_allow());
    assert!(!gate.decide("attacker", "exfiltrate_secrets").is_allow());

    let refused = Allowlist::bind(&model, "may_execute/2").unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("holds for any actor and action"),
        "{refused}"
    );
    assert!(model.query("may_execute('NOBODY', rm_rf_slash)").is_err());
}

/// Checking shows the trap, and what really stands between an agent and a tool.
#[test]
fn checking_shows_what_the_shipped_rules_rest_on() {
    let checked = Rulebase::check(Program::parse([rules("governance.pl")]));
    let rulebase = checked.rulebase.clone().unwrap();
    let review = checked.review(Some("may_execute_tool/2"), &Budget::default());
    let of = |code: Code, part: &str| {
        let found = review.diagnostics.iter();
        let mut found = found.filter(|found| found.code == code && found.message.contains(part));
        found.next().unwrap_or_else(|| panic!("{code}: {part}"))
    };
    let witness = of(
        Code::DefaultAllow,
        "`may_execute(nobody, anything)` holds, though these names occur nowhere",
    );
    assert_eq!(witness.predicate.as_deref(), Some("may_execute/2"));
    let probed = rulebase.probe("may_execute(nobody, anything)", &Budget::default());
    assert!(probed.unwrap().holds());
    of(
        Code::VacuousNegation,
        "`agent_action_blocked/2` can never hold",
    );
    let basis = review.basis.unwrap();
    assert_eq!(basis.facts, [("may_execute_tool/2".parse().unwrap(), 7)]);
    assert_eq!((basis.absences.len(), basis.widened_by.len()), (0, 0));
    let all = review.diagnostics.iter();
    assert!(
        all.map(|found| found.severity)
            .all(|one| one == Severity::Note)
    );
}

/// A relation of requests in front of the same negations makes the rule safe and leaves it what it was.
#[test]
fn the_ranged_variant_binds_and_is_known_to_allow_whatever_is_asked() {
    let model_of = |rules: &str| model([text(rules)]);
    let asked = rules("permissive/asked.pl");
    let bound = Allowlist::bind_with_prefix(&model_of(asked.text()), "may_execute/2", "").unwrap();
    assert!(!bound.decide("X", "y").is_allow());
    assert!(!bound.grants().is_empty());
    let [doubt] = bound.doubts() else {
        panic!("{:?}", bound.doubts())
    };
    assert_eq!(doubt.code, Code::DefaultAllow);
    assert!(doubt.code.is_doubt());
    assert!(
        doubt
            .message
            .contains("with `asked(nobody, anything)`, `may_execute(nobody, anything)` holds")
    );
    assert!(!bound.decide("nobody", "anything").is_allow());

    let more = model_of(&format!("{}asked(nobody, anything).\n", asked.text()));
    let more = Allowlist::bind_with_prefix(&more, "may_execute/2", "").unwrap();
    assert!(more.decide("nobody", "anything").is_allow());
}

/// What a comment in the rules says is said by whoever writes the rules, and not by who builds a gate on them.
#[test]
fn no_comment_takes_a_doubt_from_an_allowlist() {
    let rules = "
        agent(ann). tool(tool_x).
        % horngate: allow(cartesian-grant) -- every agent may run every tool
        may_execute_tool(Agent, Tool) :- agent(Agent), tool(Tool).
    ";
    let checked = Rulebase::check(Program::parse([text(rules)]));
    let bound = bind(
        &checked
            .rulebase
            .clone()
            .unwrap()
            .evaluate(&Budget::default())
            .unwrap(),
    );
    let review = checked.review(Some("may_execute_tool/2"), &Budget::default());
    assert_eq!(review.diagnostics, []);
    assert_eq!(review.silenced[0].diagnostic.code, Code::CartesianGrant);
    assert_eq!(review.silenced[0].reason, "every agent may run every tool");
    assert_eq!(bound.doubts()[0].code, Code::CartesianGrant);
}

#[test]
fn roles_follow_the_guard_levels_of_the_tools() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/orrery-guarded-tools.json");
    let tools: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let model = model([rules("roles/roles.pl")]);
    let mut seen = 0;
    for tools in tools["agents"].as_object().unwrap().values() {
        for (tool, level) in tools.as_object().unwrap() {
            let level = level.as_str().unwrap();
            let goal = format!("tool_guard(tool_{tool}, {level})");
            assert!(model.query(&goal).unwrap().holds(), "{goal}");
            seen += 1;
        }
    }
    assert_eq!(seen, 16);
}

#[test]
fn a_grant_to_everybody_is_refused_with_advice() {
    let cases = [
        ("may_execute_tool(U:Qa, tool_repl).", "did you mean 'U:Qa'?"),
        (
            "may_execute_tool(Qa, tool_repl).",
            "as a grant this is one to everybody; did you mean the atom 'Qa'?",
        ),
        (
            "may_execute_tool(_, tool_repl).",
            "as a grant this is one to everybody",
        ),
    ];
    for (rule, advice) in cases {
        let model = model([text(rule)]);
        let refused = Allowlist::bind(&model, "may_execute_tool/2").unwrap_err();
        let help = refused.diagnostics[0].help.as_deref().unwrap_or_default();
        assert!(help.contains(advice), "{rule}: {help}");
    }
}

#[test]
fn rulebases_live_side_by_side() {
    let empty = model([text("")]);
    let declared = model([text(":- dynamic may_execute_tool/2.\n")]);
    let granting = model([text("may_execute_tool(a, tool_x).\n")]);
    let undefined = Allowlist::bind(&empty, "may_execute_tool/2").unwrap_err();
    assert!(
        undefined.to_string().contains("nothing defines it"),
        "{undefined}"
    );
    let (denying, granting) = (bind(&declared), bind(&granting));
    for _ in 0..2 {
        assert!(granting.decide("a", "x").is_allow());
        assert!(!denying.decide("a", "x").is_allow());
    }
    assert!(
        bind(&model([text("may_execute_tool(b, tool_x).\n")]))
            .decide("b", "x")
            .is_allow()
    );
    assert!(!granting.decide("b", "x").is_allow());
}

/// SWI-Prolog drops a clause that does not parse and goes on, so that a broken deny becomes a grant.
#[test]
fn a_syntax_error_in_any_file_refuses_the_whole_set() {
    let allow = "user(a). user(b). :- dynamic blocked/1.\nmay_execute_tool(U, tool_repl) :- user(U), \\+ blocked(U).\n";
    let broken = [
        "blocked(b.\n",
        "blocked(b)",
        "blocked(b) blocked(c).",
        "blocked('b).",
        "/* blocked(b).",
    ];
    for deny in broken {
        for files in [[allow, deny], [deny, allow]] {
            let refused = Rulebase::load(files.map(text));
            assert!(refused.is_err(), "{deny}");
        }
        assert!(
            Rulebase::load([text(&format!("{allow}{deny}"))]).is_err(),
            "{deny}"
        );
        assert!(
            Rulebase::load([text(&format!("{deny}\n{allow}"))]).is_err(),
            "{deny}"
        );
    }
}

#[test]
fn directives_never_run() {
    let mark: PathBuf = std::env::temp_dir().join(format!("horngate-ran-{}", std::process::id()));
    let touch = format!("shell('touch {}')", mark.display());
    for directive in [
        format!(":- initialization({touch})."),
        format!(":- {touch}."),
        format!("?- {touch}."),
        format!(":- use_module(library(lists)), {touch}."),
        format!(":- initialization({touch}, main)."),
    ] {
        assert!(
            Rulebase::load([text(&format!("{directive}\np(a).\n"))]).is_err(),
            "{directive}"
        );
    }
    assert!(!mark.exists());
}

#[test]
fn an_evaluation_error_is_never_a_failed_negation() {
    let rules = "
        level(ann, 3). level(bob, high).
        senior(U) :- level(U, N), N > 5.
        user(ann). user(bob).
        may_execute_tool(U, tool_repl) :- user(U), \\+ senior(U).
    ";
    let model = model([text(rules)]);
    let refused = Allowlist::bind(&model, "may_execute_tool/2").unwrap_err();
    assert_eq!(refused.diagnostics[0].code.kind(), "evaluation");
    assert!(model.query("senior(ann)").is_err());
    assert!(model.query("user(ann)").unwrap().holds());
}

/// Prolog raises for the very call that a fact beside the rule would grant here.
#[test]
fn an_allowlist_that_computes_with_what_the_call_brings_is_refused() {
    let rules = "
        may_execute_tool(U, T) :- U > 5, id(U), tool(T).
        may_execute_tool(ann, tool_ls).
        id(7). tool(tool_ls).
    ";
    let refused = Allowlist::bind(&model([text(rules)]), "may_execute_tool/2").unwrap_err();
    assert_eq!(refused.diagnostics[0].code.kind(), "evaluation");
}

#[test]
fn a_budget_that_runs_out_gives_no_model() {
    let rules: String = (0..60).map(|n| format!("d({n}).\n")).collect();
    let bomb =
        format!("{rules}p(X, Y, Z, W) :- d(X), d(Y), d(Z), d(W).\nmay_execute_tool(a, tool_x).\n");
    let rulebase = Rulebase::load([text(&bomb)]).unwrap();
    let budget = Budget {
        tuples: 100_000,
        ..Budget::default()
    };
    let error = rulebase.evaluate(&budget).unwrap_err();
    assert_eq!((error.what, error.limit), ("tuples", 100_000));
    assert_eq!(error.predicate, "p/4");
    let slice: [PredicateKey; 1] = ["may_execute_tool/2".parse().unwrap()];
    let model = rulebase.evaluate_slice(&slice, &budget).unwrap();
    assert!(bind(&model).decide("a", "x").is_allow());
}

#[test]
fn the_policy_hash_names_content_and_not_places() {
    let hash = |sources: Vec<Source>| bind(&model(sources)).policy_hash().unwrap();
    let (a, b) = ("may_execute_tool(a, tool_x).\n", ":- dynamic p/1.\n");
    let first = hash(vec![Source::new("one.pl", a), Source::new("two.pl", b)]);
    let second = hash(vec![
        Source::new("other/two.pl", b),
        Source::new("other/one.pl", a),
    ]);
    assert_eq!(first, second);
    assert_ne!(first, hash(vec![Source::new("one.pl", a)]));
    assert!(first.starts_with("sha256:") && first.len() == 71);
}

#[test]
fn a_decision_allocates_nothing() {
    let model = model([rules("governance.pl")]);
    let gate = bind(&model);
    let pairs = [
        ("U:Qa", "repl"),
        ("U:Qa", "remote_trigger"),
        ("NOBODY", "repl"),
        ("U:Qa", "nothing"),
    ];
    let counted = allocation_counter::measure(|| {
        for (actor, tool) in pairs {
            std::hint::black_box(gate.decide(actor, tool).is_allow());
        }
    });
    assert_eq!(counted.count_total, 0);
}
