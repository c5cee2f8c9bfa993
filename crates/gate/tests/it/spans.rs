//! Every decision can be followed with `tracing`.

use crate::support::{Bench, RULES, call};
use horngate_gate::{Answer, Callback, Deferred, Gate, ToolError, ToolSpec};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

type Fields = BTreeMap<&'static str, String>;

#[derive(Clone, Debug)]
struct Told {
    level: Level,
    message: String,
    fields: Fields,
    /// Names and fields of the spans around it, the outermost first.
    spans: Vec<(&'static str, Fields)>,
}

#[derive(Default)]
struct State {
    spans: BTreeMap<u64, (&'static str, Fields)>,
    open: Vec<u64>,
    told: Vec<Told>,
}

/// Keeps what is told on one thread.
#[derive(Clone, Default)]
struct Listener {
    state: Arc<Mutex<State>>,
    next: Arc<AtomicU64>,
}

struct Reader<'f>(&'f mut Fields);

impl Visit for Reader<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("horngate_gate") && *metadata.level() <= Level::INFO
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let number = self.next.fetch_add(1, Ordering::SeqCst) + 1;
        let mut fields = Fields::new();
        span.record(&mut Reader(&mut fields));
        let mut state = self.state.lock().unwrap();
        state.spans.insert(number, (span.metadata().name(), fields));
        Id::from_u64(number)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::new();
        event.record(&mut Reader(&mut fields));
        let mut state = self.state.lock().unwrap();
        let spans = state
            .open
            .iter()
            .map(|id| state.spans[id].clone())
            .collect();
        state.told.push(Told {
            level: *event.metadata().level(),
            message: fields.remove("message").unwrap_or_default(),
            fields,
            spans,
        });
    }

    fn enter(&self, span: &Id) {
        self.state.lock().unwrap().open.push(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        let mut state = self.state.lock().unwrap();
        let place = state.open.iter().rposition(|open| *open == span.into_u64());
        state.open.remove(place.unwrap());
    }
}

/// What is told about one call.
async fn told(gate: &Gate, actor: &str, tool: &str, arguments: &str) -> Vec<Told> {
    let listener = Listener::default();
    let guard = tracing::subscriber::set_default(listener.clone());
    let _ = call(gate, &gate.invocation(actor, "s-1"), tool, arguments).await;
    drop(guard);
    let state = listener.state.lock().unwrap();
    assert!(state.open.is_empty(), "all spans end");
    state.told.clone()
}

fn answering(answer: Answer) -> Callback {
    Callback::of_future("ann", move |_| std::future::ready(Ok(answer.clone())))
}

/// A gate, an actor, a tool, arguments; the messages, and the reason in the last.
type Case<'c> = (
    &'c Gate,
    &'c str,
    &'c str,
    &'c str,
    &'c [&'c str],
    Option<&'c str>,
);

#[tokio::test]
async fn every_decision_is_told_within_the_span_of_its_call() {
    let bench = Bench::new();
    let failing = horngate_gate::Closure::<Value>::new(ToolSpec::new("fail", "Fails"), |_| {
        Err(ToolError::new("no"))
    });
    let rules = format!("{RULES} may_execute_tool('U:Qa', tool_fail).");
    let yes = bench
        .builder(&rules)
        .tool(failing)
        .approver(answering(Answer::Approve))
        .build()
        .unwrap();
    let no = bench
        .builder(RULES)
        .approver(answering(Answer::Deny("no".into())))
        .build()
        .unwrap();
    let nobody = bench.builder(RULES).build().unwrap();
    let later = bench
        .builder(RULES)
        .approver(Deferred::new())
        .build()
        .unwrap();
    let cases: [Case<'_>; 9] = [
        (&yes, "U:Qa", "repl", "{}", &["granted", "executed"], None),
        (
            &yes,
            "U:Ux",
            "repl",
            "{}",
            &["denied"],
            Some("unknown-actor"),
        ),
        (
            &yes,
            "U:Qa",
            "nothing",
            "{}",
            &["denied"],
            Some("no-such-tool"),
        ),
        (
            &yes,
            "U:Qa",
            "repl",
            "[]",
            &["denied"],
            Some("invalid-arguments"),
        ),
        (
            &yes,
            "U:Qa",
            "deploy",
            "{}",
            &["granted", "approval required", "approved", "executed"],
            None,
        ),
        (
            &yes,
            "U:Qa",
            "fail",
            "{}",
            &["granted", "failed"],
            Some("tool-failed"),
        ),
        (
            &no,
            "U:Qa",
            "deploy",
            "{}",
            &["granted", "approval required", "denied"],
            Some("declined"),
        ),
        (
            &nobody,
            "U:Qa",
            "deploy",
            "{}",
            &["granted", "denied"],
            Some("no-approver"),
        ),
        (
            &later,
            "U:Qa",
            "deploy",
            "{}",
            &["granted", "approval required", "denied"],
            Some("confirmation-required"),
        ),
    ];
    for (gate, actor, tool, arguments, messages, reason) in cases {
        let told = told(gate, actor, tool, arguments).await;
        let heard: Vec<&str> = told.iter().map(|told| &*told.message).collect();
        assert_eq!(heard, messages, "{actor} {tool}");
        for told in &told {
            let (name, fields) = &told.spans[0];
            assert_eq!(*name, "call");
            assert_eq!(fields["actor"], actor);
            assert_eq!(fields["tool"], tool);
            assert_eq!(fields["session"], "s-1");
            assert_eq!(fields["gate"], "gate");
        }
        let last = told.last().unwrap();
        assert_eq!(
            last.fields.get("reason").map(|text| &**text),
            reason,
            "{actor} {tool}"
        );
        assert_eq!(last.level == Level::INFO, reason.is_none());
        for granted in told.iter().filter(|told| told.message == "granted") {
            assert!(granted.fields["derivation"].contains(&format!("tool_{tool}")));
            assert_eq!(granted.fields["policy"], gate.policy_hash());
        }
        for approved in told.iter().filter(|told| told.message == "approved") {
            assert_eq!(approved.fields["approver"], "ann");
            assert_eq!(approved.fields["id"].len(), 32);
        }
    }
}

#[tokio::test]
async fn what_runs_runs_in_a_span_and_arguments_are_not_told() {
    let bench = Bench::new();
    let speaking = horngate_gate::Closure::<Value>::new(ToolSpec::new("repl", ""), |_| {
        tracing::info!(target: "horngate_gate::body", "from the body");
        Ok(Value::Null)
    });
    drop(bench);
    let gate = Gate::builder(crate::support::allowlist(RULES))
        .tool(speaking)
        .build()
        .unwrap();
    let told = told(&gate, "U:Qa", "repl", r#"{"password":"hunter2"}"#).await;
    let body = told
        .iter()
        .find(|told| told.message == "from the body")
        .unwrap();
    let names: Vec<&str> = body.spans.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["call", "body"]);
    assert!(!format!("{told:?}").contains("hunter2"));
}

#[test]
fn changes_of_the_policy_are_told() {
    let bench = Bench::new();
    let gate = bench.builder(RULES).build().unwrap();
    let listener = Listener::default();
    let guard = tracing::subscriber::set_default(listener.clone());
    let rules = crate::support::allowlist("may_execute_tool(a, tool_repl).");
    gate.reload(Ok::<_, String>(rules), horngate_gate::OnBadRules::KeepOld)
        .unwrap();
    let _ = gate.reload(Err("it does not read"), horngate_gate::OnBadRules::DenyAll);
    drop(guard);
    let state = listener.state.lock().unwrap();
    let told: Vec<(&str, Level)> = state
        .told
        .iter()
        .map(|told| (&*told.message, told.level))
        .collect();
    assert_eq!(
        told,
        [
            ("the policy changed", Level::INFO),
            ("the new rules do not count", Level::ERROR)
        ]
    );
    assert_eq!(state.told[0].fields["epoch"], "2");
}
