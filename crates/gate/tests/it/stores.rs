//! One suite for all stores.

use crate::support::START;
use horngate_gate::{
    Asked, Basis, Claim, Consumed, Decided, End, InvocationId, Level, MemoryStore, Request,
    Signatory, SqliteStore, State, Store, Verdict,
};
use std::sync::Arc;

fn request(id: &str, arguments: &str) -> Request {
    Request {
        id: id.to_owned(),
        gate: "gate".to_owned(),
        chain: vec!["U:Qa".to_owned(), "U:Helper".to_owned()],
        session: "s".to_owned(),
        invocation: InvocationId(7),
        server: "local".to_owned(),
        tool: "deploy".to_owned(),
        definition: "d".to_owned(),
        arguments: arguments.to_owned(),
        level: Level::Confirm,
        reason: "customers see it".to_owned(),
        derivation: "f".to_owned(),
        policy_hash: "sha256:a".to_owned(),
        epoch: 1,
        requested_at: START,
        expires_at: START + 300_000,
    }
}

fn claim(request: &Request, invocation: u64, by: Basis) -> Claim {
    Claim {
        id: request.id.clone(),
        gate: request.gate.clone(),
        binding: request.binding().to_string(),
        epoch: request.epoch,
        invocation: InvocationId(invocation),
        by,
    }
}

fn yes(request: &Request) -> Verdict {
    Signatory::generate("ann")
        .unwrap()
        .answer(request, true, START)
        .unwrap()
}

/// Runs a test on every kind of store.
fn each(test: impl Fn(Arc<dyn Store>)) {
    test(Arc::new(MemoryStore::new()));
    let folder = tempfile::tempdir().unwrap();
    test(Arc::new(
        SqliteStore::open(folder.path().join("a.db")).unwrap(),
    ));
}

/// A store with one request that is approved.
fn approved(store: &dyn Store) -> (Request, String) {
    store.open("gate", "sha256:a", START).unwrap();
    let asked = request("1", "{}");
    assert_eq!(store.request(&asked, 9, START), Ok(Asked::Created));
    let verdict = yes(&asked);
    assert_eq!(store.decide(&verdict, START), Ok(Decided::Recorded));
    (asked, verdict.signature)
}

#[test]
fn a_record_comes_back_as_it_went() {
    each(|store| {
        let (asked, _) = approved(&*store);
        let record = store.get("1").unwrap().unwrap();
        assert_eq!(record.request, asked);
        assert_eq!(record.state, State::Approved);
        assert_eq!(record.verdict.as_ref().unwrap().approver, "ann");
        assert_eq!(store.list().unwrap(), [record]);
        assert_eq!(store.get("2"), Ok(None));
    });
}

#[test]
fn the_epoch_rises_with_every_change_and_never_falls() {
    each(|store| {
        assert_eq!(store.open("gate", "sha256:a", START), Ok(1));
        assert_eq!(store.open("gate", "sha256:a", START), Ok(1));
        assert_eq!(store.open("other", "sha256:x", START), Ok(1));
        assert_eq!(store.open("gate", "sha256:b", START), Ok(2));
        assert_eq!(store.open("gate", "sha256:a", START), Ok(3));
    });
}

#[test]
fn a_change_of_policy_voids_what_lives_of_that_gate_only() {
    each(|store| {
        let (asked, signature) = approved(&*store);
        store.open("other", "sha256:a", START).unwrap();
        let others = Request {
            gate: "other".to_owned(),
            id: "2".to_owned(),
            ..asked.clone()
        };
        store.request(&others, 9, START).unwrap();
        store.open("gate", "sha256:b", START).unwrap();
        store.open("gate", "sha256:a", START).unwrap();
        assert_eq!(store.get("1").unwrap().unwrap().state, State::Void);
        assert_eq!(store.get("2").unwrap().unwrap().state, State::Pending);
        let late = claim(&asked, 8, Basis::Later(signature));
        assert_eq!(store.consume(&late, START), Ok(Consumed::Void));
        assert_eq!(store.request(&asked, 9, START), Ok(Asked::Stale));
    });
}

#[test]
fn a_call_has_one_live_request() {
    each(|store| {
        store.open("gate", "sha256:a", START).unwrap();
        assert_eq!(
            store.request(&request("1", "{}"), 9, START),
            Ok(Asked::Created)
        );
        let Ok(Asked::Live(found)) = store.request(&request("2", "{}"), 9, START) else {
            panic!("a second request for one call");
        };
        assert_eq!(found.request.id, "1");
        // Other arguments are another call, side by side.
        assert_eq!(
            store.request(&request("3", "{\"n\":1}"), 9, START),
            Ok(Asked::Created)
        );
        assert_eq!(
            store.request(&request("4", "{\"n\":2}"), 2, START),
            Ok(Asked::TooMany)
        );
        // An id is never used twice.
        assert!(store.request(&request("1", "{\"n\":3}"), 9, START).is_err());
    });
}

#[test]
fn what_was_settled_in_a_turn_is_not_asked_again_in_it() {
    for end in [End::Denied, End::Expired, End::Void] {
        each(|store| {
            store.open("gate", "sha256:a", START).unwrap();
            store.request(&request("1", "{}"), 9, START).unwrap();
            assert_eq!(store.end("1", end, START), Ok(Decided::Recorded));
            assert!(matches!(
                store.end("1", end, START),
                Ok(Decided::NotPending(_))
            ));
            let again = store.request(&request("2", "{}"), 9, START);
            assert!(matches!(again, Ok(Asked::Settled(_))), "{again:?}");
            let later = Request {
                invocation: InvocationId(8),
                ..request("3", "{}")
            };
            assert_eq!(store.request(&later, 9, START), Ok(Asked::Created));
        });
    }
}

#[test]
fn an_approval_is_used_once() {
    each(|store| {
        let (asked, signature) = approved(&*store);
        let late = claim(&asked, 8, Basis::Later(signature));
        assert_eq!(store.consume(&late, START), Ok(Consumed::Yes));
        assert_eq!(store.consume(&late, START), Ok(Consumed::Used));
    });
}

#[test]
fn only_the_claim_that_fits_uses_an_approval() {
    each(|store| {
        let (asked, signature) = approved(&*store);
        let by = || Basis::Later(signature.clone());
        let good = claim(&asked, 8, by());
        let no = |claim: Claim, now, expected| {
            assert_eq!(store.consume(&claim, now), Ok(expected), "{claim:?}");
        };
        no(
            Claim {
                id: "9".to_owned(),
                ..good.clone()
            },
            START,
            Consumed::NoSuch,
        );
        no(
            Claim {
                gate: "other".to_owned(),
                ..good.clone()
            },
            START,
            Consumed::NoSuch,
        );
        no(
            Claim {
                binding: "x".to_owned(),
                ..good.clone()
            },
            START,
            Consumed::NoSuch,
        );
        no(
            Claim {
                epoch: 2,
                ..good.clone()
            },
            START,
            Consumed::Void,
        );
        no(claim(&asked, 7, by()), START, Consumed::SameInvocation);
        no(claim(&asked, 6, by()), START, Consumed::SameInvocation);
        no(
            claim(&asked, 8, Basis::Later("00".to_owned())),
            START,
            Consumed::NotApproved,
        );
        no(
            claim(&asked, 8, Basis::Waited(signature.clone())),
            START,
            Consumed::SameInvocation,
        );
        no(
            claim(&asked, 8, Basis::Answered),
            START,
            Consumed::SameInvocation,
        );
        no(good.clone(), START + 120_000, Consumed::Expired);
        // A clock that went back.
        no(good.clone(), START - 10_001, Consumed::Expired);
        no(good, START + 119_999, Consumed::Yes);
    });
}

#[test]
fn what_is_pending_is_used_only_by_the_call_that_was_answered() {
    each(|store| {
        store.open("gate", "sha256:a", START).unwrap();
        let asked = request("1", "{}");
        store.request(&asked, 9, START).unwrap();
        let no = |by| store.consume(&claim(&asked, 8, by), START).unwrap();
        assert_eq!(no(Basis::Later(String::new())), Consumed::NotApproved);
        assert_eq!(no(Basis::Answered), Consumed::SameInvocation);
        let late = store.consume(&claim(&asked, 7, Basis::Answered), START + 300_000);
        assert_eq!(late, Ok(Consumed::Expired));
        let answered = store.consume(&claim(&asked, 7, Basis::Answered), START + 299_999);
        assert_eq!(answered, Ok(Consumed::Yes));
    });
}

#[test]
fn an_answer_is_given_once_and_in_time() {
    each(|store| {
        store.open("gate", "sha256:a", START).unwrap();
        let asked = request("1", "{}");
        store.request(&asked, 9, START).unwrap();
        let verdict = yes(&asked);
        let unknown = Verdict {
            request: "9".to_owned(),
            ..verdict.clone()
        };
        assert_eq!(store.decide(&unknown, START), Ok(Decided::NoSuch));
        let late = store.decide(&verdict, START + 300_000);
        assert_eq!(late, Ok(Decided::NotPending(State::Expired)));
        let no = Verdict {
            approve: false,
            ..verdict.clone()
        };
        assert_eq!(store.decide(&no, START), Ok(Decided::Recorded));
        assert_eq!(
            store.decide(&verdict, START),
            Ok(Decided::NotPending(State::Denied))
        );
        let denied = store.consume(&claim(&asked, 7, Basis::Answered), START);
        assert_eq!(denied, Ok(Consumed::NotApproved));
    });
}

#[test]
fn of_many_threads_one_uses_an_approval() {
    each(|store| {
        let (asked, signature) = approved(&*store);
        let used: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    let late = claim(&asked, 8, Basis::Later(signature.clone()));
                    let store = &store;
                    scope.spawn(move || store.consume(&late, START) == Ok(Consumed::Yes))
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| usize::from(thread.join().unwrap()))
                .sum()
        });
        assert_eq!(used, 1);
    });
}

#[test]
fn sqlite_outlives_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (asked, signature) = approved(&SqliteStore::open(&path).unwrap());
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.open("gate", "sha256:a", START), Ok(1));
    let late = claim(&asked, 8, Basis::Later(signature));
    assert_eq!(store.consume(&late, START), Ok(Consumed::Yes));
    let again = SqliteStore::open(&path).unwrap();
    assert_eq!(again.consume(&late, START), Ok(Consumed::Used));
}

#[cfg(unix)]
#[test]
fn sqlite_files_are_private_and_no_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = SqliteStore::open(&path).unwrap();
    store.open("gate", "sha256:a", START).unwrap();
    for entry in folder.path().read_dir().unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", entry.path());
    }
    let link = folder.path().join("link.db");
    symlink(&path, &link).unwrap();
    assert!(SqliteStore::open(&link).is_err());
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
    assert!(SqliteStore::open(&path).is_err());
    let text = folder.path().join("text.db");
    std::fs::write(
        &text,
        "this is no database at all, but long enough to be looked at as one",
    )
    .unwrap();
    assert!(SqliteStore::open(&text).is_err());
}
