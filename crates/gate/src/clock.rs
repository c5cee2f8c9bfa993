//! The time, which the gate is given.
//!
//! Nothing else in the crate reads a clock to decide anything.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A point in time: milliseconds since 1970-01-01 UTC.
pub type Millis = u64;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970-01-01 UTC.
    fn now(&self) -> Millis;
}

/// The clock of the system. Before 1970 it says 0, and what has a time limit has then expired.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Millis {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, millis)
    }
}

/// A clock for tests, which stands until it is moved.
///
/// ```
/// use horngate_gate::{Clock, ManualClock};
/// use std::time::Duration;
/// let clock = ManualClock::at(1_000);
/// clock.advance(Duration::from_secs(2));
/// assert_eq!(clock.now(), 3_000);
/// ```
#[derive(Debug, Default)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    /// A clock that says `now`.
    #[must_use]
    pub fn at(now: Millis) -> Self {
        Self(AtomicU64::new(now))
    }

    /// Moves the clock.
    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(millis(by), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Millis {
        self.0.load(Ordering::SeqCst)
    }
}

pub(crate) fn millis(duration: Duration) -> Millis {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
