//! The command line.
//!
//! Nothing here reads files. Bad usage ends with 2, and so does help that was asked for amid other arguments: an
//! actor named `--help` must not be allowed.

mod author;

pub(crate) use author::{Completions, Edit, Grant, Man, Repl, Revoke};
use clap::{Args, Parser, Subcommand, ValueEnum};
use horngate::{BadPredicateKey, Budget, DEFAULT_ALLOWLIST, DEFAULT_TOOL_PREFIX, PredicateKey};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

mod gate;
#[cfg(unix)]
mod mcp;

pub(crate) use gate::{
    Action, Answer, Approvals, Approve, Audit, AuditAction, Hook, Keygen, List, One, StoreFile,
    Verify,
};
#[cfg(unix)]
pub(crate) use mcp::{Mcp, Pass};

/// May this actor run this tool? Prolog rule files, evaluated as Datalog, that deny everything not derived.
#[derive(Debug, Parser)]
#[command(name = "horngate", version, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 yes, allowed, clean; 1 no, denied, findings; 2 no answer, for whatever reason.\n\
    Whoever treats everything but 0 as \"deny\" is safe."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(Check),
    Query(Query),
    Decide(Decide),
    Explain(Explain),
    Grants(Grants),
    Pin(Pin),
    Diff(Diff),
    Fmt(Fmt),
    Test(Test),
    Grant(Grant),
    Revoke(Revoke),
    Compile(Compile),
    Approvals(Approvals),
    Audit(Audit),
    Hook(Hook),
    Repl(Repl),
    Completions(Completions),
    Man(Man),
    #[cfg(unix)]
    Mcp(Box<Mcp>),
}

/// Say all that is wrong or doubtful in rule files
///
/// Without an allowlist every fault is an error. With one, what lies outside the slice of the allowlist (all that
/// it depends on) becomes a note, and a summary says what the allowlist rests on.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    horngate check rules\n  \
    horngate check rules/governance.pl --allowlist may_execute_tool/2 --deny-warnings\n  \
    horngate check rules --format sarif >horngate.sarif\n\n\
    Exit codes: 0 clean, 1 errors (with --deny-warnings also warnings), 2 a file cannot be read or a budget ran out.")]
pub(crate) struct Check {
    /// Rule files, or folders with `*.pl` files
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The predicate that grants: what it does not depend on becomes a note
    #[arg(long, value_name = "NAME/2")]
    pub(crate) allowlist: Option<Predicate>,
    /// Warnings are findings, too
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    /// What standard output is for
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub(crate) format: CheckFormat,
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// All solutions of a goal
///
/// The goal is written as in a rule body. Variables that start with `_` are not shown.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    horngate query --rules rules 'may_execute_tool(Who, tool_repl)'\n  \
    horngate query --rules rules --count 'may_execute_tool(_, T)'\n  \
    horngate query --rules rules --permissive \"may_execute('NOBODY', rm_rf_slash)\"\n\n\
    Exit codes: 0 there is a solution, 1 there is none, 2 there is no answer.")]
pub(crate) struct Query {
    #[command(flatten)]
    pub(crate) rules: Rules,
    /// The goal, as in `may_execute_tool(Who, tool_repl)`
    pub(crate) goal: String,
    /// Answer ground goals also on predicates that hold for actors nobody registered; no decision
    #[arg(long)]
    pub(crate) permissive: bool,
    /// Only how many solutions there are
    #[arg(long, conflicts_with = "limit")]
    pub(crate) count: bool,
    /// At most so many solutions are shown
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// What standard output is for
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// May this actor run this tool? Or a batch of such questions
///
/// ACTOR and TOOL are plain text, not Prolog. Put `--` before names that a caller can choose: they may start with
/// a dash.
#[derive(Debug, Args)]
#[command(
    override_usage = "horngate decide --rules <PATH> [OPTIONS] [--] <ACTOR> <TOOL>\n       \
    horngate decide --rules <PATH> [OPTIONS] --batch <FILE> [--watch]"
)]
#[command(after_long_help = "Examples:\n  \
    horngate decide --rules rules U:Qa repl\n  \
    horngate decide --rules rules --format json -- \"$ACTOR\" \"$TOOL\"\n  \
    printf '{\"actor\":\"U:Qa\",\"tool\":\"repl\"}\\n' | horngate decide --rules rules --batch -\n  \
    horngate decide --rules rules --batch - --watch   # started once, asked by the line\n\n\
    Exit codes: 0 allowed, 1 denied, 2 denied for lack of an answer. Of a batch: 0 all allowed, 1 some denied,\n\
    2 a bad line or an error.")]
pub(crate) struct Decide {
    #[command(flatten)]
    pub(crate) rules: Rules,
    #[command(flatten)]
    pub(crate) authority: Authority,
    /// Who calls
    #[arg(required_unless_present = "batch")]
    pub(crate) actor: Option<String>,
    /// What is called, without the prefix
    #[arg(required_unless_present = "batch")]
    pub(crate) tool: Option<String>,
    /// JSON lines `{"actor":…,"tool":…}` in, a line out for each, in order; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["actor", "tool"])]
    pub(crate) batch: Option<PathBuf>,
    /// With --batch: look at the rules before each answer, and read them again when they have changed; while they are
    /// refused or gone everything is denied
    #[arg(long, requires = "batch", conflicts_with_all = ["actor", "tool"])]
    pub(crate) watch: bool,
    /// What standard output is for; a batch is always JSON lines
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// Why, or why not? A proof that can be checked, or what fails and what is missing
///
/// ACTOR and TOOL are plain text, as for `decide`; a goal is written as in a rule body. Of a goal with variables the
/// first solution is explained.
#[derive(Clone, Debug, Args)]
#[command(
    override_usage = "horngate explain --rules <PATH> [OPTIONS] [--] <ACTOR> <TOOL>\n       \
    horngate explain --rules <PATH> [OPTIONS] --goal <GOAL>\n       \
    horngate explain --rules <PATH> [OPTIONS] --verify <FILE>"
)]
#[command(after_long_help = "Examples:\n  \
    horngate explain --rules rules U:Qa repl\n  \
    horngate explain --rules rules --format json U:Qa repl >proof.json\n  \
    horngate explain --rules rules --verify proof.json\n  \
    horngate explain --rules rules --format dot U:Qa repl | dot -Tsvg >proof.svg\n\n\
    Exit codes: 0 allowed, or the goal holds, or the proof is valid; 1 not; 2 there is no answer.")]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) rules: Rules,
    #[command(flatten)]
    pub(crate) authority: Authority,
    /// Who calls
    #[arg(required_unless_present_any = ["goal", "verify"])]
    pub(crate) actor: Option<String>,
    /// What is called, without the prefix
    #[arg(required_unless_present_any = ["goal", "verify"])]
    pub(crate) tool: Option<String>,
    /// Explains a goal instead, as in `may_execute_tool(Who, tool_repl)`
    #[arg(long, conflicts_with_all = ["actor", "tool"])]
    pub(crate) goal: Option<String>,
    /// Checks a proof that `--format json` has printed against the rules, without the engine that found it; `-` is
    /// standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["actor", "tool", "goal"])]
    pub(crate) verify: Option<PathBuf>,
    /// What standard output is for
    #[arg(long, value_enum, default_value_t = ExplainFormat::Human)]
    pub(crate) format: ExplainFormat,
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// Who may run what
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    horngate grants --rules rules\n  \
    horngate grants --rules rules --tool run_shell --format csv\n\n\
    Exit codes: 0 there are grants, 1 there are none, 2 there is no answer.")]
pub(crate) struct Grants {
    #[command(flatten)]
    pub(crate) rules: Rules,
    #[command(flatten)]
    pub(crate) authority: Authority,
    /// Only of this actor
    #[arg(long)]
    pub(crate) actor: Option<String>,
    /// Only of this tool, named without the prefix
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// What standard output is for
    #[arg(long, value_enum, default_value_t = GrantsFormat::Human)]
    pub(crate) format: GrantsFormat,
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// Do the rules and the tools that agents are shown agree?
///
/// Compares the grants with lists of tools, in both directions. A list is JSON, YAML or TOML of the form
/// `{"tools":{"repl":{"requires_approval":true}},"agents":{"U:Qa":["repl"]}}`, a result of MCP's tools/list, or an
/// array of tools as OpenAI or Anthropic have it. The last three name no agents: --actor says who is shown them.
///
/// A tool is flagged, and needs a grant, if `requires_approval` is true; of the last three forms all are but those
/// named with --unflagged. A name that is nearly another is one finding, about the name; a name like no other is two
/// where a tool was renamed: the grant of the old one, and the new one without a grant.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    horngate pin --rules rules --tools tools.json\n  \
    horngate pin --rules rules --tools server.json --actor U:Qa --unflagged ping\n  \
    horngate pin --rules rules --tools tools.json --lock tools.lock\n\n\
    Exit codes: 0 they agree, 1 findings, 2 there is no answer.")]
pub(crate) struct Pin {
    #[command(flatten)]
    pub(crate) rules: Rules,
    /// A list of tools, or a folder with `*.json`, `*.yaml`, `*.yml` and `*.toml` files; may be repeated
    #[arg(long, value_name = "PATH", required = true)]
    pub(crate) tools: Vec<PathBuf>,
    /// Compare only what this actor is granted and shown; it is shown the lists that name no agents
    #[arg(long)]
    pub(crate) actor: Option<String>,
    /// This tool of a list that cannot say so needs no grant; may be repeated
    #[arg(long, value_name = "TOOL")]
    pub(crate) unflagged: Vec<String>,
    /// The tools' definitions must be those in this file; it is written if it is not there
    #[arg(long, value_name = "FILE")]
    pub(crate) lock: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) authority: Authority,
    /// What standard output is for
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// Which pairs of an actor and a tool a change of the rules allows or denies
///
/// Each changed pair comes with why: with the proof that allows it now, or with what its proof before has lost.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    horngate diff old.pl new.pl\n  \
    horngate diff --grants-no-more-than <(git show main:rules/governance.pl) rules/governance.pl\n\n\
    Exit codes: 0 no pair changes, 1 some do (with --grants-no-more-than: some become allowed), 2 there is no answer.")]
pub(crate) struct Diff {
    /// The rules as they were: a file, or a folder with `*.pl` files
    #[arg(value_name = "OLD")]
    pub(crate) old: PathBuf,
    /// The rules as they are now
    #[arg(value_name = "NEW")]
    pub(crate) new: PathBuf,
    /// Only pairs that become allowed are findings
    #[arg(long)]
    pub(crate) grants_no_more_than: bool,
    #[command(flatten)]
    pub(crate) authority: Authority,
    /// What standard output is for
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// Lay rule files out in the one canonical way
///
/// A head and each goal of its body stand on lines of their own, blocks of facts are aligned, comments stay where they
/// are. Lines end in LF. A file that does not parse is left alone.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    horngate fmt rules\n  \
    horngate fmt --check rules/*.pl\n  \
    horngate fmt - <draft.pl\n\n\
    Exit codes: 0 done, 1 with --check: a file would change, 2 a file cannot be read, parsed or written.")]
pub(crate) struct Fmt {
    /// Rule files, or folders with `*.pl` files; `-` alone is standard input, laid out to standard output
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Change nothing, only say which files would change
    #[arg(long)]
    pub(crate) check: bool,
}

/// Run the tests of rule files
///
/// Tests are blocks in the form of Prolog's plunit, in the rule files or in files `NAME_tests.pl` beside them. They run
/// unchanged in SWI-Prolog: `swipl -g run_tests -t halt rules.pl rules_tests.pl`. A failing test prints why. One whose
/// verdict in Prolog is not certain is refused, which is no answer.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = "A file of tests, rules_tests.pl:\n  \
    :- begin_tests(rules).\n  \
    test(qa_may, [true]) :- may_execute_tool('U:Qa', tool_repl).\n  \
    test(who_may, [all(A == ['U:Qa'])]) :- may_execute_tool(A, tool_repl).\n  \
    test(nobody_else, [fail]) :- may_execute_tool('U:PM', tool_repl).\n  \
    :- end_tests(rules).\n\n\
    Examples:\n  \
    horngate test rules\n  \
    horngate test rules/governance.pl --coverage\n\n\
    Exit codes: 0 all tests pass, 1 some fail, 2 there is no test, one is refused, or there is no answer.")]
pub(crate) struct Test {
    /// Rule files, each with the tests beside it, or folders with `*.pl` files
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Name the clauses that no test's proof used
    #[arg(long)]
    pub(crate) coverage: bool,
    /// What standard output is for
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// A Rust module of the rules; facts are loaded at run time
///
/// The rules become a `crepe!` program with the functions `load` and `evaluate`; no fact is compiled in. Predicates whose
/// slice (all that they depend on) has a fault are left out. A rule that cannot be compiled is an error.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    horngate compile rules/roles -o src/roles.rs\n  \
    horngate compile rules/roles --only may_execute_tool/2 -o src/roles.rs\n\n\
    Exit codes: 0 the module is written, 2 it is not.")]
pub(crate) struct Compile {
    /// Rule files, or folders with `*.pl` files
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The file to write, whole or not at all; without it the module goes to standard output
    #[arg(short, long, value_name = "FILE.rs")]
    pub(crate) output: Option<PathBuf>,
    /// Only this predicate and what it depends on, which must have no fault; may be repeated
    #[arg(long, value_name = "NAME/ARITY")]
    pub(crate) only: Vec<Predicate>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Rules {
    /// A rule file, or a folder with `*.pl` files; may be repeated
    #[arg(long = "rules", value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Authority {
    /// The predicate that grants
    #[arg(long, value_name = "NAME/2", default_value = DEFAULT_ALLOWLIST)]
    pub(crate) allowlist: Predicate,
    /// What the atom of a tool starts with
    #[arg(long, value_name = "PREFIX", default_value = DEFAULT_TOOL_PREFIX)]
    pub(crate) tool_prefix: String,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Limits {
    /// How many clauses the rule files may have in all
    #[arg(long, value_name = "N", default_value_t = Budget::default().clauses)]
    max_clauses: u64,
    /// How many tuples may be derived in all, facts included; wide ones count more than once
    #[arg(long, value_name = "N", default_value_t = Budget::default().tuples)]
    max_tuples: u64,
    /// How many rows the rules may look at in all
    #[arg(long, value_name = "N", default_value_t = Budget::default().firings)]
    max_firings: u64,
    /// Give up after so many seconds; without it only the budgets limit the work
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
}

impl Limits {
    pub(crate) fn budget(&self) -> Budget {
        Budget {
            clauses: self.max_clauses,
            tuples: self.max_tuples,
            firings: self.max_firings,
            ..Budget::default()
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let limit = text
        .parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    limit
        .filter(|limit| !limit.is_zero())
        .ok_or_else(|| "a number of seconds above 0 is wanted, as in `2.5`".to_owned())
}

/// A predicate as written on the command line.
#[derive(Clone, Debug)]
pub(crate) struct Predicate {
    pub(crate) text: String,
    pub(crate) key: PredicateKey,
}

impl FromStr for Predicate {
    type Err = BadPredicateKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self {
            key: text.parse()?,
            text: text.to_owned(),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for people
    Human,
    /// One JSON document
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// Text for people
    Human,
    /// One JSON document
    Json,
    /// One SARIF 2.1.0 document, for code scanning
    Sarif,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainFormat {
    /// A tree for people
    Human,
    /// One JSON document, of which a proof can be verified
    Json,
    /// A picture, for Graphviz
    Dot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GrantsFormat {
    /// A table
    Human,
    /// One JSON document
    Json,
    /// Comma-separated values with a header line
    Csv,
}
