# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Lab A: matrices
# Transposes and products by own kernels, the library and the vendor; what the copies to the device
# and back cost; and memory that another library owns. The kernels are those of the C lab
# (`examples/labs/a_matrix.isk`), and `docs/labs.md` has questions and an exercise.

# %%
import isomer
import numpy as np
from lab import (SEED_A, SEED_B, check, host_seconds, kernels, open_device, random, rate, scaled,
                 seconds, size)

dev = open_device()
stream = dev.stream()  # work is submitted to it, and runs in that order
own = kernels(dev, "a_matrix.isk")

# %% [markdown]
# ## A1: transposes
# Nothing is computed: each element is read once and written once, so bytes a second are counted.
# `own` moves one element an item; `tiled` collects a tile and writes along rows too.

# %%
print("%8s  %4s %22s %22s %22s" % ("N", "", "own", "naive", "tiled"))
with stream:
    for n in (2, 33, size(dev, 50, 1024, 1024), size(dev, 100, 4096, 10240)):
        for dtype in ("f4", "f8"):
            host = random((n, n), dtype, SEED_A)
            x, y = dev.array(host), dev.empty((n, n), dtype)
            line = "%8d  %4s" % (n, x.dtype.name)
            for way in ("own", "naive", "tiled"):
                if way == "own" and own is None:
                    line += "%23s" % "-"
                    continue
                y.fill(-1)
                if way == "own":
                    kernel = getattr(own, "transpose_item_" + x.dtype.name)
                    took = seconds(dev, lambda: kernel[kernel.cover(n, n)](x, y, n, n))
                else:
                    took = seconds(dev, dev.plan("transpose", x, y, variant=way).run)
                check(np.array_equal(y.numpy(), host.T), "%s: a transpose of %d", way, n)
                line += "%11s%12s" % (scaled(took, "s"), rate(2 * x.nbytes, took, "B/s"))
            print(line)

# %% [markdown]
# Look at: both read and write every element once. Why is `tiled` faster?
#
# ## A2, A3, A4: products
# The error is the sum of |C - right| over the sum of |right| in up to 64 rows, where `right` was
# computed in f64. `total` has the copies to the device and back.

# %%
def product(dtype, n, way):
    """C = A B by one way: (error, seconds of the kernel, of all), or why it is not here."""
    a, b = random((n, n), dtype, SEED_A), random((n, n), dtype, SEED_B)
    on_a, on_b, on_c = (dev.empty((n, n), dtype) for _ in range(3))
    if way.startswith("product_"):
        kernel = getattr(own, way + "_" + on_a.dtype.name)
        run = lambda: kernel[kernel.cover(n, n)](on_a, on_b, on_c, n, n, n)
    else:
        op = dev.plan("matmul", on_a, on_b, on_c, variant=way)
        if op.why_not():
            return op.why_not()
        run = op.run
    c = np.empty_like(a)

    def all_of_it():
        on_a.copy_from(a)
        on_b.copy_from(b)
        run()
        on_c.copy_to(c)
    total = host_seconds(all_of_it, 3)
    kernel_time = seconds(dev, run)
    rows = np.arange(min(n, 64)) * n // min(n, 64)
    right = a[rows].astype("f8") @ b.astype("f8")
    return abs(c[rows] - right).sum() / abs(right).sum(), kernel_time, total


rates = {}
ways = (["product_item", "product_tile"] if own else []) + ["naive", "tiled", "vendor"]
print("%6s  %4s %-14s%10s%10s%15s%10s" % ("N", "", "", "kernel", "total", "of kernel", "error"))
with stream:
    for n in (32, size(dev, 40, 200, 5120), size(dev, 70, 500, 10240)):
        for dtype in ("f4", "f8"):
            for way in ways:
                found = product(dtype, n, way)
                if isinstance(found, str):
                    print("%6d  %4s %-14s %s" % (n, dtype, way, found))
                    continue
                error, took, total = found
                check(error < (1e-13 if dtype == "f8" else 1e-5), "%s is off by %g", way, error)
                rates[dtype, way] = 2 * n**3 / took
                print("%6d  %4s %-14s%10s%10s%15s%10.1e" % (n, dtype, way, scaled(took, "s"), scaled(
                    total, "s"), scaled(rates[dtype, way], "FLOP/s"), error))
print("f32 is faster than f64: " + "  ".join(
    "%s %.1f" % (way, rates["f4", way] / rates["f8", way]) for way in ways if ("f8", way) in rates))

# %% [markdown]
# Look at: kernel against total. For which N do the copies decide?
#
# ## A5: memory of another library
# `isomer.matmul` takes arrays of NumPy (on the CPU), CuPy, PyTorch and JAX where they lie. Wrapping
# takes the same time for any size; copying does not.

# %%
try:
    import cupy as xp
    xp.zeros(1)
except Exception:  # no CuPy, or no GPU for it: NumPy's memory, on the CPU
    xp = np
n = size(dev, 70, 500, 10240)
a = xp.asarray(random((n, n), "f4", SEED_A))
c = xp.zeros_like(a)
result = isomer.matmul(a, a, out=c, variant="tiled")
result.device.synchronize()
host = a if xp is np else a.get()
rows = np.arange(min(n, 64)) * n // min(n, 64)
right = host[rows].astype("f8") @ host.astype("f8")
got = (c if xp is np else c.get())[rows]
check(abs(got - right).sum() < 1e-5 * abs(right).sum(), "the product of wrapped memory")
wrap = host_seconds(lambda: isomer.asarray(a))
target = result.device.empty((n, n), "f4")
copy = host_seconds(lambda: (target.copy_from(a), result.device.synchronize()))
print("A5. Memory of %s on %s, %d x %d: wrapped in %s, copied in %s (%.0f times as long)" % (
    xp.__name__, result.device.spec, n, n, scaled(wrap, "s"), scaled(copy, "s"), copy / wrap))
dev.close()
