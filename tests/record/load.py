# SPDX-License-Identifier: Apache-2.0
"""load.py FORMS: a file that is not a results file is refused with the right exit code and a
description."""
import copy
import json
import os
import subprocess
import sys
import tempfile

import document

FILES, IO = 5, 6
forms = sys.argv[1]
good = document.document(1)
whole = json.dumps(good, indent=1)
bad = 0


def load(path, stdin=None):
    made = subprocess.run([forms, "load", path], input=stdin, capture_output=True, check=False)
    return made.returncode, made.stdout, made.stderr.decode("utf-8", "replace")


def refused(name, content, code, *words, path=None):
    global bad
    with tempfile.TemporaryDirectory() as folder:
        place = path or os.path.join(folder, "results.json")
        if content is not None:
            with open(place, "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())
        got, out, err = load(place)
        missing = [w for w in words + ((place,) if code else ()) if w not in err]
        if got != code or missing or out or err.count("\n") != 1 or "\x1b" in err:
            bad += 1
            print("FAIL: %s: exit code %d, not %d; without %s: %r" % (name, got, code, missing,
                                                                     err[:400]))


def damaged(name, path, value, *words, drop=False):
    root = copy.deepcopy(good)
    at = root
    for step in path[:-1]:
        at = at[step]
    if drop:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    refused(name, json.dumps(root), FILES, *words)


code, out, err = load("/dev/stdin", whole.encode())
if code or json.loads(out) != good:
    bad += 1
    print("FAIL: a good file: exit code %d: %s" % (code, err))
code, out, err = load("-", whole.encode())
if code or json.loads(out) != good:
    bad += 1
    print("FAIL: standard input: exit code %d: %s" % (code, err))

refused("no file", None, IO, "cannot read", "No such file")
refused("a folder", None, IO, "cannot read", "Is a directory", path="/tmp")
if os.getuid() != 0:
    refused("no rights", None, IO, "cannot read", path="/etc/shadow")
refused("empty", "", FILES, "is empty")
refused("spaces", " \n ", FILES, "not JSON")
refused("text", "hello\n", FILES, "is not JSON", "line 1")
refused("a page", "<!doctype html>\n<html>", FILES, "is not JSON")
refused("CSV", "id,op\na,b\n", FILES, "is not JSON")
refused("NUL", b"{\"schema\": \"isomer\x00\"}", FILES, "is not JSON")
refused("no UTF-8", b"{\"schema\": \"\xff\xfe\"}", FILES, "is not JSON")
refused("an escape sequence", b"{\"schema\": \x1b[2J}", FILES, "is not JSON")
refused("more after the end", whole + "x", FILES, "is not JSON", "line %d" % (whole.count("\n") + 1))
refused("a key twice", '{"schema": "isomer-results/1", "schema": "isomer-results/1"}', FILES,
        "is not JSON", "duplicate")
refused("nesting", '{"a":' + "[" * 100000, FILES, "is not JSON", "depth")
refused("a long number", '{"a": ' + "9" * 2000000 + "}", FILES, "is not JSON", "too big integer")
refused("a large real", '{"a": 1e999999}', FILES, "is not JSON", "overflow")
refused("NaN", '{"a": NaN}', FILES, "is not JSON")
step = len(whole) // 12
for at in [1, 2, 10] + list(range(step, len(whole) - 2, step)) + [len(whole) - 1]:
    refused("cut off at %d" % at, whole[:at], FILES, "is truncated", "line")

for other in ("{}", "[]", "[1, 2]", "3", "null", '"isomer-results/1"',
              '{"schema": 1}', '{"schema": "http://json-schema.org/schema"}'):
    refused("another program's: " + other, other, FILES, "not a results file of isomer", "schema")
refused("of isomer info", '{"schema": "isomer-info/1"}', FILES, "isomer-info/1", "isomer bench --json")
refused("newer", json.dumps(dict(good, schema="isomer-results/2")), FILES, "isomer-results/2",
        "newer isomer")
refused("newer, strange", '{"schema": "isomer-results/\\u001b[2J9"}', FILES, "newer isomer")

ok = next(i for i, r in enumerate(good["results"]) if r["status"] == "ok")
failed = next(i for i, r in enumerate(good["results"]) if r["status"] == "failed")
here = "results[%d]" % ok
for member in ("run", "devices", "results"):
    damaged("no " + member, (member,), None, member, "missing", drop=True)
    damaged(member + " a number", (member,), 3, member, "a number")
damaged("a text in samples", ("results", ok, "times", "samples", 1, 2), "3",
        here + ".times.samples[1][2]", "is a text, but must be a number")
damaged("null in samples", ("results", ok, "times", "samples", 1, 0), None,
        here + ".times.samples[1][0]", "is null")
damaged("samples flat", ("results", ok, "times", "samples"), [1.0], "samples[0]", "must be an array")
damaged("no samples", ("results", ok, "times", "samples"), [[], []], "samples", "no sample")
damaged("median 0", ("results", ok, "times", "median"), 0, here + ".times.median", "over 0")
damaged("no median", ("results", ok, "times", "median"), 0, here + ".times.median", "missing",
        drop=True)
damaged("a result no object", ("results", ok), [], here, "is an array, but must be an object")
damaged("no id", ("results", ok, "id"), 0, here + ".id", "missing", drop=True)
damaged("an unknown operation", ("results", ok, "op"), "sort", here + ".op", '"sort"', "transpose")
damaged("an unknown status", ("results", ok, "status"), "fine", here + ".status", "unsupported")
damaged("ok without times", ("results", ok, "times"), None, here + ".times", "null")
damaged("ok and not checked", ("results", ok, "verified"), None, here + ".verified", "checked")
damaged("failed with times", ("results", failed, "times"), good["results"][ok]["times"],
        "results[%d].times" % failed, "failed")
damaged("failed without a reason", ("results", failed, "reason"), None,
        "results[%d].reason" % failed)
damaged("a device nobody knows", ("results", ok, "device"), "cuda:7\x1b[2J", here, "cuda:7",
        "not in devices")
damaged("a roof of nothing", ("devices", 0, "roofs", 1, "value"), 0, "devices[0].roofs[1].value")
damaged("flags of numbers", ("results", ok, "flags"), [1], here + ".flags[0]")
damaged("a host that is a text", ("run", "host"), "me", "run.host")
damaged("an unknown command", ("run", "command"), "tune", "run.command", "bench")
sys.exit(bad > 0)
