//! `horngate approvals`: the answers of people to calls that wait for them.
//!
//! Nothing here consents: who answers has a key, and what was not shown whole is not signed. Whether an answer counts is for
//! the gate to say, which knows whose keys do.

mod document;

use crate::args::{Action, Answer, Approvals, Approve, Format, Keygen, List, One, StoreFile};
use crate::files::Keep;
use crate::outcome::Outcome;
use crate::problem::{Problem, Unreadable};
use crate::{guard, json, render, rules, secret};
use document::{Key, Settled, detail, documents, whole};
use horngate::Budget;
use horngate_gate::{
    Clock as _, Decided, End, Millis, Precheck, RESTRICTIONS, Record, Signatory, SqliteStore,
    State, Store as _, SystemClock, visible,
};
use std::fs;
use std::io;

/// The longest name of a person.
const MAX_NAME: usize = 128;

pub(crate) fn run(args: &Approvals) -> io::Result<Outcome> {
    match &args.action {
        Action::Keygen(args) => keygen(args),
        Action::List(args) => list(args),
        Action::Show(args) => show(&args.one),
        Action::Approve(args) => answer(&args.answer, true, |name, record| {
            allowed(args, name, record)
        }),
        Action::Deny(args) => answer(&args.answer, false, |_, _| Ok(())),
        Action::Revoke(args) => revoke(&args.one),
    }
}

fn keygen(args: &Keygen) -> io::Result<Outcome> {
    let made = name(args).and_then(|name| {
        let unwritten = |error: io::Error| {
            Problem::Unwritten(format!("cannot write `{}`: {error}", args.key.display()))
        };
        let signatory = Signatory::generate(name).map_err(unwritten)?;
        signatory.save(&args.key).map_err(unwritten)?;
        Ok(signatory)
    });
    let signatory = match made {
        Ok(signatory) => signatory,
        Err(problem) => return no_answer(args.format, &problem),
    };
    let file = args.key.display().to_string();
    match args.format {
        Format::Json => json::print(&Key {
            name: signatory.name(),
            key: signatory.key().to_string(),
            file: &file,
        })?,
        Format::Human => {
            render::tell(&format!(
                "the secret key of `{}` is in `{file}`: keep it where no agent can read it; this line is for the gate:",
                signatory.name()
            ));
            json::stdout(|out| writeln!(out, "{}={}", signatory.name(), signatory.key()))?;
        }
    }
    Ok(Outcome::Yes)
}

/// Who a new key is for.
fn name(args: &Keygen) -> Result<String, Problem> {
    let name = match &args.name {
        Some(name) => name.clone(),
        None => args
            .key
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default()
            .to_owned(),
    };
    let wrong = if name.is_empty() {
        "a key is somebody's: say whose with `--name`"
    } else if name.len() > MAX_NAME {
        "the name is too long"
    } else if visible(&name) != name || name.trim() != name || name.contains('=') {
        "a name has no `=`, no space around it, and nothing that cannot be seen"
    } else {
        return Ok(name);
    };
    Err(Problem::Usage(wrong.to_owned()))
}

fn list(args: &List) -> io::Result<Outcome> {
    let records = open(&args.store).and_then(|store| {
        let mut records = store.list().map_err(|error| failed(&args.store, &error))?;
        let now = SystemClock.now();
        records
            .retain(|record| args.state.is_empty() || args.state.contains(&record.state_at(now)));
        Ok((records, now))
    });
    match (args.format, records) {
        (Format::Human, Ok((records, now))) => {
            document::table(&records, now)?;
            Ok(Outcome::Yes)
        }
        (Format::Json, Ok((records, now))) => {
            json::print(&documents(&records, now, None))?;
            Ok(Outcome::Yes)
        }
        (Format::Human, Err(problem)) => {
            problem.print();
            Ok(Outcome::NoAnswer)
        }
        (Format::Json, Err(problem)) => {
            json::print(&documents(&[], 0, Some(problem.json())))?;
            Ok(Outcome::NoAnswer)
        }
    }
}

fn show(args: &One) -> io::Result<Outcome> {
    let (record, now) = match find(args) {
        Ok(Some(found)) => found,
        Ok(None) => return settled(args, None, NO_SUCH),
        Err(problem) => return no_answer(args.format, &problem),
    };
    match args.format {
        Format::Json => json::print(&whole(&record, now))?,
        Format::Human => json::stdout(|out| out.write_all(detail(&record, now).as_bytes()))?,
    }
    Ok(Outcome::Yes)
}

const NO_SUCH: &str = "there is no request of this id";

/// What the rules say of who approves, if they are given.
fn allowed(args: &Approve, name: &str, record: &Record) -> Result<(), Problem> {
    if args.rules.is_empty() {
        return Ok(());
    }
    let (paths, authority) = (args.rules.clone(), args.authority.clone());
    let precheck = guard::run(None, move || {
        let bound = rules::bind_here_with(
            &paths,
            &authority,
            &Budget::default(),
            Keep::Nothing,
            &RESTRICTIONS,
        )?;
        Precheck::new(bound.allowlist).map_err(|error| Problem::Usage(error.to_string()))
    })?;
    if precheck.may_approve(name, &record.request) {
        return Ok(());
    }
    Err(Problem::Usage(format!(
        "`{name}` may not approve this: the rules do not say so in `may_approve/3`"
    )))
}

fn answer(
    args: &Answer,
    approve: bool,
    allowed: impl Fn(&str, &Record) -> Result<(), Problem>,
) -> io::Result<Outcome> {
    let one = &args.one;
    let (mut record, now) = match find(one) {
        Ok(Some(found)) => found,
        Ok(None) => return settled(one, None, NO_SUCH),
        Err(problem) => return no_answer(one.format, &problem),
    };
    let state = record.state_at(now);
    if state != State::Pending {
        return settled(one, Some(state), &too_late(state));
    }
    let signed = secret::signatory(&args.key).and_then(|signatory| {
        let digest = record.request.digest().to_string();
        if args.digest.as_ref().is_some_and(|wanted| *wanted != digest) {
            let message = "the request is not the one of that digest any more: look at it again";
            return Err(Problem::Usage(message.to_owned()));
        }
        allowed(signatory.name(), &record)?;
        let verdict = signatory
            .answer(&record.request, approve, now)
            .map_err(|error| {
                let name = signatory.name();
                Problem::Usage(format!("`{name}` may not answer this: {error}"))
            })?;
        let store = open(&one.store)?;
        let decided = store.decide(&verdict, now);
        Ok((
            decided.map_err(|error| failed(&one.store, &error))?,
            verdict,
        ))
    });
    match signed {
        Ok((Decided::Recorded, verdict)) => {
            record.state = if approve {
                State::Approved
            } else {
                State::Denied
            };
            (record.changed_at, record.verdict) = (now, Some(verdict));
            done(one, &record, now)
        }
        Ok((Decided::NoSuch, _)) => settled(one, None, NO_SUCH),
        Ok((Decided::NotPending(state), _)) => settled(one, Some(state), &too_late(state)),
        Err(problem) => no_answer(one.format, &problem),
    }
}

fn revoke(args: &One) -> io::Result<Outcome> {
    let (mut record, now) = match find(args) {
        Ok(Some(found)) => found,
        Ok(None) => return settled(args, None, NO_SUCH),
        Err(problem) => return no_answer(args.format, &problem),
    };
    let state = record.state_at(now);
    if !matches!(state, State::Pending | State::Approved) {
        return settled(args, Some(state), &too_late(state));
    }
    let ended = open(&args.store).and_then(|store| {
        let ended = store.end(&record.request.id, End::Void, now);
        ended.map_err(|error| failed(&args.store, &error))
    });
    match ended {
        Ok(Decided::Recorded) => {
            (record.state, record.changed_at) = (State::Void, now);
            done(args, &record, now)
        }
        Ok(Decided::NoSuch) => settled(args, None, NO_SUCH),
        Ok(Decided::NotPending(state)) => settled(args, Some(state), &too_late(state)),
        Err(problem) => no_answer(args.format, &problem),
    }
}

fn too_late(state: State) -> String {
    let what = match state {
        State::Pending => "is pending",
        State::Approved => "is approved already",
        State::Denied => "is denied already",
        State::Consumed => "was approved, and is used already",
        State::Expired => {
            "is expired: nobody answered in time, or the approval was not used in time"
        }
        State::Void => "is void: the policy changed, or it was revoked",
    };
    format!("too late: the request {what}")
}

/// The request changed as it was wanted.
fn done(args: &One, record: &Record, now: Millis) -> io::Result<Outcome> {
    match args.format {
        Format::Json => json::print(&whole(record, now))?,
        Format::Human => json::stdout(|out| out.write_all(detail(record, now).as_bytes()))?,
    }
    Ok(Outcome::Yes)
}

/// There is no such request, or it is too late.
fn settled(args: &One, state: Option<State>, message: &str) -> io::Result<Outcome> {
    match args.format {
        Format::Json => json::print(&Settled {
            id: &args.id,
            state: state.map(State::as_str),
            message,
        })?,
        Format::Human => render::tell(&format!("{message}: {}", args.id)),
    }
    Ok(Outcome::No)
}

fn no_answer(format: Format, problem: &Problem) -> io::Result<Outcome> {
    match format {
        Format::Json => json::print(&document::Failed {
            error: problem.json(),
        })?,
        Format::Human => problem.print(),
    }
    Ok(Outcome::NoAnswer)
}

/// The request of that id, and the time.
fn find(args: &One) -> Result<Option<(Record, Millis)>, Problem> {
    let found = open(&args.store)?.get(&args.id);
    let record = found.map_err(|error| failed(&args.store, &error))?;
    Ok(record.map(|record| (record, SystemClock.now())))
}

/// Opens a store that is there.
fn open(store: &StoreFile) -> Result<SqliteStore, Problem> {
    fs::symlink_metadata(&store.path).map_err(|error| failed(store, &error))?;
    SqliteStore::open(&store.path).map_err(|error| failed(store, &error))
}

fn failed(store: &StoreFile, error: &dyn std::fmt::Display) -> Problem {
    let what = error.to_string();
    let named = format!("{}: ", store.path.display());
    let what = what.strip_prefix(&named).unwrap_or(&what);
    Problem::Unreadable(vec![Unreadable::new(&store.path, what.to_owned())])
}
