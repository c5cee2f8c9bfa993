//! Loads the shipped rules, decides for some agents and tools, and shows that the permissive predicate of the same
//! file can never be bound.
//!
//! `cargo run --example decide`

use horngate::{Allowlist, Budget, Decision, Rulebase, Source};
use std::error::Error;
use std::io::Write;

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/rules/governance.pl");
    let source = Source::from_bytes("governance.pl", std::fs::read(path)?);
    let rulebase = Rulebase::load([source])?;
    let model = rulebase.evaluate(&Budget::default())?;
    let gate = Allowlist::bind(&model, "may_execute_tool/2")?;

    for (actor, tool) in [
        ("U:Qa", "repl"),
        ("U:Qa", "remote_trigger"),
        ("NOBODY", "rm_rf_slash"),
    ] {
        match gate.decide(actor, tool) {
            Decision::Allow(grant) => writeln!(out, "allow: {grant}")?,
            Decision::Deny(denial) => writeln!(out, "deny, {}: {denial}", denial.reason)?,
        }
    }
    match Allowlist::bind(&model, "may_execute/2") {
        Ok(_) => return Err("a permissive predicate was bound".into()),
        Err(refused) => writeln!(out, "refused: {refused}")?,
    }
    Ok(())
}
