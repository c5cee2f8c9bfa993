//! Decisions for a host that runs its tools itself.
//!
//! Nothing here asks a person: what would have to be asked is refused.

use crate::approval::Request;
use crate::context::{Delegation, InvocationContext};
use crate::outcome::{Approval, Reason, Refusal};
use crate::policy::{PolicyError, Rules};
use horngate::Allowlist;
use std::collections::BTreeMap;
use std::time::Duration;

/// The predicates that narrow an allowlist: their slices must have been evaluated with its own.
///
/// ```
/// assert!(horngate_gate::RESTRICTIONS.contains(&"confirm_tool"));
/// ```
pub const RESTRICTIONS: [&str; 3] = ["confirm_tool", "destructive_tool", "may_approve"];

/// The rules of a gate without its tools: whether a host may go on with a call.
///
/// It is bound as strictly as a [`Gate`](crate::Gate), and asks nobody.
///
/// ```
/// use horngate::{Allowlist, Budget, Rulebase, Source};
/// use horngate_gate::{InvocationContext, InvocationId, Precheck, Reason};
///
/// let rules = "may_execute_tool(ann, tool_ls). may_execute_tool(ann, tool_rm). confirm_tool(ann, tool_rm).";
/// let model = Rulebase::load([Source::new("a.pl", rules)])?.evaluate(&Budget::default())?;
/// let precheck = Precheck::new(Allowlist::bind(&model, "may_execute_tool/2")?)?;
///
/// let ann = InvocationContext::new("ann", "session-1", InvocationId(1));
/// assert_eq!(precheck.check(&ann, "ls")?, "may_execute_tool(ann,tool_ls)");
/// assert_eq!(precheck.check(&ann, "rm").unwrap_err().reason, Reason::NoApprover);
/// assert_eq!(precheck.check(&ann, "dd").unwrap_err().reason, Reason::UnknownTool);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Precheck {
    rules: Rules,
}

impl Precheck {
    /// Binds the predicates that narrow the allowlist.
    ///
    /// # Errors
    /// [`PolicyError`] when one is not clean, or no gate should be built on the allowlist.
    pub fn new(allowlist: Allowlist) -> Result<Self, PolicyError> {
        Self::accepting(allowlist, &BTreeMap::new())
    }

    /// The same although the allowlist has these [doubts](crate::DOUBTS), each with the reason why it is meant.
    ///
    /// # Errors
    /// As [`Precheck::new`].
    ///
    /// ```
    /// use horngate::{Allowlist, Budget, Rulebase, Source};
    /// use horngate_gate::Precheck;
    /// use std::collections::BTreeMap;
    ///
    /// let rules = "may_execute_tool(A, T) :- actor(A), tool(T). actor(ann). tool(tool_ls).";
    /// let model = Rulebase::load([Source::new("a.pl", rules)])?.evaluate(&Budget::default())?;
    /// let allowlist = Allowlist::bind(&model, "may_execute_tool/2")?;
    /// assert!(Precheck::new(allowlist.clone()).is_err());
    /// let accepted = BTreeMap::from([("cartesian-grant".to_owned(), "all may do all".to_owned())]);
    /// assert!(Precheck::accepting(allowlist, &accepted).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn accepting(
        allowlist: Allowlist,
        accepted: &BTreeMap<String, String>,
    ) -> Result<Self, PolicyError> {
        let rules = Rules::bind(allowlist, accepted)?;
        Ok(Self { rules })
    }

    /// What is derived for a call, if every actor of its chain may make it and no person must be asked.
    ///
    /// # Errors
    /// [`Refusal`] otherwise.
    pub fn check(&self, context: &InvocationContext, tool: &str) -> Result<String, Box<Refusal>> {
        let delegation = Delegation::Intersect;
        let refuse = |reason, message, required| {
            let approval = Approval {
                required,
                ..Approval::default()
            };
            Box::new(Refusal {
                reason,
                message,
                detail: String::new(),
                ran: false,
                tool: tool.to_owned(),
                took: Duration::ZERO,
                approval,
            })
        };
        let derivation = self
            .rules
            .decide(context, tool, delegation)
            .map_err(|(reason, message)| refuse(reason, message, false))?;
        if let Some(demand) = self.rules.demand(context, tool) {
            let message = format!(
                "`{tool}` needs a person's confirmation ({}), and nobody can be asked here",
                demand.reason
            );
            return Err(refuse(Reason::NoApprover, message, true));
        }
        Ok(derivation)
    }

    /// Whether `person` may approve a request, as far as the rules say: nobody may who is a member of its chain, and where
    /// the rules say who may, they must say so of each member.
    ///
    /// ```
    /// # use horngate_gate::{Precheck, Request};
    /// # fn show(precheck: &Precheck, request: &Request) {
    /// if !precheck.may_approve("ann", request) {
    ///     println!("somebody else must answer {}", request.id);
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn may_approve(&self, person: &str, request: &Request) -> bool {
        let chain = request.chain.iter().map(String::as_str);
        self.rules.may_approve(person, chain, &request.tool)
    }
}
