//! Lists of tools, and their locks.

use crate::text;
use horngate::pins::{Pins, Syntax, ToolList, ToolLock};
use horngate::{Allowlist, Budget, Rulebase, Source};
use std::sync::LazyLock;

static ALLOWLIST: LazyLock<Allowlist> = LazyLock::new(|| {
    let rules = include_str!("../../rules/governance.pl");
    let rulebase = Rulebase::load([Source::new("governance.pl", rules)]).expect("rules");
    let model = rulebase.evaluate(&Budget::default()).expect("a model");
    Allowlist::bind(&model, "may_execute_tool/2").expect("an allowlist")
});

/// A list is read or refused; what is read can be compared and locked, and its lock is of what was read.
pub fn tool_lists(data: &[u8]) {
    let Some((form, rest)) = data.split_first() else {
        return;
    };
    let read = text(rest);
    let syntax = match form % 4 {
        0 => Syntax::Json,
        1 => Syntax::Yaml,
        2 => Syntax::Toml,
        _ => {
            if let Ok(lock) = ToolLock::parse(&read) {
                assert_eq!(ToolLock::parse(&lock.to_string()).as_ref(), Ok(&lock));
            }
            return;
        }
    };
    let Ok(list) = ToolList::parse(&read, syntax) else {
        return;
    };
    let tools = list
        .advertised("list")
        .unwrap_or_else(|| list.shown_to("list", "U:Qa"));
    let pins = Pins::compare(&ALLOWLIST, &tools);
    assert_eq!(pins.agree(), pins.findings().is_empty());
    let _ = pins.to_string();
    if let Ok(lock) = ToolLock::of(&tools) {
        assert!(lock.changed(&tools).is_empty());
        assert_eq!(ToolLock::parse(&lock.to_string()).as_ref(), Ok(&lock));
    }
    // JSON is YAML: two readers of one list agree, or one refuses it.
    if syntax == Syntax::Json
        && let Ok(other) = ToolList::parse(&read, Syntax::Yaml)
    {
        let other = other
            .advertised("list")
            .unwrap_or_else(|| other.shown_to("list", "U:Qa"));
        assert_eq!(tools, other);
    }
}
