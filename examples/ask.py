#!/usr/bin/env python3
"""Ask horngate from Python: started once, asked by the line, standard library only.

    python3 examples/ask.py                     # a tour over a copy of rules/governance.pl
    python3 examples/ask.py RULES ACTOR TOOL    # one question; exit code 0 only if it is allowed

The program is `horngate` on the path, or what the environment variable HORNGATE names. Copy the class Gate: whatever
goes wrong (the program is missing or ends, it answers late, or something else than what was asked) is a denial.
"""

import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path


class Gate:
    """A horngate that answers until it is closed, by the rules as their files are at each question."""

    def __init__(self, rules, program=None, timeout=10.0):
        self._command = [
            program or os.environ.get("HORNGATE") or "horngate",
            "decide", "--rules", str(rules), "--batch", "-", "--watch",
        ]
        self._timeout = timeout
        self._lock = threading.Lock()  # one question at a time
        self._process = None
        self._answers = None

    def allows(self, actor, tool):
        """True only if the rules allow it now."""
        return self.ask(actor, tool)["decision"] == "allow"

    def ask(self, actor, tool):
        """The answer, a dictionary with the decision and its reason; a denial if there is none."""
        with self._lock:
            try:
                return self._ask(actor, tool)
            except Exception as error:  # no failure may ever allow
                self._stop()  # an answer that comes late must not be taken for the next one
                return {
                    "decision": "deny", "actor": actor, "tool": tool,
                    "reason": "error", "message": f"{type(error).__name__}: {error}",
                }

    def close(self):
        with self._lock:
            self._stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _ask(self, actor, tool):
        if self._process is None:
            self._start()
        self._process.stdin.write(json.dumps({"actor": actor, "tool": tool}).encode() + b"\n")
        self._process.stdin.flush()
        line = self._answers.get(timeout=self._timeout)
        answer = json.loads(line)
        if (answer["actor"], answer["tool"]) != (actor, tool):
            raise ValueError(f"this is no answer to the question: {line!r}")
        if answer["decision"] not in ("allow", "deny"):
            raise ValueError(f"this is no decision: {line!r}")
        return answer

    def _start(self):
        process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        answers = queue.Queue()

        def read():
            for line in process.stdout:
                answers.put(line)
            answers.put(b"")  # it has ended

        threading.Thread(target=read, daemon=True).start()
        self._process, self._answers = process, answers

    def _stop(self):
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                try:
                    pipe.close()
                except OSError:
                    pass


def tour():
    shipped = Path(__file__).resolve().parent.parent / "rules" / "governance.pl"
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "governance.pl"
        shutil.copy(shipped, rules)
        with Gate(rules) as gate:

            def ask(actor, tool, expected):
                answer = gate.ask(actor, tool)
                print(f"{actor} {tool}: {answer['decision']}, {answer['reason']}")
                if (answer["decision"], answer["reason"]) != expected:
                    sys.exit(f"expected {expected}, got {answer}")

            ask("U:Qa", "repl", ("allow", "derived"))
            ask("U:Qa", "remote_trigger", ("deny", "not-granted"))
            ask("NOBODY", "rm_rf_slash", ("deny", "unknown-actor"))
            print("the rules change: one grant more")
            text = rules.read_text(encoding="utf-8")
            rules.write_text(text + "may_execute_tool('U:Qa', tool_remote_trigger).\n", encoding="utf-8")
            ask("U:Qa", "remote_trigger", ("allow", "derived"))
            print("a mistake: the last dot is lost")
            rules.write_text(text + "may_execute_tool('U:Qa', tool_remote_trigger)\n", encoding="utf-8")
            ask("U:Qa", "repl", ("deny", "error"))
            print("mended")
            rules.write_text(text, encoding="utf-8")
            ask("U:Qa", "repl", ("allow", "derived"))
            ask("U:Qa", "remote_trigger", ("deny", "not-granted"))
        with Gate(rules, program="no-such-program") as gate:
            ask("U:Qa", "repl", ("deny", "error"))


def main(arguments):
    if not arguments:
        tour()
        return 0
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    rules, actor, tool = arguments
    with Gate(rules) as gate:
        answer = gate.ask(actor, tool)
    print(f"{answer['decision']}: {answer['reason']}")
    if answer["reason"] == "error":
        return 2
    return 0 if answer["decision"] == "allow" else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
