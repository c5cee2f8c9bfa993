//! What the gate adds to a call that needs no approval: reading and hashing the arguments, the schema, two decisions,
//! two lines of the audit log to a buffered sink. It is what the calls take beyond the same body without a gate, which
//! reads its arguments, too.
//!
//! `cargo bench -p horngate-gate --bench overhead`
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use criterion::{Criterion, criterion_group, criterion_main};
use horngate::{Allowlist, Budget, Rulebase, Source};
use horngate_gate::{AuditLog, Closure, Gate, GateBuilder, ToolError, ToolSpec};
use serde_json::{Value, json};
use std::hint::black_box;
use std::io::BufWriter;
use std::sync::Arc;

const ARGUMENTS: &str = r#"{"path": "/srv/app/config.toml", "line": 42, "text": "timeout = 30"}"#;

fn builder() -> GateBuilder {
    let rules = include_str!("../../../rules/governance.pl");
    let rulebase = Rulebase::load([Source::new("governance.pl", rules)]).unwrap();
    let model = rulebase.evaluate(&Budget::default()).unwrap();
    let spec = ToolSpec::new("repl", "Evaluates").schema(json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "maxLength": 200},
            "line": {"type": "integer", "minimum": 1},
            "text": {"type": "string"},
        },
        "required": ["path"],
        "additionalProperties": false,
    }));
    let tool = Closure::<Value>::new(spec, |permit| {
        let _ = permit.into_arguments();
        Ok::<_, ToolError>(Value::Null)
    });
    Gate::builder(Allowlist::bind(&model, "may_execute_tool/2").unwrap()).tool(tool)
}

fn overhead(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let log = AuditLog::to_writer(BufWriter::with_capacity(1 << 20, std::io::sink()), None);
    let audited = builder().audit(Arc::new(log)).build().unwrap();
    let plain = builder().build().unwrap();
    criterion.bench_function("without a gate", |bencher| {
        bencher.iter(|| {
            let call = async {
                let arguments: Value = serde_json::from_str(black_box(ARGUMENTS))?;
                drop(black_box(arguments));
                Ok::<_, serde_json::Error>(Value::Null)
            };
            runtime.block_on(call).unwrap()
        });
    });
    for (name, gate) in [
        ("without an audit log", plain),
        ("with an audit log", audited),
    ] {
        let context = gate.invocation("U:Qa", "session");
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| {
                runtime
                    .block_on(gate.call(&context, "repl", ARGUMENTS))
                    .unwrap()
            });
        });
    }
}

criterion_group!(benches, overhead);
criterion_main!(benches);
