//! Gates and tools for tests.

use horngate::{Allowlist, Budget, Rulebase, Source};
use horngate_gate::{
    Answer, ApproverError, Callback, Closure, Done, Gate, GateBuilder, InvocationContext,
    ManualClock, Permitted, Reason, Refusal, Request, ToolError, ToolSpec,
};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// 2026-01-01, in milliseconds.
pub(crate) const START: u64 = 1_767_225_600_000;

pub(crate) const RULES: &str = "
    may_execute_tool('U:Qa', tool_repl).
    may_execute_tool('U:Qa', tool_delete).
    may_execute_tool('U:Qa', tool_deploy).
    may_execute_tool('U:Helper', tool_deploy).
    may_execute_tool('U:Helper', tool_repl).
";

pub(crate) fn allowlist(rules: &str) -> Allowlist {
    let rulebase = Rulebase::load([Source::new("rules.pl", rules)]).unwrap();
    let model = rulebase.evaluate(&Budget::default()).unwrap();
    Allowlist::bind(&model, "may_execute_tool/2").unwrap()
}

/// Counts the runs of a body, and keeps what it got.
#[derive(Clone, Default)]
pub(crate) struct Runs(Arc<Mutex<Vec<Value>>>);

impl Runs {
    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub(crate) fn last(&self) -> Value {
        self.0.lock().unwrap().last().cloned().unwrap()
    }

    pub(crate) fn note(&self, arguments: Value) {
        self.0.lock().unwrap().push(arguments);
    }

    /// A tool that counts and gives back what it got.
    pub(crate) fn tool(&self, spec: ToolSpec) -> Closure<Value> {
        let runs = self.clone();
        Closure::new(spec, move |permit: Permitted<'_, Closure<Value>>| {
            let canonical: Value = serde_json::from_str(permit.canonical()).unwrap();
            let arguments: Value = permit.into_arguments();
            assert_eq!(arguments, canonical);
            runs.0.lock().unwrap().push(arguments.clone());
            Ok::<_, ToolError>(arguments)
        })
    }
}

/// A gate with `repl`, and with `delete` and `deploy`, which ask.
pub(crate) struct Bench {
    pub(crate) runs: Runs,
    pub(crate) clock: Arc<ManualClock>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self {
            runs: Runs::default(),
            clock: Arc::new(ManualClock::at(START)),
        }
    }

    pub(crate) fn builder(&self, rules: &str) -> GateBuilder {
        let object = || {
            json!({
                "type": "object",
                "properties": {"path": {"type": "string"}, "n": {"type": "number"}},
            })
        };
        Gate::builder(allowlist(rules))
            .clock(self.clock.clone())
            .tool(
                self.runs
                    .tool(ToolSpec::new("repl", "Evaluates").schema(object())),
            )
            .tool(
                self.runs
                    .tool(ToolSpec::new("delete", "Deletes").destructive("it is gone then")),
            )
            .tool(
                self.runs
                    .tool(ToolSpec::new("deploy", "Deploys").confirm("customers see it")),
            )
    }
}

/// An approver that counts how often it is asked.
pub(crate) fn counting(
    asked: &Arc<AtomicUsize>,
    answer: impl Fn(&Request) -> Result<Answer, ApproverError> + Send + Sync + 'static,
) -> Callback {
    let asked = Arc::clone(asked);
    Callback::new("ann", move |request| {
        asked.fetch_add(1, Ordering::SeqCst);
        answer(request)
    })
}

pub(crate) async fn call(
    gate: &Gate,
    context: &InvocationContext,
    tool: &str,
    arguments: &str,
) -> Result<Done, Refusal> {
    gate.call(context, tool, arguments).await
}

pub(crate) async fn refused(
    gate: &Gate,
    context: &InvocationContext,
    tool: &str,
    arguments: &str,
) -> Reason {
    match gate.call(context, tool, arguments).await {
        Ok(done) => panic!("it ran: {:?}", done.data),
        Err(refusal) => refusal.reason,
    }
}
