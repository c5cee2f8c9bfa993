use crate::{folder, run, session};
use insta::assert_snapshot;

const RULES: &str = "agent(a). agent(b). agent(c).\n\n\
    may_execute_tool(A, B) :-\n    agent(A), agent(B).\n";

#[test]
fn running_out_denies_and_says_where() {
    let folder = folder(&[
        ("a.pl", RULES),
        ("asked.jsonl", "{\"actor\":\"a\",\"tool\":\"b\"}\n"),
    ]);
    let rules = "--rules=a.pl";
    assert_snapshot!(session(
        folder.path(),
        &[
            &["decide", rules, "--tool-prefix=", "a", "b"],
            &[
                "decide",
                rules,
                "--tool-prefix=",
                "--max-tuples=9",
                "a",
                "b"
            ],
            &[
                "decide",
                rules,
                "--max-firings=3",
                "a",
                "b",
                "--format=json"
            ],
            &["decide", rules, "--max-tuples=9", "--batch=asked.jsonl"],
            &["grants", rules, "--max-tuples=2"],
            &["grants", rules, "--max-tuples=2", "--format=json"],
            &["query", rules, "--max-tuples=9", "may_execute_tool(A, B)"],
            &[
                "query",
                rules,
                "--max-tuples=9",
                "agent(A), agent(B)",
                "--format=json"
            ],
            &["check", "a.pl", "--max-firings=3"],
        ]
    ));
}

#[test]
fn clauses_are_counted_before_anything_is_evaluated() {
    let folder = folder(&[("a.pl", RULES), ("b.pl", "p(a).\n\n  p(b).\n")]);
    let rules = ["--rules=a.pl", "--rules=b.pl"];
    let with = |command: &'static str, more: &[&'static str]| {
        let mut args = vec![command];
        args.extend(rules);
        args.extend(more);
        args
    };
    let runs = [
        with("query", &["--max-clauses=5", "p(X)"]),
        with("query", &["--max-clauses=5", "p(X)", "--format=json"]),
        with("decide", &["--max-clauses=3", "a", "b"]),
        vec!["check", "a.pl", "b.pl", "--max-clauses=5"],
    ];
    let runs: Vec<&[&str]> = runs.iter().map(Vec::as_slice).collect();
    assert_snapshot!(session(folder.path(), &runs));
    assert_eq!(
        run(folder.path(), &with("query", &["--max-clauses=6", "p(X)"])).code,
        0
    );
}

#[test]
fn a_goal_that_asks_for_little_needs_little() {
    let mut rules =
        String::from("path(X, Y) :- edge(X, Y).\npath(X, Z) :- edge(X, Y), path(Y, Z).\n");
    for node in 0..100 {
        rules += &format!("edge(n{node}, n{}).\n", node + 1);
    }
    let folder = folder(&[("a.pl", &rules)]);
    let code = |goal| {
        run(
            folder.path(),
            &[
                "query",
                "--rules=a.pl",
                "--max-tuples=1000",
                "--count",
                goal,
            ],
        )
        .code
    };
    assert_eq!(code("path(n1, X)"), 0);
    assert_eq!(code("path(X, n99), \\+ path(X, n3)"), 0);
    assert_eq!(code("path(n7, n2)"), 1);
    assert_eq!(code("path(X, Y)"), 2);
}
