//! `horngate repl`: by lines through a pipe, and in a terminal that tmux makes.

use crate::{folder, peer, root, run_with};
use insta::assert_snapshot;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

/// What the lines of a script give, standard error last.
fn script(folder: &Path, args: &[&str], lines: &str) -> String {
    let run = run_with(folder, &[&["repl"], args].concat(), lines);
    format!("{}? {}\n\n{}", run.stdout, run.code, run.stderr)
}

#[test]
fn goals_in_solutions_out() {
    let lines = "% a comment\n\
        may_execute_tool(Who, tool_repl)\n\
        may_execute_tool(Who, Tool).\n;\n:more\n\
        ?- may_execute_tool('U:Qa', _).\n\
        may_execute_tool('U:Ux', tool_repl)\n\
        :grants U:Qa\n:grants nobody\n\
        :why may_execute_tool('U:Qa', tool_repl)\n\
        :whynot may_execute_tool('U:Qa', tool_remote_trigger)\n\
        :probe may_execute('NOBODY', rm_rf_slash)\n\
        :quit\nnever(read).\n";
    let args = ["rules/governance.pl", "--limit=5"];
    assert_snapshot!(script(&root(), &args, lines));
    let grants = script(&root(), &args, ":grants\n");
    assert_eq!(grants.lines().count(), 12, "{grants}");
}

#[test]
fn proofs_of_rules() {
    let lines = ":why may_execute_tool('ops:oncall', tool_list_silences)\n\
        :whynot may_execute_tool('ops:oncall', tool_list_silences)\n\
        :whynot may_execute_tool('ci:deploy', tool_rollback_deployment)\n\
        :why may_execute_tool('ci:deploy', tool_rollback_deployment)\nhalt.\n";
    assert_snapshot!(script(&root(), &["rules/roles"], lines));
}

#[test]
fn what_has_no_answer_says_why_and_the_next_line_is_answered() {
    let lines = "may_execute_tool(Who\n\
        may_exectute_tool(Who, tool_repl)\n\
        may_execute(Who, repl)\n\
        X < 3\n\
        :nosuch\n:why\n:whynot\n:probe\n:load\n:more\n\
        :load nosuch.pl\n\
        :- dynamic p/1.\n\
        p(\u{1b}[31m)\n\
        may_execute_tool('U:SD', Tool)";
    assert_snapshot!(script(&root(), &["rules/governance.pl"], lines));
    let long = format!("{}\nmay_execute_tool('U:SD', Tool)\n", "x".repeat(3 << 20));
    assert_eq!(
        script(&root(), &["rules/governance.pl"], &long),
        "Tool = tool_repl\n? 2\n\nnote: 1 file with 8 predicates, 2 faults: see horngate check\n\
         error: the line is longer than 1048576 bytes\n"
    );
}

#[test]
fn rules_are_loaded_once_more_and_more_of_them() {
    let folder = folder(&[
        (
            "a.pl",
            "role(ann, dev).\nmay_execute_tool(A, tool_x) :- role(A, dev).\n",
        ),
        ("b.pl", "team(ann, red).\n"),
        ("bad.pl", "team(ann, red\n"),
    ]);
    let lines =
        ":grants\nteam(X, Y)\n:load b.pl\nteam(X, Y)\n:load bad.pl\nteam(X, Y)\n:reload\n:help\n";
    assert_snapshot!(script(folder.path(), &["a.pl"], lines));
    let refused = script(folder.path(), &["bad.pl"], "team(X, Y)\n:reload\n:grants\n");
    assert!(refused.starts_with("? 2\n"), "{refused}");
    assert_eq!(
        refused.matches("no rules are loaded").count(),
        2,
        "{refused}"
    );
    assert_eq!(
        script(folder.path(), &["nosuch.pl"], "").lines().next(),
        Some("? 2")
    );
}

#[test]
fn each_goal_has_the_time_that_is_given() {
    let numbers: String = (0..300).map(|n| format!("n({n}).\n")).collect();
    let folder = folder(&[("a.pl", &numbers)]);
    let lines = "n(A), n(B), n(C), n(D), A + B + C + D =:= -1\nn(7)\n";
    assert_eq!(
        script(folder.path(), &["a.pl", "--timeout=1"], lines),
        "yes\n? 2\n\nnote: 1 file with 1 predicate\n\
         error: no answer within 1 s, the limit given with `--timeout`\n"
    );
}

/// A terminal of its own, in which the REPL runs.
struct Terminal {
    socket: String,
}

impl Terminal {
    fn start(name: &str, folder: &Path, args: &str) -> Self {
        let terminal = Self {
            socket: format!("horngate-{name}-{}", std::process::id()),
        };
        let state = folder.join("state");
        let command = format!(
            "cd '{}' && env -u NO_COLOR TERM=xterm XDG_STATE_HOME='{}' '{}' repl {args}; echo \"ended: $?\"; exec cat",
            folder.display(),
            state.display(),
            env!("CARGO_BIN_EXE_horngate"),
        );
        let size = ["-x", "100", "-y", "50"];
        let start = ["-f", "/dev/null", "new-session", "-d"];
        let output = terminal.tmux(&[&start[..], &size, &["sh", "-c", &command]].concat());
        assert!(output.status.success(), "{output:?}");
        terminal
    }

    fn tmux(&self, args: &[&str]) -> Output {
        Command::new("tmux")
            .args(["-L", &self.socket])
            .args(args)
            .env_remove("TMUX")
            .env("LC_ALL", "C.UTF-8")
            .output()
            .unwrap()
    }

    fn screen(&self) -> String {
        let output = self.tmux(&["-u", "capture-pane", "-p"]);
        String::from_utf8(output.stdout).unwrap()
    }

    /// Types keys as tmux names them.
    fn keys(&self, keys: &[&str]) {
        assert!(self.tmux(&[&["send-keys"], keys].concat()).status.success());
    }

    /// Types a text as it is, and the Enter key.
    fn enter(&self, text: &str) {
        self.keys(&["-l", text]);
        self.keys(&["Enter"]);
    }

    /// Waits until the screen is as wanted.
    fn until(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let screen = self.screen();
            if wanted(&screen) {
                return screen;
            }
            let late = start.elapsed() > Duration::from_secs(60);
            assert!(!late, "no {what}:\n{screen}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn until_shown(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text))
    }

    /// Waits until a text is on the screen and the prompt below it: what is typed before that may be lost.
    fn until_answered(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text) && at_prompt(screen))
    }

    /// Waits for the prompt behind so many answers.
    fn until_prompts(&self, count: usize) -> String {
        self.until("prompt", |screen| {
            let lines = || screen.lines().filter(|line| line.starts_with("?-"));
            lines().count() == count && lines().next_back() == Some("?-")
        })
    }
}

fn at_prompt(screen: &str) -> bool {
    let last = screen.lines().rfind(|line| !line.is_empty());
    last == Some("?-")
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.tmux(&["kill-server"]));
    }
}

#[test]
fn in_a_terminal() {
    if !peer::present("tmux", "-V", "tmux") {
        return;
    }
    let rules = fs::read_to_string(root().join("rules/governance.pl")).unwrap();
    let folder = folder(&[("governance.pl", &rules), ("more.pl", "team(ann, red).\n")]);
    let terminal = Terminal::start("session", folder.path(), "governance.pl --limit=3");
    terminal.until_prompts(1);
    terminal.enter("may_execute_tool(Who, Tool)");
    terminal.until_answered("… 4 more");
    // A semicolon alone would end tmux's own command.
    terminal.enter("\\;");
    terminal.until_answered("… 1 more");
    // Tab completes predicates, names in quotes, commands and files.
    terminal.keys(&["-l", "may_execute_t"]);
    terminal.keys(&["Tab"]);
    terminal.until_shown("?- may_execute_tool(\n");
    terminal.keys(&["-l", "'U:S"]);
    terminal.keys(&["Tab"]);
    terminal.until_shown("?- may_execute_tool('U:SD'\n");
    terminal.keys(&["-l", ", tool_ru"]);
    terminal.keys(&["Tab"]);
    terminal.until_shown("?- may_execute_tool('U:SD', tool_run_shell\n");
    terminal.keys(&["-l", ")"]);
    terminal.keys(&["Enter"]);
    terminal.until_answered("\nno\n");
    terminal.keys(&["-l", ":loa"]);
    terminal.keys(&["Tab"]);
    terminal.until_shown("?- :load\n");
    terminal.keys(&["-l", "mo"]);
    terminal.keys(&["Tab"]);
    terminal.until_shown("?- :load more.pl");
    terminal.keys(&["Enter"]);
    terminal.until_answered("2 files with");
    // A goal over several lines.
    terminal.enter("team(Who,");
    terminal.enter("Team).");
    terminal.until_answered("Who = ann, Team = red");
    // The line before, changed.
    terminal.enter("may_execute_tool('U:Qa', tool_repl)");
    terminal.until_answered("\nyes\n");
    terminal.keys(&["Up", "BSpace", "BSpace"]);
    terminal.enter("x)");
    terminal.until("a second no", |screen| {
        screen.matches("\nno\n").count() == 2 && at_prompt(screen)
    });
    terminal.keys(&["-l", "a line that is given up"]);
    terminal.until_shown("given up");
    terminal.keys(&["C-c"]);
    terminal.until_answered("given up\n");
    terminal.enter("nosuch(");
    terminal.until_shown("nosuch(\n");
    terminal.keys(&["C-c"]);
    terminal.until_answered("nosuch(\n");
    terminal.enter("nosuch(X)");
    terminal.until_answered("nosuch/1");
    // The files change under it.
    fs::write(folder.path().join("more.pl"), "team(bob, red).\n").unwrap();
    terminal.enter("team(X, Y)");
    terminal.until_answered("the rule files have changed");
    terminal.enter(":reload");
    terminal.until("a second note", |screen| {
        screen.matches("2 files with").count() == 2 && at_prompt(screen)
    });
    terminal.enter("team(X, Y)");
    let screen = terminal.until_answered("X = bob, Y = red");
    assert!(screen.contains("X = ann, Y = red"), "{screen}");
    terminal.keys(&["C-d"]);
    terminal.until_shown("ended: 0");
    drop(terminal);

    // The next session remembers, and one without a history does not.
    let history = folder.path().join("state/horngate/history");
    let kept = fs::read_to_string(&history).unwrap();
    assert!(kept.ends_with(":reload\nteam(X, Y)\n"), "{kept}");
    let next = Terminal::start("next", folder.path(), "governance.pl more.pl");
    next.until_prompts(1);
    next.keys(&["Up"]);
    next.until_shown("?- team(X, Y)\n");
    next.keys(&["Enter"]);
    next.until_answered("X = bob, Y = red");
    next.enter(":quit");
    next.until_shown("ended: 0");
    drop(next);
    let kept = fs::read_to_string(&history).unwrap();
    let without = Terminal::start("without", folder.path(), "governance.pl --no-history");
    without.until_prompts(1);
    without.enter("may_execute_tool('U:PM', Tool)");
    without.until_answered("Tool = tool_remote_trigger");
    without.enter("halt.");
    without.until_shown("ended: 0");
    assert_eq!(fs::read_to_string(&history).unwrap(), kept);
}

#[cfg(unix)]
#[test]
fn nobody_else_may_read_the_history() {
    use std::os::unix::fs::PermissionsExt;
    if !peer::present("tmux", "-V", "tmux") {
        return;
    }
    let folder = folder(&[("a.pl", "p(a).\n")]);
    let terminal = Terminal::start("history", folder.path(), "a.pl");
    terminal.until_prompts(1);
    terminal.enter("p(X)");
    terminal.until_shown("X = a");
    for name in ["state/horngate/history", "state/horngate"] {
        let known = fs::metadata(folder.path().join(name)).unwrap();
        assert_eq!(known.permissions().mode() & 0o077, 0, "{name}");
    }
}
