//! The text of the module: the rules' own text, the `crepe!` program, and what goes in and out of it.
//!
//! Nothing here is sorted by chance: the same rules give the same text.

use super::names;
use super::rule::{MAX_ARITY, Refusal, RuleWriter, refusal};
use super::split;
use super::step::{self, Step};
use crate::analysis::Data;
use crate::analysis::rule::{PredicateId, Rule};
use crate::compiled::Canonical;
use crate::diagnostic::Diagnostic;
use crate::key::PredicateKey;
use crate::source::Span;
use crate::syntax::{self, ClauseKind, Term};
use crate::value::{Constants, Value};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// How much of a clause is shown beside what it was compiled to.
const MAX_COMMENT: usize = 160;
/// How often one clause is split.
const MAX_SPLITS: usize = 50;

/// One rule of the `crepe!` program.
pub(super) struct Written {
    pub(super) head: String,
    pub(super) steps: Vec<Step>,
    /// Whether it needs the terms of the run.
    pub(super) terms: bool,
    /// The clause that it was compiled from.
    pub(super) span: Span,
}

/// The `crepe!` program as far as it is written.
pub(super) struct Program<'d> {
    data: &'d Data,
    /// The predicates of the module, sorted by name and arity, and where each of them stands there.
    order: Vec<PredicateId>,
    positions: HashMap<PredicateId, usize>,
    constants: HashMap<Value, String>,
    pub(super) rules: Vec<Written>,
    /// The relations of conjunctions, and how many arguments they have.
    pub(super) auxiliaries: Vec<(String, usize)>,
    /// The predicates that rules call.
    called: BTreeSet<usize>,
}

impl<'d> Program<'d> {
    fn key(&self, id: PredicateId) -> PredicateKey {
        self.data.predicates.key(id)
    }

    fn position(&self, id: PredicateId) -> usize {
        self.positions.get(&id).copied().unwrap_or(usize::MAX)
    }

    fn is_derived(&self, id: PredicateId) -> bool {
        self.data
            .rules_of
            .get(id.index())
            .is_some_and(|rules| !rules.is_empty())
    }

    /// Whether the two depend on each other.
    pub(super) fn is_recursive(&self, head: PredicateId, callee: PredicateId) -> bool {
        self.data.graph.component_of(head) == self.data.graph.component_of(callee)
    }

    /// A fact over the relation of a predicate.
    pub(super) fn relation(&mut self, id: PredicateId, fields: &[String]) -> String {
        let position = self.position(id);
        self.called.insert(position);
        let name = names::relation('P', position, self.key(id).name());
        format!("{name}({})", fields.join(", "))
    }

    pub(super) fn constant(&self, value: Value) -> String {
        self.constants
            .get(&value)
            .cloned()
            .unwrap_or_else(|| "Symbol::NONE".to_owned())
    }
}

/// Writes the module of the predicates that are included.
pub(super) fn write(data: &Data, included: &[bool]) -> Result<String, Vec<Diagnostic>> {
    let mut order: Vec<PredicateId> = data
        .predicates
        .iter()
        .map(|(id, _)| id)
        .filter(|id| included.get(id.index()).copied().unwrap_or(false))
        .collect();
    order.sort_by_key(|id| data.predicates.key(*id));
    let rules: Vec<Canonical> = order.iter().map(|id| Canonical::of(data, *id)).collect();
    let mut constants: Vec<Value> = Vec::new();
    let mut numbers: HashMap<Value, usize> = HashMap::new();
    for value in rules.iter().flat_map(|rules| &rules.constants) {
        numbers.entry(*value).or_insert_with(|| {
            constants.push(*value);
            constants.len() - 1
        });
    }
    let texts: Vec<String> = constants
        .iter()
        .map(|value| data.constants.text(*value))
        .collect();
    let names: Vec<String> = texts
        .iter()
        .enumerate()
        .map(|(number, text)| names::constant(text, number))
        .collect();
    let mut program = Program {
        data,
        positions: order.iter().enumerate().map(|(at, id)| (*id, at)).collect(),
        order,
        constants: constants.into_iter().zip(names.iter().cloned()).collect(),
        rules: Vec::new(),
        auxiliaries: Vec::new(),
        called: BTreeSet::new(),
    };
    program.compile()?;
    let mut text = String::new();
    head(&mut text, data);
    rules_text(&mut text, &program);
    public_names(&mut text, &program);
    functions(&mut text, &program);
    interface(&mut text, &program, &rules, &numbers, &texts);
    if program.order.iter().any(|id| program.is_derived(*id)) {
        program_text(&mut text, &program, &names, &texts);
    }
    Ok(text)
}

impl Program<'_> {
    /// Compiles every rule, and gives all that stands in the way.
    fn compile(&mut self) -> Result<(), Vec<Diagnostic>> {
        let data = self.data;
        let mut found: Vec<Diagnostic> = Vec::new();
        for (position, id) in self.order.clone().into_iter().enumerate() {
            let rules = data.rules_of.get(id.index()).into_iter().flatten();
            for (number, rule) in rules.filter_map(|at| data.rules.get(*at)).enumerate() {
                if let Err(refused) = self.rule(rule, (position, number), &mut 0) {
                    let refused = refused.of(data.predicates.key(id));
                    if !found.contains(&refused) {
                        found.push(refused);
                    }
                }
            }
        }
        for position in &self.called {
            let Some(id) = self.order.get(*position) else {
                continue;
            };
            if self.key(*id).arity() > MAX_ARITY {
                found.push(*self.too_wide(*id));
            }
        }
        found.sort_by_key(|refused| refused.span);
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    /// Compiles a rule, or its alternatives if it cannot be compiled as it stands.
    fn rule(
        &mut self,
        rule: &Rule,
        site: (usize, usize),
        splits: &mut usize,
    ) -> Result<(), Refusal> {
        let before = (self.rules.len(), self.auxiliaries.len());
        let refused = match RuleWriter::new(self, rule, site).write() {
            Ok(()) => return Ok(()),
            Err(refused) => refused,
        };
        self.rules.truncate(before.0);
        self.auxiliaries.truncate(before.1);
        *splits += 1;
        match split::alternatives(rule, refused.span) {
            Some(rules) if *splits <= MAX_SPLITS => rules
                .iter()
                .try_for_each(|rule| self.rule(rule, site, splits)),
            _ => Err(refused),
        }
    }

    fn too_wide(&self, id: PredicateId) -> Refusal {
        let known = self.data.predicates.get(id);
        let place = known.and_then(|known| known.place()).unwrap_or_default();
        let key = self.key(id);
        refusal(
            place,
            format!("`{key}` has more than {MAX_ARITY} arguments"),
        )
        .help("split it into predicates with fewer")
        .of(key)
        .into()
    }
}

fn head(text: &mut String, data: &Data) {
    let files: Vec<String> = data
        .sources
        .iter()
        .map(|(_, source)| plain(source.name(), usize::MAX))
        .collect();
    let _ = writeln!(
        text,
        "// Made by horngate {} from {}: the rules, and none of the facts. Do not edit it, compile the rules again.\n",
        env!("CARGO_PKG_VERSION"),
        files.join(", ")
    );
}

/// The rules as written, for loading facts with them: all but facts and test blocks.
fn rules_text(text: &mut String, program: &Program<'_>) {
    text.push_str("/// The text of each rule file without its facts.\n#[allow(unreachable_pub)]\n");
    text.push_str("pub const RULES: &[(&str, &str)] = &[\n");
    for (id, source) in program.data.sources.iter() {
        let mut in_tests = false;
        let mut clauses = Vec::new();
        let mut constants = Constants::default();
        for clause in syntax::parse(id, source).clauses {
            match &clause.kind {
                ClauseKind::Directive(goal) => match goal.functor() {
                    Some(("begin_tests", _)) => in_tests = true,
                    Some(("end_tests", _)) => {
                        in_tests = false;
                        continue;
                    }
                    _ => {}
                },
                ClauseKind::Fact(head) if is_ground(head, &mut constants) => continue,
                _ => {}
            }
            if !in_tests {
                clauses.push(program.data.sources.text(clause.span));
            }
        }
        if clauses.is_empty() {
            continue;
        }
        let _ = writeln!(text, "    ({:?}, concat!(", source.name());
        for clause in clauses {
            let _ = writeln!(text, "        {:?},", format!("{clause}\n"));
        }
        text.push_str("    )),\n");
    }
    text.push_str("];\n\n");
}

fn is_ground(head: &Term, constants: &mut Constants) -> bool {
    let mut ground = true;
    for arg in head.args() {
        ground &= matches!(constants.intern(arg), Ok(Some(_)));
    }
    ground
}

fn public_names(text: &mut String, program: &Program<'_>) {
    let keys: Vec<PredicateKey> = program.order.iter().map(|id| program.key(*id)).collect();
    for ((id, key), name) in program
        .order
        .iter()
        .zip(&keys)
        .zip(names::public(keys.iter()))
    {
        let private = program.data.predicates.get(*id);
        if private.is_some_and(|known| known.private) {
            continue;
        }
        let shown = key.to_string();
        let doc = match shown.contains(['`', '\n', '\r']) {
            true => "the predicate that is named here".to_owned(),
            false => format!("`{shown}`"),
        };
        let _ = writeln!(
            text,
            "/// {doc}\n#[allow(dead_code, unreachable_pub)]\npub const {name}: ::horngate::compiled::Predicate<{}> = ::horngate::compiled::Predicate::new({:?});",
            key.arity(),
            key.name()
        );
    }
    text.push('\n');
}

fn functions(text: &mut String, program: &Program<'_>) {
    text.push_str(
        "/// Loads facts together with the rules of this module.\n\
        ///\n\
        /// # Errors\n\
        /// When a text does not parse or would change how the set reads. Faults of single predicates are found in the rulebase.\n\
        #[allow(dead_code, unreachable_pub)]\n\
        pub fn load(\n    facts: impl ::core::iter::IntoIterator<Item = ::horngate::Source>,\n\
        ) -> ::core::result::Result<::horngate::Rulebase, ::horngate::Refused> {\n    \
        let rules = RULES.iter().map(|(name, text)| ::horngate::Source::new(*name, *text));\n    \
        ::horngate::Rulebase::load(rules.chain(facts))\n}\n\n\
        /// Derives all that follows from the facts of a rulebase, which must have the rules of this module.\n\
        ///\n\
        /// # Errors\n\
        /// When it has other rules.\n\
        #[allow(unreachable_pub)]\n\
        pub fn evaluate(\n    rulebase: &::horngate::Rulebase,\n\
        ) -> ::core::result::Result<::horngate::compiled::Derived, ::horngate::compiled::Mismatch> {\n    \
        let run = ::horngate::compiled::Run::new(rulebase, &INTERFACE)?;\n",
    );
    let all = || program.order.iter().copied().enumerate();
    let derived: Vec<(usize, PredicateId)> =
        all().filter(|(_, id)| program.is_derived(*id)).collect();
    if !derived.is_empty() {
        text.push_str("    let mut program = program::Crepe::new();\n");
        if program.rules.iter().any(|rule| rule.terms) {
            text.push_str("    program.extend([program::Given(run.terms())]);\n");
        }
        for (position, id) in all() {
            let prefix = match (program.is_derived(id), program.called.contains(&position)) {
                (true, _) => 'F',
                (false, true) => 'P',
                (false, false) => continue,
            };
            let key = program.key(id);
            let name = names::relation(prefix, position, key.name());
            let fields = fields(key.arity());
            let _ = writeln!(
                text,
                "    program.extend(run.facts::<{}>({position}).map(|[{fields}]| program::{name}({fields})));",
                key.arity()
            );
        }
        let outputs: Vec<String> = derived
            .iter()
            .map(|(position, _)| format!("p{position},"))
            .collect();
        let _ = writeln!(
            text,
            "    let ({}) = program.run_with_hasher::<::horngate::compiled::Hashing>();",
            outputs.join(" ")
        );
    }
    text.push_str("    let mut derived = run.finish();\n");
    for (position, id) in all() {
        let key = program.key(id);
        let arity = key.arity();
        if program.is_derived(id) {
            let name = names::relation('P', position, key.name());
            let fields = fields(arity);
            let _ = writeln!(
                text,
                "    derived.take::<{arity}>({position}, p{position}.into_iter().map(|program::{name}({fields})| [{fields}]));"
            );
        } else {
            let _ = writeln!(text, "    derived.take_facts::<{arity}>({position});");
        }
    }
    text.push_str("    ::core::result::Result::Ok(derived)\n}\n\n");
}

fn fields(arity: usize) -> String {
    let names: Vec<String> = (0..arity).map(|column| format!("a{column}")).collect();
    names.join(", ")
}

fn interface(
    text: &mut String,
    program: &Program<'_>,
    rules: &[Canonical],
    numbers: &HashMap<Value, usize>,
    texts: &[String],
) {
    text.push_str(
        "const INTERFACE: ::horngate::compiled::Interface = ::horngate::compiled::Interface {\n    \
        predicates: &[\n",
    );
    for (id, rules) in program.order.iter().zip(rules) {
        let key = program.key(*id);
        let constants: Vec<String> = rules
            .constants
            .iter()
            .filter_map(|value| Some(numbers.get(value)?.to_string()))
            .collect();
        let _ = writeln!(
            text,
            "        ::horngate::compiled::Entry {{ name: {:?}, arity: {}, rules: {:?}, constants: &[{}] }},",
            key.name(),
            key.arity(),
            rules.digest,
            constants.join(", ")
        );
    }
    text.push_str("    ],\n    constants: &[\n");
    for constant in texts {
        let _ = writeln!(text, "        {constant:?},");
    }
    text.push_str("    ],\n};\n");
}

fn program_text(text: &mut String, program: &Program<'_>, names: &[String], texts: &[String]) {
    text.push_str(
        "\n#[allow(\n    clippy::all,\n    clippy::pedantic,\n    clippy::iter_over_hash_type,\n    dead_code,\n    \
        unreachable_code,\n    unreachable_pub,\n    unused_variables,\n)]\n\
        mod program {\n    use ::horngate::compiled::Symbol;\n\n",
    );
    for (number, (name, constant)) in names.iter().zip(texts).enumerate() {
        let _ = writeln!(
            text,
            "    const {name}: Symbol = Symbol::new({number}); // {}",
            plain(constant, MAX_COMMENT)
        );
    }
    text.push_str("\n    ::horngate::compiled::crepe! {\n");
    if program.rules.iter().any(|rule| rule.terms) {
        text.push_str(
            "        @input\n        pub(super) struct Given<'a>(pub(super) ::horngate::compiled::Terms<'a>);\n",
        );
    }
    let public = |arity| vec!["pub(super) Symbol"; arity].join(", ");
    for (position, id) in program.order.iter().enumerate() {
        let key = program.key(*id);
        let (kind, prefix) = match (program.is_derived(*id), program.called.contains(&position)) {
            (true, _) => ("@output", 'P'),
            (false, true) => ("@input", 'P'),
            (false, false) => continue,
        };
        let shown = plain(&key.to_string(), MAX_COMMENT);
        let fields = public(key.arity());
        let name = names::relation(prefix, position, key.name());
        let _ = writeln!(
            text,
            "\n        // {shown}\n        {kind}\n        pub(super) struct {name}({fields});"
        );
        if kind == "@output" {
            let name = names::relation('F', position, key.name());
            let _ = writeln!(
                text,
                "        @input\n        pub(super) struct {name}({fields});"
            );
        }
    }
    for (name, arity) in &program.auxiliaries {
        let _ = writeln!(
            text,
            "\n        struct {name}({});",
            vec!["Symbol"; *arity].join(", ")
        );
    }
    text.push('\n');
    for (position, id) in program.order.iter().enumerate() {
        if program.is_derived(*id) {
            let key = program.key(*id);
            let fields = fields(key.arity());
            let fact = names::relation('F', position, key.name());
            let name = names::relation('P', position, key.name());
            let _ = writeln!(text, "        {name}({fields}) <- {fact}({fields});");
        }
    }
    let mut shown = None;
    for rule in &program.rules {
        let span = rule.span;
        if shown != Some(span) {
            shown = Some(span);
            let _ = writeln!(
                text,
                "\n        // {}:{}: {}",
                plain(program.data.sources.name(span), MAX_COMMENT),
                program.data.sources.start(span).line,
                plain(program.data.sources.text(span), MAX_COMMENT)
            );
        }
        let given = if rule.terms { "Given(terms), " } else { "" };
        let _ = writeln!(
            text,
            "        {} <- {given}{};",
            rule.head,
            step::clauses(&rule.steps)
        );
    }
    text.push_str("    }\n}\n");
}

/// A text as a comment of one line.
fn plain(text: &str, limit: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    let mut shown: String = line
        .chars()
        .map(|c| match c {
            ' ' => c,
            _ if c.is_ascii_graphic() || c.is_alphanumeric() => c,
            _ => '?',
        })
        .take(limit)
        .collect();
    if line.chars().count() > limit {
        shown.push_str(" ...");
    }
    shown
}
