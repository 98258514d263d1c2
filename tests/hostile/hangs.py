# SPDX-License-Identifier: Apache-2.0
"""hangs.py TOOL FOLDER [PART...]: endless input, limits on files, closed outputs. FOLDER is
empty."""
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "record"))
import document  # noqa: E402

tool, folder = sys.argv[1:3]
environment = {k: v for k, v in os.environ.items() if not k.startswith("ISOMER_")}
environment.update(ISOMER_CACHE_DIR="off", TMPDIR=os.path.join(folder, "tmp"), LC_ALL="C.UTF-8")
os.chdir(folder)
os.mkdir("tmp")
failures = 0
DEADLINE = int(os.environ.get("HANGS_DEADLINE", 600))


def fail(what, text):
    global failures
    failures += 1
    print("FAIL: %s: %s" % (what, text))


def expect(what, said, code, *words):
    text = said.stderr.decode("latin-1")
    if said.returncode != code:
        fail(what, "ends with %s, not %d: %s" % (said.returncode, code, text[-500:]))
    for word in words:
        if word not in text:
            fail(what, "nothing is said of %r: %s" % (word, text[-500:]))


def run(words, stdin=subprocess.DEVNULL, preexec=None, stdout=subprocess.PIPE, **more):
    def limits():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if preexec:
            preexec()
    try:
        return subprocess.run([tool, *words], stdin=stdin, stdout=stdout, stderr=subprocess.PIPE,
                              timeout=DEADLINE, preexec_fn=limits, env=dict(environment, **more))
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, "nothing in %d s" % DEADLINE, b"", b"")


def script(name, text):
    with open(name, "w") as out:
        out.write("#!/bin/sh\n" + text)
    os.chmod(name, 0o755)
    return os.path.join(folder, name)


def alive(file):
    """Processes whose ids are the lines of the file."""
    found = []
    for line in open(file):
        try:
            if open("/proc/%s/stat" % line.strip()).read().rsplit(")")[-1].split()[0] != "Z":
                found.append(line.strip())
        except FileNotFoundError:
            pass
    return found


def endless():
    """Endless streams, and absurdly large files."""
    with open("sparse.json", "wb") as out:
        out.truncate(8 << 30)
    os.mkfifo("fifo")
    yes = ["yes", " " * 4096]
    forms = [(["compare", "a.json", "%"], 6), (["report", "%", "-o", "x.html"], 6),
             (["bench", "--list", "--suite", "%"], 6)]
    for words, code in forms:
        for name in ("/dev/zero", "sparse.json", "./fifo", "-"):
            source = subprocess.Popen(yes, stdout=subprocess.PIPE) if name == "-" else None
            if name == "./fifo":
                def feed():
                    try:
                        with open("fifo", "wb") as out:
                            while True:
                                out.write(b"[" * 65536)
                    except BrokenPipeError:
                        pass
                threading.Thread(target=feed, daemon=True).start()
            given = "/dev/stdin" if name == "-" and words[0] == "bench" else name
            said = run([given if w == "%" else w for w in words],
                       stdin=source.stdout if source else subprocess.DEVNULL,
                       preexec=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)))
            if source:
                source.kill()
                source.wait()
            expect("%s of %s" % (words[0], name), said, code, "MiB")


def children():
    """Programs started by --against that never end."""
    mark = os.path.join(folder, "pids")
    version = "case $1 in --version) echo isomer 0.1.0; exit 0 ;; esac\n"
    few = ["bench", "--backend", "openmp", "--op", "copy", "--dtype", "f32", "--size", "1Ki", "--variant",
           "naive", "--rounds", "8", "--against"]
    sleeps = "sleep 987 & echo $! >>'%s'; echo $$ >>'%s'; wait\n" % (mark, mark)
    for what, text, words in (
            ("sleeps", version + sleeps, ["did not end in 4 s", "--timeout"]),
            ("writes", version + "exec yes '[1,'\n", ["64 MiB"]),
            ("complains", version + "exec yes no >&2\n", ["did not end in 4 s"]),
            ("version", sleeps, ["--version` did not end"]),
            ("versions", "exec yes isomer 0.1.0\n", ["did not stop printing"])):
        timeout = "60" if what in ("writes", "versions") else "4"
        said = run([*few, script(what, text), "--timeout", timeout])
        expect("--against a program that " + what, said, 5, *words)
    if alive(mark):
        fail("--against", "left running: %s" % alive(mark))
    expect("--timeout alone", run(["bench", "--timeout", "5"]), 2, "--against")


def limited(bytes):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes, bytes))


def sizes():
    """A file length limit is reported as a write error."""
    said = run(["info", "--backend", "openmp", "--json", "short.json"], preexec=limited(512))
    expect("info --json under a limit", said, 6, "short.json", "File too large")
    with open("out", "wb") as out:
        said = run(["info", "--backend", "openmp", "--all"], preexec=limited(512), stdout=out)
    expect("info > file under a limit", said, 6, "standard output")
    said = run(["report", "a.json", "-o", "short.html"], preexec=limited(512), PATH="/nowhere")
    expect("report under a limit", said, 6, "short.html")
    few = ["verify", "--backend", "openmp", "--op", "transpose", "--dtype", "e4"]
    said = run(few, preexec=limited(512), ISOMER_TRACE=os.path.join(folder, "short.trace"),
               ISOMER_LOG="warn")
    expect("a trace under a limit", said, 0, "short.trace", "the trace ends here")
    if [f for f in os.listdir(".") if f.startswith("short") and f != "short.trace"]:
        fail("sizes", "left over: %s" % os.listdir("."))


def closed():
    """No opened file gets the number of a closed output."""
    for which in ([0], [1], [2], [0, 1], [1, 2], [0, 1, 2]):
        for f in ("t.trace", "t.json"):
            if os.path.exists(f):
                os.unlink(f)

        def close():
            for i in which:
                os.close(i)
        words = [tool, "verify", "--backend", "openmp", "--op", "transpose", "--dtype", "e4", "--json", "t.json"]
        child = os.fork()
        if child == 0:
            nowhere = os.open("/dev/null", os.O_RDWR)
            for i in range(3):
                os.dup2(nowhere, i)
            os.close(nowhere)
            close()
            os.execve(tool, words, dict(environment, ISOMER_TRACE="t.trace", ISOMER_LOG="debug"))
        _, status = os.waitpid(child, 0)
        what = "closed: %s" % which
        code = os.waitstatus_to_exitcode(status)
        if code != (6 if 1 in which else 0):
            fail(what, "ends with %d" % code)
        for f in ("t.trace", "t.json"):
            try:
                json.load(open(f))
            except (ValueError, OSError) as error:
                fail(what, "%s: %s: %r" % (f, error, open(f).read()[:200] if os.path.exists(f) else ""))


with open("a.json", "w") as results:
    json.dump(document.document(1), results)
for part in (endless, children, sizes, closed):
    if len(sys.argv) < 4 or part.__name__ in sys.argv[3:]:
        part()
print("%d failures" % failures)
sys.exit(failures > 0)
