//! What must not compile.
//!
//! Each case in `tests/ui` is compiled against the library that the tests were built with, so that nothing is built
//! twice. Its errors are in the `.stderr` beside it, and compared on one compiler; elsewhere only that it fails. With
//! `HORNGATE_UI=overwrite` they are written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler whose messages are kept.
const COMPILER: &str = "rustc 1.95.";

fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

/// The folder of dependencies, and the library in it that was built last.
fn library() -> (PathBuf, PathBuf) {
    let folder = std::env::current_exe()
        .unwrap()
        .parent()
        .unwrap()
        .to_owned();
    let newest = folder
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| {
            let name = entry.file_name().into_string().unwrap_or_default();
            name.starts_with("libhorngate_gate-") && name.ends_with(".rlib")
        })
        .max_by_key(|entry| entry.metadata().unwrap().modified().unwrap())
        .expect("the library was built");
    (folder, newest.path())
}

/// Compiles a case: whether that went well, and its errors with their places in the case.
fn compile(case: &Path, output: &Path) -> (bool, String) {
    let (folder, library) = library();
    let compiled = rustc()
        .args([
            "--edition",
            "2024",
            "--emit",
            "metadata",
            "--cap-lints",
            "allow",
        ])
        .arg("-L")
        .arg(format!("dependency={}", folder.display()))
        .arg("--extern")
        .arg(format!("horngate_gate={}", library.display()))
        .arg("--out-dir")
        .arg(output)
        .arg(case)
        .output()
        .unwrap();
    let text = String::from_utf8(compiled.stderr).unwrap();
    let is_told = |line: &&str| {
        (line.starts_with("error") && !line.starts_with("error: aborting"))
            || (line.trim_start().starts_with("-->") && line.contains("tests/ui/"))
    };
    let told: Vec<&str> = text.lines().filter(is_told).collect();
    (compiled.status.success(), told.join("\n") + "\n")
}

#[test]
fn no_way_around_the_gate_compiles() {
    let version = rustc().arg("--version").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let compared = version.starts_with(COMPILER);
    if !compared {
        println!(
            "messages are not compared: {} is not {COMPILER}",
            version.trim()
        );
    }
    let overwrite = std::env::var_os("HORNGATE_UI").is_some_and(|value| value == "overwrite");
    let output = tempfile::tempdir().unwrap();
    // If this one does not compile, that the others do not means nothing.
    let control = compile(Path::new("tests/ui/control.rs"), output.path());
    assert!(control.0, "{}", control.1);
    let mut cases: Vec<PathBuf> = Path::new("tests/ui")
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter(|path| !path.ends_with("control.rs"))
        .collect();
    cases.sort();
    assert!(cases.len() >= 15, "cases are missing");
    for case in cases {
        let (compiles, told) = compile(&case, output.path());
        assert!(!compiles, "{} compiles", case.display());
        let kept = case.with_extension("stderr");
        if overwrite {
            fs::write(&kept, told).unwrap();
        } else if compared {
            let kept = fs::read_to_string(&kept).unwrap_or_default();
            assert_eq!(told, kept, "{}: other errors", case.display());
        }
    }
}
