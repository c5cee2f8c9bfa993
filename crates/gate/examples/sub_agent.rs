//! A sub-agent that acts for another: it may do only what both may, and what it asks for reaches the root's approver
//! with the whole chain. The approval never moves to another actor.
//!
//! `cargo run -p horngate-gate --example sub_agent`

use horngate::{Allowlist, Budget, Rulebase, Source};
use horngate_gate::{
    Clock, Closure, Deferred, Gate, InvocationContext, Signatory, SystemClock, ToolError, ToolSpec,
};
use serde_json::Value;
use std::error::Error;
use std::io::{self, Write};

const RULES: &str = "
    may_execute_tool('U:Lead', tool_deploy).
    may_execute_tool('U:Helper', tool_deploy).
    may_execute_tool('U:Helper', tool_read).
";

fn tool(spec: ToolSpec) -> Closure<Value> {
    Closure::new(spec, |permit| {
        let chain: Vec<&str> = permit.context().chain().collect();
        Ok::<_, ToolError>(format!("done for {}", chain.join(" > ")).into())
    })
}

async fn attempt(
    out: &mut impl Write,
    gate: &Gate,
    context: &InvocationContext,
    tool: &str,
) -> io::Result<()> {
    let chain: Vec<&str> = context.chain().collect();
    match gate.call(context, tool, "{}").await {
        Ok(done) => writeln!(out, "{} {tool}: {}", chain.join(" > "), done.data),
        Err(refusal) => writeln!(out, "{} {tool}: {}", chain.join(" > "), refusal.reason),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    let rulebase = Rulebase::load([Source::new("rules.pl", RULES)])?;
    let model = rulebase.evaluate(&Budget::default())?;
    let ann = Signatory::generate("ann")?;
    let gate = Gate::builder(Allowlist::bind(&model, "may_execute_tool/2")?)
        .tool(tool(ToolSpec::new("read", "Reads")))
        .tool(tool(
            ToolSpec::new("deploy", "Deploys").confirm("customers see it"),
        ))
        .approver(Deferred::new())
        .approver_key("ann", ann.key())
        .build()?;

    let lead = gate.invocation("U:Lead", "session-1");
    let helper = lead.child("U:Helper");
    // The helper may read, the lead it acts for may not.
    attempt(&mut out, &gate, &helper, "read").await?;
    attempt(&mut out, &gate, &helper, "deploy").await?;

    // The lead's host sees what its sub-agents wait for, and a person answers with their key.
    for record in gate.pending(&lead)? {
        write!(out, "{}", record.request.for_people())?;
        let verdict = ann.answer(&record.request, true, SystemClock.now())?;
        gate.submit(&verdict)?;
    }

    // Not in the turn that asked, and not for the lead itself.
    attempt(&mut out, &gate, &helper, "deploy").await?;
    let later = gate.invocation("U:Lead", "session-1");
    attempt(&mut out, &gate, &later, "deploy").await?;
    attempt(&mut out, &gate, &later.child("U:Helper"), "deploy").await?;
    Ok(())
}
