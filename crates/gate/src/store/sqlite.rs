//! Requests in a SQLite file: they outlive the process, and several processes may share them.
//!
//! Nothing here trusts a row: an approval is what is signed, see the gate. Each method is one immediate transaction.

use super::book::{self, MOST_DUE, Rows};
use super::{Asked, Claim, Consumed, Decided, End, Store, StoreError};
use crate::approval::{Record, Request, State, Verdict};
use crate::clock::Millis;
use crate::context::InvocationId;
use crate::private::Place;
use crate::spec::Level;
use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior, params,
};
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long to wait for other processes.
const BUSY: Duration = Duration::from_secs(5);

/// The form of the tables.
const VERSION: i64 = 1;

const TABLES: &str = "
    CREATE TABLE policy (
        gate TEXT PRIMARY KEY, policy TEXT NOT NULL, epoch INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE request (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE, gate TEXT NOT NULL, binding TEXT NOT NULL, state TEXT NOT NULL,
        chain TEXT NOT NULL, session TEXT NOT NULL, invocation INTEGER NOT NULL,
        server TEXT NOT NULL, tool TEXT NOT NULL, definition TEXT NOT NULL, arguments TEXT NOT NULL,
        level TEXT NOT NULL, reason TEXT NOT NULL, derivation TEXT NOT NULL,
        policy_hash TEXT NOT NULL, epoch INTEGER NOT NULL,
        requested_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, changed_at INTEGER NOT NULL,
        verdict_digest TEXT, verdict_approve INTEGER, verdict_expires_at INTEGER,
        verdict_approver TEXT, verdict_signature TEXT
    ) STRICT;
    CREATE INDEX request_binding ON request (binding);
    CREATE INDEX request_live ON request (gate) WHERE state IN ('pending', 'approved');
    PRAGMA user_version = 1;
";

/// What stores have that were made later.
const INDEXES: &str = "
    CREATE INDEX IF NOT EXISTS request_due ON request (gate, expires_at) WHERE state IN ('pending', 'approved');
    CREATE INDEX IF NOT EXISTS request_session ON request (gate, session) WHERE state = 'pending';
";

const COLUMNS: &str = "id, gate, chain, session, invocation, server, tool, definition, arguments, \
    level, reason, derivation, policy_hash, epoch, requested_at, expires_at, state, changed_at, \
    verdict_digest, verdict_approve, verdict_expires_at, verdict_approver, verdict_signature";

/// Keeps requests in a SQLite file.
///
/// ```
/// use horngate_gate::{SqliteStore, Store};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("approvals.db");
/// assert_eq!(SqliteStore::open(&path)?.open("gate", "sha256:a", 0)?, 1);
/// assert_eq!(SqliteStore::open(&path)?.open("gate", "sha256:b", 0)?, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SqliteStore {
    connection: Mutex<Connection>,
    place: Place,
}

/// One at a time: a file that is new must not be closed while SQLite has it open, which would end SQLite's locks.
static OPENING: Mutex<()> = Mutex::new(());

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::new(error.to_string())
    }
}

impl SqliteStore {
    /// Opens or creates a store. A new file can be read by its owner only; a link in its place is refused.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be opened, or is no store of approvals.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        Self::open_at(path).map_err(|error| {
            let (place, what) = (path.display().to_string(), error.to_string());
            match what.starts_with(&place) {
                true => error,
                false => StoreError::new(format!("{place}: {what}")),
            }
        })
    }

    fn open_at(path: &Path) -> Result<Self, StoreError> {
        let failed = |what: &dyn fmt::Display| StoreError::new(what.to_string());
        let name = path
            .file_name()
            .ok_or_else(|| failed(&"a store is a file"))?;
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let folder = folder.canonicalize().map_err(|error| failed(&error))?;
        let path = folder.join(name);
        let _one_at_a_time = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        let place = Place::take(&path).map_err(|error| failed(&error))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut connection = Connection::open_with_flags(&path, flags)?;
        place.check().map_err(|error| failed(&error))?;
        connection.busy_timeout(BUSY)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "trusted_schema", false)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        match version {
            0 => transaction.execute_batch(TABLES)?,
            VERSION => {}
            other => return Err(failed(&format!("the store has the unknown form {other}"))),
        }
        transaction.execute_batch(INDEXES)?;
        transaction.commit()?;
        Ok(Self {
            connection: Mutex::new(connection),
            place,
        })
    }

    /// One atomic step: all of it, or nothing.
    fn step<T>(
        &self,
        work: impl FnOnce(&mut Step<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut connection = self.connection.lock().map_err(|_| {
            StoreError::new("the store is broken: something panicked while using it")
        })?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // A file that is gone or another is read and changed by nobody else.
        self.place
            .check()
            .map_err(|error| StoreError::new(error.to_string()))?;
        let mut step = Step(transaction);
        let result = work(&mut step)?;
        step.0.commit()?;
        Ok(result)
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").finish_non_exhaustive()
    }
}

struct Step<'c>(Transaction<'c>);

fn stored(number: u64) -> Result<i64, StoreError> {
    i64::try_from(number).map_err(|_| StoreError::new("a number is too large for the store"))
}

fn bad_row(what: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(
        0,
        rusqlite::types::Type::Text,
        format!("a row of the store has a bad {what}").into(),
    )
}

fn number(row: &Row<'_>, column: &str) -> rusqlite::Result<u64> {
    u64::try_from(row.get::<_, i64>(column)?).map_err(|_| bad_row(column))
}

fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let text = |column: &str| row.get::<_, String>(column);
    let verdict = match row.get::<_, Option<String>>("verdict_signature")? {
        None => None,
        Some(signature) => Some(Verdict {
            request: text("id")?,
            digest: text("verdict_digest")?,
            approve: row.get("verdict_approve")?,
            expires_at: number(row, "verdict_expires_at")?,
            approver: text("verdict_approver")?,
            signature,
        }),
    };
    Ok(Record {
        request: Request {
            id: text("id")?,
            gate: text("gate")?,
            chain: serde_json::from_str(&text("chain")?).map_err(|_| bad_row("chain"))?,
            session: text("session")?,
            invocation: InvocationId(number(row, "invocation")?),
            server: text("server")?,
            tool: text("tool")?,
            definition: text("definition")?,
            arguments: text("arguments")?,
            level: Level::parse(&text("level")?).ok_or_else(|| bad_row("level"))?,
            reason: text("reason")?,
            derivation: text("derivation")?,
            policy_hash: text("policy_hash")?,
            epoch: number(row, "epoch")?,
            requested_at: number(row, "requested_at")?,
            expires_at: number(row, "expires_at")?,
        },
        state: State::parse(&text("state")?).ok_or_else(|| bad_row("state"))?,
        verdict,
        changed_at: number(row, "changed_at")?,
    })
}

impl Step<'_> {
    fn records(&self, rest: &str, value: &str) -> Result<Vec<Record>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM request WHERE {rest} ORDER BY number");
        let mut statement = self.0.prepare_cached(&sql)?;
        let found = statement.query_map([value], record)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }
}

impl Rows for Step<'_> {
    fn get(&self, id: &str) -> Result<Option<Record>, StoreError> {
        Ok(self.records("id = ?1", id)?.pop())
    }

    fn of_binding(&self, binding: &str) -> Result<Vec<Record>, StoreError> {
        self.records("binding = ?1", binding)
    }

    fn live(&self, gate: &str) -> Result<Vec<Record>, StoreError> {
        self.records("gate = ?1 AND state IN ('pending', 'approved')", gate)
    }

    fn due(&self, gate: &str, now: Millis) -> Result<Vec<Record>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM request WHERE gate = ?1 AND state IN ('pending', 'approved') \
             AND expires_at <= ?2 ORDER BY expires_at LIMIT {MOST_DUE}"
        );
        let mut statement = self.0.prepare_cached(&sql)?;
        let found = statement.query_map(params![gate, stored(now)?], record)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    fn pending(&self, gate: &str, session: &str, now: Millis) -> Result<usize, StoreError> {
        let mut statement = self.0.prepare_cached(
            "SELECT count(*) FROM request WHERE gate = ?1 AND session = ?2 AND state = 'pending' \
             AND expires_at > ?3",
        )?;
        let count: i64 =
            statement.query_row(params![gate, session, stored(now)?], |row| row.get(0))?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    fn insert(&mut self, record: &Record) -> Result<(), StoreError> {
        let request = &record.request;
        let chain = serde_json::to_string(&request.chain)
            .map_err(|error| StoreError::new(error.to_string()))?;
        let mut statement = self.0.prepare_cached(
            "INSERT INTO request (id, gate, binding, state, chain, session, invocation, server, tool, \
             definition, arguments, level, reason, derivation, policy_hash, epoch, requested_at, \
             expires_at, changed_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
        )?;
        statement.execute(params![
            request.id,
            request.gate,
            request.binding().to_string(),
            record.state.as_str(),
            chain,
            request.session,
            stored(request.invocation.0)?,
            request.server,
            request.tool,
            request.definition,
            request.arguments,
            request.level.as_str(),
            request.reason,
            request.derivation,
            request.policy_hash,
            stored(request.epoch)?,
            stored(request.requested_at)?,
            stored(request.expires_at)?,
            stored(record.changed_at)?,
        ])?;
        Ok(())
    }

    fn change(&mut self, record: &Record) -> Result<(), StoreError> {
        let verdict = record.verdict.as_ref();
        let until = verdict
            .map(|verdict| stored(verdict.expires_at))
            .transpose()?;
        let mut statement = self.0.prepare_cached(
            "UPDATE request SET state = ?2, changed_at = ?3, verdict_digest = ?4, \
             verdict_approve = ?5, verdict_expires_at = ?6, verdict_approver = ?7, \
             verdict_signature = ?8 WHERE id = ?1",
        )?;
        let changed = statement.execute(params![
            record.request.id,
            record.state.as_str(),
            stored(record.changed_at)?,
            verdict.map(|verdict| &verdict.digest),
            verdict.map(|verdict| verdict.approve),
            until,
            verdict.map(|verdict| &verdict.approver),
            verdict.map(|verdict| &verdict.signature),
        ])?;
        match changed {
            1 => Ok(()),
            _ => Err(StoreError::new("there is no such request")),
        }
    }

    fn policy(&self, gate: &str) -> Result<Option<(String, u64)>, StoreError> {
        let mut statement = self
            .0
            .prepare_cached("SELECT policy, epoch FROM policy WHERE gate = ?1")?;
        let found = statement
            .query_row([gate], |row| {
                Ok((row.get("policy")?, number(row, "epoch")?))
            })
            .optional()?;
        Ok(found)
    }

    fn set_policy(&mut self, gate: &str, policy: &str, epoch: u64) -> Result<(), StoreError> {
        self.0.execute(
            "INSERT INTO policy (gate, policy, epoch) VALUES (?1, ?2, ?3) \
             ON CONFLICT (gate) DO UPDATE SET policy = ?2, epoch = ?3",
            params![gate, policy, stored(epoch)?],
        )?;
        Ok(())
    }
}

impl Store for SqliteStore {
    fn open(&self, gate: &str, policy: &str, now: Millis) -> Result<u64, StoreError> {
        self.step(|rows| book::open(rows, gate, policy, now))
    }

    fn request(
        &self,
        request: &Request,
        max_pending: usize,
        now: Millis,
    ) -> Result<Asked, StoreError> {
        self.step(|rows| book::request(rows, request, max_pending, now))
    }

    fn decide(&self, verdict: &Verdict, now: Millis) -> Result<Decided, StoreError> {
        self.step(|rows| book::decide(rows, verdict, now))
    }

    fn end(&self, id: &str, end: End, now: Millis) -> Result<Decided, StoreError> {
        self.step(|rows| book::end(rows, id, end, now))
    }

    fn consume(&self, claim: &Claim, now: Millis) -> Result<Consumed, StoreError> {
        self.step(|rows| book::consume(rows, claim, now))
    }

    fn get(&self, id: &str) -> Result<Option<Record>, StoreError> {
        self.step(|rows| rows.get(id))
    }

    fn list(&self) -> Result<Vec<Record>, StoreError> {
        self.step(|rows| rows.records("?1 = ''", ""))
    }
}
