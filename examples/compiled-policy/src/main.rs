//! Decides by rules that were compiled into this program, over facts that it loads when it starts.
//!
//! `cargo run -p compiled-policy` asks some questions; `cargo run -p compiled-policy ACTOR TOOL` asks one, and ends with 0
//! only if it is allowed.

use horngate::Source;
use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

#[expect(clippy::allow_attributes, reason = "generated")]
mod roles {
    include!(concat!(env!("OUT_DIR"), "/roles.rs"));
}

const FACTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/facts.pl");

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool, Box<dyn Error>> {
    let facts = Source::from_bytes("facts.pl", std::fs::read(FACTS)?);
    let derived = roles::evaluate(&roles::load([facts])?)?;
    let may = |actor: &str, tool: &str| {
        derived.holds(roles::MAY_EXECUTE_TOOL_2, [actor, &format!("tool_{tool}")])
    };
    let mut out = std::io::stdout().lock();
    let args: Vec<String> = std::env::args().skip(1).collect();
    match &*args {
        [] => {
            for (actor, tool) in [
                ("sre:lead", "scale_deployment"),
                ("sre:lead", "restart_container"),
                ("bot:dash", "scale_deployment"),
                ("bot:dash", "restart_container"),
                ("nobody", "query_metrics"),
            ] {
                let answer = if may(actor, tool)? { "allow" } else { "deny" };
                writeln!(out, "{answer}: {actor} {tool}")?;
            }
            Ok(true)
        }
        [actor, tool] => {
            let allowed = may(actor, tool)?;
            writeln!(out, "{}", if allowed { "allow" } else { "deny" })?;
            Ok(allowed)
        }
        _ => Err("usage: compiled-policy [ACTOR TOOL]".into()),
    }
}
