//! Generates the parser from `grammar/rules.lalrpop`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=grammar/rules.lalrpop");
    lalrpop::Configuration::new()
        .set_in_dir("grammar")
        .set_out_dir(std::env::var("OUT_DIR")?)
        .emit_rerun_directives(false)
        .process_dir("grammar")?;
    Ok(())
}
