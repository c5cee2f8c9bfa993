//! What somebody would try who wants a body to run without a grant, or with an approval that is not for it.

use crate::support::{Bench, RULES, Runs, START, allowlist, call, refused};
use horngate::Allowlist;
use horngate_gate::{
    Answer, ApprovedPairs, Approver, ApproverError, Asked, AuditFailure, AuditLog, BoxFuture,
    BuildError, Callback, Claim, Clock, Consumed, Decided, Deferred, Delegation, End, ForeignTool,
    Gate, Limits, MemoryStore, Millis, OnBadRules, Permitted, Reason, Record, Remote, Request,
    Signatory, State, Store, StoreError, ToolError, ToolSpec, Verdict,
};
use serde_json::Value;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// An approver of which every part can be made to misbehave.
struct Odd {
    person: fn(usize) -> &'static str,
    settings: fn() -> String,
    patience: fn() -> Duration,
    looked: AtomicUsize,
}

impl Odd {
    fn new() -> Self {
        Self {
            person: |_| "ann",
            settings: String::new,
            patience: || Duration::ZERO,
            looked: AtomicUsize::new(0),
        }
    }
}

impl Approver for Odd {
    fn person(&self) -> &str {
        (self.person)(self.looked.fetch_add(1, Ordering::SeqCst))
    }

    fn provider(&self) -> &str {
        "odd"
    }

    fn patience(&self) -> Duration {
        (self.patience)()
    }

    fn settings(&self) -> String {
        (self.settings)()
    }

    fn ask<'a>(&'a self, _: &'a Arc<Request>) -> BoxFuture<'a, Result<Answer, ApproverError>> {
        Box::pin(std::future::ready(Ok(Answer::Approve)))
    }
}

#[test]
fn an_approver_that_panics_when_asked_who_it_is_builds_no_gate() {
    let odd: [fn(&mut Odd); 3] = [
        |odd| odd.person = |_| panic!("who?"),
        |odd| odd.settings = || panic!("how?"),
        |odd| odd.patience = || panic!("when?"),
    ];
    for make in odd {
        let mut approver = Odd::new();
        make(&mut approver);
        let built = Bench::new().builder(RULES).approver(approver).build();
        assert!(matches!(built, Err(BuildError::Setting(_))), "{built:?}");
    }
}

/// The policy names the approver; who is somebody else when it matters is still that approver.
#[tokio::test]
async fn an_approver_is_who_it_was_when_the_gate_was_built() {
    let rules = format!("{RULES} may_approve(bob, 'U:Qa', tool_deploy).");
    let approver = Odd {
        person: |looked| if looked == 0 { "mallory" } else { "bob" },
        ..Odd::new()
    };
    let bench = Bench::new();
    let gate = bench.builder(&rules).approver(approver).build().unwrap();
    let qa = gate.invocation("U:Qa", "s");
    let reason = refused(&gate, &qa, "deploy", "{}").await;
    assert_eq!((reason, bench.runs.count()), (Reason::NotAuthorized, 0));
}

/// It blocks its thread, so that no timer ends it.
#[tokio::test]
async fn a_yes_that_comes_late_is_none_also_from_an_approver_that_blocks() {
    let bench = Bench::new();
    let limits = Limits {
        approver: Duration::from_millis(1),
        ..Limits::default()
    };
    let slow = Callback::of_future("ann", |_| async {
        std::thread::sleep(Duration::from_millis(20));
        Ok(Answer::Approve)
    });
    let gate = bench
        .builder(RULES)
        .limits(limits)
        .approver(slow)
        .build()
        .unwrap();
    let qa = gate.invocation("U:Qa", "s");
    let reason = refused(&gate, &qa, "deploy", "{}").await;
    assert_eq!((reason, bench.runs.count()), (Reason::ApproverTimeout, 0));
    let later = gate.invocation("U:Qa", "s");
    assert_eq!(
        refused(&gate, &later, "deploy", "{}").await,
        Reason::ApproverTimeout
    );
}

/// Once in person and once through the store.
#[tokio::test]
async fn an_approver_that_answers_twice_approves_one_call() {
    let bench = Bench::new();
    let ann = Arc::new(Signatory::generate("ann").unwrap());
    let (slot, signed) = (
        Arc::<OnceLock<Gate>>::default(),
        Arc::new(AtomicUsize::new(0)),
    );
    let twice = {
        let (slot, ann, clock, signed) = (
            slot.clone(),
            ann.clone(),
            bench.clock.clone(),
            signed.clone(),
        );
        Callback::new("ann", move |request| {
            let verdict = ann.answer(request, true, clock.now()).unwrap();
            let decided = slot.get().unwrap().submit(&verdict);
            assert_eq!(decided, Ok(Decided::Recorded));
            assert_ne!(slot.get().unwrap().submit(&verdict), decided);
            match signed.fetch_add(1, Ordering::SeqCst) {
                0 => Ok(Answer::Approve),
                _ => Ok(Answer::Deny("on second thoughts".to_owned())),
            }
        })
    };
    let gate = bench
        .builder(RULES)
        .approver(twice)
        .approver_key("ann", ann.key())
        .build()
        .unwrap();
    slot.set(gate.clone()).unwrap();
    let turn = || gate.invocation("U:Qa", "s");
    assert!(call(&gate, &turn(), "deploy", "{}").await.is_ok());
    assert_eq!(bench.runs.count(), 1);
    // The next is asked about anew, and the no takes the signed yes back.
    assert_eq!(
        refused(&gate, &turn(), "deploy", "{}").await,
        Reason::Declined
    );
    assert_eq!(
        refused(&gate, &turn(), "deploy", "{}").await,
        Reason::Declined
    );
    assert_eq!((bench.runs.count(), signed.load(Ordering::SeqCst)), (1, 3));
}

/// Polls a future so often, and gives it up.
fn gives_up_after<F: Future>(polls: usize, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    (0..polls).find_map(|_| match future.as_mut().poll(&mut context) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    })
}

/// Ready the second time it is polled.
#[derive(Default)]
struct Step(bool);

impl Future for Step {
    type Output = ();

    fn poll(mut self: std::pin::Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        match std::mem::replace(&mut self.0, true) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_at_any_await_leaves_no_consent_behind() {
    let mut ended = false;
    for polls in 0..9 {
        let bench = Bench::new();
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        let store = Arc::new(MemoryStore::new());
        let stepping = Callback::of_future("ann", move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            async {
                Step::default().await;
                Step::default().await;
                Ok(Answer::Approve)
            }
        });
        let gate = bench
            .builder(RULES)
            .approver(stepping)
            .store(store.clone())
            .build()
            .unwrap();
        let qa = gate.invocation("U:Qa", "s");
        let outcome = gives_up_after(polls, gate.call(&qa, "deploy", "{}"));
        ended |= outcome.is_some();
        let runs = usize::from(outcome.is_some_and(|outcome| outcome.is_ok()));
        assert_eq!(bench.runs.count(), runs, "{polls}");
        if runs == 1 || polls == 0 {
            continue;
        }
        // The request waits, and nothing has approved it, in this turn or another.
        let record = store.list().unwrap().pop().unwrap();
        assert_eq!(
            (record.state, record.verdict),
            (State::Pending, None),
            "{polls}"
        );
        for turn in [qa, gate.invocation("U:Qa", "s")] {
            let reason = refused(&gate, &turn, "deploy", "{}").await;
            assert_eq!(reason, Reason::ConfirmationRequired, "{polls}");
        }
        assert_eq!((bench.runs.count(), asked.load(Ordering::SeqCst)), (0, 1));
    }
    assert!(ended, "no call came to its end");
}

/// A store in which something happens while an approval is used.
struct Slow {
    store: MemoryStore,
    meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Store for Slow {
    fn may_block(&self) -> bool {
        false
    }

    fn open(&self, gate: &str, policy: &str, now: Millis) -> Result<u64, StoreError> {
        match policy {
            "closed" => Err(StoreError::new("the store is busy")),
            _ => self.store.open(gate, policy, now),
        }
    }

    fn request(&self, request: &Request, most: usize, now: Millis) -> Result<Asked, StoreError> {
        self.store.request(request, most, now)
    }

    fn decide(&self, verdict: &Verdict, now: Millis) -> Result<Decided, StoreError> {
        self.store.decide(verdict, now)
    }

    fn end(&self, id: &str, end: End, now: Millis) -> Result<Decided, StoreError> {
        self.store.end(id, end, now)
    }

    fn consume(&self, claim: &Claim, now: Millis) -> Result<Consumed, StoreError> {
        let consumed = self.store.consume(claim, now);
        if let Some(meanwhile) = self.meanwhile.lock().unwrap().take() {
            meanwhile();
        }
        consumed
    }

    fn get(&self, id: &str) -> Result<Option<Record>, StoreError> {
        self.store.get(id)
    }

    fn list(&self) -> Result<Vec<Record>, StoreError> {
        self.store.list()
    }
}

struct Server(Runs);

impl Remote for Server {
    fn call<'c>(
        &'c self,
        _: &'c str,
        permit: Permitted<'c, ForeignTool>,
    ) -> BoxFuture<'c, Result<Value, ToolError>> {
        Box::pin(async move {
            self.0.note(permit.into_arguments());
            Ok(Value::Null)
        })
    }
}

#[tokio::test]
async fn what_changes_while_the_store_is_slow_still_counts() {
    type Change = fn(&Gate, &Runs);
    let changed: [(Change, Reason); 4] = [
        (
            |gate, _| {
                let bad = gate.reload(Err::<Allowlist, _>("bad rules"), OnBadRules::DenyAll);
                assert!(bad.is_err());
            },
            Reason::Closed,
        ),
        (
            |gate, _| {
                let other = allowlist("may_execute_tool(x, tool_y).");
                gate.reload(Ok::<_, String>(other), OnBadRules::KeepOld)
                    .unwrap();
            },
            Reason::UnknownActor,
        ),
        (
            |gate, _| assert!(gate.withdraw("deploy")),
            Reason::DefinitionChanged,
        ),
        (
            |gate, runs| {
                assert!(gate.withdraw("deploy"));
                let spec = ToolSpec::new("deploy", "Deploys something else");
                gate.offer(ForeignTool::new("server", spec, Server(runs.clone())));
            },
            Reason::DefinitionChanged,
        ),
    ];
    for (change, reason) in changed {
        let bench = Bench::new();
        let store = Arc::new(Slow {
            store: MemoryStore::new(),
            meanwhile: Mutex::default(),
        });
        let gate = bench
            .builder(RULES)
            .store(store.clone())
            .approver(Callback::new("ann", |_| Ok(Answer::Approve)))
            .build()
            .unwrap();
        let (meddler, runs) = (gate.clone(), bench.runs.clone());
        *store.meanwhile.lock().unwrap() = Some(Box::new(move || change(&meddler, &runs)));
        let qa = gate.invocation("U:Qa", "s");
        assert_eq!(refused(&gate, &qa, "deploy", "{}").await, reason);
        assert_eq!(bench.runs.count(), 0, "{reason}");
        assert!(
            store.meanwhile.lock().unwrap().is_none(),
            "nothing was approved"
        );
    }
}

struct Panicking;

impl io::Write for Panicking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match bytes.windows(9).any(|part| part == b"executing") {
            true => panic!("the writer"),
            false => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_log_whose_writer_panics_denies() {
    for (failure, runs) in [(AuditFailure::Deny, 0), (AuditFailure::GoOn, 2)] {
        let bench = Bench::new();
        let gate = bench
            .builder(RULES)
            .audit(Arc::new(AuditLog::to_writer(Panicking, None)))
            .audit_failure(failure)
            .build()
            .unwrap();
        for _ in 0..2 {
            let qa = gate.invocation("U:Qa", "s");
            let outcome = call(&gate, &qa, "repl", "{}")
                .await
                .map_err(|refusal| refusal.reason);
            assert_eq!(outcome.is_ok(), runs > 0, "{outcome:?}");
            assert!(
                matches!(outcome, Ok(_) | Err(Reason::AuditFailed)),
                "{outcome:?}"
            );
        }
        assert_eq!(bench.runs.count(), runs);
    }
}

/// Else an actor could choose who approves its call by whom it sends.
#[tokio::test]
async fn who_may_approve_must_be_allowed_to_for_the_whole_chain() {
    let of = |people: &[(&str, &str)]| {
        let facts: Vec<String> = people
            .iter()
            .map(|(person, actor)| format!("may_approve({person}, '{actor}', tool_deploy)."))
            .collect();
        format!("{RULES} {}", facts.join(" "))
    };
    for (people, delegation, expected) in [
        (
            &[("ann", "U:Helper"), ("bob", "U:Qa")][..],
            Delegation::Intersect,
            Some(Reason::NotAuthorized),
        ),
        (
            &[("ann", "U:Helper"), ("bob", "U:Qa")],
            Delegation::Own,
            Some(Reason::NotAuthorized),
        ),
        (
            &[("ann", "U:Qa"), ("bob", "U:Helper")],
            Delegation::Intersect,
            Some(Reason::NotAuthorized),
        ),
        (
            &[("ann", "U:Qa"), ("ann", "U:Helper")],
            Delegation::Intersect,
            None,
        ),
    ] {
        let bench = Bench::new();
        let gate = bench
            .builder(&of(people))
            .delegation(delegation)
            .approver(Callback::new("ann", |_| Ok(Answer::Approve)))
            .build()
            .unwrap();
        let helper = gate.invocation("U:Qa", "s").child("U:Helper");
        let outcome = call(&gate, &helper, "deploy", "{}").await;
        assert_eq!(
            outcome.map_err(|refusal| refusal.reason).err(),
            expected,
            "{people:?}"
        );
        // The same through the store.
        let ann = Signatory::generate("ann").unwrap();
        let gate = bench
            .builder(&of(people))
            .delegation(delegation)
            .approver(Deferred::new())
            .approver_key("ann", ann.key())
            .build()
            .unwrap();
        let root = gate.invocation("U:Qa", "s");
        let _ = refused(&gate, &root.child("U:Helper"), "deploy", "{}").await;
        let record = gate.pending(&root).unwrap().pop().unwrap();
        gate.submit(&ann.answer(&record.request, true, START).unwrap())
            .unwrap();
        let later = gate.invocation("U:Qa", "s").child("U:Helper");
        let outcome = call(&gate, &later, "deploy", "{}").await;
        assert_eq!(
            outcome.map_err(|refusal| refusal.reason).err(),
            expected,
            "{people:?}"
        );
    }
}

#[tokio::test]
async fn cycles_and_long_chains_of_actors_gain_nothing() {
    let bench = Bench::new();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let shown = asked.clone();
    let gate = bench
        .builder(RULES)
        .approver(Callback::new("U:Helper", move |request| {
            shown.lock().unwrap().push(request.chain.clone());
            Ok(Answer::Approve)
        }))
        .build()
        .unwrap();
    let root = gate.invocation("U:Qa", "s");
    // Who is in the chain anywhere does not approve, also when it comes back to where it began.
    let cycle = root.child("U:Helper").child("U:Qa");
    assert_eq!(
        refused(&gate, &cycle, "deploy", "{}").await,
        Reason::NotAuthorized
    );
    // One without the grant anywhere in the chain is enough.
    for place in [0, 500, 999] {
        let mut chain = root.clone();
        for n in 0..1000 {
            chain = chain.child(if n == place { "U:Ux" } else { "U:Qa" });
        }
        assert_eq!(
            refused(&gate, &chain, "repl", "{}").await,
            Reason::UnknownActor
        );
    }
    let mut chain = root.clone();
    for _ in 0..1000 {
        chain = chain.child("U:Qa");
    }
    assert!(call(&gate, &chain, "repl", "{}").await.is_ok());
    // An approval for a chain is none for its end, its start, or one with a member more.
    assert!(call(&gate, &root, "deploy", "{}").await.is_ok());
    assert_eq!(bench.runs.count(), 2);
    assert_eq!(asked.lock().unwrap().as_slice(), [vec!["U:Qa".to_owned()]]);
    // A name that is several names put together is one name.
    for name in [
        "U:Qa > U:Helper",
        "U:Qa\",\"U:Helper",
        "U:Qa\0",
        " U:Qa",
        "U:Qa', tool_repl). %",
        "",
    ] {
        let spoof = gate.invocation(name, "s");
        assert_eq!(
            refused(&gate, &spoof, "repl", "{}").await,
            Reason::UnknownActor,
            "{name:?}"
        );
    }
}

/// An argument that is so long that the screen breaks it where the sender wants.
#[tokio::test]
async fn no_argument_looks_like_another_line_of_the_question() {
    let bench = Bench::new();
    let shown = Arc::new(Mutex::new(String::new()));
    let seen = shown.clone();
    let gate = bench
        .builder(RULES)
        .approver(Callback::new("ann", move |request| {
            *seen.lock().unwrap() = request.for_people();
            Ok(Answer::Deny("no".to_owned()))
        }))
        .build()
        .unwrap();
    for width in 40..200 {
        let text = format!(
            "{}tool       read_file on local{}",
            " ".repeat(width),
            " ".repeat(width)
        );
        let arguments = serde_json::json!({"a\ntool       x": text, "b": text}).to_string();
        let qa = gate.invocation("U:Qa", "s");
        let _ = refused(&gate, &qa, "deploy", &arguments).await;
        let shown = shown.lock().unwrap().clone();
        let (_, arguments) = shown.split_once("arguments\n").unwrap();
        for line in arguments.lines() {
            assert!(
                line.starts_with("  ") && line.chars().count() <= 76,
                "{shown}"
            );
            assert!(!line.trim_start().starts_with("tool"), "{shown}");
        }
    }
}

/// The same tool, which the operator does not call confined any more.
#[tokio::test]
async fn a_tool_that_is_confined_no_more_needs_a_grant_at_once() {
    let bench = Bench::new();
    let slot = Arc::<OnceLock<Gate>>::default();
    let spec = || ToolSpec::new("fetch", "Fetches").confirm("others see it");
    let (inner, runs) = (slot.clone(), bench.runs.clone());
    let gate = bench
        .builder(RULES)
        .foreign(
            ForeignTool::new("server", spec(), Server(bench.runs.clone()))
                .confined_by_operator("it is harmless"),
        )
        .approver(Callback::new("ann", move |_| {
            let gate = inner.get().unwrap();
            assert!(gate.withdraw("fetch"));
            gate.offer(ForeignTool::new("server", spec(), Server(runs.clone())));
            Ok(Answer::Approve)
        }))
        .build()
        .unwrap();
    slot.set(gate.clone()).unwrap();
    let qa = gate.invocation("U:Qa", "s");
    let reason = refused(&gate, &qa, "fetch", "{}").await;
    assert_eq!((reason, bench.runs.count()), (Reason::UnknownTool, 0));
}

/// A store that says whatever its rows say, and yes to every claim.
#[derive(Default)]
struct Liar {
    store: MemoryStore,
    says: Mutex<Option<Record>>,
}

impl Store for Liar {
    fn may_block(&self) -> bool {
        false
    }

    fn open(&self, gate: &str, policy: &str, now: Millis) -> Result<u64, StoreError> {
        self.store.open(gate, policy, now)
    }

    fn request(&self, request: &Request, most: usize, now: Millis) -> Result<Asked, StoreError> {
        match &*self.says.lock().unwrap() {
            Some(record) => Ok(Asked::Live(Box::new(record.clone()))),
            None => self.store.request(request, most, now),
        }
    }

    fn decide(&self, verdict: &Verdict, now: Millis) -> Result<Decided, StoreError> {
        self.store.decide(verdict, now)
    }

    fn end(&self, _: &str, _: End, _: Millis) -> Result<Decided, StoreError> {
        Ok(Decided::Recorded)
    }

    fn consume(&self, _: &Claim, _: Millis) -> Result<Consumed, StoreError> {
        Ok(Consumed::Yes)
    }

    fn get(&self, id: &str) -> Result<Option<Record>, StoreError> {
        self.store.get(id)
    }

    fn list(&self) -> Result<Vec<Record>, StoreError> {
        self.store.list()
    }
}

#[tokio::test]
async fn a_store_that_lies_makes_no_approval() {
    type Lie = fn(&mut Record, &Signatory);
    let lies: [(&str, Lie, u64, bool, Reason); 9] = [
        (
            "a no is a yes",
            |record, ann| record.verdict = ann.answer(&record.request, false, START).ok(),
            0,
            true,
            Reason::BadSignature,
        ),
        (
            "a no was turned",
            |record, ann| {
                let mut verdict = ann.answer(&record.request, false, START).unwrap();
                verdict.approve = true;
                record.verdict = Some(verdict);
            },
            0,
            true,
            Reason::BadSignature,
        ),
        (
            "nobody answered",
            |record, _| record.verdict = None,
            0,
            true,
            Reason::BadSignature,
        ),
        (
            "somebody else signed",
            |record, _| {
                let other = Signatory::generate("ann").unwrap();
                record.verdict = other.answer(&record.request, true, START).ok();
            },
            0,
            true,
            Reason::BadSignature,
        ),
        (
            "it lasts longer",
            |record, _| record.verdict.as_mut().unwrap().expires_at += 1,
            0,
            true,
            Reason::BadSignature,
        ),
        (
            "another turn asked",
            |record, _| record.request.invocation.0 -= 1,
            0,
            true,
            Reason::BadSignature,
        ),
        (
            "another request",
            |record, _| record.request.id = "0".repeat(32),
            0,
            true,
            Reason::BadSignature,
        ),
        (
            "it is not too old",
            |_, _| (),
            120_000,
            true,
            Reason::ApprovalExpired,
        ),
        (
            "this turn is a later one",
            |_, _| (),
            0,
            false,
            Reason::SameInvocation,
        ),
    ];
    for (what, lie, wait, later, reason) in lies {
        let bench = Bench::new();
        let ann = Signatory::generate("ann").unwrap();
        let store = Arc::new(Liar::default());
        let gate = bench
            .builder(RULES)
            .approver(Deferred::new())
            .approver_key("ann", ann.key())
            .store(store.clone())
            .build()
            .unwrap();
        let first = gate.invocation("U:Qa", "s");
        let _ = refused(&gate, &first, "deploy", "{}").await;
        let mut record = store.list().unwrap().pop().unwrap();
        record.state = State::Approved;
        record.verdict = ann.answer(&record.request, true, START).ok();
        let truth = record.clone();
        lie(&mut record, &ann);
        *store.says.lock().unwrap() = Some(record);
        bench.clock.advance(Duration::from_millis(wait));
        let turn = if later {
            gate.invocation("U:Qa", "s")
        } else {
            first
        };
        assert_eq!(
            refused(&gate, &turn, "deploy", "{}").await,
            reason,
            "{what}"
        );
        assert_eq!(bench.runs.count(), 0, "{what}");
        if wait == 0 {
            // Without the lie it runs, once, however often the store says yes.
            *store.says.lock().unwrap() = Some(truth);
            let turn = || gate.invocation("U:Qa", "s");
            assert!(call(&gate, &turn(), "deploy", "{}").await.is_ok(), "{what}");
            assert_eq!(
                refused(&gate, &turn(), "deploy", "{}").await,
                Reason::ApprovalUsed
            );
            assert_eq!(bench.runs.count(), 1, "{what}");
        }
    }
}

#[tokio::test]
async fn an_approver_without_a_name_approves_nothing() {
    let bench = Bench::new();
    let nobody = Callback::new("", |_| Ok(Answer::Approve));
    let gate = bench.builder(RULES).approver(nobody).build().unwrap();
    let qa = gate.invocation("U:Qa", "s");
    let reason = refused(&gate, &qa, "deploy", "{}").await;
    assert_eq!((reason, bench.runs.count()), (Reason::NotAuthorized, 0));
}

/// Whoever of the chain the rules are strictest with counts.
#[tokio::test]
async fn no_sub_agent_makes_a_destructive_call_less_so() {
    let of = |actor: &str, name: &str| format!("{name}('{actor}', tool_repl).");
    for (root, child) in [
        ("destructive_tool", "confirm_tool"),
        ("confirm_tool", "destructive_tool"),
    ] {
        let rules = format!("{RULES} {} {}", of("U:Qa", root), of("U:Helper", child));
        let pairs = [("U:Qa", "repl"), ("U:Helper", "repl")];
        let bench = Bench::new();
        let gate = bench
            .builder(&rules)
            .approver(ApprovedPairs::new("list", pairs))
            .build()
            .unwrap();
        let helper = gate.invocation("U:Qa", "s").child("U:Helper");
        let reason = refused(&gate, &helper, "repl", "{}").await;
        assert_eq!(
            (reason, bench.runs.count()),
            (Reason::NoApprover, 0),
            "{root}"
        );
    }
}
