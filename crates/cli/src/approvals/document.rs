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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printable::is_hidden;
    use horngate_gate::{InvocationId, Level, Request, Verdict};
    use proptest::prelude::*;

    fn record(texts: &[String; 12], state: State) -> Record {
        let [
            id,
            gate,
            actor,
            session,
            server,
            tool,
            definition,
            arguments,
            reason,
            more @ ..,
        ] = texts.clone();
        let [derivation, policy_hash, approver] = more;
        Record {
            request: Request {
                id,
                gate,
                chain: vec![actor.clone(), actor],
                session,
                invocation: InvocationId(1),
                server,
                tool,
                definition,
                arguments,
                level: Level::Confirm,
                reason,
                derivation,
                policy_hash,
                epoch: 1,
                requested_at: 0,
                expires_at: 10,
            },
            state,
            verdict: Some(Verdict {
                request: String::new(),
                digest: String::new(),
                approve: true,
                expires_at: 10,
                approver,
                signature: String::new(),
            }),
            changed_at: 0,
        }
    }

    proptest! {
        /// Whatever a row holds, it adds no line, and moves no cursor.
        #[test]
        fn no_row_hides_what_it_is(
            texts in prop::array::uniform12(prop_oneof![
                any::<String>(),
                "[a\n\r\u{1b}\u{202e}\u{200b}\u{85}\u{2028}\\[\"{}:]{0,12}",
            ]),
            state in prop::sample::select(vec![State::Pending, State::Approved, State::Denied, State::Consumed, State::Expired]),
            now in 0_u64..20,
        ) {
            let record = record(&texts, state);
            let text = detail(&record, now);
            let lines: Vec<&str> = text.split_terminator('\n').collect();
            let read = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&texts[7]);
            let arguments = read.map_or(1, |map| map.len().max(1));
            let canonical = Arguments::parse(&texts[7]).is_ok_and(|read| read.canonical() == texts[7]);
            prop_assert_eq!(lines.len(), 15 + arguments + usize::from(!canonical), "{}", text);
            prop_assert!(!lines.concat().contains(is_hidden), "{:?}", text);
            let cells = row(&record, now).concat();
            prop_assert!(!cells.contains(is_hidden), "{:?}", cells);
        }
    }
}
