//! Carries a webhook's messages over HTTP.
//!
//! Nothing here follows a redirect, uses a proxy of the environment, waits without an end, or sends in the clear to
//! another machine.

use super::approver::ApproverError;
use super::webhook::{MAX_REPLY, Post, Reply, Transport};
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;
use ureq::Agent;
use ureq::http::Uri;

/// How long one message may take, with its reply.
const LIMIT: Duration = Duration::from_secs(10);

/// POSTs to one address: `https`, or `http` on this machine. Certificates are those that Mozilla's list vouches for.
///
/// ```
/// use horngate_gate::HttpTransport;
/// assert!(HttpTransport::new("https://approvals.example/ask").is_ok());
/// assert!(HttpTransport::new("http://127.0.0.1:8080/ask").is_ok());
/// assert!(HttpTransport::new("http://approvals.example/ask").is_err());
/// ```
pub struct HttpTransport {
    address: Uri,
    agent: Agent,
}

impl HttpTransport {
    /// To this address, within ten seconds.
    ///
    /// # Errors
    /// [`ApproverError`] when the address is none, would send in the clear to another machine, or holds a password.
    pub fn new(address: &str) -> Result<Self, ApproverError> {
        Self::within(address, LIMIT)
    }

    /// The same within another time.
    ///
    /// # Errors
    /// As [`HttpTransport::new`], and when there is no time.
    pub fn within(address: &str, limit: Duration) -> Result<Self, ApproverError> {
        let bad = |what: &str| ApproverError::new(format!("the address of the webhook {what}"));
        let address: Uri = address.parse().map_err(|_| bad("does not read"))?;
        let host = address.host().unwrap_or_default();
        match address.scheme_str() {
            Some("https") if !host.is_empty() => {}
            Some("http") if is_this_machine(host) => {}
            Some("http") => return Err(bad("is another machine: use `https`")),
            _ => return Err(bad("does not start with `https://`")),
        }
        if address
            .authority()
            .is_some_and(|all| all.as_str().contains('@'))
        {
            return Err(bad("holds a user or a password"));
        }
        if limit.is_zero() {
            return Err(bad("would be given no time"));
        }
        let config = Agent::config_builder()
            .max_redirects(0)
            .http_status_as_error(false)
            .proxy(None)
            .timeout_global(Some(limit))
            .max_idle_connections(0)
            .build();
        Ok(Self {
            address,
            agent: config.into(),
        })
    }
}

fn is_this_machine(host: &str) -> bool {
    let plain = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || plain.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

impl Transport for HttpTransport {
    fn target(&self) -> String {
        self.address.to_string()
    }

    fn post(&self, post: &Post) -> Result<Reply, ApproverError> {
        let failed = |error: ureq::Error| ApproverError::new(format!("the webhook: {error}"));
        let mut message = self
            .agent
            .post(&self.address)
            .header("content-type", "application/json");
        for (name, value) in &post.headers {
            message = message.header(*name, value);
        }
        let mut reply = message.send(&post.body).map_err(failed)?;
        let limit = u64::try_from(MAX_REPLY).unwrap_or(0);
        let body = reply.body_mut().with_config().limit(limit).read_to_vec();
        Ok(Reply {
            status: reply.status().as_u16(),
            body: body.map_err(failed)?,
        })
    }
}

impl fmt::Debug for HttpTransport {
    /// The address may hold a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransport")
            .field("host", &self.address.host())
            .finish_non_exhaustive()
    }
}
