#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py PROGRAM: lab D's regression and diffusion against SciPy and NumPy.

Runs the lab's program with small sizes, computes the same from the same inputs, and compares the
L-curve, the numbers of iterations and the fields. Needs numpy and scipy; exits with 77 without them.
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.sparse
    import scipy.sparse.linalg
except ImportError as missing:
    print(f"skipped: {missing}: install numpy and scipy (python3-numpy, python3-scipy)")
    sys.exit(77)


def bits(seed, i):
    """The numbers of examples/labs/numbers.h: the same bits from a seed and an index."""
    z = np.uint64(seed * 0xD1342543DE82EF95 & 0xFFFFFFFFFFFFFFFF) + i * np.uint64(0x9E3779B97F4A7C15)
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


def uniform(seed, i):
    return (bits(seed, i) >> np.uint64(40)).astype(float) * 2.0**-23 - 1


def normal(seed, count):
    i = np.arange(12 * count, dtype=np.uint64).reshape(count, 12)
    return 3 + ((bits(seed, i) >> np.uint64(40)).astype(float) * 2.0**-24).sum(axis=1) - 6


def sparse(n, density):
    i = np.arange(n * n, dtype=np.uint64)
    at = i[(bits(3, i) >> np.uint64(11)).astype(float) * 2.0**-53 < density]
    values = uniform(4, at).astype(np.float32)
    place = at.astype(np.int64)
    return scipy.sparse.csr_matrix((values, (place // n, place % n)), shape=(n, n))


def step(old):
    """A step of diffusion, and what it adds four times: a neighbour outside of the field is 0."""
    out = np.pad(old, 1)
    around = ((out[:-2, 1:-1] + out[2:, 1:-1]) + (out[1:-1, :-2] + out[1:-1, 2:])) - np.float32(4) * old
    return np.float32(0.25) * around + old, around


def compare(name, mine, right, limit):
    off = float(np.max(np.abs(mine - right)) / np.max(np.abs(right)))
    print(f"  {name}: {'the same bits' if np.array_equal(mine, right) else f'{off:.1e} off'}")
    return off <= limit


def regression(folder):
    n = int(np.fromfile(folder / "regression.i64", np.int64)[0])
    a = sparse(n, 0.1).astype(float)
    b = normal(5, n).astype(np.float32).astype(float)
    right = True
    theirs = []
    for size in np.fromfile(folder / "curve-f64").reshape(-1, 4)[:, 0]:
        x, _, count = scipy.sparse.linalg.lsmr(a, b, damp=size, atol=1e-6, btol=1e-6, conlim=1e8,
                                               maxiter=n)[:3]
        theirs.append((float(np.linalg.norm(a @ x - b)), float(np.linalg.norm(x)), count))
    print(f"Regression, {n} x {n}: the program and SciPy {scipy.__version__}")
    print("       lambda   iterations      |A x - b|                    |x|")
    # Vectors of f32 are less orthogonal, and the smallest coefficients then take some iterations more.
    for dtype, more, off in ("f32", 0.1, 1e-4), ("f64", 0.01, 1e-5):
        mine = np.fromfile(folder / f"curve-{dtype}").reshape(-1, 4)
        for (size, residual, norm, steps), (residual_right, norm_right, steps_right) in zip(mine, theirs):
            print(f"{dtype} {size:9.4g} {int(steps):5} {steps_right:5} {residual:13.7g} "
                  f"{residual_right:13.7g} {norm:13.7g} {norm_right:13.7g}")
            right &= abs(residual - residual_right) <= 1e-5 * residual_right
            right &= abs(norm - norm_right) <= off * norm_right
            right &= abs(steps - steps_right) <= more * steps_right
    return right


def diffusion(folder):
    n, steps = (int(v) for v in np.fromfile(folder / "diffusion.i64", np.int64))
    field = np.zeros((n, n), np.float32)
    field[n // 4 : 3 * n // 4, n // 4 : 3 * n // 4] = 1

    def found(name):
        return np.fromfile(folder / f"{name}.f32", np.float32).reshape(n, n)

    print(f"Diffusion, {n} x {n}, {steps} steps: the program and NumPy {np.__version__}")
    right = compare("before", found("before"), field, 0)
    for _ in range(steps):
        field = step(field)[0]
    right &= compare("after", found("after"), field, 1e-6)
    return right & compare("Laplacian", found("laplacian"), step(field)[1], 1e-5)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    np.seterr(over="ignore")  # the numbers wrap
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], "--small", "--dump", folder], check=True,
                       stdout=subprocess.DEVNULL)
        results = [regression(pathlib.Path(folder)), diffusion(pathlib.Path(folder))]
    if not all(results):
        sys.exit("they differ by more than they may")


main()
