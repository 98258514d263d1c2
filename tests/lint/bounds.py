# SPDX-License-Identifier: Apache-2.0
"""bounds.py PAGE RESULTS: compares the bounds on the page with those in the results of `isomer
verify`."""
import json
import math
import re
import struct
import sys

MASK = (1 << 64) - 1
ROUNDOFF = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "f64": 2.0**-53}
SMALLEST = {"f16": 2.0**-25, "bf16": 2.0**-134, "f32": 2.0**-150, "f64": 2.0**-1074}


def xxh64(data, seed):
    """Derives a problem's seed from its name, as the suite does."""
    p = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261)

    def rotate(x, by):
        return (x << by | x >> (64 - by)) & MASK

    def step(lane, word):
        return rotate((lane + word * p[1]) & MASK, 31) * p[0] & MASK

    at = 0
    if len(data) >= 32:
        lanes = [(seed + p[0] + p[1]) & MASK, (seed + p[1]) & MASK, seed, (seed - p[0]) & MASK]
        while at + 32 <= len(data):
            lanes = [step(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", data, at))]
            at += 32
        h = sum(rotate(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            h = ((h ^ step(0, lane)) * p[0] + p[3]) & MASK
    else:
        h = (seed + p[4]) & MASK
    h = (h + len(data)) & MASK
    while at + 8 <= len(data):
        h = (rotate(h ^ step(0, struct.unpack_from("<Q", data, at)[0]), 27) * p[0] + p[3]) & MASK
        at += 8
    if at + 4 <= len(data):
        h = (rotate(h ^ struct.unpack_from("<I", data, at)[0] * p[0] & MASK, 23) * p[1] + p[2]) & MASK
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ byte * p[4] & MASK, 11) * p[0] & MASK
    h = (h ^ h >> 33) * p[1] & MASK
    h = (h ^ h >> 29) * p[2] & MASK
    return h ^ h >> 32


def mix(seed, index):
    z = (seed * 0x9E3779B97F4A7C15 + (index + 1) * 0xD1342543DE82EF95) & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def element(dtype, seed, index, near_one):
    m = mix(seed & MASK, index)
    value = ((m >> 11) - 2**52) / 2.0**52 if dtype == "f64" else ((m >> 40) - 2**23) / 2.0**23
    if near_one:
        value = 1 + value * 0.01
    if dtype == "f64":
        return value
    value = struct.unpack("<f", struct.pack("<f", value))[0]
    if dtype == "f16":
        return struct.unpack("<e", struct.pack("<e", value))[0]
    if dtype == "bf16":
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16
        return struct.unpack("<f", struct.pack("<I", bits))[0]
    return value


def formulas(page):
    """{"vendor": text, "sum": text, ...} of the table under "Error bounds"."""
    found = {}
    section = page[page.index("## 9. Error bounds"):page.index("## 10. ")]
    for names, text in re.findall(r"^\| ([^|`]+|[^|]*`vendor`) \| `(.+)` \|$", section, re.M):
        for name in names.split(", "):
            found[name.strip("`")] = text
    steps = re.search(r"q be `\(n \+ (\d+)\) u`, and e be `q / \(1 - q\)` where q < 0.5, else `q exp\(q\)`", section)
    return found, int(steps.group(1))


def work_out(text, values):
    """A formula whose factors are written side by side."""
    out, before = [], ""
    for token in re.findall(r"[0-9.]+|[A-Za-z]+|[-+*/()]", text):
        operand = re.match(r"[0-9A-Za-z(]", token)
        if operand and re.match(r"[0-9A-Za-z)]", before) and before != "abs":
            out.append("*")
        out.append(token)
        before = token
    return eval(" ".join(out), {"__builtins__": {}, "abs": abs}, values)


NAMES = {"sum": "sum", "asum": "sum of magnitudes", "dot": "dot", "mean": "mean", "product": "product of elements",
         "norm2": "2-norm"}


def expected(result, table, steps):
    """The name of the formula, and the page's bound; None for a case other than one short
    sequence."""
    dtype, shape, layout = result["dtype"], result["shape"], result["layout"]
    kind, _, rest = result["id"].split("/", 2)
    name = result.get("reduction")
    if kind == "gemm":
        name, n = "vendor", shape["k"]
        one = shape["m"] == shape["n"] == shape["batch"] == 1
    else:
        n = shape["rows"] * shape["cols"]
        one = layout["axis"] == "all" and name in NAMES
    fill = rest.rsplit("/", 1)[1]
    if not one or not 0 < n <= 13000 or fill not in ("uniform", "near1"):
        return None
    seed = xxh64((kind + "/" + rest).encode(), 1)
    x = [element(dtype, seed + 1, i, fill == "near1") for i in range(n)]
    y = [element(dtype, seed + 2, i, fill == "near1") for i in range(n)]
    terms = x
    if name in ("vendor", "dot"):
        terms = [a * b for a, b in zip(x, y)]
    elif name == "norm2":
        terms = [a * a for a in x]
    elif name == "asum":
        terms = [abs(a) for a in x]
    alpha, beta = layout.get("alpha", 1), layout.get("beta", 0)
    wide = "f64" if dtype == "f64" else "f32"
    q = (n + steps) * ROUNDOFF[wide]
    c = element(dtype, seed + 3, 0, fill == "near1") if beta else 0
    total = math.fsum(terms)
    r = {"vendor": alpha * total + beta * c, "mean": total / n, "product": math.prod(x),
         "norm2": math.sqrt(abs(total))}.get(name, total)
    p = abs(alpha * total) if beta and dtype in ("f16", "bf16") else 0
    values = {"u": ROUNDOFF[wide], "h": SMALLEST[wide], "v": ROUNDOFF[dtype], "g": SMALLEST[dtype], "n": n, "K": n,
              "S": math.fsum(abs(t) for t in terms), "r": r, "p": p, "alpha": alpha, "beta": beta, "c": c,
              "e": q / (1 - q) if q < 0.5 else q * math.exp(q)}
    label = "product of matrices, `vendor`" if name == "vendor" else NAMES[name]
    return label, work_out(table[label.split(", ")[-1].strip("`")], values)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        table, steps = formulas(file.read())
    with open(sys.argv[2], encoding="utf-8") as file:
        results = json.load(file)["results"]
    compared, wrong = {}, 0
    for result in results:
        verified = result.get("verified")
        if result["status"] != "ok" or not verified or not verified["error"]:
            continue  # exact elements have no reported bound
        found = expected(result, table, steps)
        if not found:
            continue
        label, bound = found
        compared.setdefault(label, set()).add(result["dtype"])
        if abs(bound - verified["bound"]) > 1e-9 * bound:
            wrong += 1
            print("%s: the page gives %.17g, the suite used %.17g" % (result["id"], bound, verified["bound"]))
    for label in ["product of matrices, `vendor`"] + list(NAMES.values()):
        types = compared.get(label, set())
        print("%s: %s" % (label, ", ".join(sorted(types)) or "no case"))
        if not types:
            wrong += 1
    sys.exit(1 if wrong else 0)


main()
