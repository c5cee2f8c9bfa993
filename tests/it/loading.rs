//! Loading piece by piece is the same as reading whole texts: the same sets are refused, the same tuples derived.

use crate::cases;
use crate::programs::program;
use horngate::{Allowlist, Budget, Loader, Model, Rulebase, Source};
use proptest::prelude::*;

fn in_pieces(files: &[(String, String)], size: usize) -> Option<Rulebase> {
    let mut loader = Loader::new();
    for (name, text) in files {
        loader.begin(name.as_str());
        for piece in text.as_bytes().chunks(size) {
            loader.feed(piece);
        }
    }
    loader.finish().ok()
}

fn whole(files: &[(String, String)]) -> Option<Rulebase> {
    let sources = files
        .iter()
        .map(|(name, text)| Source::new(name.as_str(), text.as_str()));
    Rulebase::load(sources).ok()
}

/// Everything that can be said about a rulebase from outside.
fn said(rulebase: &Rulebase) -> Vec<String> {
    let model: Model = rulebase.evaluate(&Budget::default()).unwrap();
    let mut keys: Vec<_> = rulebase.predicates().cloned().collect();
    keys.sort();
    keys.iter()
        .map(|key| {
            let faults: Vec<_> = rulebase
                .faults_of(key)
                .iter()
                .map(|fault| (fault.code, fault.span, fault.message.clone()))
                .collect();
            let doubts = Allowlist::bind(&model, &key.to_string())
                .map(|bound| bound.doubts().to_vec())
                .unwrap_or_default();
            format!("{key}: {:?} {faults:?} {doubts:?}", model.tuples(key))
        })
        .collect()
}

fn agree(files: &[(String, String)], size: usize) -> Result<(), String> {
    match (in_pieces(files, size), whole(files)) {
        (None, None) => Ok(()),
        (Some(pieces), Some(whole)) => {
            let (pieces, whole) = (said(&pieces), said(&whole));
            if pieces == whole {
                Ok(())
            } else {
                Err(format!("{pieces:#?}\n{whole:#?}"))
            }
        }
        (pieces, whole) => Err(format!(
            "loaded in pieces: {}, whole: {}",
            pieces.is_some(),
            whole.is_some()
        )),
    }
}

#[test]
fn every_case_loads_the_same_in_pieces() {
    for case in cases::all() {
        for size in [1, 7, 4096] {
            agree(&case.texts(), size)
                .unwrap_or_else(|error| panic!("{} in pieces of {size}: {error}", case.id));
        }
    }
}

/// A doubt is a matter of the rules, and of no text: the gate must know of it however they were loaded.
#[test]
fn doubts_do_not_depend_on_how_the_rules_were_loaded() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/diagnostics");
    let mut doubtful = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let files = [("a.pl".to_owned(), text)];
        agree(&files, 64).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if let Some(rulebase) = in_pieces(&files, 64) {
            let said = said(&rulebase).concat();
            doubtful += usize::from(said.contains("DefaultAllow") || said.contains("Cartesian"));
        }
    }
    assert!(doubtful >= 6, "{doubtful}");
}

/// Texts of facts that are nearly plain: the fast path must leave exactly the odd ones alone.
fn nearly_plain() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(
        &[
            "p(",
            "p(a).",
            "q('U:Qa', b).\n",
            "a",
            "'x y'",
            "'it''s'",
            "\"s\"",
            "-1",
            "- 1",
            "0'a",
            "1.5",
            "12345678901234567890",
            "1_000",
            "0x1f",
            ",",
            ", ",
            ")",
            ").",
            ").\n",
            ". ",
            "\n",
            "\r\n",
            "\r",
            "% note\n",
            "% \u{202e}\n",
            "/* c */",
            "é",
            "X",
            "_",
            "[]",
            "[a]",
            "f(a)",
            " :- ",
            "mod",
            "-",
            ":- begin_tests(t).\n",
            ":- end_tests(t).\n",
            ":- dynamic p/1.\n",
            ":- module(m, [p/1]).\n",
            "\u{feff}",
            "#!x\n",
            "end_of_file.\n",
            "term_expansion(a, b).\n",
            "p(a) :- q(a, b).\n",
            "\\",
            "'a\\x41\\'",
            "\t",
        ][..],
    );
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn nearly_plain_texts_load_the_same_in_pieces(text in nearly_plain(), size in 1_usize..20) {
        let files = [("a.pl".to_owned(), text)];
        agree(&files, size).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn random_programs_load_the_same_in_pieces(program in program(), size in 1_usize..200) {
        let files = [("a.pl".to_owned(), program.to_string())];
        agree(&files, size).map_err(TestCaseError::fail)?;
    }
}
