#!/usr/bin/env python3
"""Verifies conformance cases against SWI-Prolog.

usage: verify.py CASES.jsonl...

A case is one JSON object a line. `source` is its program, or `files` maps names to programs,
which are loaded in the order of their names. It then has any of

  queries       [{"goal", "expect"}]: SWI-Prolog must give exactly this answer
  query_error   [goal]: horngate must refuse these though `check` is clean. SWI-Prolog must
                raise, or give the answer that `swi_answers` records
  expect_error  the kind of error that `check` must report, at `error_line` (of `error_file`)
                where these are given. The program is only read:
                SWI-Prolog must find a syntax error if the kind is `lex` or `syntax`, and none if
                it is another or if `swi_accepts` is set
  swi_evidence  [{"goal", "swi"}]: what SWI-Prolog answers where horngate refuses; loads the
                program after all

`swi_table` lists predicates to table, so that SWI-Prolog terminates. `swi_load_error`: SWI-Prolog
itself reports an error when it loads the program.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

RUNNER = pathlib.Path(__file__).resolve().with_name("runner.pl")
WORKERS = 4
SECONDS = 30
# One process in some thousands hangs; it is asked again, and said so.
ATTEMPTS = 3
# Its own limits do not count what it keeps outside its stacks and tables.
MEMORY_BYTES = 8 << 30
KINDS = {"lex", "syntax", "unsafe", "unstratified", "unsupported", "arity", "undefined"}
FORMS = ("queries", "query_error", "expect_error")
ENVIRONMENT = {**os.environ, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}


class Failure(Exception):
    """SWI-Prolog and the case disagree, or SWI-Prolog gave no answer."""


def swipl(directory, *arguments):
    """Runs runner.pl; returns its output, one JSON value a line."""
    command = ["swipl", "-q", "-f", "none", str(RUNNER), *arguments]
    done = None
    for attempt in range(ATTEMPTS):
        try:
            done = subprocess.run(command, cwd=directory, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, encoding="utf8", timeout=SECONDS)
            break
        except subprocess.TimeoutExpired:
            print(f"note: SWI-Prolog gave no answer in {SECONDS} s (attempt {attempt + 1} of {ATTEMPTS})")
    if done is None:
        raise Failure("timeout")
    try:
        return [json.loads(line) for line in done.stdout.splitlines()]
    except ValueError:
        raise Failure(f"unexpected output: {done.stdout[:200]!r} {done.stderr[:200]!r}") from None


def write_program(case, directory):
    """Writes the case's files; returns their names in load order."""
    table = "".join(f":- table {indicator}. " for indicator in case.get("swi_table", []))
    files = case.get("files") or {"case.pl": case["source"]}
    names = sorted(files)
    for index, name in enumerate(names):
        text = (table if index == 0 else "") + files[name]
        pathlib.Path(directory, name).write_text(text, encoding="utf8", newline="")
    return names


def prolog_string(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}".\n'


def answer_of(reply):
    """An answer as cases write it: true, false, a list of solutions, or {"error": its class}."""
    if "error" not in reply:
        return reply["result"] if isinstance(reply["result"], bool) else distinct(reply["result"])
    error = reply["error"].removeprefix("error(")
    return {"error": error.split("(")[0].split(",")[0]}


def distinct(solutions):
    by_text = {json.dumps(s, sort_keys=True, ensure_ascii=False): s for s in solutions}
    return [by_text[text] for text in sorted(by_text)]


def answers(case, goals):
    """What SWI-Prolog answers to each goal, and the errors it reports while loading."""
    with tempfile.TemporaryDirectory() as directory:
        names = write_program(case, directory)
        goals_file = pathlib.Path(directory, "goals.txt")
        goals_file.write_text("".join(map(prolog_string, goals)), encoding="utf8")
        replies = swipl(directory, "run", "goals.txt", *names)
    if len(replies) != len(goals) + 1:
        raise Failure(f"{len(replies) - 1} answers to {len(goals)} goals")
    return [answer_of(reply) for reply in replies[1:]], replies[0]["load_errors"]


def syntax_errors(case):
    with tempfile.TemporaryDirectory() as directory:
        names = write_program(case, directory)
        replies = swipl(directory, "read", *names)
    if not replies:
        raise Failure("the reader gave nothing")
    return replies[0]["syntax_errors"]


def expect(goal, expected, got):
    if expected != got:
        raise Failure(f"{goal}: expected {expected}, got {got}")


def verify_answers(case):
    queries = case.get("queries", [])
    refused = case.get("query_error", [])
    answered = {entry["goal"]: entry["swi"] for entry in case.get("swi_answers", [])}
    if stray := set(answered) - set(refused):
        raise Failure(f"swi_answers without query_error: {sorted(stray)}")
    got, load_errors = answers(case, [query["goal"] for query in queries] + refused)
    if load_errors:
        raise Failure(f"load error: {load_errors[0]}")
    for query, answer in zip(queries, got):
        expect(query["goal"], query["expect"], answer)
    for goal, answer in zip(refused, got[len(queries):]):
        if goal in answered:
            expect(goal, answered[goal], answer)
        elif not isinstance(answer, dict):
            raise Failure(f"{goal}: expected an error, got {answer}")


def verify_refusal(case):
    if case["expect_error"] not in KINDS:
        raise Failure(f"unknown kind {case['expect_error']}")
    count = syntax_errors(case)
    unreadable = case["expect_error"] in ("lex", "syntax") and not case.get("swi_accepts")
    if unreadable and count == 0:
        raise Failure("SWI-Prolog reads this without a syntax error")
    # A program that defines operators is read without them, on purpose.
    defines_operators = any("op(" in text for text in programs(case))
    if not unreadable and count > 0 and not defines_operators:
        raise Failure(f"SWI-Prolog reports {count} syntax errors")
    evidence = case.get("swi_evidence", [])
    if evidence or case.get("swi_load_error"):
        got, load_errors = answers(case, [entry["goal"] for entry in evidence])
        for entry, answer in zip(evidence, got):
            expect(entry["goal"], entry["swi"], answer)
        if case.get("swi_load_error") and not load_errors:
            raise Failure("SWI-Prolog loads this without an error")


def programs(case):
    return case["files"].values() if "files" in case else [case["source"]]


def verify(case):
    """None, or how SWI-Prolog and the case disagree."""
    try:
        if not any(form in case for form in FORMS):
            raise Failure(f"has none of {', '.join(FORMS)}")
        if "expect_error" in case:
            verify_refusal(case)
        else:
            verify_answers(case)
    except Failure as failure:
        return str(failure)
    return None


def form(case):
    if "expect_error" in case:
        return f"refused: {case['expect_error']}"
    return "query_error" if "query_error" in case else "answered"


def main(paths):
    if not paths:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    cases = []
    for path in paths:
        with open(path, encoding="utf8") as lines:
            cases += [json.loads(line) for line in lines if line.strip()]
    ids = collections.Counter(case["id"] for case in cases)
    duplicates = [name for name, count in ids.items() if count > 1]
    total, good = collections.Counter(), collections.Counter()
    goals = 0
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for case, failure in zip(cases, pool.map(verify, cases)):
            total[form(case)] += 1
            goals += len(case.get("queries", [])) + len(case.get("query_error", []))
            if failure:
                print(f"FAIL {case['id']}: {failure}")
            else:
                good[form(case)] += 1
    for name in duplicates:
        print(f"FAIL {name}: duplicate id")
    for name in sorted(total):
        print(f"{name:22} {good[name]:4} of {total[name]:4}")
    failed = len(cases) - good.total() + len(duplicates)
    print(f"{len(cases)} cases, {goals} goals, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
