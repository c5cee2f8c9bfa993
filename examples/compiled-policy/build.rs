//! Compiles the rules of `rules/roles` into a module.

use horngate::{Rulebase, Source, compile};
use std::error::Error;
use std::fs;
use std::path::Path;

const RULES: &str = "../../rules/roles/roles.pl";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={RULES}");
    let rules = Source::from_bytes("roles.pl", fs::read(RULES)?);
    let rulebase = Rulebase::load([rules])?;
    // Only what decides, and only if nothing that it depends on has a fault.
    let module = compile::slice(&rulebase, &["may_execute_tool/2".parse()?])?;
    fs::write(
        Path::new(&std::env::var("OUT_DIR")?).join("roles.rs"),
        module,
    )?;
    Ok(())
}
