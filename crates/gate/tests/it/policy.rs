//! What narrows the allowlist, and changes of the rules.

use crate::support::{Bench, RULES, allowlist, call, counting, refused};
use horngate::Allowlist;
use horngate_gate::{Answer, BuildError, Gate, OnBadRules, Reason, ToolSpec};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn builds(extra: &str) -> Result<Gate, BuildError> {
    Bench::new().builder(&format!("{RULES}{extra}")).build()
}

#[test]
fn a_restriction_that_would_restrict_nothing_builds_no_gate() {
    for extra in [
        // One letter off.
        "confrm_tool('U:Qa', tool_repl).",
        "confirm_tools('U:Qa', tool_repl).",
        "destructive_toll('U:Qa', tool_repl).",
        "may_aprove(ann, 'U:Qa', tool_repl).",
        // Another arity.
        "confirm_tool(tool_repl).",
        "destructive_tool(a, b, c, d).",
        "may_approve(ann, tool_repl).",
        // Faulty.
        "confirm_tool(A, tool_repl).",
        "confirm_tool(A, T) :- undefined(A, T).",
        "may_approve(P, A, T) :- \\+ may_approve(P, A, T), p(P, A, T). p(a, b, c).",
        // No actor, no tool.
        "confirm_tool(\"U:Qa\", tool_repl).",
        "confirm_tool('U:Qa', repl).",
        "confirm_tool('U:Qa', \"tool_repl\").",
        "destructive_tool('U:Qa', 1).",
        "may_approve(\"ann\", 'U:Qa', tool_repl).",
    ] {
        assert!(builds(extra).is_err(), "{extra}");
    }
    for extra in [
        "",
        "confirm_tool('U:Qa', tool_repl).",
        "confirm_tool('U:Qa', tool_repl, \"costs money\"). destructive_tool('U:Qa', tool_repl).",
        "may_approve(ann, 'U:Qa', tool_repl).",
        ":- dynamic confirm_tool/2.",
    ] {
        if let Err(error) = builds(extra) {
            panic!("{extra}: {error}");
        }
    }
}

#[tokio::test]
async fn the_stricter_of_code_and_rules_wins() {
    let rules = format!(
        "{RULES} confirm_tool('U:Qa', tool_repl, 'costs money'). confirm_tool('U:Qa', tool_delete).
         destructive_tool('U:Qa', tool_deploy)."
    );
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let bench = Bench::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let gate = bench
        .builder(&rules)
        .approver(counting(&asked, move |request| {
            sink.lock()
                .unwrap()
                .push((request.level, request.reason.clone()));
            Ok(Answer::Approve)
        }))
        .build()
        .unwrap();
    let qa = gate.invocation("U:Qa", "s");
    for tool in ["repl", "delete", "deploy"] {
        call(&gate, &qa, tool, "{}").await.unwrap();
    }
    // Asked of any member of the chain, it is asked of all.
    call(&gate, &qa.child("U:Helper"), "repl", "{}")
        .await
        .unwrap();
    call(&gate, &gate.invocation("U:Helper", "s"), "repl", "{}")
        .await
        .unwrap();
    let seen: Vec<(&str, String)> = seen
        .lock()
        .unwrap()
        .iter()
        .map(|(level, reason)| (level.as_str(), reason.clone()))
        .collect();
    assert_eq!(
        seen,
        [
            ("confirm", "costs money".to_owned()),
            ("destructive", "it is gone then".to_owned()),
            ("destructive", "`destructive_tool/2` asks for it".to_owned()),
            ("confirm", "costs money".to_owned()),
        ]
    );
}

#[tokio::test]
async fn approvers_are_narrowed_by_the_rules() {
    let rules = format!(
        "{RULES} may_approve(ann, 'U:Helper', tool_deploy). may_approve(bob, 'U:Qa', tool_deploy)."
    );
    let bench = Bench::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let gate = bench
        .builder(&rules)
        .approver(counting(&asked, |_| Ok(Answer::Approve)))
        .build()
        .unwrap();
    assert!(
        call(&gate, &gate.invocation("U:Helper", "s"), "deploy", "{}")
            .await
            .is_ok()
    );
    assert_eq!(
        refused(&gate, &gate.invocation("U:Qa", "s"), "deploy", "{}").await,
        Reason::NotAuthorized
    );
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn other_rules_count_at_once() {
    let bench = Bench::new();
    let gate = bench.builder(RULES).build().unwrap();
    let qa = gate.invocation("U:Qa", "s");
    assert!(call(&gate, &qa, "repl", "{}").await.is_ok());
    let before = gate.policy_hash();
    let good = |rules: &str| Ok::<Allowlist, String>(allowlist(rules));
    gate.reload(
        good("may_execute_tool('U:Qa', tool_deploy)."),
        OnBadRules::KeepOld,
    )
    .unwrap();
    assert_ne!(gate.policy_hash(), before);
    assert_eq!(refused(&gate, &qa, "repl", "{}").await, Reason::UnknownTool);
    gate.reload(good(RULES), OnBadRules::KeepOld).unwrap();
    assert!(call(&gate, &qa, "repl", "{}").await.is_ok());
}

#[tokio::test]
async fn bad_rules_keep_the_old_ones_or_close_the_gate_as_chosen() {
    let bench = Bench::new();
    let gate = bench.builder(RULES).build().unwrap();
    let qa = gate.invocation("U:Qa", "s");
    let bad = || Err::<Allowlist, _>("rules.pl:1:1: a dot is missing");
    assert!(gate.reload(bad(), OnBadRules::KeepOld).is_err());
    assert!(call(&gate, &qa, "repl", "{}").await.is_ok());
    // Rules that load but cannot be the policy are no better.
    let misspelt = Ok::<_, String>(allowlist(&format!(
        "{RULES} confrm_tool('U:Qa', tool_repl)."
    )));
    assert!(gate.reload(misspelt, OnBadRules::KeepOld).is_err());
    assert!(call(&gate, &qa, "repl", "{}").await.is_ok());

    assert!(gate.reload(bad(), OnBadRules::DenyAll).is_err());
    assert_eq!(refused(&gate, &qa, "repl", "{}").await, Reason::Closed);
    assert!(gate.tools_for(&qa).is_empty());
    gate.reload(Ok::<_, String>(allowlist(RULES)), OnBadRules::DenyAll)
        .unwrap();
    assert!(call(&gate, &qa, "repl", "{}").await.is_ok());
}

#[test]
fn settings_are_part_of_the_policy() {
    let bench = Bench::new();
    let hash = |change: fn(horngate_gate::GateBuilder) -> horngate_gate::GateBuilder| {
        change(bench.builder(RULES)).build().unwrap().policy_hash()
    };
    let plain = hash(|builder| builder);
    assert_eq!(plain, hash(|builder| builder));
    assert_ne!(
        plain,
        hash(|builder| builder.approver(horngate_gate::AutoDeny))
    );
    assert_ne!(
        plain,
        hash(|builder| builder.delegation(horngate_gate::Delegation::Own))
    );
    assert_ne!(
        plain,
        hash(|builder| builder.limits(horngate_gate::Limits {
            pending: Duration::from_secs(10),
            ..Default::default()
        }))
    );
    let key = horngate_gate::Signatory::generate("ann").unwrap().key();
    assert_ne!(
        plain,
        bench
            .builder(RULES)
            .approver_key("ann", key)
            .build()
            .unwrap()
            .policy_hash()
    );
    // How strictly the gate's own tools are guarded.
    let with = |spec: ToolSpec| {
        let tool = bench.runs.tool(spec);
        bench
            .builder(RULES)
            .tool(tool)
            .build()
            .unwrap()
            .policy_hash()
    };
    let spec = || ToolSpec::new("x", "Does x");
    let hashes = [
        with(spec()),
        with(spec().confirm("why")),
        with(spec().destructive("why")),
    ];
    assert_ne!(hashes[0], hashes[1]);
    assert_ne!(hashes[1], hashes[2]);
    assert_eq!(hashes[0], with(spec()));
}

#[test]
fn settings_that_make_no_sense_build_no_gate() {
    let bench = Bench::new();
    let limits = |pending, approver, max_pending| horngate_gate::Limits {
        pending: Duration::from_secs(pending),
        approver: Duration::from_secs(approver),
        max_pending,
    };
    for wrong in [
        limits(0, 1, 1),
        limits(1, 0, 1),
        limits(1, 1, 0),
        limits(u64::MAX / 1000, 1, 1),
    ] {
        assert!(bench.builder(RULES).limits(wrong).build().is_err());
    }
    assert!(bench.builder(RULES).name("").build().is_err());
    assert!(
        bench
            .builder(RULES)
            .accept_doubt("cartesian-grant", " ")
            .build()
            .is_err()
    );
    assert!(
        bench
            .builder(RULES)
            .accept_doubt("every-doubt", "why not")
            .build()
            .is_err()
    );
}

#[test]
fn a_doubtful_allowlist_builds_no_gate_unless_the_lint_and_a_reason_are_named() {
    let bench = Bench::new();
    let everybody = "may_execute_tool(A, T) :- actor(A), tool(T). actor(a). tool(tool_x).";
    let error = bench.builder(everybody).build().unwrap_err();
    assert!(
        error.to_string().starts_with("cartesian-grant: "),
        "{error}"
    );
    let other = bench
        .builder(everybody)
        .accept_doubt("always-true", "another one");
    assert!(other.build().is_err());
    let named = bench
        .builder(everybody)
        .accept_doubt("cartesian-grant", "a sandbox: everybody may use everything");
    let named = named.build().unwrap();
    // New rules are held to the same.
    let gate = bench.builder(RULES).build().unwrap();
    let doubtful = || Ok::<Allowlist, String>(allowlist(everybody));
    assert!(gate.reload(doubtful(), OnBadRules::KeepOld).is_err());
    named.reload(doubtful(), OnBadRules::KeepOld).unwrap();
}
