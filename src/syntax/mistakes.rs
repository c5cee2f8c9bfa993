//! Mistakes that have a name: operators of other languages, operators that run together.
//!
//! Nothing here is about brackets or missing dots.

use super::context::{Context, starts_operand};
use super::lexer::{Problem, Token};
use super::numeral::shown;
use super::operators;
use crate::diagnostic::Code;

/// What other languages write.
pub(super) fn borrowed(context: &Context<'_, '_>) -> Option<Problem> {
    let this = context.token(0)?;
    let goal = context.written(0);
    match (context.token(1), this) {
        (Some(Token::Cut), _) if starts_operand(this) && context.joined(context.at) => Some(
            context
                .unexpected()
                .help(format!("`!` is the cut; write `\\+ {goal}…` for \"not\"")),
        ),
        (_, Token::Cut) if context.joined(context.at + 1) => match context.next() {
            Some(Token::Symbol("=")) => Some(unknown(context, "!=", "write `\\=`")),
            Some(Token::Symbol("==")) => Some(unknown(context, "!==", "write `\\==`")),
            _ => None,
        },
        (Some(Token::Name("not")), _) if starts_operand(this) => Some(
            context
                .unexpected()
                .help(format!("write `\\+ {goal}…` or `not({goal}…)`")),
        ),
        (Some(Token::Name("if")), _) if starts_operand(this) => Some(
            context
                .unexpected()
                .help("write `( condition -> then ; else )`"),
        ),
        (_, Token::Bar) if context.next() == Some(&Token::Bar) => {
            Some(unknown(context, "||", "write `;` for \"or\""))
        }
        (_, Token::Bar) => Some(
            context
                .unexpected()
                .help("`|` stands before the tail of a list only; write `;` for \"or\""),
        ),
        _ => None,
    }
}

/// A name or a run of symbol characters used as an operator that it is not.
pub(super) fn unknown_operator(context: &Context<'_, '_>) -> Option<Problem> {
    match (context.token(1), context.token(0)?) {
        (_, Token::Symbol(".")) => Some(
            context
                .problem(Code::UnexpectedToken, "a dot that ends nothing")
                .help("put a blank or a new line behind the dot that ends a clause"),
        ),
        (_, Token::Symbol(run)) if !operators::is_operator(run) => {
            Some(with_advice(context, run, 0))
        }
        // A run before an operand was taken for an atom.
        (Some(Token::Symbol(run)), _) if !operators::is_operator(run) => {
            Some(with_advice(context, run, 1))
        }
        (_, Token::Name(name)) if !operators::is_operator(name) => {
            instead_of(name).map(|help| unknown(context, name, help))
        }
        _ => None,
    }
}

fn with_advice(context: &Context<'_, '_>, run: &str, back: usize) -> Problem {
    let behind = context.at + 1 - back;
    let number = context.joined(behind)
        && context
            .get(behind)
            .is_some_and(|next| matches!(next.token, Token::Number(_)));
    let advice = match run {
        "<-" if number => "write `< -` with a blank".to_owned(),
        "<-" if context.behind_neck() => "write `=<` or `<` to compare".to_owned(),
        _ => match instead_of(run).or_else(|| swallowed_dot(run)) {
            Some(advice) => advice.to_owned(),
            None => split(run)
                .unwrap_or_else(|| "put it in quotes if it is meant as an atom".to_owned()),
        },
    };
    let mut problem = unknown(context, run, &advice);
    if let Some(spanned) = context.before(back) {
        problem.0.span = context.span_of(spanned);
    }
    problem
}

fn unknown(context: &Context<'_, '_>, name: &str, advice: &str) -> Problem {
    context
        .problem(
            Code::UnknownOperator,
            format!("`{}` is no operator of Prolog", shown(name)),
        )
        .help(advice)
}

/// What to do about an end dot that a longer run has swallowed.
pub(super) fn swallowed_dot(run: &str) -> Option<&'static str> {
    if run.starts_with('.') {
        Some("put a blank or a new line behind the dot")
    } else if run.ends_with('.') && !operators::is_operator(run) {
        Some("put a blank before the dot")
    } else {
        None
    }
}

/// Where a blank makes two operators of a run.
fn split(run: &str) -> Option<String> {
    run.char_indices().skip(1).find_map(|(at, _)| {
        let (left, right) = run.split_at_checked(at)?;
        let fits = operators::is_operator(left) && operators::prefix(right).is_some();
        fits.then(|| format!("put a blank between them: `{left} {right}`"))
    })
}

/// What Prolog writes for an operator of another language.
fn instead_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "<-" | "<--" | "<==" | ":=:" | "::=" | "::-" | ":--" | "if" => "write `:-` for a rule",
        "<=" => "write `=<`",
        "=>=" | "=>>" => "write `>=`",
        "<>" | "=/=" | "/=" | "~=" => "write `\\=`, or `=\\=` to compare numbers",
        "===" => "write `==`",
        "=:" => "write `=:=`",
        "&&" | "&" | "and" => "write `,` for \"and\"",
        "or" => "write `;` for \"or\"",
        "not" | "~" | "¬" => "write `\\+` for \"not\"",
        "then" | "else" => "write `( condition -> then ; else )`",
        "in" => "write `member(X, [a, b])`",
        _ => return None,
    })
}
