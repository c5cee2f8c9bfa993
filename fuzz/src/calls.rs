//! Arguments of calls, and the schemas that they must fit.

use crate::{parts, text};
use horngate::{Allowlist, Budget, Rulebase, Source};
use horngate_gate::{Arguments, Closure, Gate, Permitted, ToolError, ToolSpec};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use tokio::runtime::Runtime;

fn allowlist() -> Allowlist {
    let rules = "may_execute_tool('U:Qa', tool_x).";
    let rulebase = Rulebase::load([Source::new("rules.pl", rules)]).expect("rules");
    let model = rulebase.evaluate(&Budget::default()).expect("a model");
    Allowlist::bind(&model, "may_execute_tool/2").expect("an allowlist")
}

/// What a body got: the canonical text, and the value.
type Got = Arc<Mutex<Option<(String, Value)>>>;

fn tool(spec: ToolSpec, got: &Got) -> Closure<Value> {
    let got = Arc::clone(got);
    Closure::new(spec, move |permit: Permitted<'_, Closure<Value>>| {
        let canonical = permit.canonical().to_owned();
        let value = permit.into_arguments();
        *got.lock().expect("a lock") = Some((canonical, value));
        Ok::<_, ToolError>(Value::Null)
    })
}

struct Called {
    gate: Gate,
    got: Got,
    runtime: Runtime,
}

impl Called {
    fn new(spec: ToolSpec) -> Option<Self> {
        let got = Got::default();
        let gate = Gate::builder(allowlist())
            .tool(tool(spec, &got))
            .build()
            .ok()?;
        let runtime = tokio::runtime::Builder::new_current_thread().build().ok()?;
        Some(Self { gate, got, runtime })
    }

    /// What the body got, if the gate let the call through.
    fn call(&self, arguments: &str) -> Option<(String, Value)> {
        *self.got.lock().expect("a lock") = None;
        let turn = self.gate.invocation("U:Qa", "s");
        let done = self.runtime.block_on(self.gate.call(&turn, "x", arguments));
        let got = self.got.lock().expect("a lock").take();
        assert_eq!(done.is_ok(), got.is_some());
        got
    }
}

thread_local! {
    static ANY: RefCell<Called> =
        RefCell::new(Called::new(ToolSpec::new("x", "Takes anything")).expect("a gate"));
}

/// Calls that differ never share a hash, and the text that was hashed is what the body gets.
pub fn arguments(data: &[u8]) {
    let mut parts = parts(data);
    let first = text(parts.next().unwrap_or_default());
    let second = text(parts.next().unwrap_or_default());
    let (first, second) = (one(&first), one(&second));
    if let (Some((a, one)), Some((b, other))) = (first, second) {
        assert_eq!(same(&a, &b), one.digest() == other.digest(), "{a} {b}");
        assert_eq!(
            one.canonical() == other.canonical(),
            one.digest() == other.digest()
        );
    }
}

fn one(text: &str) -> Option<(Value, Arguments)> {
    let read = Arguments::parse(text);
    let got = ANY.with_borrow(|called| called.call(text));
    let Ok(arguments) = read else {
        assert_eq!(got, None, "{text}");
        return None;
    };
    let plain: Value = serde_json::from_str(text).expect("JSON");
    assert!(
        same(&plain, arguments.value()),
        "{text} is read as {}",
        arguments.value()
    );
    // Written by another hand, as RFC 8785 says.
    let witness = serde_json_canonicalizer::to_string(arguments.value()).expect("canonical");
    assert_eq!(arguments.canonical(), witness);
    let again = Arguments::parse(arguments.canonical()).expect("canonical text is read");
    assert_eq!(again, arguments);
    let digest = Sha256::digest(arguments.canonical());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(arguments.digest().to_string().ends_with(&hex));
    // What is too large for the gate's own limits may be refused.
    if let Some((canonical, value)) = got {
        assert_eq!(canonical, arguments.canonical());
        assert_eq!(&value, arguments.value());
        let read: Value = serde_json::from_str(&canonical).expect("JSON");
        assert_eq!(read, value);
    }
    Some((plain, arguments))
}

/// Whether two values are the same call: numbers by what they are worth, objects without order.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let known = |(key, a): (&String, &Value)| b.get(key).is_some_and(|b| same(a, b));
            a.len() == b.len() && a.iter().all(known)
        }
        _ => a == b,
    }
}

/// A schema is taken or refused; behind one that is taken no arguments pass that are no JSON.
pub fn schemas(data: &[u8]) {
    let mut parts = parts(data);
    let (Some(schema), Some(given)) = (parts.next(), parts.next()) else {
        return;
    };
    let Ok(schema) = serde_json::from_slice::<Value>(schema) else {
        return;
    };
    let Some(called) = Called::new(ToolSpec::new("x", "Has a schema").schema(schema.clone()))
    else {
        return;
    };
    let given = text(given);
    if let Some((_, value)) = called.call(&given) {
        let hidden = called.gate.hidden();
        assert!(hidden.is_empty(), "a hidden tool ran: {hidden:?}");
        assert_ne!(schema, Value::Bool(false));
        if let Some(keys) = schema.get("required").and_then(Value::as_array) {
            let has = |key: &Value| key.as_str().is_none_or(|key| value.get(key).is_some());
            assert!(keys.iter().all(has), "{schema} passed {value}");
        }
    }
}
