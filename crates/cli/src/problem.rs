//! Why there is no answer. Every command turns one into exit code 2, and a decision into a denial.
//!
//! Nothing here is an answer.

use crate::json;
use crate::render;
use horngate::{
    BindError, BudgetExceeded, Code, Diagnostic, ProbeError, QueryError, Refused, Sources, Span,
};
use std::path::Path;
use std::time::Duration;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Problem {
    /// Files or folders that cannot be read, at least one.
    Unreadable(Vec<Unreadable>),
    /// Rules, a goal or an allowlist that are refused, or a budget that ran out.
    Refused {
        /// The whole in one line.
        message: String,
        /// The texts that the diagnostics point into.
        sources: Sources,
        /// Why, at least one.
        diagnostics: Vec<Diagnostic>,
    },
    /// The time that `--timeout` gives is over.
    Timeout(Duration),
    /// A bug.
    Internal(String),
}

/// A path that cannot be read.
#[derive(Debug)]
pub(crate) struct Unreadable {
    path: String,
    reason: String,
}

impl Unreadable {
    pub(crate) fn new(path: &Path, reason: String) -> Self {
        Self {
            path: path.display().to_string(),
            reason,
        }
    }

    fn message(&self) -> String {
        format!("cannot read `{}`: {}", self.path, self.reason)
    }
}

impl Problem {
    /// The whole in one line, as plain text: escape it for people.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Unreadable(files) => {
                let messages: Vec<String> = files.iter().map(Unreadable::message).collect();
                messages.join("; ")
            }
            Self::Refused { message, .. } => message.clone(),
            Self::Timeout(limit) => format!(
                "no answer within {} s, the limit given with `--timeout`",
                limit.as_secs_f64()
            ),
            Self::Internal(message) => {
                format!("internal error, please report it: {message}")
            }
        }
    }

    /// The diagnostics for machines, at least one.
    pub(crate) fn json(&self) -> Vec<json::Diagnostic<'_>> {
        match self {
            Self::Refused {
                sources,
                diagnostics,
                ..
            } => diagnostics
                .iter()
                .map(|found| json::Diagnostic::new(sources, found))
                .collect(),
            Self::Unreadable(files) => files
                .iter()
                .map(|file| json::Diagnostic::outside("file", file.message(), Some(&file.path)))
                .collect(),
            Self::Timeout(_) => vec![json::Diagnostic::outside("timeout", self.message(), None)],
            Self::Internal(_) => vec![json::Diagnostic::outside("internal", self.message(), None)],
        }
    }

    /// Tells people on standard error.
    pub(crate) fn print(&self) {
        self.print_details();
        match self {
            Self::Unreadable(files) => files
                .iter()
                .for_each(|file| render::tell(&format!("error: {}", file.message()))),
            _ => render::tell(&format!("error: {}", self.message())),
        }
    }

    /// Tells people on standard error all that is not in the message.
    pub(crate) fn print_details(&self) {
        if let Self::Refused {
            sources,
            diagnostics,
            ..
        } = self
        {
            render::tell_diagnostics(sources, diagnostics);
        }
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        Self::Refused {
            message: format!("the rules are refused: {refused}"),
            sources: refused.sources,
            diagnostics: refused.diagnostics,
        }
    }
}

impl From<BudgetExceeded> for Problem {
    fn from(exceeded: BudgetExceeded) -> Self {
        Self::Refused {
            message: exceeded.to_string(),
            sources: Sources::default(),
            diagnostics: vec![out_of_budget(&exceeded)],
        }
    }
}

impl From<BindError> for Problem {
    fn from(error: BindError) -> Self {
        let message = error.to_string();
        let diagnostics = if error.diagnostics.is_empty() {
            let place = Span::default();
            vec![Diagnostic::new(Code::FaultySlice, place, message.clone()).of(&error.predicate)]
        } else {
            error.diagnostics
        };
        Self::Refused {
            message,
            sources: error.sources,
            diagnostics,
        }
    }
}

impl From<QueryError> for Problem {
    fn from(error: QueryError) -> Self {
        Self::Refused {
            message: "the goal cannot be answered".to_owned(),
            sources: error.sources,
            diagnostics: error.diagnostics,
        }
    }
}

impl From<ProbeError> for Problem {
    fn from(error: ProbeError) -> Self {
        Self::Refused {
            message: "the goal cannot be probed".to_owned(),
            sources: error.sources,
            diagnostics: error.diagnostics,
        }
    }
}

/// A budget that ran out, as a diagnostic of the predicate in which it did.
pub(crate) fn out_of_budget(exceeded: &BudgetExceeded) -> Diagnostic {
    Diagnostic::new(Code::Budget, Span::default(), exceeded.to_string())
        .of(&exceeded.predicate)
        .help(format!(
            "if the rules need more, raise `--max-{}`",
            exceeded.what
        ))
}

/// Whether the diagnostic has a place in a text.
pub(crate) fn has_place(found: &Diagnostic) -> bool {
    found.span != Span::default()
        || !matches!(
            found.code,
            Code::Budget | Code::FaultySlice | Code::UndefinedCall
        )
}
