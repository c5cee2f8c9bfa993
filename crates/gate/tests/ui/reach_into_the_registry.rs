use horngate_gate::{Gate, InvocationContext};

async fn reach(gate: Gate, context: &InvocationContext) {
    let tool = gate.inner.registry().get("shell");
    let _ = tool;
    let _ = gate.tool("shell");
    let spec = gate.tools_for(context).remove(0);
    let _ = spec.run("rm -rf /");
}

fn main() {}
