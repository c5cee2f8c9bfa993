//! A person's consent to one exact call.

use crate::support::{Bench, RULES, START, call, counting, refused};
use horngate_gate::{
    Answer, ApprovedPairs, ApproverError, AutoDeny, Callback, Clock, Decided, Deferred, Gate,
    Limits, MemoryStore, Reason, Signatory, State, Store,
};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

struct Deferring {
    bench: Bench,
    ann: Signatory,
    store: Arc<MemoryStore>,
    gate: Gate,
}

fn deferring(approver: Deferred) -> Deferring {
    let (bench, store) = (Bench::new(), Arc::new(MemoryStore::new()));
    let ann = Signatory::generate("ann").unwrap();
    let gate = bench
        .builder(RULES)
        .approver(approver)
        .approver_key("ann", ann.key())
        .store(store.clone())
        .build()
        .unwrap();
    Deferring {
        bench,
        ann,
        store,
        gate,
    }
}

impl Deferring {
    async fn ask(&self, actor: &str, arguments: &str) -> String {
        let context = self.gate.invocation(actor, "s");
        let refusal = call(&self.gate, &context, "deploy", arguments)
            .await
            .unwrap_err();
        assert_eq!(refusal.reason, Reason::ConfirmationRequired);
        refusal.approval_id().unwrap().to_owned()
    }

    fn answer(&self, id: &str, approve: bool) -> Decided {
        let record = self.store.get(id).unwrap().unwrap();
        let verdict = self
            .ann
            .answer(&record.request, approve, self.bench.clock.now())
            .unwrap();
        self.gate.submit(&verdict).unwrap()
    }
}

#[tokio::test]
async fn a_yes_runs_exactly_what_was_shown() {
    let bench = Bench::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let gate = bench
        .builder(RULES)
        .approver(counting(&asked, |request| {
            assert_eq!(request.arguments, r#"{"n":1,"path":"/tmp"}"#);
            assert_eq!(request.derivation, "may_execute_tool('U:Qa',tool_delete)");
            Ok(Answer::Approve)
        }))
        .build()
        .unwrap();
    let qa = gate.invocation("U:Qa", "s");
    let done = call(&gate, &qa, "delete", r#"{"path": "/tmp", "n": 1.0}"#)
        .await
        .unwrap();
    assert_eq!(bench.runs.last(), json!({"n": 1, "path": "/tmp"}));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    let json = done.to_json();
    assert_eq!(json["metadata"]["approval_required"], true);
    assert_eq!(json["metadata"]["approval_decision"], "approved");
    assert_eq!(json["metadata"]["approval_provider"], "callback");
}

#[tokio::test]
async fn whatever_is_no_yes_denies_with_its_own_reason() {
    type Ask = fn(&horngate_gate::Request) -> Result<Answer, ApproverError>;
    let cases: [(Ask, Reason, &str); 7] = [
        (
            |_| Ok(Answer::Deny("no".into())),
            Reason::Declined,
            "denied",
        ),
        (
            |_| Ok(Answer::from_text("do not approve")),
            Reason::UnknownAnswer,
            "error",
        ),
        (
            |_| Ok(Answer::from_text("Yes, approve")),
            Reason::UnknownAnswer,
            "error",
        ),
        (
            |_| Ok(Answer::from_text("")),
            Reason::UnknownAnswer,
            "error",
        ),
        (|_| Ok(Answer::Pass), Reason::NoApprover, "denied"),
        (
            |_| Err(ApproverError::new("no terminal")),
            Reason::ApproverError,
            "error",
        ),
        (|_| panic!("oh"), Reason::ApproverPanic, "error"),
    ];
    for (ask, reason, decision) in cases {
        let bench = Bench::new();
        let asked = Arc::new(AtomicUsize::new(0));
        let gate = bench
            .builder(RULES)
            .approver(counting(&asked, ask))
            .build()
            .unwrap();
        let qa = gate.invocation("U:Qa", "s");
        let refusal = call(&gate, &qa, "deploy", "{}").await.unwrap_err();
        assert_eq!(refusal.reason, reason);
        assert_eq!(
            refusal.to_json()["metadata"]["approval_decision"],
            decision,
            "{reason}"
        );
        // In the same turn nobody is asked again.
        assert!(call(&gate, &qa, "deploy", "{}").await.is_err());
        assert_eq!(asked.load(Ordering::SeqCst), 1, "{reason}");
        assert_eq!(bench.runs.count(), 0);
        // In another turn somebody may be.
        assert_eq!(
            refused(&gate, &gate.invocation("U:Qa", "s"), "deploy", "{}").await,
            reason
        );
        assert_eq!(asked.load(Ordering::SeqCst), 2, "{reason}");
    }
}

#[tokio::test]
async fn without_an_approver_nothing_that_asks_runs() {
    let bench = Bench::new();
    let gate = bench.builder(RULES).build().unwrap();
    let qa = gate.invocation("U:Qa", "s");
    assert_eq!(
        refused(&gate, &qa, "deploy", "{}").await,
        Reason::NoApprover
    );
    let gate = bench.builder(RULES).approver(AutoDeny).build().unwrap();
    assert_eq!(
        refused(&gate, &gate.invocation("U:Qa", "s"), "deploy", "{}").await,
        Reason::Declined
    );
}

#[tokio::test]
async fn an_approver_that_takes_too_long_denies() {
    let bench = Bench::new();
    let limits = Limits {
        approver: Duration::from_millis(20),
        ..Limits::default()
    };
    let slow = Callback::of_future("ann", |_| async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok(Answer::Approve)
    });
    let gate = bench
        .builder(RULES)
        .limits(limits)
        .approver(slow)
        .build()
        .unwrap();
    let qa = gate.invocation("U:Qa", "s");
    let refusal = call(&gate, &qa, "deploy", "{}").await.unwrap_err();
    assert_eq!(refusal.reason, Reason::ApproverTimeout);
    assert_eq!(
        refusal.to_json()["metadata"]["approval_decision"],
        "expired"
    );
    assert_eq!(bench.runs.count(), 0);
}

#[tokio::test]
async fn a_list_answers_for_what_it_lists_and_never_for_what_destroys() {
    let bench = Bench::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let gate = bench
        .builder(RULES)
        .approver(ApprovedPairs::new(
            "list",
            [("U:Qa", "deploy"), ("U:Qa", "delete")],
        ))
        .approver(counting(&asked, |_| Ok(Answer::Deny("no".into()))))
        .build()
        .unwrap();
    let qa = gate.invocation("U:Qa", "s");
    assert!(call(&gate, &qa, "deploy", "{}").await.is_ok());
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    assert_eq!(refused(&gate, &qa, "delete", "{}").await, Reason::Declined);
    assert_eq!(
        refused(&gate, &qa.child("U:Helper"), "deploy", "{}").await,
        Reason::Declined
    );
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn an_approval_from_the_store_is_used_once_in_a_later_turn() {
    let all = deferring(Deferred::new());
    let gate = &all.gate;
    let first = gate.invocation("U:Qa", "s");
    let refusal = call(gate, &first, "deploy", r#"{"n":1}"#)
        .await
        .unwrap_err();
    let id = refusal.approval_id().unwrap().to_owned();
    assert_eq!(
        refusal.to_json()["metadata"]["approval_decision"],
        "pending"
    );
    assert!(refusal.message.contains("confirmation_required") && refusal.message.contains(&id));
    // Any retry gets the same id, in this turn and in another.
    for context in [&first, &gate.invocation("U:Qa", "s")] {
        let again = call(gate, context, "deploy", r#"{"n":1}"#)
            .await
            .unwrap_err();
        assert_eq!(again.reason, Reason::ConfirmationRequired);
        assert_eq!(again.approval_id(), Some(&*id));
    }
    assert_eq!(all.answer(&id, true), Decided::Recorded);
    // Not in the turn that asked, not by another actor, session or chain, not with other arguments.
    assert_eq!(
        refused(gate, &first, "deploy", r#"{"n":1}"#).await,
        Reason::SameInvocation
    );
    for (context, arguments) in [
        (gate.invocation("U:Qa", "s"), r#"{"n":2}"#),
        (gate.invocation("U:Qa", "other"), r#"{"n":1}"#),
        (gate.invocation("U:Helper", "s"), r#"{"n":1}"#),
        (gate.invocation("U:Qa", "s").child("U:Helper"), r#"{"n":1}"#),
    ] {
        let refusal = call(gate, &context, "deploy", arguments).await.unwrap_err();
        assert_eq!(refusal.reason, Reason::ConfirmationRequired);
        assert_ne!(refusal.approval_id(), Some(&*id));
    }
    assert_eq!(all.bench.runs.count(), 0);
    let later = gate.invocation("U:Qa", "s");
    let done = call(gate, &later, "deploy", r#"{"n":1.0}"#).await.unwrap();
    assert_eq!(done.to_json()["metadata"]["approval_id"], json!(id));
    // It is gone: the next one asks again.
    let again = call(gate, &gate.invocation("U:Qa", "s"), "deploy", r#"{"n":1}"#)
        .await
        .unwrap_err();
    assert_eq!(again.reason, Reason::ConfirmationRequired);
    assert_ne!(again.approval_id(), Some(&*id));
    assert_eq!(all.bench.runs.count(), 1);
}

#[tokio::test]
async fn a_call_that_waits_may_use_its_approval_at_once() {
    let all = Arc::new(deferring(Deferred::waiting(Duration::from_secs(20))));
    let waiting = {
        let all = Arc::clone(&all);
        tokio::spawn(async move {
            let qa = all.gate.invocation("U:Qa", "s");
            call(&all.gate, &qa, "deploy", "{}").await
        })
    };
    let id = loop {
        if let Some(record) = all.store.list().unwrap().first() {
            break record.request.id.clone();
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    };
    all.answer(&id, true);
    waiting.await.unwrap().unwrap();
    assert_eq!(all.bench.runs.count(), 1);
    assert_eq!(all.store.get(&id).unwrap().unwrap().state, State::Consumed);
}

#[tokio::test]
async fn requests_and_approvals_grow_too_old() {
    let all = deferring(Deferred::new());
    let id = all.ask("U:Qa", "{}").await;
    all.bench.clock.advance(Duration::from_secs(299));
    assert_eq!(all.ask("U:Qa", "{}").await, id);
    all.bench.clock.advance(Duration::from_secs(1));
    let record = all.store.get(&id).unwrap().unwrap();
    assert!(
        all.ann
            .answer(&record.request, true, all.bench.clock.now())
            .is_err()
    );
    let verdict = all.ann.answer(&record.request, true, START).unwrap();
    assert_eq!(
        all.gate.submit(&verdict),
        Ok(Decided::NotPending(State::Expired))
    );

    let id = all.ask("U:Qa", "{}").await;
    all.answer(&id, true);
    all.bench.clock.advance(Duration::from_secs(120));
    assert_ne!(all.ask("U:Qa", "{}").await, id);

    let id = all.ask("U:Qa", r#"{"n":2}"#).await;
    all.answer(&id, true);
    all.bench.clock.advance(Duration::from_secs(119));
    let later = all.gate.invocation("U:Qa", "s");
    assert!(
        call(&all.gate, &later, "deploy", r#"{"n":2}"#)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn approvals_asked_by_a_child_reach_the_root() {
    let all = deferring(Deferred::new());
    let root = all.gate.invocation("U:Qa", "s");
    let child = root.child("U:Helper");
    let refusal = call(&all.gate, &child, "deploy", "{}").await.unwrap_err();
    let id = refusal.approval_id().unwrap();
    let pending = all.gate.pending(&root).unwrap();
    assert_eq!(pending.len(), 1);
    assert_eq!(pending[0].request.id, id);
    assert_eq!(pending[0].request.chain, ["U:Qa", "U:Helper"]);
    // A child does not see what its parent waits for, and another session sees nothing.
    assert_eq!(all.gate.pending(&root.child("U:Other")).unwrap(), []);
    assert_eq!(
        all.gate.pending(&all.gate.invocation("U:Qa", "t")).unwrap(),
        []
    );
    all.answer(id, true);
    // It never moves to the parent.
    let later = all.gate.invocation("U:Qa", "s");
    assert_eq!(
        refused(&all.gate, &later, "deploy", "{}").await,
        Reason::ConfirmationRequired
    );
    assert!(
        call(&all.gate, &later.child("U:Helper"), "deploy", "{}")
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn too_many_requests_are_not_asked() {
    let bench = Bench::new();
    let limits = Limits {
        max_pending: 3,
        ..Limits::default()
    };
    let gate = bench
        .builder(RULES)
        .limits(limits)
        .approver(Deferred::new())
        .build()
        .unwrap();
    let qa = gate.invocation("U:Qa", "s");
    for n in 0..3 {
        let reason = refused(&gate, &qa, "deploy", &format!(r#"{{"n":{n}}}"#)).await;
        assert_eq!(reason, Reason::ConfirmationRequired);
    }
    assert_eq!(
        refused(&gate, &qa, "deploy", r#"{"n":3}"#).await,
        Reason::TooManyPending
    );
    let other = gate.invocation("U:Qa", "other");
    assert_eq!(
        refused(&gate, &other, "deploy", r#"{"n":3}"#).await,
        Reason::ConfirmationRequired
    );
}

#[tokio::test]
async fn a_no_in_the_store_denies() {
    let all = deferring(Deferred::new());
    let context = all.gate.invocation("U:Qa", "s");
    let refusal = call(&all.gate, &context, "deploy", "{}").await.unwrap_err();
    all.answer(refusal.approval_id().unwrap(), false);
    assert_eq!(
        refused(&all.gate, &context, "deploy", "{}").await,
        Reason::Declined
    );
}
