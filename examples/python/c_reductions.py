# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Lab C: reductions
# What moving costs, one number out of many, limits of memory, and which device. The kernels are
# those of the C lab (`examples/labs/c_reductions.isk`); `docs/labs.md` has questions and an exercise.

# %%
import time

import isomer
import numpy as np
from lab import SEED_A, SEED_B, check, kernels, open_device, random, scaled, size

dev = open_device()
stream = dev.stream()
own = kernels(dev, "c_reductions.isk")
x = random(size(dev, 1 << 12, 1 << 24, 1 << 28), "f4", SEED_A)

# %% [markdown]
# ## C1, C2: z = x * y, and what it costs to bring x to the device and z back

# %%
n = size(dev, 64 * 64, 4096 * 4096, 4096 * 4096)
y, z = random(n, "f4", SEED_B), np.empty(n, "f4")
on_x, on_y, on_z = dev.array(x[:n]), dev.array(y), dev.empty(n, "f4")
op = dev.plan("multiply", on_x, on_y, on_z, stream=stream)
samples = {"submitting it": [], "on the device": [], "wrapping x": [], "writing x": [],
           "reading z": []}


def clock(what, work):
    start = time.perf_counter()
    work()
    samples[what].append(time.perf_counter() - start)


lent = np.from_dlpack(on_x) if dev.backend == "openmp" else on_x
for i in range(11):
    begin = stream.event()
    clock("submitting it", op.run)
    end = stream.event()
    end.synchronize()
    samples["on the device"].append(end.seconds_since(begin))
    clock("wrapping x", lambda: isomer.asarray(lent))
    clock("writing x", lambda: on_x.copy_from(x[:n], stream=stream))
    clock("reading z", lambda: on_z.copy_to(z, stream=stream))
check(np.array_equal(z, x[:n] * y), "a product")
print("%-16s%10s%10s%10s%11s%10s" % ("", "least", "median", "mean", "deviation", "most"))
for what, times in samples.items():
    times = np.sort(times[1:])
    print("%-16s" % what + "".join("%10s" % scaled(v, "s") for v in (
        times[0], np.median(times), times.mean(), times.std(ddof=1), times[-1])))

# %% [markdown]
# Look at: one write or read against the work. Submitting does not wait for it.
#
# ## C3, C4: a sum in one group
# A tree in shared memory, of 512 items, and of 192, which is no power of two.

# %%
if own:
    print("%-12s%9s%14s%14s%10s" % ("", "numbers", "sum", "in f64", "error"))
    for count in (512, 192):
        part, total = x[:count], dev.zeros(1, "f4")
        getattr(own, "sum_%d_f32" % count)[1](dev.array(part), total, count)
        right = part.astype("f8").sum()
        error = abs(total[0].item() - right) / abs(part.astype("f8")).sum()
        check(error < 1e-6, "the sum of %d is off by %g", count, error)
        print("sum_%d_f32%12d%14.8f%14.8f%10.1e" % (count, count, total[0].item(), right, error))

# %% [markdown]
# ## C5: a sum by many groups, until the host has it
# Partial sums that the host adds; partial sums that are added by atomics; the library's tree, which
# has the same bits on every device; and the vendor's library.

# %%
def by_partials():
    own.sum_partials_f32[groups](on_v, partials, count)
    return partials[:groups].numpy().astype("f8").sum()


def by_atomics():
    partials[:1].fill(0)
    own.sum_atomic_f32[groups](on_v, partials, count)
    return partials[0].item()


ways = {"partials": by_partials, "atomics": by_atomics} if own else {}
ways["tree"] = lambda: dev.sum(on_v, variant="tiled").item()
ways["vendor"] = lambda: dev.sum(on_v, variant="vendor").item()
print("%12s" % "numbers" + "".join("%12s" % name for name in ways) + "%15s" % "largest error")
partials = dev.empty(1024, "f4")
count = 512
with stream:
    while count <= x.size:
        on_v, groups = dev.array(x[:count]), min((count + 255) // 256, 1024)
        right, most = x[:count].astype("f8").sum(), 0.0
        magnitudes = abs(x[:count]).astype("f8").sum()
        line = "%12d" % count
        for name, way in ways.items():
            if name == "vendor" and not dev.supports("sum", on_v, variant="vendor"):
                line += "%12s" % "-"
                continue
            times = []
            for _ in range(6):
                start = time.perf_counter()
                error = abs(way() - right) / magnitudes
                times.append(time.perf_counter() - start)
                check(error < 1e-5, "the sum by %s is off by %g", name, error)
                most = max(most, error)
            line += "%12s" % scaled(sorted(times[1:])[2], "s")
        print(line + "%15.1e" % most)
        count *= 8 if count == 512 else 16

# %% [markdown]
# Look at: how much less the times grow than the sizes. The launch and the read stay.
#
# ## C6: limits of memory, and which device

# %%
with isomer.open(dev.spec, memory_limit=64 << 20) as limited:
    try:
        limited.empty(65 << 20, isomer.u8)
    except MemoryError as refusal:
        print("65 MiB where 64 MiB are allowed: refused with\n  %s" % refusal)
    else:
        check(False, "no refusal")
if dev.info.uuid:
    with isomer.open("%s:uuid=%s" % (dev.backend, dev.info.uuid)) as again:
        check(again.info.uuid == dev.info.uuid, "another device was opened")
        print("By its uuid: %s opens %s" % (dev.info.uuid, again.spec))
else:
    print("%s has no uuid: it is chosen as ISOMER_BACKEND=%s" % (dev.name, dev.spec))
dev.close()
