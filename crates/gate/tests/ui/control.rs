//! What the other cases do not do: this one compiles.

use horngate_gate::{Permitted, Tool, ToolError, ToolSpec};

struct Shell;

impl Tool for Shell {
    type Arguments = String;
    type Output = ();

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("shell", "Runs a command")
    }

    async fn run<'call>(&'call self, permit: Permitted<'call, Self>) -> Result<(), ToolError> {
        let _ = permit.into_arguments();
        Ok(())
    }
}

async fn once<'call>(shell: &'call Shell, permit: Permitted<'call, Shell>) {
    let _ = shell.run(permit).await;
}

fn main() {}
