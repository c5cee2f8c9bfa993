//! `horngate audit verify`.

use super::{folder, run, run_with, session};
use horngate_gate::{AuditLog, Durability, Entry, Event};
use insta::assert_snapshot;
use std::fs;
use tempfile::TempDir;

/// A folder with a log of four lines, `log`, and one with a key, `keyed`.
fn logs() -> TempDir {
    let folder = folder(&[("key", "a key of the log\n"), ("other", "another key")]);
    let path = |name: &str| folder.path().join(name);
    #[cfg(unix)]
    for key in ["key", "other"] {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path(key), fs::Permissions::from_mode(0o600)).unwrap();
    }
    let key = b"a key of the log";
    for (name, key) in [("log", None), ("keyed", Some(&key[..]))] {
        let log = AuditLog::open_with(path(name), Durability::OperatingSystem, key).unwrap();
        for tool in ["a", "b", "c", "d"] {
            let mut entry = Entry::new(1_767_225_600_000, Event::Denied, "gate");
            entry.tool = tool;
            log.append(&entry).unwrap();
        }
    }
    folder
}

#[test]
fn whole_and_broken() {
    let folder = logs();
    let path = |name: &str| folder.path().join(name);
    let text = fs::read_to_string(path("log")).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let hashes: Vec<&str> = lines
        .iter()
        .map(|line| {
            line.rsplit_once(":\"")
                .unwrap()
                .1
                .split_once('"')
                .unwrap()
                .0
        })
        .collect();
    let (third, head) = (hashes[2], hashes[3]);
    fs::write(path("edited"), text.replace("\"b\"", "\"x\"")).unwrap();
    fs::write(path("gap"), [lines[0], lines[2], lines[3]].concat()).unwrap();
    fs::write(
        path("swapped"),
        [lines[0], lines[2], lines[1], lines[3]].concat(),
    )
    .unwrap();
    fs::write(path("short"), [lines[0], lines[1], lines[2]].concat()).unwrap();
    fs::write(path("torn"), text.split_at(text.len() - 10).0).unwrap();
    fs::write(path("empty"), "").unwrap();
    fs::write(path("text"), "a text\n").unwrap();
    let is = |args: &[&str]| run(folder.path(), &[&["audit", "verify"], args].concat()).code;
    assert_eq!(is(&["log", "--head", head, "--count=4"]), 0);
    assert_eq!(is(&["log", "--head", &head.to_uppercase()]), 0);
    // An earlier look: the log has grown since.
    assert_eq!(is(&["log", "--head", third, "--count=3"]), 0);
    assert_eq!(is(&["short", "--head", head]), 1);
    assert_eq!(is(&["short", "--count=4"]), 1);
    assert_eq!(is(&["keyed", "--key=key"]), 0);
    assert_eq!(is(&["keyed"]), 1);
    assert_eq!(is(&["keyed", "--key=other"]), 1);
    assert_eq!(is(&["log", "--key=key"]), 1);
    let piped = run_with(folder.path(), &["audit", "verify", "-"], &text);
    assert_eq!((piped.code, piped.stdout.contains(head)), (0, true));
    let verify = |args: &[&'static str]| [&["audit", "verify"], args].concat();
    let commands = [
        verify(&["log"]),
        verify(&["log", "--format=json"]),
        verify(&["edited"]),
        verify(&["edited", "--format=json"]),
        verify(&["gap"]),
        verify(&["swapped"]),
        verify(&["short", "--count=4"]),
        verify(&["torn"]),
        verify(&["torn", "--format=json"]),
        verify(&["empty"]),
        verify(&["empty", "--count=1"]),
        verify(&["text"]),
        verify(&["missing"]),
        verify(&["missing", "--format=json"]),
        verify(&["."]),
        verify(&["log", "--key=missing"]),
        verify(&["log", "--head=1234"]),
        verify(&["--help"]),
    ];
    let commands: Vec<&[&str]> = commands.iter().map(Vec::as_slice).collect();
    assert_snapshot!(session(folder.path(), &commands));
}

#[cfg(unix)]
#[test]
fn a_key_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = logs();
    let mode = fs::Permissions::from_mode(0o644);
    fs::set_permissions(folder.path().join("key"), mode).unwrap();
    let refused = run(folder.path(), &["audit", "verify", "keyed", "--key=key"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("chmod 600"), "{}", refused.stderr);
}

#[test]
fn a_line_that_is_being_written_is_waited_for() {
    let folder = logs();
    let path = folder.path().join("log");
    let text = fs::read_to_string(&path).unwrap();
    let (start, end) = text.split_at(text.len() - 10);
    fs::write(&path, start).unwrap();
    let writer = std::thread::spawn({
        let (path, end) = (path.clone(), end.to_owned());
        move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
            std::io::Write::write_all(&mut file, end.as_bytes()).unwrap();
        }
    });
    let found = run(folder.path(), &["audit", "verify", "log"]);
    writer.join().unwrap();
    assert_eq!(found.code, 0, "{}", found.stdout);
}
