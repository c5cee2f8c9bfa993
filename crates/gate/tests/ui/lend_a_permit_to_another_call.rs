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

/// Neither a longer nor a shorter call will do: the permit is of exactly one.
fn shorten<'short, 'long: 'short>(permit: Permitted<'long, Shell>) -> Permitted<'short, Shell> {
    permit
}

fn main() {}
