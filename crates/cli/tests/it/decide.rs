use crate::{folder, root, run, session};
use insta::assert_snapshot;

/// The pairs that the seed grants: all others are denied.
const GRANTED: [(&str, &str); 7] = [
    ("U:Qa", "repl"),
    ("J:Junior", "repl"),
    ("U:SD", "repl"),
    ("U:Cd", "run_shell"),
    ("U:Qa", "run_shell"),
    ("J:Junior", "run_shell"),
    ("U:PM", "remote_trigger"),
];

#[test]
fn the_seven_grants_and_no_other() {
    let actors = [
        "U:Qa", "J:Junior", "U:SD", "U:Cd", "U:PM", "U:Ux", "NOBODY", "attacker", "U:QA", "",
    ];
    let tools = [
        "repl",
        "run_shell",
        "remote_trigger",
        "rm_rf_slash",
        "tool_repl",
        "exfiltrate_secrets",
        "",
    ];
    for actor in actors {
        for tool in tools {
            let args = ["decide", "--rules=rules/governance.pl", "--", actor, tool];
            let expected = i32::from(!GRANTED.contains(&(actor, tool)));
            assert_eq!(run(&root(), &args).code, expected, "{actor} {tool}");
        }
    }
}

#[test]
fn the_shipped_rules() {
    let rules = "--rules=rules/governance.pl";
    assert_snapshot!(session(
        &root(),
        &[
            &["decide", rules, "U:Qa", "repl"],
            &["decide", rules, "U:Ux", "repl"],
            &["decide", rules, "U:Qa", "rm_rf_slash"],
            &["decide", rules, "U:Qa", "tool_repl"],
            &["decide", rules, "U:Qa", "remote_trigger"],
            &[
                "decide",
                rules,
                "--allowlist=may_execute/2",
                "NOBODY",
                "rm_rf_slash"
            ],
            &[
                "decide",
                rules,
                "--allowlist=nosuch/2",
                "NOBODY",
                "rm_rf_slash"
            ],
            &[
                "decide",
                rules,
                "--allowlist=volk_exists/1",
                "NOBODY",
                "rm_rf_slash"
            ],
            &["decide", rules, "--tool-prefix=", "U:Qa", "tool_repl"],
            &[
                "decide",
                "--rules=rules/roles",
                "sre:lead",
                "stop_container"
            ],
        ]
    ));
}

#[test]
fn for_machines() {
    let folder = folder(&[("a.pl", "may_execute_tool('U:Qa', tool_repl).\n")]);
    let (rules, json) = ("--rules=a.pl", "--format=json");
    assert_snapshot!(session(
        folder.path(),
        &[
            &["decide", rules, json, "U:Qa", "repl"],
            &["decide", rules, json, "U:Ux", "my tool"],
            &["decide", rules, json, "--allowlist=p/2", "U:Qa", "repl"],
            &["decide", rules, json, "--allowlist=p/1", "U:Qa", "repl"],
            &["decide", "--rules=b.pl", json, "U:Qa", "repl"],
            &["decide", rules, json, "--max-tuples=0", "U:Qa", "repl"],
        ]
    ));
}

#[test]
fn traps_end_with_two() {
    let rules = [
        "may_execute_tool(U:Qa, tool_repl).",
        "may_execute_tool(Qa, tool_repl).",
        "may_execute_tool(_, tool_repl).",
        "may_execute_tool(A, tool_repl) :- \\+ blocked(A). :- dynamic blocked/1.",
        "may_execute_tool(A, T) :- may_execute(A, T). may_execute(A,T) :- \\+ no(A,T). :- dynamic no/2.",
        // A syntax error in a rule that denies.
        "user(anyone). blocked(b.\nmay_execute_tool(U, tool_repl) :- user(U), \\+ blocked(U).",
        // A misspelt deny rule.
        "user(anyone). blocked(b).\nmay_execute_tool(U, tool_repl) :- user(U), \\+ blokced(U).",
        ":- initialization(shell('touch ran')).\nmay_execute_tool(anyone, tool_repl).",
        "may_execute_tool(anyone, tool_repl) :- n(X), X > 0. n(x).",
        "may_execute_tool(anyone, tool_repl, now).",
        "may_execute_tool(anyone, tool_repl)",
        "",
    ];
    for text in rules {
        let folder = folder(&[("a.pl", text)]);
        let decided = run(folder.path(), &["decide", "--rules=a.pl", "anyone", "repl"]);
        assert_eq!(decided.code, 2, "{text}");
        assert!(
            decided.stdout.starts_with("deny: error: "),
            "{}",
            decided.stdout
        );
        let json = ["decide", "--rules=a.pl", "--format=json", "anyone", "repl"];
        let json = run(folder.path(), &json).json();
        assert_eq!(
            (&json["decision"], &json["reason"]),
            (&"deny".into(), &"error".into())
        );
        assert!(!json["error"].as_array().unwrap().is_empty());
        assert!(!folder.path().join("ran").exists());
    }
}

#[test]
fn faults_elsewhere_do_not_matter_but_are_mentioned() {
    let folder = folder(&[(
        "a.pl",
        "may_execute_tool(a, tool_b).\nopen(_, _).\nbomb(X, Y) :- d(X), d(Y).\nd(1). d(2). d(3).\n",
    )]);
    let decided = run(
        folder.path(),
        &["decide", "--rules=a.pl", "--max-tuples=3", "a", "b"],
    );
    assert_eq!(decided.code, 0);
    assert_eq!(
        decided.stdout,
        "allow: may_execute_tool(a,tool_b) is derived\n"
    );
    assert_eq!(
        decided.stderr,
        "note: 1 fault outside the slice of may_execute_tool/2; see horngate check\n"
    );
}

#[test]
fn names_that_deceive_are_shown_as_they_are() {
    let actor = "U:Qa\u{202e}\u{1b}[2J\nallow: all is well";
    let decided = run(
        &root(),
        &["decide", "--rules=rules/governance.pl", actor, "repl"],
    );
    assert_eq!(decided.code, 1);
    assert_eq!(
        decided.stdout,
        "deny: unknown-actor: nothing is granted to `U:Qa\\u{202e}\\u{1b}[2J\\nallow: all is well`\n"
    );
}

#[test]
fn the_policy_hash_is_of_the_bytes_and_not_of_the_places() {
    let grant = "may_execute_tool(a, tool_b).\n";
    let folder = folder(&[
        ("a.pl", grant),
        ("sub/b.pl", grant),
        ("c.pl", "may_execute_tool(a, tool_b)."),
    ]);
    let hash = |rules: &str| {
        let args = ["decide", "--format=json", "--rules", rules, "a", "b"];
        run(folder.path(), &args).json()["policy_hash"].to_string()
    };
    assert_eq!(hash("a.pl"), hash("sub"));
    assert_ne!(hash("a.pl"), hash("c.pl"));
}
