use horngate_gate::{Closure, Permitted, ToolSpec};

fn main() {
    let tool = Closure::new(ToolSpec::new("echo", ""), |permit: Permitted<'_, Closure<u8>>| {
        Ok(permit.into_arguments().into())
    });
    let _ = (tool.body)(1);
}
