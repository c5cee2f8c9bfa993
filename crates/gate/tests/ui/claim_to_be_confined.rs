use horngate_gate::{ForeignTool, GateBuilder};

/// What another server says about itself is no reason to let it run without a grant.
fn confined(gate: GateBuilder, tool: ForeignTool) {
    let _ = gate.confined(tool);
}

fn main() {}
