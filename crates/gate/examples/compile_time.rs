//! The compile-time proof: why a tool that is gated cannot be run around the gate.
//!
//! `shell` below is called by this program in the same process and the same file, and yet the only way to its body is
//! `Gate::call`. Each line that is commented out is an error of the compiler; `tests/ui` holds them all.
//!
//! `cargo run -p horngate-gate --example compile_time`

use horngate::{Allowlist, Budget, Rulebase, Source};
use horngate_gate::{Gate, Permitted, Tool, ToolError, ToolSpec};
use serde::Deserialize;
use std::error::Error;
use std::io::Write;

struct Shell;

#[derive(Deserialize)]
struct Command {
    command: String,
}

impl Tool for Shell {
    type Arguments = Command;
    type Output = String;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("shell", "Runs a command")
    }

    // The body has no arguments but those in the permit.
    async fn run<'call>(&'call self, permit: Permitted<'call, Self>) -> Result<String, ToolError> {
        // *KEPT.lock() = Some(permit);                borrowed data escapes outside of method
        Ok(permit.into_arguments().command)
        // permit.into_arguments()                     use of moved value: `permit`
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    // Shell.run(Command { .. })                       expected `Permitted<'_, Shell>`, found `Command`
    // Shell.run(Permitted { .. })                     private fields
    // Shell.run(Permitted::new(..))                   private function
    // Shell.run(Default::default())                   `Permitted<'_, Shell>: Default` is not satisfied
    // Shell.run(serde_json::from_str("{}")?)          `Permitted<'_, Shell>: Deserialize` is not satisfied

    let rulebase = Rulebase::load([Source::new("a.pl", ":- dynamic may_execute_tool/2.")])?;
    let model = rulebase.evaluate(&Budget::default())?;
    let gate = Gate::builder(Allowlist::bind(&model, "may_execute_tool/2")?)
        .tool(Shell)
        .build()?;
    // Shell is in the gate now, and nothing hands it out: gate.tool("shell") does not exist.

    let context = gate.invocation("U:Qa", "session-1");
    match gate.call(&context, "shell", r#"{"command": "rm"}"#).await {
        Ok(done) => writeln!(out, "ran: {}", done.data)?,
        Err(refusal) => writeln!(out, "{refusal} ({})", refusal.reason)?,
    }
    Ok(())
}
