//! Calls that need no person.

use crate::support::{Bench, RULES, allowlist, call, refused};
use horngate_gate::{
    Arguments, BoxFuture, Closure, Confined, Delegation, ForeignTool, Gate, Permitted, Reason,
    Remote, Tool, ToolError, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

struct Add;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbers {
    a: i64,
    b: i64,
}

impl Tool for Add {
    type Arguments = Numbers;
    type Output = i64;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("add", "Adds two numbers")
    }

    async fn run<'call>(&'call self, permit: Permitted<'call, Self>) -> Result<i64, ToolError> {
        let Numbers { a, b } = permit.into_arguments();
        a.checked_add(b).ok_or_else(|| ToolError::new("too large"))
    }
}

impl Confined for Add {
    const WHY: &'static str = "computes; touches neither files nor network";
}

struct Server;

impl Remote for Server {
    fn call<'c>(
        &'c self,
        tool: &'c str,
        permit: Permitted<'c, ForeignTool>,
    ) -> BoxFuture<'c, Result<Value, ToolError>> {
        Box::pin(async move { Ok(json!([tool, permit.canonical()])) })
    }
}

#[tokio::test]
async fn what_is_granted_runs_and_nothing_else() {
    let bench = Bench::new();
    let gate = bench.builder(RULES).build().unwrap();
    let qa = gate.invocation("U:Qa", "s");
    assert_eq!(
        call(&gate, &qa, "repl", r#"{"n":1}"#).await.unwrap().data,
        json!({"n": 1})
    );
    for (actor, tool, reason) in [
        ("U:Ux", "repl", Reason::UnknownActor),
        ("u:qa", "repl", Reason::UnknownActor),
        ("U:Qa ", "repl", Reason::UnknownActor),
        ("U:Helper", "delete", Reason::NotGranted),
        ("U:Qa", "rm_rf_slash", Reason::NoSuchTool),
    ] {
        let context = gate.invocation(actor, "s");
        assert_eq!(
            refused(&gate, &context, tool, "{}").await,
            reason,
            "{actor} {tool}"
        );
    }
    assert_eq!(bench.runs.count(), 1);
}

#[tokio::test]
async fn arguments_are_checked_before_the_gate_and_refused_by_their_own_reason() {
    let bench = Bench::new();
    let gate = bench.builder(RULES).build().unwrap();
    for actor in ["U:Qa", "U:Ux"] {
        let context = gate.invocation(actor, "s");
        for arguments in [
            "",
            "[]",
            "null",
            "{",
            "{} {}",
            r#"{"n": "1"}"#,
            r#"{"path": 1}"#,
            r#"{"n": 1, "n": 2}"#,
            r#"{"n": 1, "\u006e": 2}"#,
            r#"{"path": "\ud800"}"#,
            r#"{"n": 1e999}"#,
            r#"{"n": NaN}"#,
            r#"{"n": 9007199254740992}"#,
            r#"{"n": -9007199254740992}"#,
            r#"{"n": 9007199254740993.0}"#,
            r#"{"n": 18446744073709551617}"#,
            r#"{"x": {"y": [{"a": 1, "a": 1}]}}"#,
        ] {
            let reason = refused(&gate, &context, "repl", arguments).await;
            assert_eq!(reason, Reason::InvalidArguments, "{arguments}");
        }
    }
    assert_eq!(bench.runs.count(), 0);
}

#[test]
fn the_canonical_form_is_that_of_rfc_8785() {
    for (text, canonical) in [
        (r#"{ "b" : 1.0, "a" : -0.0 }"#, r#"{"a":0,"b":1}"#),
        (r#"{"n": 333333333.33333329}"#, r#"{"n":333333333.3333333}"#),
        (r#"{"n": 1e-27, "m": 4.50}"#, r#"{"m":4.5,"n":1e-27}"#),
        (
            r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#,
            "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}",
        ),
        (
            r#"{"s": "\u000F\nA'\u0042\u0022\u005c\\\"\/"}"#,
            r#"{"s":"\u000f\nA'B\"\\\\\"/"}"#,
        ),
    ] {
        let arguments = Arguments::parse(text).unwrap();
        assert_eq!(arguments.canonical(), canonical);
        let again = Arguments::parse(canonical).unwrap();
        assert_eq!(again.digest(), arguments.digest());
        assert_eq!(again.value(), arguments.value());
    }
}

#[tokio::test]
async fn the_body_gets_what_the_canonical_bytes_say() {
    let bench = Bench::new();
    let gate = bench.builder(RULES).build().unwrap();
    let qa = gate.invocation("U:Qa", "s");
    call(&gate, &qa, "repl", r#"{"n": 1.0}"#).await.unwrap();
    assert!(bench.runs.last()["n"].is_u64());
}

#[tokio::test]
async fn confined_tools_need_no_grant_and_only_their_type_says_so() {
    let gate = Gate::builder(allowlist(RULES))
        .confined(Add)
        .build()
        .unwrap();
    let nobody = gate.invocation("NOBODY", "s");
    assert_eq!(
        call(&gate, &nobody, "add", r#"{"a":1,"b":2}"#)
            .await
            .unwrap()
            .data,
        json!(3)
    );

    let gate = Gate::builder(allowlist(RULES)).tool(Add).build().unwrap();
    let nobody = gate.invocation("NOBODY", "s");
    assert_eq!(
        refused(&gate, &nobody, "add", r#"{"a":1,"b":2}"#).await,
        Reason::UnknownActor
    );
}

#[tokio::test]
async fn typed_arguments_that_do_not_read_are_invalid() {
    let gate = Gate::builder(allowlist(RULES))
        .confined(Add)
        .build()
        .unwrap();
    let anybody = gate.invocation("A", "s");
    for arguments in [r#"{"a":1}"#, r#"{"a":1,"b":2,"c":3}"#, r#"{"a":1,"b":2.5}"#] {
        let reason = refused(&gate, &anybody, "add", arguments).await;
        assert_eq!(reason, Reason::InvalidArguments, "{arguments}");
    }
}

#[tokio::test]
async fn failures_and_panics_of_a_body_are_errors() {
    let spec = || ToolSpec::new("repl", "");
    let failing = Closure::<Value>::new(spec(), |_| Err(ToolError::new("no such file")));
    let panicking = Closure::<Value>::new(spec(), |_| panic!("oh"));
    let later = Closure::<Value>::of_future(spec(), |_| {
        Box::pin(async {
            tokio::task::yield_now().await;
            panic!("oh")
        })
    });
    for (tool, reason) in [
        (failing, Reason::ToolFailed),
        (panicking, Reason::ToolPanicked),
        (later, Reason::ToolPanicked),
    ] {
        let gate = Gate::builder(allowlist(RULES)).tool(tool).build().unwrap();
        let refusal = call(&gate, &gate.invocation("U:Qa", "s"), "repl", "{}")
            .await
            .unwrap_err();
        assert_eq!(refusal.reason, reason);
        assert!(refusal.ran());
    }
}

#[tokio::test]
async fn tools_of_other_servers_go_through_the_same_gate() {
    let good = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let remote =
        json!({"type": "object", "properties": {"n": {"$ref": "https://example.com/n.json"}}});
    let foreign = |name: &str, schema: &Value| {
        ForeignTool::new(
            "git",
            ToolSpec::new(name, "").schema(schema.clone()),
            Server,
        )
    };
    let gate = Gate::builder(allowlist(RULES))
        .foreign(foreign("repl", &good))
        .foreign(foreign("delete", &remote))
        .foreign(foreign("ｒｅｐｌ", &good))
        .foreign(foreign("Repl", &good))
        .build()
        .unwrap();
    let qa = gate.invocation("U:Qa", "s");
    let done = call(&gate, &qa, "repl", r#"{"n": 2.0}"#).await.unwrap();
    assert_eq!(done.data, json!(["repl", r#"{"n":2}"#]));
    assert_eq!(
        refused(&gate, &qa, "repl", r#"{"n": "2"}"#).await,
        Reason::InvalidArguments
    );
    assert_eq!(
        refused(&gate, &gate.invocation("A", "s"), "repl", "{}").await,
        Reason::UnknownActor
    );
    // It cannot be shown, and it cannot be called either.
    assert_eq!(
        refused(&gate, &qa, "delete", "{}").await,
        Reason::NoSuchTool
    );
    let hidden: Vec<String> = gate
        .hidden()
        .into_iter()
        .map(|hidden| hidden.name)
        .collect();
    assert_eq!(hidden, ["delete", "ｒｅｐｌ", "Repl"]);
}

#[tokio::test]
async fn a_sub_agent_does_only_what_all_of_its_chain_may() {
    let bench = Bench::new();
    let gate = bench.builder(RULES).build().unwrap();
    let qa = gate.invocation("U:Qa", "s");
    assert!(
        call(&gate, &qa.child("U:Helper"), "repl", "{}")
            .await
            .is_ok()
    );
    // The parent may not, so the child may not, and the other way round.
    let ux = gate.invocation("U:Ux", "s");
    assert_eq!(
        refused(&gate, &ux.child("U:Helper"), "repl", "{}").await,
        Reason::UnknownActor
    );
    assert_eq!(
        refused(&gate, &qa.child("U:Ux"), "repl", "{}").await,
        Reason::UnknownActor
    );
    assert_eq!(
        refused(&gate, &ux.child("U:Helper").child("U:Qa"), "repl", "{}").await,
        Reason::UnknownActor
    );

    let gate = bench
        .builder(RULES)
        .delegation(Delegation::Own)
        .build()
        .unwrap();
    let ux = gate.invocation("U:Ux", "s");
    assert!(
        call(&gate, &ux.child("U:Helper"), "repl", "{}")
            .await
            .is_ok()
    );
    assert_eq!(
        refused(&gate, &qa.child("U:Ux"), "repl", "{}").await,
        Reason::UnknownActor
    );
}

#[tokio::test]
async fn tools_call_each_other_only_through_the_gate() {
    let slot: std::sync::Arc<std::sync::OnceLock<Gate>> = std::sync::Arc::default();
    let inner = std::sync::Arc::clone(&slot);
    let outer = Closure::<Value>::of_future(ToolSpec::new("deploy", ""), move |permit| {
        let gate = inner.get().unwrap().clone();
        Box::pin(async move {
            let done = gate.call(permit.context(), "delete", "{}").await;
            done.map(|done| done.data)
                .map_err(|refusal| ToolError::new(refusal.message))
        })
    });
    let bench = Bench::new();
    let gate = Gate::builder(allowlist(RULES))
        .tool(outer)
        .tool(bench.runs.tool(ToolSpec::new("delete", "")))
        .build()
        .unwrap();
    slot.set(gate.clone()).unwrap();
    assert!(
        call(&gate, &gate.invocation("U:Qa", "s"), "deploy", "{}")
            .await
            .is_ok()
    );
    let helper = gate.invocation("U:Helper", "s");
    assert_eq!(
        refused(&gate, &helper, "deploy", "{}").await,
        Reason::ToolFailed
    );
    assert_eq!(bench.runs.count(), 1);
}

#[tokio::test]
async fn a_refusal_has_the_shape_that_others_rely_on() {
    let bench = Bench::new();
    let gate = bench.builder(RULES).build().unwrap();
    let refusal = call(&gate, &gate.invocation("U:Ux", "s"), "repl", "{}")
        .await
        .unwrap_err();
    let mut json = refusal.to_json();
    json["execution_time_ms"] = json!(0);
    assert_eq!(
        json,
        json!({
            "success": false, "data": null, "error": "you may not use `repl`", "tool_name": "repl",
            "execution_time_ms": 0,
            "metadata": {
                "approval_required": false, "approval_decision": null, "approval_provider": null,
                "approval_id": null, "reason": "unknown-actor",
            },
        })
    );
    assert_eq!(refusal.to_string(), "Error: you may not use `repl`");
    // People read more than the model does.
    assert_eq!(refusal.detail(), "nothing is granted to `U:Ux`");
}

#[test]
fn tools_state_their_guards_as_facts() {
    let bench = Bench::new();
    let gate = bench.builder(RULES).confined(Add).build().unwrap();
    assert_eq!(
        gate.tool_facts(),
        "tool_guard(tool_add, confined).\ntool_guard(tool_delete, destructive).\n\
         tool_guard(tool_deploy, confirm).\ntool_guard(tool_repl, none).\n"
    );
    let rules = format!("{RULES}{}", gate.tool_facts());
    horngate::Rulebase::load([horngate::Source::new("facts.pl", rules)]).unwrap();
}

#[test]
fn doubtful_registrations_build_no_gate() {
    let tool = |name: &str| Closure::<Value>::new(ToolSpec::new(name, ""), |_| Ok(Value::Null));
    for (first, second) in [
        ("repl", "repl"),
        ("repl", "Repl"),
        ("run_shell", "run-shell"),
        ("tool0", "toolO"),
        ("a1", "al"),
    ] {
        let built = Gate::builder(allowlist(RULES))
            .tool(tool(first))
            .tool(tool(second))
            .build();
        assert!(built.is_err(), "{first} {second}");
    }
    for name in ["", "a b", "a\u{200b}", "ａ"] {
        assert!(
            Gate::builder(allowlist(RULES))
                .tool(tool(name))
                .build()
                .is_err(),
            "{name}"
        );
    }
    let bad = Closure::<Value>::new(
        ToolSpec::new("a", "").schema(json!({"$ref": "http://127.0.0.1/x"})),
        |_| Ok(Value::Null),
    );
    assert!(Gate::builder(allowlist(RULES)).tool(bad).build().is_err());
}
