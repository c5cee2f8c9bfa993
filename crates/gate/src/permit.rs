//! The permit: the only way a tool's body gets its arguments.
//!
//! Nothing outside this crate can make one, keep one beyond its call, or use one twice.

use crate::arguments::Arguments;
use crate::context::InvocationContext;
use crate::tool::Tool;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// One call that the gate let through.
#[derive(Debug)]
pub(crate) struct Passed {
    pub(crate) context: InvocationContext,
    pub(crate) arguments: Arc<Arguments>,
    pub(crate) call: String,
}

/// Neither longer nor shorter, neither wider nor narrower: what it is for cannot be exchanged.
type Invariant<T> = fn(T) -> T;

/// The right to run tool `T` once, with these arguments, within this call.
///
/// Only [`Gate::call`](crate::Gate::call) makes it, it cannot be cloned, and `'call` ends with the call.
pub struct Permitted<'call, T: Tool> {
    arguments: T::Arguments,
    passed: &'call Passed,
    brand: PhantomData<(Invariant<&'call ()>, Invariant<T>)>,
}

impl<'call, T: Tool> Permitted<'call, T> {
    pub(crate) fn new(arguments: T::Arguments, passed: &'call Passed) -> Self {
        Self {
            arguments,
            passed,
            brand: PhantomData,
        }
    }

    /// The arguments.
    #[must_use]
    pub fn arguments(&self) -> &T::Arguments {
        &self.arguments
    }

    /// The arguments, for which the permit is spent.
    #[must_use]
    pub fn into_arguments(self) -> T::Arguments {
        self.arguments
    }

    /// The arguments as canonical text: what was approved, byte for byte.
    #[must_use]
    pub fn canonical(&self) -> &'call str {
        self.passed.arguments.canonical()
    }

    /// Who calls. A body that needs another tool calls it through the gate with this.
    #[must_use]
    pub fn context(&self) -> &'call InvocationContext {
        &self.passed.context
    }

    /// The name of the call in the audit log.
    #[must_use]
    pub fn call(&self) -> &'call str {
        &self.passed.call
    }
}

impl<T: Tool> fmt::Debug for Permitted<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permitted")
            .field("call", &self.passed.call)
            .finish_non_exhaustive()
    }
}
