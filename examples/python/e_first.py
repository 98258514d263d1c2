# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Lab E: first kernels
# A vector add and matrix-vector products: what a launch and a transfer cost, and how near a kernel
# comes to what the device can do. If all of this is new, begin here. The kernels are those of the C
# lab (`examples/labs/e_first.isk`); `docs/labs.md` has questions and an exercise.

# %%
import os
import time

import numpy as np
from lab import (SEED_A, SEED_B, check, host_seconds, kernels, open_device, random, rate, scaled,
                 seconds, size)

dev = open_device()
start = time.perf_counter()
own = kernels(dev, "e_first.isk")
compiled = time.perf_counter() - start
stream = dev.stream()

# %% [markdown]
# ## The roofs
# A kernel cannot be faster than the memory that feeds it, or the units that compute. Both limits are
# measured: copying a large array, and multiplying and adding in registers.

# %%
with stream:
    count = size(dev, 1 << 14, 1 << 24, 1 << 28)
    x, z = dev.full(count, 1.0), dev.empty(count)
    bytes_roof = 2 * x.nbytes / seconds(dev, dev.plan("copy", x, z).run, 5)
    few, steps = count // 16, size(dev, 16, 256, 4096)
    chain = dev.plan("chain", x[:few], 0.5, 0.5, steps, z[:few])
    flops_roof = 2 * few * steps / seconds(dev, chain.run, 5)
    del x, z, chain
print("copying %s, multiplying and adding %s" % (scaled(bytes_roof, "B/s"),
                                                 scaled(flops_roof, "FLOP/s")))


def roofline(name, flops, moved, took):
    """A row: the roof is the lower of what the units can do and what the memory can feed."""
    of_memory = flops / moved * bytes_roof
    roof = min(of_memory, flops_roof)
    print("%-22.22s%11s%12s%15s%12.3f%8.0f%%  %s" % (
        name, scaled(took, "s"), rate(moved, took, "B/s"), rate(flops, took, "FLOP/s"),
        flops / moved, 100 * flops / took / roof,
        "memory" if of_memory < flops_roof else "arithmetic"))


# %% [markdown]
# ## E1, E2: z = x + y
# The first call pays for what is made at first use. Submitting does not wait for the work.

# %%
n = size(dev, 100000, 20000000, 200000000)
x, y = random(n, "f8", SEED_A), random(n, "f8", SEED_B)
with stream:
    on_x, on_y, on_z = dev.array(x), dev.array(y), dev.empty(n)
    add = (lambda: own.add_f64[own.add_f64.cover(n)](on_x, on_y, on_z, n)) if own else \
        dev.plan("add", on_x, on_y, on_z).run
    start = time.perf_counter()
    add()
    stream.synchronize()
    first = time.perf_counter() - start
    submit = host_seconds(add)
    stream.synchronize()
    later = host_seconds(lambda: (add(), stream.synchronize()))
    check(np.array_equal(on_z.numpy(), x + y), "a sum")
    kernel = seconds(dev, add, 5)
print("E2. z = x + y, %d numbers in f64 (every z was compared)" % n)
for name, took in (("compiling the kernels, once", compiled), ("the first call until done", first),
                   ("a later call until done", later), ("a later call to submit", submit),
                   ("a later call on the device", kernel)):
    print("  %-28s%10s" % (name, scaled(took, "s")))

# %% [markdown]
# ## E4, E5: y = 1.5 A x, and the roofline
# `gemv_rows` has A stored row by row, `gemv_columns` and `gemv_shared` column by column, the last with
# x in shared memory. The same numbers read by columns are another matrix: A transposed.

# %%
print("%-22s%11s%12s%15s%12s%9s  %s" % ("", "on device", "bytes", "operations", "FLOP/byte",
                                         "of roof", "the roof is"))
roofline("add", n, 3 * 8 * n, kernel)
del on_x, on_y, on_z, add
order = size(dev, 300, 4096, 16384)
a, x = random((order, order), "f8", SEED_A), random(order, "f8", SEED_B)
right = {"rows": 1.5 * (a @ x), "columns": 1.5 * (a.T @ x)}
with stream:
    on_a, on_x, on_y = dev.array(a), dev.array(x), dev.array(x)

    def row(name, run, wanted):
        took = seconds(dev, run, 5)
        off = abs(on_y.numpy() - wanted).sum() / abs(wanted).sum()
        check(off < 1e-12, "%s is off by %g", name, off)
        roofline(name, 2 * order**2, a.nbytes, took)

    for name in ("rows", "columns", "shared") if own else ():
        k = getattr(own, "gemv_%s_f64" % name)
        row("gemv_%s_f64" % name,
            lambda: k[k.cover(order)](1.5, on_a, on_x, 0.0, on_y, order, order),
            right["rows" if name == "rows" else "columns"])
    for variant in ("tiled", "vendor"):
        op = dev.plan("gemv", on_a, on_x, on_y, alpha=1.5, variant=variant)
        if op.why_not():
            print("vendor: " + op.why_not())
        else:
            row("%s, %s" % (variant, op.describe().library), op.run, right["rows"])

# %% [markdown]
# Look at: rows against columns. Which order do neighbours read in?
#
# ## E3: transfers
# Pinned memory stays where it is, so a GPU can fetch it by itself; ordinary memory is copied twice.

# %%
most = size(dev, 1 << 20, 1 << 28, 1 << 32)
pageable, pinned = np.ones(most, "u1"), dev.pinned(most, "uint8")
pinned[...] = 1
print("%10s%13s%13s%15s%13s%12s" % ("KiB", "write", "read", "write pinned", "read pinned", "allocate"))
count = 1024
with stream:
    while count <= most:
        allocate = host_seconds(lambda: dev.empty(count, "uint8"))
        on_device = dev.empty(count, "uint8")
        line = "%10d" % (count // 1024)
        for host, width in ((pageable[:count], 13), (pinned[:count], 15)):
            for move in (on_device.copy_from, on_device.copy_to):
                line += "%*s" % (width, rate(count, host_seconds(lambda: move(host)), "B/s"))
                width = 13
        check(bool((pinned[:count] == 1).all()), "a transfer")
        print(line + "%12s" % scaled(allocate, "s"))
        count *= 32 if count < 1 << 20 else 16

# %% [markdown]
# Look at: from which size on the rate stays the same.
#
# ## E6: a time line
# With `ISOMER_TRACE=trace.json` in the environment, a time line of all copies and kernels is written;
# open the file at ui.perfetto.dev.

# %%
print("The time line is in %s." % os.environ["ISOMER_TRACE"] if os.environ.get("ISOMER_TRACE")
      else "ISOMER_TRACE=trace.json before the command writes a time line.")
dev.close()
