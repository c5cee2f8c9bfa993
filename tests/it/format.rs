//! Canonical layout: it changes no clause and no comment, it is a fixed point, and the shipped rules are laid out so.

use crate::{cases, programs};
use horngate::{Program, Source, syntax};
use proptest::prelude::*;

fn formatted(text: &str) -> String {
    match syntax::format(&Source::new("a.pl", text)) {
        Ok(formatted) => formatted,
        Err(found) => panic!("{text}\n{found:?}"),
    }
}

#[test]
fn the_shipped_rules_are_laid_out() {
    for text in [
        include_str!("../../rules/governance.pl"),
        include_str!("../../rules/governance_tests.pl"),
        include_str!("../../rules/permissive/asked.pl"),
        include_str!("../../rules/roles/roles.pl"),
        include_str!("../../rules/roles/roles_tests.pl"),
        include_str!("../../examples/pinned/governance.pl"),
    ] {
        assert_eq!(formatted(text), text);
    }
}

#[test]
fn the_documented_layout_is_what_is_laid_out() {
    let page = include_str!("../../docs/layout.md");
    let shown = page.split("```prolog\n").nth(1).unwrap();
    let shown = shown.split("```").next().unwrap();
    assert_eq!(formatted(shown), shown);
}

#[test]
fn layouts() {
    insta::assert_snapshot!(formatted(include_str!("../data/layout.pl")));
}

/// The text is laid out, that is a fixed point, and it is read as the same clauses.
fn law(name: &str, text: &str) -> Result<(), TestCaseError> {
    let Ok(once) = syntax::format(&Source::new("a.pl", text)) else {
        // Only what is no rule file is left alone.
        let parsed = Program::parse([Source::new("a.pl", text)]);
        let op = text.contains("op(");
        prop_assert!(op || !parsed.diagnostics().is_empty(), "{name}: {text}");
        return Ok(());
    };
    let twice = syntax::format(&Source::new("a.pl", &*once));
    prop_assert_eq!(twice.as_ref(), Ok(&once), "{}: {}", name, text);
    let kinds = |text: &str| {
        let program = Program::parse([Source::new("a.pl", text)]);
        assert_eq!(program.diagnostics(), []);
        program
            .clauses()
            .map(|clause| clause.kind.clone())
            .collect::<Vec<_>>()
    };
    prop_assert_eq!(kinds(&once), kinds(text), "{}", name);
    prop_assert!(!once.contains(" \n") || text.contains(" \n"), "{}", once);
    Ok(())
}

#[test]
fn the_whole_corpus() {
    let mut texts = 0;
    for case in cases::all() {
        for (_, text) in case.texts() {
            law(&case.id, &text).unwrap();
            // Line ends of the other kind.
            law(&case.id, &text.replace('\n', "\r\n")).unwrap();
            texts += 1;
        }
    }
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/diagnostics");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if let Ok(text) = std::fs::read_to_string(&path) {
            law(&path.display().to_string(), &text).unwrap();
            texts += 1;
        }
    }
    assert!(texts > 900, "{texts}");
}

#[test]
fn awkward_texts() {
    assert_eq!(formatted(""), "");
    assert_eq!(formatted("\n \n"), "");
    assert_eq!(formatted("\u{feff}p(a).\r\n% b\r\n"), "p(a).\n% b\n");
    assert_eq!(
        formatted("#!/usr/bin/env swipl\n\n\n\np."),
        "#!/usr/bin/env swipl\n\np.\n"
    );
    assert_eq!(formatted("% only"), "% only\n");
    assert_eq!(formatted("p. % a\n/* b */"), "p.  % a\n/* b */\n");
    assert_eq!(formatted("p. /* a\n b */ q."), "p.\n/* a\n b */ q.\n");
    assert_eq!(
        formatted("p % a\n % b\n. % c\nq."),
        "p.  % a\n% b\n% c\nq.\n"
    );
    for (text, why) in [
        ("p(a", "the last clause has no end dot"),
        (
            ":- op(700, xfx, likes).\nann likes bob.",
            "a text that changes the operators cannot be formatted",
        ),
        (
            ":- module(m, [op(700, xfx, likes)]).\n",
            "a text that changes the operators cannot be formatted",
        ),
    ] {
        let found = syntax::format(&Source::new("a.pl", text)).unwrap_err();
        assert_eq!(found[0].message, why);
    }
    // Deep and long texts neither overflow the stack nor take quadratic time.
    let deep = format!("p({}a{}).\n", "f(".repeat(250), ")".repeat(250));
    assert_eq!(formatted(&deep), deep);
    for (open, inner, close) in [
        ("( a ; ", "b", " )"),
        ("\\+ ( a, ", "b", " )"),
        ("f(\n", "a", "\n)"),
        ("[% c\n", "a", ", b]"),
        ("(a -> ", "b", " ; c)"),
    ] {
        let deep = format!("p :- {}{inner}{}.\n", open.repeat(200), close.repeat(200));
        law(open, &deep).unwrap();
    }
    let long: Vec<String> = (0..20_000).map(|at| format!("c{at}")).collect();
    let list = format!("p([{}]).\n", long.join(", "));
    assert_eq!(formatted(&list), list);
    let lists = format!("p([\n{}]).\n", long.join(","));
    assert_eq!(formatted(&lists).lines().count(), 20_002);
    let body = format!("p :-\n    {}.\n", long.join(",\n    "));
    assert_eq!(formatted(&body), body);
    let facts: String = long.iter().map(|name| format!("p({name}, a).\n")).collect();
    assert_eq!(formatted(&facts).lines().count(), 20_000);
    let comments = format!("p :- {} a.", "% c\n".repeat(500));
    assert_eq!(formatted(&comments).lines().count(), 501);
}

/// Pieces of which texts are made that are often clauses, with comments and line ends in all places.
const PIECES: &[&str] = &[
    "p",
    "q(X)",
    "r(X, Y)",
    "f(",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ", ",
    ",",
    " ; ",
    ";",
    " -> ",
    "->",
    "*->",
    " :- ",
    ":-",
    ".\n",
    ". ",
    "\\+ ",
    "\\+",
    "\\+(",
    "-",
    "- ",
    "+",
    "1",
    "-1",
    "0'a",
    "X",
    "_",
    "=",
    " is ",
    "<",
    "'q'",
    "'Q'",
    "'dynamic'",
    "dynamic ",
    "\"s\"",
    "|",
    "!",
    "\n",
    "\n\n",
    "  ",
    "% c\n",
    "/* c */",
    "/* c\n c */",
    "/",
    ":",
    "**",
    "[]",
    "{}",
    "-->",
    "mod",
    "\t",
    "role(ann, dev).\n",
    "role('U:Qa', ops). % d\n",
    "a, b",
    "a ; b",
    "( a ; b )",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn pieces(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..30),
        head in proptest::sample::select(&["", "p :- ", "p(X) :- q(X), ", ":- dynamic a/1, ", "p :- ( "][..]),
        tail in proptest::sample::select(&["", ".", " ).", ", q.\n", "% c\n.", "."][..]),
    ) {
        law("pieces", &format!("{head}{}{tail}", pieces.concat()))?;
    }
}

/// Where layout may stand in a generated text.
const GAP: &str = "\u{1}";

/// A term; operators have blanks around them and take only what needs no brackets.
fn term() -> BoxedStrategy<String> {
    let leaf = proptest::sample::select(
        &[
            "a",
            "ann",
            "'U:Qa'",
            "'ann'",
            "'dynamic'",
            "X",
            "_",
            "1",
            "-1",
            "0'a",
            "0x1F",
            "1.5e3",
            "\"s\"",
            "[]",
            "{}",
            "-",
            "(:-)",
            "'don''t'",
            "a_name_of_some_length",
            "'a quoted name of more than forty characters'",
            "!",
        ][..],
    )
    .prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 4, |inner| {
        let row = proptest::collection::vec(inner.clone(), 1..4)
            .prop_map(|items| items.join(&format!("{GAP},{GAP}")));
        let operator = proptest::sample::select(&["-", "+", "*", "/", ":", "=", "is", "<", "mod", "**", "@<", "->", ";", ","][..]);
        let group = |text: String| format!("({GAP}{text}{GAP})");
        prop_oneof![
            4 => row.clone().prop_map(|row| format!("f({GAP}{row}{GAP})")),
            2 => row.clone().prop_map(|row| format!("[{GAP}{row}{GAP}]")),
            1 => (row.clone(), inner.clone()).prop_map(|(row, tail)| format!("[{GAP}{row}{GAP}|{GAP}{tail}{GAP}]")),
            1 => row.clone().prop_map(|row| format!(" {{{GAP}{row}{GAP}}}")),
            1 => row.prop_map(group),
            2 => (inner.clone(), operator, inner.clone())
                .prop_map(move |(a, op, b)| group(format!("{a} {GAP}{op} {GAP}{b}"))),
            1 => inner.clone().prop_map(move |a| group(format!("- {GAP}{a}"))),
            1 => inner.prop_map(move |a| group(format!("\\+ {GAP}{a}"))),
        ]
    })
    .boxed()
}

/// A goal or a group of goals.
fn goal() -> BoxedStrategy<String> {
    let arguments = proptest::collection::vec(term(), 0..4);
    let name = proptest::sample::select(&["p", "role", "may_execute_tool"][..]);
    let call = (name, arguments).prop_map(|(name, arguments)| match &*arguments {
        [] => name.to_owned(),
        arguments => format!(
            "{name}({GAP}{}{GAP})",
            arguments.join(&format!("{GAP},{GAP}"))
        ),
    });
    let compare = proptest::sample::select(&["=", "is", "<", "==", "@>="][..]);
    let test = (term(), compare, term()).prop_map(|(a, op, b)| format!("{a} {GAP}{op} {GAP}{b}"));
    prop_oneof![3 => call, 1 => test]
        .prop_recursive(3, 12, 3, |inner| {
            let marks = proptest::sample::select(&[",", ",", ";", "->", "*->"][..]);
            prop_oneof![
                3 => proptest::collection::vec((inner.clone(), marks), 1..5).prop_map(|goals| {
                    let mut text = format!("({GAP}");
                    for (at, (goal, mark)) in goals.iter().enumerate() {
                        text += goal;
                        if at + 1 < goals.len() {
                            text += &format!(" {GAP}{mark} {GAP}");
                        }
                    }
                    text + GAP + ")"
                }),
                1 => inner.prop_map(|goal| format!("\\+ {GAP}{goal}")),
            ]
        })
        .boxed()
}

fn clause() -> BoxedStrategy<String> {
    let head = proptest::collection::vec(term(), 1..4).prop_map(|arguments| {
        format!(
            "role({GAP}{}{GAP})",
            arguments.join(&format!("{GAP},{GAP}"))
        )
    });
    let marks = proptest::sample::select(&[",", ",", ",", ";", "->"][..]);
    let body = proptest::collection::vec((goal(), marks), 1..5).prop_map(|goals| {
        let mut text = String::new();
        for (at, (goal, mark)) in goals.iter().enumerate() {
            text += goal;
            if at + 1 < goals.len() {
                text += &format!(" {GAP}{mark} {GAP}");
            }
        }
        text
    });
    let neck = proptest::sample::select(&[":-", ":-", ":-", "-->", "=>"][..]);
    let declared = proptest::collection::vec(
        proptest::sample::select(&["p/1", "a_long_name_of_a_predicate/2"][..]),
        1..5,
    );
    prop_oneof![
        3 => head.clone(),
        3 => (head, neck, body.clone()).prop_map(|(head, neck, body)| format!("{head} {GAP}{neck} {GAP}{body}")),
        1 => body.prop_map(|body| format!(":- {GAP}{body}")),
        1 => declared.prop_map(|row| format!(":- {GAP}dynamic {GAP}{}", row.join(&format!(" {GAP},{GAP}")))),
    ]
    .prop_map(|clause| format!("{clause} {GAP}.\n{GAP}"))
    .boxed()
}

/// Any layout, mostly the usual.
fn gaps() -> impl Strategy<Value = Vec<&'static str>> {
    let usual = proptest::sample::select(&["", "", " ", "\n", "\n    ", "\n\n"][..]);
    let comments = proptest::sample::select(
        &[
            " % c\n",
            " /* c */ ",
            "\n% c\n",
            "\n\n  % c\n% d\n\n",
            "\n/* c\n c */",
            " /* c */\n",
            " /* c */ % d\n",
        ][..],
    );
    proptest::collection::vec(prop_oneof![20 => usual, 1 => comments], 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn clauses_with_any_layout(
        clauses in proptest::collection::vec(clause(), 1..5),
        gaps in gaps(),
    ) {
        let mut text = String::new();
        let mut gaps = gaps.into_iter().cycle();
        for piece in clauses.concat().split(GAP) {
            text += piece;
            text += gaps.next().unwrap_or("");
        }
        law("clauses", &text)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    /// Random programs, with comments and line ends put where a blank or a comma was.
    #[test]
    fn programs_with_comments(
        program in programs::program(),
        gaps in proptest::collection::vec(
            proptest::sample::select(&[" ", "\n", " % c\n", " /* c */ ", "\n\n", "\n% c\n", "  ", "\n  /* c\n c */\n"][..]),
            1..40,
        ),
    ) {
        let text = program.to_string();
        law("program", &text)?;
        let mut gaps = gaps.iter().copied().cycle();
        let spread: String = text
            .split_inclusive(' ')
            .flat_map(|piece| [piece, gaps.next().unwrap_or("")])
            .collect();
        law("spread program", &spread)?;
        let tight: String = text.split(", ").collect::<Vec<_>>().join(",");
        let spread: String = tight
            .split_inclusive(',')
            .flat_map(|piece| [piece, gaps.next().unwrap_or("")])
            .collect();
        law("spread program", &spread)?;
    }
}
