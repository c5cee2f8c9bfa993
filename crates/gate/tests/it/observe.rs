//! Observe mode.

use crate::support::{Bench, RULES};
use horngate_gate::{AuditLog, InvocationContext, InvocationId, Reason};
use std::sync::Arc;

#[tokio::test]
async fn an_observer_runs_everything_and_says_what_a_gate_would_refuse() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let bench = Bench::new();
    let observer = bench
        .builder(RULES)
        .audit(Arc::new(AuditLog::open(&path).unwrap()))
        .observe()
        .unwrap();
    for (actor, tool, would_refuse) in [
        ("U:Qa", "repl", None),
        ("U:Ux", "repl", Some(Reason::UnknownActor)),
        ("U:Qa", "deploy", Some(Reason::ConfirmationRequired)),
    ] {
        let context = InvocationContext::new(actor, "s", InvocationId(1));
        let observed = observer.call(&context, tool, "{}").await;
        assert!(observed.outcome.is_ok());
        assert_eq!(observed.would_refuse, would_refuse);
    }
    assert_eq!(bench.runs.count(), 3);
    let context = InvocationContext::new("U:Qa", "s", InvocationId(1));
    let invalid = observer.call(&context, "repl", r#"{"n":"1"}"#).await;
    assert_eq!(
        invalid.outcome.unwrap_err().reason,
        Reason::InvalidArguments
    );
    let log = std::fs::read_to_string(path).unwrap();
    assert_eq!(log.matches("\"event\":\"observed\"").count(), 3);
}
