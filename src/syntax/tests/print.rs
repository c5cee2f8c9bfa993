//! Terms as `writeq/1` writes them, and that what is written reads back.

use super::read;
use crate::syntax::quoted_atom;

/// What is read and what SWI-Prolog 9.0.4 writes for it, produced by it: `writeq/1` with variables by name.
const WRITTEN: &[(&str, &str)] = &[
    ("f((a:-b),c)", "f((a:-b),c)"),
    ("f((a:-b),(c,d))", "f((a:-b),(c,d))"),
    ("a:-b,c;d->e", "a:-b,c;d->e"),
    (":- dynamic a/1,b/2", ":-dynamic a/1,b/2"),
    (r"?- \+a", r"?- \+a"),
    (r#"p-->"a",{b}"#, r#"p-->"a",{b}"#),
    ("a=>b", "a=>b"),
    ("1-2-3", "1-2-3"),
    ("1-(2-3)", "1-(2-3)"),
    ("2^3^4", "2^3^4"),
    ("(2^3)^4", "(2^3)^4"),
    ("- (1)", "- 1"),
    ("-(-(1))", "- - 1"),
    ("- a", "-a"),
    ("-(-(a))", "- -a"),
    ("-(-1)", "- -1"),
    ("1 - -1", "1- -1"),
    ("1 - (- 1)", "1- - 1"),
    ("2** -1", "2** -1"),
    ("-1^2", "-1^2"),
    ("-(1^2)", "- 1^2"),
    ("(-(1))^2", "(- 1)^2"),
    ("1*(-a)", "1* -a"),
    ("1**(-a)", "1**(-a)"),
    ("(a:-b):-c", "(a:-b):-c"),
    (r"\+ (a,b)", r"\+ (a,b)"),
    (r"\+(a,b)", r"\+(a,b)"),
    (r"\+[a]", r"\+[a]"),
    (r"\+ {a}", r"\+ {a}"),
    (r#"\+ "a""#, r#"\+"a""#),
    (r"\+'A'", r"\+'A'"),
    (r"\+ \+a", r"\+ \+a"),
    ("- (-)", "- (-)"),
    ("[-]", "[-]"),
    ("[-|-]", "[-|-]"),
    ("[a|b]", "[a|b]"),
    ("[(a:-b),c|(d,e)]", "[(a:-b),c|(d,e)]"),
    ("{-}", "{-}"),
    ("{a,b}", "{a,b}"),
    ("f(:-,-)", "f(:-,-)"),
    ("f(',',(a,b))", "f(',',(a,b))"),
    ("f(;,'|',[],'[]',{},'{}')", "f(;,'|',[],'[]',{},{})"),
    (r"a= \+ ", r"a=(\+)"),
    ("a=(-)", "a=(-)"),
    ("(mod)mod(mod)", "(mod)mod(mod)"),
    ("a mod -1", "a mod -1"),
    ("-1 mod a", "-1 mod a"),
    ("(a rem b) rem c", "a rem b rem c"),
    ("a rem (b rem c)", "a rem (b rem c)"),
    ("X is Y", "X is Y"),
    ("f(X,_,_Y)", "f(X,_,_Y)"),
    ("dynamic(a)", "dynamic a"),
    ("f((dynamic a))", "f((dynamic a))"),
    ("dynamic -1", "dynamic-1"),
    ("dynamic [a]", "dynamic[a]"),
    ("dynamic {a}", "dynamic {a}"),
    ("dynamic (a,b)", "dynamic a,b"),
    ("f(-discontiguous)", "f(- (discontiguous))"),
    ("a:b:c", "a:b:c"),
    ("(a:b):c", "(a:b):c"),
    ("(a->b;c)", "a->b;c"),
    ("((a->b)->c)", "(a->b)->c"),
    ("((a;b);c)", "(a;b);c"),
    ("((a,b),c)", "(a,b),c"),
    ("'hello world'", "'hello world'"),
    ("'Abc'", "'Abc'"),
    ("'_x'", "'_x'"),
    ("'don''t'", r"'don\'t'"),
    (r"'a\nb\tc\\d'", r"'a\nb\tc\\d'"),
    (r"'\a\b\f\v\r\e\0\\x7f\'", r"'\a\b\f\v\r\x1B\\x0\\x7F\'"),
    (r"'\xa0\\x200b\\xe000\'", r"'\xA0\\x200B\\xE000\'"),
    (r#""say \"hi\"'s""#, r#""say \"hi\"'s""#),
    ("''", "''"),
    (r#""""#, r#""""#),
    ("[]", "[]"),
    ("'[]'", "'[]'"),
    ("'[]'(a)", "'[]'(a)"),
    ("{}(a)", "{a}"),
    ("'{}'(a,b)", "{}(a,b)"),
    ("'/*'", "'/*'"),
    ("'**'", "**"),
    ("'.'", "'.'"),
    ("','", "','"),
    ("'|'(a,b)", "a|b"),
    ("'.a'", "'.a'"),
    ("'a.b'", "'a.b'"),
    ("'%'", "'%'"),
    ("'!'", "!"),
    ("'→'", "→"),
    ("'été'", "été"),
    ("'É'", "'É'"),
    ("'日本'", "日本"),
    ("'🔒'", "🔒"),
    ("1.0e10", "10000000000.0"),
    ("1.0e14", "100000000000000.0"),
    ("1.0e15", "1.0e+15"),
    ("1.0e22", "1.0e+22"),
    ("0.1", "0.1"),
    ("0.0001", "0.0001"),
    ("0.00001", "1.0e-5"),
    ("-0.0", "-0.0"),
    ("1.5e300", "1.5e+300"),
    ("5.0e-324", "5.0e-324"),
    ("863493306483509.25", "863493306483509.2"),
    (
        "123456789012345678901234567890",
        "123456789012345678901234567890",
    ),
];

#[test]
fn as_writeq_writes() {
    for (text, written) in WRITTEN {
        assert_eq!(read(text).to_string(), *written, "{text}");
    }
}

#[test]
fn one_thing_is_written_otherwise() {
    assert_eq!(read("f('$VAR'(1))").to_string(), "f('$VAR'(1))");
}

#[test]
fn atoms_in_quotes() {
    assert_eq!(quoted_atom("U:Qa"), "'U:Qa'");
    assert_eq!(quoted_atom("[]"), "'[]'");
    assert_eq!(quoted_atom("tool_repl"), "tool_repl");
    assert_eq!(quoted_atom(""), "''");
}
