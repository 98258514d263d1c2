# SPDX-License-Identifier: Apache-2.0
"""schema.py SCHEMA FILE: an independent validator accepts each line of the file, and refuses a line
with any single fault."""
import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
with open(sys.argv[2], encoding="ascii") as file:
    lines = [json.loads(line) for line in file]
jsonschema.Draft202012Validator.check_schema(schema)
check = jsonschema.Draft202012Validator(schema)
bad = [line for line in lines if not check.is_valid(line)]
if bad:
    sys.exit("refused: %s" % bad[0])

first = {"the file": lines[0]}
for line in lines[1:]:
    first.setdefault(line.get("name", line["op"]), line)
FAULTS = {"format": "isomer-vectors/2", "bits": 1.0, "seed": 7, "count": "400", "isomer": "", "license": "MIT",
          "case": "sums/0", "level": "sum", "op": "gemv", "dtype": "f8", "fill": "none", "m": -1, "n": 1.5, "k": "3",
          "trans": "n", "alpha": 1.0, "beta": "1.5", "steps": -1, "name": "nrm2", "axis": 0, "rows": None, "cols": [],
          "digest": "0" * 31, "result": ["0"], "place": {"offset": [-1, 0]}}
tried = 0
for kind, line in first.items():
    faults = [("no " + member, {m: v for m, v in line.items() if m != member}) for member in line
               if member not in ("result", "place")]
    faults += [("%s as %r" % (m, FAULTS[m]), dict(line, **{m: FAULTS[m]})) for m in line]
    faults += [("an unknown member", dict(line, more=1))]
    for what, damaged in faults:
        tried += 1
        if check.is_valid(damaged):
            sys.exit("%s: %s is accepted" % (kind, what))
scale, copy, fixed = first["scale"], first["copy"], first["fixed"]
for what, damaged in (("a copy with alpha", dict(copy, alpha="0x1p+0")), ("scale with steps", dict(scale, steps=1)),
                      ("a place without offsets", dict(scale, place={"gap": [0, 1]})),
                      ("a batch without a member", dict(fixed, place={"offset": [0, 0, 0], "batch": 2, "apart": 0})),
                      ("scale of integers", dict(scale, dtype="i32")), ("fixed as gemm", dict(fixed, op="gemm"))):
    tried += 1
    if check.is_valid(damaged):
        sys.exit("%s is accepted" % what)
if len(first) < 20 or tried < 200:
    sys.exit("only %d kinds of lines and %d faults were tried" % (len(first), tried))
print("%d lines, %d faults" % (len(lines), tried))
