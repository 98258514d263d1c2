# SPDX-License-Identifier: Apache-2.0
"""operations.py - every operation against NumPy, with arrays of isomer and of NumPy."""
import itertools
import unittest

import common

np = common.need("numpy", "python3-numpy")
import isomer  # noqa: E402

RANDOM = np.random.RandomState(1)


def numbers(*shape, kind="f8"):
    return RANDOM.randint(-8, 9, shape).astype(kind)


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dev = isomer.open("openmp")

    @classmethod
    def tearDownClass(cls):
        cls.dev.close()

    def same(self, got, wanted, exact=True):
        got = got.numpy() if isinstance(got, isomer.Array) else got
        self.assertEqual(got.shape, np.shape(wanted))
        if exact:
            np.testing.assert_array_equal(got, wanted)
        else:
            np.testing.assert_allclose(got, wanted, 1e-5)


class Products(Base):
    def test_shapes(self):
        shapes = [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)),
                  ((2, 3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)),
                  ((1, 3, 4), (2, 4, 5)), ((2, 2, 3, 4), (2, 2, 4, 5)), ((2, 3, 4), (4,)),
                  ((4,), (2, 4, 5)), ((3, 0), (0, 5)), ((0, 4), (4, 5)), ((1, 4), (4, 1)),
                  ((0, 3, 4), (0, 4, 5)), ((3, 1), (1, 5))]
        for (first, second), kind in itertools.product(shapes, ("f4", "f8", "f2")):
            with self.subTest(a=first, b=second, kind=kind):
                a, b = numbers(*first, kind=kind), numbers(*second, kind=kind)
                self.same(isomer.matmul(a, b), a @ b)
                self.same(self.dev.array(a) @ self.dev.array(b), a @ b)
                self.same(self.dev.array(a) @ b, a @ b)
                self.same(a @ self.dev.array(b), a @ b)

    def test_layouts(self):
        whole = numbers(20, 30)
        for a, b in itertools.product((whole[2:9, 3:13], whole.T[2:9, 3:13], whole[:7, 10:20]),
                                      (whole[:10, :6], whole.T[4:14, 2:8])):
            for out in (np.zeros((7, 6)), np.zeros((6, 7)).T, np.zeros((9, 11))[1:8, 2:8]):
                self.same(isomer.matmul(a, b, out=out), a @ b)
                self.same(out, a @ b)
        self.same(isomer.matmul(whole, whole[5, ::3].repeat(3)[::1]), whole @ whole[5, ::3].repeat(3))
        self.same(isomer.matmul(whole[:, ::3].copy(), whole[5, ::3]), whole[:, ::3] @ whole[5, ::3])
        with self.assertRaisesRegex(isomer.Invalid, r"a has the strides .*a\.copy\(\)"):
            isomer.matmul(whole[::2, ::3], whole[:10])

    def test_alpha_beta_and_flags(self):
        a, b, c = numbers(3, 4), numbers(4, 5), numbers(3, 5)
        wanted = 2 * (a @ b) - 3 * c
        self.assertIs(isomer.matmul(a, b, out=(mine := self.dev.array(c)), alpha=2, beta=-3), mine)
        self.same(mine, wanted)
        isomer.gemm(np.ascontiguousarray(a.T), np.ascontiguousarray(b.T), out=c, trans_a=True,
                    trans_b=True, alpha=2, beta=-3)
        self.same(c, wanted)
        x, y = numbers(4), numbers(3)
        wanted = 2 * (a @ x) + y
        self.same(isomer.gemv(a, x, out=y, alpha=2, beta=1), wanted)
        with self.assertRaisesRegex(isomer.Invalid, "need out"):
            isomer.matmul(a, b, beta=1)
        parts = numbers(3, 2048), numbers(2048, 5)
        total = self.dev.zeros((3, 5))
        isomer.matmul(parts[0][:, :1024], parts[1][:1024], out=total, variant="tiled")
        isomer.matmul(parts[0][:, 1024:], parts[1][1024:], out=total, beta=1, continues=True,
                      variant="tiled")
        self.same(total, parts[0] @ parts[1])

    def test_variants_and_bits(self):
        a, b = RANDOM.rand(70, 90).astype("f4"), RANDOM.rand(90, 50).astype("f4")
        tiled = isomer.matmul(a, b, keep="bits").numpy()
        for options in ({"variant": "tiled"}, {"variant": "naive"}):
            self.same(isomer.matmul(a, b, **options), tiled)
        self.same(isomer.matmul(b.T, a.T, keep="bits").T, tiled)
        self.same(isomer.matmul(a, b, variant="fixed"), a.astype("f8") @ b, exact=False)
        with self.assertRaisesRegex(isomer.Invalid, "variant 'fast': it is one of auto, naive"):
            isomer.matmul(a, b, variant="fast")
        with self.assertRaises(isomer.Invalid):
            isomer.matmul(a, b, variant="naive", keep="bits")

    def test_wrong_shapes(self):
        a, b = numbers(3, 4), numbers(5, 6)
        for call in (lambda: isomer.matmul(a, b), lambda: isomer.matmul(a, b[0]),
                     lambda: isomer.matmul(a, b.astype("f4")[:4]),
                     lambda: isomer.matmul(a, b[:4], out=np.zeros((3, 5))),
                     lambda: isomer.matmul(a.reshape(3, 2, 2), a.reshape(2, 2, 3)),
                     lambda: isomer.matmul(a[0], a[0, :3]), lambda: self.dev.add(a, a[:2])):
            with self.assertRaises(isomer.Invalid):
                call()

    def test_overlap_is_seen_in_memory_of_numpy(self):
        whole = numbers(8, 8)
        with self.assertRaisesRegex(isomer.Invalid, "overlap"):
            isomer.matmul(whole[:4, :4], whole[4:, :4], out=whole[2:6, 2:6])
        wanted = whole[:4, :4] @ whole[4:, :4]
        self.same(isomer.matmul(whole[:4, :4], whole[4:, :4], out=whole[:4, 4:]), wanted)


class Elements(Base):
    def test_maps(self):
        x, y = numbers(3, 5), numbers(3, 5)
        for a, b in ((x, y), (x.T, y.T), (x[1], y[2])):
            mine, other = self.dev.array(a), self.dev.array(b)
            if a is not x and a.ndim == 2:
                mine, other = self.dev.array(x).T, self.dev.array(y).T
            for left, right in ((a, b), (mine, other)):
                self.same(self.dev.copy(left), a)
                self.same(self.dev.scale(left, 3), 3 * a)
                self.same(self.dev.add(left, right), a + b)
                self.same(self.dev.multiply(left, right), a * b)
                self.same(self.dev.triad(left, right, 2), a + 2 * b)
                self.same(self.dev.chain(left, 2, 1, 3), 8 * a + 7)
            self.same(mine + other, a + b)
            self.same(mine - other, a - b)
            self.same(mine * other, a * b)
            self.same(2 * mine + 1 - 3 * other, 2 * a + 1 - 3 * b)
            self.same(5 - mine, 5 - a)
            self.same(-mine, -a)
            self.same(b - mine, b - a)
            mine += other
            mine *= 2
            mine -= 1
            self.same(mine, (a + b) * 2 - 1)
        self.same(self.dev.add(x[:, :2], y[:, :2]), x[:, :2] + y[:, :2])
        with self.assertRaises(isomer.Invalid):
            self.dev.add(x.astype("i4"), y)
        self.same(self.dev.add(x.astype("i4"), y.astype("i4")), (x + y).astype("i4"))

    def test_numpy_scalars(self):
        x = self.dev.array([1.0, 2.0])
        self.same(np.float64(2) * x + np.float32(1), [3.0, 5.0])

    def test_transpose(self):
        for kind in ("f4", "f8", "i2", "u1", "c16"):
            x = numbers(5, 9).astype(kind)
            self.same(self.dev.transpose(self.dev.array(x)), x.T)
            self.same(isomer.transpose(x[1:4, 2:7]), x[1:4, 2:7].T)
        out = np.zeros((9, 5))
        isomer.transpose(numbers(5, 9), out=out)


class Reductions(Base):
    FUNCTIONS = {"sum": np.sum, "prod": np.prod, "min": np.min, "max": np.max, "mean": np.mean,
                 "asum": lambda x, **o: np.sum(np.abs(x), **o),
                 "norm2": lambda x, **o: np.sqrt(np.sum(x * x, **o)),
                 "argmin": np.argmin, "argmax": np.argmax}

    def test_all(self):
        x = numbers(4, 6, 3)
        for name, right in self.FUNCTIONS.items():
            for shape, axis in (((4, 18), None), ((4, 18), 0), ((4, 18), 1), ((4, 6, 3), 0),
                                ((4, 6, 3), -1), ((72,), 0), ((4, 6, 3), None)):
                with self.subTest(name, shape=shape, axis=axis):
                    given = x.reshape(shape)
                    self.same(getattr(isomer, name)(given, axis), right(given, axis=axis), False)
                    self.same(getattr(self.dev, name)(self.dev.array(given), axis, keepdims=True),
                              right(given, axis=axis, keepdims=True), False)
        self.assertEqual(isomer.sum(numbers(3, kind="i4")).dtype, "i32")
        self.assertEqual(isomer.argmax(x.ravel()).dtype, "i64")
        self.assertEqual(isomer.mean(numbers(3, kind="i8")).dtype, "f64")

    def test_views(self):
        x = numbers(8, 9)
        mine = self.dev.array(x)
        for view, wanted in ((mine.T, x.T), (mine[1:5, 2:7], x[1:5, 2:7]),
                             (mine[1:5, 2:7].T, x[1:5, 2:7].T)):
            for axis in (0, 1):
                self.same(view.sum(axis), wanted.sum(axis))
                self.same(view.argmax(axis), wanted.argmax(axis))
        self.same(mine.T.sum(), x.sum())
        self.same(mine[:, 3].sum(), x[:, 3].sum())
        self.same(mine[:, 3].argmin(), x[:, 3].argmin())
        with self.assertRaisesRegex(isomer.Invalid, "copy"):
            mine[1:5, 2:7].sum()
        with self.assertRaises(isomer.Invalid):
            mine.T.argmax()
        with self.assertRaises(isomer.Unsupported):
            mine.reshape(2, 4, 9).sum(1)
        with self.assertRaisesRegex(isomer.Invalid, "axis 2"):
            mine.sum(2)

    def test_dot_and_xor(self):
        x, y = numbers(4, 6), numbers(4, 6)
        self.same(isomer.dot(x, y), np.sum(x * y))
        self.same(isomer.dot(x, y, 1), np.sum(x * y, 1))
        self.same(self.dev.array(x).T.copy().dot(y), x.T @ y)
        whole = numbers(50, kind="i4")
        self.same(isomer.xor(whole), np.bitwise_xor.reduce(whole))
        out = np.zeros((), "f8")
        isomer.sum(x, out=out)
        self.same(out, x.sum())


class Sparse(Base):
    def test_csr(self):
        dense = numbers(7, 5, kind="f4") * (RANDOM.rand(7, 5) < 0.4)
        offsets = np.concatenate([[0], np.cumsum((dense != 0).sum(1))])
        columns, values = np.nonzero(dense)[1], dense[dense != 0]
        x, y = numbers(5, kind="f4"), numbers(7, kind="f4")
        for index in ("i4", "i8"):
            a = self.dev.csr((values, columns.astype(index), offsets.astype(index)), dense.shape)
            self.same(a @ x, dense @ x)
            self.same(a.T @ y, dense.T @ y)
            out = y.copy()
            self.dev.spmv(a, x, out=out, alpha=2, beta=-1)
            self.same(out, 2 * (dense @ x) - y)
            a.update(values * 2)
            self.same(isomer.spmv(a, x), 2 * (dense @ x))
            self.assertEqual((a.shape, a.T.shape, a.nnz), ((7, 5), (5, 7), len(values)))
            self.assertEqual(a.info.entries, len(values))
        with self.assertRaises(isomer.Invalid):
            self.dev.csr((values, columns + 9, offsets), dense.shape)
        with self.assertRaises(isomer.Invalid):
            a @ y
        half = self.dev.csr((values, columns, offsets), dense.shape, transpose=False)
        with self.assertRaises(isomer.Invalid):
            half.T @ y

    def test_scipy(self):
        try:
            import scipy.sparse
        except ImportError:
            self.skipTest("scipy is not here: install python3-scipy")
        theirs = scipy.sparse.random(30, 20, 0.2, "csr", "f8", RANDOM)
        x = RANDOM.rand(20)
        self.same(self.dev.csr(theirs) @ x, theirs @ x, exact=False)


class Questions(Base):
    def test_without_memory(self):
        a, b = isomer.template((300, 200), "f32"), isomer.template((200, 100), "f32")
        self.assertTrue(self.dev.supports("matmul", a, b))
        self.assertEqual(self.dev.describe("matmul", a, b, variant="tiled").variant, "tiled")
        self.assertEqual(self.dev.cost("matmul", a, b).flops, 2.0 * 300 * 200 * 100)
        self.assertEqual(isomer.cost("sum", a).flops, 60000.0)
        self.assertFalse(self.dev.supports("spmv", self.dev.csr(([1.0], [0], [0, 1]), (1, 1)),
                                           isomer.template(1, "f64"), variant="vendor"))
        self.assertTrue(self.dev.plan("sum", self.dev.zeros(9), variant="naive").why_not() == "")
        with self.assertRaisesRegex(isomer.Invalid, "template"):
            self.dev.matmul(a, b)
        with self.assertRaisesRegex(isomer.Invalid, "no operation"):
            self.dev.plan("solve", a)

    def test_plans(self):
        x, y = numbers(10), numbers(10)
        out = np.zeros(10)
        op = self.dev.plan("add", x, y, out=out).prepare()
        self.assertGreaterEqual(op.workspace(), 0)
        for _ in range(3):
            self.same(op.run(), x + y)
            x += 1
        self.same(out, x - 1 + y)

    def test_what_a_device_tells(self):
        info = self.dev.info
        self.assertEqual((info.backend, info.type), ("openmp", "cpu"))
        self.assertIn("host_memory", info.features)
        self.assertIn("OpenMP runtime", self.dev.properties())
        self.assertIn("ISOMER_BACKEND", isomer.settings())
        self.assertGreaterEqual(self.dev.memory_use().peak, 0)
        with self.assertRaisesRegex(AttributeError, "memory_total"):
            info.no_such_thing
        with isomer.open("openmp", memory_limit=1 << 20) as small:
            with self.assertRaises(MemoryError):
                small.zeros(1 << 18)


if __name__ == "__main__":
    common.main()
