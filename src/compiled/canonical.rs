//! Rules in a form that does not depend on how their constants happen to be numbered: what was compiled is compared
//! with what is loaded.
//!
//! Nothing here is read back.

use crate::analysis::Data;
use crate::analysis::rule::{Expression, Literal, LiteralKind, Pattern, PredicateId, Rule};
use crate::value::Value;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fmt::Write;

/// Changes when generated code means something else than before.
const FORMAT: &str = "horngate compiled rules 1";

/// The rules of one predicate: the same rules give the same digest, and the same constants in the same order.
pub(crate) struct Canonical {
    /// Empty if there are no rules.
    pub(crate) digest: String,
    /// The constants in order of appearance, each once.
    pub(crate) constants: Vec<Value>,
}

struct Walk<'d> {
    data: &'d Data,
    text: String,
    constants: Vec<Value>,
    seen: HashSet<Value>,
}

impl Canonical {
    pub(crate) fn of(data: &Data, id: PredicateId) -> Self {
        let mut walk = Walk {
            data,
            text: String::new(),
            constants: Vec::new(),
            seen: HashSet::new(),
        };
        let rules = data.rules_of.get(id.index()).into_iter().flatten();
        for rule in rules.filter_map(|at| data.rules.get(*at)) {
            walk.rule(rule);
        }
        let mut digest = String::new();
        if !walk.text.is_empty() {
            let mut hash = Sha256::new();
            hash.update(FORMAT);
            hash.update(&walk.text);
            for byte in hash.finalize() {
                let _ = write!(digest, "{byte:02x}");
            }
        }
        Self {
            digest,
            constants: walk.constants,
        }
    }
}

impl Walk<'_> {
    fn word(&mut self, word: impl std::fmt::Display) {
        let _ = write!(self.text, "{word} ");
    }

    /// A text that may hold anything.
    fn quoted(&mut self, text: &str) {
        let _ = write!(self.text, "{text:?} ");
    }

    fn rule(&mut self, rule: &Rule) {
        self.word("rule");
        self.name(rule.head);
        rule.args.iter().for_each(|arg| self.pattern(arg));
        self.body(&rule.body);
    }

    fn body(&mut self, body: &[Literal]) {
        self.word("body");
        body.iter().for_each(|literal| self.literal(&literal.kind));
        self.word("end");
    }

    fn name(&mut self, id: PredicateId) {
        let key = self.data.predicates.key(id);
        self.quoted(key.name());
        self.word(key.arity());
    }

    fn literal(&mut self, kind: &LiteralKind) {
        match kind {
            LiteralKind::Call(callee, args) => {
                self.word("call");
                self.name(*callee);
                args.iter().for_each(|arg| self.pattern(arg));
            }
            LiteralKind::Not(bodies, _) => {
                self.word("not");
                bodies.iter().for_each(|body| self.body(body));
                self.word("end");
            }
            LiteralKind::Unify(variable, pattern) => {
                self.word("unify");
                self.word(variable.0);
                self.pattern(pattern);
            }
            LiteralKind::Identical(equal, left, right) => {
                self.word(if *equal { "same" } else { "different" });
                self.pattern(left);
                self.pattern(right);
            }
            LiteralKind::Order(outcomes, left, right) => {
                self.word(format_args!("order {outcomes:?}"));
                self.pattern(left);
                self.pattern(right);
            }
            LiteralKind::Compare(outcomes, left, right) => {
                self.word(format_args!("compare {outcomes:?}"));
                self.expression(left);
                self.expression(right);
            }
            LiteralKind::Is(left, right) => {
                self.word("is");
                self.pattern(left);
                self.expression(right);
            }
            LiteralKind::Member(item, list, listness) => {
                self.word(format_args!("member {listness:?}"));
                self.pattern(item);
                self.pattern(list);
            }
            LiteralKind::Fail => self.word("fail"),
        }
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Constant(value) => self.constant(*value),
            Pattern::Variable(variable) => self.word(format_args!("_{}", variable.0)),
            Pattern::Compound(name, args) => {
                self.word("term");
                self.quoted(name);
                self.word(args.len());
                args.iter().for_each(|arg| self.pattern(arg));
            }
        }
    }

    fn constant(&mut self, value: Value) {
        if self.seen.insert(value) {
            self.constants.push(value);
        }
        let text = self.data.constants.text(value);
        self.quoted(&text);
    }

    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::Constant(value) => self.constant(*value),
            Expression::Variable(variable) => self.word(format_args!("_{}", variable.0)),
            Expression::Unary(operator, inner) => {
                self.word(format_args!("{operator:?}"));
                self.expression(inner);
            }
            Expression::Binary(operator, sides) => {
                self.word(format_args!("{operator:?}"));
                self.expression(&sides.0);
                self.expression(&sides.1);
            }
        }
    }
}
