use crate::{folder, root, run, session};
use insta::assert_snapshot;
use std::path::Path;

fn data() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/data")
}

#[test]
fn the_shipped_rules() {
    let rules = "rules/governance.pl";
    assert_snapshot!(session(
        &root(),
        &[
            &["check", rules],
            &["check", rules, "--allowlist", "may_execute_tool/2"],
            &["check", rules, "--allowlist", "may_execute/2"],
            &["check", "rules/roles", "--allowlist", "may_execute_tool/2"],
            &["check", "rules/permissive/asked.pl"],
            &[
                "check",
                "rules/permissive/asked.pl",
                "--allowlist",
                "may_execute/2"
            ],
        ]
    ));
}

#[test]
fn the_shipped_rules_for_machines() {
    let rules = "rules/governance.pl";
    let allowlist = "--allowlist=may_execute_tool/2";
    assert_snapshot!(session(
        &root(),
        &[
            &["check", "--format=json", rules],
            &["check", "--format=json", rules, allowlist],
            &["check", "--format=json", "rules/roles", allowlist],
            &["check", "--format=sarif", rules],
        ]
    ));
}

/// What a comment silences is left out of the findings and stays visible.
#[test]
fn silenced_lints() {
    let folder = folder(&[(
        "a.pl",
        "agent(ann).\ntool(tool_x).\n:- dynamic barred/1. % horngate: allow(vacuous-negation) -- the platform fills it\n\
         % horngate: allow(cartesian-grant) -- agents share their tools\n\
         may_execute_tool(Agent, Tool) :- agent(Agent), tool(Tool), \\+ barred(Agent).\n",
    )]);
    let allowlist = "--allowlist=may_execute_tool/2";
    assert_snapshot!(session(
        folder.path(),
        &[
            &["check", "a.pl", allowlist, "--deny-warnings"],
            &["check", "--format=json", "a.pl", allowlist],
            &["check", "--format=sarif", "a.pl"],
            &["decide", "--rules", "a.pl", "ann", "x"],
            &["grants", "--rules", "a.pl"],
        ]
    ));
}

#[test]
fn every_mistake_in_one_run() {
    assert_snapshot!(session(&data(), &[&["check", "ten.pl"]]));
    assert_snapshot!(session(&data(), &[&["check", "--format=json", "ten.pl"]]));
}

#[test]
fn sarif_has_what_the_others_have() {
    let json = run(&data(), &["check", "--format=json", "ten.pl"]).json();
    let sarif = run(&data(), &["check", "--format=sarif", "ten.pl"]);
    assert_eq!(sarif.code, 1);
    let sarif = sarif.json();
    let run = &sarif["runs"][0];
    let (found, results) = (
        json["diagnostics"].as_array().unwrap(),
        run["results"].as_array().unwrap(),
    );
    assert_eq!(found.len(), results.len());
    for (found, result) in found.iter().zip(results) {
        assert_eq!(found["code"], result["ruleId"]);
        assert_eq!(found["severity"], result["level"]);
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], found["code"]);
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert_eq!(found["line"], region["startLine"]);
        assert_eq!(found["column"], region["startColumn"]);
        assert_eq!(found["end_line"], region["endLine"]);
        assert_eq!(found["end_column"], region["endColumn"]);
    }
}

#[test]
fn places_in_awkward_texts() {
    let long = format!(
        "{}q(,).",
        (0..3000).map(|n| format!("p({n}). ")).collect::<String>()
    );
    let comment = format!("p(a).\n/* never closed\n{}", "line\n".repeat(300));
    let folder = folder(&[
        ("bom.pl", "\u{feff}p(a,.\n"),
        ("crlf.pl", "p(a).\r\n% ok\r\np(a,.\r\n"),
        ("hidden.pl", "p(a\u{200b}).\n"),
        ("long.pl", &long),
        ("comment.pl", &comment),
        ("tab.pl", "p(a) :-\n\tq(b).\n"),
        ("wide.pl", "p('日本') :- q('日本').\n"),
        ("one.pl", "may(a, b).\n"),
        ("two.pl", "may(a, c).\n"),
        ("empty.pl", ""),
    ]);
    std::fs::write(folder.path().join("latin.pl"), b"p('\xe9').\n").unwrap();
    assert_snapshot!(session(
        folder.path(),
        &[
            &["check", "bom.pl"],
            &["check", "crlf.pl"],
            &["check", "hidden.pl"],
            &["check", "long.pl"],
            &["check", "comment.pl"],
            &["check", "tab.pl"],
            &["check", "wide.pl"],
            &["check", "latin.pl"],
            &["check", "one.pl", "two.pl"],
            &["check", "empty.pl"],
        ]
    ));
}

#[test]
fn arithmetic_without_a_value() {
    let folder = folder(&[(
        "a.pl",
        "d(0).\nd(x).\np(X) :- d(X), X > 1.\nq(X) :- d(X), \\+ p(X).\nmay_execute_tool(a, tool_b).\n",
    )]);
    assert_snapshot!(session(
        folder.path(),
        &[
            &["check", "a.pl"],
            &["check", "a.pl", "--allowlist=may_execute_tool/2"],
            &["check", "--format=json", "a.pl"],
        ]
    ));
}

#[test]
fn an_allowlist_that_cannot_be_one() {
    let folder = folder(&[(
        "a.pl",
        "grant(ann, tool_x).\nmay(U) :- grant(U, _).\nbad(U, T) :- grant(U, T), U.\n",
    )]);
    let check = |allowlist| {
        let run = run(
            folder.path(),
            &["check", "--format=json", "--allowlist", allowlist, "a.pl"],
        );
        let json = run.json();
        let found = json["diagnostics"].as_array().unwrap();
        let errors: Vec<String> = found
            .iter()
            .filter(|found| found["severity"] == "error")
            .map(|found| format!("{} {}", found["code"], found["message"]))
            .collect();
        (run.code, errors.join("\n"))
    };
    assert_eq!(check("grant/2"), (0, String::new()));
    assert_snapshot!(
        [check("may/1"), check("grnt/2"), check("bad/2")]
            .map(|(code, errors)| format!("{errors}\n? {code}\n"))
            .join("\n")
    );
}

#[test]
fn warnings_are_findings_when_asked() {
    let folder = folder(&[("a.pl", "p(a).\np(a).\n")]);
    assert_eq!(run(folder.path(), &["check", "a.pl"]).code, 0);
    let denied = run(folder.path(), &["check", "a.pl", "--deny-warnings"]);
    assert_eq!((denied.code, &*denied.stdout), (1, "1 warning\n"));
}

#[test]
fn a_budget_that_runs_out_is_no_clean_bill() {
    let folder = folder(&[(
        "a.pl",
        "d(1). d(2). d(3).\np(X, Y) :- d(X), d(Y).\nmay_execute_tool(a, tool_b).\n",
    )]);
    assert_snapshot!(session(
        folder.path(),
        &[
            &["check", "a.pl", "--max-tuples=5"],
            &["check", "a.pl", "--max-tuples=5", "--format=json"],
            &[
                "check",
                "a.pl",
                "--max-tuples=5",
                "--allowlist=may_execute_tool/2"
            ],
            &["check", "a.pl", "--max-tuples=5", "--allowlist=p/2"],
        ]
    ));
}

#[test]
fn files_and_folders() {
    let folder = folder(&[
        ("rules/b.pl", "q(X) :- p(X).\n"),
        ("rules/a.pl", "p(a).\n"),
        ("rules/a_tests.pl", "this is no rule\n"),
        ("rules/.hidden.pl", "this is no rule\n"),
        ("rules/notes.txt", "this is no rule\n"),
        ("rules/sub/c.pl", "this is no rule\n"),
        ("empty/a_tests.pl", ""),
        ("a_tests.pl", "p(a).\n"),
    ]);
    assert_snapshot!(session(
        folder.path(),
        &[
            &["check", "--format=json", "rules"],
            &[
                "check",
                "--format=json",
                "rules/a.pl",
                "rules",
                "./rules/a.pl"
            ],
            &["check", "a_tests.pl"],
            &["check", "empty"],
            &["check", "nosuch.pl", "empty", "rules"],
            &["check", "--format=json", "nosuch.pl"],
            &["check", "--format=sarif", "nosuch.pl"],
        ]
    ));
}

#[test]
fn people_get_no_more_of_a_kind_than_they_may_read() {
    let text = format!("{}q :- r.\n", "p(a).\n".repeat(100));
    let folder = folder(&[("a.pl", &text)]);
    let checked = run(folder.path(), &["check", "a.pl"]);
    assert_eq!(checked.stderr.matches("warning[HG1010]").count(), 51);
    assert!(checked.stderr.contains("error[HG0801]"));
    assert!(
        checked
            .stderr
            .ends_with("warning[HG1010]: 49 more of the kind duplicate-clause\n")
    );
    assert_eq!(checked.stdout, "1 error, 99 warnings\n");
    let json = run(folder.path(), &["check", "--format=json", "a.pl"]).json();
    assert_eq!(json["diagnostics"].as_array().unwrap().len(), 100);
}

#[cfg(unix)]
#[test]
fn a_rule_file_that_leads_nowhere_is_not_passed_over() {
    let folder = folder(&[("rules/a.pl", "p(a).\n")]);
    std::os::unix::fs::symlink("nowhere", folder.path().join("rules/deny.pl")).unwrap();
    assert_eq!(run(folder.path(), &["check", "rules"]).code, 2);
}
