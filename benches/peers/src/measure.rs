//! What a whole process costs.
//!
//! Nothing here looks at a wall clock: other work on the machine should not count.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::error::Error;
use std::process::{Command, Stdio};

/// CPU seconds, user and system, and the peak of resident memory in MB.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub seconds: f64,
    pub megabytes: f64,
}

/// The last line that [`run`] prints begins with this.
const MARK: &str = "cost ";

/// Runs a command and prints its output and then what it cost. It is a process of its own, so that the children it
/// has waited for are this one command.
pub fn run(command: &[String]) -> Result<(), Box<dyn Error>> {
    let (program, args) = command.split_first().ok_or("no command")?;
    // 1 is an answer of horngate's.
    let status = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .status()
        .map_err(|error| format!("{program}: {error}"))?;
    if !matches!(status.code(), Some(0 | 1)) {
        return Err(format!("{} ended with {status}", command.join(" ")).into());
    }
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let microseconds =
        usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    // Linux counts kilobytes, macOS bytes.
    let unit = if cfg!(target_os = "macos") { 1e6 } else { 1e3 };
    println!(
        "\n{MARK}{} {}",
        microseconds as f64 / 1e6,
        usage.max_rss() as f64 / unit
    );
    Ok(())
}

/// The output of a command, and the cost of the cheapest of several runs.
pub fn cheapest(command: &[String], runs: u32) -> Result<(String, Cost), Box<dyn Error>> {
    let mut best: Option<(String, Cost)> = None;
    for _ in 0..runs {
        let output = Command::new(std::env::current_exe()?)
            .arg("measure")
            .args(command)
            .stderr(Stdio::null())
            .output()?;
        let text = String::from_utf8(output.stdout)?;
        let (printed, cost) = text
            .rsplit_once(MARK)
            .ok_or_else(|| format!("{} failed", command.join(" ")))?;
        let (seconds, megabytes) = cost.trim().split_once(' ').ok_or("no cost")?;
        let cost = Cost {
            seconds: seconds.parse()?,
            megabytes: megabytes.parse()?,
        };
        if best
            .as_ref()
            .is_none_or(|(_, known)| cost.seconds < known.seconds)
        {
            best = Some((printed.to_owned(), cost));
        }
    }
    best.ok_or_else(|| "no run".into())
}
