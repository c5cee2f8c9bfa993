//! Runs the work of a command in a thread of its own, so that neither a clock that ran out nor a panic is an answer.
//!
//! Nothing here is part of a verdict: what work may cost is bounded by counts, and the clock is off unless asked for.

use crate::problem::Problem;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Deep terms are walked by recursion; this is address space, not memory.
const STACK_BYTES: usize = 64 << 20;

/// The result of `work`, or that the time is over or the work has panicked.
///
/// When the time is over the work goes on until the process ends, which should be soon.
pub(crate) fn run<T: Send + 'static>(
    limit: Option<Duration>,
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let (sender, receiver) = mpsc::channel();
    let spawned = thread::Builder::new()
        .name("horngate".to_owned())
        .stack_size(STACK_BYTES)
        // Nobody listens when the time is over.
        .spawn(move || drop(sender.send(work())));
    if let Err(error) = spawned {
        return Err(Problem::Internal(format!("no thread: {error}")));
    }
    let gone = || Err(Problem::Internal("the work has panicked".to_owned()));
    match limit {
        None => receiver.recv().unwrap_or_else(|_| gone()),
        Some(limit) => match receiver.recv_timeout(limit) {
            Ok(result) => result,
            Err(RecvTimeoutError::Timeout) => Err(Problem::Timeout(limit)),
            Err(RecvTimeoutError::Disconnected) => gone(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_a_panic_nor_the_clock_is_an_answer() {
        assert_eq!(run(None, || Ok(7)).unwrap(), 7);
        let panicked = run::<()>(None, || panic!("for the test"));
        assert!(matches!(panicked, Err(Problem::Internal(_))));
        let limit = Duration::from_millis(5);
        let late = run(Some(limit), || {
            thread::sleep(Duration::from_secs(5));
            Ok(())
        });
        assert!(matches!(late, Err(Problem::Timeout(_))));
    }
}
