# SPDX-License-Identifier: Apache-2.0
"""schema.py SCHEMA FORMS FILE...: an independent validator accepts the made-up documents and the
files, and refuses a document with any single fault. The tool reads every document that the
validator accepts."""
import copy
import json
import subprocess
import sys
import tempfile

import jsonschema

import document


def put(path, value):
    """A fault: sets the member at the path to this value."""
    def damage(root):
        *way, last = path
        for step in way:
            root = root[step]
        root[last] = value
    return damage


def drop(path):
    def damage(root):
        *way, last = path
        for step in way:
            root = root[step]
        del root[last]
    return damage


def first(root, **members):
    return next(i for i, r in enumerate(root["results"])
                if all(r[k] == v for k, v in members.items()))


def faults(root):
    """Yields faults of a document of `bench`: (description, damage)."""
    ok, gemm = first(root, status="ok"), first(root, op="gemm", status="ok")
    failed, stream = first(root, status="failed"), first(root, op="stream")
    transfer = first(root, op="transfer")
    no = first(root, status="unsupported")
    result, device = ("results", ok), ("devices", 0)
    yield "another schema", put(("schema",), "isomer-results/2")
    yield "no schema", drop(("schema",))
    yield "no run", drop(("run",))
    yield "no devices", drop(("devices",))
    yield "no results", drop(("results",))
    yield "an unknown member", put(("more",), 1)
    yield "pairs in a file of bench", put(("pairs",), [])
    yield "an unknown command", put(("run", "command"), "tune")
    yield "an unknown member of run", put(("run", "user"), "somebody")
    yield "a time without a zone", put(("run", "time"), "2026-01-02T03:04:05")
    yield "complete as a text", put(("run", "complete"), "yes")
    yield "an unknown math mode", put(("run", "math"), "fast")
    yield "an unknown flag of the run", put(("run", "flags"), ["tired"])
    yield "left out without a reason", drop(("run", "left_out", 0, "reason"))
    yield "a time to find devices as a text", put(("run", "probe"), "long")
    yield "no host", drop(("run", "host"))
    yield "processors as a text", put(("run", "host", "processors"), "4")
    yield "an unknown member of host", put(("run", "host", "user"), "somebody")
    yield "a commit that is none", put(("run", "build", "commit"), "main")
    yield "a setting without a source", drop(("run", "settings", 0, "source"))
    yield "a number in the environment", put(("run", "environment", "OMP_PLACES"), 1)
    yield "an unknown member of a device", put(device + ("colour",), "green")
    yield "an unknown type of device", put(device + ("type",), "TPU")
    yield "an unknown tier", put(device + ("tier",), "rumour")
    yield "an unknown feature", put(device + ("features",), ["fast"])
    yield "a property that is a number", put(device + ("properties", "BLAS"), 3)
    yield "fake as a number", put(device + ("fake",), 0)
    yield "an opening that took no number", put(device + ("open",), "long")
    yield "an unknown sensor", put(device + ("telemetry", "volts"), 1.0)
    yield "an unknown roof", put(device + ("roofs", 0, "name"), "write")
    yield "a roof of nothing", put(device + ("roofs", 0, "value"), 0)
    yield "a roof without an origin", drop(device + ("roofs", 0, "by"))
    yield "an unknown operation", put(result + ("op",), "sort")
    yield "an id of another operation", put(("results", gemm, "id"), "reduce/sum")
    yield "a kind of another operation", put(("results", stream, "kind"), "write")
    yield "a product with a kind", put(("results", gemm, "kind"), "sum")
    yield "a transfer with a type", put(("results", transfer, "dtype"), "f32")
    yield "an unknown type", put(("results", gemm, "dtype"), "f31")
    yield "a shape of another operation", put(("results", gemm, "shape"), {"bytes": 1})
    yield "half an element", put(("results", stream, "shape", "elements"), 0.5)
    yield "a layout of another operation", put(("results", stream, "layout"), {"axis": "all"})
    yield "an unknown cache state", put(result + ("cache",), "warm")
    yield "an unknown status", put(result + ("status",), "skipped")
    yield "a missing member of a result", drop(result + ("kernel",))
    yield "an unknown member of a result", put(result + ("speed",), 1)
    yield "times of a case that failed", put(("results", failed, "times"),
                                             root["results"][ok]["times"])
    yield "rates of a case that failed", put(("results", failed, "rates"),
                                             root["results"][ok]["rates"])
    yield "a case that failed without a reason", put(("results", failed, "reason"), None)
    yield "a check of what did not run", put(("results", no, "verified"),
                                             root["results"][ok]["verified"])
    yield "ok with a reason", put(result + ("reason",), "because")
    yield "ok without times", put(result + ("times",), None)
    yield "ok without rates", put(result + ("rates",), None)
    yield "ok and no rate at all", put(result + ("rates",), {"gbps": None, "gflops": None})
    yield "ok and never checked", put(result + ("verified",), None)
    yield "checked no times", put(result + ("verified", "checks"), 0)
    yield "a median of null", put(result + ("times", "median"), None)
    yield "a time below zero", put(result + ("times", "median"), -1.0)
    yield "a sample as a text", put(result + ("times", "samples", 0, 0), "12")
    yield "samples without rounds", put(result + ("times", "samples"), [1.0, 2.0])
    yield "no samples", put(result + ("times", "samples"), [])
    yield "an unknown clock", put(result + ("times", "clock"), "sun")
    yield "an unknown reason to stop", put(result + ("times", "stopped"), "tired")
    yield "a confidence over 1", put(result + ("times", "confidence"), 95)
    yield "a digest that is none", put(result + ("verified", "digest"), "xyz")
    yield "work below zero", put(result + ("work", "flops"), -1)
    yield "a roof without a percentage", drop(("results", gemm, "roof", "percent"))
    yield "parts without a total", drop(("results", gemm, "parts", "total"))
    yield "an unknown flag", put(result + ("flags",), ["odd"])


def fewer(root):
    """Keeps one result of each operation and status, so that many checks are fast."""
    kept = {}
    for result in root["results"]:
        kept.setdefault((result["op"], result["status"]), result)
    return dict(root, results=list(kept.values()), devices=root["devices"][:1])


def verify_faults():
    yield "a run without a count", drop(("run", "passed"))
    yield "pairs in a file of verify", put(("pairs",), [])
    yield "times in a result", put(("results", 0, "times"), None)
    yield "a device without its digest", drop(("devices", 0, "digest_of_all"))
    yield "an unknown member of a device", put(("devices", 0, "roofs"), [])
    yield "an unknown status", put(("results", 0, "status"), "skipped")
    yield "ok and never checked", put(("results", 0, "verified"), None)


def main():
    schema_path, forms, *paths = sys.argv[1:]
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    kind = jsonschema.Draft202012Validator
    kind.check_schema(schema)
    check = kind(schema)
    bad = 0

    def expect(valid, name, root):
        nonlocal bad
        if check.is_valid(root) == valid:
            return
        bad += 1
        print("FAIL: %s: %s" % (name, "passes" if not valid else
                                jsonschema.exceptions.best_match(check.iter_errors(root))))

    documents = {"made up: bench": document.document(1),
                 "made up: against": document.document(1, "against")}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            documents[path] = json.load(file)
    damaged = 0
    for name, root in documents.items():
        expect(True, name, root)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(root, file)
            file.flush()
            if subprocess.run([forms, "load", file.name], stdout=subprocess.DEVNULL,
                              check=False).returncode:
                bad += 1
                print("FAIL: %s: the tool does not read it" % name)
        command = root["run"]["command"]
        chosen = []
        small = fewer(root)
        if name == "made up: bench":
            chosen = faults(small)
        elif command == "verify" and root["run"]["brief"]:
            chosen = [("an unknown count", put(("devices", 0, "summary", "maybe"), 1)),
                      ("no reasons", drop(("devices", 0, "summary", "reasons")))]
        elif command == "verify":
            chosen = verify_faults()
        elif command == "reveal":
            chosen = [("no digest", drop(("results", 0, "order", "digest"))), ("more", put(("run", "more"), 1)),
                      ("an unknown type", put(("results", 0, "dtype"), "i32"))]
        elif command == "errors":
            at = next(i for i, r in enumerate(small["results"]) if r["status"] == "ok")
            chosen = [("no median", drop(("results", at, "errors", "of_terms", "median"))),
                      ("no seed", drop(("run", "seed"))), ("an unknown input", put(("results", 0, "input"), "odd")),
                      ("a negative error", put(("results", at, "errors", "of_largest", "largest"), -1e-9))]
        elif command == "bench":
            chosen = [("no results", drop(("results",))), ("more", put(("run", "more"), 1)),
                      ("a result without an id", drop(("results", 0, "id")))]
        elif command == "against":
            chosen = [("no pairs", drop(("pairs",))), ("no sides", drop(("run", "against"))),
                      ("an unknown verdict", put(("pairs", 0, "verdict"), "BETTER")),
                      ("p over 1", put(("pairs", 0, "p"), 1.5))]
        for fault, damage in chosen:
            worse = copy.deepcopy(small)
            damage(worse)
            expect(False, "%s: %s" % (name, fault), worse)
            damaged += 1
    print("%d documents, %d damaged ones" % (len(documents), damaged))
    return bad > 0


sys.exit(main())
