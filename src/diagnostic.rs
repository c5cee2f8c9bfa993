//! What horngate has to say about a rule text: plain data, rendered elsewhere.
//!
//! Nothing here prints, colours or wraps.

use crate::source::Span;
use std::fmt;

/// How much a diagnostic weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Changes nothing; worth knowing.
    Note,
    /// Very likely an accident.
    Warning,
    /// Refused.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// A place with a few words about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The words; may be empty.
    pub message: String,
}

/// One finding.
///
/// ```
/// use horngate::{Program, Source};
/// let program = Program::parse([Source::new("a.pl", "p(a,).")]);
/// let found = &program.diagnostics()[0];
/// assert_eq!(found.code.kind(), "syntax");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which finding it is.
    pub code: Code,
    /// How much it weighs here.
    pub severity: Severity,
    /// What is the matter: lower case, no final period, user text in backquotes.
    pub message: String,
    /// The place it is about.
    pub span: Span,
    /// Further places.
    pub labels: Vec<Label>,
    /// What to do, or what to type instead.
    pub help: Option<String>,
    /// The predicate whose fault it is, as `name/arity`; `None`: the whole set's.
    pub predicate: Option<String>,
}

impl Diagnostic {
    /// A finding of the code's own severity at `span`.
    #[must_use]
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            message: message.into(),
            span,
            labels: Vec::new(),
            help: None,
            predicate: None,
        }
    }

    /// The order of the texts; at one place that of codes and messages, so that it does not depend on how predicates
    /// are numbered.
    pub(crate) fn by_place(&self, other: &Self) -> std::cmp::Ordering {
        let key = |found: &Self| (found.span, found.code);
        key(self)
            .cmp(&key(other))
            .then_with(|| self.message.cmp(&other.message))
    }

    /// With advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// With one more place.
    #[must_use]
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label {
            span,
            message: message.into(),
        });
        self
    }

    /// As a fault of one predicate.
    #[must_use]
    pub fn of(mut self, predicate: impl fmt::Display) -> Self {
        self.predicate = Some(predicate.to_string());
        self
    }
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $name:ident = $code:literal, $kind:literal, $severity:ident;)*) => {
        /// The stable name of a finding; docs/diagnostics.md has a section for each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code { $($(#[doc = $doc])* $name,)* }

        impl Code {
            /// Every code, in order.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The stable name, as `HG0101`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// `lex`, `syntax`, `unsafe`, `unstratified`, `unsupported`, `arity`, `undefined`, `evaluation`
            /// or `budget` for errors, the lint's name otherwise.
            #[must_use]
            pub fn kind(self) -> &'static str {
                match self { $(Self::$name => $kind,)* }
            }

            /// The severity unless a context changes it.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    /// A quoted atom or string that never ends.
    UnterminatedQuote = "HG0101", "lex", Error;
    /// A block comment that never ends.
    UnterminatedComment = "HG0102", "lex", Error;
    /// `/*` inside a block comment.
    NestedComment = "HG0103", "lex", Error;
    /// An escape sequence that Prolog does not have, or not closed.
    BadEscape = "HG0104", "lex", Error;
    /// A number that is not one.
    BadNumber = "HG0105", "lex", Error;
    /// A character that cannot stand there.
    BadCharacter = "HG0106", "lex", Error;
    /// A bidirectional control character.
    BidirectionalControl = "HG0107", "lex", Error;
    /// A text that is not UTF-8.
    NotUtf8 = "HG0108", "lex", Error;
    /// A text, number or quoted item over its limit.
    TooLong = "HG0109", "lex", Error;
    /// A token that does not fit where it stands.
    UnexpectedToken = "HG0201", "syntax", Error;
    /// A last clause without its end dot.
    MissingEnd = "HG0202", "syntax", Error;
    /// Brackets or operators nested too deeply.
    NestedTooDeep = "HG0203", "syntax", Error;
    /// A blank between a name and its bracket.
    BlankBeforeBracket = "HG0204", "syntax", Error;
    /// A capitalised name where a predicate is meant.
    CapitalisedName = "HG0205", "syntax", Error;
    /// A run of symbol characters that is no operator.
    UnknownOperator = "HG0206", "syntax", Error;
    /// A variable, number, string or list where a clause's head is meant.
    NotAClause = "HG0207", "syntax", Error;
    /// `p()`.
    EmptyArguments = "HG0208", "syntax", Error;
    /// A number or string where a goal is meant.
    NotAGoal = "HG0209", "syntax", Error;
    /// A directive that would run code, or an unknown one.
    Directive = "HG0301", "unsupported", Error;
    /// An operator or flag that changes how the rest reads.
    ChangesSyntax = "HG0302", "unsupported", Error;
    /// A directive that loads files.
    LoadsFiles = "HG0303", "unsupported", Error;
    /// `?- goal.`
    QueryInFile = "HG0304", "unsupported", Error;
    /// A clause for a hook that rewrites the program.
    Hook = "HG0305", "unsupported", Error;
    /// A clause `end_of_file.`
    EndOfFile = "HG0306", "unsupported", Error;
    /// `table` with modes.
    TableMode = "HG0307", "unsupported", Error;
    /// A `use_module` that is not on the list.
    UseModule = "HG0308", "unsupported", Error;
    /// A clause for a control construct or a built-in predicate.
    RedefinesBuiltin = "HG0309", "unsupported", Error;
    /// `begin_tests` and `end_tests` that do not pair.
    TestBlock = "HG0310", "unsupported", Error;
    /// Back-quoted text.
    BackQuoted = "HG0311", "unsupported", Error;
    /// A rational number or a special float.
    SpecialNumber = "HG0312", "unsupported", Error;
    /// Dicts.
    Dict = "HG0313", "unsupported", Error;
    /// More than one module, or one that is not alone with its predicates.
    Module = "HG0314", "unsupported", Error;
    /// An encoding that is not UTF-8.
    Encoding = "HG0315", "unsupported", Error;
    /// A fact with variables.
    OpenFact = "HG0401", "unsafe", Error;
    /// A head variable that the body does not bind.
    UnboundHead = "HG0402", "unsafe", Error;
    /// A variable that occurs only under a negation.
    OnlyUnderNegation = "HG0403", "unsafe", Error;
    /// A test before the literal that binds its variable.
    TestBeforeBinding = "HG0404", "unsafe", Error;
    /// A variable of a test that nothing binds.
    UnboundInTest = "HG0405", "unsafe", Error;
    /// A call that leaves open an argument which the predicate tests first.
    CallBoundOpen = "HG0406", "unsafe", Error;
    /// A negation that depends on itself.
    NegationCycle = "HG0501", "unstratified", Error;
    /// `!`
    Cut = "HG0601", "unsupported", Error;
    /// A built-in predicate outside the profile.
    Builtin = "HG0602", "unsupported", Error;
    /// A variable as a goal.
    VariableGoal = "HG0604", "unsupported", Error;
    /// `module:goal`
    ModuleQualified = "HG0605", "unsupported", Error;
    /// A grammar rule or a single-sided rule.
    OtherRule = "HG0606", "unsupported", Error;
    /// `*->`
    SoftCut = "HG0607", "unsupported", Error;
    /// A condition that binds a variable used later.
    ConditionBinds = "HG0608", "unsupported", Error;
    /// A compound built in recursion.
    RecursiveCompound = "HG0609", "unsupported", Error;
    /// Arithmetic in recursion.
    RecursiveArithmetic = "HG0610", "unsupported", Error;
    /// An arithmetic function outside the profile.
    ArithmeticFunction = "HG0611", "unsupported", Error;
    /// Clauses in two files without `multifile`.
    SplitDefinition = "HG0612", "unsupported", Error;
    /// Alternatives that multiply beyond the limit.
    TooManyAlternatives = "HG0613", "unsupported", Error;
    /// A directive's name as a goal: a missing dot.
    DirectiveInBody = "HG0614", "unsupported", Error;
    /// A variable equated with a term that contains it.
    CyclicTerm = "HG0615", "unsupported", Error;
    /// A call with another number of arguments.
    CallArity = "HG0701", "arity", Error;
    /// A declaration without a usable arity.
    DeclarationArity = "HG0702", "arity", Error;
    /// A call to a predicate that nothing defines.
    UndefinedCall = "HG0801", "undefined", Error;
    /// An export of a predicate that nothing defines.
    UndefinedExport = "HG0802", "undefined", Error;
    /// A call to a predicate that its module does not export.
    PrivateCall = "HG0803", "undefined", Error;
    /// Arithmetic that has no value.
    Evaluation = "HG0901", "evaluation", Error;
    /// A budget that ran out.
    Budget = "HG0902", "budget", Error;
    /// An allowlist or goal whose slice has faults.
    FaultySlice = "HG0903", "unsupported", Error;
    /// A predicate that holds for actors nobody registered.
    DefaultAllow = "HG1001", "default-allow", Note;
    /// A test that stands before the literal that binds a head variable.
    NegationBeforeBinding = "HG1002", "negation-before-binding", Warning;
    /// A body literal at the start of a line: perhaps a missing dot.
    SwallowedClause = "HG1003", "swallowed-clause", Warning;
    /// A column that mixes atoms and strings.
    MixedColumn = "HG1004", "mixed-column", Warning;
    /// A name one edit away from another.
    NearName = "HG1005", "near-name", Warning;
    /// `1` beside `1.0` in one column.
    MixedNumbers = "HG1006", "mixed-numbers", Warning;
    /// A faulty clause that asserts or retracts a predicate of rules.
    MutatedElsewhere = "HG1007", "mutated-elsewhere", Warning;
    /// A directive that changes nothing here.
    NoEffect = "HG1008", "no-effect", Note;
    /// A named variable that occurs once.
    SingletonVariable = "HG1009", "singleton-variable", Warning;
    /// The same clause twice.
    DuplicateClause = "HG1010", "duplicate-clause", Warning;
    /// A predicate without clauses beside one of the same name with another number of arguments.
    OtherArity = "HG1011", "other-arity", Warning;
    /// A negation of something that can never hold.
    VacuousNegation = "HG1012", "vacuous-negation", Warning;
    /// A rule that can never fire.
    DeadRule = "HG1013", "dead-rule", Warning;
    /// A predicate that nothing uses.
    UnusedPredicate = "HG1014", "unused-predicate", Note;
    /// A clause that another one covers.
    SubsumedClause = "HG1015", "subsumed-clause", Warning;
    /// A fact that no rule can use, whose constant is named nowhere else.
    StaleConstant = "HG1016", "stale-constant", Note;
    /// An allowlist in which nothing ties the actor to the tool.
    CartesianGrant = "HG1017", "cartesian-grant", Warning;
    /// An allowlist that nothing can ever narrow.
    AlwaysTrue = "HG1018", "always-true", Warning;
    /// An allowlist that grants nothing.
    NeverTrue = "HG1019", "never-true", Warning;
    /// A grant that no call can ask for.
    UnreachableGrant = "HG1020", "unreachable-grant", Warning;
    /// A comment that is meant to silence a lint and does not.
    Silence = "HG1021", "silence", Warning;
    /// A rule that cannot be compiled to Rust.
    NotCompiled = "HG1101", "unsupported", Error;
    /// A test that is not understood, or whose verdict in Prolog is not certain.
    UnsupportedTest = "HG1201", "unsupported", Error;
}

impl Code {
    /// Whether it makes an allowlist doubtful: no gate should be built on one that earns it unless its builder names
    /// the lint and a reason.
    #[must_use]
    pub fn is_doubt(self) -> bool {
        matches!(
            self,
            Self::DefaultAllow | Self::AlwaysTrue | Self::CartesianGrant
        )
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_order() {
        let names: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert!(names.is_sorted());
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
