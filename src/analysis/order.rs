//! Safety and the order rule: what Prolog, reading from left to right, would know when it comes to a test.
//!
//! A rule is judged against what its callees need bound (`call-bound` arguments); callers are judged again
//! until nothing changes. Nothing here depends on the facts.

use super::rule::{Literal, LiteralKind, NotOrigin, Pattern, Rule, Variable};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// What a predicate needs from its callers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// For each argument that must be bound by the call, the literal that tests it first.
    pub(crate) bound: Vec<Option<Span>>,
    /// A rule with such an argument does arithmetic: Prolog may then raise where Datalog answers.
    pub(crate) arithmetic: Option<Span>,
    /// That arithmetic is more than comparisons of variables and numbers: it may raise for numbers, too.
    pub(crate) computes: bool,
}

impl Needs {
    /// Adds what another rule of the predicate needs; says whether that is news.
    pub(crate) fn merge(&mut self, other: &Self) -> bool {
        let before = self.bound.iter().flatten().count() + usize::from(self.arithmetic.is_some());
        if self.bound.len() < other.bound.len() {
            self.bound.resize(other.bound.len(), None);
        }
        for (slot, need) in self.bound.iter_mut().zip(&other.bound) {
            *slot = slot.or(*need);
        }
        self.arithmetic = self.arithmetic.or(other.arithmetic);
        self.computes |= other.computes;
        before < self.bound.iter().flatten().count() + usize::from(self.arithmetic.is_some())
    }
}

/// The verdict on one rule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) faults: Vec<Diagnostic>,
    pub(crate) needs: Needs,
    /// The literals that may have no value and need what only the call brings.
    pub(crate) postponed: Vec<usize>,
}

/// Judges one rule.
pub(crate) fn judge(rule: &Rule, needs_of: &[Needs]) -> Verdict {
    let mut heads = vec![false; rule.variables.len()];
    for arg in &rule.args {
        arg.each_variable(&mut |variable| set(&mut heads, variable));
    }
    let mut counts = vec![0; rule.variables.len()];
    for arg in &rule.args {
        arg.each_variable(&mut |variable| count(&mut counts, variable));
    }
    for literal in &rule.body {
        literal.each_variable(&mut |variable| count(&mut counts, variable));
    }
    let mut judge = Judge {
        rule,
        needs_of,
        counts,
        call_bound: vec![None; rule.variables.len()],
        faults: Vec::new(),
        reported: vec![false; rule.variables.len()],
        at: None,
        postponed: Vec::new(),
    };
    let none = vec![false; rule.variables.len()];
    let known = judge.sequence(&rule.body, none, &heads, true);
    judge.head(&known);
    let mut needs = Needs {
        bound: vec![None; rule.args.len()],
        ..Needs::default()
    };
    for (slot, arg) in needs.bound.iter_mut().zip(&rule.args) {
        arg.each_variable(&mut |variable| {
            if let Some(Some(span)) = judge.call_bound.get(variable.index()) {
                slot.get_or_insert(*span);
            }
        });
    }
    needs.arithmetic = judge
        .postponed
        .first()
        .and_then(|at| rule.body.get(*at))
        .map(|literal| literal.span);
    needs.computes = judge
        .postponed
        .iter()
        .any(|at| match rule.body.get(*at).map(|l| &l.kind) {
            Some(LiteralKind::Compare(_, left, right)) => !(left.is_plain() && right.is_plain()),
            _ => true,
        });
    Verdict {
        faults: judge.faults,
        needs,
        postponed: judge.postponed,
    }
}

type Set = Vec<bool>;

fn set(variables: &mut Set, variable: Variable) {
    if let Some(slot) = variables.get_mut(variable.index()) {
        *slot = true;
    }
}

fn has(variables: &Set, variable: Variable) -> bool {
    variables.get(variable.index()).copied().unwrap_or(false)
}

fn count(counts: &mut [usize], variable: Variable) {
    if let Some(slot) = counts.get_mut(variable.index()) {
        *slot += 1;
    }
}

/// What is bound at a point of a conjunction, and what will be once something else is.
#[derive(Clone, Default)]
struct Known {
    bound: Set,
    /// When all of the left are bound, so are all of the right.
    implications: Vec<(Vec<Variable>, Vec<Variable>)>,
}

impl Known {
    fn bind(&mut self, pattern: &Pattern) {
        pattern.each_variable(&mut |variable| set(&mut self.bound, variable));
    }

    fn imply(&mut self, from: Vec<Variable>, to: Vec<Variable>) {
        self.implications.push((from, to));
    }

    /// Binds what follows from what is bound, and forgets the implications that have done their work.
    fn close(&mut self) {
        close(&mut self.bound, &mut self.implications);
    }

    /// What would be bound if `assumed` were, too.
    fn assuming(&self, assumed: &Set) -> Set {
        let mut bound: Set = self
            .bound
            .iter()
            .zip(assumed)
            .map(|(known, also)| *known || *also)
            .collect();
        close(&mut bound, &mut self.implications.clone());
        bound
    }
}

fn close(bound: &mut Set, implications: &mut Vec<(Vec<Variable>, Vec<Variable>)>) {
    loop {
        let before = implications.len();
        implications.retain(|(from, to)| {
            let fires = from.iter().all(|variable| has(bound, *variable));
            if fires {
                for variable in to {
                    set(bound, *variable);
                }
            }
            !fires
        });
        if implications.len() == before {
            return;
        }
    }
}

struct Judge<'r> {
    rule: &'r Rule,
    needs_of: &'r [Needs],
    /// How often each variable occurs in the whole rule.
    counts: Vec<usize>,
    /// For each head variable that the call must bind, the literal that needs it.
    call_bound: Vec<Option<Span>>,
    faults: Vec<Diagnostic>,
    /// The variables that a fault was found with: one each is enough.
    reported: Set,
    /// The literal of the rule's body that is being judged.
    at: Option<usize>,
    postponed: Vec<usize>,
}

impl Judge<'_> {
    /// Walks a conjunction. `assumed` are the variables that the caller may bind: the head's, outside negations.
    fn sequence(&mut self, literals: &[Literal], bound: Set, assumed: &Set, top: bool) -> Known {
        let mut known = Known {
            bound,
            implications: Vec::new(),
        };
        known.close();
        for (at, literal) in literals.iter().enumerate() {
            if top {
                self.at = Some(at);
            }
            let rest = literals.get(at + 1..).unwrap_or(&[]);
            match &literal.kind {
                LiteralKind::Call(callee, args) => {
                    if let Some(needs) = self.needs_of.get(callee.index()) {
                        self.call(literal, args, needs, &known, assumed);
                    }
                    for arg in args {
                        known.bind(arg);
                    }
                }
                LiteralKind::Not(bodies, origin) => {
                    self.negation(literal, bodies, *origin, &known, assumed, rest);
                }
                LiteralKind::Unify(variable, pattern) => {
                    known.imply(vec![*variable], pattern.variables());
                    known.imply(pattern.variables(), vec![*variable]);
                }
                LiteralKind::Identical(_, left, right) | LiteralKind::Order(_, left, right) => {
                    let variables = [left.variables(), right.variables()].concat();
                    self.tested(literal, &variables, &known, assumed, rest);
                }
                LiteralKind::Compare(_, left, right) => {
                    let mut variables = Vec::new();
                    left.each_variable(&mut |variable| variables.push(variable));
                    right.each_variable(&mut |variable| variables.push(variable));
                    self.tested(literal, &variables, &known, assumed, rest);
                }
                LiteralKind::Is(left, right) => {
                    let mut variables = Vec::new();
                    right.each_variable(&mut |variable| variables.push(variable));
                    self.tested(literal, &variables, &known, assumed, rest);
                    known.imply(variables, left.variables());
                }
                LiteralKind::Member(item, list, _) => {
                    let variables = list.variables();
                    self.tested(literal, &variables, &known, assumed, rest);
                    known.imply(variables, item.variables());
                }
                LiteralKind::Fail => known.bound.fill(true),
            }
            known.close();
        }
        self.unresolved(&known, assumed, literals);
        known
    }

    /// An equation of which neither side is ever bound.
    fn unresolved(&mut self, known: &Known, assumed: &Set, literals: &[Literal]) {
        if known.implications.is_empty() || !self.faults.is_empty() {
            return;
        }
        let bound = known.assuming(assumed);
        let open = known
            .implications
            .iter()
            .flat_map(|(from, to)| from.iter().chain(to))
            .find(|variable| !has(&bound, **variable));
        let Some(variable) = open else { return };
        let place = literals
            .iter()
            .find(|literal| {
                let mut found = false;
                literal.each_variable(&mut |other| found |= other == *variable);
                found
            })
            .map_or(self.rule.head_span, |literal| literal.span);
        let fault = self.unbound(*variable, place);
        self.faults.push(fault);
    }

    fn call(
        &mut self,
        literal: &Literal,
        args: &[Pattern],
        needs: &Needs,
        known: &Known,
        assumed: &Set,
    ) {
        let called = needs.bound.iter().zip(args);
        for (need, arg) in called {
            let Some(test) = need else { continue };
            for variable in arg.variables() {
                if has(&known.bound, variable)
                    || self.left_to_caller(variable, literal.span, known, assumed)
                {
                    continue;
                }
                let name = self.rule.name(variable);
                let (what, bind) = match name {
                    "_" => (
                        "this argument is open".to_owned(),
                        "name it and bind it".to_owned(),
                    ),
                    _ => (
                        format!("`{name}` is not bound here"),
                        format!("bind `{name}`"),
                    ),
                };
                self.faults.push(
                    Diagnostic::new(
                        Code::CallBoundOpen,
                        literal.span,
                        format!("{what}, but the called predicate tests this argument before it binds it"),
                    )
                    .label(*test, "tested here before anything binds it")
                    .help(format!("{bind} by a literal before this one, or move the test in the called rule behind the literal that binds it")),
                );
            }
        }
        if let Some(span) = needs.arithmetic {
            self.faults.push(
                Diagnostic::new(
                    Code::CallBoundOpen,
                    literal.span,
                    "the called predicate does arithmetic while an argument is bound by the call only",
                )
                .label(span, "Prolog may raise an error here that Datalog does not see")
                .help("move the tests in the called rule behind the literals that bind their variables"),
            );
        }
    }

    /// Whether the variable is bound once the head's variables are; they are then call-bound.
    fn left_to_caller(
        &mut self,
        variable: Variable,
        span: Span,
        known: &Known,
        assumed: &Set,
    ) -> bool {
        if !has(&known.assuming(assumed), variable) {
            return false;
        }
        if let Some(at) = self.at
            && self.rule.body.get(at).is_some_and(Literal::is_arithmetic)
            && !self.postponed.contains(&at)
        {
            self.postponed.push(at);
        }
        if has(assumed, variable) {
            if let Some(slot) = self.call_bound.get_mut(variable.index()) {
                slot.get_or_insert(span);
            }
            return true;
        }
        for (from, to) in &known.implications {
            for linked in from.iter().chain(to) {
                if has(assumed, *linked)
                    && !has(&known.bound, *linked)
                    && let Some(slot) = self.call_bound.get_mut(linked.index())
                {
                    slot.get_or_insert(span);
                }
            }
        }
        true
    }

    fn tested(
        &mut self,
        literal: &Literal,
        variables: &[Variable],
        known: &Known,
        assumed: &Set,
        rest: &[Literal],
    ) {
        for (at, variable) in variables.iter().enumerate() {
            if has(&known.bound, *variable)
                || variables
                    .get(..at)
                    .is_some_and(|before| before.contains(variable))
                || self.left_to_caller(*variable, literal.span, known, assumed)
            {
                continue;
            }
            self.report_too_early(*variable, literal, rest);
        }
    }

    fn report_too_early(&mut self, variable: Variable, literal: &Literal, rest: &[Literal]) {
        if !has(&self.reported, variable) {
            set(&mut self.reported, variable);
            let fault = self.too_early(variable, literal, rest);
            self.faults.push(fault);
        }
    }

    /// The variable is needed at `literal` and not bound: is it bound later, or never?
    fn too_early(&self, variable: Variable, literal: &Literal, rest: &[Literal]) -> Diagnostic {
        let name = self.rule.name(variable);
        if condition_binds(literal, variable) {
            return Diagnostic::new(
                Code::ConditionBinds,
                literal.span,
                format!("the condition of `->` would bind `{name}`, which is used outside it"),
            )
            .help(
                "the condition must be a test: bind the variable before it, or write two clauses",
            );
        }
        if let Some(later) = rest.iter().find(|later| may_bind(later, variable)) {
            return Diagnostic::new(
                Code::TestBeforeBinding,
                literal.span,
                format!("`{name}` is tested here before anything binds it; Prolog would answer differently, or raise an error"),
            )
            .label(later.span, format!("`{name}` is bound only here"))
            .help("move the test behind the literal that binds its variables");
        }
        self.unbound(variable, literal.span)
    }

    fn unbound(&self, variable: Variable, span: Span) -> Diagnostic {
        let name = self.rule.name(variable);
        Diagnostic::new(
            Code::UnboundInTest,
            span,
            format!("nothing binds `{name}`, which is needed here"),
        )
        .help(format!(
            "add a literal before this one that says which `{name}` are meant"
        ))
    }

    fn negation(
        &mut self,
        literal: &Literal,
        bodies: &[Vec<Literal>],
        origin: NotOrigin,
        known: &Known,
        assumed: &Set,
        rest: &[Literal],
    ) {
        let mut inside = vec![0; self.counts.len()];
        literal.each_variable(&mut |variable| count(&mut inside, variable));
        let mut direct = vec![0; self.counts.len()];
        for inner in bodies.iter().flatten() {
            if !matches!(inner.kind, LiteralKind::Not(..)) {
                inner.each_variable(&mut |variable| count(&mut direct, variable));
            }
        }
        let mut inner_bound = known.bound.clone();
        for index in 0..inside.len() {
            let at = |counts: &[usize]| counts.get(index).copied().unwrap_or(0);
            let variable = Variable(u32::try_from(index).unwrap_or(u32::MAX));
            if at(&inside) == 0 || has(&known.bound, variable) {
                continue;
            }
            let local = at(&inside) == at(&self.counts);
            if local {
                if at(&inside) == 1
                    && at(&direct) == 1
                    && origin != NotOrigin::Condition
                    && !self.rule.is_anonymous(variable)
                {
                    let name = self.rule.name(variable).to_owned();
                    self.faults.push(match origin {
                        NotOrigin::Memberchk => Diagnostic::new(
                            Code::UnboundInTest,
                            literal.span,
                            format!("`memberchk` tests `{name}`, which nothing binds"),
                        )
                        .help("use `member` to try all items, or bind the variable first"),
                        _ => Diagnostic::new(
                            Code::OnlyUnderNegation,
                            literal.span,
                            format!("variable `{name}` occurs only under `\\+`"),
                        )
                        .help(format!(
                            "write `_` if \"no such\" is meant, or bind `{name}` first"
                        )),
                    });
                }
                continue;
            }
            if !self.left_to_caller(variable, literal.span, known, assumed) {
                self.report_too_early(variable, literal, rest);
            }
            set(&mut inner_bound, variable);
        }
        let nobody = vec![false; self.counts.len()];
        for body in bodies {
            self.sequence(body, inner_bound.clone(), &nobody, false);
        }
    }

    fn head(&mut self, known: &Known) {
        let mut open: Vec<Variable> = Vec::new();
        for arg in &self.rule.args {
            arg.each_variable(&mut |variable| {
                if !has(&known.bound, variable) && !open.contains(&variable) {
                    open.push(variable);
                }
            });
        }
        // A variable that was tested too early is bound nowhere for the same reason.
        open.retain(|variable| !has(&self.reported, *variable));
        if open.is_empty() {
            return;
        }
        let span = self.rule.head_span;
        let names: Vec<String> = open
            .iter()
            .map(|variable| format!("`{}`", self.rule.name(*variable)))
            .collect();
        let are = if names.len() == 1 {
            "is a variable"
        } else {
            "are variables"
        };
        let names = names.join(" and ");
        self.faults.push(if self.rule.is_fact() {
            Diagnostic::new(
                Code::OpenFact,
                span,
                format!("{names} {are}: this fact holds for any value there"),
            )
            .help(open_fact_help(self.rule))
        } else {
            Diagnostic::new(
                Code::UnboundHead,
                span,
                format!("no literal binds {names}: this holds for any value there"),
            )
            .help("add a literal that says which values are meant, such as `user(X)`")
        });
    }
}

/// Whether the literal is of a kind that can bind the variable.
fn may_bind(literal: &Literal, variable: Variable) -> bool {
    let mut found = false;
    if let LiteralKind::Call(..)
    | LiteralKind::Unify(..)
    | LiteralKind::Is(..)
    | LiteralKind::Member(..) = &literal.kind
    {
        literal.each_variable(&mut |other| found |= other == variable);
    }
    found
}

/// Whether the literal is the condition of `->`, as it holds or as it fails, and would bind the variable.
fn condition_binds(literal: &Literal, variable: Variable) -> bool {
    let LiteralKind::Not(bodies, NotOrigin::Condition) = &literal.kind else {
        return false;
    };
    bodies
        .iter()
        .flatten()
        .any(|inner| may_bind(inner, variable) || condition_binds(inner, variable))
}

/// Advice for a fact with variables: what was probably meant.
fn open_fact_help(rule: &Rule) -> String {
    for arg in &rule.args {
        if let Pattern::Compound(name, parts) = arg
            && &**name == ":"
            && let [Pattern::Variable(left), Pattern::Variable(right)] = &**parts
        {
            let (left, right) = (rule.name(*left), rule.name(*right));
            return format!(
                "as a grant this is one to everybody, to every X:Y; did you mean '{left}:{right}'?"
            );
        }
        if let Pattern::Variable(variable) = arg {
            let name = rule.name(*variable);
            if !name.starts_with('_') {
                return format!(
                    "as a grant this is one to everybody; did you mean the atom '{name}'? A capitalised name is a variable"
                );
            }
            return "as a grant this is one to everybody; name each one that is meant, one fact each"
                .to_owned();
        }
    }
    "name the values that are meant, one fact each".to_owned()
}
