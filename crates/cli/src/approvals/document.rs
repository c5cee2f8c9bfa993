//! Requests for people and for machines.
//!
//! Nothing here is cut without saying so, and nothing that a row holds hides what it is.

use crate::when::{span, utc};
use crate::{json, printable::printable};
use horngate_gate::{Arguments, Millis, Record, State, visible};
use serde::Serialize;
use serde_json::value::RawValue;
use std::fmt::Write as _;
use std::io;

/// How many characters of the arguments a table has room for.
const ROOM: usize = 48;

#[derive(Serialize)]
pub(super) struct Key<'a> {
    pub(super) name: &'a str,
    pub(super) key: String,
    pub(super) file: &'a str,
}

/// A request that cannot be changed as wanted, or that is not there.
#[derive(Serialize)]
pub(super) struct Settled<'a> {
    pub(super) id: &'a str,
    pub(super) state: Option<&'static str>,
    pub(super) message: &'a str,
}

#[derive(Serialize)]
pub(super) struct Failed<'a> {
    pub(super) error: Vec<json::Diagnostic<'a>>,
}

#[derive(Serialize)]
pub(super) struct Documents<'a> {
    approvals: Vec<Document<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Vec<json::Diagnostic<'a>>>,
}

#[derive(Serialize)]
struct Document<'a> {
    id: &'a str,
    state: &'static str,
    actor: &'a str,
    chain: &'a [String],
    server: &'a str,
    tool: &'a str,
    arguments: Text<'a>,
    reason: &'a str,
    level: &'static str,
    requested_at: Millis,
    expires_at: Millis,
    approver: Option<&'a str>,
}

/// The same with all that the request is bound to.
#[derive(Serialize)]
pub(super) struct Whole<'a> {
    #[serde(flatten)]
    document: Document<'a>,
    usable_until: Option<Millis>,
    gate: &'a str,
    session: &'a str,
    invocation: u64,
    definition: &'a str,
    derivation: &'a str,
    policy_hash: &'a str,
    epoch: u64,
    digest: String,
}

/// Canonical arguments as they are; what is none as a text.
#[derive(Serialize)]
#[serde(untagged)]
enum Text<'a> {
    Canonical(Box<RawValue>),
    Other(&'a str),
}

fn arguments(record: &Record) -> Text<'_> {
    let text = &record.request.arguments;
    let canonical = Arguments::parse(text).is_ok_and(|read| read.canonical() == text);
    match RawValue::from_string(text.clone()) {
        Ok(raw) if canonical => Text::Canonical(raw),
        _ => Text::Other(text),
    }
}

fn document(record: &Record, now: Millis) -> Document<'_> {
    let request = &record.request;
    Document {
        id: &request.id,
        state: record.state_at(now).as_str(),
        actor: request.actor(),
        chain: &request.chain,
        server: &request.server,
        tool: &request.tool,
        arguments: arguments(record),
        reason: &request.reason,
        level: request.level.as_str(),
        requested_at: request.requested_at,
        expires_at: request.expires_at,
        approver: record
            .verdict
            .as_ref()
            .map(|verdict| verdict.approver.as_str()),
    }
}

pub(super) fn documents<'a>(
    records: &'a [Record],
    now: Millis,
    error: Option<Vec<json::Diagnostic<'a>>>,
) -> Documents<'a> {
    Documents {
        approvals: records.iter().map(|record| document(record, now)).collect(),
        error,
    }
}

pub(super) fn whole(record: &Record, now: Millis) -> Whole<'_> {
    let request = &record.request;
    Whole {
        document: document(record, now),
        usable_until: (record.state_at(now) == State::Approved).then(|| record.usable_until()),
        gate: &request.gate,
        session: &request.session,
        invocation: request.invocation.0,
        definition: &request.definition,
        derivation: &request.derivation,
        policy_hash: &request.policy_hash,
        epoch: request.epoch,
        digest: request.digest().to_string(),
    }
}

/// All of a request, for people.
pub(super) fn detail(record: &Record, now: Millis) -> String {
    let request = &record.request;
    let mut text = request.for_people();
    let canonical = Arguments::parse(&request.arguments)
        .is_ok_and(|read| read.canonical() == request.arguments);
    if !canonical {
        let shown = visible(&request.arguments);
        let _ = writeln!(text, "  (not as a gate writes them: {shown})");
    }
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<10} {value}");
    };
    line("gate", &visible(&request.gate));
    line("definition", &visible(&request.definition));
    line("digest", &request.digest().to_string());
    line("asked", &utc(request.requested_at));
    line("state", &state(record, now));
    text
}

/// What became of a request, in words.
fn state(record: &Record, now: Millis) -> String {
    let by = record.verdict.as_ref().map_or_else(String::new, |verdict| {
        format!(" by `{}`", visible(&verdict.approver))
    });
    let until = |at: Millis| format!("until {}, {} from now", utc(at), span(now, at));
    match record.state_at(now) {
        State::Pending => format!(
            "pending: can be answered {}",
            until(record.request.expires_at)
        ),
        State::Approved => format!(
            "approved{by}: can be used once, {}",
            until(record.usable_until())
        ),
        State::Denied => format!("denied{by}"),
        State::Consumed => format!("consumed: approved{by}, and used"),
        State::Expired if record.state == State::Approved => {
            format!("expired: approved{by}, and not used in time")
        }
        State::Expired => "expired: nobody answered in time".to_owned(),
        State::Void => "void: the policy changed, or it was revoked".to_owned(),
    }
}

/// The requests, a line each.
pub(super) fn table(records: &[Record], now: Millis) -> io::Result<()> {
    if records.is_empty() {
        return json::stdout(|out| writeln!(out, "no requests"));
    }
    let head = ["ID", "STATE", "LEFT", "ACTOR", "CALL"].map(str::to_owned);
    let rows: Vec<[String; 5]> = std::iter::once(head)
        .chain(records.iter().map(|record| row(record, now)))
        .collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let [id, state, left, actor] = [0, 1, 2, 3].map(width);
    json::stdout(|out| {
        for [a, b, c, d, e] in &rows {
            writeln!(out, "{a:id$}  {b:state$}  {c:left$}  {d:actor$}  {e}")?;
        }
        Ok(())
    })
}

fn row(record: &Record, now: Millis) -> [String; 5] {
    let request = &record.request;
    let state = record.state_at(now);
    let left = match state {
        State::Pending => span(now, request.expires_at),
        State::Approved => span(now, record.usable_until()),
        _ => "-".to_owned(),
    };
    let call = format!("{} {}", visible(&request.tool), brief(&request.arguments));
    let id = printable(&request.id);
    [
        id,
        state.as_str().to_owned(),
        left,
        visible(request.actor()),
        call,
    ]
}

/// As much of the arguments as there is room for, and how much more there is.
fn brief(arguments: &str) -> String {
    let shown = visible(arguments);
    match shown.char_indices().nth(ROOM) {
        None => shown,
        Some((end, _)) => {
            let more = shown.chars().count() - ROOM;
            let start = shown.get(..end).unwrap_or_default();
            format!("{start}… {more} more characters: see show")
        }
    }
}
