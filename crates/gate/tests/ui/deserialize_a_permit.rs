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

struct Forwarded;

impl Tool for Forwarded {
    /// Arguments are what can be deserialized.
    type Arguments = Permitted<'static, Shell>;
    type Output = ();

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("forwarded", "Runs what somebody wrote down")
    }

    async fn run<'call>(&'call self, permit: Permitted<'call, Self>) -> Result<(), ToolError> {
        let _ = permit.into_arguments();
        Ok(())
    }
}

fn main() {}
