//! Compiles the rules that the tests compare: every rulebase of `rules/`, those of this crate, and generated programs.

#[path = "../../tests/it/programs.rs"]
#[expect(
    clippy::indexing_slicing,
    dead_code,
    unreachable_pub,
    reason = "it is written for the tests of the library"
)]
mod programs;

use horngate::{Rulebase, Source, compile};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How many generated programs there are, unless `HORNGATE_COMPILED` says another number.
const GENERATED: usize = 12;
/// What a generated program must have, so that each of them is worth its compilation.
const MIN_DERIVED: usize = 4;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../../tests/it/programs.rs");
    let mut modules = Modules {
        out: PathBuf::from(std::env::var("OUT_DIR")?),
        text: String::new(),
        list: String::new(),
    };
    for folder in [
        "../../rules",
        "../../rules/roles",
        "../../rules/permissive",
        "rules",
    ] {
        println!("cargo::rerun-if-changed={folder}");
        let mut paths: Vec<PathBuf> = fs::read_dir(folder)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()?;
        paths.sort();
        for path in paths {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            if path.extension().is_some_and(|extension| extension == "pl")
                && !name.ends_with("_tests")
            {
                modules.add(&name, &fs::read_to_string(&path)?)?;
            }
        }
    }
    println!("cargo::rerun-if-env-changed=HORNGATE_COMPILED");
    let generated = match std::env::var("HORNGATE_COMPILED") {
        Ok(count) => count.parse()?,
        Err(_) => GENERATED,
    };
    let mut runner = TestRunner::deterministic();
    let mut number = 0;
    while number < generated {
        let program = programs::program()
            .new_tree(&mut runner)
            .map_err(|error| error.to_string())?
            .current()
            .to_string();
        if derived(&program)? >= MIN_DERIVED
            && modules
                .add(&format!("generated_{number}"), &program)
                .is_ok()
        {
            number += 1;
        }
    }
    modules.finish()
}

/// How many predicates with rules have tuples.
fn derived(program: &str) -> Result<usize, Box<dyn Error>> {
    let rulebase = Rulebase::load([Source::new("generated.pl", program)])?;
    let model = rulebase.evaluate(&horngate::Budget::default())?;
    let keys = rulebase.predicates().filter(|key| {
        program.contains(&format!("\n{}(", key.name()))
            && key.name().starts_with(['p', 'q', 'r'])
            && model.count(key).is_some_and(|count| count > 0)
    });
    Ok(keys.count())
}

/// The modules, and a list of them.
struct Modules {
    out: PathBuf,
    text: String,
    list: String,
}

impl Modules {
    fn add(&mut self, name: &str, rules: &str) -> Result<(), Box<dyn Error>> {
        let rulebase = Rulebase::load([Source::new(format!("{name}.pl"), rules)])?;
        let module = compile::module(&rulebase)?;
        fs::write(self.out.join(format!("{name}.rs")), module)?;
        fs::write(self.out.join(format!("{name}.pl")), rules)?;
        writeln!(
            self.text,
            "mod {name} {{ include!(concat!(env!(\"OUT_DIR\"), \"/{name}.rs\")); }}"
        )?;
        writeln!(
            self.list,
            "    Compiled {{ name: {name:?}, rules: include_str!(concat!(env!(\"OUT_DIR\"), \"/{name}.pl\")), load: {name}::load, evaluate: {name}::evaluate }},"
        )?;
        Ok(())
    }

    fn finish(self) -> Result<(), Box<dyn Error>> {
        let text = format!(
            "{}\nconst ALL: &[Compiled] = &[\n{}];\n",
            self.text, self.list
        );
        fs::write(Path::new(&self.out).join("modules.rs"), text)?;
        Ok(())
    }
}
