//! What must not compile.

use std::path::Path;
use std::process::Command;

/// The compiler whose messages are kept in `tests/ui/*.stderr`.
const COMPILER: &str = "rustc 1.95.";

#[test]
fn no_way_around_the_gate_compiles() {
    let version = Command::new("rustc").arg("--version").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let cases = trybuild::TestCases::new();
    if version.starts_with(COMPILER) {
        cases.compile_fail("tests/ui/*.rs");
        return;
    }
    println!(
        "messages are not compared: {} is not {COMPILER}",
        version.trim()
    );
    let copies = tempfile::tempdir().unwrap();
    for entry in Path::new("tests/ui").read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let copy = copies.path().join(path.file_name().unwrap());
            std::fs::copy(&path, &copy).unwrap();
            cases.compile_fail(copy);
        }
    }
    // The cases run when `cases` is dropped, before `copies` is.
    drop(cases);
}
