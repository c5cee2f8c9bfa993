//! `horngate decide --batch`: JSON lines in, a line out for each, in order.
//!
//! Nothing here stops at a bad line: it is denied, and the others are answered.

use crate::decide::{NO_VERDICT, verdict};
use crate::json::BatchLine;
use crate::outcome::Outcome;
use crate::printable::printable;
use crate::problem::{Problem, Unreadable};
use crate::render;
use crate::rules::Bound;
use horngate::Allowlist;
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

/// The longest line that is read, without its end.
const MAX_LINE_BYTES: usize = 1 << 20;

/// How many bad lines are told to people, one by one.
const MAX_TOLD: u64 = 20;

const BUFFER_BYTES: usize = 1 << 16;

/// What answers.
pub(crate) trait Policy {
    /// The allowlist to ask now; without one every answer is an error.
    fn current(&mut self) -> Option<&Allowlist>;
}

impl Policy for Result<Bound, Problem> {
    fn current(&mut self) -> Option<&Allowlist> {
        self.as_ref().ok().map(|bound| &bound.allowlist)
    }
}

/// Answers every line of `file`, or of standard input if that is `-`.
pub(crate) fn run(file: &Path, policy: &mut dyn Policy) -> io::Result<Outcome> {
    if file == Path::new("-") {
        let input = BufReader::with_capacity(BUFFER_BYTES, io::stdin().lock());
        return answer(policy, input, true);
    }
    let opened = File::open(file).and_then(|input| Ok((input.metadata()?.is_file(), input)));
    match opened {
        Ok((is_file, input)) => {
            let input = BufReader::with_capacity(BUFFER_BYTES, input);
            answer(policy, input, !is_file)
        }
        Err(error) => {
            Problem::Unreadable(vec![Unreadable::new(file, error.to_string())]).print();
            Ok(Outcome::NoAnswer)
        }
    }
}

/// With `prompt` no answer is kept back while the next line is waited for.
fn answer<R: Read>(
    policy: &mut dyn Policy,
    mut input: BufReader<R>,
    prompt: bool,
) -> io::Result<Outcome> {
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock());
    let mut worst = Outcome::Yes;
    let (mut line, mut number, mut bad) = (Vec::new(), 0_u64, 0_u64);
    loop {
        if prompt && !input.buffer().contains(&b'\n') {
            out.flush()?;
        }
        let question = match read_line(&mut input, &mut line)? {
            Line::None => break,
            Line::Read => Question::read(&line),
            Line::TooLong => (
                Question::default(),
                Err(format!("longer than {MAX_LINE_BYTES} bytes")),
            ),
        };
        number += 1;
        let (question, fault) = question;
        if let Err(fault) = &fault {
            bad += 1;
            if bad <= MAX_TOLD {
                render::tell(&format!("error: line {number}: {fault}"));
            }
        }
        let allowlist = match fault {
            Ok(()) => policy.current(),
            Err(_) => None,
        };
        let (answer, outcome) = question.answer(allowlist);
        worst = worst.max(outcome);
        serde_json::to_writer(&mut out, &answer)?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    if number == 0 {
        // Nobody was asked about, so nobody was allowed.
        render::tell("error: no request");
        return Ok(Outcome::NoAnswer);
    }
    if bad > MAX_TOLD {
        render::tell(&format!("error: {bad} bad lines in all"));
    }
    Ok(worst)
}

enum Line {
    None,
    Read,
    TooLong,
}

/// Reads the next line, without more memory than the longest line may have.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    let limit = MAX_LINE_BYTES as u64 + 1;
    input.by_ref().take(limit).read_until(b'\n', line)?;
    if line.is_empty() {
        return Ok(Line::None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > MAX_LINE_BYTES {
        input.skip_until(b'\n')?;
        return Ok(Line::TooLong);
    }
    Ok(Line::Read)
}

/// What could be read of a line.
#[derive(Debug, Default, PartialEq)]
struct Question<'l> {
    actor: Option<Cow<'l, str>>,
    tool: Option<Cow<'l, str>>,
}

impl<'l> Question<'l> {
    /// Reads a line, and says what is wrong with it.
    fn read(line: &'l [u8]) -> (Self, Result<(), String>) {
        let mut question = Self::default();
        let mut json = serde_json::Deserializer::from_slice(line);
        let result = Fill(&mut question)
            .deserialize(&mut json)
            .and_then(|()| json.end());
        (
            question,
            result.map_err(|error| {
                error
                    .to_string()
                    .replace(" at line 1 column ", " at column ")
            }),
        )
    }

    /// The answer; an error without an allowlist to ask.
    fn answer(&self, allowlist: Option<&Allowlist>) -> (BatchLine<'_>, Outcome) {
        let (actor, tool) = (self.actor.as_deref(), self.tool.as_deref());
        let (decision, reason, outcome) = match (allowlist, actor, tool) {
            (Some(allowlist), Some(actor), Some(tool)) => verdict(&allowlist.decide(actor, tool)),
            _ => NO_VERDICT,
        };
        let line = BatchLine {
            decision,
            actor,
            tool,
            reason,
        };
        (line, outcome)
    }
}

/// Fills a question from a JSON object with exactly its two fields; what was read before an error stays.
struct Fill<'q, 'l>(&'q mut Question<'l>);

impl<'l> DeserializeSeed<'l> for Fill<'_, 'l> {
    type Value = ();

    fn deserialize<D: Deserializer<'l>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'l> Visitor<'l> for Fill<'_, 'l> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the texts `actor` and `tool`")
    }

    fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Text(key)) = map.next_key()? {
            let (field, name) = match &*key {
                "actor" => (&mut self.0.actor, "actor"),
                "tool" => (&mut self.0.tool, "tool"),
                other => {
                    let other = printable(other);
                    return Err(de::Error::unknown_field(&other, &["actor", "tool"]));
                }
            };
            let Text(value) = map.next_value()?;
            if field.replace(value).is_some() {
                // Which of the two was meant cannot be known.
                *field = None;
                return Err(de::Error::duplicate_field(name));
            }
        }
        match (&self.0.actor, &self.0.tool) {
            (None, _) => Err(de::Error::missing_field("actor")),
            (_, None) => Err(de::Error::missing_field("tool")),
            _ => Ok(()),
        }
    }
}

/// A JSON string, borrowed from the line unless it has escapes.
struct Text<'l>(Cow<'l, str>);

impl<'l> Deserialize<'l> for Text<'l> {
    fn deserialize<D: Deserializer<'l>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'l> Visitor<'l> for TextVisitor {
            type Value = Text<'l>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'l str) -> Result<Text<'l>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'l>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(TextVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(line: &str) -> (Option<String>, Option<String>, String) {
        let (question, result) = Question::read(line.as_bytes());
        let owned = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
        (
            owned(question.actor),
            owned(question.tool),
            result.err().unwrap_or_default(),
        )
    }

    #[test]
    fn a_good_line_is_borrowed_unless_it_has_escapes() {
        let (question, result) = Question::read(br#" {"tool":"repl","actor":"U:Qa"} "#);
        assert_eq!(result, Ok(()));
        assert!(matches!(question.actor, Some(Cow::Borrowed("U:Qa"))));
        let (question, result) = Question::read(br#"{"actor":"\u0055:Qa","tool":"repl"}"#);
        assert_eq!(result, Ok(()));
        assert_eq!(question.actor.as_deref(), Some("U:Qa"));
    }

    #[test]
    fn a_bad_line_keeps_what_could_be_read() {
        let text = |text: &str| Some(text.to_owned());
        let (actor, tool, error) = fault(r#"{"actor":"a","tool":7}"#);
        assert_eq!((actor, tool), (text("a"), None));
        assert!(error.contains("expected a text"), "{error}");
        let (actor, tool, error) = fault(r#"{"actor":"a","tool":"t","actor":"b"}"#);
        assert_eq!((actor, tool), (None, text("t")));
        assert!(error.contains("duplicate field `actor`"), "{error}");
    }

    #[test]
    fn only_an_object_with_two_texts_is_good() {
        for line in [
            "",
            " ",
            "null",
            r#"["a","t"]"#,
            r#"{"actor":"a"}"#,
            r#"{"tool":"t"}"#,
            r#"{"actor":"a","tool":null}"#,
            r#"{"actor":"a","tool":"t","args":{}}"#,
            r#"{"actor":"a","tool":"t"} x"#,
            r#"{"actor":"a","tool":"t"}{"actor":"a","tool":"t"}"#,
            r#"{"actor":"\ud800","tool":"t"}"#,
            r#"{'actor':'a','tool':'t'}"#,
        ] {
            assert_ne!(fault(line).2, "", "{line}");
        }
    }

    #[test]
    fn the_longest_line_is_read_and_a_longer_one_skipped() {
        let mut text = vec![b'x'; MAX_LINE_BYTES];
        text.push(b'\n');
        text.extend(vec![b'y'; MAX_LINE_BYTES + 1]);
        text.extend(b"\nz");
        let (mut input, mut line) = (&*text, Vec::new());
        assert!(matches!(
            read_line(&mut input, &mut line).unwrap(),
            Line::Read
        ));
        assert_eq!(line.len(), MAX_LINE_BYTES);
        assert!(matches!(
            read_line(&mut input, &mut line).unwrap(),
            Line::TooLong
        ));
        assert!(matches!(
            read_line(&mut input, &mut line).unwrap(),
            Line::Read
        ));
        assert_eq!(line, b"z");
        assert!(matches!(
            read_line(&mut input, &mut line).unwrap(),
            Line::None
        ));
    }
}
