# SPDX-License-Identifier: Apache-2.0
"""escapes.py TOOL FOLDER PLUGINS FAKES: plants control sequences of a terminal in every text that
comes from outside, and checks each byte of both outputs of every command. FOLDER is empty."""
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "record"))
import document as documents  # noqa: E402

tool, folder, plugins, fakes = sys.argv[1:5]
# A colour, a title, a bell, a C1 control, a direction mark, a fake line of ours, a backspace, a
# tag.
EVIL = "\x1b[31m\x1b]0;t\x07\x9bm\u202e\nisomer: forged\r\b\x7f\U000e0041"
BYTES = EVIL.encode() + b"\xff\xc0\xaf\xed\xa0\x80\xe2\x80"  # and invalid UTF-8
# Texts with fixed values: readers refuse others.
WORDS = ["schema", "command", "status", "op", "cache", "source", "tier", "verdict"]
FILES = ["json", "junit", "csv", "markdown", "report", "out"]
failures = 0
runs = 0


def fail(what, text):
    global failures
    failures += 1
    print("FAIL: %s: %s" % (what, text))


def acts(c):
    return unicodedata.category(c) in ("Cc", "Zl", "Zp") or \
        unicodedata.bidirectional(c) in ("LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI") or \
        c in "\u061c\u200b\u200e\u200f\ufeff" or 0xe0000 <= ord(c) < 0xe0080


def look(what, output, csv=False, lines=True):
    try:
        text = output.decode()
    except UnicodeDecodeError as error:
        return fail(what, "no UTF-8: %s" % error)
    if csv:
        text = text.replace("\r\n", "\n")
    found = sorted({c for c in text if acts(c) and c != "\n"})
    if found:
        at = text.index(found[0])
        fail(what, "%r, as in %r" % ("".join(found), text[max(at - 40, 0):at + 20]))
    if re.search("^isomer: forged", text, re.M) and lines and not csv:
        fail(what, "a line that looks like ours")


def run(words, code=None, csv=False, **environment):
    """Both outputs contain no control sequence. Returns standard output."""
    global runs
    runs += 1
    made = {os.fsencode(k): os.fsencode(v) for k, v in base.items()}
    made.update({os.fsencode(k): v if isinstance(v, bytes) else os.fsencode(v)
                 for k, v in environment.items()})
    said = subprocess.run([tool, *words], env=made, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60, cwd=folder)
    what = " ".join(repr(w)[:60] for w in words) + " " + " ".join(environment)
    look(what + ", standard output", said.stdout, csv, words[:1] != ["report"] and "--report" not in words)
    look(what + ", standard error", said.stderr)
    if code is not None and said.returncode != code:
        fail(what, "exit code %d, not %d: %s" % (said.returncode, code, said.stderr.decode("latin-1")[-600:]))
    if said.returncode < 0:
        fail(what, "ended by signal %d" % -said.returncode)
    return said.stdout


def planted(value, name=""):
    """The document with EVIL appended to every text and name that may have any value."""
    if isinstance(value, str):
        return value if name in WORDS else value + EVIL
    if isinstance(value, list):
        return [planted(v, name) for v in value]
    if isinstance(value, dict):
        free = name in ("environment", "properties", "layout")
        return {k + EVIL if free else k: planted(v, k) for k, v in value.items()}
    return value


def made(*words):
    return json.loads(json.dumps(documents.document(*words)))


def written(name, value):
    path = os.path.join(folder, name)
    with open(path, "w") as out:
        json.dump(value, out)
    return path


base = {k: v for k, v in os.environ.items() if not k.startswith("ISOMER_")}
base.update(ISOMER_CACHE_DIR="off", PATH="/nowhere", TMPDIR=folder, LC_ALL="C.UTF-8")
fault = dict(ISOMER_BACKEND_PATH=plugins, ISOMER_LOG="debug")


def results():
    plain = made(1)
    bad = planted(plain)
    a, b = written("a.json", bad), written("b.json", planted(made(2)))
    run(["compare", a, b], 0)
    run(["compare", a, b, "--all"], 0)
    run(["compare", a, b, "--json", "-"], 0)
    run(["compare", a, b, "--csv", "-"], 0, csv=True)
    said = json.loads(run(["compare", a, b, "--json", "-"], 0))
    if not any(EVIL in (row["id"] or "") for row in said["cases"]):
        fail("compare --json", "the ids lost what was planted: it has to stay data")
    plain["run"]["math"] = "tf32"
    plain["devices"][0]["name"] = EVIL
    run(["compare", a, written("c.json", plain)])
    run(["compare", a, written("c.json", plain), "--force"])
    pairs = planted(made(1, "against"))
    run(["compare", written("pairs.json", pairs), a])
    run(["compare", os.path.join(folder, "pairs.json")])
    for output in ("-", os.path.join(folder, "page.html")):
        run(["report", a, b, "-o", output, "--data", os.path.join(folder, "data"), "--title", EVIL], 0)
    # Every kind of value for each member in turn: checks the messages.
    for name in WORDS:
        def spoil(value):
            if isinstance(value, dict):
                for k in value:
                    if k == name and isinstance(value[k], str):
                        value[k] += EVIL
                    spoil(value[k])
            elif isinstance(value, list):
                for v in value:
                    spoil(v)
        wrong = made(1, "against")
        spoil(wrong)
        run(["compare", written("wrong.json", wrong), a], 5)
        run(["report", os.path.join(folder, "wrong.json"), "-o", "-"], 5)
    for name, text in (("no.json", BYTES), ("member.json", json.dumps({EVIL: 1}).encode()),
                       ("twice.json", b'{"\\u001b[31m": 1, "\\u001b[31m": 2}'),
                       ("deep.json", b"[" * 5000), ("raw.json", b'{"schema": "' + BYTES + b'"}')):
        with open(os.path.join(folder, name), "wb") as out:
            out.write(text)
        run(["compare", name, a], 5)
        run(["bench", "--suite", name, "--list"], 2)
    os.rename(a, os.fsencode(folder) + b"/a" + BYTES.replace(b"/", b""))
    path = b"a" + BYTES.replace(b"/", b"")
    run(["compare", path, b])
    run(["report", path, "-o", path + b".html", "--data", path + b".data"], 0)
    run(["report", path, "-o", path + b"/none/x.html"], 6)


def suites():
    case = {"op": "stream", "kind": "copy", "dtype": "f32", "size": 1024}
    for name in list(case) + ["variant", "axis", "math", "cache", "steps", "batch", "m", "trans_a", EVIL]:
        for value in (EVIL, [EVIL], {EVIL: EVIL}, 1.5):
            run(["bench", "--list", "--suite", written("s.json", {
                "schema": "isomer-suite/1", "cases": [dict(case, **{name: value})]})], 2)
    for root in ({"schema": EVIL}, {"schema": "isomer-suite/1", "cases": [EVIL]}, {EVIL: EVIL}, [EVIL]):
        run(["bench", "--list", "--suite", written("s.json", root)], 2)


def commands():
    for word in (EVIL, "--" + EVIL, "--json=none/" + EVIL):
        for command in ("info", "verify", "bench", "compare", "report", "reveal", "errors", "vectors", "kernel", "help", None):
            run([w for w in (command, word) if w is not None])
    for command, options in (("info", "backend json"), ("verify", "backend require case op dtype variant "
                             "size suite json junit math"), ("bench", "backend op kind dtype size variant "
                             "layout math suite cache batch budget rounds json csv markdown report "
                             "against seed fail-on"), ("compare", "device ops fail-on json csv"),
                             ("reveal", "backend op variant dtype size library math budget json"),
                             ("errors", "backend variant dtype input size seed json"),
                             ("vectors", "out level count seed"), ("kernel text", "define out"), ("kernel embed", "define output cc cflags name sets")):
        for option in options.split():
            value = (b"none/" if option in FILES else b"") + BYTES.replace(b"/", b"")
            run([*command.split(), "--" + option, value, *(["--list"] if command in ("verify", "bench") else [])])
    for bad in (b"name" + BYTES, b"openmp:" + BYTES, b"fault,cuda:" + BYTES):
        run(["info", "--backend", bad], ISOMER_BACKEND_PATH=plugins)
    hostile = os.fsencode(folder) + b"/p" + BYTES.replace(b"/", b"").replace(b":", b"")
    os.mkdir(hostile)
    with open(hostile + b"/isomer-odd.so", "w") as out:
        out.write("no library\n")
    run(["info", "--backend", "odd"], 3, ISOMER_BACKEND_PATH=hostile, ISOMER_LOG="debug")


def environments():
    value = BYTES.replace(b"/", b"")
    for name in ("BACKEND MEMORY_LIMIT MATH BLAS NUM_THREADS CPU_ISA TILES REQUIRE CACHE_DIR BACKEND_PATH "
                 "LOG TRACE CUDA_PATH ROCM_PATH").split():
        run(["info", "--backend", "openmp"], **{"ISOMER_" + name: value})
        run(["verify", "--op", "transpose", "--dtype", "e4", "--size", "1"], **{"ISOMER_" + name: value})
    run(["info", "--backend", "openmp", "--json", "-"], XDG_CACHE_HOME=b"/" + value, HOME=b"/" + value)


def devices():
    run(["info", "--backend", "fault"], 0, ISOMER_FAULT="escapes", **fault)
    said = json.loads(run(["info", "--backend", "fault", "--json", "-"], 0, ISOMER_FAULT="escapes", **fault))
    if "\\x1b[31m" not in said["devices"][0]["name"]:
        fail("info --json", "the name was lost: %r" % said["devices"][0]["name"])
    run(["info", "--backend", "fault"], 3, ISOMER_FAULT="escapes-probe", **fault)
    few = ["--backend", "fault", "--op", "transpose,gemm", "--variant", "naive"]
    for name in ("escapes", "escapes-execute"):
        for more in ([], ["--json", "-"], ["--junit", "-"]):
            run(["verify", *few, "--dtype", "e4,f32", *more], ISOMER_FAULT=name, **fault)
        for more in ([], ["--json", "-"], ["--csv", "-"], ["--markdown", "-"], ["--report", "-"]):
            run(["bench", *few, "--dtype", "f32", "--size", "64", "--rounds", "2", "--no-roofs", *more],
                csv="--csv" in more, ISOMER_FAULT=name, **fault)
    if fakes:
        for backend, variable in (("cuda", "ISOMER_CUDA_PATH"), ("hip", "ISOMER_ROCM_PATH")):
            said = run(["info", "--backend", backend], 0, FAKE_NAME=BYTES,
                       **{variable: os.path.join(fakes, backend)})
            if b"\\x1b[31m" not in said:
                fail("info --backend " + backend, "the name was not planted")


def children():
    program = os.path.join(folder, "other")
    with open(program, "wb") as out:
        out.write(b"#!/bin/sh\ncase $1 in --version) echo isomer 0.1.0; exit 0 ;; esac\n"
                  b"cat <<'END' >&2\n" + BYTES + b"\nEND\nexit ${CODE:-7}\n")
    os.chmod(program, 0o755)
    few = ["bench", "--backend", "openmp", "--op", "copy", "--dtype", "f32", "--size", "1Ki",
           "--variant", "naive", "--rounds", "8"]
    paths = dict(PATH="/usr/bin:/bin")
    run([*few, "--against", program], 5, **paths)
    run([*few, "--against", program], 70, CODE="70", **paths)
    os.rename(program, program + EVIL)
    run([*few, "--against", program + EVIL], 5, **paths)


def terminal(words, **environment):
    """On a terminal, only our own colours and cursor movements appear."""
    child, line = pty.fork()
    if child == 0:
        try:
            os.environ.clear()
            os.environ.update(base, TERM="xterm", **environment)
            os.execv(tool, [tool, *words])
        finally:
            os._exit(127)
    said, end = b"", time.time() + 120
    while time.time() < end:
        ready, _, _ = select.select([line], [], [], 1)
        if not ready:
            continue
        try:
            got = os.read(line, 65536)
        except OSError:
            break
        if not got:
            break
        said += got
    os.close(line)
    os.waitpid(child, 0)
    text = said.replace(b"\r\n", b"\n")
    ours = re.compile(rb"\r?\x1b\[K|\r(?=\[|\x1b)|\x1b\[(0|1|2|3[123]|1;3[12])m")
    if words[0] != "bench" and not ours.search(text):  # a progress bar is shown if it takes long
        fail("terminal " + " ".join(words), "no colour of our own: was it a terminal?")
    look("terminal " + " ".join(words), ours.sub(b"", text))


def terminals():
    terminal(["info", "--backend", "fault"], ISOMER_FAULT="escapes", **fault)
    terminal(["bench", "--backend", "fault", "--op", "transpose", "--variant", "naive", "--dtype", "f32",
              "--size", "64", "--rounds", "2", "--no-roofs"], ISOMER_FAULT="escapes", **fault)
    terminal(["verify", "--backend", "fault", "--op", "transpose", "--dtype", "e4"],
             ISOMER_FAULT="escapes", **fault)
    terminal(["compare", written("t.json", planted(made(1))),
              written("u.json", planted(made(2)))])


results()
suites()
commands()
environments()
devices()
children()
terminals()
print("%d commands, %d failures" % (runs, failures))
sys.exit(failures > 0)
