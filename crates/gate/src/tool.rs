//! Tools: what a body looks like, and how the gate holds one.
//!
//! Nothing here runs a body without a permit.

use crate::arguments::Arguments;
use crate::permit::{Passed, Permitted};
use crate::spec::ToolSpec;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Something that an agent can call.
///
/// ```
/// use horngate_gate::{Permitted, Tool, ToolError, ToolSpec};
/// use serde::Deserialize;
///
/// struct Add;
///
/// #[derive(Deserialize)]
/// #[serde(deny_unknown_fields)]
/// struct Numbers {
///     a: i64,
///     b: i64,
/// }
///
/// impl Tool for Add {
///     type Arguments = Numbers;
///     type Output = i64;
///
///     fn spec(&self) -> ToolSpec {
///         ToolSpec::new("add", "Adds two numbers")
///     }
///
///     async fn run<'call>(&'call self, permit: Permitted<'call, Self>) -> Result<i64, ToolError> {
///         let Numbers { a, b } = permit.into_arguments();
///         a.checked_add(b).ok_or_else(|| ToolError::new("too large"))
///     }
/// }
/// ```
pub trait Tool: Sized + Send + Sync + 'static {
    /// What it takes. Read from the canonical arguments, before anybody is asked.
    type Arguments: DeserializeOwned + Send + 'static;
    /// What it gives.
    type Output: Serialize + Send;

    /// What it says about itself.
    fn spec(&self) -> ToolSpec;

    /// The body.
    fn run<'call>(
        &'call self,
        permit: Permitted<'call, Self>,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send + 'call;
}

/// A tool that can do nothing which would need a grant, by its construction: everybody may call it.
///
/// It is a property of the type, so that no data and no server can claim it. Only the operator of a gate can say it of
/// a tool of another server: [`crate::ForeignTool::confined_by_operator`].
///
/// ```
/// use horngate_gate::{Confined, Permitted, Tool, ToolError, ToolSpec};
/// use serde_json::Value;
///
/// struct Length;
///
/// impl Tool for Length {
///     type Arguments = Value;
///     type Output = usize;
///
///     fn spec(&self) -> ToolSpec {
///         ToolSpec::new("length", "Counts the members of its arguments")
///     }
///
///     async fn run<'call>(&'call self, permit: Permitted<'call, Self>) -> Result<usize, ToolError> {
///         Ok(permit.arguments().as_object().map_or(0, |map| map.len()))
///     }
/// }
///
/// impl Confined for Length {
///     const WHY: &'static str = "computes; touches neither files nor network";
/// }
/// ```
pub trait Confined: Tool {
    /// Why nothing it does needs a grant, as in "computes; touches neither files nor network".
    const WHY: &'static str;
}

/// The failure of a tool's body. The text goes to the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolError(String);

impl ToolError {
    /// A failure, in words.
    ///
    /// ```
    /// assert_eq!(horngate_gate::ToolError::new("no such file").to_string(), "no such file");
    /// ```
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// A body with its arguments, which only waits for the permit.
pub(crate) type Prepared<'t> =
    Box<dyn FnOnce(&'t Passed) -> BoxFuture<'t, Result<Value, ToolError>> + Send + 't>;

/// A tool whose types are forgotten.
pub(crate) trait Erased: Send + Sync {
    /// Reads the arguments; whatever is wrong with them is found before anybody is asked.
    fn prepare<'t>(&'t self, arguments: &Arguments) -> Result<Prepared<'t>, String>;
}

impl<T: Tool> Erased for T {
    fn prepare<'t>(&'t self, arguments: &Arguments) -> Result<Prepared<'t>, String> {
        let typed: T::Arguments =
            serde_json::from_str(arguments.canonical()).map_err(|error| error.to_string())?;
        Ok(Box::new(move |passed| {
            Box::pin(async move {
                let output = self.run(Permitted::new(typed, passed)).await?;
                serde_json::to_value(output).map_err(|error| ToolError::new(error.to_string()))
            })
        }))
    }
}
