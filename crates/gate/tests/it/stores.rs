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
    // Most of the time would be the disk's.
    let quick = std::path::Path::new("/dev/shm");
    let folder = match quick.is_dir() {
        true => tempfile::tempdir_in(quick),
        false => tempfile::tempdir(),
    };
    let folder = folder.unwrap();
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

/// Also for a clock that was set forward and back again.
#[test]
fn what_was_seen_to_be_too_old_stays_so() {
    for (late, now) in [(120_000, START), (120_000, START + 1), (300_000, START + 1)] {
        each(|store| {
            let (asked, signature) = approved(&*store);
            let late = START + late;
            let use_it = claim(&asked, 8, Basis::Later(signature.clone()));
            assert_eq!(store.consume(&use_it, late), Ok(Consumed::Expired));
            assert_eq!(store.consume(&use_it, now), Ok(Consumed::Expired));
            assert_eq!(store.get("1").unwrap().unwrap().state, State::Expired);
        });
    }
    // A clock that went back by more than a process may have waited.
    each(|store| {
        let (asked, signature) = approved(&*store);
        let use_it = claim(&asked, 8, Basis::Later(signature));
        assert_eq!(
            store.consume(&use_it, START - 10_001),
            Ok(Consumed::Expired)
        );
        assert_eq!(store.consume(&use_it, START), Ok(Consumed::Expired));
    });
    each(|store| {
        store.open("gate", "sha256:a", START).unwrap();
        let asked = request("1", "{}");
        store.request(&asked, 9, START).unwrap();
        let expired = Ok(Decided::NotPending(State::Expired));
        assert_eq!(store.decide(&yes(&asked), START + 300_000), expired);
        assert_eq!(store.decide(&yes(&asked), START), expired);
        let answered = claim(&asked, 7, Basis::Answered);
        assert_eq!(store.consume(&answered, START), Ok(Consumed::Expired));
    });
}

#[test]
fn requests_that_nobody_answers_do_not_pile_up() {
    each(|store| {
        store.open("gate", "sha256:a", START).unwrap();
        let of = |n: u64, at: u64| Request {
            session: format!("s{n}"),
            requested_at: at,
            expires_at: at + 300_000,
            ..request(&n.to_string(), "{}")
        };
        for n in 0..9 {
            assert_eq!(store.request(&of(n, START), 1, START), Ok(Asked::Created));
        }
        let late = START + 300_000;
        assert_eq!(store.request(&of(9, late), 1, late), Ok(Asked::Created));
        let states: Vec<_> = store
            .list()
            .unwrap()
            .iter()
            .map(|record| record.state)
            .collect();
        assert_eq!(states[..9], [State::Expired; 9]);
        assert_eq!(states[9..], [State::Pending]);
    });
}

#[test]
fn ten_thousand_requests_may_be_pending() {
    each(|store| {
        store.open("gate", "sha256:a", START).unwrap();
        let of = |n: u64| Request {
            session: format!("s{}", n / 10),
            ..request(&n.to_string(), &format!("{{\"n\":{n}}}"))
        };
        for n in 0..10_000 {
            assert_eq!(store.request(&of(n), 10, START), Ok(Asked::Created), "{n}");
        }
        let more = Request {
            session: "s7".to_owned(),
            ..request("more", "{}")
        };
        assert_eq!(store.request(&more, 10, START), Ok(Asked::TooMany));
        for n in [0, 5_000, 9_999] {
            let verdict = yes(&of(n));
            assert_eq!(store.decide(&verdict, START), Ok(Decided::Recorded));
            let use_it = claim(&of(n), 8, Basis::Later(verdict.signature));
            assert_eq!(store.consume(&use_it, START), Ok(Consumed::Yes));
            assert_eq!(store.consume(&use_it, START), Ok(Consumed::Used));
        }
        // A change of the policy voids all of them at once.
        assert_eq!(store.open("gate", "sha256:b", START), Ok(2));
        let records = store.list().unwrap();
        let void = records.iter().filter(|record| record.state == State::Void);
        assert_eq!((records.len(), void.count()), (10_000, 9_997));
    });
}

/// Whoever closes a file ends all locks that its process has on it, and SQLite rests on them.
#[cfg(target_os = "linux")]
#[test]
fn one_more_store_of_the_file_ends_no_locks() {
    use std::os::unix::fs::MetadataExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let first = SqliteStore::open(&path).unwrap();
    let (process, file) = (std::process::id(), path.metadata().unwrap().ino());
    let locks = || {
        let all = std::fs::read_to_string("/proc/locks").unwrap();
        let ours = all.lines().filter(|line| {
            let mut words = line.split_whitespace().skip(4);
            words.next() == Some(&process.to_string())
                && words
                    .next()
                    .is_some_and(|place| place.ends_with(&format!(":{file}")))
        });
        ours.count()
    };
    assert!(
        locks() > 0,
        "SQLite locks nothing, so this test shows nothing"
    );
    let second = SqliteStore::open(&path).unwrap();
    assert!(locks() > 0, "a second store ended the locks of the first");
    drop(second);
    assert!(locks() > 0, "and so did its end");
    assert_eq!(first.open("gate", "sha256:a", START), Ok(1));
}

#[cfg(unix)]
#[test]
fn a_store_whose_file_is_gone_or_another_goes_on_with_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = SqliteStore::open(&path).unwrap();
    let (asked, signature) = approved(&store);
    let use_it = claim(&asked, 8, Basis::Later(signature));
    let aside = folder.path().join("aside.db");
    let refuses = || {
        assert!(store.consume(&use_it, START).is_err());
        assert!(store.get("1").is_err());
        assert!(store.open("gate", "sha256:a", START).is_err());
    };
    std::fs::rename(&path, &aside).unwrap();
    refuses();
    std::fs::copy(&aside, &path).unwrap();
    refuses();
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&aside, &path).unwrap();
    refuses();
    std::fs::rename(&aside, &path).unwrap();
    assert_eq!(store.consume(&use_it, START), Ok(Consumed::Yes));
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

/// The clock of who signs may be ahead: the limit also counts from when the store got the answer.
#[test]
fn an_approval_lasts_two_minutes_by_the_stores_clock_too() {
    for (late, expected) in [(119_999, Consumed::Yes), (120_000, Consumed::Expired)] {
        each(|store| {
            store.open("gate", "sha256:a", START).unwrap();
            let asked = request("1", "{}");
            store.request(&asked, 9, START).unwrap();
            let ann = Signatory::generate("ann").unwrap();
            let verdict = ann.answer(&asked, true, START + 200_000).unwrap();
            assert_eq!(store.decide(&verdict, START), Ok(Decided::Recorded));
            let use_it = claim(&asked, 8, Basis::Later(verdict.signature));
            assert_eq!(store.consume(&use_it, START + late), Ok(expected));
        });
    }
}

/// Also the store holds its own rows against each other.
#[test]
fn rows_that_were_edited_are_used_by_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = SqliteStore::open(&path).unwrap();
    let (asked, signature) = approved(&store);
    let edit = |sql: &str| {
        let other = rusqlite::Connection::open(&path).unwrap();
        assert_eq!(other.execute(sql, []).unwrap(), 1, "{sql}");
    };
    let by = || Basis::Later(signature.clone());
    let use_it = claim(&asked, 8, by());
    for (sql, back, expected) in [
        (
            "UPDATE request SET verdict_approve = 0",
            "UPDATE request SET verdict_approve = 1",
            Consumed::NotApproved,
        ),
        (
            "UPDATE request SET state = 'pending'",
            "UPDATE request SET state = 'approved'",
            Consumed::NotApproved,
        ),
        (
            "UPDATE request SET arguments = '{\"n\":1}'",
            "UPDATE request SET arguments = '{}'",
            Consumed::NoSuch,
        ),
        (
            "UPDATE policy SET epoch = 2",
            "UPDATE policy SET epoch = 1",
            Consumed::Void,
        ),
    ] {
        edit(sql);
        assert_eq!(store.consume(&use_it, START), Ok(expected), "{sql}");
        edit(back);
    }
    // Another policy, and a row that is turned back.
    assert_eq!(store.open("gate", "sha256:b", START), Ok(2));
    edit("UPDATE request SET state = 'approved'");
    assert_eq!(store.consume(&use_it, START), Ok(Consumed::Void));
    let now = Claim {
        epoch: 2,
        ..use_it.clone()
    };
    assert_eq!(store.consume(&now, START), Ok(Consumed::Void));
    edit("UPDATE policy SET epoch = 1");
    assert_eq!(store.consume(&use_it, START), Ok(Consumed::Yes));
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
