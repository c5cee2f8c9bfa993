//! `horngate compile`: a Rust module of the rules.
//!
//! Nothing here decides, and no half of a module is ever written.

use crate::args::Compile;
use crate::outcome::Outcome;
use crate::{files, guard, json, render, replace};
use horngate::{PredicateKey, Rulebase, compile};
use std::io;

pub(crate) fn run(args: &Compile) -> io::Result<Outcome> {
    let paths = args.paths.clone();
    let roots: Vec<PredicateKey> = args.only.iter().map(|only| only.key.clone()).collect();
    let compiled = guard::run(None, move || {
        let rulebase = Rulebase::load(files::read(&paths)?)?;
        if roots.is_empty() {
            Ok((compile::module(&rulebase)?, left_out(&rulebase)))
        } else {
            Ok((compile::slice(&rulebase, &roots)?, Vec::new()))
        }
    });
    let (module, left_out) = match compiled {
        Ok(compiled) => compiled,
        Err(problem) => {
            problem.print();
            return Ok(Outcome::NoAnswer);
        }
    };
    match &args.output {
        None => json::stdout(|out| out.write_all(module.as_bytes()))?,
        Some(path) => {
            if let Err(error) = replace::whole(path, module.as_bytes()) {
                let path = path.display();
                render::tell(&format!("error: cannot write `{path}`: {error}"));
                return Ok(Outcome::NoAnswer);
            }
        }
    }
    if !left_out.is_empty() {
        render::tell(&format!(
            "note: left out, since their slices have faults: {}; see horngate check",
            left_out.join(", ")
        ));
    }
    Ok(Outcome::Yes)
}

fn left_out(rulebase: &Rulebase) -> Vec<String> {
    rulebase
        .predicates()
        .filter(|key| !rulebase.faults_of(key).is_empty())
        .map(ToString::to_string)
        .collect()
}
