//! A small agent loop with three tools: one is confined, one is granted, one asks a person.
//!
//! Tools that share work share plain helpers (`note_path`); a tool that needs another tool calls it through the gate
//! (`archive` calls `delete`), with the context of its own call.
//!
//! `cargo run -p horngate-gate --example agent_loop`

use horngate::{Allowlist, Budget, Rulebase, Source};
use horngate_gate::{
    Answer, Callback, Closure, Confined, Gate, Permitted, Tool, ToolError, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::error::Error;
use std::io::Write;
use std::sync::{Arc, OnceLock};

const RULES: &str = "
    may_execute_tool('U:Writer', tool_archive).
    may_execute_tool('U:Writer', tool_delete).
";

/// A plain helper: it does no harm, so it needs no gate.
fn note_path(name: &str) -> String {
    format!("notes/{name}.md")
}

/// Counts words. It touches nothing, so everybody may call it.
struct CountWords;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    text: String,
}

impl Tool for CountWords {
    type Arguments = Text;
    type Output = usize;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("count_words", "Counts the words of a text")
    }

    async fn run<'call>(&'call self, permit: Permitted<'call, Self>) -> Result<usize, ToolError> {
        Ok(permit.arguments().text.split_whitespace().count())
    }
}

impl Confined for CountWords {
    const WHY: &'static str = "computes; touches neither files nor network";
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    name: String,
}

fn delete() -> Closure<Note> {
    let spec = ToolSpec::new("delete", "Deletes a note").destructive("the note is lost");
    Closure::<Note>::new(spec, |permit| {
        Ok(json!(format!(
            "deleted {}",
            note_path(&permit.into_arguments().name)
        )))
    })
}

/// Copies a note, and deletes the original through the gate.
struct Archive {
    gate: Arc<OnceLock<Gate>>,
}

impl Tool for Archive {
    type Arguments = Note;
    type Output = Value;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("archive", "Moves a note into the archive")
    }

    async fn run<'call>(&'call self, permit: Permitted<'call, Self>) -> Result<Value, ToolError> {
        let gate = self.gate.get().ok_or_else(|| ToolError::new("no gate"))?;
        let copied = format!("copied {}", note_path(&permit.arguments().name));
        let deleted = gate
            .call(permit.context(), "delete", permit.canonical())
            .await
            .map_err(|refusal| ToolError::new(refusal.message))?;
        Ok(json!([copied, deleted.data]))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let rulebase = Rulebase::load([Source::new("rules.pl", RULES)])?;
    let model = rulebase.evaluate(&Budget::default())?;
    let slot = Arc::new(OnceLock::new());
    let gate = Gate::builder(Allowlist::bind(&model, "may_execute_tool/2")?)
        .confined(CountWords)
        .tool(delete())
        .tool(Archive {
            gate: Arc::clone(&slot),
        })
        // A program with a person before it would use `Terminal::new("ann")`.
        .approver(Callback::new("ann", |request| {
            Ok(match request.arguments.contains("draft") {
                true => Answer::Approve,
                false => Answer::Deny("only drafts".to_owned()),
            })
        }))
        .build()?;
    let _ = slot.set(gate.clone());

    // What a model would ask for, turn by turn.
    for (actor, tool, arguments) in [
        (
            "U:Guest",
            "count_words",
            r#"{"text": "only what is derived passes"}"#,
        ),
        ("U:Guest", "delete", r#"{"name": "draft"}"#),
        ("U:Writer", "delete", r#"{"name": "draft"}"#),
        ("U:Writer", "archive", r#"{"name": "draft"}"#),
        ("U:Writer", "delete", r#"{"name": "contract"}"#),
        (
            "U:Writer",
            "delete",
            r#"{"name": "draft", "name": "contract"}"#,
        ),
    ] {
        let turn = gate.invocation(actor, "session-1");
        match gate.call(&turn, tool, arguments).await {
            Ok(done) => writeln!(out, "{actor} {tool}: {}", done.data)?,
            Err(refusal) => writeln!(out, "{actor} {tool}: {refusal} ({})", refusal.detail())?,
        }
    }
    Ok(())
}
