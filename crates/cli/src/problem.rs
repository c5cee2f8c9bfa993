//! Why there is no answer. Every command turns one into exit code 2, and a decision into a denial.
//!
//! Nothing here is an answer.

use crate::json;
use crate::render;
use horngate::compile::CompileError;
use horngate::explain::ExplainError;
use horngate::{
    BindError, BudgetExceeded, Code, Diagnostic, ProbeError, QueryError, Refused, Source, Sources,
    Span,
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
    /// Arguments that do not fit what the files have.
    Usage(String),
    /// A file that cannot be written, and why.
    Unwritten(String),
    /// A proof of which it cannot be said whether it is valid.
    Undecided(String),
    /// The time that `--timeout` gives is over.
    Timeout(Duration),
    /// A bug.
    Internal(String),
}

/// A path that cannot be read.
#[derive(Clone, Debug)]
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

impl From<CompileError> for Problem {
    fn from(error: CompileError) -> Self {
        Self::Refused {
            message: "the rules cannot be compiled".to_owned(),
            sources: error.sources,
            diagnostics: error.diagnostics,
        }
    }
}

impl Problem {
    /// A budget that ran out while the rules of these texts were evaluated.
    pub(crate) fn budget(sources: &Sources, exceeded: &BudgetExceeded) -> Self {
        Self::Refused {
            message: exceeded.to_string(),
            sources: sources.clone(),
            diagnostics: vec![exceeded.diagnostic()],
        }
    }

    /// Whether it is nothing but a budget that ran out.
    pub(crate) fn is_of_a_budget(&self) -> bool {
        match self {
            Self::Refused { diagnostics, .. } => {
                diagnostics.iter().all(|found| found.code == Code::Budget)
            }
            _ => false,
        }
    }

    /// The same with the rule texts, where they had not been kept.
    pub(crate) fn over(mut self, texts: Vec<Source>) -> Self {
        if let Self::Refused { sources, .. } = &mut self {
            let known = texts.len();
            let mut whole = Sources::new(texts);
            for (_, source) in sources.iter().skip(known) {
                whole.push(source.clone());
            }
            *sources = whole;
        }
        self
    }

    /// The same once more, for people.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Unreadable(files) => Self::Unreadable(files.clone()),
            other => Self::Usage(other.message()),
        }
    }

    /// The whole in one line, as plain text: escape it for people.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Unreadable(files) => {
                let messages: Vec<String> = files.iter().map(Unreadable::message).collect();
                messages.join("; ")
            }
            Self::Refused { message, .. } | Self::Usage(message) | Self::Unwritten(message) => {
                message.clone()
            }
            Self::Timeout(limit) => format!(
                "no answer within {} s, the limit given with `--timeout`",
                limit.as_secs_f64()
            ),
            Self::Undecided(message) => message.clone(),
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
            Self::Unwritten(_) => vec![json::Diagnostic::outside("file", self.message(), None)],
            Self::Usage(_) => vec![json::Diagnostic::outside("usage", self.message(), None)],
            Self::Timeout(_) => vec![json::Diagnostic::outside("timeout", self.message(), None)],
            Self::Undecided(_) => vec![json::Diagnostic::outside("proof", self.message(), None)],
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

impl From<ExplainError> for Problem {
    fn from(error: ExplainError) -> Self {
        match error {
            ExplainError::Goal(error) => error.into(),
            other => Self::Internal(other.to_string()),
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

/// Whether the diagnostic has a place in a text.
pub(crate) fn has_place(found: &Diagnostic) -> bool {
    found.span != Span::default()
        || !matches!(
            found.code,
            Code::Budget | Code::FaultySlice | Code::UndefinedCall
        )
}
