//! Lists of tools in every form and language, what is refused in them, and lock files.

use crate::pins_of_governance as allowlist;
use horngate::AdvertisedTools;
use horngate::pins::{Pins, Syntax, ToolList, ToolLock};
use proptest::prelude::*;
use std::fmt::Write;
use std::fs;
use std::path::Path;

fn listed(text: &str, syntax: Syntax) -> Result<AdvertisedTools, String> {
    let list = ToolList::parse(text, syntax).map_err(|error| error.to_string())?;
    Ok(list
        .advertised("list")
        .unwrap_or_else(|| list.shown_to("list", "U:Qa")))
}

fn error(text: &str, syntax: Syntax) -> String {
    match listed(text, syntax) {
        Ok(tools) => panic!("{text} is read as {tools:?}"),
        Err(error) => error,
    }
}

fn names(tools: &AdvertisedTools) -> Vec<(&str, bool)> {
    tools.tools().collect()
}

#[test]
fn the_own_form_in_three_languages() {
    let json = include_str!("../data/orchestrata.json");
    let yaml = "
# horngate's own form
tools:
  repl:           {requires_approval: true}
  run_shell:      {requires_approval: true}
  remote_trigger:
    requires_approval: True
  'write_file':   {requires_approval: false}
  \"read_file\":  {requires_approval: false}
  search_code:    {requires_approval: false}
agents:
  U:Qa:     [repl, run_shell, read_file, search_code]
  J:Junior: [repl, run_shell, read_file, write_file]
  U:SD:     [repl, read_file, write_file, search_code]
  U:Cd:
    - run_shell
    - read_file
    - write_file
    - search_code
  U:PM:     [remote_trigger, read_file]
  U:Ux:     [read_file, search_code]
";
    let toml = "
[tools]
repl.requires_approval = true
run_shell = { requires_approval = true }
write_file.requires_approval = false
read_file.requires_approval = false
search_code.requires_approval = false
[tools.remote_trigger]
requires_approval = true

[agents]
'U:Qa' = ['repl', 'run_shell', 'read_file', 'search_code']
'J:Junior' = ['repl', 'run_shell', 'read_file', 'write_file']
'U:SD' = ['repl', 'read_file', 'write_file', 'search_code']
'U:Cd' = ['run_shell', 'read_file', 'write_file', 'search_code']
'U:PM' = ['remote_trigger', 'read_file']
'U:Ux' = ['read_file', 'search_code']
";
    let read = AdvertisedTools::from_json(json).unwrap();
    assert_eq!(AdvertisedTools::from_yaml(yaml).unwrap(), read);
    assert_eq!(AdvertisedTools::from_toml(toml).unwrap(), read);
    assert!(Pins::compare(&allowlist(), &read).agree());
}

#[test]
fn lists_of_real_servers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mcp-tools");
    let mut read: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            let tools = AdvertisedTools::from_list("U:Qa", &text).unwrap();
            assert!(tools.tools().all(|(_, flagged)| flagged));
            // The names of real servers do not look alike, and none stands twice.
            let pins = Pins::compare(&allowlist(), &tools.clone().only("U:Qa"));
            let missing = tools.tools().count();
            assert_eq!(pins.findings().len(), missing + 2, "{pins}");
            // Bare results are read, too.
            let response: serde_json::Value = serde_json::from_str(&text).unwrap();
            let bare = AdvertisedTools::from_list("U:Qa", &response["result"].to_string());
            assert_eq!(bare.unwrap(), tools);
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            format!("{name} {missing}")
        })
        .collect();
    read.sort();
    insta::assert_snapshot!(read.join("\n"));
}

const MCP: &str = r#"{"tools": [
    {"name": "fetch", "description": "Fetches a page", "inputSchema": {"type": "object", "required": ["url"]}},
    {"name": "bash", "inputSchema": {}}
], "_meta": {"anything": 1}}"#;

/// The same two tools, as each maker has them.
const OTHERS: [&str; 3] = [
    r#"[{"type": "function", "function": {"name": "fetch", "description": "Fetches a page",
            "parameters": {"required": ["url"], "type": "object"}, "strict": true}},
        {"type": "function", "function": {"name": "bash", "description": null, "parameters": {}}}]"#,
    r#"[{"type": "function", "name": "fetch", "description": "Fetches a page",
            "parameters": {"required": ["url"], "type": "object"}},
        {"type": "function", "name": "bash", "parameters": {}, "strict": false}]"#,
    r#"[{"name": "fetch", "description": "Fetches a page", "cache_control": {"type": "ephemeral"},
            "input_schema": {"type": "object", "required": ["url"]}},
        {"type": "custom", "name": "bash", "input_schema": {}}]"#,
];

#[test]
fn a_tool_has_the_same_definition_in_every_form() {
    let mcp = listed(MCP, Syntax::Json).unwrap();
    assert_eq!(names(&mcp), [("bash", true), ("fetch", true)]);
    for text in OTHERS {
        assert_eq!(listed(text, Syntax::Json).unwrap(), mcp, "{text}");
    }
    let own = r#"{"tools": {"fetch": {"requires_approval": true, "description": "Fetches a page",
            "input_schema": {"type": "object", "required": ["url"]}},
        "bash": {"requires_approval": true, "input_schema": {}}}, "agents": {"U:Qa": ["fetch", "bash"]}}"#;
    let own = listed(own, Syntax::Json).unwrap();
    assert_eq!(
        ToolLock::of(&own).unwrap().to_string(),
        ToolLock::of(&mcp).unwrap().to_string()
    );
    // Tools that Anthropic defines have no schema.
    let dated = r#"[{"type": "bash_20250124", "name": "bash"},
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}]"#;
    let dated = listed(dated, Syntax::Json).unwrap();
    assert_eq!(names(&dated), [("bash", true), ("web_search", true)]);
    assert_eq!(names(&listed("[]", Syntax::Json).unwrap()), []);
}

/// Every refusal, as `place: why`.
#[test]
fn what_is_refused_and_where() {
    let own = |tools: &str, agents: &str| format!(r#"{{"tools": {tools}, "agents": {agents}}}"#);
    let json = [
        "".to_owned(),
        "{".to_owned(),
        "\"x\"".to_owned(),
        "{}".to_owned(),
        "{\"tools\": {}}".to_owned(),
        "{\"agents\": {}}".to_owned(),
        own("{}", "{}") + "x",
        own("[]", "{}"),
        own("{}", "[]"),
        own(
            "{\n\"a\": {\"requires_approval\": true},\n \"a\": {\"requires_approval\": false}}",
            "{}",
        ),
        own(r#"{"a": {}}"#, "{}"),
        own(r#"{"a": true}"#, "{}"),
        own(r#"{"a b": {"requires_approval": "yes"}}"#, "{}"),
        own(
            r#"{"a": {"requires_approval": true, "require_approval": false}}"#,
            "{}",
        ),
        own(
            r#"{"a": {"requires_approval": true, "description": 1}}"#,
            "{}",
        ),
        own(r#"{"": {"requires_approval": true}}"#, "{}"),
        own("{}", r#"{"U:Qa": {"repl": "confirm"}}"#),
        own("{}", r#"{"U:Qa": ["repl", 7]}"#),
        own("{}", r#"{"U:Qa": [""]}"#),
        own("{}", r#"{"": []}"#),
        own("{}", r#"{"\ud800": []}"#),
        r#"{"tools": {}, "agents": {}, "note": "x"}"#.to_owned(),
        include_str!("../data/orrery-guarded-tools.json").to_owned(),
        r#"{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no such method"}}"#
            .to_owned(),
        r#"{"jsonrpc": "2.0", "id": 1}"#.to_owned(),
        r#"{"jsonrpc": "2.0", "id": 1, "result": []}"#.to_owned(),
        r#"{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "a"}]}}"#.to_owned(),
        r#"{"result": {"tools": [], "nextCursor": "page2"}}"#.to_owned(),
        r#"{"result": {"tools": []}, "method": "tools/list"}"#.to_owned(),
        r#"{"tools": [{"name": "a", "inputSchema": {}}, {"inputSchema": {}}]}"#.to_owned(),
        r#"{"tools": [{"name": "a", "inputSchema": "x"}]}"#.to_owned(),
        r#"{"tools": [{"name": "a", "inputSchema": null}]}"#.to_owned(),
        r#"{"tools": [{"name": 7, "inputSchema": {}}]}"#.to_owned(),
        r#"{"tools": [{"type": "function", "function": {"name": "a"}}]}"#.to_owned(),
        "[7]".to_owned(),
        "[{}]".to_owned(),
        r#"[{"name": "a", "inputSchema": {}}]"#.to_owned(),
        r#"[{"name": "a", "parameters": {}}]"#.to_owned(),
        r#"[{"type": "function", "function": {"description": "x"}}]"#.to_owned(),
        r#"[{"type": "web_search_preview"}]"#.to_owned(),
        r#"[{"type": 7}]"#.to_owned(),
        r#"[{"type": "function", "name": "a"}, {"name": "b", "input_schema": {}}]"#.to_owned(),
        r#"[{"name": "a", "input_schema": {"x": 1, "x": 2}}]"#.to_owned(),
        format!("{}{}", "[".repeat(500), "]".repeat(500)),
    ];
    let yaml = [
        "",
        "tools: {a: {requires_approval: yes}}\nagents: {}",
        "tools: {}\nagents: {U:Qa: [on, true]}",
        "tools: {}\nagents: {U:Qa: &all [a], U:SD: *all}",
        "tools: {a: !flagged {requires_approval: true}}\nagents: {}",
        "tools: {}\ntools: {}\nagents: {}",
        "tools: {}\nagents: {1: [a]}",
        "tools: {}\nagents:\n  <<: {a: [b]}",
        "tools: {}\nagents: {}\n---\nmore: 1",
        "tools: {}\nagents: {? [a] : []}",
        "tools: {a: {requires_approval: true, input_schema: {maximum: .inf}}}\nagents: {}",
        "tools: [\n",
    ];
    let toml = [
        "tools = {}",
        "[tools]\na.requires_approval = 1\n[agents]",
        "[tools]\n[agents]\na = ['b', 1979-05-27]",
        "[tools]\n[agents]\na = ['b']\na = ['c']",
        "[tools]\n[agents]\na = ['b', inf]",
        "[tools\n",
    ];
    let mut text = String::new();
    let texts = json.iter().map(|text| (text.as_str(), Syntax::Json));
    let texts = texts.chain(yaml.iter().map(|text| (*text, Syntax::Yaml)));
    for (refused, syntax) in texts.chain(toml.iter().map(|text| (*text, Syntax::Toml))) {
        let shown: String = refused.chars().take(100).collect();
        writeln!(text, "{shown:?}\n    {}", error(refused, syntax)).unwrap();
    }
    insta::assert_snapshot!(text);
    let deep = "[".repeat(5_000);
    assert!(error(&deep, Syntax::Yaml).ends_with("recursion limit exceeded"));
    for deep in [
        "- ".repeat(5_000),
        format!("{}{}", "[".repeat(150), "]".repeat(150)),
    ] {
        assert!(error(&deep, Syntax::Yaml).ends_with("nested more than 100 levels deep"));
    }
    assert!(error(&format!("a = {deep}"), Syntax::Toml).starts_with("line 1"));
    let long = format!("[{}]", " ".repeat(1 << 24));
    assert_eq!(
        error(&long, Syntax::Json),
        "the list is longer than 16777216 bytes"
    );
}

#[test]
fn a_lock_sees_every_change_of_a_definition() {
    let tools = listed(MCP, Syntax::Json).unwrap();
    let lock = ToolLock::of(&tools).unwrap();
    insta::assert_snapshot!(lock);
    assert_eq!(ToolLock::parse(&lock.to_string()).unwrap(), lock);
    let changed = |text: &str| {
        let found = lock.changed(&listed(text, Syntax::Json).unwrap());
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    // Blanks, the order of keys and what is no part of the definition do not matter.
    let same = MCP.replace(
        r#""type": "object", "required": ["url"]"#,
        r#""required":["url"],"type":"object""#,
    );
    assert_eq!(
        changed(&same.replace(r#""anything": 1"#, r#""anything": 2"#)),
        [""; 0]
    );
    for (from, to) in [
        ("a page", "a page "),
        ("\"Fetches a page\"", "\"\""),
        ("[\"url\"]", "[]"),
    ] {
        assert_eq!(
            changed(&MCP.replace(from, to)),
            ["definition-changed: the definition of `fetch` is not the one that was reviewed"]
        );
    }
    assert_eq!(
        changed(&MCP.replace("\"bash\"", "\"sh\"")),
        ["definition-changed: `sh` was not there when the definitions were reviewed"]
    );
    let twice = MCP.replace("\"bash\"", "\"fetch\"");
    let twice = listed(&twice, Syntax::Json).unwrap();
    assert_eq!(
        ToolLock::of(&twice).unwrap_err().to_string(),
        "two tools called `fetch` cannot both be locked"
    );
    assert_eq!(lock.changed(&twice).len(), 1);
    for (text, why) in [
        ("", "line 1, column 1: EOF while parsing a value"),
        (
            "{}",
            "this is no lock file: `version` or `tools` is missing",
        ),
        (
            r#"{"version": 2, "tools": {}}"#,
            "this lock file is of a version that is not known here",
        ),
        (
            r#"{"version": 1, "tools": {"a": 7}}"#,
            "at `tools[\"a\"]`: a string is wanted here, not a number",
        ),
        (
            r#"{"version": 1, "tools": {"a": "", "a": ""}}"#,
            "line 1, column 37: the key `a` stands twice",
        ),
    ] {
        assert_eq!(ToolLock::parse(text).unwrap_err().to_string(), why);
    }
}

/// RFC 8785 by its own examples: what is hashed is the canonical form.
#[test]
fn definitions_are_canonical() {
    let digest = |schema: &str| {
        let text = format!(r#"[{{"name": "a", "input_schema": {{"x": {schema}}}}}]"#);
        let lock = ToolLock::of(&listed(&text, Syntax::Json).unwrap());
        lock.unwrap().to_string()
    };
    for (written, same) in [
        ("1.0", "1"),
        ("1E30", "1000000000000000000000000000000"),
        ("4.50", "4.5"),
        ("0.002", "2e-3"),
        ("-0.0", "0"),
        (
            r#""\u20ac$\u000F\u000aA'B\"\\\"\/""#,
            "\"€$\\u000f\\nA'B\\\"\\\\\\\"/\"",
        ),
        (
            r#"{"\u20ac": 1, "\ud83d\ude00": 2, "a": 3}"#,
            r#"{"a": 3, "😀": 2, "€": 1}"#,
        ),
        ("18446744073709551615", "18446744073709552000"),
    ] {
        assert_eq!(digest(written), digest(same), "{written}");
    }
    assert_ne!(digest("1"), digest("\"1\""));
    assert_ne!(digest("[1,2]"), digest("[2,1]"));
    assert_ne!(digest("null"), digest("false"));
}

/// Pieces of which texts are made that are often nearly right.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ": ",
    ",",
    "\"",
    "'",
    "\n",
    "  ",
    "- ",
    "tools",
    "agents",
    "\"tools\"",
    "\"name\"",
    "requires_approval",
    "true",
    "null",
    "1",
    "1e999",
    "-",
    "=",
    ".",
    "[[",
    "]]",
    "&a",
    "*a",
    "!t",
    "|",
    ">",
    "#",
    "%",
    "---",
    "...",
    "? ",
    "<<",
    "\\u0",
    "\\",
    "\t",
    "é",
    "\u{feff}",
    "\r",
    "\0",
    "\"type\": \"function\"",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn no_text_is_too_much(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..24),
        any in ".{0,20}",
    ) {
        for text in [pieces.concat(), pieces.join(&any)] {
            for syntax in [Syntax::Json, Syntax::Yaml, Syntax::Toml] {
                let _ = ToolList::parse(&text, syntax);
            }
            let _ = ToolLock::parse(&text);
        }
    }
}
