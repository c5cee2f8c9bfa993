//! Proofs: why something holds, step by step, down to the facts.
//!
//! Nothing here looks for a proof or judges one; it is plain data, and no step is its own reason.

use crate::source::{Source, Sources, Span};
use std::collections::HashMap;
use std::fmt;

/// What one step of a proof says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Claim {
    /// It holds: `may_execute_tool('U:Qa',tool_repl)`.
    Fact(String),
    /// There is nothing of the sort: `blocked(ann,_)`.
    Absent(String),
    /// A test that holds, or what gave a variable its value: `3 < 5`.
    Test(String),
}

impl Claim {
    /// The text, whatever it claims.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Fact(text) | Self::Absent(text) | Self::Test(text) => text,
        }
    }
}

/// As people read it: an absence says `no` before its text.
impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fact(text) | Self::Test(text) => f.write_str(text),
            Self::Absent(text) => write!(f, "no {text}"),
        }
    }
}

/// A clause and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClauseText {
    /// The name of its file.
    pub file: String,
    /// The line it starts in, from 1.
    pub line: usize,
    /// The column it starts at, from 1, in characters.
    pub column: usize,
    /// The clause as it stands there, its end dot included.
    pub text: String,
}

/// One step of a proof.
#[derive(Clone, Debug)]
pub struct Step {
    pub(super) claim: Claim,
    pub(super) clause: Option<usize>,
    pub(super) because: Vec<usize>,
}

impl Step {
    /// What it says.
    #[must_use]
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// The steps that it follows from by its clause, in the order of the body: positions in [`Proof::steps`], all
    /// greater than its own. Several steps may rest on the same one.
    #[must_use]
    pub fn because(&self) -> &[usize] {
        &self.because
    }
}

/// Why a goal holds: a derivation down to the facts, the absences and the tests that it rests on.
///
/// ```
/// use horngate::{Budget, Rulebase, Source, explain};
/// let rules = "e(a, b). e(b, c).\nt(X, Y) :- e(X, Y).\nt(X, Z) :- t(X, Y), e(Y, Z).\n";
/// let rulebase = Rulebase::load([Source::new("tc.pl", rules)]).unwrap();
/// let model = rulebase.evaluate(&Budget::default()).unwrap();
/// let proof = explain::why(&model, "t(a, c)").unwrap().unwrap();
/// let texts: Vec<&str> = proof.steps().iter().map(|step| step.claim().text()).collect();
/// assert_eq!(texts, ["t(a,c)", "t(a,b)", "e(a,b)", "e(b,c)"]);
/// assert_eq!(proof.clause(&proof.steps()[0]).unwrap().line, 3);
/// ```
#[derive(Clone, Debug)]
pub struct Proof {
    pub(super) goal: String,
    pub(super) steps: Vec<Step>,
    pub(super) clauses: Vec<ClauseText>,
}

impl Proof {
    /// What was asked.
    #[must_use]
    pub fn goal(&self) -> &str {
        &self.goal
    }

    /// The steps, the conclusion first; each stands before those that it follows from.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The clause by which a fact holds; `None` for absences and tests, for the conclusion of a goal that is more than
    /// one call, and where the text was not kept.
    #[must_use]
    pub fn clause(&self, step: &Step) -> Option<&ClauseText> {
        self.clauses.get(step.clause?)
    }
}

/// A proof while it is put together: nodes in any order, each with what it follows from.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) nodes: Vec<Node>,
}

pub(super) struct Node {
    pub(super) claim: Claim,
    pub(super) clause: Option<Span>,
    pub(super) because: Vec<usize>,
}

impl Draft {
    pub(super) fn push(&mut self, claim: Claim, clause: Option<Span>) -> usize {
        self.nodes.push(Node {
            claim,
            clause,
            because: Vec::new(),
        });
        self.nodes.len() - 1
    }

    /// The proof whose conclusion is the node `root`; `None` if a node follows from itself.
    pub(super) fn finish(self, goal: String, root: usize, sources: &Sources) -> Option<Proof> {
        let order = self.order(root)?;
        let mut position = vec![usize::MAX; self.nodes.len()];
        for (at, node) in order.iter().enumerate() {
            *position.get_mut(*node)? = at;
        }
        let mut numbers: HashMap<Span, usize> = HashMap::new();
        let mut spans: Vec<Span> = Vec::new();
        let mut nodes: Vec<Option<Node>> = self.nodes.into_iter().map(Some).collect();
        let mut steps = Vec::with_capacity(order.len());
        for at in order {
            let node = nodes.get_mut(at)?.take()?;
            let because: Option<Vec<usize>> = node
                .because
                .iter()
                .map(|premise| position.get(*premise).copied())
                .collect();
            let kept = |span: &Span| sources.get(span.source).is_some_and(Source::has_text);
            steps.push(Step {
                claim: node.claim,
                clause: node.clause.filter(kept).map(|span| {
                    *numbers.entry(span).or_insert_with(|| {
                        spans.push(span);
                        spans.len() - 1
                    })
                }),
                because: because?,
            });
        }
        let clauses = super::why_not::clause_texts(sources, &spans);
        Some(Proof {
            goal,
            steps,
            clauses,
        })
    }

    /// The nodes that `root` rests on, each before those that it follows from, and among these in their order.
    fn order(&self, root: usize) -> Option<Vec<usize>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let mut marks = vec![Mark::New; self.nodes.len()];
        let mut done = Vec::new();
        let mut path = vec![(root, 0)];
        *marks.get_mut(root)? = Mark::Open;
        while let Some((at, next)) = path.pop() {
            // From the last to the first, so that turning the order round puts the first first.
            let because = &self.nodes.get(at)?.because;
            let premise = because.len().checked_sub(next + 1);
            let Some(premise) = premise.and_then(|premise| because.get(premise)) else {
                *marks.get_mut(at)? = Mark::Done;
                done.push(at);
                continue;
            };
            path.push((at, next + 1));
            match marks.get_mut(*premise)? {
                Mark::Open => return None,
                Mark::Done => {}
                mark => {
                    *mark = Mark::Open;
                    path.push((*premise, 0));
                }
            }
        }
        done.reverse();
        Some(done)
    }
}
