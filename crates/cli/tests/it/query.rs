use crate::{folder, root, run, session};
use insta::assert_snapshot;

#[test]
fn the_shipped_rules() {
    let rules = "--rules=rules/governance.pl";
    assert_snapshot!(session(
        &root(),
        &[
            &["query", rules, "may_execute_tool(Who, tool_repl)"],
            &[
                "query",
                rules,
                "may_execute_tool(Who, Tool)",
                "--limit",
                "2"
            ],
            &["query", rules, "may_execute_tool(_, T)", "--count"],
            &["query", rules, "may_execute_tool('U:Qa', tool_repl)"],
            &["query", rules, "may_execute_tool('U:QA', tool_repl)"],
            &["query", rules, "may_execute('NOBODY', rm_rf_slash)"],
            &["query", rules, "may_execute_tool(Who"],
            &["query", rules, "may_execute_tol(Who, T)"],
        ]
    ));
}

#[test]
fn the_shipped_rules_for_machines() {
    let (rules, json) = ("--rules=rules/governance.pl", "--format=json");
    assert_snapshot!(session(
        &root(),
        &[
            &["query", rules, json, "may_execute_tool(Who, tool_repl)"],
            &["query", rules, json, "may_execute_tool(W, T)", "--limit=1"],
            &["query", rules, json, "may_execute_tool(W, T)", "--count"],
            &["query", rules, json, "may_execute_tool('U:Qa', tool_repl)"],
            &["query", rules, json, "may_execute_tool(_, nosuch)"],
            &["query", rules, json, "may_execute('NOBODY', rm_rf_slash)"],
            &["query", rules, json, "may_execute_tool(W, T"],
        ]
    ));
}

#[test]
fn a_permissive_probe_is_no_decision() {
    let rules = "--rules=rules/governance.pl";
    let nobody = "may_execute('NOBODY', rm_rf_slash)";
    assert_snapshot!(session(
        &root(),
        &[
            &["query", rules, "--permissive", nobody],
            &["query", rules, "--permissive", nobody, "--count"],
            &["query", rules, "--permissive", nobody, "--format=json"],
            &[
                "query",
                rules,
                "--permissive",
                "may_execute(Who, rm_rf_slash)"
            ],
            &[
                "query",
                rules,
                "--permissive",
                "may_execute_tool(W, tool_repl)"
            ],
            &[
                "query",
                rules,
                "--permissive",
                "volk_operational('U:Qa')",
                "--format=json"
            ],
        ]
    ));
}

#[test]
fn constants_are_written_as_prolog_does() {
    let folder = folder(&[(
        "a.pl",
        "p(a). p('U:Qa'). p(\"a\"). p(1). p(1.0). p([]). p('[]'). p([a,'B']). p(f(x)). p('it''s').\n\
         p('a\\x200B\\'). p(99999999999999999999).\n",
    )]);
    assert_snapshot!(session(
        folder.path(),
        &[
            &["query", "--rules=a.pl", "p(X)"],
            &["query", "--rules=a.pl", "--format=json", "p(X)"],
        ]
    ));
}

#[test]
fn only_what_the_goal_calls_is_evaluated() {
    let folder = folder(&[(
        "a.pl",
        "d(1). d(2). d(3).\nbomb(X, Y) :- d(X), d(Y).\np(a).\nq(X) :- p(X), \\+ d(X).\n",
    )]);
    let code = |goal| {
        run(
            folder.path(),
            &["query", "--rules=a.pl", "--max-tuples=8", goal],
        )
        .code
    };
    assert_eq!(code("p(X)"), 0);
    assert_eq!(code("q(X), \\+ (d(X) ; p(b))"), 0);
    assert_eq!(code("member(X, [a]), p(X)"), 0);
    assert_eq!(code("p(b)"), 1);
    assert_eq!(code("bomb(X, Y)"), 2);
    assert_eq!(code("p(X), \\+ bomb(X, X)"), 2);
}

#[test]
fn rules_that_are_refused_answer_nothing() {
    let folder = folder(&[("a.pl", "p(a).\nblocked(b.\n")]);
    assert_snapshot!(session(
        folder.path(),
        &[
            &["query", "--rules=a.pl", "p(a)"],
            &["query", "--rules=a.pl", "p(a)", "--format=json"],
            &["query", "--rules=nosuch.pl", "p(a)"],
            &["query", "--rules=nosuch.pl", "p(a)", "--format=json"],
        ]
    ));
}
