# SPDX-License-Identifier: Apache-2.0
"""b_tensor.py - lab B: ten f32 products, strict and with TF32, and what TF32 loses."""
import contextlib

import numpy

from . import inputs
from .a_matrix import product_reference, sampled
from .results import FIRST, Task, Unsupported, demand, figure, rate, relative_error, within

TEN = 10
BOUNDS = {"strict": 1e-4, "tf32": 1e-2}


@contextlib.contextmanager
def math_of(where, math):
    """CuPy reads CUPY_TF32 once; this sets what it would have read."""
    if math == "strict":
        yield
        return
    if int(where.xp.cuda.Device().compute_capability) < 80:
        raise Unsupported("this device has no TF32")
    linalg = where.xp._core._routines_linalg
    before = linalg.get_compute_type(numpy.dtype("f"))
    linalg.set_compute_type(numpy.dtype("f"), linalg.COMPUTE_TYPE_TF32)
    try:
        yield
    finally:
        linalg.set_compute_type(numpy.dtype("f"), before)


class Tensor:
    """The reference, and the strict product's time and error, which TF32 is compared with."""

    def __init__(self):
        self.reference = None
        self.strict = None


def ten_products(lab, where, n, math):
    a, b = (where.uniform(seed, (n, n), "f32") for seed in (inputs.A, inputs.B))
    out = where.xp.empty_like(a)

    def ten():
        for _ in range(TEN):
            where.xp.dot(a, b, out=out)

    rows = sampled(n)
    if lab.reference is None:
        lab.reference = product_reference(where, rows, n, n, n)
    with math_of(where, math):
        where.device_time(ten)
        times = [where.device_time(ten) for _ in range(3)]
    result = where.get(out[where.put(rows)]).astype(numpy.float64)
    error = relative_error(result, lab.reference)
    within(error, BOUNDS[math])
    worst = abs(result - lab.reference).max() / abs(lab.reference).max()
    figures = [figure("time", "s", times), rate("rate", "FLOP/s", TEN * 2 * n**3, times),
               figure("error", "", error), figure("error-max", "", worst)]
    checked = f"{len(rows)} rows against f64"
    median = float(numpy.median(times))
    if math == "strict":
        lab.strict = (median, error)
    elif lab.strict:
        demand(error > 10 * lab.strict[1], f"the error {error:.3g} is that of strict math: TF32 did not run")
        figures.append(figure("speed-up", "", lab.strict[0] / median))
        checked += "; less precise than strict, so TF32 ran"
    return {"checked": checked, "figures": figures}


def picture(name, values):
    return {"name": name, "rows": values.shape[0], "cols": values.shape[1],
            "values": [float(value) for value in values.reshape(-1)]}


def example(where, math):
    """A product of 3 x 3 matrices, whole."""
    a, b = (inputs.uniform(seed, (3, 3), numpy.float32) for seed in (inputs.A, inputs.B))
    with math_of(where, math):
        result = where.get(where.xp.dot(where.put(a), where.put(b)))
    wanted = a.astype(numpy.float64) @ b.astype(numpy.float64)
    error = relative_error(result, wanted)
    within(error, BOUNDS[math])
    return {"checked": "against f64", "figures": [figure("error", "", error)],
            "pictures": [picture("A", a), picture("B", b), picture("product", result), picture("f64", wanted)]}


def tasks(session):
    where = session.gpu or session.host
    lab = Tensor()
    for math in ["strict", "tf32"] if session.gpu else ["strict"]:
        for n in session.pick([15000], [100]):
            yield Task("B1", where, where.by, {"what": math, "dtype": "f32", "n": n},
                       lambda m=math, n=n: ten_products(lab, where, n, m), 8, FIRST)
        yield Task("B1", where, where.by, {"what": math, "dtype": "f32", "n": 3},
                   lambda m=math: example(where, m), turn=FIRST)
