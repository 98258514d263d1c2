# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Lab D: arrays
# A product whose columns are summed, in four ways; a large sparse regression with ten coefficients;
# and diffusion. The kernels are those of the C lab (`examples/labs/d_arrays.isk`); `docs/labs.md` has
# questions and an exercise.

# %%
import math

import numpy as np
from lab import (SEED_A, SEED_B, SEED_RIGHT, SEED_SPARSE, bits, check, host_seconds, kernels, normal,
                 open_device, random, scaled, seconds, size, uniform)

dev = open_device()
own = kernels(dev, "d_arrays.isk")

# %% [markdown]
# ## D1 to D3: y[j] = the sum over i and l of a[i, l] b[l, j]
# D1 multiplies and then adds columns. D2 adds A's columns first, and a vector times B is left: far
# less work. D3 does each in one launch of an own kernel.

# %%
m, k, n = size(dev, 150, 1000, 10000), size(dev, 70, 500, 5000), size(dev, 140, 700, 7000)


def blocks(count, each):
    return (count + each - 1) // each


def column_sums(dtype):
    """Each way: its name, and what runs it."""
    a, b = dev.array(random((m, k), dtype, SEED_A)), dev.array(random((k, n), dtype, SEED_B))
    c, s, y = dev.empty((m, n), dtype), dev.empty(k, dtype), dev.empty(n, dtype)
    plans = [dev.plan("matmul", a, b, c), dev.plan("sum", c, 0, y), dev.plan("sum", a, 0, s),
             dev.plan("matmul", s, b, y)]
    yield "product", y, lambda: (plans[0].run(), plans[1].run())
    yield "sums-first", y, lambda: (plans[2].run(), plans[3].run())
    if own is None:
        return
    kind = a.dtype.name
    join, product = getattr(own, "join_" + kind), getattr(own, "fused_product_" + kind)
    sums = getattr(own, "fused_sums_" + kind)
    tiles, shares, share = (blocks(n, 128), blocks(m, 128)), blocks(k, 16), blocks(m, 2)
    work = dev.empty((max(tiles[1], 2 * shares), n), dtype)
    yield "fused-product", y, lambda: (product[tiles](a, b, work, m, k, n),
                                       join[blocks(n, 32)](work, y, tiles[1], n))
    pieces = blocks(m, share)
    yield "fused-sums", y, lambda: (sums[shares, pieces](a, b, work, m, k, n, share),
                                    join[blocks(n, 32)](work, y, shares * pieces, n))


print("%-4s %-15s %10s %9s %9s" % ("", "", "a run", "speed-up", "error"))
with dev.stream():
    for dtype, limit in (("f4", 1e-4), ("f8", 1e-8)):
        right = random((m, k), dtype, SEED_A).astype("f8").sum(0) @ random((k, n), dtype, SEED_B)
        first = None
        for name, y, run in column_sums(dtype):
            took = seconds(dev, run, 1 if name == "fused-product" else 3)
            first = first or took
            error = abs(y.numpy() - right).sum() / abs(right).sum()
            check(error <= limit, "%s in %s: the error is %g", name, dtype, error)
            print("%-4s %-15s %10s %9.2f %9.1e" % (dtype, name, scaled(took, "s"), first / took, error))

# %% [markdown]
# Look at: what it saves to add first and to multiply then.
#
# ## D4: ridge regression
# LSMR (Fong and Saunders, 2011) finds the x that makes |A x - b|^2 + lambda^2 |x|^2 least. The vectors
# u and v begin with b and do not depend on lambda, so ten coefficients are solved for together:
# an iteration is two sparse products, and for each problem some steps with v.

# %%
def rotation(a, b):
    r = math.hypot(a, b)
    return (a / r, b / r, r) if r else (1.0, 0.0, 0.0)


class Problem:
    """What depends on lambda: x, and numbers on the host."""

    def __init__(self, lam, v, alpha, beta):
        self.lam, self.x, self.h = lam, dev.zeros(v.shape, v.dtype), v.copy()
        self.hbar = dev.zeros(v.shape, v.dtype)
        self.alphabar, self.zetabar, self.betadd = alpha, alpha * beta, beta
        self.rho = self.rhobar = self.cbar = self.rhod = 1.0
        self.sbar = self.zeta = self.betad = self.tau = self.theta = self.settled = 0.0
        self.iterations, self.running = 0, True

    def step(self, v, alpha, beta, norm_a, norm_b, tolerance=1e-6):
        chat, shat, alphahat = rotation(self.alphabar, self.lam)
        rho_was, rhobar_was, zeta_was = self.rho, self.rhobar, self.zeta
        c, s, self.rho = rotation(alphahat, beta)
        theta, self.alphabar = s * alpha, c * alpha
        thetabar = self.sbar * self.rho
        self.cbar, self.sbar, self.rhobar = rotation(self.cbar * self.rho, theta)
        self.zeta, self.zetabar = self.cbar * self.zetabar, -self.sbar * self.zetabar
        # hbar = h - .. hbar, x = x + .. hbar, h = v - .. h
        dev.triad(self.h, self.hbar, -thetabar * self.rho / (rho_was * rhobar_was), out=self.hbar)
        dev.triad(self.x, self.hbar, self.zeta / (self.rho * self.rhobar), out=self.x)
        dev.triad(v, self.h, -theta / self.rho, out=self.h)
        # |r|, from the rotations.
        acute, turned = chat * self.betadd, -shat * self.betadd
        ctilde, stilde, rhotilde = rotation(self.rhod, thetabar)
        self.betadd = -s * acute
        theta_was, self.theta, self.rhod = self.theta, stilde * self.rhobar, ctilde * self.rhobar
        self.betad = ctilde * c * acute - stilde * self.betad
        self.tau = (zeta_was - theta_was * self.tau) / rhotilde
        off = self.betad - (self.zeta - self.theta * self.tau) / self.rhod
        self.settled += turned**2
        residual = math.sqrt(self.settled + off**2 + self.betadd**2)
        norm_x = dev.norm2(self.x).item()
        self.iterations += 1
        self.norm_a, self.residual = norm_a, residual
        self.running = not (residual <= tolerance * (norm_b + norm_a * norm_x) or
                            abs(self.zetabar) <= tolerance * norm_a * residual)


def lsmr(matrix, b, lambdas):
    """One problem for each lambda."""
    u = b.copy()
    norm_b = beta = dev.norm2(u).item()
    dev.scale(u, 1 / beta, out=u)
    v = matrix.T @ u
    alpha = dev.norm2(v).item()
    dev.scale(v, 1 / alpha, out=v)
    problems, squares = [Problem(lam, v, alpha, beta) for lam in lambdas], alpha**2
    for _ in range(min(matrix.shape)):
        dev.spmv(matrix, v, out=u, beta=-alpha)
        beta = dev.norm2(u).item()
        dev.scale(u, 1 / beta, out=u)
        dev.spmv(matrix.T, u, out=v, beta=-beta)
        alpha = dev.norm2(v).item()
        dev.scale(v, 1 / alpha, out=v)
        squares += beta**2
        for problem in problems:
            if problem.running:
                problem.step(v, alpha, beta, math.sqrt(squares), norm_b)
        squares += alpha**2
        if not any(problem.running for problem in problems):
            break
    return problems


def system(rows):
    """A random sparse matrix of f32, as (data, indices, indptr), and b."""
    data, indices, indptr = [], [], [0]
    for first in range(0, rows, 500):
        places = np.arange(first * rows, min(first + 500, rows) * rows)
        there = (bits(SEED_SPARSE, places) >> np.uint64(11)) * 2.0**-53 < 0.1
        indices.append((places[there] % rows).astype("i4"))
        data.append(uniform(SEED_SPARSE + 1, places[there]).astype("f4"))
        indptr += list(indptr[-1] + np.cumsum(there.reshape(-1, rows).sum(1)))
    return (np.concatenate(data), np.concatenate(indices), np.array(indptr, "i4")), \
        normal(SEED_RIGHT, rows).astype("f4")


rows = size(dev, 200, 2000, 15000)
(data, indices, indptr), right = system(rows)
lambdas = [0.1 * (5000 / 0.1)**(i / 9) for i in range(10)]
curve = {}
with dev.stream():
    for dtype in ("f4", "f8"):
        matrix = dev.csr((data.astype(dtype), indices, indptr), (rows, rows))
        b = dev.array(right.astype(dtype))
        took = host_seconds(lambda: lsmr(matrix, b, lambdas), 1)
        curve[dtype] = []
        print("%s, %d x %d, %d entries: %s" % (dtype, rows, rows, matrix.nnz, scaled(took, "s")))
        print("%9s %10s %12s %12s" % ("lambda", "iterations", "|A x - b|", "|x|"))
        for one in lsmr(matrix, b, lambdas):
            r, g = b.copy(), one.x.copy()
            dev.spmv(matrix, one.x, out=r, beta=-1)
            dev.spmv(matrix.T, r, out=g, beta=one.lam**2)
            point = (one.lam, dev.norm2(r).item(), dev.norm2(one.x).item(), one.iterations)
            gradient = dev.norm2(g).item()
            check(gradient <= 2e-5 * one.norm_a * one.residual, "lambda %g: the gradient is %g",
                  one.lam, gradient)
            curve[dtype].append(point)
            print("%9.4g %10d %12.6g %12.6g" % (point[0], point[3], point[1], point[2]))

# %% [markdown]
# Look at: from where on |x| falls much faster than |A x - b| grows: the corner of the L-curve.
#
# ## D5: diffusion
# Each step reads one field and writes another. A launch may do up to eight steps, with the same bits.

# %%
cells, steps = size(dev, 150, 500, 2000), size(dev, 100, 1000, 10000)
before = np.zeros((cells, cells), "f4")
before[cells // 4:3 * cells // 4, cells // 4:3 * cells // 4] = 1


def diffuse(each):
    """The field after all steps, and the seconds of a step; `each` steps in a launch."""
    now, other, stream = dev.array(before), dev.empty((cells, cells), "f4"), dev.stream_for(None)
    begin, left = stream.event(), steps
    while left:
        count = min(each, left)
        if count > 1:
            own.diffuse_steps_f32[blocks(cells, 112), blocks(cells, 48)](now, other, cells, cells, count)
        else:
            own.diffuse_f32[own.diffuse_f32.cover(64 * blocks(cells, 64), cells)](
                now, other, cells, cells)
        now, other, left = other, now, left - count
    end = stream.event()
    end.synchronize()
    own.laplacian_f32[blocks(cells, 64), blocks(cells, 16)](now, other, cells, cells)
    return now.numpy(), other.numpy(), end.seconds_since(begin) / steps


if own:
    with dev.stream():
        after, laplacian, single = diffuse(1)
        again, _, eight = diffuse(8)
    check(np.array_equal(after, again), "several steps in a launch gave other bits")
    print("D5. %d x %d cells, %d steps" % (cells, cells, steps))
    print("a launch a step      %10s a step\na launch for 8 steps %10s a step" % (
        scaled(single, "s"), scaled(eight, "s")))
    print("in the field: %.3f before, %.3f after" % (before.sum(), after.sum(dtype="f8")))

# %% [markdown]
# Look at: whether several steps in a launch, which read memory less often, pay here.

# %%
dev.close()
