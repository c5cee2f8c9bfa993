//! Files with keys: for their owner only, and never links.

use horngate_gate::Signatory;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

#[test]
fn a_secret_is_written_for_its_owner_and_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ann.key");
    let ann = Signatory::generate("ann").unwrap();
    ann.save(&path).unwrap();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let opened = Signatory::open(&path).unwrap();
    assert_eq!((opened.key(), opened.name()), (ann.key(), "ann"));
    // Nothing is overwritten, neither a file nor what a link leads to.
    assert!(ann.save(&path).is_err());
    let (target, link) = (folder.path().join("target"), folder.path().join("link"));
    symlink(&target, &link).unwrap();
    assert!(ann.save(&link).is_err());
    assert!(!target.exists());
}

#[test]
fn a_secret_that_others_may_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ann.key");
    Signatory::generate("ann").unwrap().save(&path).unwrap();
    for mode in [0o644, 0o640, 0o604, 0o620, 0o601] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let error = Signatory::open(&path).unwrap_err().to_string();
        assert!(error.contains("chmod 600"), "{mode:o}: {error}");
    }
    for mode in [0o600, 0o400] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        assert!(Signatory::open(&path).is_ok(), "{mode:o}");
    }
}

#[test]
fn links_folders_and_what_is_no_key_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let ann = Signatory::generate("ann").unwrap();
    ann.save(at("ann.key")).unwrap();
    symlink(at("ann.key"), at("link")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    for name in ["link", "folder", "nowhere", "/dev/zero"] {
        assert!(Signatory::open(at(name)).is_err(), "{name}");
    }
    let whole = fs::read_to_string(at("ann.key")).unwrap();
    let other = Signatory::generate("ann").unwrap().secret();
    // The secret of another key, half of the text, something else, and too much of it.
    let bad = [
        whole.replace(&ann.secret(), &other),
        whole[..40].to_owned(),
        ann.secret(),
        " ".repeat(10_000) + &whole,
    ];
    for (n, text) in bad.into_iter().enumerate() {
        let path = at(&format!("bad-{n}"));
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let error = Signatory::open(&path).unwrap_err().to_string();
        assert!(!error.contains(&other), "the content is not repeated");
    }
}
