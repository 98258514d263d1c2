#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""second.py FOLDER FILE: computes the errors in a file of `isomer errors` again, with fractions.

The products are those of the second implementation of docs/bits.md, FOLDER/bits.py. Of a vendor's
library only the exact results are known here, so its errors must only be small.
"""
import json
import math
import sys
from fractions import Fraction

import numpy as np

sys.path.insert(0, sys.argv[1])
import bits  # noqa: E402, pylint: disable=wrong-import-position

MASK = (1 << 64) - 1
# name: rows, spread, graded, large, hidden
INPUTS = {"uniform": (0, 0, 0, 0, False), "normal": (0, 0, 0, 0, False), "rows": (20, 0, 0, 0, False),
          "spread10": (0, 10, 0, 0, False), "spread20": (0, 20, 0, 0, False),
          "spread40": (0, 40, 0, 0, False), "large": (0, 0, 0, 10, False),
          "graded10": (0, 0, 10, 0, False), "graded20": (0, 0, 20, 0, False),
          "graded40": (0, 0, 40, 0, False), "hidden": (0, 0, 0, 0, True)}


def mix(seed, index):
    return int(bits.mix(seed & MASK, np.array([index], np.uint64))[0])


def element(name, operand, seed, line, k, terms):
    rows, spread, graded, large, hidden = INPUTS[name]
    seed, at, exponent = seed + operand, line * terms + k, 0
    if hidden and k == 0:
        return 0.0 if operand else 1e10
    if rows:
        exponent += mix(seed ^ 0x1001, line) % (2 * rows + 1) - rows
    if spread:
        exponent -= mix(seed ^ 0x1002, at) % (2 * spread + 1)
    if graded and terms > 1:
        fallen = 2 * graded * k // (terms - 1)
        exponent += fallen - graded if operand else graded - fallen
    if large and not operand and mix(seed ^ 0x1003, line) % terms == k:
        exponent += large
    u = (mix(seed, at) >> 11) * 2.0**-53
    if name == "normal":
        turn = (mix(seed ^ 0x1004, at) >> 11) * 2.0**-53
        value = math.sqrt(-2 * math.log(1 - u)) * math.cos(2 * math.pi * turn)
    else:
        value = 2 * u - 1
    return math.ldexp(value, exponent)


def to_tf32(values):
    word = values.astype(np.float32).view(np.uint32)
    return ((word + np.uint32(0xfff) + (word >> np.uint32(13) & np.uint32(1))) & np.uint32(0xffffe000)).view(np.float32)


def products(variant, a, b, t):
    if variant == "fixed":
        return bits.read(bits.store(bits.fixed_sum(a, b, t), t), t)
    if variant == "model":
        a, b = to_tf32(a), to_tf32(b)
        total = np.zeros((a.shape[0], b.shape[1]), np.float32)
        for k in range(a.shape[1]):
            total = bits.fma(a[:, k:k + 1], b[k:k + 1, :], total)
        return total
    return bits.read(bits.store(bits.tiled_sum(a, b), t), t)


def operand(name, which, seed, lines, terms, t):
    made = np.array([[element(name, which, seed, i, k, terms) for k in range(terms)]
                     for i in range(lines)], np.float64)
    if t.name in ("f16", "bf16"):
        return bits.read(bits.store(made, t), t)
    return made.astype(t.values)


def spreads(a, b, c):
    """The errors of all elements, by both measures: median and largest."""
    terms, largest = [], []
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            row, column = [[Fraction(float(x)) for x in line] for line in (a[i], b[:, j])]
            exact = sum(x * y for x, y in zip(row, column))
            error = abs(Fraction(float(c[i, j])) - exact)
            for to, scale in ((terms, sum(abs(x * y) for x, y in zip(row, column))),
                              (largest, len(row) * max(map(abs, row)) * max(map(abs, column)))):
                to.append(error / scale if error else Fraction(0))
    for errors in (terms, largest):
        errors.sort()
        middle = (errors[(len(errors) - 1) // 2] + errors[len(errors) // 2]) / 2
        yield {"median": float(middle), "largest": float(errors[-1])}


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        document = json.load(file)
    seed, compared, wrong, kept = document["run"]["seed"], 0, 0, {}
    for result in document["results"]:
        if result["status"] != "ok":
            continue
        t, shape = bits.TYPES[result["dtype"]], result["shape"]
        key = (result["dtype"], result["input"], tuple(shape.values()))
        if key not in kept:
            a = operand(result["input"], 0, seed, shape["m"], shape["k"], t)
            kept[key] = a, operand(result["input"], 1, seed, shape["n"], shape["k"], t).T
        a, b = kept[key]
        variant = result["variant"]
        found = result["errors"]["of_terms"], result["errors"]["of_largest"]
        if variant == "vendor":
            unit = 2.0**-t.precision if t.precision > 11 else 2.0**-t.precision * 2
            good = (found[0]["median"] <= found[0]["largest"] <= (shape["k"] + 4) * unit
                    or result["input"] == "spread40")  # small products may vanish
        else:
            made = list(spreads(a, b, products(variant, a, b, t)))
            good = all(math.isclose(f[key], m[key], rel_tol=1e-9)
                       for f, m in zip(found, made) for key in m)
        compared += 1
        if not good:
            wrong += 1
            print(f"FAIL: {result['id']}: {found}" + ("" if variant == "vendor" else f" instead of {made}"))
    print(f"{compared} results, {wrong} wrong")
    return wrong > 0 or compared < 100


sys.exit(main())
