//! Explanations as pictures for Graphviz. Shapes and words tell the kinds apart, colours only help.
//!
//! Nothing here lays anything out.

use crate::printable::Printable;
use crate::tree::{MAX_MISSING, shortened, smallest};
use horngate::explain::{Claim, ClauseText, Obstacle, Proof, WhyNot};
use std::fmt;
use std::io::{self, Write};

/// How many characters a line of a label has before it is broken.
const LINE: usize = 36;
/// How much of a clause is shown when the pointer rests on a node.
const TOOLTIP: usize = 300;

const HEAD: &str = "digraph explanation {
  graph [rankdir=TB, bgcolor=\"white\", nodesep=0.3, ranksep=0.45, fontname=\"Helvetica,Arial,sans-serif\"];
  node [fontname=\"Helvetica,Arial,sans-serif\", fontsize=11, margin=\"0.16,0.09\", color=\"#34495e\", penwidth=1.1];
  edge [color=\"#34495e\", arrowsize=0.7, fontname=\"Helvetica,Arial,sans-serif\", fontsize=10];
";

const CONCLUSION: &str =
    "shape=box, style=\"rounded,filled,bold\", fillcolor=\"#dbe9f6\", penwidth=2";
const DERIVED: &str = "shape=box, style=\"rounded,filled\", fillcolor=\"#eaf2fa\"";
const FACT: &str = "shape=note, style=filled, fillcolor=\"#fdf6e3\"";
const ABSENCE: &str = "shape=box, style=\"dashed,filled\", fillcolor=\"#f4f4f4\"";
const TEST: &str = "shape=hexagon, style=filled, fillcolor=\"#ffffff\"";
const DENIED: &str = "shape=box, style=\"rounded,filled,bold\", fillcolor=\"#f9e0dd\", penwidth=2";
const CLAUSE: &str = "shape=box, style=filled, fillcolor=\"#ffffff\"";
const FAILING: &str = "shape=box, style=\"dashed,filled\", fillcolor=\"#f9e0dd\"";
const MISSING: &str = "shape=note, style=\"dashed,filled\", fillcolor=\"#ffffff\"";

/// A text in quotes, as Graphviz reads it: it shows `&amp;` as `&`.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for (at, line) in self.0.split('\n').enumerate() {
            if at > 0 {
                f.write_str("\\n")?;
            }
            for c in Printable(line).to_string().chars() {
                match c {
                    '"' => f.write_str("\\\"")?,
                    '\\' => f.write_str("\\\\")?,
                    '&' => f.write_str("&amp;")?,
                    _ => write!(f, "{c}")?,
                }
            }
        }
        f.write_str("\"")
    }
}

/// Draws a proof: what follows stands above what it follows from.
pub(crate) fn proof(out: &mut dyn Write, proof: &Proof) -> io::Result<()> {
    out.write_all(HEAD.as_bytes())?;
    for (at, step) in proof.steps().iter().enumerate() {
        let clause = proof.clause(step);
        let derived = !step.because().is_empty();
        let (style, kind) = match step.claim() {
            Claim::Absent(_) => (ABSENCE, "absent"),
            Claim::Test(_) => (TEST, "test"),
            _ if at == 0 && derived => (CONCLUSION, "rule"),
            _ if derived => (DERIVED, "rule"),
            _ => (FACT, "fact"),
        };
        let mut label = broken(&step.claim().to_string());
        match clause {
            Some(clause) => label += &format!("\n{kind}, {}", place(clause)),
            None if at == 0 => {}
            None => label += &format!("\n{kind}"),
        }
        let tooltip = clause.map(|clause| shortened(&clause.text, TOOLTIP));
        let tooltip = tooltip.as_deref().unwrap_or(kind);
        writeln!(
            out,
            "  n{at} [label={}, tooltip={}, {style}];",
            Quoted(&label),
            Quoted(tooltip)
        )?;
    }
    for (at, step) in proof.steps().iter().enumerate() {
        for premise in step.because() {
            writeln!(out, "  n{at} -> n{premise} [dir=back];")?;
        }
    }
    writeln!(out, "}}")
}

/// Draws why something does not hold: each clause with what fails, what forbids it, what is missing.
pub(crate) fn why_not(out: &mut dyn Write, why_not: &WhyNot) -> io::Result<()> {
    out.write_all(HEAD.as_bytes())?;
    let verdict = match why_not.obstacle() {
        Obstacle::SomethingForbids => "something forbids it",
        _ => "nothing grants it",
    };
    let label = format!("{}\n{verdict}", broken(why_not.goal()));
    writeln!(out, "  goal [label={}, {DENIED}];", Quoted(&label))?;
    let clauses = why_not.clauses().iter();
    let tried = clauses.filter(|failed| failed.reached.is_some());
    for (at, failed) in tried.enumerate() {
        let clause = broken(&shortened(&failed.clause.text, TOOLTIP));
        let label = format!("{clause}\nrule, {}", place(&failed.clause));
        writeln!(out, "  c{at} [label={}, {CLAUSE}];", Quoted(&label))?;
        writeln!(out, "  goal -> c{at};")?;
        let label = broken(&failed.fails_at);
        writeln!(out, "  f{at} [label={}, {FAILING}];", Quoted(&label))?;
        writeln!(out, "  c{at} -> f{at} [label=\"fails at\"];")?;
    }
    for (at, defeat) in why_not.defeated_by().iter().enumerate() {
        let (style, kind) = match &defeat.clause {
            Some(clause) => (FACT, format!("fact, {}", place(clause))),
            None => (DERIVED, "derived".to_owned()),
        };
        let label = format!("{}\n{kind}", broken(&defeat.fact));
        writeln!(out, "  d{at} [label={}, {style}];", Quoted(&label))?;
        writeln!(out, "  d{at} -> goal [label=\"forbids\", arrowhead=tee];")?;
    }
    let mut missing: Vec<String> = smallest(why_not)
        .take(MAX_MISSING)
        .map(|facts| broken(&facts.join(" and ")))
        .collect();
    if !missing.is_empty() {
        missing.insert(0, "missing, one of these:".to_owned());
        let label = missing.join("\n");
        writeln!(out, "  missing [label={}, {MISSING}];", Quoted(&label))?;
        writeln!(
            out,
            "  goal -> missing [label=\"would hold with\", style=dashed];"
        )?;
    }
    writeln!(out, "}}")
}

fn place(clause: &ClauseText) -> String {
    format!("{}:{}", clause.file, clause.line)
}

/// A text over several lines, broken behind commas and blanks.
fn broken(text: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for c in text.chars() {
        out.push(if c == '\n' { ' ' } else { c });
        column += 1;
        if column >= LINE && matches!(c, ',' | ' ') {
            out.push('\n');
            column = 0;
        }
    }
    out
}
