# SPDX-License-Identifier: Apache-2.0
"""e_first.py - lab E: vector addition, first calls, transfers, and matrix-vector products."""
import time

import numpy

from . import inputs
from .a_matrix import sampled
from .machine import STAGE, groups
from .results import FIRST, Task, demand, figure, rate, relative_error, within

BLOCK = 256

# ---- E1, E2: vector addition ---------------------------------------------------------------------


def vectors(where, count):
    x, y = (where.uniform(seed, count, "f64") for seed in (inputs.X, inputs.Y))
    return x, y, where.xp.empty_like(x)


def check_sum(where, out):
    for first in (0, max(0, out.size - 1000)):
        index = numpy.arange(first, min(first + 1000, out.size), dtype=numpy.uint64)
        wanted = inputs.uniform_at(inputs.X, index) + inputs.uniform_at(inputs.Y, index)
        demand(numpy.array_equal(where.get(out[first:first + 1000]), wanted), "the sum is wrong")
    return f"{min(2000, out.size)} elements exactly"


def add_call(where, arrays, numba, kernel):
    x, y, out = arrays
    if not numba:
        return lambda: kernel(x, y, out)
    views = [numba.view(array) for array in arrays]
    launch = kernel[groups(x.size, BLOCK), BLOCK]
    return lambda: launch(*views)


def add(where, count, numba=None):
    arrays = vectors(where, count)
    kernel = numba.f64.add if numba else lambda x, y, out: where.xp.add(x, y, out=out)
    times = where.times(add_call(where, arrays, numba, kernel))
    return {"checked": check_sum(where, arrays[2]),
            "figures": [figure("kernel", "s", times), rate("rate", "B/s", 24 * count, times),
                        rate("flops", "FLOP/s", count, times)]}


def first_and_later(where, count, numba=None):
    """A kernel that nothing has compiled yet, its first call and later ones; submitting and running."""
    arrays = vectors(where, count)
    where.sync()
    begin = time.perf_counter()
    if numba:
        kernel = numba.add_kernel()
    else:
        name = f"lab_add_{time.time_ns()}"
        kernel = where.xp.ElementwiseKernel("T x, T y", "T z", "z = x + y", name)
    call = add_call(where, arrays, numba, kernel)
    call()
    where.sync()
    first = time.perf_counter() - begin
    checked = check_sum(where, arrays[2])
    later, submits = [], []
    for _ in range(20):
        where.sync()
        begin = time.perf_counter()
        call()
        submits.append(time.perf_counter() - begin)
        where.sync()
        later.append(time.perf_counter() - begin)
    return {"checked": checked,
            "figures": [figure("submit", "s", submits), figure("kernel", "s", where.times(call)),
                        figure("first", "s", first), figure("later", "s", later)]}


# ---- E3: transfers ------------------------------------------------------------------------------------


def transfer(where, count, pinned, write):
    import cupyx
    data = inputs.uniform(inputs.X, min(count // 4, 1 << 20), numpy.float32).view(numpy.uint8)
    host = cupyx.empty_pinned(count, numpy.uint8) if pinned else numpy.empty(count, numpy.uint8)
    device = where.xp.empty(count, numpy.uint8)
    if write:
        fill(host, data)
        device.fill(0)
        times = where.walls(lambda: device.set(host))
    else:
        host[...] = 0
        fill(device, where.put(data))
        times = where.walls(lambda: device.get(out=host))
    right = bool((where.put(host) == device).all()) and numpy.array_equal(where.get(device[-data.size:]), data)
    demand(right, "what arrived is not what was sent")
    return {"checked": "every byte", "figures": [figure("time", "s", times), rate("rate", "B/s", count, times)]}


def fill(array, data):
    for first in range(0, array.size, data.size):
        array[first:first + data.size] = data


def allocate(where, count):
    runtime = where.xp.cuda.runtime

    def call():
        runtime.free(runtime.malloc(count))
    times = where.walls(call)
    return {"checked": "the runtime reported no error",
            "figures": [figure("time", "s", times), rate("rate", "B/s", count, times)]}


# ---- E4: matrix-vector products -----------------------------------------------------------------------


def gemv(where, n, call_of, columns=False):
    """y = alpha A x + beta y with alpha 1 and beta 0; call_of makes the call from A, x and y."""
    a = where.uniform(inputs.A, (n, n), "f64")
    if columns:
        a = where.xp.asfortranarray(a)
    x = where.uniform(inputs.B, n, "f64")
    y = where.xp.zeros(n, numpy.float64)
    times = where.times(call_of(a, x, y))
    rows = sampled(n)
    wanted = inputs.uniform_rows(inputs.A, rows, n) @ inputs.uniform(inputs.B, n, numpy.float64)
    error = relative_error(where.get(y[where.put(rows)]), wanted)
    within(error, 1e-12)
    return {"checked": f"{len(rows)} rows against f64",
            "figures": [figure("kernel", "s", times), rate("rate", "B/s", 8 * (n * n + 2 * n), times),
                        figure("error", "", error)]}


def gemv_kernel(numba, kernel):
    def call_of(a, x, y):
        views = [numba.view(array) for array in (a, x, y)]
        launch = kernel[groups(y.size, STAGE), STAGE]
        return lambda: launch(1.0, views[0], views[1], 0.0, views[2])
    return call_of


def gemv_dot(where):
    return lambda a, x, y: lambda: where.xp.dot(a, x, out=y)


def gemv_cublas(a, x, y):
    from cupy import cublas
    return lambda: cublas.gemv("N", 1.0, a, x, 0.0, y)


def gemv_tasks(session):
    gpu, numba = session.gpu, session.numba
    n = session.pick(16384, 300)
    ways = []
    if numba:
        rows, shared = numba.f64.gemv_item, numba.f64.gemv_shared
        ways += [(numba.by, "rows", gemv_kernel(numba, rows), False),
                 (numba.by, "columns", gemv_kernel(numba, rows), True),
                 (numba.by, "shared", gemv_kernel(numba, shared), False),
                 (numba.by, "shared, columns", gemv_kernel(numba, shared), True)]
    if gpu:
        ways += [(gpu.by, "vendor", gemv_cublas, False), (gpu.by, "vendor, columns", gemv_cublas, True),
                 (gpu.by, "A @ x", gemv_dot(gpu), False), (gpu.by, "A @ x, columns", gemv_dot(gpu), True)]
    for by, what, call_of, columns in ways:
        yield Task("E4", gpu, by, {"what": what, "dtype": "f64", "n": n},
                   lambda c=call_of, f=columns: gemv(gpu, n, c, f), 1, FIRST)
    host = session.host
    yield Task("E4", host, host.by, {"what": "A @ x", "dtype": "f64", "n": n},
               lambda: gemv(host, n, gemv_dot(host)), 2)


# ---- The rows ------------------------------------------------------------------------------------------


def tasks(session):
    gpu, numba = session.gpu, session.numba
    for count in session.pick([1000, 200_000_000], [1000]):
        case = {"what": "add", "dtype": "f64", "n": count}
        if numba:
            yield Task("E1", gpu, numba.by, case, lambda n=count: add(gpu, n, numba), 2)
            yield Task("E2", gpu, numba.by, case, lambda n=count: first_and_later(gpu, n, numba), 2)
        for where in session.libraries(count < 1e6):
            yield Task("E1", where, where.by, case, lambda w=where, n=count: add(w, n), 2)
        if gpu:
            yield Task("E2", gpu, gpu.by, case, lambda n=count: first_and_later(gpu, n), 2)
    for power in session.pick([10, 14, 18, 22, 26, 28, 30], [10, 16]) if gpu else []:
        for pinned, kind in ((False, "pageable"), (True, "pinned")):
            for write in (True, False):
                what = f"{kind} {'write' if write else 'read'}"
                yield Task("E3", gpu, gpu.by, {"what": what, "bytes": 2**power},
                           lambda n=2**power, p=pinned, w=write: transfer(gpu, n, p, w), 1 + (power > 28))
        yield Task("E3", gpu, gpu.by, {"what": "allocate", "bytes": 2**power},
                   lambda n=2**power: allocate(gpu, n))
    yield from gemv_tasks(session)
