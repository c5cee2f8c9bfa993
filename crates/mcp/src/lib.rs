//! A proxy between an agent and an MCP server: the agent sees only the tools that it may run, and runs only those.
//!
//! The agent's client starts the proxy in the place of the server. Every message is read strictly and written again; a
//! call of a tool goes through a [`horngate_gate::Gate`], and what the gate refuses never reaches the server.
//!
//! [`Session`] is what passes between the two, as a machine without input and output; [`run`] puts it between two streams.

mod catalog;
mod frame;
mod json;
mod methods;
mod session;
#[cfg(unix)]
mod shell;

pub use catalog::{BadNamespace, Lock, Namespace};
pub use frame::MAX_FRAME_BYTES;
pub use methods::Passing;
pub use session::{Action, Note, NoteKind, Refused, Session, Subject, Terms, Verdict, Warden};
#[cfg(unix)]
pub use shell::{Mode, PREDICATES, ProxyError, Remote, Server, Settings, run};
