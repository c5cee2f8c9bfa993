//! Pins: what is found is what the words of each kind say, for any rules and lists.

use horngate::explain::Explainer;
use horngate::pins::{Finding, FindingKind, Pins};
use horngate::{
    AdvertisedTools, Allowlist, Budget, GrantingClauses, Rulebase, Source, assert_pinned,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

const ACTORS: &[&str] = &["U:Qa", "U:SD", "J:Junior", "operator"];
/// No two of these are near each other.
const TOOLS: &[&str] = &[
    "repl",
    "run_shell",
    "remote_trigger",
    "write_file",
    "search",
];

type Pair = (usize, usize);

pub fn allowlist(rules: &str) -> Allowlist {
    let rulebase = Rulebase::load([Source::new("rules.pl", rules)]).unwrap();
    let model = rulebase.evaluate(&Budget::default()).unwrap();
    Allowlist::bind(&model, "may_execute_tool/2").unwrap()
}

fn facts(pairs: impl IntoIterator<Item = (&'static str, &'static str)>) -> String {
    let mut text = ":- dynamic may_execute_tool/2.\n".to_owned();
    for (actor, tool) in pairs {
        text += &format!("may_execute_tool('{actor}', 'tool_{tool}').\n");
    }
    text
}

fn kinds(findings: &[Finding]) -> Vec<&'static str> {
    findings
        .iter()
        .map(|finding| finding.kind.as_str())
        .collect()
}

fn orchestrata() -> AdvertisedTools {
    AdvertisedTools::new()
        .flagged(["repl", "run_shell", "remote_trigger"])
        .unflagged(["write_file", "read_file", "search_code"])
        .agent("U:Qa", ["repl", "run_shell", "read_file", "search_code"])
        .agent("J:Junior", ["repl", "run_shell", "read_file", "write_file"])
        .agent("U:SD", ["repl", "read_file", "write_file", "search_code"])
        .agent(
            "U:Cd",
            ["run_shell", "read_file", "write_file", "search_code"],
        )
        .agent("U:PM", ["remote_trigger", "read_file"])
        .agent("U:Ux", ["read_file", "search_code"])
}

#[test]
fn the_shipped_rules_are_pinned() {
    assert_pinned(
        &allowlist(include_str!("../../rules/governance.pl")),
        &orchestrata(),
    );
}

#[test]
#[should_panic(expected = "the rules and the lists of tools disagree in 2 places:
  advertised-not-granted: `U:SD` is shown `repl`, which it may not run
    help: grant it with `may_execute_tool('U:SD', tool_repl).`, or stop showing `repl` to `U:SD`
  unknown-actor: `repl` is granted to `U:Ghost`, which no list has
    at rules.pl:31
    help: remove the grant, or add the agent to a list")]
fn the_report_of_the_assertion_says_what_to_do() {
    let rules = include_str!("../../rules/governance.pl").replace("'U:SD', ", "'U:Ghost', ");
    assert_pinned(&allowlist(&rules), &orchestrata());
}

#[test]
fn a_misspelt_name_is_one_finding() {
    let tools = || {
        AdvertisedTools::new()
            .flagged(["remote_trigger"])
            .agent("U:PM", ["remote_trigger"])
    };
    let found = |rules: &str, tools: &AdvertisedTools| {
        let pins = Pins::compare(&allowlist(rules), tools);
        pins.findings()
            .iter()
            .map(|finding| format!("{}: {}", finding.kind, finding.help))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found("may_execute_tool('U:PM', tool_remote_triger).", &tools()),
        ["unknown-tool: did you mean `tool_remote_trigger`?"]
    );
    assert_eq!(
        found("may_execute_tool('U:Pm', tool_remote_trigger).", &tools()),
        ["unknown-actor: did you mean `'U:PM'`?"]
    );
    // The same in a list.
    let listed = tools().agent("U:SD", ["remote_triger"]);
    let rules = facts([("U:PM", "remote_trigger"), ("U:SD", "remote_trigger")]);
    assert_eq!(
        found(&rules, &listed),
        ["unknown-tool: did you mean `remote_trigger`?"]
    );
    // A tool that was renamed in its list, but nowhere else.
    let renamed = AdvertisedTools::new()
        .flagged(["trigger_at_a_distance"])
        .agent("U:PM", ["remote_trigger"]);
    assert_eq!(
        found(&facts([("U:PM", "remote_trigger")]), &renamed),
        ["unknown-tool: remove the grant, or add the tool to its list"]
    );
}

#[test]
fn grants_that_no_decision_asks_for_are_found() {
    let rules = "may_execute_tool('U:Qa', repl).
        may_execute_tool('U:Qa', \"tool_repl\").
        may_execute_tool(\"U:Qa\", tool_repl).
        may_execute_tool('U':'Qa', tool_repl).
        may_execute_tool('U:Qa', tool_tool_x).
        may_execute_tool('U:Qa', tool_tool_y).
        may_execute_tool('U:Qa', tool_z).";
    let tools = AdvertisedTools::new()
        .flagged(["tool_x", "tool_y", "tool_z"])
        .agent("U:Qa", ["tool_x", "tool_y"]);
    let pins = Pins::compare(&allowlist(rules), &tools);
    insta::assert_snapshot!(pins);
}

#[test]
fn names_that_look_alike_and_stand_twice() {
    let alike = |names: &[&str]| {
        let tools = AdvertisedTools::new().unflagged(names.iter().copied());
        let pins = Pins::compare(&allowlist(&facts([])), &tools);
        let found = pins
            .findings()
            .iter()
            .map(|finding| finding.message.clone());
        found.collect::<Vec<_>>()
    };
    assert_eq!(
        alike(&[
            "read_file",
            "read_flie",
            "get_user",
            "set_user",
            "list_item",
            "list_items"
        ]),
        ["`read_file` and `read_flie` look alike"]
    );
    assert_eq!(
        alike(&[
            "run-shell",
            "run_shell",
            "RunShell",
            "tool_1",
            "tool_2",
            "+",
            "-"
        ]),
        [
            "`RunShell` and `run-shell` look alike",
            "`run-shell` and `run_shell` look alike"
        ]
    );
    assert_eq!(
        alike(&[
            "read_fi1e",
            "read_file",
            "аdmin_tool",
            "admin_tool",
            "send\u{200b}",
            "send"
        ]),
        [
            "`read_fi1e` and `read_file` look alike",
            "`send` and `send\u{200b}` look alike",
            "`admin_tool` and `аdmin_tool` look alike",
        ]
    );
    let server = |flagged: bool, agent: &str| {
        let tools = AdvertisedTools::new().agent(agent, ["search"]);
        if flagged {
            tools.flagged(["search"])
        } else {
            tools.unflagged(["search"])
        }
    };
    let twice = |a: AdvertisedTools, b: AdvertisedTools| {
        let rules = facts([("U:Qa", "search"), ("U:SD", "search")]);
        let pins = Pins::compare(&allowlist(&rules), &a.and(b).agent("U:SD", ["search"]));
        let found = pins.findings().iter();
        found
            .map(|finding| format!("{finding}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(twice(server(true, "U:Qa"), server(true, "U:SD")), [""; 0]);
    assert_eq!(
        twice(server(true, "U:Qa"), server(true, "U:Qa")),
        ["duplicate-name: `U:Qa` is shown two tools called `search`"]
    );
    // Of two that differ the stricter one holds.
    assert_eq!(
        twice(server(true, "U:Qa"), server(false, "U:SD")),
        ["duplicate-name: two lists define `search` differently"]
    );
}

#[test]
fn one_actor_alone() {
    let rules = facts([("U:Qa", "repl"), ("U:SD", "run_shell")]);
    let tools = || orchestrata().only("U:Qa");
    let pins = Pins::compare(&allowlist(&rules), &tools());
    assert_eq!(kinds(pins.findings()), ["advertised-not-granted"]);
    // An actor that nobody knows is not one that all is well with.
    let pins = Pins::compare(&allowlist(&rules), &orchestrata().only("U:QA"));
    let [finding] = pins.findings() else {
        panic!("{pins}")
    };
    assert_eq!(
        (finding.kind, finding.tool.as_deref(), &*finding.help),
        (FindingKind::UnknownActor, None, "did you mean `'U:Qa'`?")
    );
}

/// The place of a grant: the fact, or the first rule that gives it.
#[test]
fn places_of_grants() {
    let rules = "may_execute_tool(A, tool_x) :- role(A, dev).
may_execute_tool(ann, tool_x).
may_execute_tool(A, T) :-
    ( role(A, ops), tool(T) ; role(A, dev), T = tool_y ), \\+ blocked(A).
may_execute_tool(A, T) :- role(A, admin), tool(T).
role(ann, dev). role(bob, ops). role(eve, admin). blocked(bea). role(bea, dev).
tool(tool_z).
";
    let expected = [
        ("ann", "x", 2),
        ("ann", "y", 3),
        ("bea", "x", 1),
        ("bob", "z", 3),
        ("eve", "z", 5),
    ];
    let whole = allowlist(rules);
    let check = |allowlist: &Allowlist, sources: &horngate::Sources| {
        let mut clauses = GrantingClauses::new(allowlist, sources);
        let found: Vec<_> = allowlist
            .grants()
            .into_iter()
            .map(|(actor, tool)| {
                let line = clauses
                    .find(actor, tool)
                    .map(|span| sources.start(span).line);
                (actor.to_owned(), tool.to_owned(), line)
            })
            .collect();
        for (actor, tool, line) in expected {
            assert!(
                found.contains(&(actor.into(), tool.into(), Some(line))),
                "{found:?}"
            );
        }
        assert_eq!(found.len(), expected.len());
    };
    check(&whole, whole.sources());
    let loaded = |mut loader: horngate::Loader| {
        loader.begin("rules.pl");
        loader.feed(rules.as_bytes());
        let rulebase = loader.finish().unwrap();
        let model = rulebase.evaluate(&Budget::default()).unwrap();
        Allowlist::bind(&model, "may_execute_tool/2").unwrap()
    };
    let by_pieces = loaded(horngate::Loader::new().with_places());
    check(&by_pieces, whole.sources());
    for (actor, tool) in whole.grants() {
        let proof = |allowlist: &Allowlist| {
            let mut explainer = Explainer::new(allowlist.model()).with_texts(whole.sources());
            let proof = explainer.why_allowed(allowlist, actor, tool).unwrap();
            proof.unwrap().to_json_node()
        };
        assert_eq!(proof(&by_pieces), proof(&whole));
        let bare = Explainer::new(by_pieces.model()).why_allowed(&by_pieces, actor, tool);
        let bare = bare.unwrap().unwrap();
        assert!(bare.steps().iter().all(|step| bare.clause(step).is_none()));
    }
    // Nothing is found in a text that is not there, or not the one that was loaded, or without the facts' places.
    let changed = allowlist(&format!("\n{rules}"));
    for (allowlist, sources) in [
        (&by_pieces, by_pieces.sources()),
        (&by_pieces, changed.sources()),
        (&loaded(horngate::Loader::new()), whole.sources()),
    ] {
        let mut clauses = GrantingClauses::new(allowlist, sources);
        assert_eq!(clauses.find("ann", "y"), None);
        assert_eq!(clauses.find("ann", "x"), None);
    }
}

fn pairs() -> impl Strategy<Value = BTreeSet<Pair>> {
    proptest::collection::btree_set((0..ACTORS.len(), 0..TOOLS.len()), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Each kind, by its words, for each pair.
    #[test]
    fn every_affected_pair_and_no_other(
        granted in pairs(),
        shown in pairs(),
        flags in proptest::collection::vec(proptest::option::of(any::<bool>()), TOOLS.len()),
        unlisted in proptest::collection::btree_set(0..ACTORS.len(), 0..3),
        only in proptest::option::of(0..ACTORS.len()),
    ) {
        let name = |(actor, tool): Pair| (ACTORS[actor], TOOLS[tool]);
        let mut tools = AdvertisedTools::new();
        for (tool, flag) in TOOLS.iter().zip(&flags) {
            tools = match flag {
                Some(true) => tools.flagged([*tool]),
                Some(false) => tools.unflagged([*tool]),
                None => tools,
            };
        }
        for (at, actor) in ACTORS.iter().enumerate() {
            if !unlisted.contains(&at) {
                let shown = shown.iter().filter(|(actor, _)| *actor == at).map(|pair| name(*pair).1);
                tools = tools.agent(actor, shown);
            }
        }
        if let Some(actor) = only {
            tools = tools.only(ACTORS[actor]);
        }
        let pins = Pins::compare(&allowlist(&facts(granted.iter().map(|pair| name(*pair)))), &tools);

        let mut expected = BTreeSet::new();
        for pair in (0..ACTORS.len()).flat_map(|actor| (0..TOOLS.len()).map(move |tool| (actor, tool))) {
            let (is_granted, known) = (granted.contains(&pair), !unlisted.contains(&pair.0));
            let is_shown = known && shown.contains(&pair);
            let kind = match (is_granted, known, flags[pair.1]) {
                (true, false, _) => FindingKind::UnknownActor,
                (true, true, None) => FindingKind::UnknownTool,
                (false, _, None) if is_shown => FindingKind::UnknownTool,
                (true, true, Some(false)) => FindingKind::GrantedUnflagged,
                (true, true, Some(true)) if !is_shown => FindingKind::GrantedNeverAdvertised,
                (false, _, Some(true)) if is_shown => FindingKind::AdvertisedNotGranted,
                _ => continue,
            };
            if only.is_none_or(|only| only == pair.0) {
                let (actor, tool) = name(pair);
                expected.insert((kind, Some(actor), Some(tool)));
            }
        }
        if let Some(only) = only
            && unlisted.contains(&only)
            && !granted.iter().any(|(actor, _)| *actor == only)
        {
            expected.insert((FindingKind::UnknownActor, Some(ACTORS[only]), None));
        }
        let found: BTreeSet<_> = pins
            .findings()
            .iter()
            .map(|finding| (finding.kind, finding.actor.as_deref(), finding.tool.as_deref()))
            .collect();
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(pins.findings().len(), expected.len());
        prop_assert_eq!(pins.agree(), expected.is_empty());
    }
}
