# SPDX-License-Identifier: Apache-2.0
"""c_reductions.py - lab C: an element-wise product, moving memory, and sums in one block and in many."""
import statistics
import time

import numpy

from . import inputs
from .machine import PARTIALS_BLOCK, groups
from .results import FIRST, Task, demand, figure, within

SUM_BOUND = 1e-6


def spread(name, values):
    return [figure(name, "s", values), figure("mean", "s", statistics.mean(values)),
            figure("deviation", "s", statistics.stdev(values)),
            figure("min", "s", min(values)), figure("max", "s", max(values))]


def multiply(where, side, kernel=None, repeats=50):
    """Time to submit one call, and its time on the device."""
    x, y = (where.uniform(seed, side * side, "f32") for seed in (inputs.X, inputs.Y))
    out = where.xp.empty_like(x)
    if kernel:
        numba, run = kernel
        views = [numba.view(array) for array in (x, y, out)]
        launch = run[32 * where.processors, 256]

        def call():
            launch(*views)
    else:
        def call():
            where.xp.multiply(x, y, out=out)
    call()
    times = [where.device_time(call) for _ in range(repeats)]
    submits = []
    for _ in range(repeats):
        where.sync()
        begin = time.perf_counter()
        call()
        submits.append(time.perf_counter() - begin)
    where.sync()
    count = min(side * side, 100000)
    wanted = (inputs.uniform(inputs.X, count, numpy.float32) *
              inputs.uniform(inputs.Y, count, numpy.float32))
    demand(numpy.array_equal(where.get(out[:count]), wanted), "the product is wrong")
    demand(bool((out == x * y).all()), "the product is wrong")
    return {"checked": "every element exactly",
            "figures": [figure("submit", "s", submits), *spread("kernel", times)]}


def moving(where, side, numba=None):
    """Wrapping memory of the other library, and the copies to and from pageable memory."""
    device = where.uniform(inputs.X, (side, side), "f32")
    data = where.get(device)
    back = numpy.zeros_like(data)
    if numba:
        target = numba.view(device)
        moves = (lambda: numba.view(device), lambda: target.copy_to_device(data),
                 lambda: target.copy_to_host(back))
    else:
        other = Foreign(device)
        moves = (lambda: where.xp.asarray(other), lambda: device.set(data), lambda: device.get(out=back))
    names = ("wrap", "write", "read")
    figures = [figure(name, "s", where.walls(move)) for name, move in zip(names, moves)]
    demand(numpy.array_equal(back, data), "the copies changed the data")
    return {"checked": "what came back exactly", "figures": figures}


class Foreign:
    """Memory as another library offers it."""

    def __init__(self, array):
        self.kept = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def sum_block(where, count, numba):
    x = where.uniform(inputs.X, count, "f32")
    out = where.xp.zeros(1, numpy.float32)
    launch = numba.f32.sum_block[1, count]
    view, result = numba.view(x), numba.view(out)
    times = where.times(lambda: launch(view, result))
    error = sum_error(float(out[0]), inputs.uniform(inputs.X, count, numpy.float64))
    within(error, SUM_BOUND)
    return {"checked": "against f64", "figures": [figure("kernel", "s", times), figure("error", "", error)]}


def sum_error(value, x):
    """f64 adds these numbers exactly: they are multiples of 2^-23."""
    return abs(value - float(x.sum())) / float(abs(x).sum())


def reference_error(where, count, value):
    return sum_error(value, where.uniform(inputs.X, count, "f64"))


def sum_figures(where, count, call, total, bound=SUM_BOUND):
    """`call` leaves the sum, or its parts, on the device; `total` returns the number."""
    times = where.times(call) if call else []
    walls = where.walls(total)
    error = reference_error(where, count, total())
    within(error, bound)
    kernel = [figure("kernel", "s", times)] if times else []
    return {"checked": "against f64, where the sum is exact",
            "figures": kernel + [figure("total", "s", walls), figure("error", "", error)]}


def sum_vendor(where, count):
    x = where.uniform(inputs.X, count, "f32")
    out = where.xp.empty((), numpy.float32)
    return sum_figures(where, count, lambda: x.sum(out=out), lambda: float(x.sum()))


def sum_tree(where, count, numba):
    x = numba.view(where.uniform(inputs.X, count, "f32"))
    out = numba.view(where.xp.empty(1, numpy.float32))
    return sum_figures(where, count, lambda: numba.tree(x, res=out), lambda: float(numba.tree(x)))


def sum_launch(where, count, kernel):
    blocks = min(groups(count, PARTIALS_BLOCK), 8 * where.processors)
    return kernel[blocks, PARTIALS_BLOCK], blocks


def sum_partials(where, count, numba):
    x = numba.view(where.uniform(inputs.X, count, "f32"))
    launch, blocks = sum_launch(where, count, numba.f32.sum_partials)
    parts = where.xp.empty(blocks, numpy.float32)
    out = numba.view(parts)

    def total():
        launch(x, out)
        return float(parts.get().sum())
    return sum_figures(where, count, lambda: launch(x, out), total)


def sum_atomics(where, count, numba):
    x = numba.view(where.uniform(inputs.X, count, "f32"))
    launch, _ = sum_launch(where, count, numba.f32.sum_atomic)
    zero = where.xp.zeros(1, numpy.float32)
    out = numba.view(zero)

    def call():
        zero.fill(0)
        launch(x, out)

    def total():
        call()
        return float(zero[0])
    return sum_figures(where, count, call, total)


def tasks(session):
    gpu, numba = session.gpu, session.numba
    side = session.pick(4096, 128)
    case = {"dtype": "f32", "n": side}
    if numba:
        kernel = (numba, numba.f32.multiply_stride)
        yield Task("C1", gpu, numba.by, {"what": "multiply_stride", **case},
                   lambda: multiply(gpu, side, kernel))
        yield Task("C2", gpu, numba.by, {"what": "pageable", **case}, lambda: moving(gpu, side, numba))
        for row, count in (("C3", 512), ("C4", 192)):
            yield Task(row, gpu, numba.by, {"what": f"sum_{count}", "dtype": "f32", "n": count},
                       lambda n=count: sum_block(gpu, n, numba))
    for where in session.libraries():
        yield Task("C1", where, where.by, {"what": "multiply", **case}, lambda w=where: multiply(w, side))
    if gpu:
        yield Task("C2", gpu, gpu.by, {"what": "pageable", **case}, lambda: moving(gpu, side))
    for power in session.pick([9, 12, 16, 20, 24, 28], [9, 12]):
        case = {"dtype": "f32", "n": 2**power}
        for where in session.libraries():
            yield Task("C5", where, where.by, {"what": "vendor", **case},
                       lambda w=where, n=2**power: sum_vendor(w, n),
                       4 if power > 24 and not where.gpu else 1, FIRST)
        for what, run in (("tree", sum_tree), ("partials", sum_partials), ("atomics", sum_atomics)):
            if numba:
                yield Task("C5", gpu, numba.by, {"what": what, **case},
                           lambda n=2**power, run=run: run(gpu, n, numba), turn=FIRST)
