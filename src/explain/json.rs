//! Explanations as JSON documents.
//!
//! Nothing here recurses: a proof may be as deep as it is long.

use super::denial::WhyNot;
use super::proof::{Claim, ClauseText, Proof};
use std::fmt::Write;

/// How many nodes a document may have in which every mention of a derived fact carries its reasons.
const MAX_SPELT_OUT: usize = 10_000;

impl Proof {
    /// The proof as a JSON document that [`crate::explain::verify`] reads: `goal`, `holds`, `proof` and `policy_hash`.
    ///
    /// A node is a `fact` with its `clause` and what it follows from, `because`; a fact of the rule files has no
    /// `because`. An absence is `absent`, a test `builtin`. Where several steps rest on the same derived fact, each
    /// mention repeats its reasons, unless the document would come to more than 10,000 nodes: then only the first does,
    /// and a later mention has no `because`.
    ///
    /// ```
    /// use horngate::{Budget, Rulebase, Source, explain};
    /// let rulebase = Rulebase::load([Source::new("a.pl", "p(a).")]).unwrap();
    /// let model = rulebase.evaluate(&Budget::default()).unwrap();
    /// let proof = explain::why(&model, "p(a)").unwrap().unwrap();
    /// assert_eq!(
    ///     proof.to_json("sha256:0"),
    ///     r#"{"goal":"p(a)","holds":true,"proof":{"fact":"p(a)","clause":{"file":"a.pl","line":1,"column":1,"text":"p(a)."}},"policy_hash":"sha256:0"}"#
    /// );
    /// ```
    #[must_use]
    pub fn to_json(&self, policy_hash: &str) -> String {
        let mut out = String::from("{\"goal\":");
        string(&mut out, &self.goal);
        out.push_str(",\"holds\":true,\"proof\":");
        self.node(&mut out);
        out.push_str(",\"policy_hash\":");
        string(&mut out, policy_hash);
        out.push('}');
        out
    }

    /// The proof as a JSON node alone: what [`Proof::to_json`] has as `proof`.
    #[must_use]
    pub fn to_json_node(&self) -> String {
        let mut out = String::new();
        self.node(&mut out);
        out
    }

    /// How many nodes the proof has as a tree, up to the largest number there is.
    #[must_use]
    pub fn tree_size(&self) -> usize {
        let mut sizes = vec![1_usize; self.steps.len()];
        // Premises stand behind their conclusions.
        for (at, step) in self.steps.iter().enumerate().rev() {
            let below = step
                .because
                .iter()
                .filter_map(|premise| sizes.get(*premise));
            let size = below.fold(1_usize, |sum, size| sum.saturating_add(*size));
            if let Some(slot) = sizes.get_mut(at) {
                *slot = size;
            }
        }
        sizes.first().copied().unwrap_or(0)
    }

    fn node(&self, out: &mut String) {
        let spelt_out = self.tree_size() <= MAX_SPELT_OUT;
        let mut reasoned = vec![false; self.steps.len()];
        let mut path: Vec<(usize, usize)> = vec![(0, 0)];
        while let Some((at, next)) = path.pop() {
            let Some(step) = self.steps.get(at) else {
                continue;
            };
            if next == 0 {
                self.open(out, at);
                let again = reasoned
                    .get_mut(at)
                    .is_some_and(|flag| std::mem::replace(flag, true));
                if step.because.is_empty() || (again && !spelt_out) {
                    out.push('}');
                    continue;
                }
                out.push_str(",\"because\":[");
            }
            match step.because.get(next) {
                Some(premise) => {
                    if next > 0 {
                        out.push(',');
                    }
                    path.push((at, next + 1));
                    path.push((*premise, 0));
                }
                None => out.push_str("]}"),
            }
        }
    }

    fn open(&self, out: &mut String, at: usize) {
        let Some(step) = self.steps.get(at) else {
            return;
        };
        out.push_str(match step.claim {
            Claim::Fact(_) => "{\"fact\":",
            Claim::Absent(_) => "{\"absent\":",
            Claim::Test(_) => "{\"builtin\":",
        });
        string(out, step.claim.text());
        if let Some(clause) = self.clause(step) {
            out.push_str(",\"clause\":{");
            place(out, clause);
            out.push('}');
        }
    }
}

impl WhyNot {
    /// The explanation as a JSON document: `goal`, `holds`, `reason`, `clauses`, `missing`, `defeated_by`, `near` and
    /// `policy_hash`.
    ///
    /// ```
    /// use horngate::{Budget, Rulebase, Source, explain};
    /// let rulebase = Rulebase::load([Source::new("a.pl", "p(abel).")]).unwrap();
    /// let model = rulebase.evaluate(&Budget::default()).unwrap();
    /// let why_not = explain::why_not(&model, "p(able)").unwrap().unwrap();
    /// assert_eq!(
    ///     why_not.to_json("sha256:0"),
    ///     r#"{"goal":"p(able)","holds":false,"reason":"nothing-grants","clauses":[],"missing":[["p(able)"]],"defeated_by":[],"near":["abel"],"policy_hash":"sha256:0"}"#
    /// );
    /// ```
    #[must_use]
    pub fn to_json(&self, policy_hash: &str) -> String {
        let mut out = String::from("{\"goal\":");
        string(&mut out, &self.goal);
        out.push_str(",\"holds\":false,\"reason\":");
        string(&mut out, self.obstacle().as_str());
        out.push_str(",\"clauses\":");
        list(&mut out, &self.clauses, |out, failed| {
            out.push('{');
            place(out, &failed.clause);
            out.push_str(",\"fails_at\":");
            string(out, &failed.fails_at);
            out.push('}');
        });
        out.push_str(",\"missing\":");
        list(&mut out, &self.missing, |out, facts| {
            list(out, facts, |out, fact| string(out, fact));
        });
        out.push_str(",\"defeated_by\":");
        list(&mut out, &self.defeated_by, |out, defeat| {
            string(out, &defeat.fact);
        });
        out.push_str(",\"near\":");
        list(&mut out, &self.near, |out, name| string(out, name));
        out.push_str(",\"policy_hash\":");
        string(&mut out, policy_hash);
        out.push('}');
        out
    }
}

/// The fields of a clause.
fn place(out: &mut String, clause: &ClauseText) {
    out.push_str("\"file\":");
    string(out, &clause.file);
    let (line, column) = (clause.line, clause.column);
    // Writing to a string cannot fail.
    let _ = write!(out, ",\"line\":{line},\"column\":{column}");
    out.push_str(",\"text\":");
    string(out, &clause.text);
}

fn list<T>(out: &mut String, items: &[T], mut write: impl FnMut(&mut String, &T)) {
    out.push('[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(']');
}

/// Writes a JSON string.
pub(super) fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}
