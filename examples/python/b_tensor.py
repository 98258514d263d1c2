# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Lab B: matrix units
# Many GPUs multiply f32 on units that cut the inputs to 10 bits behind the point (TF32): faster, and
# less exact. `math="tf32"` allows it; a device without such units runs the strict product and says
# why. `docs/labs.md` has questions and an exercise.

# %%
import numpy as np
from lab import SEED_A, SEED_B, check, open_device, random, rate, scaled, size

dev = open_device()
stream = dev.stream()


def cut(x):
    """The numbers of TF32 that are nearest: 10 bits of mantissa, not 23; ties to even."""
    bits = x.astype("f4").view("u4")
    return ((bits + 0xfff + (bits >> 13 & 1)) & ~np.uint32(0x1fff)).view("f4")


# %% [markdown]
# ## B1, B2: ten products of N x N
# Errors are relative to the product in f64, of 64 rows: the mean, and the worst element over the
# mean. `emulated` needs no such units: the host cuts the inputs, and the strict product runs.

# %%
n = size(dev, 96, 1024, 15000)
a, b = random((n, n), "f4", SEED_A), random((n, n), "f4", SEED_B)
rows = np.arange(min(n, 64)) * n // min(n, 64)
right = a[rows].astype("f8") @ b.astype("f8")


def ten(a, b, math):
    """The seconds of ten products, and the rows of one."""
    on_a, on_b, on_c = dev.array(a), dev.array(b), dev.empty((n, n), "f4")
    op = dev.plan("matmul", on_a, on_b, on_c, math=math)
    op.run()  # loads and builds what it needs
    start = stream.event()
    for _ in range(10):
        op.run()
    stop = stream.event()
    stop.synchronize()
    return stop.seconds_since(start), on_c.numpy()[rows], op.describe()


def errors(c):
    off = abs(c - right)
    return off.sum() / abs(right).sum(), off.max() / abs(right).mean()


print("%-16s%11s%16s%14s%14s" % ("", "ten take", "rate", "error, mean", "error, most"))
with stream:
    found = {"strict": ten(a, b, "strict"), "TF32 allowed": ten(a, b, "tf32"),
             "TF32 emulated": ten(cut(a), cut(b), "strict")}
for name, (took, c, _) in found.items():
    print("%-16s%11s%16s%14.2g%14.2g" % (name, scaled(took, "s"), rate(20 * n**3, took, "FLOP/s"),
                                         *errors(c)))
ran = found["TF32 allowed"][2]
has = ran.math == "tf32"
check(errors(found["strict"][1])[0] < 1e-5, "the strict product is off")
check(errors(found["TF32 allowed"][1])[0] < (1e-2 if has else 1e-5), "the allowed one is off")
print("What ran where TF32 was allowed: %s, %s%s" % (
    ran.math, ran.library, "" if has else ". Why not TF32: " + ran.math_reason))
print("The error of TF32 is %.0f times as large." % (
    errors(found["TF32 allowed" if has else "TF32 emulated"][1])[0] / errors(found["strict"][1])[0]))

# %% [markdown]
# ## B1: the same with 3 x 3
# Numbers whose eleventh and later bits matter.

# %%
small_a = np.array([[1.0001, 2.0003, 3.0007], [1.0009, 1.0011, 0.9993], [2.0017, 1.0013, 1.5019]],
                   "f4")
small_b = np.array([[1.0002, 0.5001, 1.0023], [2.0029, 1.0031, 0.7503], [1.0037, 3.0041, 1.2503]],
                   "f4")


def small(a, b, math):
    """As the corner of 16 x 16 with zeros: matrix units work on whole tiles."""
    wide = np.zeros((2, 16, 16), "f4")
    wide[0, :3, :3], wide[1, :3, :3] = a, b
    return dev.matmul(dev.array(wide[0]), dev.array(wide[1]), math=math).numpy()[:3, :3]


exact = small_a.astype("f8") @ small_b.astype("f8")
strict = small(small_a, small_b, "strict")
short = small(small_a, small_b, "tf32") if has else small(cut(small_a), cut(small_b), "strict")
np.set_printoptions(precision=8, floatmode="fixed", suppress=True)
for name, matrix in (("A", small_a), ("A as TF32 has it", cut(small_a)), ("B", small_b),
                     ("B as TF32 has it", cut(small_b)), ("A B in f64", exact),
                     ("A B in f32, strict", strict),
                     ("A B with TF32" + ("" if has else " emulated"), short)):
    print("%s\n%s" % (name, np.asarray(matrix, "f8")))
check(abs(strict - exact).sum() < 1e-6 * abs(exact).sum(), "the strict product of 3 x 3")
print("Error, mean: strict %.2g, TF32 %.2g" % (
    abs(strict - exact).sum() / abs(exact).sum(), abs(short - exact).sum() / abs(exact).sum()))
print("Look at: the third digit behind the point.")
dev.close()
