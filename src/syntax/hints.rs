//! What to say about a token that does not fit, and what to type instead.
//!
//! Nothing here decides whether a text is refused: that has happened already.

use super::context::{Context, Lines, starts_operand};
use super::lexer::{Problem, Spanned, Token};
use super::mistakes;
use super::operators;
use super::tokens::offset;
use crate::diagnostic::Code;
use crate::source::{SourceId, Span};

/// Why the token does not fit.
pub(super) fn unexpected(context: &Context<'_, '_>, lines: &mut Lines<'_>) -> Problem {
    opening_bracket(context)
        .or_else(|| mistakes::borrowed(context))
        .or_else(|| closing_bracket(context))
        .or_else(|| missing_dot(context, lines))
        .or_else(|| missing_operand(context))
        .or_else(|| mistakes::unknown_operator(context))
        .or_else(|| misplaced_operator(context, lines))
        .unwrap_or_else(|| missing_operator(context))
}

/// The last clause has no end dot.
pub(super) fn missing_end(source: SourceId, tokens: &[Spanned<'_>]) -> Problem {
    let span =
        |spanned: &Spanned<'_>| Span::new(source, offset(spanned.start), offset(spanned.end));
    let place = tokens.last().map_or_else(Span::default, span);
    let problem = Problem::new(Code::MissingEnd, place, "the last clause has no end dot");
    let swallowed = tokens.iter().rev().find_map(|spanned| match spanned.token {
        Token::Symbol(run) => mistakes::swallowed_dot(run).map(|help| (help, spanned)),
        _ => None,
    });
    match swallowed {
        Some((help, spanned)) => problem
            .label(
                span(spanned),
                "this dot belongs to a longer run of symbol characters",
            )
            .help(help),
        None => problem.help("write `.` at its end"),
    }
}

/// The variable's name as an atom: with a small first letter.
pub(super) fn lower_case(variable: &str) -> Option<String> {
    let mut characters = variable.trim_start_matches('_').chars();
    let first = characters.next().filter(|c| c.is_alphabetic())?;
    Some(first.to_lowercase().chain(characters).collect())
}

/// An opening bracket behind what takes none, or nothing between brackets.
fn opening_bracket(context: &Context<'_, '_>) -> Option<Problem> {
    let joined = context.joined(context.at);
    match (context.token(1)?, context.token(0)?) {
        (Token::Variable(name), Token::Open) if joined || context.at == 1 => {
            let lower = lower_case(name)?;
            let problem = Problem::new(
                Code::CapitalisedName,
                context.span(1),
                format!("`{name}` is a variable, not the name of a predicate"),
            );
            Some(problem.help(format!(
                "write `{lower}(…)` with a small letter, or `'{name}'(…)`"
            )))
        }
        (Token::Name(_) | Token::Quoted(_), Token::Open) if !joined => {
            let name = context.written(1);
            let problem = Problem::new(
                Code::BlankBeforeBracket,
                context.span(1),
                format!("a blank between `{name}` and its bracket"),
            );
            Some(problem.help(match &*name {
                "not" => "write `not(…)` without a blank, or `\\+ (…)`".to_owned(),
                _ => format!("write `{name}(…)` without a blank"),
            }))
        }
        (Token::Open, Token::Close) => {
            let name = context.written(2);
            let named = context.at >= 2 && context.joined(context.at - 1);
            let problem = Problem::new(
                Code::EmptyArguments,
                context.span(if named { 2 } else { 1 }),
                "nothing between the brackets",
            );
            Some(if named {
                problem.help(format!("write `{name}` without brackets"))
            } else {
                problem.help("take the brackets out")
            })
        }
        _ => None,
    }
}

/// A closing bracket that closes another, or none; an end inside brackets.
fn closing_bracket(context: &Context<'_, '_>) -> Option<Problem> {
    let token = context.token(0)?;
    let sign = match token {
        Token::End => "",
        Token::Close => ")",
        Token::CloseList => "]",
        Token::CloseBrace => "}",
        _ => return None,
    };
    let open = context.open_brackets();
    let Some(opener) = open.last().and_then(|at| context.get(*at)) else {
        return match token {
            Token::End => None,
            _ => Some(
                context
                    .problem(Code::UnexpectedToken, format!("`{sign}` closes nothing"))
                    .help("take it out, or open the bracket before"),
            ),
        };
    };
    let due = match opener.token {
        Token::OpenList => "]",
        Token::OpenBrace => "}",
        _ => ")",
    };
    if sign == due {
        return None;
    }
    let message = match token {
        Token::End => format!("the clause ends before `{due}`"),
        _ => format!("`{sign}` where `{due}` is due"),
    };
    Some(
        context
            .problem(Code::UnexpectedToken, message)
            .label(context.span_of(opener), "this bracket is open")
            .help(format!("close it with `{due}`")),
    )
}

/// A clause that starts a line where the one before has not ended.
fn missing_dot(context: &Context<'_, '_>, lines: &mut Lines<'_>) -> Option<Problem> {
    let starts_clause = match context.token(0)? {
        Token::Symbol(":-" | "?-") => true,
        token => starts_operand(token),
    };
    if !(starts_clause && context.behind_operand() && context.starts_line(context.at)) {
        return None;
    }
    let line = lines.line(context.before(1)?.end);
    let open = context.open_brackets();
    let problem = context.unexpected();
    Some(match open.last().and_then(|at| context.get(*at)) {
        None => problem.help(format!("a dot may be missing at the end of line {line}")),
        Some(opener) => problem
            .label(context.span_of(opener), "this bracket is open")
            .help(format!(
                "a comma or a closing bracket may be missing at the end of line {line}"
            )),
    })
}

/// An operator, a comma, a bracket or the end where an operand is due.
fn missing_operand(context: &Context<'_, '_>) -> Option<Problem> {
    let token = context.token(0)?;
    if context.behind_operand() || starts_operand(token) && !is_infix(token) {
        return None;
    }
    let problem = context.unexpected();
    let here = context.written(0);
    let Some(before) = context.token(1) else {
        return Some(match token {
            Token::End => context
                .problem(Code::UnexpectedToken, "a dot without a clause")
                .help("take the dot out"),
            _ => problem.help(format!("a clause cannot start with `{here}`")),
        });
    };
    if let (Token::Symbol(before), Token::Symbol(this)) = (before, token) {
        let joined = format!("{before}{this}");
        if operators::is_operator(&joined) {
            return Some(problem.help(format!("write `{joined}` without a blank")));
        }
    }
    let previous = context.written(1);
    Some(match (before, token) {
        (Token::Comma, Token::End | Token::Close | Token::CloseList | Token::CloseBrace) => {
            problem.help("take the comma before it out, or write what is missing behind it")
        }
        (_, Token::Symbol(name) | Token::Name(name)) if operators::prefix(name).is_some() => {
            problem.help(format!("put brackets around `{here} …`"))
        }
        (_, Token::Symbol(_) | Token::Name(_)) => problem.help(format!(
            "something is missing between `{previous}` and `{here}`; an operator that is meant as an atom needs brackets"
        )),
        _ => problem.help(format!("something is missing behind `{previous}`")),
    })
}

fn is_infix(token: &Token<'_>) -> bool {
    matches!(token, Token::Name(name) if operators::is_operator(name))
}

/// An operator whose operands bind less tightly than it.
fn misplaced_operator(context: &Context<'_, '_>, lines: &mut Lines<'_>) -> Option<Problem> {
    let name = match context.token(0)? {
        Token::Symbol(name) | Token::Name(name) => *name,
        Token::Semicolon => ";",
        _ => return None,
    };
    let priority = operators::infix(name)?.priority;
    let problem = context.unexpected();
    let inside = !context.open_brackets().is_empty();
    Some(match (name, priority) {
        ("=>", _) => problem.help("write `->` for if-then, `:-` for a rule, `>=` to compare"),
        (_, 1000..) if inside => {
            problem.help(format!("put brackets around the part with `{name}`"))
        }
        (_, 1200) => problem.help(match comma_for_dot(context) {
            Some(comma) => format!(
                "the comma at the end of line {} may have to be a dot",
                lines.line(comma)
            ),
            None => "end the clause before with a dot, or join goals with `,`".to_owned(),
        }),
        (_, 700) => problem.help(format!(
            "`{name}` does not chain: write two goals, such as `X {name} Y, Y {name} Z`"
        )),
        _ => problem.help("put brackets around one of the parts"),
    })
}

/// Where the comma stands that a head at the start of a line follows, if the token is that head's neck.
fn comma_for_dot(context: &Context<'_, '_>) -> Option<usize> {
    let mut depth = 0usize;
    for at in (0..context.at).rev() {
        let spanned = context.get(at)?;
        match spanned.token {
            Token::Close | Token::CloseList | Token::CloseBrace => depth += 1,
            Token::Open | Token::OpenList | Token::OpenBrace => depth = depth.checked_sub(1)?,
            Token::Comma if depth == 0 => {
                return context.starts_line(at + 1).then_some(spanned.start);
            }
            _ => {}
        }
    }
    None
}

/// An operand directly behind another, or what else there is.
fn missing_operator(context: &Context<'_, '_>) -> Problem {
    let problem = context.unexpected();
    match context.token(0) {
        Some(Token::Quoted(name)) if operators::infix(name).is_some() => {
            problem.help(format!("write the operator `{name}` without quotes"))
        }
        Some(Token::Name(_))
            if context.next().is_some_and(starts_operand) && !context.joined(context.at + 1) =>
        {
            let name = context.written(0);
            problem.help(format!(
                "`{name}` is no operator: a comma is missing before it, or `{name}(…, …)` is meant"
            ))
        }
        Some(Token::Comma) => problem.help("the tail of a list is one term and stands last"),
        Some(_) if context.open_brackets().is_empty() => {
            problem.help("a comma, an operator or a dot is missing before it")
        }
        _ => problem.help("a comma or an operator is missing before it"),
    }
}
