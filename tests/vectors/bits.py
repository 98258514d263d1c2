#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second implementation of the specification "Isomer bits 1.0", written from its text alone.

    python3 bits.py FILE           compute the vectors in FILE and compare them with their digests
    python3 bits.py --self-test    check the arithmetic against exact fractions

Numbers such as 4.2 in comments are clauses of the text. Speed is not an aim: a step of a sum is
one NumPy operation over all sums that run side by side. NumPy has no fma, so it is built here.

Stored elements are held as unsigned integers of their size ("bits"), so that no NaN payload is
lost. "values" are the same elements read into the type in which the text computes.
"""
import functools
import json
import math
import operator
import random
import sys
import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import xxhash

U32, U64, I32, I64, F32, F64 = (np.uint32, np.uint64, np.int32, np.int64, np.float32, np.float64)
np.seterr(all="ignore")     # overflow, underflow and NaN are results here, not mistakes


@dataclass(frozen=True)
class Type:
    """A stored type. Floating-point types have the members from `precision` on."""
    name: str
    bits: type              # the unsigned integers that hold it
    values: type            # the accumulation type (2.2)
    precision: int = 0      # bits of the significand, with the hidden one
    lowest: int = 0         # the smallest subnormal is 2**lowest
    top: int = 0            # finite numbers are below 2**top
    fixed: int = 0          # p of clause 7
    infinity: int = 0       # bit patterns
    nan: int = 0
    huge: int = 0           # the second table of 10.4; of the first three the exponents of 2
    tiny: int = 0
    subnormal: int = 0
    d: int = 0
    b: int = 0

    @property
    def width(self):
        return np.dtype(self.bits).itemsize

    @property
    def floating(self):
        return self.precision > 0

    @property
    def sign(self):
        return 1 << (8 * self.width - 1)


F16_T = Type("f16", np.uint16, F32, 11, -24, 16, 15, 0x7c00, 0x7e00, 14, -13, -15, 11, 11)
BF16_T = Type("bf16", np.uint16, F32, 8, -133, 128, 15, 0x7f80, 0x7fc0, 110, -110, -130, 8, 8)
F32_T = Type("f32", U32, F32, 24, -149, 128, 24, 0x7f800000, 0x7fc00000, 110, -110, -130, 24, 13)
F64_T = Type("f64", U64, F64, 53, -1074, 1024, 53, 0x7ff << 52, 0xfff << 51, 1000, -1000, -1030,
             53, 27)
I32_T = Type("i32", U32, I32)
I64_T = Type("i64", U64, I64)
TYPES = {t.name: t for t in (F16_T, BF16_T, F32_T, F64_T, I32_T, I64_T)}


# ---- Rounding (2.1, 2.3) ----------------------------------------------------------------------

def round_scaled(whole, exponent, t):
    """whole * 2**exponent, for a whole number that is not 0, rounded once to type t."""
    magnitude, sign = abs(whole), -1.0 if whole < 0 else 1.0
    drop = max(magnitude.bit_length() - t.precision, t.lowest - exponent)
    if drop > 0:                                    # so many low bits do not fit
        rest = magnitude & ((1 << drop) - 1)
        half = 1 << (drop - 1)
        magnitude >>= drop
        exponent += drop
        if rest > half or (rest == half and magnitude & 1):
            magnitude += 1
    if magnitude.bit_length() + exponent > t.top:
        return sign * math.inf
    return sign * math.ldexp(magnitude, exponent)


def to_odd(rounded, above, below):
    """Turns numbers that were rounded to nearest into numbers rounded to odd, in place.

    `above` marks where the exact magnitude is greater than the rounded one, `below` where it is
    less. Rounding to odd keeps an exact number, and takes of two neighbours the one whose last
    bit is 1. If a number is rounded to odd with at least two more bits than a type has, and then
    to nearest even to that type, the result is that of a single rounding: an odd last bit is
    never at the middle of two numbers of the type, and it is on the side of the exact number.
    """
    bits = rounded.view(I64 if rounded.dtype == F64 else I32)
    even = (bits & 1) == 0
    bits += (above & even).astype(bits.dtype)
    bits -= (below & even).astype(bits.dtype)
    return rounded


def store(values, t):
    """Rounds values of the type in which they were computed once, directly to the stored type."""
    if t not in (F16_T, BF16_T):                    # integers wrapped where they were computed
        return values.astype(t.values).view(t.bits)
    if values.dtype == F64:
        nearest = values.astype(F32)
        exact, back = np.abs(values), np.abs(nearest).astype(F64)
        values = to_odd(nearest, exact > back, exact < back)
    if t is F16_T:
        return values.astype(np.float16).view(t.bits)
    bits = values.view(U32)
    up = (bits + U32(0x7fff) + ((bits >> U32(16)) & U32(1))) >> U32(16)
    return np.where(np.isnan(values), t.nan, up).astype(t.bits)


def read(bits, t):
    """Reads stored elements into the accumulation type (exact)."""
    if t is F16_T:
        return bits.view(np.float16).astype(F32)
    if t is BF16_T:
        return (bits.astype(U32) << U32(16)).view(F32)
    return bits.view(t.values)


def is_nan(bits, t):
    return (bits & t.bits(t.sign - 1)) > t.bits(t.infinity)


def factor(number, t):
    """alpha or beta, rounded to the type of the computation (3.1)."""
    return np.array([number], F64).astype(t.values)


# ---- fma --------------------------------------------------------------------------------------

def fma_f32(a, b, c):
    """In f64 the product of two f32 numbers is exact (48 bits, no overflow, no subnormal). The sum
    is rounded to odd in f64, which has more than two bits more than f32, and then to f32."""
    p, c = a.astype(F64) * b.astype(F64), c.astype(F64)
    s = p + c
    t = s - p
    error = (p - (s - t)) + (c - t)                 # exact: Knuth's sum without conditions
    inexact = (error > 0) | (error < 0)             # false where it is NaN: s is not finite
    same_sign = (error > 0) == (s > 0)
    return to_odd(s, inexact & same_sign, inexact & ~same_sign).astype(F32)


def fma_exact(a, b, c):
    """fma of three Python floats in f64, with whole numbers."""
    if math.isfinite(a) and math.isfinite(b) and not math.isfinite(c):
        return c
    if a == 0 or b == 0 or not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c                            # the product is exact: a zero, infinity or NaN
    (a, exponent_a), (b, exponent_b), (c, exponent_c) = map(math.frexp, (a, b, c))
    product, exponent = int(a * 2.0**53) * int(b * 2.0**53), exponent_a + exponent_b - 106
    addend, exponent_c = int(c * 2.0**53), exponent_c - 53
    common = min(exponent, exponent_c)
    total = (product << (exponent - common)) + (addend << (exponent_c - common))
    return round_scaled(total, common, F64_T) if total else 0.0


def fma(a, b, c):
    """a*b + c with one rounding, of arrays of f32 or of f64."""
    a, b, c = np.broadcast_arrays(a, b, c)
    if c.dtype == F32:
        return fma_f32(a, b, c)
    triples = zip(a.ravel().tolist(), b.ravel().tolist(), c.ravel().tolist())
    return np.array([fma_exact(*triple) for triple in triples], F64).reshape(c.shape)


# ---- Inputs (10.2 to 10.6, 11.4) --------------------------------------------------------------

MASK = (1 << 64) - 1


def mix(seed, index):
    """10.2, of an array of indices."""
    z = U64(seed * 0x9e3779b97f4a7c15 & MASK) + (index + U64(1)) * U64(0xd1342543de82ef95)
    z = (z ^ (z >> U64(30))) * U64(0xbf58476d1ce4e5b9)
    z = (z ^ (z >> U64(27))) * U64(0x94d049bb133111eb)
    return z ^ (z >> U64(31))


def random_words(seed, n):
    return mix(seed, np.arange(n, dtype=U64))


def make_input(t, fill, seed, n):
    """The bits of an input of n elements."""
    m = random_words(seed, n)
    if fill == "bits":                                              # 10.6
        bits = m.astype(t.bits)
        return np.where(m >> U64(62) == 0, bits | t.bits(t.infinity), bits) if t.floating else bits
    if not t.floating:
        return integer_input(t, fill, m)
    values = floating_input(t, fill, m, seed)
    bits = store(values if t is F64_T else values.astype(F32), t)   # 10.4: by way of f32
    if fill in ("nan", "inf") and n > 0:                            # 10.5
        q = np.arange(3, dtype=U64)
        places, words = mix(seed ^ 0x5eed, q), mix(seed ^ 0xfeed, q)
        for place, w in zip(places.tolist(), words.tolist()):
            pattern = t.infinity if fill == "inf" else t.nan | ((w >> 8) & 0x3f)
            bits[place % n] = pattern | (t.sign if w & 1 else 0)
    return bits


def floating_input(t, fill, m, seed):
    """The f64 values of 10.4, before they are rounded."""
    if t is F64_T:
        u = ((m >> U64(11)).astype(F64) - 2.0**52) / 2.0**52
    else:
        u = ((m >> U64(40)).astype(F64) - 2.0**23) / 2.0**23
    pick = (m >> U64(33)).astype(I64)
    odd, bit_1, four = (m & U64(1)) == 1, (m & U64(2)) == 2, m & U64(3)
    if fill == "powers":
        magnitude = np.where(pick % max(len(m), 1) >= 8, 1.0, np.where(bit_1, 2.0, 0.5))
        return np.where(odd, -magnitude, magnitude)
    return {
        "uniform": u, "extremes": u, "nan": u, "inf": u,
        "ints": (pick % 7 - 3) * 1.0,
        "sparse": np.where(pick % 8 == 0, 1.0, np.where(pick % 8 == 1, -1.0, 0.0)),
        "zeros": np.where(odd, -0.0, 0.0),
        "ties": (pick % 5 - 2) * 0.5,
        "huge": u * 2.0**t.huge,
        "subnormal": u * 2.0**t.subnormal,
        "mixed": np.where(four == 0, u * 2.0**t.huge, np.where(four == 1, u * 2.0**t.tiny, u)),
        "near1": 1.0 + u * 0.01,
        "top": np.full(len(m), (1.0 - 2.0**-t.d) * (-1 if seed & 2 else 1)),
        "odd": np.where(odd, -1.0, 1.0) * (2 * (pick % (1 << (t.b - 1))) + 1),
    }[fill]


def integer_input(t, fill, m):
    """10.4 for integers."""
    pick = (m >> U64(33)).astype(I64)
    odd, bit_1 = (m & U64(1)) == 1, (m & U64(2)) == 2
    low, high = np.iinfo(t.values).min, np.iinfo(t.values).max
    values = {
        "ints": pick % 7 - 3,
        "ties": pick % 5 - 2,
        "powers": np.where(odd, -1, np.where(bit_1, 1, 3)),
        "extremes": np.array([low, low + 1, -1, 0, 1, high - 1, high], I64)[pick % 7],
    }.get(fill, (m >> U64(64 - 8 * t.width)).view(I64))             # the others are as uniform
    return values.astype(t.values).view(t.bits)


# ---- Products (4) and fixed products (7) ------------------------------------------------------

def tiled_sum(a, b):
    """t of 4.3, of values a (M x K) and b (K x N)."""
    (rows, depth), columns = a.shape, b.shape[1]
    total = np.zeros((rows, columns), a.dtype)
    for start in range(0, depth, 1024):             # 4.2
        acc = np.zeros((rows, columns), a.dtype)
        for k in range(start, min(start + 1024, depth)):
            acc = fma(a[:, k:k + 1], b[k:k + 1, :], acc)
        total = acc if start == 0 else total + acc
    return total


def whole_numbers(values, axis, p):
    """The exponents of 7.2 and the integers of 7.3 of the vectors along an axis.

    ldexp is exact but where its result is subnormal: it and the exact number then round to 0.
    """
    exponents = np.frexp(np.abs(values).max(axis=axis, keepdims=True))[1].astype(I64)
    scaled = np.rint(np.ldexp(values.astype(F64), p - exponents))
    return exponents, scaled.astype(I64).astype(object)


def fixed_sum(a, b, t):
    """t of 7.5, of values a (M x K) and b (K x N) of the stored type t."""
    result = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    if a.shape[1] == 0 or result.size == 0:
        return result
    good_a, good_b = np.isfinite(a).all(axis=1), np.isfinite(b).all(axis=0)
    e, qa = whole_numbers(np.where(good_a[:, None], a, 0), 1, t.fixed)
    f, qb = whole_numbers(np.where(good_b[None, :], b, 0), 0, t.fixed)
    sums, exponents = qa @ qb, e + f - 2 * t.fixed
    accumulation = F64_T if a.dtype == F64 else F32_T
    for i, j in np.ndindex(result.shape):
        if not (good_a[i] and good_b[j]):
            result[i, j] = math.nan                 # 7.6
        elif sums[i, j] != 0:
            result[i, j] = round_scaled(int(sums[i, j]), int(exponents[i, j]), accumulation)
    return result


def product(case, t):
    """4 and 7: the bits of C."""
    m, n, k = case["m"], case["n"], case["k"]
    alpha, beta = (factor(float.fromhex(case[name]), t) for name in ("alpha", "beta"))
    a, b, c = operands(case, t, m * k, k * n, m * n)
    a = a.reshape(m, k) if case["trans"][0] == "n" else a.reshape(k, m).T
    b = b.reshape(k, n) if case["trans"][1] == "n" else b.reshape(n, k).T
    a, b, c = read(a, t), read(b, t), read(c, t).reshape(m, n)
    if alpha[0] == 0:                               # 4.1, 7.1
        a, b = a[:, :0], b[:0, :]
    total = fixed_sum(a, b, t) if case["op"] == "fixed" else tiled_sum(a, b)
    if beta[0] == 0:                                # 4.4
        return store(alpha * total, t)
    return store(fma(alpha, total, beta * c), t)


# ---- Reductions (5) ---------------------------------------------------------------------------

def tiled(sequences, step, fold, neutral, dtype, present=None):
    """Reduces each row of the arrays in the tuple `sequences` (rows x n) to a value of type dtype.

    `present` marks the elements that are not skipped, if there are others.
    """
    count, n = sequences[0].shape
    if n == 0:
        return np.full(count, neutral, dtype)
    if present is None:
        present = np.ones((count, n), bool)
    blocks = -(-n // 4096)
    length = 4096 if blocks > 1 else -(-n // 128) * 128

    def arrange(array):                             # to [row, block, turn, lane], with padding
        padded = np.zeros((count, blocks * length), array.dtype)
        padded[:, :n] = array
        return padded.reshape(count, blocks, length // 128, 128)

    here, elements = arrange(present), [arrange(array) for array in sequences]
    lanes = np.full((count, blocks, 128), neutral, dtype)
    for turn in range(length // 128):               # 5.3
        now = here[:, :, turn]
        lanes[now] = step(lanes[now], *(array[:, :, turn][now] for array in elements))
    for half in (64, 32, 16, 8, 4, 2, 1):           # 5.4
        lanes[:, :, :half] = fold(lanes[:, :, :half], lanes[:, :, half:2 * half])
    results = lanes[:, :, 0]
    if blocks == 1:
        return results[:, 0]
    return tiled((results,), fold, fold, neutral, dtype)            # 5.5


def norm2_f64(x):
    """5.9, of each row of x. Each sum is a reduction that skips the elements of the others."""
    size = np.abs(x)
    is_big, is_small = size > 2.0**486, size < 2.0**-511
    sums = []
    for scale, present in ((2.0**-538, is_big), (2.0**537, is_small), (1.0, ~is_big & ~is_small)):
        scaled = x * scale                          # exact in the elements that are present
        sums.append(tiled((scaled,), lambda acc, v: fma(v, v, acc), np.add, 0, F64, present))
    return np.array([norm2_end(*three) for three in zip(*(s.tolist() for s in sums))], F64)


def norm2_end(big, small, med):
    """The end of 5.9, of Python floats."""
    ssml, sbig = 2.0**537, 2.0**-538
    has_med = med > 0 or math.isnan(med)
    if big > 0:
        s = fma_exact(med * sbig, sbig, big) if has_med else big
        return math.sqrt(s) / sbig
    if small > 0 and has_med:
        p, q = math.sqrt(med), math.sqrt(small) / ssml
        hi, lo = (q, p) if q > p else (p, q)        # a NaN can only be p: then it is hi
        r = lo / hi
        return math.sqrt((hi * hi) * fma_exact(r, r, 1.0))
    if small > 0:
        return math.sqrt(small) / ssml
    return math.sqrt(med)


def magnitudes(bits, t):
    return bits & t.bits(t.sign - 1)


def order_keys(bits, t):
    """Signed integers in the order of 5.7: those of floating-point numbers put -0 below +0."""
    if not t.floating:
        return bits.view(t.values).astype(I64)
    magnitude = magnitudes(bits, t).astype(I64)
    return np.where(bits >= t.bits(t.sign), -1 - magnitude, magnitude)


def extreme_places(name, bits, t):
    """The index of the minimum or maximum in each row: 5.7. Those of indices take the first."""
    keys = order_keys(magnitudes(bits, t) if name in ("amax", "argamax") else bits, t)
    places = keys.argmin(axis=1) if name in ("min", "argmin") else keys.argmax(axis=1)
    if t.floating:
        nans = is_nan(bits, t)
        places = np.where(nans.any(axis=1), nans.argmax(axis=1), places)
    return places.astype(I64)


def reduce_rows(name, t, x, y):
    """Reduces each row of bits x (and y for a dot); returns bits and their type."""
    count, n = x.shape
    if name in ("min", "max", "amax", "argmin", "argmax", "argamax", "mean") and n == 0:
        raise ValueError("5.8: an empty sequence is an error")
    if name in ("min", "max"):
        return x[np.arange(count), extreme_places(name, x, t)], t
    if name == "amax":
        return magnitudes(x[np.arange(count), extreme_places(name, x, t)], t), t
    if name in ("argmin", "argmax", "argamax"):
        return extreme_places(name, x, t).view(U64), I64_T
    if name == "xor" and not t.floating:
        return np.bitwise_xor.reduce(x, axis=1, initial=0).astype(t.bits), t

    v, acc = read(x, t), t.values
    if name == "sum":
        return store(tiled((v,), np.add, np.add, 0, acc), t), t
    if name == "product":
        return store(tiled((v,), np.multiply, np.multiply, 1, acc), t), t
    if name == "asum":
        return store(tiled((np.abs(v),), np.add, np.add, 0, acc), t), t
    if name == "dot" and t.floating:
        both = (v, read(y, t))
        return store(tiled(both, lambda s, p, q: fma(p, q, s), np.add, 0, acc), t), t
    if name == "dot":
        return store(tiled((v * read(y, t),), np.add, np.add, 0, acc), t), t
    if name == "mean" and t.floating:
        return store(tiled((v,), np.add, np.add, 0, acc).astype(F64) / F64(n), t), t
    if name == "mean":
        total = tiled((v.astype(I64),), np.add, np.add, 0, I64)
        return (total.astype(F64) / F64(n)).view(U64), F64_T
    if name == "norm2" and t is F64_T:
        return norm2_f64(v).view(U64), t
    if name == "norm2" and t.floating:              # the square of an f32 number is exact in f64
        squares = v.astype(F64) * v.astype(F64)
        return store(np.sqrt(tiled((squares,), np.add, np.add, 0, F64)), t), t
    raise ValueError(f"no reduction {name} of {t.name}")


def reduction(case, t):
    rows, cols, name = case["rows"], case["cols"], case["name"]
    x, y = operands(case, t, rows * cols, rows * cols if name == "dot" else 0)
    axis = str(case["axis"])
    if axis == "all":                               # 5.1
        x, y = x.reshape(1, -1), y.reshape(1, -1)
    else:
        x = x.reshape(rows, cols)
        y = y.reshape(rows, cols) if name == "dot" else x
        if axis == "0":
            x, y = np.ascontiguousarray(x.T), np.ascontiguousarray(y.T)
    return reduce_rows(name, t, x, y)


# ---- Maps (6) and transposes (8) --------------------------------------------------------------

def elementwise(case, t):
    """6: the bits of the result."""
    name, n = case["name"], case["n"] if "n" in case else case["rows"] * case["cols"]
    two = name in ("add", "multiply", "triad")
    x_bits, y_bits = operands(case, t, n, n if two else 0)
    if name == "copy":
        return x_bits
    x, y = read(x_bits, t), read(y_bits, t)
    if name == "add":
        return store(x + y, t)
    if name == "multiply":
        return store(x * y, t)
    if not t.floating:
        raise ValueError(f"no map {name} of {t.name}")
    alpha = factor(float.fromhex(case["alpha"]), t)
    if name == "scale":
        return store(alpha * x, t)
    if name == "triad":
        return store(fma(alpha, y, x), t)
    if name == "chain":
        beta, r = factor(float.fromhex(case["beta"]), t), x
        for _ in range(case["steps"]):
            r = fma(r, alpha, beta)
        return store(r, t)
    raise ValueError(f"no map {name}")


def transpose(case):
    """8 and 11.4: the elements of the result as rows of bytes."""
    width, rows, cols, seed = int(case["dtype"][1:]), case["rows"], case["cols"], int(case["seed"])
    words = 2 if width == 16 else 1
    raw = random_words(seed, rows * cols * words).astype("<u8").view(np.uint8)
    cells = raw.reshape(rows, cols, 8 * words)[:, :, :width]
    return np.ascontiguousarray(cells.transpose(1, 0, 2)).reshape(rows * cols, width)


# ---- Vectors (10.1, 11) -----------------------------------------------------------------------

LEVELS = {"gemm": "products", "fixed": "fixed", "reduce": "sums", "map": "maps",
          "transpose": "maps"}


def operands(case, t, *sizes):
    """The inputs of a case: seeds follow one another (11.2)."""
    seed = int(case["seed"])
    return [make_input(t, case["fill"], (seed + i) & MASK, n) for i, n in enumerate(sizes)]


def compute(case):
    """The digest of a case and its elements as whole numbers (None if there are many bytes)."""
    op = case["op"]
    if op == "transpose":
        cells = transpose(case)
        data = cells.tobytes()
        return digest(data), ([int.from_bytes(cell.tobytes(), "little") for cell in cells]
                              if len(data) <= 64 else None)
    t = TYPES[case["dtype"]]
    if op in ("gemm", "fixed"):
        bits = product(case, t).reshape(-1)
    elif op == "map":
        bits = elementwise(case, t)
    elif op == "reduce":
        bits, t = reduction(case, t)
    else:
        raise ValueError(f"no operation {op}")
    if t.floating and not (op == "map" and case["name"] == "copy"):
        bits = np.where(is_nan(bits, t), t.bits(t.nan), bits)
    data = bits.astype(np.dtype(t.bits).newbyteorder("<")).tobytes()
    return digest(data), bits.tolist() if len(data) <= 64 else None


def digest(data):
    return f"{xxhash.xxh3_128_intdigest(data, seed=0):032x}"


def check_case(case):
    """None, or what was expected and what was computed."""
    if case["level"] != LEVELS[case["op"]]:
        return f"level {case['level']} for the operation {case['op']}"
    computed, elements = compute(case)
    shown = "" if elements is None else " " + " ".join(f"{e:x}" for e in elements)
    if computed != case["digest"]:
        return f"expected {case['digest']} {case.get('result', '')}, computed {computed}{shown}"
    if ("result" in case) != (elements is not None):
        return "the result should be given if it has at most 64 bytes, and only then"
    if elements is not None and [int(text, 16) for text in case["result"]] != elements:
        return f"expected result {case['result']}, computed{shown}"
    return None


def check_file(path):
    start, counts, differences, names = time.monotonic(), {}, [], set()
    with open(path, encoding="utf-8") as file:
        next(file)                                  # the line that describes the file
        for line in file:
            case = json.loads(line)
            try:
                problem = check_case(case)
            except (ValueError, KeyError, TypeError, IndexError) as error:
                problem = f"not computed: {type(error).__name__}: {error}"
            if case["case"] in names:
                problem = "the name of the case was used before"
            names.add(case["case"])
            counts[case["level"]] = counts.get(case["level"], 0) + 1
            if problem:
                differences.append(f"{case['case']}: {problem}")
    for text in differences[:10]:
        print(text)
    levels = ", ".join(f"{level} {counts[level]}" for level in sorted(counts))
    print(f"{sum(counts.values())} vectors ({levels}), {len(differences)} differences, "
          f"{time.monotonic() - start:.1f} s")
    return 1 if differences or not counts else 0


# ---- Self-test: the arithmetic against fractions, results one scalar after another --------------

def exponent_of(value):
    """The whole number e with 2**(e-1) <= value < 2**e, of a fraction above 0."""
    e = value.numerator.bit_length() - value.denominator.bit_length()
    return e + 1 if value >= Fraction(2)**e else e


def ref_round(value, t):
    """A number (fraction or Python float) rounded once to type t; zeros keep their sign."""
    if isinstance(value, float) and (value == 0 or not math.isfinite(value)):
        return value
    value = Fraction(value)
    unit = Fraction(2)**max(exponent_of(abs(value)) - t.precision, t.lowest)
    rounded = abs(round(value / unit)) * unit       # Python rounds fractions to nearest even
    rounded = float(rounded) if rounded < Fraction(2)**t.top else math.inf
    return -rounded if value < 0 else rounded


def ref_mul(a, b, t):
    special = a == 0 or b == 0 or not (math.isfinite(a) and math.isfinite(b))
    return a * b if special else ref_round(Fraction(a) * Fraction(b), t)


def ref_fma(a, b, c, t):
    if a == 0 or b == 0 or not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return ref_round(exact, t) if exact else 0.0


def ref_add(a, b, t):
    return ref_fma(a, 1.0, b, t) if a else a + b


def ref_product(a, b, c, alpha, beta, t, fixed):
    """One element of C, rounded to t: a and b are lists of K Python floats."""
    acc_type = F64_T if t is F64_T else F32_T
    alpha, beta = ref_round(alpha, acc_type), ref_round(beta, acc_type)
    if alpha == 0:
        a, b = [], []
    total = 0.0
    if fixed and not all(map(math.isfinite, a + b)):
        total = math.nan
    elif fixed and any(a) and any(b):
        units = [Fraction(2)**(exponent_of(Fraction(max(map(abs, vector)))) - t.fixed)
                 for vector in (a, b)]
        s = sum(round(Fraction(x) / units[0]) * round(Fraction(y) / units[1])
                for x, y in zip(a, b))
        total = ref_round(s * units[0] * units[1], acc_type) if s else 0.0
    elif not fixed:
        for start in range(0, len(a), 1024):
            acc = 0.0
            for x, y in zip(a[start:start + 1024], b[start:start + 1024]):
                acc = ref_fma(x, y, acc, acc_type)
            total = acc if start == 0 else ref_add(total, acc, acc_type)
    if beta == 0:
        return ref_round(ref_mul(alpha, total, acc_type), t)
    return ref_round(ref_fma(alpha, total, ref_mul(beta, c, acc_type), acc_type), t)


def ref_tiled(elements, step, fold, neutral):
    """5.2 to 5.5 of a list of elements, as the text says it."""
    results = []
    for start in range(0, len(elements), 4096):
        lanes = [neutral] * 128
        for i, element in enumerate(elements[start:start + 4096]):
            lanes[i % 128] = step(lanes[i % 128], element)
        for half in (64, 32, 16, 8, 4, 2, 1):
            for lane in range(half):
                lanes[lane] = fold(lanes[lane], lanes[lane + half])
        results.append(lanes[0])
    return results[0] if len(results) == 1 else ref_tiled(results, fold, fold, neutral)


def ref_norm2_step(sums, x):
    """5.9 with its three sums in one pass."""
    big, small, med = sums
    if abs(x) > 2.0**486:
        return ref_fma(x * 2.0**-538, x * 2.0**-538, big, F64_T), small, med
    if abs(x) < 2.0**-511:
        return big, ref_fma(x * 2.0**537, x * 2.0**537, small, F64_T), med
    return big, small, ref_fma(x, x, med, F64_T)


def ref_reduction(name, x, y, t):
    """A floating-point reduction of lists of Python floats, rounded to t (an index: as it is)."""
    acc = F64_T if t is F64_T else F32_T

    def add(p, q):
        return ref_add(p, q, acc)

    def multiply(p, q):
        return ref_mul(p, q, acc)

    if name in ("amax", "argamax"):
        x, name = [abs(v) for v in x], name.replace("amax", "max")
    if name in ("min", "max", "argmin", "argmax"):
        def rank(i):                                # NaNs come first, then -0 before +0
            sign = 1 if name.endswith("min") else -1
            v = x[i]
            return (1, sign * v, sign * math.copysign(1, v), i) if v == v else (0, 0, 0, i)
        place = min(range(len(x)), key=rank)
        return place if name.startswith("arg") else x[place]
    if name == "norm2" and t is F64_T:
        fold = lambda p, q: tuple(map(add, p, q))
        return norm2_end(*ref_tiled(x, ref_norm2_step, fold, (0.0, 0.0, 0.0)))
    if name == "norm2":
        step = lambda s, v: ref_fma(v, v, s, F64_T)
        return ref_round(math.sqrt(ref_tiled(x, step, operator.add, 0.0)), t)
    if name == "product":
        return ref_round(ref_tiled(x, multiply, multiply, 1.0), t)
    if name == "dot":
        pairs = list(zip(x, y))
        return ref_round(ref_tiled(pairs, lambda s, p: ref_fma(*p, s, acc), add, 0.0), t)
    total = ref_tiled(list(map(abs, x)) if name == "asum" else x, add, add, 0.0)
    return ref_round(total / len(x) if name == "mean" else total, t)


class Tally:
    """Counts comparisons and shows the first differences."""
    done = failed = 0

    def compare(self, computed, expected, *inputs):
        """Two numbers must have the same bits, but one NaN is as good as another."""
        self.done += 1
        good = (computed == expected and str(computed) == str(expected)) or (
            computed != computed and expected != expected)
        if not good:
            self.failed += 1
            if self.failed <= 10:
                print(f"{inputs}: computed {computed!r}, expected {expected!r}")


FILLS = ("uniform ints sparse zeros ties huge subnormal mixed powers near1 top odd extremes "
         "nan inf bits").split()


def test_values(rng, n, t):
    """Floats of f32 or f64: every exponent, special numbers, the ends of the range, near 1."""
    special, u = [0.0, -0.0, 1.0, -1.0, 3.0, math.inf, -math.inf, math.nan], 2.0**-t.precision
    ends = [0, 1, 2, t.sign + 1, t.infinity - 1, t.infinity - 2, 1 << (t.precision - 1)]
    ends = np.array(ends, t.bits).view(t.values).tolist()
    any_bits = make_input(t, "bits", rng.getrandbits(64), n).view(t.values).tolist()
    return np.array([rng.choice((v, v, rng.random(), rng.choice(special), rng.choice(ends),
                                 rng.choice((1.0, 1 + 2 * u, 2 * u - 1)) * rng.choice((1, 8))))
                     for v in any_bits], t.values)


def near_product(rng, a, b, t):
    """An addend for which a*b + c is near the middle of two numbers, or cancels."""
    product, p = t.values(a * b), t.precision
    if rng.randrange(2):                            # half a unit of c is about the product
        significand = t.values(rng.randrange(1 << (p - 1), 1 << p))
        return rng.choice((1, -1)) * np.ldexp(significand, np.frexp(product)[1])
    shift = rng.choice((0, 0, 1, p, -p, rng.randrange(-99, 99)))
    return rng.choice((1, -1)) * np.ldexp(product, shift)


def near_middle(rng, t, source):
    """A number of the type `source` at or next to the middle of two neighbours of type t."""
    bits = np.array([rng.randrange(rng.choice((t.infinity, 1 << t.precision)))], t.bits)
    low, high = read(bits, t).astype(F64)[0], read(bits + t.bits(1), t).astype(F64)[0]
    middle = source.values((low + min(high, 2.0**t.top)) / 2)
    step = rng.choice((0.0, -math.inf, math.inf))
    return rng.choice((1, -1)) * (np.nextafter(middle, source.values(step)) if step else middle)


def test_primitives(tally, rng, n):
    for t in (F32_T, F64_T):
        a, b, c = (test_values(rng, n, t) for _ in range(3))
        for i in range(0, n, 2):
            c[i] = near_product(rng, a[i], b[i], t)
        results = zip(*(v.tolist() for v in (a, b, c, fma(a, b, c), a + b, a * b)))
        for x, y, z, fused, added, multiplied in results:
            tally.compare(fused, ref_fma(x, y, z, t), "fma", t.name, x, y, z)
            tally.compare(added, ref_add(x, y, t), "add", t.name, x, y)
            tally.compare(multiplied, ref_mul(x, y, t), "multiply", t.name, x, y)
        for stored in (F16_T, BF16_T, F32_T)[:3 if t is F64_T else 2]:
            values = np.append(a, [near_middle(rng, stored, t) for _ in range(n)]).astype(t.values)
            for x, r in zip(values.tolist(), read(store(values, stored), stored).tolist()):
                tally.compare(r, ref_round(x, stored), t.name, "to", stored.name, x)
    for x, r in zip(a.tolist(), np.sqrt(np.abs(a)).tolist()):       # here they are f64
        if math.isfinite(x) and x:
            scaled = Fraction(abs(x)) * 2**2200     # a whole number; roots of 1100 bits and 1 more
            root = 2 * math.isqrt(int(scaled))
            root += root * root != 4 * scaled
            tally.compare(r, ref_round(Fraction(root, 2**1101), F64_T), "sqrt", x)


def test_results(tally, rng, t):
    """A product and a reduction of floating-point numbers."""
    case = {"fill": rng.choice(FILLS), "seed": str(rng.getrandbits(64)), "m": rng.randrange(1, 8),
            "n": rng.randrange(1, 5), "k": rng.choice((0, 1, 7, 30)), "axis": rng.choice("01"),
            "trans": rng.choice(("nn", "nt", "tn", "tt")), "op": rng.choice(("gemm", "fixed"))}
    if rng.randrange(4) == 0:
        case.update(m=1, n=2, k=rng.choice((1024, 1025, 2049)))
    for name in ("alpha", "beta"):
        case[name] = rng.choice((0.0, -0.0, 1.0, 1 / 3, -1e-50, 1e300, -math.inf, math.nan)).hex()
    alpha, beta = float.fromhex(case["alpha"]), float.fromhex(case["beta"])
    m, n, k = case["m"], case["n"], case["k"]
    a, b, c = (read(x, t).tolist() for x in operands(case, t, m * k, k * n, m * n))
    results = read(product(case, t), t).tolist()
    for i, j in np.ndindex(m, n):
        row = a[i * k:(i + 1) * k] if case["trans"][0] == "n" else a[i::m]
        column = b[j::n] if case["trans"][1] == "n" else b[j * k:(j + 1) * k]
        expected = ref_product(row, column, c[i * n + j], alpha, beta, t, case["op"] == "fixed")
        tally.compare(results[i][j], expected, t.name, case, i, j)

    lines, n = rng.randrange(1, 4), rng.choice((1, 5, 127, 128, 129, 300, 4096, 4097, 9000))
    case["rows"], case["cols"] = (lines, n) if case["axis"] == "1" else (n, lines)
    x, y = (read(v, t).tolist() for v in operands(case, t, lines * n, lines * n))
    for name in rng.sample("sum product mean asum dot norm2 min max argmin argmax amax argamax".split(), 3):
        bits, result_type = reduction({**case, "name": name}, t)
        for i, result in enumerate(read(bits, result_type).tolist()):
            part = slice(i * n, (i + 1) * n) if case["axis"] == "1" else slice(i, None, lines)
            tally.compare(result, ref_reduction(name, x[part], y[part], t), t.name, name, case, i)


def test_integers(tally, rng, t):
    """Integer reductions and maps against Python's integers."""
    def wrap(number, bits=8 * t.width):
        return (number + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))

    n = rng.choice((1, 5, 4096, 4097, 9000))
    case = {"fill": rng.choice(FILLS), "seed": str(rng.getrandbits(64)), "axis": "all",
            "rows": 1, "cols": n, "n": n}
    x, y = (read(v, t).tolist() for v in operands(case, t, n, n))
    expected = {
        "sum": wrap(sum(x)), "product": wrap(math.prod(x)), "asum": wrap(sum(map(abs, x))),
        "dot": wrap(sum(p * q for p, q in zip(x, y))), "mean": float(wrap(sum(x), 64)) / n,
        "min": min(x), "max": max(x), "argmin": x.index(min(x)), "argmax": x.index(max(x)),
        "xor": functools.reduce(operator.xor, x)}
    for name, value in expected.items():
        bits, result_type = reduction({**case, "name": name}, t)
        tally.compare(read(bits, result_type).tolist()[0], value, name, t.name, case)
    for name, function in (("add", operator.add), ("multiply", operator.mul)):
        results = read(elementwise({**case, "name": name}, t), t).tolist()
        tally.compare(results == [wrap(function(*p)) for p in zip(x, y)], True, name, t.name)


def self_test():
    start, rng, tally = time.monotonic(), random.Random(1), Tally()
    test_primitives(tally, rng, 20000)
    for _ in range(100):
        for t in TYPES.values():
            (test_results if t.floating else test_integers)(tally, rng, t)
    cell = transpose({"dtype": "b16", "rows": 2, "cols": 3, "seed": "5"})[1]
    words = random_words(5, 12).tolist()
    tally.compare(int.from_bytes(cell.tobytes(), "little"), words[6] | words[7] << 64)
    tally.compare(digest(b""), "99aa06d3014798d86001c324468d497f")      # published with XXH3
    print(f"{tally.done} comparisons, {tally.failed} differences, "
          f"{time.monotonic() - start:.1f} s")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(self_test() if sys.argv[1] == "--self-test" else check_file(sys.argv[1]))
