"""Real servers behind the proxy, driven by the official Python client, and the same without the proxy.

usage: compare.py HORNGATE FOLDER [SERVER...]   FOLDER is what ./install prints

For each server and each protocol era that it speaks: the filtered list is exactly the grants, a granted call gives the
same bytes as without the proxy, and a call that is not granted never reaches the server.
"""
import asyncio, contextlib, http.server, json, os, pathlib, socket, subprocess, sys, tempfile, threading

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

HORNGATE, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
ONLY = sys.argv[3:]
HERE = pathlib.Path(__file__).parent
ACTOR = "U:Qa"
MODERN = "2026-07-28"
LIMIT = 60


def npm(name, *arguments):
    package = FOLDER / "node/node_modules/@modelcontextprotocol" / name
    program = next(iter(json.loads((package / "package.json").read_text())["bin"].values()))
    return ["node", str(package / program), *arguments]


def pypi(name, *arguments):
    return [str(FOLDER / "python/bin" / name), *arguments]


def servers(work, url):
    """Name, command, granted calls, calls that are not granted."""
    repo, files, memory = work / "repo", work / "files", work / "memory.jsonl"
    subprocess.run(["git", "init", "-q", "-b", "main", repo], check=True)
    subprocess.run(["git", "-C", repo, "-c", "user.name=x", "-c", "user.email=x@example.org",
                    "commit", "-q", "--allow-empty", "-m", "Grüße"], check=True)
    files.mkdir()
    (files / "a.txt").write_text("zwölf\n\t€ 1.0 \\ \"quoted\"\n")
    os.environ["MEMORY_FILE_PATH"] = str(memory)
    thought = {"thought": "One", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1}
    entity = {"entities": [{"name": "Ann", "entityType": "person", "observations": ["is here"]}]}
    zones = {"source_timezone": "Europe/Berlin", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    return [
        ("git", pypi("mcp-server-git", "--repository", str(repo)),
         [("git_status", {"repo_path": str(repo)}), ("git_log", {"repo_path": str(repo)})],
         [("git_create_branch", {"repo_path": str(repo), "branch_name": "evil"})]),
        ("time", pypi("mcp-server-time", "--local-timezone", "UTC"),
         [("convert_time", zones)], [("get_current_time", {"timezone": "UTC"})]),
        ("fetch", pypi("mcp-server-fetch", "--ignore-robots-txt"),
         [("fetch", {"url": url})], []),
        ("fetch-denied", pypi("mcp-server-fetch", "--ignore-robots-txt"),
         [], [("fetch", {"url": url})]),
        ("filesystem", npm("server-filesystem", str(files)),
         [("read_text_file", {"path": str(files / "a.txt")}), ("list_directory", {"path": str(files)})],
         [("write_file", {"path": str(files / "evil.txt"), "content": "evil"})]),
        ("everything", npm("server-everything"),
         [("echo", {"message": "é ☃ \u2028 1.0"}), ("get-sum", {"a": 1.5, "b": 2})],
         [("get-env", {})]),
        ("memory", npm("server-memory"),
         [("create_entities", entity), ("read_graph", {})],
         [("delete_entities", {"entityNames": ["Ann"]})]),
        ("sequential-thinking", npm("server-sequential-thinking"),
         [("sequentialthinking", thought)], []),
        ("sequential-thinking-denied", npm("server-sequential-thinking"),
         [], [("sequentialthinking", thought)]),
    ]


async def drive(command, mode, calls):
    """The era, the tools and the answers, as the client sees them. A command is a program, or a URL."""
    server = command
    if not isinstance(command, str):
        server = stdio_client(StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ)))
    async with Client(server, mode=mode) as client:
        tools, cursor = [], None
        while True:
            page = await client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None:
                break
        answers = []
        for name, arguments in calls:
            try:
                answer = await client.call_tool(name, arguments)
                answers.append(answer.model_dump(mode="json", by_alias=True))
            except Exception as error:  # A denial may be an error of the protocol, too.
                answers.append({"isError": True, "exception": repr(error)})
        tools = {tool.name: tool.model_dump(mode="json", by_alias=True) for tool in tools}
        return client.protocol_version, tools, answers


def results(log, method):
    """What was answered to the requests of a method, as text with its order and digits."""
    asked, found = [], {}
    for line in log.read_text().split("\n"):
        mark, text = line[:2], line[2:]
        try:
            frame = json.loads(text, parse_float=str, parse_int=str)
        except ValueError:
            continue
        if mark == "> " and frame.get("method") == method:
            asked.append(frame["id"])
        elif mark == "< " and "method" not in frame:
            found[str(frame.get("id"))] = json.dumps(frame.get("result", frame.get("error")), ensure_ascii=False)
    return [found.get(str(number)) for number in asked]


def sent(log):
    return [line for line in log.read_text().split("\n") if line.startswith("> ") and "tools/call" in line]


async def compare(work, server, mode):
    name, command, granted, denied = server
    tap = [sys.executable, str(HERE / "tap.py")]
    logs = {part: work / f"{name}-{mode}-{part}.log" for part in ("direct", "client", "server")}
    memory = pathlib.Path(os.environ["MEMORY_FILE_PATH"])
    memory.unlink(missing_ok=True)
    try:
        direct = await asyncio.wait_for(drive(tap + [str(logs["direct"])] + command, mode, granted), LIMIT)
    except Exception as error:
        if mode == MODERN:
            return f"{name}: speaks no {MODERN}"
        raise AssertionError(f"{name} does not work without the proxy: {error!r}") from error
    memory.unlink(missing_ok=True)
    rules = work / f"{name}.pl"
    facts = [f"may_execute_tool('{ACTOR}', '{'tool_' + tool}')." for tool, _ in granted]
    rules.write_text("\n".join(facts or ["may_execute_tool('U:Other', tool_other)."]) + "\n")
    proxy = [HORNGATE, "mcp", "--rules", str(rules), "--actor", ACTOR, "--"] + tap + [str(logs["server"])] + command
    tricks = [(trick, arguments) for tool, arguments in denied for trick in (tool, tool.upper(), tool + " ")]
    behind = await asyncio.wait_for(drive(tap + [str(logs["client"])] + proxy, mode, granted + tricks), LIMIT)
    assert behind[0] == direct[0], (behind[0], direct[0])
    wanted = {tool: direct[1][tool] for tool, _ in granted}
    assert behind[1] == wanted, f"the list is {sorted(behind[1])}"
    assert behind[2][: len(granted)] == direct[2], (behind[2], direct[2])
    ours, theirs = results(logs["client"], "tools/call")[: len(granted)], results(logs["direct"], "tools/call")
    assert ours == theirs and None not in ours and len(ours) == len(granted), (ours, theirs)
    for answer in behind[2][len(granted):]:
        assert answer.get("isError"), answer
    assert len(sent(logs["server"])) == len(granted), sent(logs["server"])
    heard = logs["server"].read_text()
    for tool, _ in denied:
        assert f'"name":"{tool}","arguments"' not in heard and "evil" not in "".join(sent(logs["server"]))
    return f"{name}: {behind[0]}, {len(granted)} of {len(direct[1])} tools, {len(tricks)} denied calls"


async def compare_far(work):
    """The same over HTTP, where nobody writes down what the server hears."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = npm("server-everything", "streamableHttp")
    server = subprocess.Popen(command, env={**os.environ, "PORT": str(port)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            await asyncio.sleep(0.05)
        url = f"http://127.0.0.1:{port}/mcp"
        granted = [("echo", {"message": "é"}), ("get-sum", {"a": 1.5, "b": 2})]
        direct = await asyncio.wait_for(drive(url, "legacy", granted), LIMIT)
        rules = work / "far.pl"
        rules.write_text("".join(f"may_execute_tool('{ACTOR}', 'tool_{tool}').\n" for tool, _ in granted))
        proxy = [HORNGATE, "mcp", "--rules", str(rules), "--actor", ACTOR, "--url", url]
        behind = await asyncio.wait_for(drive(proxy, "legacy", granted + [("get-env", {})]), LIMIT)
        assert behind[1] == {tool: direct[1][tool] for tool, _ in granted}, sorted(behind[1])
        assert behind[2][:2] == direct[2] and behind[2][2]["isError"], (behind[2], direct[2])
        return f"everything over HTTP: {behind[0]}, 2 of {len(direct[1])} tools, 1 denied calls"
    finally:
        server.kill()
        server.wait()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        body = "<html><body><h1>Grüße</h1><p>A page</p></body></html>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for server in servers(work, f"http://127.0.0.1:{site.server_port}/"):
            if ONLY and server[0] not in ONLY:
                continue
            for mode in ("legacy", MODERN):
                print(asyncio.run(compare(work, server, mode)), flush=True)
        if not ONLY or "far" in ONLY:
            print(asyncio.run(compare_far(work)), flush=True)
    print("the proxy and the servers agree")


main()
