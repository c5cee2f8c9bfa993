//! Tools that are no types of their own: closures, and whatever another server offers by name.
//!
//! Nothing here is gated less than any other tool.

use crate::permit::Permitted;
use crate::spec::ToolSpec;
use crate::tool::{BoxFuture, Tool, ToolError};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;

type Body<T> =
    Box<dyn for<'c> Fn(Permitted<'c, T>) -> BoxFuture<'c, Result<Value, ToolError>> + Send + Sync>;

/// A closure as a tool. Like any body, it gets its arguments out of a permit.
///
/// ```
/// use horngate_gate::{Closure, ToolError, ToolSpec};
/// use serde_json::Value;
///
/// let echo = Closure::new(ToolSpec::new("echo", "Says it again"), |permit| {
///     Ok::<Value, ToolError>(permit.into_arguments())
/// });
/// let slow = Closure::of_future(ToolSpec::new("slow", "Says it later"), |permit| {
///     Box::pin(async move { Ok(permit.into_arguments()) })
/// });
/// # let _: (Closure<Value>, Closure<Value>) = (echo, slow);
/// ```
pub struct Closure<A: DeserializeOwned + Send + 'static> {
    spec: ToolSpec,
    body: Body<Self>,
}

impl<A: DeserializeOwned + Send + 'static> Closure<A> {
    /// A closure that returns its result.
    pub fn new<F>(spec: ToolSpec, body: F) -> Self
    where
        F: for<'c> Fn(Permitted<'c, Self>) -> Result<Value, ToolError> + Send + Sync + 'static,
    {
        Self::of_future(spec, move |permit| {
            let result = body(permit);
            Box::pin(std::future::ready(result))
        })
    }

    /// A closure that returns a future.
    pub fn of_future<F>(spec: ToolSpec, body: F) -> Self
    where
        F: for<'c> Fn(Permitted<'c, Self>) -> BoxFuture<'c, Result<Value, ToolError>>
            + Send
            + Sync
            + 'static,
    {
        Self {
            spec,
            body: Box::new(body),
        }
    }
}

impl<A: DeserializeOwned + Send + 'static> Tool for Closure<A> {
    type Arguments = A;
    type Output = Value;

    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    async fn run<'call>(&'call self, permit: Permitted<'call, Self>) -> Result<Value, ToolError> {
        (self.body)(permit).await
    }
}

impl<A: DeserializeOwned + Send + 'static> fmt::Debug for Closure<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Closure").field(&self.spec.name()).finish()
    }
}

/// Calls a tool on another server.
pub trait Remote: Send + Sync + 'static {
    /// Calls the tool that `permit` is for, with [`Permitted::canonical`] as its arguments.
    fn call<'c>(
        &'c self,
        tool: &'c str,
        permit: Permitted<'c, ForeignTool>,
    ) -> BoxFuture<'c, Result<Value, ToolError>>;
}

/// A tool of another server, known by what the server says about it.
///
/// It needs a grant, unless the operator says otherwise. If its schema cannot be used, the gate hides it; see [`crate::Gate::hidden`].
///
/// ```
/// use horngate_gate::{BoxFuture, ForeignTool, Permitted, Remote, ToolError, ToolSpec};
/// use serde_json::Value;
///
/// struct Server;
///
/// impl Remote for Server {
///     fn call<'c>(
///         &'c self,
///         tool: &'c str,
///         permit: Permitted<'c, ForeignTool>,
///     ) -> BoxFuture<'c, Result<Value, ToolError>> {
///         Box::pin(async move { Ok(format!("{tool} {}", permit.canonical()).into()) })
///     }
/// }
///
/// let tool = ForeignTool::new("git-server", ToolSpec::new("git_log", "Shows the log"), Server);
/// assert_eq!(tool.server(), "git-server");
/// ```
pub struct ForeignTool {
    server: String,
    spec: ToolSpec,
    remote: Box<dyn Remote>,
    confined: Option<&'static str>,
}

impl ForeignTool {
    /// A tool that `server` offers.
    pub fn new(server: impl Into<String>, spec: ToolSpec, remote: impl Remote) -> Self {
        Self {
            server: server.into(),
            spec,
            remote: Box::new(remote),
            confined: None,
        }
    }

    /// The same, and everybody may call it: the operator of the gate says so, and why. Never take a server's word for it.
    /// The rules can still ask for a person.
    ///
    /// ```
    /// # use horngate_gate::{BoxFuture, Permitted, Remote, ToolError};
    /// # use serde_json::Value;
    /// # struct Server;
    /// # impl Remote for Server {
    /// #     fn call<'c>(&'c self, _: &'c str, _: Permitted<'c, ForeignTool>) -> BoxFuture<'c, Result<Value, ToolError>> {
    /// #         Box::pin(async { Ok(Value::Null) })
    /// #     }
    /// # }
    /// use horngate::{Allowlist, Budget, Rulebase, Source};
    /// use horngate_gate::{ForeignTool, Gate, ToolSpec};
    ///
    /// let rules = Rulebase::load([Source::new("a.pl", "may_execute_tool('U:Qa', tool_echo).")])?;
    /// let model = rules.evaluate(&Budget::default())?;
    /// let ping = || ForeignTool::new("server", ToolSpec::new("ping", "Says nothing"), Server);
    /// let gate = Gate::builder(Allowlist::bind(&model, "may_execute_tool/2")?).build()?;
    /// let qa = gate.invocation("U:Qa", "session-1");
    ///
    /// gate.offer(ping());
    /// assert!(gate.tools_for(&qa).is_empty());
    /// gate.withdraw("ping");
    /// gate.offer(ping().confined_by_operator("it only answers"));
    /// assert_eq!(gate.tools_for(&qa).len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn confined_by_operator(mut self, why: &'static str) -> Self {
        self.confined = Some(why);
        self
    }

    pub(crate) fn confined(&self) -> Option<&'static str> {
        self.confined
    }

    /// The server's name.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }
}

impl Tool for ForeignTool {
    type Arguments = Value;
    type Output = Value;

    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    async fn run<'call>(&'call self, permit: Permitted<'call, Self>) -> Result<Value, ToolError> {
        self.remote.call(self.spec.name(), permit).await
    }
}

impl fmt::Debug for ForeignTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForeignTool")
            .field("server", &self.server)
            .field("name", &self.spec.name())
            .finish_non_exhaustive()
    }
}
