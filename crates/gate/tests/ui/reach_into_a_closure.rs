use horngate_gate::{Closure, ToolSpec};
use serde_json::Value;

fn main() {
    let tool: Closure<Value> = Closure::new(ToolSpec::new("echo", ""), |permit| Ok(permit.into_arguments()));
    let _ = (tool.body)(Value::Null);
}
