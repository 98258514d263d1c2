# SPDX-License-Identifier: Apache-2.0
"""d_arrays.py - lab D: column sums of a product, ridge regression of a sparse system, diffusion."""
import time

import numpy

from . import inputs
from .a_matrix import sampled
from .b_tensor import picture
from .machine import DTYPES, TILE, groups, repeated
from .results import FIRST, LATE, USUAL, Task, demand, figure, relative_error, within

TEN = 10
AGREEMENT = {"f32": 1e-4, "f64": 1e-8}
TOLERANCE = 1e-6
STRIPS = 16  # groups of the fused kernel that share a column of tiles

# ---- D1 to D3: the column sums of a product --------------------------------------------------------


class Contraction:
    """The sums of the columns of A (m x k) times B (k x n), in f64."""

    def __init__(self, session, shape):
        self.maker = session.gpu or session.host
        self.shape = shape
        self.reference = None

    def wanted(self):
        if self.reference is None:
            where, (m, k, n) = self.maker, self.shape
            sums = where.uniform(inputs.A, (m, k), "f64").sum(axis=0)  # exact: multiples of 2^-23
            self.reference = where.get(where.xp.dot(sums, where.uniform(inputs.B, (k, n), "f64")))
            columns = sampled(n)
            ours = where.get(sums) @ inputs.uniform_columns(inputs.B, k, n, columns)
            demand(relative_error(self.reference[columns], ours) < 1e-11, "the reference is not NumPy's")
        return self.reference

    def run(self, where, dtype, way):
        m, k, n = self.shape
        a = where.uniform(inputs.A, (m, k), dtype)
        b = where.uniform(inputs.B, (k, n), dtype)
        call, extra = way(where, a, b)
        error = relative_error(where.get(call()), self.wanted())
        within(error, AGREEMENT[dtype])

        def ten():
            for _ in range(TEN):
                call()
        times = repeated(lambda: where.wall(ten), most=5)
        return {"checked": f"all {n} sums against f64",
                "figures": [figure("total", "s", times), *extra(), figure("error", "", error)]}


def product_then_sums(where, a, b):
    product = where.xp.dot(a, b)

    def call():
        return (a @ b).sum(axis=0)

    def extra():
        return [figure("product", "s", where.times(lambda: where.xp.dot(a, b, out=product), 5)),
                figure("sums", "s", where.times(lambda: product.sum(axis=0)))]
    return call, extra


def contraction(where, a, b):
    def call():
        return where.xp.einsum("ij,jk->k", a, b)
    return call, list


def sums_first(where, a, b):
    def call():
        return a.sum(axis=0) @ b
    return call, list


def fused(numba):
    def way(where, a, b):
        kernel = numba.kernels("f32" if a.dtype == numpy.float32 else "f64").fused_product
        sums = where.xp.zeros(b.shape[1], a.dtype)
        views = [numba.view(array) for array in (a, b, sums)]
        launch = kernel[(groups(b.shape[1], TILE), STRIPS), (TILE, TILE)]

        def call():
            sums.fill(0)
            launch(*views)
            return sums
        return call, list
    return way


# ---- D4: ridge regression ---------------------------------------------------------------------------


class Way:
    """A way to the solution for a lambda: by LSMR's damp, or by a matrix that has lambda I below A."""

    def __init__(self, what, dtype="f32", right="f32", stacked=False, seconds=3, turn=FIRST):
        self.what, self.right, self.stacked = what, DTYPES[right], stacked
        self.dtype, self.seconds, self.turn = dtype, seconds, turn  # dtype: of the matrix


# CuPy widens an f32 matrix at each product with an f64 vector. Its identity is f64 if nothing else is said,
# and so is what it is stacked with.
DAMPED = Way("lsmr")
STACKED = Way("lsmr over [A; lambda I]", stacked=True, seconds=6)
WAYS = [DAMPED, Way("lsmr with b in f64", right="f64", seconds=5), STACKED,
        Way("lsmr over [A; lambda I]", "f64", "f64", True, 8, USUAL)]
LAMBDAS = [float(value) for value in numpy.geomspace(0.1, 5000, 10)]


class Ridge:
    """The sparse system. A solution is checked by the gradient of what it minimizes, in f64."""

    def __init__(self, rows, density):
        self.rows, self.density = rows, density
        self.systems = {}

    def system(self, where):
        """The matrix in f32 and f64 on the host or the GPU, the right-hand side and the gradient at 0 in f64."""
        if where not in self.systems:
            parts = where.sparse(inputs.SPARSE, self.rows, self.rows, self.density)
            a = sparse_module(where).csr_matrix(parts, shape=(self.rows, self.rows))
            wide, b = a.astype(numpy.float64), where.put(inputs.normal(inputs.RIGHT, self.rows))
            self.systems[where] = a, wide, b, float(where.xp.linalg.norm(wide.T @ b))
        return self.systems[where]

    def solver(self, where, way):
        """A call that solves for a lambda: x, the iterations, and the seconds of stacking."""
        sparse, lsmr = sparse_module(where), linalg_module(where).lsmr
        a, _, b, _ = self.system(where)
        b = b.astype(way.right)

        def solve(damp, most=5 * self.rows):
            options = {"atol": TOLERANCE, "btol": TOLERANCE, "conlim": 1e8, "maxiter": most}
            if not way.stacked:
                return (*lsmr(a, b, damp=damp, **options)[:3:2], 0.0)
            begin = time.perf_counter()
            below = damp * sparse.identity(self.rows, dtype=DTYPES[way.dtype], format="csr")
            matrix = sparse.vstack([a, below], format="csr")
            right = where.xp.concatenate([b, where.xp.zeros(self.rows, b.dtype)])
            where.sync()
            stacking = time.perf_counter() - begin
            return (*lsmr(matrix, right, **options)[:3:2], stacking)
        return solve

    def norms(self, where, x, damp):
        """Of the residual and of x, and of the gradient relative to that of x = 0."""
        _, wide, b, most = self.system(where)
        x = x.astype(numpy.float64)
        residual = b - wide @ x
        gradient = wide.T @ residual - damp**2 * x
        residual, size, gradient = (float(where.xp.linalg.norm(v)) for v in (residual, x, gradient))
        return residual, size, gradient / most

    def run(self, where, way, lambdas):
        solve = self.solver(where, way)
        solve(lambdas[0], 2)  # loads and compiles
        total, count, stacked, lines, points = 0.0, 0, 0.0, [], []
        for damp in lambdas:
            found = []
            seconds = where.wall(lambda d=damp: found.append(solve(d)))
            x, iterations, stacking = found[0]
            residual, size, gradient = self.norms(where, x, damp)
            demand(gradient <= 1e-2, f"lambda {damp:.4g}: the gradient is {gradient:.3g} of that of x = 0")
            total, count, stacked = total + seconds, count + int(iterations), stacked + stacking
            lines.append(f"lambda {damp:10.4g}  residual {residual:11.6g}  |x| {size:11.6g}  "
                         f"{int(iterations):4d} iterations in {seconds * 1e3:.1f} ms, gradient {gradient:.1e}")
            points.append([residual, size, f"{damp:.4g}"])
        if way.stacked:
            lines.append(f"of the total, {stacked * 1e3:.1f} ms stacked the matrices, in {way.dtype}")
        return {"checked": "each gradient in f64, relative to that of x = 0",
                "figures": [figure("total", "s", total), figure("iterations", "", count)],
                "lines": lines, "curves": [{"name": "L-curve", "x": "residual norm", "y": "solution norm",
                                            "points": points}]}


def sparse_module(where):
    if where.gpu:
        import cupyx.scipy.sparse as module
    else:
        import scipy.sparse as module
    return module


def linalg_module(where):
    if where.gpu:
        import cupyx.scipy.sparse.linalg as module
    else:
        import scipy.sparse.linalg as module
    return module


def scipy_name():
    try:
        import scipy
        return "SciPy " + scipy.__version__
    except ImportError:
        return "SciPy"


# ---- D5: diffusion ----------------------------------------------------------------------------------


def start_field(size):
    field = numpy.zeros((size, size), numpy.float32)
    inside = slice(size // 4, 3 * size // 4)
    field[inside, inside] = 1
    return field


def padded(xp, field):
    out = xp.zeros((field.shape[0] + 2, field.shape[1] + 2), field.dtype)
    out[1:-1, 1:-1] = field
    return out


def spread_of(field):
    """What flows in, of a field with a border of zeros."""
    up, down = field[:-2, 1:-1], field[2:, 1:-1]
    left, right = field[1:-1, :-2], field[1:-1, 2:]
    return ((up + down) + (left + right)) - 4 * field[1:-1, 1:-1]


def step_arrays(old, new):
    new[1:-1, 1:-1] = old[1:-1, 1:-1] + 0.25 * spread_of(old)


def run_arrays(where, size, steps):
    """The last field and its Laplacian on the host, and the seconds of a step."""
    old = padded(where.xp, where.put(start_field(size)))
    new = where.xp.zeros_like(old)
    step_arrays(old, new)
    where.sync()
    begin = time.perf_counter()
    for _ in range(steps):
        step_arrays(old, new)
        old, new = new, old
    where.sync()
    seconds = (time.perf_counter() - begin) / steps
    return where.get(old[1:-1, 1:-1].copy()), where.get(spread_of(old)), seconds


def run_numba(where, numba, size, steps):
    fields = [where.put(start_field(size)), where.xp.zeros((size, size), numpy.float32)]
    views = [numba.view(field) for field in fields]
    grid = (groups(size, 8), groups(size, 8))
    launch = numba.f32.diffuse[grid, (8, 8)]
    launch(views[0], views[1])

    def walk():
        for step in range(steps):
            launch(views[step % 2], views[1 - step % 2])
    seconds = where.device_time(walk) / steps
    last, other = (steps % 2, 1 - steps % 2)
    result = fields[last].get()
    numba.f32.laplacian[grid, (8, 8)](views[last], views[other])
    return result, fields[other].get(), seconds


def block_means(field, size=64):
    """A picture of at most size x size blocks."""
    count = min(size, field.shape[0])
    starts = numpy.arange(count) * field.shape[0] // count
    widths = numpy.diff(numpy.append(starts, field.shape[0]))
    sums = numpy.add.reduceat(numpy.add.reduceat(field.astype(numpy.float64), starts, 0), starts, 1)
    return numpy.array([float(f"{value:.7g}") for value in (sums / numpy.outer(widths, widths)).flat]
                       ).reshape(count, count)


class Diffusion:
    """Other ways to the last field, to which each is held bit for bit: 0.25 and 4 are powers of two, so
    that a fused multiply-add changes no bit."""

    def __init__(self, session, size, steps):
        self.session, self.size, self.steps = session, size, steps
        self.last = None

    def reference(self):
        """The last field as whole arrays, of CuPy if there is a GPU."""
        if self.last is None:
            where = self.session.gpu or self.session.host
            self.last = run_arrays(where, self.size, self.steps)
        return self.last

    def run(self, runner, steps):
        field, flow, seconds = runner(self.size, steps)
        short = min(steps, 20)
        wanted = run_arrays(self.session.host, self.size, short)[:2]
        few = (field, flow) if steps == short else runner(self.size, short)[:2]
        demand(all(map(numpy.array_equal, few, wanted)), f"the field after {short} steps is not NumPy's")
        checked = f"{short} steps bit for bit with NumPy"
        if steps == self.steps:
            demand(all(map(numpy.array_equal, (field, flow), self.reference()[:2])),
                   "the last field is not that of whole arrays")
            checked += ", the last field with whole arrays"
        pictures = [picture("before", block_means(start_field(self.size))),
                    picture("after", block_means(field)), picture("laplacian", block_means(flow))]
        return {"checked": checked, "figures": [figure("step", "s", seconds)], "pictures": pictures}


# ---- The rows ----------------------------------------------------------------------------------------


def contraction_tasks(session):
    host, gpu, numba = session.host, session.gpu, session.numba
    maker = gpu or host
    m, k, n = session.pick((10000, 5000, 7000), (50, 37, 41))
    lab = Contraction(session, (m, k, n))

    def task(row, where, by, what, dtype, way, seconds, turn=FIRST):
        return Task(row, where, by, {"what": what, "dtype": dtype, "m": m, "k": k, "n": n},
                    lambda: lab.run(where, dtype, way), seconds, turn)

    for dtype in DTYPES:
        yield task("D1", maker, maker.by, "product then sums", dtype, product_then_sums, 3)
        yield task("D2", maker, maker.by, "einsum", dtype, contraction, 1)
        if gpu:
            yield task("D1", host, host.by, "product then sums", dtype, product_then_sums,
                       {"f32": 13, "f64": 22}[dtype])
            yield task("D2", host, host.by, "sums first", dtype, sums_first, 2)
        if numba:
            yield task("D3", gpu, numba.by, "fused_product", dtype, fused(numba), 4, LATE)


def ridge_tasks(session):
    host, gpu = session.host, session.gpu
    rows = session.pick(15000, 200)
    ridge = Ridge(rows, 0.1)

    def task(where, by, way, lambdas, seconds):
        some = ", lambda " + " and ".join(f"{damp:.4g}" for damp in lambdas) if lambdas is not LAMBDAS else ""
        return Task("D4", where, by, {"what": way.what + some, "dtype": way.dtype, "n": rows},
                    lambda: ridge.run(where, way, lambdas), seconds, way.turn)

    for way in WAYS if gpu else []:
        yield task(gpu, gpu.by, way, LAMBDAS, way.seconds)
    if gpu:
        yield task(host, scipy_name(), DAMPED, [LAMBDAS[5], LAMBDAS[9]], 2)
    else:
        yield from (task(host, scipy_name(), way, LAMBDAS, 1) for way in (DAMPED, STACKED))


def diffusion_tasks(session):
    gpu, numba = session.gpu, session.numba
    size, steps = session.pick((2000, 10000), (72, 50))
    lab = Diffusion(session, size, steps)
    if numba:
        yield Task("D5", gpu, numba.by, {"what": "diffuse", "dtype": "f32", "n": size, "steps": steps},
                   lambda: lab.run(lambda n, count: run_numba(gpu, numba, n, count), steps), 5, FIRST)
    for where in session.libraries():
        count = steps if where.gpu else min(steps, 20)
        yield Task("D5", where, where.by, {"what": "arrays", "dtype": "f32", "n": size, "steps": count},
                   lambda w=where, count=count: lab.run(lambda n, s: run_arrays(w, n, s), count),
                   4 if where.gpu else 2, FIRST)


def tasks(session):
    yield from contraction_tasks(session)
    yield from ridge_tasks(session)
    yield from diffusion_tasks(session)
