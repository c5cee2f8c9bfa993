use crate::{folder, root, run, session};
use insta::assert_snapshot;
use std::fs;
use std::path::Path;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_shipped_rules() {
    let out = folder(&[]);
    let file = out.path().join("roles.rs");
    let output = format!("-o{}", file.display());
    let written = run(&root(), &["compile", "rules/roles", &output]);
    assert_eq!(
        (written.code, &*written.stdout, &*written.stderr),
        (0, "", "")
    );
    let printed = run(&root(), &["compile", "rules/roles"]);
    assert_eq!(printed.code, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), printed.stdout);
    assert!(printed.stdout.contains("pub const MAY_EXECUTE_TOOL_2"));
    assert!(
        !printed.stdout.contains("sre:lead"),
        "no fact is compiled in"
    );
    assert_eq!(
        names(out.path()),
        ["roles.rs"],
        "nothing else is left behind"
    );
}

/// The commands of docs/compile.md, written to another place.
#[test]
fn the_commands_of_the_docs() {
    let docs = fs::read_to_string(root().join("docs/compile.md")).unwrap();
    let out = folder(&[]);
    let mut ran = 0;
    for line in docs
        .lines()
        .filter(|line| line.starts_with("horngate compile"))
    {
        let mut words = shell_words::split(line).unwrap();
        let place = words.iter().position(|word| word == "-o").unwrap() + 1;
        words[place] = out.path().join(format!("{ran}.rs")).display().to_string();
        let args: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let written = run(&root(), &args);
        assert_eq!((written.code, &*written.stderr), (0, ""), "{line}");
        ran += 1;
    }
    assert_eq!(names(out.path()).len(), ran);
    assert!(ran >= 2);
}

#[test]
fn what_is_left_out_and_what_is_refused() {
    let folder = folder(&[
        (
            "faulty.pl",
            "open(_).\nuser(a).\np(X) :- user(X), \\+ open(X).\n",
        ),
        (
            "hard.pl",
            "start(a).\n:- dynamic next/2, risk/2, limit/1.\nreaches(X) :- start(X).\n\
             reaches(Y) :- reaches(X), next(X, Y), \\+ ( risk(X, R), limit(L), R > L ).\n",
        ),
        ("bad.pl", "p(a"),
    ]);
    let sessions = session(
        folder.path(),
        &[
            &["compile", "faulty.pl", "-o", "faulty.rs"],
            &[
                "compile",
                "faulty.pl",
                "-o",
                "faulty.rs",
                "--only",
                "user/1",
            ],
            &["compile", "faulty.pl", "--only", "p/1"],
            &["compile", "faulty.pl", "--only", "nosuch/1"],
            &["compile", "hard.pl", "-o", "hard.rs"],
            &["compile", "hard.pl", "-o", "hard.rs", "--only", "next/2"],
            &["compile", "bad.pl", "-o", "bad.rs"],
            &["compile", "missing.pl", "-o", "missing.rs"],
            &["compile", "faulty.pl", "-o", "missing/faulty.rs"],
            &["compile", "faulty.pl", "-o", "."],
            &["compile"],
        ],
    );
    assert_snapshot!(sessions);
    assert_eq!(
        names(folder.path()),
        ["bad.pl", "faulty.pl", "faulty.rs", "hard.pl", "hard.rs"]
    );
}

#[test]
fn a_file_keeps_its_content_unless_there_is_a_new_one() {
    let folder = folder(&[
        ("a.pl", "p(X) :- q(X).\nq(a).\n"),
        ("b.pl", "p(a"),
        ("out.rs", "old"),
    ]);
    let file = folder.path().join("out.rs");
    assert_eq!(
        run(folder.path(), &["compile", "b.pl", "-o", "out.rs"]).code,
        2
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
    assert_eq!(
        run(folder.path(), &["compile", "a.pl", "-o", "out.rs"]).code,
        0
    );
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("// Made by horngate"));
    let time = || fs::metadata(&file).unwrap().modified().unwrap();
    let before = time();
    assert_eq!(
        run(folder.path(), &["compile", "a.pl", "-o", "out.rs"]).code,
        0
    );
    assert_eq!(time(), before, "the same module is not written again");
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_a_device_stays_one() {
    use std::os::unix::fs::FileTypeExt;
    let folder = folder(&[("a.pl", "p(a).\n"), ("real.rs", "old")]);
    std::os::unix::fs::symlink("real.rs", folder.path().join("link.rs")).unwrap();
    assert_eq!(
        run(folder.path(), &["compile", "a.pl", "-o", "link.rs"]).code,
        0
    );
    assert!(
        fs::symlink_metadata(folder.path().join("link.rs"))
            .unwrap()
            .is_symlink()
    );
    assert!(
        fs::read_to_string(folder.path().join("real.rs"))
            .unwrap()
            .starts_with("//")
    );
    assert_eq!(
        run(folder.path(), &["compile", "a.pl", "-o", "/dev/null"]).code,
        0
    );
    assert!(
        fs::metadata("/dev/null")
            .unwrap()
            .file_type()
            .is_char_device()
    );
}
