use horngate::Allowlist;
use horngate_gate::{ForeignTool, Gate};

/// What another server says about itself is no reason to let it run without a grant.
fn confined(allowlist: Allowlist, tool: ForeignTool) {
    let _ = Gate::builder(allowlist).confined(tool);
}

fn main() {}
