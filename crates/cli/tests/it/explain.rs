use crate::{Run, folder, horngate, root, run, run_with, session};
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const GROUPS: &str = "\
:- dynamic blocked/2.
member_of(ann, qa). member_of(qa, staff). member_of(bob, dev). member_of(dev, staff). member_of(staff, dev).
in(A, G) :- member_of(A, G).
in(A, G) :- in(A, H), member_of(H, G).
grant(staff, tool_repl). grant(qa, tool_shell).
blocked(bob, tool_repl).
level(ann, 3). level(bob, 1).
may_execute_tool(A, T) :-   % whoever is in the group
    in(A, G), grant(G, T),
    % unless it is taken away
    \\+ blocked(A, T).
may_execute_tool(A, tool_deploy) :- level(A, N), N >= 2, memberchk(A, [ann, bob]).
may_execute_tool(root, _Tool) :- fail.
";

#[test]
fn the_shipped_rules() {
    let roles = "--rules=rules/roles";
    assert_snapshot!(session(
        &root(),
        &[
            &["explain", "--rules=rules/governance.pl", "U:Qa", "repl"],
            &["explain", "--rules=rules/governance.pl", "U:QA", "repl"],
            &["explain", roles, "ops:oncall", "list_silences"],
            &["explain", roles, "ci:deploy", "rollback_deployment"],
            &["explain", roles, "bot:dashboard", "create_silence"],
            &["explain", roles, "--goal=has_role(Who, operator)"],
        ]
    ));
}

#[test]
fn groups_absences_and_tests() {
    let folder = folder(&[("r.pl", GROUPS)]);
    let rules = "--rules=r.pl";
    assert_snapshot!(session(
        folder.path(),
        &[
            &["explain", rules, "ann", "repl"],
            &["explain", rules, "ann", "deploy"],
            &["explain", rules, "bob", "repl"],
            &["explain", rules, "bob", "deploy"],
            &["explain", rules, "bobby", "shell"],
            &["explain", rules, "--goal=in(X, dev), \\+ blocked(X, _)"],
            &["explain", rules, "--goal=level(X, N), N > 5"],
            &["explain", rules, "--goal=nosuch(X)"],
            &["explain", rules, "--goal=in(X"],
        ]
    ));
}

#[test]
fn for_machines() {
    let folder = folder(&[("r.pl", GROUPS)]);
    let (rules, json) = ("--rules=r.pl", "--format=json");
    assert_snapshot!(session(
        folder.path(),
        &[
            &["explain", rules, json, "ann", "repl"],
            &["explain", rules, json, "ann", "deploy"],
            &["explain", rules, json, "bob", "repl"],
            &["explain", rules, json, "bob", "shell"],
            &["explain", rules, json, "--goal=in(bob, X), grant(X, T)"],
            &["explain", rules, json, "--goal=nosuch(X)"],
            &[
                "explain",
                rules,
                json,
                "--allowlist=nosuch/2",
                "ann",
                "repl"
            ],
            &["explain", "--rules=nosuch.pl", json, "ann", "repl"],
        ]
    ));
}

#[test]
fn bad_usage_ends_with_two() {
    let rules = "--rules=rules/governance.pl";
    for args in [
        &["explain"][..],
        &["explain", rules],
        &["explain", rules, "U:Qa"],
        &["explain", rules, "U:Qa", "repl", "more"],
        &["explain", rules, "U:Qa", "repl", "--goal=true"],
        &["explain", rules, "--goal=true", "--verify=-"],
        &["explain", rules, "U:Qa", "repl", "--verify=-"],
        &["explain", rules, "U:Qa", "repl", "--format=svg"],
        &["explain", rules, "--help", "repl"],
        &["explain", "U:Qa", "repl"],
    ] {
        assert_eq!(run(&root(), args).code, 2, "{args:?}");
    }
}

/// Verifies a document that comes through standard input.
fn verify(folder: &Path, rules: &str, document: &str) -> Run {
    run_with(folder, &["explain", rules, "--verify=-"], document)
}

#[test]
fn proofs_verify_and_forgeries_do_not() {
    let less = GROUPS.replace("member_of(qa, staff). ", "");
    let folder = folder(&[("r.pl", GROUPS), ("less.pl", &less), ("sub/r.pl", GROUPS)]);
    let printed = run(
        folder.path(),
        &["explain", "--rules=r.pl", "--format=json", "ann", "repl"],
    );
    fs::write(folder.path().join("proof.json"), &printed.stdout).unwrap();
    let forged = printed.stdout.replace("qa,staff", "qa,stuff");
    fs::write(folder.path().join("forged.json"), forged).unwrap();
    fs::write(folder.path().join("latin1.json"), b"{\"goal\":\"\xe9\"}").unwrap();
    let denied = run(
        folder.path(),
        &["explain", "--rules=r.pl", "--format=json", "bob", "repl"],
    );
    fs::write(folder.path().join("denied.json"), &denied.stdout).unwrap();
    let rules = "--rules=r.pl";
    assert_snapshot!(session(
        folder.path(),
        &[
            &["explain", rules, "--verify=proof.json"],
            &["explain", rules, "--verify=proof.json", "--format=json"],
            // Where the file lies does not matter.
            &["explain", "--rules=sub", "--verify=proof.json"],
            &["explain", "--rules=less.pl", "--verify=proof.json"],
            &["explain", rules, "--verify=proof.json", "--tool-prefix="],
            &["explain", rules, "--verify=forged.json"],
            &["explain", rules, "--verify=forged.json", "--format=json"],
            &["explain", rules, "--verify=denied.json"],
            &["explain", rules, "--verify=proof.json", "--max-firings=3"],
            &[
                "explain",
                rules,
                "--verify=proof.json",
                "--max-firings=3",
                "--format=json"
            ],
            &["explain", rules, "--verify=nosuch.json"],
            &["explain", rules, "--verify=latin1.json"],
            &["explain", "--rules=nosuch.pl", "--verify=proof.json"],
        ]
    ));
}

/// Every question of some rules is explained as it is decided, and every proof of it verifies.
#[test]
fn explanations_agree_with_decisions() {
    let mut seen = [0, 0];
    for (rules, actors, tools) in [
        (
            "rules/roles",
            &[
                "bot:dashboard",
                "ci:deploy",
                "ops:oncall",
                "sre:lead",
                "bot:alerts",
                "NOBODY",
                "",
            ][..],
            &[
                "delete_silence",
                "rollback_deployment",
                "create_silence",
                "query_metrics",
                "rm",
                "",
            ][..],
        ),
        (
            "rules/governance.pl",
            &["U:Qa", "J:Junior", "U:Ux", "NOBODY", "a\nb", "ü 🔒 'x\\"],
            &["repl", "tool_repl", "remote_trigger", "💥\u{202e}\0"],
        ),
    ] {
        let rules = format!("--rules={rules}");
        for actor in actors {
            for tool in tools.iter().filter(|tool| !tool.contains('\0')) {
                let decided = run(
                    &root(),
                    &["decide", &rules, "--format=json", "--", actor, tool],
                );
                let explained = run(
                    &root(),
                    &["explain", &rules, "--format=json", "--", actor, tool],
                );
                assert_eq!(decided.code, explained.code, "{actor:?} {tool:?}");
                let (decided, document) = (decided.json(), explained.json());
                assert_eq!(document["policy_hash"], decided["policy_hash"]);
                assert_eq!(document["holds"], decided["decision"] == "allow");
                if explained.code == 0 {
                    seen[0] += 1;
                    let verified = verify(&root(), &rules, &explained.stdout);
                    assert_eq!(verified.code, 0, "{}", verified.stdout);
                } else {
                    seen[1] += 1;
                }
                // The other forms print, whatever the names are.
                for format in ["human", "dot"] {
                    let format = format!("--format={format}");
                    let shown = run(&root(), &["explain", &rules, &format, "--", actor, tool]);
                    assert_eq!(shown.code, explained.code, "{actor:?} {tool:?}");
                    let hidden = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
                    assert!(!shown.stdout.contains(hidden), "{:?}", shown.stdout);
                }
            }
        }
    }
    assert!(seen[0] >= 10 && seen[1] >= 30, "{seen:?}");
}

#[test]
fn every_proof_of_the_cases_verifies_through_the_binary() {
    let text = fs::read_to_string(root().join("tests/cases/conformance.jsonl")).unwrap();
    let mut verified = 0;
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let Some(source) = case["source"].as_str() else {
            continue;
        };
        let folder = folder(&[("case.pl", source)]);
        // One goal of each that holds; the library's tests have the others.
        let queries = case["queries"].as_array().into_iter().flatten();
        let holds = |query: &&Value| match &query["expect"] {
            Value::Bool(holds) => *holds,
            other => other.as_array().is_some_and(|list| !list.is_empty()),
        };
        let Some(query) = queries.into_iter().find(holds) else {
            continue;
        };
        let goal = format!("--goal={}", query["goal"].as_str().unwrap());
        let rules = "--rules=case.pl";
        let printed = run(folder.path(), &["explain", rules, "--format=json", &goal]);
        assert_eq!(printed.code, 0, "{}: {}", case["id"], printed.stdout);
        let checked = verify(folder.path(), rules, &printed.stdout);
        assert_eq!(checked.code, 0, "{}: {}", case["id"], checked.stdout);
        verified += 1;
    }
    assert!(verified > 60, "{verified}");
}

#[test]
fn ten_thousand_steps_are_no_trouble() {
    let facts: String = (0..10_000)
        .map(|n| format!("e({n}, {}). ", n + 1))
        .collect();
    let rules = "r(0). r(Y) :- r(X), e(X, Y).\nmay_execute_tool(a, tool_b) :- r(10000).\n";
    let folder = folder(&[("a.pl", &format!("{rules}{facts}"))]);
    let of = |format: &str| {
        run(
            folder.path(),
            &["explain", "--rules=a.pl", format, "a", "b"],
        )
    };
    let json = of("--format=json");
    assert_eq!(json.stdout.matches("\"fact\"").count(), 20_002);
    let verified = verify(folder.path(), "--rules=a.pl", &json.stdout);
    assert_eq!(
        (verified.code, &*verified.stdout),
        (0, "valid: may_execute_tool(a,tool_b) (20002 steps)\n")
    );
    let human = of("--format=human");
    assert_eq!(human.code, 0);
    let widest = human.stdout.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}");
    // Each step is one line, and each that is derived has one for its clause.
    let lines = human.stdout.lines().filter(|line| !line.is_empty()).count();
    assert!((30_000..35_000).contains(&lines), "{lines}");
    assert!(human.stdout.starts_with("allow: "));
    let picture = of("--format=dot");
    assert_eq!(picture.stdout.matches(" -> ").count(), 20_001);
}

#[test]
fn what_is_shared_is_shown_once_and_what_is_deep_further_down() {
    let rules = "\
p0(a).
p1(X) :- p0(X), q0(X). q0(X) :- p0(X).
p2(X) :- p1(X), q1(X). q1(X) :- p1(X).
r(0). r(Y) :- r(X), e(X, Y).
";
    let facts: String = (0..30).map(|n| format!("e({n}, {}).\n", n + 1)).collect();
    let folder = folder(&[("a.pl", &format!("{rules}{facts}"))]);
    assert_snapshot!(session(
        folder.path(),
        &[
            &["explain", "--rules=a.pl", "--goal=p2(a)"],
            &["explain", "--rules=a.pl", "--goal=r(30), r(29), r(14)"],
        ]
    ));
}

/// What Graphviz makes of a picture; `None`, said loudly, if it is not there.
fn graphviz(dot: &str, format: &str) -> Option<String> {
    let spawned = Command::new("dot")
        .arg(format)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = spawned else {
        let demanded = std::env::var_os("HORNGATE_PEERS").is_some_and(|value| value == "1");
        assert!(
            !demanded,
            "HORNGATE_PEERS=1, but `dot` is missing (Debian: graphviz)"
        );
        // Straight to standard error, which the test harness does not hold back.
        let _ = writeln!(
            std::io::stderr(),
            "NOT DRAWN WITH GRAPHVIZ: `dot` is missing (Debian: graphviz)"
        );
        return None;
    };
    child
        .stdin
        .take()
        .unwrap()
        .write_all(dot.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The texts of a picture in SVG, as a reader sees them.
pub(crate) fn texts(svg: &str) -> Vec<String> {
    svg.split("<text ")
        .skip(1)
        .filter_map(|rest| rest.split_once('>')?.1.split_once("</text>"))
        .map(|(text, _)| {
            text.replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&#39;", "'")
                .replace("&#45;", "-")
                .replace("&#160;", " ")
                .replace("&amp;", "&")
        })
        .collect()
}

#[test]
fn graphviz_draws_what_is_explained() {
    let odd = "\
may_execute_tool('a\"b\\\\N', 'tool_&lt;x&amp;') :- ok('{|}<>', \"s\\n\"), \\+ no('\\\\L').
ok('{|}<>', \"s\\n\").
:- dynamic no/1.
";
    let folder = folder(&[("r.pl", GROUPS), ("odd.pl", odd)]);
    let picture = |args: &[&str]| {
        let run = run(folder.path(), args);
        assert!(run.code < 2, "{}", run.stderr);
        run.stdout
    };
    let allowed = picture(&["explain", "--rules=r.pl", "--format=dot", "ann", "repl"]);
    let denied = picture(&["explain", "--rules=r.pl", "--format=dot", "bob", "repl"]);
    let missing = picture(&["explain", "--rules=r.pl", "--format=dot", "bob", "shell"]);
    assert_snapshot!(format!("{allowed}\n{denied}\n{missing}"));
    let odd = picture(&[
        "explain",
        "--rules=odd.pl",
        "--format=dot",
        "a\"b\\N",
        "&lt;x&amp;",
    ]);
    for dot in [&allowed, &denied, &missing] {
        let Some(svg) = graphviz(dot, "-Tsvg") else {
            return;
        };
        assert!(texts(&svg).len() > 6, "{svg}");
    }
    let Some(svg) = graphviz(&odd, "-Tsvg") else {
        return;
    };
    let seen = texts(&svg).join(" ");
    for text in [
        r#"may_execute_tool('a"b\\N','tool_&lt;x&amp;')"#,
        r#"ok('{|}<>',"s\n")"#,
        r"no no('\\L')",
    ] {
        assert!(seen.contains(text), "{text} in {seen}");
    }
}

#[test]
fn an_answer_that_nobody_reads_is_no_answer() {
    let facts: String = (0..20_000)
        .map(|n| format!("e({n}, {}). ", n + 1))
        .collect();
    let text = format!("r(0). r(Y) :- r(X), e(X, Y).\n{facts}");
    let folder = folder(&[("a.pl", &text)]);
    let mut child = Command::new(horngate(folder.path()).get_program())
        .args(["explain", "--rules=a.pl", "--goal=r(20000)"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
