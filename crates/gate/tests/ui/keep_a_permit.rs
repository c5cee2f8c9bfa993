use horngate_gate::{Permitted, Tool, ToolError, ToolSpec};
use std::sync::Mutex;

struct Shell {
    kept: Mutex<Option<Permitted<'static, Shell>>>,
}

impl Tool for Shell {
    type Arguments = String;
    type Output = ();

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("shell", "Runs a command")
    }

    async fn run<'call>(&'call self, permit: Permitted<'call, Self>) -> Result<(), ToolError> {
        *self.kept.lock().unwrap() = Some(permit);
        Ok(())
    }
}

fn main() {}
