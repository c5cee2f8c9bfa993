"""Passes lines between a client and a server, and writes down what passes: tap.py LOG COMMAND..."""
import subprocess, sys, threading

log = open(sys.argv[1], "a", encoding="utf-8")
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
lock = threading.Lock()


def note(mark, line):
    with lock:
        log.write(mark + line.decode("utf-8", "replace").rstrip("\n") + "\n")
        log.flush()


def inward():
    for line in iter(sys.stdin.buffer.readline, b""):
        note("> ", line)
        try:
            child.stdin.write(line)
            child.stdin.flush()
        except OSError:
            return
    child.stdin.close()


threading.Thread(target=inward, daemon=True).start()
for line in iter(child.stdout.readline, b""):
    note("< ", line)
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
sys.exit(child.wait())
