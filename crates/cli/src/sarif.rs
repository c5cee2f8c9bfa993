//! Findings as SARIF 2.1.0, which code scanning services read.
//!
//! Nothing here is left out that the human output has.

use crate::check::Findings;
use crate::json;
use crate::problem::{Problem, has_place};
use horngate::{Code, Diagnostic, Severity, Sources, Span};
use serde::Serialize;
use std::io;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool,
    invocations: [Invocation; 1],
    artifacts: Vec<Artifact>,
    results: Vec<Finding<'a>>,
    column_kind: &'static str,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    version: &'static str,
    information_uri: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    name: String,
    short_description: Message<&'static str>,
    default_configuration: Configuration,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
struct Notification {
    level: &'static str,
    message: Message<String>,
}

#[derive(Serialize)]
struct Artifact {
    location: ArtifactLocation,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding<'a> {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Message<String>,
    locations: [Location<'a>; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions: Vec<Suppression<'a>>,
}

/// A comment in the rules that silences a finding.
#[derive(Serialize)]
struct Suppression<'a> {
    kind: &'static str,
    justification: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message<&'a str>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation<'a> {
    fully_qualified_name: &'a str,
    kind: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
    start_column: usize,
    end_line: usize,
    end_column: usize,
}

#[derive(Serialize)]
struct Message<T> {
    text: T,
}

/// Prints all findings.
pub(crate) fn print(found: &Findings) -> io::Result<()> {
    let told = found.diagnostics.iter().map(|found| found.code);
    let silenced = found.silenced.iter();
    let mut codes: Vec<Code> = told
        .chain(silenced.clone().map(|silenced| silenced.diagnostic.code))
        .collect();
    codes.sort_unstable();
    codes.dedup();
    let result = |diagnostic| result(&found.sources, &codes, diagnostic);
    let silenced = silenced.map(|silenced| Finding {
        suppressions: vec![Suppression {
            kind: "inSource",
            justification: &silenced.reason,
        }],
        ..result(&silenced.diagnostic)
    });
    let told = found.diagnostics.iter().map(result);
    let results = told.chain(silenced).collect();
    let artifacts = found
        .sources
        .iter()
        .map(|(_, source)| Artifact {
            location: ArtifactLocation {
                uri: uri(source.name()),
            },
        })
        .collect();
    let rules = codes.into_iter().map(rule).collect();
    json::print(&log(rules, artifacts, results, Vec::new()))
}

/// Prints that there are no findings for lack of an answer.
pub(crate) fn print_problem(problem: &Problem) -> io::Result<()> {
    let notification = |message| Notification {
        level: "error",
        message: Message { text: message },
    };
    let notifications = problem
        .json()
        .into_iter()
        .map(|found| notification(found.message))
        .collect();
    json::print(&log(Vec::new(), Vec::new(), Vec::new(), notifications))
}

fn log(
    rules: Vec<Rule>,
    artifacts: Vec<Artifact>,
    results: Vec<Finding<'_>>,
    notifications: Vec<Notification>,
) -> Log<'_> {
    Log {
        schema: SCHEMA,
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: "horngate",
                    version: env!("CARGO_PKG_VERSION"),
                    information_uri: env!("CARGO_PKG_REPOSITORY"),
                    rules,
                },
            },
            invocations: [Invocation {
                execution_successful: notifications.is_empty(),
                tool_execution_notifications: notifications,
            }],
            artifacts,
            results,
            column_kind: "unicodeCodePoints",
        }],
    }
}

fn rule(code: Code) -> Rule {
    Rule {
        id: code.as_str(),
        name: format!("{code:?}"),
        short_description: Message { text: code.kind() },
        default_configuration: Configuration {
            level: level(code.severity()),
        },
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn result<'a>(sources: &'a Sources, codes: &[Code], found: &'a Diagnostic) -> Finding<'a> {
    let text = match &found.help {
        Some(help) => format!("{}; {help}", found.message),
        None => found.message.clone(),
    };
    let mut place = location(sources, found.span, "");
    if !has_place(found) {
        // The standard lets a finding be without a location, but code scanning services show none then.
        place.physical_location.region = None;
    }
    place.logical_locations = found
        .predicate
        .iter()
        .map(|predicate| LogicalLocation {
            fully_qualified_name: predicate,
            kind: "function",
        })
        .collect();
    Finding {
        rule_id: found.code.as_str(),
        rule_index: codes.binary_search(&found.code).unwrap_or_default(),
        level: level(found.severity),
        message: Message { text },
        locations: [place],
        related_locations: found
            .labels
            .iter()
            .map(|label| location(sources, label.span, &label.message))
            .collect(),
        suppressions: Vec::new(),
    }
}

fn location<'a>(sources: &Sources, span: Span, message: &'a str) -> Location<'a> {
    let (start, end) = (sources.start(span), sources.end(span));
    Location {
        physical_location: PhysicalLocation {
            artifact_location: ArtifactLocation {
                uri: uri(sources.name(span)),
            },
            region: Some(Region {
                start_line: start.line,
                start_column: start.column,
                end_line: end.line,
                end_column: end.column,
            }),
        },
        logical_locations: Vec::new(),
        message: (!message.is_empty()).then_some(Message { text: message }),
    }
}

/// A path as a URI reference: relative ones stay relative.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn a_path_is_a_uri_reference() {
        assert_eq!(uri("rules/a b.pl"), "rules/a%20b.pl");
        assert_eq!(uri("/srv/ä.pl"), "file:///srv/%C3%A4.pl");
    }
}
