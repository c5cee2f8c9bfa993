//! A project that pins its rules to the tools that its agents are shown. The test below is all it takes: it fails when a
//! tool is renamed, an agent loses a tool, a grant is mistyped, and says where and what to do.
//!
//! `cargo run --example pinned --features tool-lists` prints such a report.

use horngate::pins::Pins;
use horngate::{AdvertisedTools, Allowlist, Budget, Rulebase, Source};
use std::error::Error;
use std::io::Write;

const RULES: &str = include_str!("governance.pl");
const TOOLS: &str = include_str!("tools.yaml");

fn allowlist(rules: &str) -> Result<Allowlist, Box<dyn Error>> {
    let rulebase = Rulebase::load([Source::new("governance.pl", rules)])?;
    let model = rulebase.evaluate(&Budget::default())?;
    Ok(Allowlist::bind(&model, "may_execute_tool/2")?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let renamed = TOOLS.replace("label_issue", "label_issues");
    let pins = Pins::compare(&allowlist(RULES)?, &AdvertisedTools::from_yaml(&renamed)?);
    writeln!(std::io::stdout(), "{pins}")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use horngate::assert_pinned;

    #[test]
    fn rules_and_tools_agree() -> Result<(), Box<dyn Error>> {
        assert_pinned(&allowlist(RULES)?, &AdvertisedTools::from_yaml(TOOLS)?);
        Ok(())
    }
}
