# SPDX-License-Identifier: Apache-2.0
"""maps.py - maps with strides, spread operands and conversions, and reductions into strided arrays,
against NumPy."""
import common

np = common.need("numpy", "python3-numpy")
import isomer  # noqa: E402
from operations import Base, numbers  # noqa: E402


class Maps(Base):
    def test_every_map(self):
        x, y, w = numbers(3, 5), numbers(3, 5), numbers(3, 5)
        d = self.dev
        mine = [d.array(one) for one in (x, y, w)]
        for a, b, c in ((x, y, w), (x.T, y.T, w.T), (x[:, ::2], y[:, ::2], w[:, ::2]),
                        (x[::2, 1:4], y[1:, 1:4][:2], w[:2, :3]), (x, y[0], w[:, :1]),
                        (x[:, 2], y[:, 1], w[0, 0:3]), (x, y[:1, :1], w[0, 0])):
            self.same(d.subtract(a, b), a - b)
            self.same(d.add(a, b), a + b)
            self.same(d.multiply(b, a), a * b)
            self.same(d.divide(a, np.abs(b) + 1), a / (np.abs(b) + 1))
            self.same(d.minimum(a, b), np.minimum(a, b))
            self.same(d.maximum(b, a), np.maximum(a, b))
            self.same(d.abs(a), np.abs(a))
            self.same(d.negate(a), -a)
            self.same(d.triad(a, b, 3), a + 3 * b)
            self.same(d.axpby(a, b, 3, -2), 3 * a - 2 * b)
            self.same(d.fma(a, b, c), a * b + c)
            self.same(d.relu(a), np.maximum(a, 0))
            self.same(d.exp(a), np.exp(a), exact=False)
            self.same(d.tanh(a), np.tanh(a), exact=False)
            self.same(d.copy(a), a)
        self.same(d.subtract(mine[0].T, mine[1].T), (x - y).T)
        self.same(d.minimum(mine[0], 0), np.minimum(x, 0))
        self.same(d.divide(1, d.abs(mine[0]) + 1), 1 / (np.abs(x) + 1))

    def test_spread_as_numpy(self):
        shapes = [((3, 5), (5,)), ((3, 5), (3, 1)), ((3, 5), (1, 1)), ((3, 5), ()), ((3, 1), (1, 5)),
                  ((5,), (3, 1)), ((2, 3, 5), (5,)), ((2, 3, 5), (3, 5)), ((2, 3, 5), (2, 1, 1)),
                  ((2, 3, 5), (2, 3, 1)), ((0, 5), (5,)), ((), ()), ((1, 5), (3, 5)), ((1,), (3, 1))]
        for first, second in shapes:
            for kind in ("f8", "i4"):
                with self.subTest(x=first, y=second, kind=kind):
                    x, y = numbers(*first, kind=kind), numbers(*second, kind=kind)
                    x, y = np.asarray(x, kind), np.asarray(y, kind)
                    self.same(isomer.subtract(x, y), x - y)
                    self.same(self.dev.array(y) - self.dev.array(x), y - x)
        x = numbers(3, 5)
        cube = numbers(2, 3, 5)
        self.same(isomer.add(cube.T, cube.T), 2 * cube.T)
        wide = np.zeros((3, 2, 5))
        isomer.add(x, x[0], out=wide[:, 1])
        self.same(wide[:, 1], x + x[0])
        self.assertEqual(wide[:, 0].any(), False)
        out = np.zeros((5, 3)).T
        isomer.add(x, x[:, :1], out=out)
        self.same(out, x + x[:, :1])
        isomer.copy(x[0], out=out)
        self.same(out, np.broadcast_to(x[0], out.shape))
        isomer.add(out, x, out=out)
        self.same(out, x[0] + x)

    def test_wrong_arguments(self):
        x = numbers(3, 5)
        for call, error in (
                (lambda: isomer.add(x, x[:, :2]), r"\(3, 5\) and \(3, 2\) differ"),
                (lambda: isomer.add(x, x, out=np.zeros(5)), r"out is \(5,\), and the shape"),
                (lambda: isomer.add(x, x.astype("f4")), "f64 and f32 differ"),
                (lambda: isomer.add(x, 1j), "real"),
                (lambda: isomer.add(x.astype("i4"), 1.5), "whole numbers"),
                (lambda: isomer.add(x, x, out=np.broadcast_to(np.zeros(5), (3, 5))), "only be read|share"),
                (lambda: isomer.add(x[::-1], x), "negative"),
                (lambda: isomer.add(numbers(2, 3, 5), numbers(3, 1)), "copy"),
                (lambda: isomer.convert(x), "dtype, or out"),
                (lambda: isomer.convert(x, "f4", out=np.zeros((3, 5))), "dtype is f32")):
            with self.assertRaisesRegex(isomer.Invalid, error):
                call()
        with self.assertRaises(isomer.Unsupported):
            isomer.add(x.astype("i2"), x.astype("i2"))
        with self.assertRaises(isomer.Error):
            isomer.exp(x.astype("i4"))

    def test_convert(self):
        x = numbers(3, 5)
        for kind in ("f2", "f4", "f8", "i4", "i8", "i1"):
            got = self.dev.array(x).astype(np.dtype(kind).name)
            self.assertEqual(got.numpy().dtype, np.dtype(kind))
            self.same(got, x.astype(kind))
            self.same(got.T.astype("f64"), x.T)
        out = np.zeros((5, 3), "f4").T
        isomer.convert(x, out=out)
        self.same(out, x.astype("f4"))
        self.same(self.dev.full((2, 2), 1.5, "bf16").astype("f32"), np.full((2, 2), 1.5, "f4"))

    def test_operators(self):
        x, y = numbers(3, 5), numbers(5) + 20
        mine, row = self.dev.array(x), self.dev.array(y)
        self.same(mine + row, x + y)
        self.same(row - mine, y - x)
        self.same(mine / row, x / y)
        self.same(mine / 3, x / 3)
        self.same(3 / row, 3 / y)
        self.same(x / row, x / y)
        self.same(abs(-mine), np.abs(x))
        mine /= row
        mine -= row
        self.same(mine, x / y - y)
        whole = self.dev.array(x.astype("i4"))
        self.same(2 * whole + 3 - whole, (x + 3).astype("i4"))
        self.same(4 - whole, (4 - x).astype("i4"))
        self.same(-whole, -x.astype("i4"))
        with self.assertRaises(TypeError):
            mine / "text"
        with self.assertRaises(TypeError):
            mine += "text"


class Reductions(Base):
    def test_largest_magnitudes(self):
        x = numbers(4, 6)
        for axis in (None, 0, 1):
            self.same(isomer.amax(x, axis), np.abs(x).max(axis))
            self.same(isomer.argamax(x, axis), np.abs(x).argmax(axis))
        with self.assertRaises(isomer.Error):
            isomer.amax(x.astype("i4"))

    def test_into_strided_arrays(self):
        x = numbers(4, 6)
        out = np.zeros((4, 3))
        isomer.sum(x, 1, out=out[:, 1])
        self.same(out, np.stack([0 * x[:, 0], x.sum(1), 0 * x[:, 0]], 1))
        mine = self.dev.zeros((6, 2))
        self.dev.max(x, 0, out=mine[:, 0])
        self.dev.dot(x, x, 0, out=mine[:, 1])
        self.same(mine, np.stack([x.max(0), (x * x).sum(0)], 1))
        cube = numbers(2, 3, 4)
        wide = np.zeros((3, 4, 2))
        isomer.sum(cube, 0, out=wide[:, :, 1])
        self.same(wide[:, :, 1], cube.sum(0))
        with self.assertRaisesRegex(isomer.Invalid, "the same distance apart"):
            isomer.sum(cube, 0, out=np.zeros((3, 8))[:, :4])
        with self.assertRaisesRegex(isomer.Invalid, r"out must be \(6,\) of f64"):
            isomer.sum(x, 0, out=np.zeros(6, "f4"))


if __name__ == "__main__":
    common.main()
