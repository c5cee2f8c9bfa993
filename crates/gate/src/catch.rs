//! A panic of somebody else's code, caught.
//!
//! Nothing here goes on with what panicked.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A future that panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Runs a future; a panic while it is polled ends it.
pub(crate) fn catch<F: Future>(future: F) -> Catch<F> {
    Catch(Some(Box::pin(future)))
}

/// See [`catch`].
pub(crate) struct Catch<F>(Option<Pin<Box<F>>>);

impl<F: Future> Future for Catch<F> {
    type Output = Result<F::Output, Panicked>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(future) = self.0.as_mut() else {
            return Poll::Ready(Err(Panicked));
        };
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(_) => {
                // Dropping what panicked may panic again.
                let future = self.0.take();
                let _ = catch_unwind(AssertUnwindSafe(move || drop(future)));
                Poll::Ready(Err(Panicked))
            }
        }
    }
}
