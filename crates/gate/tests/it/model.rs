//! The gate under every order of steps that a scheduler finds: what is promised holds in each.
//!
//! Stores, clocks, approvers and bodies are where threads are exchanged; between them the gate keeps no lock that
//! another call waits for. `HORNGATE_MODEL=1000 cargo test -p horngate-gate --test it model::` looks at so many orders for
//! each promise, and at as many with few but well-placed exchanges, within some minutes; without it there are some tens.

use crate::support::{RULES, START, allowlist};
use horngate::Allowlist;
use horngate_gate::{
    Answer, Asked, Callback, Claim, Clock, Closure, Consumed, Decided, Deferred, End, Gate,
    ManualClock, MemoryStore, Millis, OnBadRules, Reason, Record, Request, Signatory, State, Store,
    StoreError, ToolError, ToolSpec, Verdict,
};
use serde_json::Value;
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::sync::atomic::AtomicUsize as Point;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Another thread may run here.
fn exchange(point: &Point) {
    point.fetch_add(1, Ordering::SeqCst);
}

/// A store whose steps are atomic, and where threads are exchanged before and after each.
struct Stepped<S> {
    store: S,
    point: Point,
    /// What happened, in its order.
    seen: Mutex<Vec<Seen>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Opened,
    Approved,
    Ended,
    Consumed { at: Millis },
}

impl<S: Store> Stepped<S> {
    fn new(store: S) -> Arc<Self> {
        Arc::new(Self {
            store,
            point: Point::new(0),
            seen: Mutex::default(),
        })
    }

    fn step<T>(&self, work: impl FnOnce(&S) -> (T, Option<Seen>)) -> T {
        exchange(&self.point);
        let (result, seen) = work(&self.store);
        self.seen.lock().unwrap().extend(seen);
        exchange(&self.point);
        result
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    fn consumed(&self) -> usize {
        let is_use = |seen: &&Seen| matches!(seen, Seen::Consumed { .. });
        self.seen().iter().filter(is_use).count()
    }

    fn place(&self, what: &Seen) -> Option<usize> {
        self.seen().iter().rposition(|seen| seen == what)
    }
}

impl<S: Store> Store for Stepped<S> {
    fn may_block(&self) -> bool {
        false
    }

    fn open(&self, gate: &str, policy: &str, now: Millis) -> Result<u64, StoreError> {
        self.step(|store| (store.open(gate, policy, now), Some(Seen::Opened)))
    }

    fn request(&self, request: &Request, most: usize, now: Millis) -> Result<Asked, StoreError> {
        self.step(|store| (store.request(request, most, now), None))
    }

    fn decide(&self, verdict: &Verdict, now: Millis) -> Result<Decided, StoreError> {
        self.step(|store| {
            let decided = store.decide(verdict, now);
            let recorded = decided == Ok(Decided::Recorded);
            (decided, recorded.then_some(Seen::Approved))
        })
    }

    fn end(&self, id: &str, end: End, now: Millis) -> Result<Decided, StoreError> {
        self.step(|store| {
            let decided = store.end(id, end, now);
            let recorded = decided == Ok(Decided::Recorded);
            (decided, recorded.then_some(Seen::Ended))
        })
    }

    fn consume(&self, claim: &Claim, now: Millis) -> Result<Consumed, StoreError> {
        self.step(|store| {
            let consumed = store.consume(claim, now);
            let used = consumed == Ok(Consumed::Yes);
            (consumed, used.then_some(Seen::Consumed { at: now }))
        })
    }

    fn get(&self, id: &str) -> Result<Option<Record>, StoreError> {
        self.step(|store| (store.get(id), None))
    }

    fn list(&self) -> Result<Vec<Record>, StoreError> {
        self.step(|store| (store.list(), None))
    }
}

struct SteppedClock {
    clock: ManualClock,
    point: Point,
}

impl Clock for SteppedClock {
    fn now(&self) -> Millis {
        let now = self.clock.now();
        exchange(&self.point);
        now
    }
}

/// What does not change from order to order.
struct World {
    ann: Signatory,
    rules: Allowlist,
    tightened: Allowlist,
}

/// One gate with one tool that asks, and what it rests on.
struct Scene<S> {
    store: Arc<Stepped<S>>,
    clock: Arc<SteppedClock>,
    runs: Arc<AtomicUsize>,
    gate: Gate,
}

fn tool(runs: &Arc<AtomicUsize>) -> Closure<Value> {
    let (runs, point) = (Arc::clone(runs), Point::new(0));
    let spec = ToolSpec::new("deploy", "Deploys").confirm("customers see it");
    Closure::new(spec, move |permit| {
        exchange(&point);
        runs.fetch_add(1, Ordering::SeqCst);
        Ok::<_, ToolError>(permit.into_arguments())
    })
}

impl<S: Store + 'static> Scene<S> {
    fn new(world: &World, store: S) -> Self {
        let store = Stepped::new(store);
        let clock = Arc::new(SteppedClock {
            clock: ManualClock::at(START),
            point: Point::new(0),
        });
        let runs = Arc::default();
        let gate = Self::another(world, &store, &clock, &runs);
        Self {
            store,
            clock,
            runs,
            gate,
        }
    }

    /// A gate in another process that shares the store.
    fn another(
        world: &World,
        store: &Arc<Stepped<S>>,
        clock: &Arc<SteppedClock>,
        runs: &Arc<AtomicUsize>,
    ) -> Gate {
        Gate::builder(world.rules.clone())
            .tool(tool(runs))
            .approver(Deferred::new())
            .approver_key("ann", world.ann.key())
            .store(store.clone())
            .clock(clock.clone())
            .build()
            .unwrap()
    }

    /// Asks, and does not answer.
    fn asked(&self) -> Request {
        let refusal = turn(&self.gate).unwrap_err();
        assert_eq!(refusal, Reason::ConfirmationRequired);
        self.store.list().unwrap().pop().unwrap().request
    }

    fn answer(&self, world: &World, request: &Request) -> Option<Decided> {
        let verdict = world.ann.answer(request, true, self.clock.now()).ok()?;
        self.store.decide(&verdict, self.clock.now()).ok()
    }

    fn approved(&self, world: &World) -> Request {
        let request = self.asked();
        assert_eq!(self.answer(world, &request), Some(Decided::Recorded));
        request
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    fn state(&self, request: &Request) -> State {
        self.store.get(&request.id).unwrap().unwrap().state
    }
}

/// The call in a new turn.
fn turn(gate: &Gate) -> Result<(), Reason> {
    let qa = gate.invocation("U:Qa", "s");
    let outcome = shuttle::future::block_on(gate.call(&qa, "deploy", "{}"));
    outcome.map(drop).map_err(|refusal| refusal.reason)
}

fn orders() -> usize {
    let said = std::env::var("HORNGATE_MODEL");
    said.map_or(40, |orders| orders.parse().unwrap())
}

/// Looks at many orders of the steps of a scene.
fn every_order(scene: impl Fn(&Arc<World>) + Send + Sync + 'static) {
    // Timers of approvers are tokio's; none ever ends here.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let _entered = runtime.enter();
    let world = Arc::new(World {
        ann: Signatory::generate("ann").unwrap(),
        rules: allowlist(RULES),
        tightened: allowlist("may_execute_tool('U:Qa', tool_repl)."),
    });
    let mut config = shuttle::Config::new();
    config.stack_size = 4 << 20;
    config.failure_persistence = shuttle::FailurePersistence::Print;
    let scene = Arc::new(scene);
    let run = {
        let scene = Arc::clone(&scene);
        move || scene(&world)
    };
    shuttle::Runner::new(RandomScheduler::new(orders()), config.clone()).run(run.clone());
    shuttle::Runner::new(PctScheduler::new(3, orders()), config).run(run);
}

fn both<A: Send + 'static, B: Send + 'static>(
    one: impl FnOnce() -> A + Send + 'static,
    other: impl FnOnce() -> B + Send + 'static,
) -> (A, B) {
    let (one, other) = (shuttle::thread::spawn(one), shuttle::thread::spawn(other));
    (one.join().unwrap(), other.join().unwrap())
}

/// Two calls and one approval in the store.
fn two_calls_one_approval<S: Store + 'static>(world: &World, store: S) {
    let scene = Scene::new(world, store);
    scene.approved(world);
    let (one, other) = (scene.gate.clone(), scene.gate.clone());
    let (one, other) = both(move || turn(&one), move || turn(&other));
    let ran = usize::from(one.is_ok()) + usize::from(other.is_ok());
    assert_eq!((ran, scene.runs(), scene.store.consumed()), (1, 1, 1));
}

#[test]
fn two_identical_calls_and_one_approval_run_exactly_once() {
    every_order(|world| two_calls_one_approval(world, MemoryStore::new()));
}

#[test]
fn two_processes_and_one_approval_run_exactly_once() {
    every_order(|world| {
        let scene = Scene::new(world, MemoryStore::new());
        scene.approved(world);
        let here = scene.gate.clone();
        let there = Scene::another(world, &scene.store, &scene.clock, &scene.runs);
        // The turns of another process have their own numbers.
        scene.clock.clock.advance(Duration::from_secs(1));
        let (one, other) = both(move || turn(&here), move || turn(&there));
        let ran = usize::from(one.is_ok()) + usize::from(other.is_ok());
        assert_eq!((ran, scene.runs(), scene.store.consumed()), (1, 1, 1));
    });
}

#[test]
fn two_identical_calls_ask_once_and_run_once() {
    every_order(|world| {
        let (asked, runs) = (Arc::new(AtomicUsize::new(0)), Arc::default());
        let (counter, point) = (Arc::clone(&asked), Arc::new(Point::new(0)));
        let ann = Callback::of_future("ann", move |_| {
            let (counter, point) = (Arc::clone(&counter), Arc::clone(&point));
            async move {
                counter.fetch_add(1, Ordering::SeqCst);
                exchange(&point);
                Ok(Answer::Approve)
            }
        });
        let store = Stepped::new(MemoryStore::new());
        let gate = Gate::builder(world.rules.clone())
            .tool(tool(&runs))
            .approver(ann)
            .store(store.clone())
            .build()
            .unwrap();
        let qa = gate.invocation("U:Qa", "s");
        let call = {
            let (gate, qa) = (gate.clone(), qa);
            move || shuttle::future::block_on(gate.call(&qa, "deploy", "{}")).is_ok()
        };
        let (one, other) = both(call.clone(), call);
        let (ran, runs) = (
            usize::from(one) + usize::from(other),
            runs.load(Ordering::SeqCst),
        );
        assert_eq!(
            (ran, runs),
            (asked.load(Ordering::SeqCst), store.consumed())
        );
        // The second may come after the first has run: then it is a call of its own.
        assert!((1..=2).contains(&ran));
    });
}

#[test]
fn no_approval_is_used_after_the_policy_changed() {
    every_order(|world| {
        let scene = Scene::new(world, MemoryStore::new());
        let request = scene.approved(world);
        let (gate, reloaded) = (scene.gate.clone(), scene.gate.clone());
        let (tightened, rules) = (world.tightened.clone(), world.rules.clone());
        let (outcome, ()) = both(
            move || turn(&gate),
            move || {
                // There and back again: what was approved stays void.
                for rules in [tightened, rules] {
                    reloaded
                        .reload(Ok::<_, String>(rules), OnBadRules::KeepOld)
                        .unwrap();
                }
            },
        );
        assert_eq!(usize::from(outcome.is_ok()), scene.runs());
        // One that was used just before the change does not run after it.
        assert!(scene.runs() <= scene.store.consumed());
        let seen = scene.store.seen();
        let used = seen
            .iter()
            .position(|seen| matches!(seen, Seen::Consumed { .. }));
        // The gate opened the store itself, then twice for the changes.
        let changed = seen
            .iter()
            .enumerate()
            .filter(|(_, seen)| **seen == Seen::Opened);
        let changed = changed.map(|(place, _)| place).nth(1).unwrap();
        match used {
            Some(used) => assert!(used < changed, "{seen:?}"),
            None => assert_eq!(scene.state(&request), State::Void),
        }
        assert_ne!(turn(&scene.gate), Ok(()), "nothing was revived");
    });
}

#[test]
fn a_gate_that_closes_runs_nothing_that_was_approved() {
    every_order(|world| {
        let scene = Scene::new(world, MemoryStore::new());
        scene.approved(world);
        let (gate, closed) = (scene.gate.clone(), scene.gate.clone());
        let (outcome, ()) = both(
            move || turn(&gate),
            move || {
                let broken = Err::<Allowlist, _>("the file does not read");
                assert!(closed.reload(broken, OnBadRules::DenyAll).is_err());
            },
        );
        assert_eq!(usize::from(outcome.is_ok()), scene.runs());
        assert_eq!(turn(&scene.gate), Err(Reason::Closed));
        assert!(scene.runs() <= 1);
    });
}

#[test]
fn no_approval_is_used_after_it_expired() {
    every_order(|world| {
        let scene = Scene::new(world, MemoryStore::new());
        let request = scene.approved(world);
        let until = scene
            .store
            .get(&request.id)
            .unwrap()
            .unwrap()
            .usable_until();
        let (gate, clock) = (scene.gate.clone(), Arc::clone(&scene.clock));
        let (outcome, ()) = both(
            move || turn(&gate),
            move || {
                for _ in 0..3 {
                    clock.clock.advance(Duration::from_secs(50));
                    let _ = clock.now();
                }
            },
        );
        assert_eq!(usize::from(outcome.is_ok()), scene.runs());
        for seen in scene.store.seen() {
            if let Seen::Consumed { at } = seen {
                assert!(at < until, "{at} {until}");
            }
        }
        // Once the clock has gone on, it is too late.
        assert_ne!(turn(&scene.gate), Ok(()));
    });
}

#[test]
fn an_answer_after_its_time_approves_nothing() {
    every_order(|world| {
        let scene = Arc::new(Scene::new(world, MemoryStore::new()));
        let request = scene.asked();
        let expires = request.expires_at;
        let (answering, world) = (Arc::clone(&scene), Arc::clone(world));
        let (calling, clock) = (scene.gate.clone(), Arc::clone(&scene.clock));
        let late = shuttle::thread::spawn(move || {
            clock.clock.advance(Duration::from_millis(expires - START));
            let _ = clock.now();
        });
        let (decided, outcome) = both(
            move || answering.answer(&world, &request),
            move || turn(&calling),
        );
        late.join().unwrap();
        let recorded = decided == Some(Decided::Recorded);
        assert!(recorded || outcome.is_err(), "{decided:?}");
        assert_eq!(usize::from(outcome.is_ok()), scene.runs());
        assert!(scene.store.consumed() <= usize::from(recorded));
    });
}

#[test]
fn what_was_revoked_does_not_run() {
    every_order(|world| {
        let scene = Scene::new(world, MemoryStore::new());
        let request = scene.approved(world);
        let (gate, store) = (scene.gate.clone(), Arc::clone(&scene.store));
        let (outcome, revoked) = both(
            move || turn(&gate),
            move || store.end(&request.id, End::Void, START),
        );
        let revoked = revoked == Ok(Decided::Recorded);
        assert!(outcome.is_err() || !revoked, "it was used and revoked");
        assert_eq!(usize::from(outcome.is_ok()), scene.runs());
        assert!(
            scene
                .store
                .place(&Seen::Ended)
                .is_none_or(|_| scene.runs() == 0)
        );
    });
}

/// A store that looks first and uses the approval afterwards, as if that were one step.
struct Torn {
    store: MemoryStore,
    point: Point,
}

impl Store for Torn {
    fn open(&self, gate: &str, policy: &str, now: Millis) -> Result<u64, StoreError> {
        self.store.open(gate, policy, now)
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
        let record = self.store.get(&claim.id)?;
        if record.is_none_or(|record| record.state != State::Approved) {
            return Ok(Consumed::Used);
        }
        exchange(&self.point);
        self.store.consume(claim, now)?;
        Ok(Consumed::Yes)
    }

    fn get(&self, id: &str) -> Result<Option<Record>, StoreError> {
        self.store.get(id)
    }

    fn list(&self) -> Result<Vec<Record>, StoreError> {
        self.store.list()
    }
}

/// The model would be worth nothing if it found nothing.
#[test]
fn a_store_that_uses_an_approval_in_two_steps_is_caught() {
    let caught = catch_unwind(AssertUnwindSafe(|| {
        every_order(|world| {
            let torn = Torn {
                store: MemoryStore::new(),
                point: Point::new(0),
            };
            two_calls_one_approval(world, torn);
        });
    }));
    assert!(caught.is_err(), "no order was found in which it fails");
}
