//! `horngate grant` and `horngate revoke`.

use crate::{folder, root, run, session};
use insta::assert_snapshot;
use std::fs;

const ROLES: &str = "role(ann, dev).\nblocked(eve, tool_x).\n\
    may_execute_tool(A, tool_x) :-\n    role(A, dev), % the role\n    \\+ blocked(A, tool_x).\n\
    may_execute_tool(bob, tool_y).\n";

#[test]
fn sessions() {
    let rules = fs::read_to_string(root().join("rules/governance.pl")).unwrap();
    let tools = fs::read_to_string(root().join("tests/data/orchestrata.json")).unwrap();
    let folder = folder(&[
        ("governance.pl", &rules),
        ("tools.json", &tools),
        ("roles.pl", ROLES),
        (
            "wider.pl",
            "may_execute_tool(ann, tool_x).\nmay_execute_tool(A, T) :- deputy(A, B), may_execute_tool(B, T).\n\
             deputy(eve, bob).\n",
        ),
        (
            "both.pl",
            "role(ann, dev).\nmay_execute_tool(ann, tool_x).\nmay_execute_tool(A, tool_x) :- role(A, dev).\n",
        ),
        ("one.pl", "may_execute_tool(ann, tool_x).\n"),
        ("none.pl", "% nothing yet\n"),
        ("broken.pl", "may_execute_tool(ann, tool_x)\n"),
        (
            "set/facts.pl",
            "role(ann, dev).\n:- multifile may_execute_tool/2.\nmay_execute_tool(bob, tool_y).\n",
        ),
        (
            "set/rules.pl",
            ":- multifile may_execute_tool/2.\nmay_execute_tool(A, tool_x) :- role(A, dev).\n",
        ),
    ]);
    let json = "--format=json";
    let pinned = "--tools=tools.json";
    assert_snapshot!(session(
        folder.path(),
        &[
            &["grant", "U:SD", "run_shell", "governance.pl", "--dry-run"],
            &["grant", "U:SD", "run_shell", "governance.pl"],
            &["grant", "U:SD", "run_shell", "governance.pl"],
            &["decide", "--rules=governance.pl", "U:SD", "run_shell"],
            &["revoke", "U:SD", "run_shell", "governance.pl"],
            &["revoke", "U:SD", "run_shell", "governance.pl"],
            &[
                "grant",
                "U:QA",
                "repl",
                "governance.pl",
                pinned,
                "--dry-run"
            ],
            &[
                "revoke",
                "U:Qa",
                "repl",
                "governance.pl",
                pinned,
                "--dry-run",
                json
            ],
            &["grant", "U:Qa", "repl", "governance.pl", json],
            // By a rule, also by a rule, by a rule of others.
            &["revoke", "ann", "x", "roles.pl"],
            &["revoke", "ann", "x", "both.pl"],
            &["grant", "ann", "x", "roles.pl"],
            &["grant", "eve", "x", "roles.pl"],
            &["revoke", "ann", "x", "set/facts.pl", "--rules=set"],
            &["grant", "bob", "z", "set/facts.pl", "--rules=set"],
            &[
                "grant",
                "bob",
                "z",
                "set/facts.pl",
                "--rules=set/rules.pl",
                "--rules=set/facts.pl"
            ],
            &["revoke", "bob", "y", "set/rules.pl", "--rules=set"],
            // More would change, or nothing would be left that can be bound.
            &["grant", "bob", "x", "wider.pl"],
            &["revoke", "ann", "x", "one.pl"],
            &["grant", "ann", "x", "none.pl"],
            &[
                "grant",
                "ann",
                "y",
                "none.pl",
                "--allowlist=may_run/2",
                "--tool-prefix="
            ],
            // No answer.
            &["grant", "ann", "y", "broken.pl"],
            &["grant", "ann", "y", "broken.pl", json],
            &["grant", "ann", "y", "nosuch.pl"],
            &["grant", "ann", "y", "set"],
            &["grant", "ann", "tool_y", "roles.pl"],
            &["grant", "", "y", "roles.pl"],
            &["revoke", "ann", "", "roles.pl"],
            &["grant", "ann", "y", "roles.pl", "--tools=nosuch.json"],
            &["grant", "ann", "y", "roles.pl", "--max-tuples=1"],
            &["grant", "ann", "y"],
        ]
    ));
    assert_eq!(
        fs::read_to_string(folder.path().join("governance.pl")).unwrap(),
        rules
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("roles.pl")).unwrap(),
        ROLES.replace(
            "may_execute_tool(bob, tool_y).\n",
            "may_execute_tool(bob, tool_y).\nmay_execute_tool(eve, tool_x).\n"
        )
    );
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 9, "a temporary file is left");
}

#[test]
fn all_else_stays_byte_for_byte() {
    let text =
        "\u{feff}% ann\r\nmay_execute_tool(ann, tool_x). % why\r\nmay_execute_tool(bob, tool_x).";
    let folder = folder(&[("rules.pl", text)]);
    let path = folder.path().join("rules.pl");
    assert_eq!(
        run(folder.path(), &["grant", "ann", "y", "rules.pl"]).code,
        0
    );
    let granted = text.replace("% why\r\n", "% why\r\nmay_execute_tool(ann, tool_y).\r\n");
    assert_eq!(fs::read_to_string(&path).unwrap(), granted);
    assert_eq!(
        run(folder.path(), &["grant", "cy", "y", "rules.pl"]).code,
        0
    );
    assert!(
        fs::read_to_string(&path)
            .unwrap()
            .ends_with(".\r\nmay_execute_tool(cy, tool_y).")
    );
    assert_eq!(
        run(folder.path(), &["revoke", "cy", "y", "rules.pl"]).code,
        0
    );
    assert_eq!(
        run(folder.path(), &["revoke", "ann", "y", "rules.pl"]).code,
        0
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[cfg(unix)]
#[test]
fn links_permissions_and_what_may_not_be_written_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder(&[("rules.pl", "may_execute_tool(ann, tool_x).\n")]);
    let (path, link) = (
        folder.path().join("rules.pl"),
        folder.path().join("link.pl"),
    );
    symlink("rules.pl", &link).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(
        run(folder.path(), &["grant", "ann", "y", "link.pl"]).code,
        0
    );
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o640
    );
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(
        text,
        "may_execute_tool(ann, tool_x).\nmay_execute_tool(ann, tool_y).\n"
    );
    // The set may name the file by either name.
    let revoked = run(
        folder.path(),
        &["revoke", "ann", "y", "link.pl", "--rules=."],
    );
    assert_eq!(revoked.code, 0, "{}", revoked.stderr);
}
