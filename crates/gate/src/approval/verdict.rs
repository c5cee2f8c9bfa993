//! Answers that come through a store: signed, or nothing.
//!
//! Nothing here trusts a store: a row says what somebody wrote, a signature says who.

use super::request::Request;
use crate::clock::Millis;
use crate::digest::{Digest, framed, hex, unhex};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use std::fmt;

/// How long an approval can be used unless the gate says less.
pub const APPROVED_MILLIS: Millis = 120_000;

/// A person's answer to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The request's id.
    pub request: String,
    /// Names the request and the call, see [`Request::digest`].
    pub digest: String,
    /// Whether it is a yes.
    pub approve: bool,
    /// Until when it can be used.
    pub expires_at: Millis,
    /// Who answers.
    pub approver: String,
    /// The Ed25519 signature over all of the above, in hexadecimal.
    pub signature: String,
}

impl Verdict {
    fn message(&self) -> Vec<u8> {
        let decision = if self.approve { "approve" } else { "deny" };
        let expires = self.expires_at.to_string();
        framed(
            "horngate-verdict-1",
            [
                &*self.request,
                &self.digest,
                decision,
                &expires,
                &self.approver,
            ],
        )
    }

    /// Whether `key` signed it.
    #[must_use]
    pub fn is_signed_by(&self, key: &ApproverKey) -> bool {
        let signature = unhex(&self.signature).and_then(|bytes| Signature::from_slice(&bytes).ok());
        signature.is_some_and(|signature| key.0.verify_strict(&self.message(), &signature).is_ok())
    }
}

/// The public key of somebody who may answer.
#[derive(Clone, PartialEq, Eq)]
pub struct ApproverKey(VerifyingKey);

/// A text that is no public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a public key is 64 hexadecimal digits that name a strong key")]
pub struct BadKey;

impl ApproverKey {
    /// The key written in hexadecimal.
    ///
    /// # Errors
    /// [`BadKey`] when the text is no key, or a weak one.
    pub fn parse(text: &str) -> Result<Self, BadKey> {
        let bytes: [u8; 32] = unhex(text.trim())
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or(BadKey)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| BadKey)?;
        if key.is_weak() {
            return Err(BadKey);
        }
        Ok(Self(key))
    }
}

impl fmt::Display for ApproverKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(self.0.as_bytes()))
    }
}

impl fmt::Debug for ApproverKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApproverKey({self})")
    }
}

/// The secret key of somebody who answers.
///
/// ```
/// use horngate_gate::Signatory;
/// let ann = Signatory::generate("ann")?;
/// assert_eq!(ann.key().to_string().len(), 64);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Signatory {
    name: String,
    key: SigningKey,
}

/// Why a request is not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotSigned(&'static str);

impl Signatory {
    /// A new key, from the randomness of the operating system.
    ///
    /// # Errors
    /// When there is none.
    pub fn generate(name: impl Into<String>) -> std::io::Result<Self> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(std::io::Error::other)?;
        Ok(Self {
            name: name.into(),
            key: SigningKey::from_bytes(&seed),
        })
    }

    /// The key whose secret is written in hexadecimal.
    ///
    /// # Errors
    /// [`BadKey`] when the text is no key.
    pub fn parse(name: impl Into<String>, secret: &str) -> Result<Self, BadKey> {
        let seed: [u8; 32] = unhex(secret.trim())
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or(BadKey)?;
        Ok(Self {
            name: name.into(),
            key: SigningKey::from_bytes(&seed),
        })
    }

    /// The secret in hexadecimal, to be kept in a file that nobody else can read.
    #[must_use]
    pub fn secret(&self) -> String {
        hex(self.key.as_bytes())
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The public key.
    #[must_use]
    pub fn key(&self) -> ApproverKey {
        ApproverKey(self.key.verifying_key())
    }

    /// Answers a request that the person has read. A yes can be used for two minutes from `now`.
    ///
    /// # Errors
    /// [`NotSigned`] when the request is too old, or the person is a member of its chain.
    pub fn answer(
        &self,
        request: &Request,
        approve: bool,
        now: Millis,
    ) -> Result<Verdict, NotSigned> {
        if now >= request.expires_at {
            return Err(NotSigned("the request is too old"));
        }
        if request.chain.contains(&self.name) {
            return Err(NotSigned(
                "nobody approves what is done for or by themselves",
            ));
        }
        let mut verdict = Verdict {
            request: request.id.clone(),
            digest: request.digest().to_string(),
            approve,
            expires_at: now.saturating_add(APPROVED_MILLIS),
            approver: self.name.clone(),
            signature: String::new(),
        };
        verdict.signature = hex(&self.key.sign(&verdict.message()).to_bytes());
        Ok(verdict)
    }
}

impl fmt::Debug for Signatory {
    /// The secret is not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signatory")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A name for a request that nobody can guess or meet by chance.
pub(crate) fn random_id() -> Result<String, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
    Ok(hex(&bytes))
}

/// The digest of a request, as a verdict names it.
pub(crate) fn names(verdict: &Verdict, request: &Request) -> bool {
    let digest: Digest = request.digest();
    verdict.request == request.id && verdict.digest == digest.to_string()
}
