use crate::{folder, root, run, session};
use insta::assert_snapshot;

#[test]
fn the_shipped_rules() {
    let rules = "--rules=rules/governance.pl";
    assert_snapshot!(session(
        &root(),
        &[
            &["grants", rules],
            &["grants", rules, "--actor=U:Qa"],
            &["grants", rules, "--tool=repl", "--format=json"],
            &[
                "grants",
                rules,
                "--tool=repl",
                "--actor=U:SD",
                "--format=csv"
            ],
            &["grants", rules, "--actor=U:Ux"],
            &["grants", rules, "--actor=U:Ux", "--format=json"],
            &["grants", rules, "--allowlist=may_execute/2"],
            &["grants", rules, "--allowlist=nosuch/2", "--format=json"],
            &["grants", "--rules=rules/roles", "--actor=ci:deploy"],
        ]
    ));
}

#[test]
fn names_are_quoted_as_csv_and_shown_as_they_are() {
    let folder = folder(&[(
        "a.pl",
        "may_execute_tool('a,\"b\"', tool_x).\nmay_execute_tool('two\\nlines', tool_y).\n\
         may_execute_tool('a\\x200B\\gent', tool_z).\n% no grants of tools:\n\
         may_execute_tool(\"text\", tool_x).\nmay_execute_tool(c, other).\n",
    )]);
    let csv = run(folder.path(), &["grants", "--rules=a.pl", "--format=csv"]);
    assert_eq!(
        csv.stdout,
        "actor,tool\n\"a,\"\"b\"\"\",x\na\u{200b}gent,z\n\"two\nlines\",y\n"
    );
    let human = run(folder.path(), &["grants", "--rules=a.pl"]);
    assert_snapshot!(human.stdout);
}
