//! `horngate fmt`.

use crate::{folder, root, run, run_with, session};
use insta::assert_snapshot;
use std::fs;

const MESSY: &str =
    "% who\r\nrole('ann',dev).\r\nrole(robert , ops).\r\nmay(U):-role(U,dev),\\+blocked(U).";
const NEAT: &str = "% who\nrole(ann,    dev).\nrole(robert, ops).\nmay(U) :-\n    role(U, dev),\n    \\+ blocked(U).\n";

#[test]
fn the_shipped_rules_are_laid_out() {
    for paths in [
        &["rules"][..],
        &[
            "rules/governance_tests.pl",
            "rules/roles/roles.pl",
            "rules/roles/roles_tests.pl",
        ],
        &["rules/permissive", "examples/pinned"],
    ] {
        let checked = run(&root(), &[&["fmt", "--check"], paths].concat());
        assert_eq!(checked.code, 0, "{}{}", checked.stdout, checked.stderr);
    }
}

#[test]
fn sessions() {
    let folder = folder(&[
        ("rules/messy.pl", MESSY),
        ("rules/neat.pl", NEAT),
        ("rules/broken.pl", "role(ann,dev).\nrole(bob,ops\n"),
        ("rules/op.pl", ":- op(700, xfx, likes).\nann likes bob.\n"),
        ("rules/a_tests.pl", MESSY),
    ]);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let broken = read("rules/broken.pl");
    assert_snapshot!(session(
        folder.path(),
        &[
            &["fmt", "--check", "rules/messy.pl", "rules/neat.pl"],
            &["fmt", "--check", "rules/neat.pl"],
            &["fmt", "--check", "rules"],
            &["fmt", "rules"],
            &["fmt", "rules/messy.pl"],
            &["fmt", "--check", "rules/messy.pl", "rules/neat.pl"],
            &["fmt", "rules/a_tests.pl"],
            &["fmt", "nosuch.pl", "rules/messy.pl"],
            &["fmt"],
        ]
    ));
    assert_eq!(read("rules/messy.pl"), NEAT);
    assert_eq!(read("rules/a_tests.pl"), NEAT);
    assert_eq!(read("rules/broken.pl"), broken);
    let left: Vec<_> = fs::read_dir(folder.path().join("rules")).unwrap().collect();
    assert_eq!(left.len(), 5, "a temporary file is left");
}

#[test]
fn standard_input_is_laid_out_to_standard_output() {
    let folder = folder(&[]);
    let filtered = run_with(folder.path(), &["fmt", "-"], MESSY);
    assert_eq!((filtered.code, &*filtered.stdout), (0, NEAT));
    assert_eq!(
        run_with(folder.path(), &["fmt", "--check", "-"], MESSY).code,
        1
    );
    assert_eq!(
        run_with(folder.path(), &["fmt", "--check", "-"], NEAT).code,
        0
    );
    let broken = run_with(folder.path(), &["fmt", "-"], "p(a");
    assert_eq!((broken.code, &*broken.stdout), (2, ""));
    assert!(broken.stderr.contains("the last clause has no end dot"));
}

#[cfg(unix)]
#[test]
fn permissions_and_links_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder(&[("real.pl", MESSY), ("folder/x", "")]);
    let path = |name: &str| folder.path().join(name);
    fs::set_permissions(path("real.pl"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("../real.pl", path("folder/link.pl")).unwrap();
    assert_eq!(run(folder.path(), &["fmt", "folder/link.pl"]).code, 0);
    assert!(
        fs::symlink_metadata(path("folder/link.pl"))
            .unwrap()
            .is_symlink()
    );
    assert_eq!(fs::read_to_string(path("real.pl")).unwrap(), NEAT);
    let mode = fs::metadata(path("real.pl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let device = run_with(folder.path(), &["fmt", "/dev/stdin"], MESSY);
    assert_eq!(device.code, 2);
}
