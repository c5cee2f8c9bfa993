//! `horngate decide --batch --watch`: rules that are read again when they change.
//!
//! Nothing here decides by rules that are older than what their files showed when the question was read: they are looked
//! at for every question. Rules that are refused or gone are no reason to keep the ones before: then every question is
//! denied, until the files are mended.

use crate::args::Decide;
use crate::batch::Policy;
use crate::files::{self, Keep};
use crate::problem::{Problem, Unreadable};
use crate::render;
use crate::rules::{self, Bound};
use horngate::Allowlist;
use std::fs::{self, Metadata};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// How long after a change another one might show in no time that a file system keeps. Until then contents are compared.
const SETTLES: Duration = Duration::from_secs(3);

/// How often rules are read that change while they are read.
const MAX_TRIES: usize = 5;

/// Rules that are looked at before each answer.
pub(crate) struct Watched<'a> {
    args: &'a Decide,
    /// What the files showed before the rules were read, or why they cannot be.
    seen: Result<Seen, Problem>,
    bound: Result<Bound, Problem>,
    told: Vec<String>,
}

/// What a file system says of the rule files.
#[derive(Debug)]
pub(crate) struct Seen {
    files: Vec<(PathBuf, Stamp)>,
    /// Before this the contents were as the metadata say.
    at: SystemTime,
}

/// What changes when a file does.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    /// The last change of the contents, and on Unix of anything.
    changed: [Option<SystemTime>; 2],
    /// Another file under the same name, on Unix.
    identity: (u64, u64),
}

impl<'a> Watched<'a> {
    pub(crate) fn new(args: &'a Decide) -> Self {
        let mut watched = Self {
            args,
            seen: Err(Problem::Usage(String::new())),
            bound: Err(Problem::Usage(String::new())),
            told: Vec::new(),
        };
        watched.read();
        match &watched.bound {
            Ok(_) => watched.tell_remarks(),
            Err(problem) => watched.tell_problem(problem),
        }
        watched
    }

    /// Reads the rules, again if they change meanwhile.
    fn read(&mut self) {
        for _ in 0..MAX_TRIES {
            self.seen = Seen::now(&self.args.rules.paths);
            self.bound = match &self.seen {
                Ok(_) => rules::bind_again(
                    &self.args.rules,
                    &self.args.authority,
                    &self.args.limits,
                    Keep::Digests,
                ),
                Err(problem) => Err(problem.again()),
            };
            let after = Seen::now(&self.args.rules.paths);
            match (&self.seen, &after) {
                (Ok(before), Ok(after)) if before.shows_the_same(after) => return,
                (Err(before), Err(after)) if before.message() == after.message() => return,
                _ => {}
            }
        }
        let message = "the rules change faster than they can be read".to_owned();
        self.seen = Err(Problem::Usage(message.clone()));
        self.bound = Err(Problem::Usage(message));
    }

    /// Whether the rules that are bound are those in the files.
    fn is_current(&mut self) -> bool {
        let now = match (&self.seen, Seen::now(&self.args.rules.paths)) {
            (Ok(seen), Ok(now)) if seen.shows_the_same(&now) => now,
            (Err(seen), Err(now)) => return seen.message() == now.message(),
            _ => return false,
        };
        // Work whose time is over goes on: it is not begun again for rules that look the same.
        let settled = self.seen.as_ref().is_ok_and(Seen::is_settled);
        if settled || matches!(self.bound, Err(Problem::Timeout(_))) {
            return true;
        }
        // A change within the same tick of the clock would not show.
        let same = self.bound.as_ref().is_ok_and(|bound| {
            let read = files::read(&self.args.rules.paths).unwrap_or_default();
            let known = bound
                .allowlist
                .sources()
                .iter()
                .map(|(_, source)| source.digest());
            known.eq(read.iter().map(horngate::Source::digest))
        });
        if same {
            self.seen = Ok(now);
        }
        same
    }

    fn tell_remarks(&mut self) {
        if let Ok(bound) = &self.bound
            && bound.remarks() != self.told
        {
            bound.tell();
            self.told = bound.remarks().to_vec();
        }
    }

    fn tell_problem(&self, problem: &Problem) {
        problem.print();
        render::tell("error: every question is denied until the rules are mended");
    }
}

impl Policy for Watched<'_> {
    fn current(&mut self) -> Option<&Allowlist> {
        if !self.is_current() {
            let before = self.bound.as_ref().err().map(Problem::message);
            self.read();
            match &self.bound {
                Ok(bound) => {
                    let grants = match bound.allowlist.grants().len() {
                        1 => "1 grant".to_owned(),
                        count => format!("{count} grants"),
                    };
                    render::tell(&format!("note: the rules have changed: {grants}"));
                    self.tell_remarks();
                }
                // Not for every question, while nothing is done about it.
                Err(problem) if before.is_some_and(|before| before == problem.message()) => {}
                Err(problem) => self.tell_problem(problem),
            }
        }
        self.bound.as_ref().ok().map(|bound| &bound.allowlist)
    }
}

impl Seen {
    pub(crate) fn now(paths: &[PathBuf]) -> Result<Self, Problem> {
        let at = SystemTime::now();
        let (mut files, mut unreadable) = (Vec::new(), Vec::new());
        for path in files::listed(paths)? {
            match fs::metadata(&path) {
                // What is no file can be read only once, or never ends.
                Ok(known) if !known.is_file() => {
                    let reason = "only regular files are read again".to_owned();
                    unreadable.push(Unreadable::new(&path, reason));
                }
                Ok(known) => files.push((path, Stamp::of(&known))),
                Err(error) => unreadable.push(Unreadable::new(&path, error.to_string())),
            }
        }
        match unreadable.is_empty() {
            true => Ok(Self { files, at }),
            false => Err(Problem::Unreadable(unreadable)),
        }
    }

    /// Whether no change shows.
    pub(crate) fn shows_the_same(&self, other: &Self) -> bool {
        self.files == other.files
    }

    /// Whether any change since would show.
    fn is_settled(&self) -> bool {
        self.files.iter().all(|(_, stamp)| {
            let mut changes = stamp.changed.iter().flatten();
            // A file from the future never settles.
            changes.all(|change| {
                let since = self.at.duration_since(*change);
                since.is_ok_and(|since| since > SETTLES)
            })
        })
    }
}

impl Stamp {
    #[cfg(unix)]
    fn of(known: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let since = u64::try_from(known.ctime()).map(Duration::from_secs);
        let nanoseconds = u64::try_from(known.ctime_nsec()).map(Duration::from_nanos);
        let changed = since.ok().zip(nanoseconds.ok());
        let changed = changed.and_then(|(seconds, nanoseconds)| {
            SystemTime::UNIX_EPOCH.checked_add(seconds.checked_add(nanoseconds)?)
        });
        Self {
            length: known.len(),
            changed: [known.modified().ok(), changed],
            identity: (known.dev(), known.ino()),
        }
    }

    #[cfg(not(unix))]
    fn of(known: &Metadata) -> Self {
        Self {
            length: known.len(),
            changed: [known.modified().ok(), known.created().ok()],
            identity: (0, 0),
        }
    }
}
