//! The first inputs of each target, from the cases of the tests and from what horngate itself writes.

use crate::{logs, proofs};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

type Corpora = BTreeMap<&'static str, Vec<Vec<u8>>>;

const CALLS: &[&str] = &[
    r#"{"b": 1.0, "a": "\u0041"}"#,
    r#"{"a":"A","b":1}"#,
    r#"{"path": "/tmp/é\ud83d\ude00", "n": [1, -0.0, 1e3, 5e-324, 1.7976931348623157e308]}"#,
    r#"{"n": 9007199254740993, "deep": [[[[{}]]]], "": null, "t": true}"#,
    r#"{"\u20ac": "\r\n\t\b\f\\\"\/", "\ufb33": 0.000001, "1": 1e21}"#,
];

const SCHEMAS: &[&str] = &[
    r#"{"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "pattern": "^(a|b)+$"}}}"#,
    r##"{"$ref": "#/$defs/x", "$defs": {"x": {"anyOf": [{"type": "object"}, {"$ref": "#/$defs/x"}]}}}"##,
    r#"{"allOf": [{"not": {"required": ["b"]}}], "additionalProperties": {"enum": [1, "A", null]}, "maxProperties": 3}"#,
    r#"{"properties": {"n": {"items": {"multipleOf": 0.5, "maximum": 7}, "uniqueItems": true, "contains": {"const": 1}}}}"#,
    r#"{"patternProperties": {"^x-[0-9]{1,3}$": false}, "dependentRequired": {"a": ["b"]}, "if": {"required": ["a"]}, "then": {"minProperties": 2}}"#,
    r#"{"type": "object", "unevaluatedProperties": false, "properties": {"d": {"format": "date-time", "minLength": 2}}}"#,
];

const FRAMES: &[&str] = &[
    r#"{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}, "sampling": {}}, "clientInfo": {"name": "t", "version": "1"}}}
<{"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": true}, "prompts": {}}, "serverInfo": {"name": "s", "version": "1"}}}
{"jsonrpc": "2.0", "method": "notifications/initialized"}
{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
<{"jsonrpc": "2.0", "id": 2, "result": {"tools": [{"name": "good", "inputSchema": {"type": "object"}}, {"name": "bad", "inputSchema": {"type": "object"}}]}}
{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "good", "arguments": {"a": 1}}}
<{"jsonrpc": "2.0", "id": 3, "result": {"content": [{"type": "text", "text": "x"}]}}
{"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "bad", "arguments": {}}}
<{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
{"jsonrpc": "2.0", "id": "5", "method": "ping", "params": {"_meta": {"progressToken": 1}}}
<{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}}
{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}
<{"jsonrpc": "2.0", "id": 7, "method": "roots/list"}
{"jsonrpc": "2.0", "id": 7, "result": {"roots": []}}"#,
    r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "good", "arguments": {}, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}}
<{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "good", "inputSchema": {"type": "object"}}], "nextCursor": "c"}}
<{"jsonrpc": "2.0", "id": 2, "result": {"tools": [{"name": "bad", "inputSchema": {"type": "object"}}]}}
<{"jsonrpc": "2.0", "id": 3, "error": {"code": -32603, "message": "m"}}
{"jsonrpc": "2.0", "id": 2, "method": "prompts/get", "params": {"name": "p"}}
{"jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": {"uri": "file:///x"}}
<{"jsonrpc": "2.0", "id": 4, "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}
<{"jsonrpc": "2.0", "id": 5, "method": "elicitation/create", "params": {"message": "m", "requestedSchema": {"type": "object"}}}
[{"jsonrpc": "2.0", "id": 9, "method": "ping"}]"#,
];

const LISTS: &[(u8, &str)] = &[
    (
        0,
        r#"{"tools": [{"name": "fetch", "description": "Fetches", "inputSchema": {"type": "object"}}], "_meta": {}}"#,
    ),
    (
        0,
        r#"{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "bash", "inputSchema": {}}]}}"#,
    ),
    (
        0,
        r#"[{"type": "function", "function": {"name": "fetch", "parameters": {"type": "object"}, "strict": true}}]"#,
    ),
    (
        0,
        r#"[{"type": "bash_20250124", "name": "bash"}, {"name": "x", "input_schema": {"n": [1, -2.5e3, null, "\u00e9"]}}]"#,
    ),
    (
        0,
        r#"{"tools": {"repl": {"requires_approval": true, "input_schema": {}}}, "agents": {"U:Qa": ["repl"]}}"#,
    ),
    (
        1,
        "tools:\n  repl: {requires_approval: true}\n  'x y':\n    requires_approval: false\n    description: |\n      long\n      text\nagents:\n  U:Qa: [repl]\n  J:Junior:\n    - x y\n",
    ),
    (
        1,
        "- name: a\n  input_schema: {type: object, n: 0x1F, f: .inf, b: ~, s: \"\\x41\"}\n",
    ),
    (
        2,
        "[tools]\nrepl.requires_approval = true\n[tools.x]\nrequires_approval = false\ninput_schema = { n = 1_000, d = 1979-05-27T07:32:00Z }\n[agents]\n'U:Qa' = ['repl', 'x']\n",
    ),
    (3, r#"{"version": 1, "tools": {"repl": "00ff"}}"#),
];

const SUITE: &str = "p(b). p(a). q(X) :- p(X). r(X) :- p(X), \\+ q(X).
:- begin_tests(t).
test(one, [nondet]) :- q(a).
test(all, all(X == [b, a])) :- p(X).
test(set, [true(X == a), setup(true)]) :- p(X), X == a.
test(no, [fail]) :- r(_).
test(each, [forall(p(X)), true]) :- q(X).
test(raises, [error(type_error(_, _))]) :- X is foo + 1.
test(off, [blocked(why)]) :- fail.
test(unless, [condition(p(z))]) :- true.
:- end_tests(t).
";

/// Bytes that look like nothing, the same each time.
fn noise(count: usize, length: usize) -> Vec<Vec<u8>> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..count)
        .map(|_| (0..length).map(|_| next()).collect())
        .collect()
}

fn joined(parts: &[&str]) -> Vec<u8> {
    parts.join("\0").into_bytes()
}

/// Reads the cases below the root of the repository.
fn cases(root: &Path, corpora: &mut Corpora) -> io::Result<()> {
    let mut files: Vec<_> = fs::read_dir(root.join("tests/cases"))?
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    files.sort();
    for file in files {
        for line in fs::read_to_string(&file)?
            .lines()
            .filter(|line| !line.trim().is_empty())
        {
            let case: Value = serde_json::from_str(line).map_err(io::Error::other)?;
            let texts: Vec<&str> = match (&case["source"], case["files"].as_object()) {
                (Value::String(source), _) => vec![source],
                (_, Some(files)) => files.values().filter_map(Value::as_str).collect(),
                _ => Vec::new(),
            };
            rules(corpora, &texts);
            for query in case["queries"].as_array().into_iter().flatten() {
                if let ([source], Some(goal)) = (&*texts, query["goal"].as_str()) {
                    add(corpora, "goals", joined(&[source, goal]));
                }
            }
        }
    }
    let mut singles: Vec<_> = Vec::new();
    for folder in [
        "tests/cases/diagnostics",
        "tests/cases/quiet",
        "rules",
        "rules/roles",
    ] {
        for entry in fs::read_dir(root.join(folder))? {
            singles.push(entry?.path());
        }
    }
    singles.sort();
    for path in singles
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "pl"))
    {
        let bytes = fs::read(path)?;
        rules(corpora, &[&String::from_utf8_lossy(&bytes)]);
    }
    Ok(())
}

fn rules(corpora: &mut Corpora, texts: &[&str]) {
    add(corpora, "evaluate", joined(texts));
    let mut pieces = vec![6];
    pieces.extend(joined(texts));
    add(corpora, "pieces", pieces);
    for text in texts {
        for target in ["parse", "format"] {
            add(corpora, target, text.as_bytes().to_vec());
        }
        if text.contains("begin_tests") {
            add(corpora, "suites", text.as_bytes().to_vec());
        }
        add(
            corpora,
            "edits",
            joined(&["U:Qa", "tool_x", &text.replace("may_execute_tool", "may")]),
        );
    }
}

fn add(corpora: &mut Corpora, target: &'static str, bytes: Vec<u8>) {
    corpora.entry(target).or_default().push(bytes);
}

/// Writes a folder for each target.
///
/// # Errors
/// When the cases cannot be read, or a folder not be written.
pub fn write(root: &Path, folder: &Path) -> io::Result<()> {
    let mut corpora = Corpora::new();
    cases(root, &mut corpora)?;
    add(&mut corpora, "suites", SUITE.as_bytes().to_vec());
    for length in [32, 64, 96, 128] {
        for bytes in noise(16, length) {
            add(&mut corpora, "programs", bytes.clone());
            add(&mut corpora, "updates", bytes.clone());
            add(&mut corpora, "goals", [&[0xff], &*bytes].concat());
            if length == 32 {
                add(&mut corpora, "proofs", [&[bytes[0] | 2], &*bytes].concat());
                add(&mut corpora, "audit", [&[1], &*bytes].concat());
            }
        }
    }
    for (form, document) in proofs::documents() {
        add(
            &mut corpora,
            "proofs",
            [&[form], document.as_bytes()].concat(),
        );
    }
    for (form, list) in LISTS {
        add(
            &mut corpora,
            "tool_lists",
            [&[*form], list.as_bytes()].concat(),
        );
    }
    for log in &*logs::WRITTEN {
        add(&mut corpora, "audit", [&[0], &*log.bytes].concat());
    }
    for (at, call) in CALLS.iter().enumerate() {
        add(
            &mut corpora,
            "arguments",
            joined(&[call, CALLS[(at + 1) % CALLS.len()]]),
        );
    }
    for (at, schema) in SCHEMAS.iter().enumerate() {
        add(
            &mut corpora,
            "schemas",
            joined(&[schema, CALLS[at % CALLS.len()]]),
        );
    }
    for frames in FRAMES {
        add(&mut corpora, "frames", frames.as_bytes().to_vec());
    }
    for (target, inputs) in corpora {
        let folder = folder.join(target);
        fs::create_dir_all(&folder)?;
        for (at, input) in inputs.iter().enumerate() {
            fs::write(folder.join(format!("{at:04}")), input)?;
        }
    }
    Ok(())
}
