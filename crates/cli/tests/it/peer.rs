//! Programs of others that tests drive. Where one is missing a test says so, and fails when `HORNGATE_PEERS=1` demands it.

use std::io::Write;
use std::process::{Command, Stdio};

/// Whether a program is there; loud when not. `package`: what Debian calls it.
pub(crate) fn present(program: &str, version: &str, package: &str) -> bool {
    let found = Command::new(program)
        .arg(version)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !found {
        assert!(
            std::env::var_os("HORNGATE_PEERS").is_none_or(|value| value != "1"),
            "HORNGATE_PEERS=1, but `{program}` is missing (Debian: {package})"
        );
        // Straight to standard error, which the test harness does not hold back.
        let _ = writeln!(
            std::io::stderr(),
            "NOT TRIED WITH {program}: it is missing (Debian: {package})"
        );
    }
    found
}
