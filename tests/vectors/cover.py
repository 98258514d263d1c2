# SPDX-License-Identifier: Apache-2.0
"""cover.py FILE: the default file has every operation with every type, fill, axis and transposition,
special factors, and sizes on both sides of segments and blocks. Its steps are few enough for a slow
second implementation."""
import itertools
import json
import sys

FLOATS, INTS = ["f16", "bf16", "f32", "f64"], ["i32", "i64"]
PLAIN = "uniform ints sparse subnormal zeros ties huge mixed powers near1 top odd extremes bits".split()
ALPHAS = """0x0p+0 -0x0p+0 0x1p+0 -0x1p+0 inf -inf nan 0x1.7e43c8800759cp+996 0x1p-150 0x1.0000001p-150
    0x1.fffffep+127 0x1.ffffffp+127 0x1.fffffefffffffp+127""".split()


def fills(dtype):
    return PLAIN + (["nan", "inf"] if dtype in FLOATS else [])


def wanted():
    for op, dtype in itertools.product(["gemm", "fixed"], FLOATS):
        for fill, trans in itertools.product(fills(dtype), ["nn", "nt", "tn", "tt"]):
            yield op, dtype, fill, trans
    for name in "sum product min max mean dot asum norm2 argmin argmax xor amax argamax".split():
        for dtype in ([] if name == "xor" else FLOATS) + ([] if name in ("norm2", "amax", "argamax") else INTS):
            for fill, axis in itertools.product(fills(dtype), ["all", "0", "1"]):
                yield "reduce", name, dtype, fill, axis
    for name in "copy scale add multiply triad chain".split():
        for dtype in FLOATS + ([] if name in ("scale", "triad", "chain") else INTS):
            for fill in fills(dtype):
                yield "map", name, dtype, fill
    for size in (1, 2, 4, 8, 16):
        yield "transpose", "b%d" % size
    for op, alpha in itertools.product(["gemm", "fixed", "scale", "triad", "chain"], ALPHAS):
        yield "alpha", op, alpha
    for op, beta in itertools.product(["gemm", "fixed", "chain"], ALPHAS):
        yield "beta", op, beta
    for op, k in itertools.product(["gemm", "fixed"],
                                   [0, 1, 2, 1023, 1024, 1025, 2047, 2048, 2049, 3000]):
        yield "k", op, k
    for axis in ("all", "0", "1"):
        for n in (0, 1, 2, 127, 128, 129, 4095, 4096, 4097, 8192, 3 * 4096 + 5):
            yield "length", axis, n
    for steps in range(65):
        yield "steps", steps


def seen(case):
    """Yields what a case covers, and returns the scalar steps that it takes."""
    op, dtype, fill = (case[m] for m in ("op", "dtype", "fill"))
    if op in ("gemm", "fixed"):
        yield op, dtype, fill, case["trans"]
        yield "k", op, case["k"]
        return case["m"] * case["n"] * (case["k"] + 2)
    if op == "reduce":
        rows, cols, axis = case["rows"], case["cols"], case["axis"]
        length, count = {"all": (rows * cols, 1), "0": (rows, cols), "1": (cols, rows)}[axis]
        yield op, case["name"], dtype, fill, axis
        yield "length", axis, length
        return count * (length + 127 * max(1, -(-length // 4096)))
    if op == "map":
        yield op, case["name"], dtype, fill
        if "steps" in case:
            yield "steps", case["steps"]
        return case["n"] * case.get("steps", 1)
    yield op, dtype
    return case["rows"] * case["cols"]


def main(path):
    missing, names, work = set(wanted()), set(), 0
    with open(path, encoding="ascii") as file:
        next(file)
        for line in file:
            case = json.loads(line)
            names.add(case["case"])
            covers = seen(case)
            try:
                while True:
                    missing.discard(next(covers))
            except StopIteration as end:
                work += end.value
            for member in ("alpha", "beta"):
                if member in case:
                    missing.discard((member, case.get("name", case["op"]), case[member]))
    print("%d cases, %d steps" % (len(names), work))
    if missing or len(names) != 101000 or work > 26000000:
        sys.exit("not covered: %s" % sorted(map(str, missing))[:20])


main(sys.argv[1])
