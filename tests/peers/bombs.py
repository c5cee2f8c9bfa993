#!/usr/bin/env python3
"""Inputs that are made to use up time and memory, and what each costs.

    cargo build --release -p horngate-cli
    python3 tests/peers/bombs.py target/release/horngate [NAME...]

Every bomb must end by itself, with one of the exit codes that its command promises, without a panic, and within the
memory that is written beside it. What it takes is printed as a row of the table in docs/hardening.md. CPU time is
measured and not judged: what bounds a verdict are counts, and machines differ.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

MB = 1 << 20

# Of the files on disk, so that a bomb of one gigabyte needs none of it in memory here.
PIECE = 1 << 20


def write(path, *parts):
    """Writes texts; a pair is a text and how often."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        for part in parts:
            text, times = part if isinstance(part, tuple) else (part, 1)
            many = max(1, PIECE // max(1, len(text.encode())))
            for _ in range(times // many):
                file.write(text * many)
            file.write(text * (times % many))
    return path


def lines(path, make, count):
    with open(path, "w", encoding="utf-8", newline="") as file:
        for start in range(0, count, 10_000):
            file.write("".join(make(n) for n in range(start, min(count, start + 10_000))))
    return path


class Bomb:
    def __init__(self, name, memory, codes, make, says="", stdin=None):
        self.name, self.memory, self.codes, self.make, self.says, self.stdin = name, memory, codes, make, says, stdin


BOMBS = []


def bomb(name, memory, codes, says="", stdin=None):
    """`make` writes what is needed and gives the arguments; `says` must be in what is said."""

    def add(make):
        BOMBS.append(Bomb(name, memory, codes, make, says, stdin))
        return make

    return add


# ---- texts of rules

DEEP = 1_000_000
for shown, opened, closed in [
    ("(", "(", ")"),
    ("[", "[", "]"),
    ("{", "{", "}"),
    ("f(", "f(", ")"),
    ("[a|", "[a|", "]"),
    ("\\+ (", "\\+ (", ")"),
    ("- (operators)", "- ", ""),
    ("a :- (operators)", "a:-", ""),
    ("a, (a row)", "a, ", ""),
    ("a ; (a row)", "a ; ", ""),
    ("( a -> b ; (", "( a -> b ; (", "))"),
]:

    def nested(folder, opened=opened, closed=closed):
        return ["check", write(f"{folder}/a.pl", "p :- ", (opened, DEEP), "a", (closed, DEEP), ".\n")]

    bomb(f"a million `{shown}`", 1300, {0, 1})(nested)

    def nested_layout(folder, opened=opened, closed=closed):
        return ["fmt", "--check", write(f"{folder}/a.pl", "p :- ", (opened, 50_000), "a", (closed, 50_000), ".\n")]

    bomb(f"fmt: 50,000 `{shown}`", 1200, {0, 1, 2})(nested_layout)


@bomb("a million `/*`", 600, {1})
def comments(folder):
    return ["check", write(f"{folder}/a.pl", ("/* ", DEEP), "\n")]


@bomb("a million brackets that close", 800, {1})
def closing(folder):
    return ["check", write(f"{folder}/a.pl", "p(", (")", DEEP), ".\n")]


@bomb("a fact of 100 MB: one list", 2500, {0, 1})
def long_list(folder):
    return ["check", write(f"{folder}/a.pl", "p([", ("a, ", 33_000_000), "a]).\n")]


@bomb("a rule of 100 MB: one body", 2500, {0, 1})
def long_body(folder):
    return ["check", write(f"{folder}/a.pl", "q.\np :- ", ("q, ", 33_000_000), "q.\n")]


@bomb("decide: a rule of 100 MB", 2500, {2})
def long_body_decided(folder):
    rules = write(f"{folder}/a.pl", "q.\nmay_execute_tool(a, tool_b) :- ", ("q, ", 33_000_000), "q.\n")
    return ["decide", "--rules", rules, "a", "b"]


@bomb("an atom of 100 MB", 1200, {0, 1})
def long_atom(folder):
    return ["check", write(f"{folder}/a.pl", "p('", ("x", 100 * MB), "').\n")]


@bomb("a quote that is never closed, 100 MB", 1200, {1})
def long_quote(folder):
    return ["check", write(f"{folder}/a.pl", "p('", ("x", 100 * MB))]


@bomb("a comment of 100 MB", 800, {0, 1})
def long_comment(folder):
    return ["check", write(f"{folder}/a.pl", "/* ", ("x", 100 * MB), " */ p(a).\n")]


@bomb("an integer of 100 million digits", 1200, {1})
def long_integer(folder):
    return ["check", write(f"{folder}/a.pl", "p(", ("9", 100_000_000), ").\n")]


@bomb("100 MB of lines that are no clauses", 2500, {1})
def no_clauses(folder):
    return ["check", write(f"{folder}/a.pl", (") ( . !\n", 13_000_000))]


@bomb("a file of 3 GB", 2200, {1, 2})
def sparse(folder):
    path = write(f"{folder}/a.pl", "p(a).\n")
    os.truncate(path, 3 << 30)
    return ["check", path]


@bomb("decide: 100 MB of bytes that are zero", 1200, {2})
def zeros(folder):
    path = write(f"{folder}/a.pl", "may_execute_tool(a, tool_b).\n")
    os.truncate(path, 100 * MB)
    return ["decide", "--rules", path, "a", "b"]


# ---- evaluation

STRATA = 1_000_000


def strata(folder):
    return lines(f"{folder}/a.pl", lambda n: f"p{n + 1}(a) :- \\+ p{n}(a).\n" if n else "p1(a).\n", STRATA)


@bomb("query: a million strata of negation", 4500, {0, 1, 2})
def strata_query(folder):
    return ["query", "--rules", strata(folder), f"p{STRATA}(a)"]


@bomb("check: a million strata of negation", 6500, {0, 1})
def strata_check(folder):
    return ["check", strata(folder)]


@bomb("explain: a million strata of negation", 6500, {0, 1, 2})
def strata_explain(folder):
    return ["explain", "--rules", strata(folder), "--goal", f"p{STRATA}(a)"]


def product(folder):
    path = f"{folder}/a.pl"
    return write(path, "".join(f"d({n}).\n" for n in range(1_000)), "may_execute_tool(X, Y) :- d(X), d(Y), d(Z), Z > 1.\n")


@bomb("query: a product of a billion tuples", 2500, {2}, "budget")
def billion(folder):
    rules = write(f"{folder}/a.pl", "".join(f"d({n}).\n" for n in range(1_000)), "p(X, Y, Z) :- d(X), d(Y), d(Z).\n")
    return ["query", "--rules", rules, "p(X, Y, Z)"]


@bomb("query: a goal of a billion answers", 2500, {2}, "budget")
def billion_goal(folder):
    return ["query", "--rules", product(folder), "d(X), d(Y), d(Z)"]


@bomb("decide: a billion firings for a million tuples", 2500, {1, 2})
def firings(folder):
    return ["decide", "--rules", product(folder), "a", "b"]


@bomb("test: forall over a product of a billion", 2500, {1, 2})
def forall(folder):
    rules = product(folder)
    write(
        f"{folder}/b.pl",
        ":- begin_tests(t).\ntest(all, [forall((d(X), d(Y), d(Z))), true]) :- d(X), d(Y), d(Z).\n:- end_tests(t).\n",
    )
    return ["test", rules, f"{folder}/b.pl"]


@bomb("query: numbers squared 64 times", 400, {1, 2})
def squares(folder):
    steps = "".join(f"p{n + 1}(Y) :- p{n}(X), Y is X * X.\n" for n in range(64))
    return ["query", "--rules", write(f"{folder}/a.pl", "p0(9999999999).\n", steps), "p64(X)"]


@bomb("query: a shift by a power", 400, {1, 2})
def power(folder):
    rules = write(f"{folder}/a.pl", "p(9).\nq(Y) :- p(X), Y is ((X ** X) ** X) ** X.\nr(Y) :- p(X), Y is X << 4000000000.\n")
    return ["query", "--rules", rules, "q(X)"]


@bomb("query: a term that grows", 2500, {1, 2})
def grows(folder):
    steps = "".join(f"p{n + 1}(f(X, X)) :- p{n}(X).\n" for n in range(64))
    return ["query", "--rules", write(f"{folder}/a.pl", "p0(a).\n", steps), "--count", "p64(X)"]


@bomb("check: a body of alternatives, 2 to the 40th", 800, {0, 1})
def alternatives(folder):
    body = ", ".join(f"( e(X{n}) ; f(X{n}) )" for n in range(40))
    return ["check", write(f"{folder}/a.pl", f"e(a).\nf(b).\np(X0) :- {body}.\n")]


@bomb("query: a clique asked for in 30 variables", 800, {0, 1, 2})
def clique(folder):
    edges = "".join(f"e({a}, {b}).\n" for a in range(30) for b in range(30) if a != b and (a * b) % 7)
    body = ", ".join(f"e(X{a}, X{b})" for a in range(30) for b in range(a + 1, 30))
    return ["query", "--rules", write(f"{folder}/a.pl", edges, f"p :- {body}.\n"), "p"]


# ---- lists of tools, schemas, documents


def allowing(folder):
    return write(f"{folder}/rules.pl", "may_execute_tool(a, tool_x).\n")


@bomb("pin: a list of tools of 1 GB", 200, {2})
def huge_list(folder):
    tool = '{"name": "t", "inputSchema": {"type": "object"}},'
    tools = write(f"{folder}/t.json", '{"tools": [', (tool, (1 << 30) // len(tool)), '{"name": "u", "inputSchema": {}}]}')
    return ["pin", "--rules", allowing(folder), "--tools", tools, "--actor", "a"]


@bomb("pin: 16 MB of different tools", 1500, {1, 2})
def many_tools(folder):
    path = f"{folder}/t.json"
    lines(path, lambda n: ("," if n else '{"tools": [') + f'{{"name": "t{n}", "inputSchema": {{}}}}', 430_000)
    with open(path, "a", encoding="utf-8") as file:
        file.write("]}")
    return ["pin", "--rules", allowing(folder), "--tools", path, "--actor", "a"]


@bomb("pin: JSON nested a million times", 200, {2})
def deep_json(folder):
    tools = write(f"{folder}/t.json", '{"tools": [{"name": "t", "inputSchema": ', ('{"a": [', DEEP), "1", ("]}", DEEP), "}]}")
    return ["pin", "--rules", allowing(folder), "--tools", tools, "--actor", "a"]


@bomb("pin: YAML nested a million times", 400, {2})
def deep_yaml(folder):
    tools = write(f"{folder}/t.yaml", "tools: ", ("[", DEEP), ("]", DEEP), "\n")
    return ["pin", "--rules", allowing(folder), "--tools", tools, "--actor", "a"]


@bomb("pin: YAML of aliases, 9 to the 9th", 200, {2})
def laughs(folder):
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    text += "".join(f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 9)}]\n" for n in range(9))
    return ["pin", "--rules", allowing(folder), "--tools", write(f"{folder}/t.yaml", text), "--actor", "a"]


@bomb("pin: TOML with a key of a million parts", 800, {2})
def deep_toml(folder):
    tools = write(f"{folder}/t.toml", ("a.", DEEP), "b = 1\n")
    return ["pin", "--rules", allowing(folder), "--tools", tools, "--actor", "a"]


@bomb("pin: TOML with arrays nested a million times", 400, {2})
def deep_toml_arrays(folder):
    tools = write(f"{folder}/t.toml", "a = ", ("[", DEEP), ("]", DEEP), "\n")
    return ["pin", "--rules", allowing(folder), "--tools", tools, "--actor", "a"]


# ---- names that look alike

ZALGO = "a" + "\u0301\u0323\u0308" * 1_000_000


@bomb("check: a name of a million marks in two orders", 800, {0, 1})
def marks(folder):
    other = "a" + "\u0308\u0301\u0323" * 1_000_000
    return ["check", write(f"{folder}/a.pl", f"p('{ZALGO}', b).\np('{other}', c).\n")]


@bomb("check: a name of 2 million ligatures that unfold to 18 letters each", 1500, {0, 1})
def ligatures(folder):
    return ["check", write(f"{folder}/a.pl", "p('", ("\ufdfa", 2_000_000), "').\np(b).\n")]


@bomb("check: 200,000 names that look alike", 1500, {0, 1})
def alike(folder):
    letters = ["a\u0430", "e\u0435", "o\u043e", "p\u0440", "c\u0441", "x\u0445"] * 3

    def name(n):
        return "".join(pair[n >> at & 1] for at, pair in enumerate(letters))

    return ["check", lines(f"{folder}/a.pl", lambda n: f"may_execute_tool('{name(n)}', tool_x).\n", 200_000)]


@bomb("check: 200,000 names one edit apart", 1500, {0, 1})
def near(folder):
    def name(n):
        return "".join("ab"[n >> at & 1] for at in range(18))

    return ["check", lines(f"{folder}/a.pl", lambda n: f"may_execute_tool({name(n)}, tool_x).\n", 200_000)]


@bomb("decide: an actor of 100 kB of marks", 200, {1})
def marked_actor(folder):
    return ["decide", "--rules", allowing(folder), "a" + "\u0301" * 50_000, "x"]


@bomb("explain: why not, beside 200,000 near names", 2500, {1})
def why_not(folder):
    rules = lines(f"{folder}/a.pl", lambda n: f"may_execute_tool(agent_{n:06}, tool_x).\n", 200_000)
    return ["explain", "--rules", rules, "agent_x00000", "x"]


# ---- streams


@bomb("decide --batch: a line of 1 GB", 200, {2}, stdin=("x", 1 << 30))
def batch(folder):
    return ["decide", "--rules", allowing(folder), "--batch", "-"]


@bomb("hook: an input of 1 GB", 200, {2}, stdin=("x", 1 << 30))
def hook(folder):
    return ["hook", "--rules", allowing(folder), "--actor", "a"]


@bomb("hook: an input nested a million times", 200, {2}, stdin=("[", 1_000_000))
def deep_hook(folder):
    return ["hook", "--rules", allowing(folder), "--actor", "a"]


@bomb("repl: a line of 100 MB", 400, {0, 1, 2}, stdin=("x", 100 * MB))
def repl(folder):
    return ["repl", allowing(folder)]


@bomb("audit verify: a line of 1 GB", 200, {1, 2})
def audit(folder):
    return ["audit", "verify", write(f"{folder}/log", ("x", 1 << 30))]


@bomb("explain --verify: a document of 1 GB", 800, {1, 2})
def huge_proof(folder):
    return ["explain", "--rules", allowing(folder), "--verify", write(f"{folder}/p.json", ("x", 1 << 30))]


@bomb("explain --verify: a proof nested a million times", 800, {1, 2})
def deep_proof(folder):
    proof = write(
        f"{folder}/p.json",
        '{"goal": "p", "holds": true, "proof": ',
        ('{"fact": "p", "because": [', DEEP),
        ("]}", DEEP),
        "}",
    )
    return ["explain", "--rules", allowing(folder), "--verify", proof]


@bomb("mcp: a line of 1 GB from the client", 200, {0, 1, 2}, stdin=("x", 1 << 30))
def mcp_line(folder):
    return ["mcp", "--rules", allowing(folder), "--actor", "a", "--", "cat"]


SCHEMAS = {
    "a regex of nested repetition": {"properties": {"a": {"pattern": "^(a+)+$"}}},
    "a regex of a million states": {"properties": {"a": {"pattern": "(x{1000}){1000}"}}},
    "a schema that refers to itself twice": {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}] * 2}}},
    "a schema that doubles 60 times": {
        "$ref": "#/$defs/a0",
        "$defs": {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(60)} | {"a60": {"type": "object"}},
    },
    "a schema of all values but 100,000": {"properties": {"a": {"enum": list(range(100_000))}}},
    "unique items": {"properties": {"a": {"uniqueItems": True}}},
}
LONG = {"a": "a" * 1_000_000 + "!"}
ITEMS = {"a": [{"n": n} for n in range(100_000)]}


def session(schema, arguments):
    """A server that has one tool, and what its client says."""

    def make(folder):
        server = write(f"{folder}/server.py", SERVER)
        path = write(f"{folder}/schema.json", json.dumps(schema))
        frames = [
            {"method": "initialize", "id": 1, "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}},
            {"method": "notifications/initialized"},
            {"method": "tools/list", "id": 2},
            {"method": "tools/call", "id": 3, "params": {"name": "x", "arguments": arguments}},
        ]
        write(f"{folder}/stdin", "".join(json.dumps({"jsonrpc": "2.0"} | frame) + "\n" for frame in frames))
        return ["mcp", "--rules", allowing(folder), "--actor", "a", "--", sys.executable, server, path]

    return make


SERVER = """import json, sys
schema = json.load(open(sys.argv[1]))
for line in sys.stdin:
    frame = json.loads(line)
    if "id" not in frame:
        continue
    method = frame["method"]
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "x", "inputSchema": dict(schema, type="object")}]}
    else:
        result = {"content": []}
    print(json.dumps({"jsonrpc": "2.0", "id": frame["id"], "result": result}), flush=True)
"""

for shown, schema in SCHEMAS.items():
    given = ITEMS if shown == "unique items" else LONG
    bomb(f"mcp: {shown}", 400, {0, 1, 2}, stdin="stdin")(session(schema, given))


def measure(binary, found, folder):
    args = found.make(folder)
    out, err = open(f"{folder}/out", "wb"), open(f"{folder}/err", "wb")
    stdin = subprocess.DEVNULL
    if found.stdin == "stdin":
        stdin = open(f"{folder}/stdin", "rb")
    elif found.stdin:
        stdin = subprocess.PIPE
    before = time.monotonic()
    # The limit is on addresses, far above what may be used: a bomb that is not bounded must not take the machine along.
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
    child = subprocess.Popen([binary, *args], stdin=stdin, stdout=out, stderr=err, preexec_fn=limit)
    if found.stdin and found.stdin != "stdin":
        text, times = found.stdin
        piece = text.encode() * PIECE
        try:
            for _ in range(times // PIECE):
                child.stdin.write(piece)
            child.stdin.write(text.encode() * (times % PIECE))
            child.stdin.close()
        except BrokenPipeError:
            pass
    _, status, usage = os.wait4(child.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    with open(f"{folder}/out", "rb") as out, open(f"{folder}/err", "rb") as err:
        said = err.read(MB) + out.read(MB)
    return code, usage, time.monotonic() - before, said.decode("utf-8", "replace")


def first_line(said):
    for line in said.splitlines():
        if line.strip():
            return line.strip()[:110].replace("|", "\\|")
    return ""


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    binary, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    bombs = [found for found in BOMBS if not wanted or any(name in found.name for name in wanted)]
    if not bombs:
        sys.exit(f"no such bomb: {wanted}")
    print("| bomb | ends with | CPU s | peak MB | says |")
    print("|---|---|---|---|---|")
    failed = []
    for found in bombs:
        with tempfile.TemporaryDirectory() as folder:
            code, usage, _, said = measure(binary, found, folder)
        peak, cpu = usage.ru_maxrss // 1024, usage.ru_utime + usage.ru_stime
        print(f"| {found.name} | {code} | {cpu:.1f} | {peak} | {first_line(said)} |", flush=True)
        if code not in found.codes:
            failed.append(f"{found.name}: ended with {code}, not one of {sorted(found.codes)}")
        if peak > found.memory:
            failed.append(f"{found.name}: took {peak} MB, more than {found.memory}")
        if "panicked" in said:
            failed.append(f"{found.name}: panicked")
        if found.says and found.says not in said:
            failed.append(f"{found.name}: does not say `{found.says}`: {first_line(said)}")
    for line in failed:
        print(line, file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
