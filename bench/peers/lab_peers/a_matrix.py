# SPDX-License-Identifier: Apache-2.0
"""a_matrix.py - lab A: transposes, products with and without the copies, and memory of other libraries."""
import time

import numpy

from . import inputs
from .machine import DTYPES, TILE, groups, repeated
from .results import FIRST, LAST, LATE, USUAL, Task, demand, figure, rate, relative_error, within

BOUNDS = {"f32": 1e-4, "f64": 1e-12}
SAMPLES = 64


def sampled(count):
    return numpy.unique(numpy.linspace(0, count - 1, min(count, SAMPLES)).astype(numpy.int64))


def product_reference(where, rows, m, k, n):
    """Rows of the product of A (m x k) and B (k x n) in f64; on a GPU four columns are held to NumPy's."""
    a = inputs.uniform_rows(inputs.A, rows, k)
    b = where.uniform(inputs.B, (k, n), "f64")
    reference = where.get(where.xp.dot(where.put(a), b))
    if where.gpu:
        columns = sampled(n)[::16]
        wanted = a @ inputs.uniform_columns(inputs.B, k, n, columns)
        demand(relative_error(reference[:, columns], wanted) < 1e-12, "the reference is not NumPy's")
    return reference


class Products:
    """Inputs and references of square products: the last inputs are kept, as several rows use them."""

    def __init__(self, session):
        self.host, self.maker = session.host, session.gpu or session.host
        self.kept, self.references = {}, {}

    def host_arrays(self, n, dtype):
        if (n, dtype) not in self.kept:
            self.kept = {(n, dtype): [self.host.uniform(seed, (n, n), dtype) for seed in (inputs.A, inputs.B)]}
        return self.kept[n, dtype]

    def reference(self, n):
        if n not in self.references:
            self.references[n] = product_reference(self.maker, sampled(n), n, n, n)
        return self.references[n]


def product(products, where, ways, n, dtype):
    """A product from arrays of the host to an array of the host, in parts and as a whole."""
    put, multiply, get = ways
    host_a, host_b = products.host_arrays(n, dtype)
    parts = {"copy-in": [], "kernel": [], "copy-out": []}
    kept = {}

    def in_parts():
        begin = time.perf_counter()
        a, b = put(host_a), put(host_b)
        where.sync()
        copied = time.perf_counter()

        def run():
            kept["c"] = multiply(a, b)
        parts["kernel"].append(where.device_time(run))
        ran = time.perf_counter()
        kept["out"] = get(kept["c"])
        where.sync()
        end = time.perf_counter()
        parts["copy-in"].append(copied - begin)
        parts["copy-out"].append(end - ran)
        return end - begin

    get(multiply(put(host_a[:32, :32].copy()), put(host_b[:32, :32].copy())))  # compiles
    totals = repeated(in_parts, most=10, seconds=1)
    parts = {name: times[-len(totals):] for name, times in parts.items()}
    if totals[0] < 0.3:  # the whole of a longer one is its parts
        totals = repeated(lambda: where.wall(lambda: get(multiply(put(host_a), put(host_b)))), 10, 1)
    error = relative_error(kept["out"][sampled(n)], products.reference(n))
    within(error, BOUNDS[dtype])
    shown = parts.items() if where.gpu else [("kernel", parts["kernel"])]
    return {"checked": f"{len(sampled(n))} rows against f64",
            "figures": [*(figure(name, "s", times) for name, times in shown), figure("total", "s", totals),
                        rate("rate", "FLOP/s", 2 * n**3, parts["kernel"]), figure("error", "", error)]}


def library_ways(where):
    return where.put, where.xp.dot, where.get


def numba_ways(numba, kernel, block, rows_first):
    """`rows_first`: x counts rows, not columns."""
    def multiply(a, b):
        out = numba.cuda.device_array((a.shape[0], b.shape[1]), a.dtype)
        grid = tuple(groups(count, block) for count in (out.shape if rows_first else out.shape[::-1]))
        kernel[grid, (block, block)](a, b, out)
        return out
    return numba.cuda.to_device, multiply, lambda out: out.copy_to_host()


def transpose(where, n, dtype, kernel=None):
    a = where.uniform(inputs.A, (n, n), dtype)
    out = where.xp.empty_like(a)
    if kernel:
        numba, run = kernel
        view, result = numba.view(a), numba.view(out)
        launch = run[(groups(n, 32), groups(n, 8)), (32, 8)]
        times = where.times(lambda: launch(view, result))
    else:
        times = where.times(lambda: where.xp.copyto(out, a.T))
    rows = sampled(n)
    wanted = inputs.uniform_columns(inputs.A, n, n, rows).T.astype(DTYPES[dtype])
    demand(numpy.array_equal(where.get(out[where.put(rows)]), wanted), "the transpose is wrong")
    return {"checked": f"{len(rows)} rows exactly",
            "figures": [figure("kernel", "s", times),
                        rate("rate", "B/s", 2 * n * n * a.itemsize, times)]}


def wrapped(where, array, wrap, copy, address):
    """Wrapping memory of another library against copying it."""
    count = 200

    def wraps():
        begin = time.perf_counter()
        for _ in range(count):
            wrap(array)
        return (time.perf_counter() - begin) / count

    demand(address(wrap(array)) == address(array), "wrapping made a copy")
    wraps()
    wrapping = [wraps() for _ in range(5)]
    copying = where.walls(lambda: copy(array))
    ratio = numpy.median(copying) / numpy.median(wrapping)
    return [figure("wrap", "s", wrapping), figure("copy", "s", copying), figure("ratio", "", ratio)]


def wrap_numpy(where, n):
    a = where.uniform(inputs.A, (n, n), "f32")
    figures = wrapped(where, a, numpy.from_dlpack, numpy.array, lambda x: x.ctypes.data)
    return {"checked": "the same address", "figures": figures}


def wrap_gpu(where, n, to_torch):
    """CuPy's memory in PyTorch or the other way round; the product of what was wrapped is checked."""
    import torch
    cupy = where.xp
    a, b = (where.uniform(seed, (n, n), "f32") for seed in (inputs.A, inputs.B))

    def address(x):
        return x.data_ptr() if isinstance(x, torch.Tensor) else x.data.ptr

    if to_torch:
        figures = wrapped(where, a, torch.from_dlpack, lambda x: torch.from_dlpack(x).clone(), address)
        made = cupy.from_dlpack(torch.from_dlpack(a) @ torch.from_dlpack(b))
    else:
        a, b = (torch.from_dlpack(x).clone() for x in (a, b))
        figures = wrapped(where, a, cupy.from_dlpack, lambda x: cupy.from_dlpack(x).copy(), address)
        made = cupy.dot(cupy.from_dlpack(a), cupy.from_dlpack(b))
    rows = sampled(n)
    error = relative_error(made[cupy.asarray(rows)].get(), product_reference(where, rows, n, n, n))
    within(error, BOUNDS["f32"])
    return {"checked": f"the same address; the product's {len(rows)} rows against f64",
            "figures": figures + [figure("error", "", error)]}


# Seconds that Numba's products take, by kernel, size and type; about 1 if small.
SECONDS = {("guide_item", 5120, "f32"): 3, ("guide_item", 5120, "f64"): 5,
           ("guide_tile", 5120, "f32"): 3, ("guide_tile", 5120, "f64"): 4,
           ("guide_item", 10240, "f32"): 5, ("guide_item", 10240, "f64"): 9,
           ("guide_tile", 10240, "f32"): 4, ("guide_tile", 10240, "f64"): 8,
           ("product_item", 5120, "f32"): 3, ("product_item", 5120, "f64"): 4,
           ("product_tile", 5120, "f32"): 3, ("product_tile", 5120, "f64"): 3,
           ("product_item", 10240, "f32"): 4, ("product_item", 10240, "f64"): 5,
           ("product_tile", 10240, "f32"): 4, ("product_tile", 10240, "f64"): 6,
           ("product_item", 20480, "f32"): 18, ("product_item", 20480, "f64"): 30,
           ("product_tile", 20480, "f32"): 8, ("product_tile", 20480, "f64"): 15}
OWN = [("A2", "naive", "product_item"), ("A3", "tiled", "product_tile")]
GUIDE = [("A2", "naive, as in Numba's guide", "guide_item"),
         ("A3", "tiled, as in Numba's guide", "guide_tile")]


def numba_products(session, products, n, dtype):
    gpu, numba = session.gpu, session.numba
    guided = n in session.pick([5120, 10240], [32, 100])
    for row, what, name in (GUIDE if guided else []) + OWN:
        ways = numba_ways(numba, getattr(numba.kernels(dtype), name), TILE, name.startswith("guide"))
        turn = LAST if n > 10240 else LATE if n > 5120 else FIRST if name.startswith("guide") else USUAL
        yield Task(row, gpu, numba.by, {"what": what, "dtype": dtype, "n": n},
                   lambda ways=ways: product(products, gpu, ways, n, dtype),
                   SECONDS.get((name, n, dtype), 1), turn)


def transpose_tasks(session):
    gpu, numba = session.gpu, session.numba
    for n in session.pick([2, 1000, 10240], [2, 100]):
        for dtype in DTYPES:
            case = {"dtype": dtype, "n": n}
            if numba:
                kernel = (numba, numba.kernels(dtype).transpose_item)
                yield Task("A1", gpu, numba.by, {"what": "transpose_item", **case},
                           lambda n=n, d=dtype, k=kernel: transpose(gpu, n, d, k))
            for where in session.libraries(n <= 1000):
                yield Task("A1", where, where.by, {"what": "vendor", **case},
                           lambda w=where, n=n, d=dtype: transpose(w, n, d))


def product_tasks(session):
    products = Products(session)
    full = [32, 5120, 10240] + [20480] * session.long
    for n in session.pick(full, [32, 100]):
        for dtype in DTYPES:
            if session.numba:
                yield from numba_products(session, products, n, dtype)
            turn = LAST if n > 10240 else FIRST if n >= 5120 else USUAL
            for where in session.libraries(n <= 5120):
                yield Task("A4", where, where.by, {"what": "vendor", "dtype": dtype, "n": n},
                           lambda w=where, n=n, d=dtype: product(products, w, library_ways(w), n, d),
                           10 if n > 10240 else 4 if n > 32 else 1, turn)


def wrapping_tasks(session):
    host, gpu = session.host, session.gpu
    for n in session.pick([5120, 10240], [100]):
        case = {"dtype": "f32", "n": n}
        yield Task("A5", host, host.by, {"what": "NumPy's memory in NumPy", **case},
                   lambda n=n: wrap_numpy(host, n), 2)
        for what, to_torch in (("CuPy's memory in PyTorch", True), ("PyTorch's memory in CuPy", False)):
            if gpu:
                yield Task("A5", gpu, gpu.by, {"what": what, **case},
                           lambda n=n, to=to_torch: wrap_gpu(gpu, n, to), 3, LATE)


def tasks(session):
    yield from transpose_tasks(session)
    yield from product_tasks(session)
    yield from wrapping_tasks(session)
