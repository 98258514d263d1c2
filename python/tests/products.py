# SPDX-License-Identifier: Apache-2.0
"""products.py - products of all types, factors on the device, groups, symmetric products and
triangular solves, against NumPy."""
import itertools

import common

np = common.need("numpy", "python3-numpy")
import isomer  # noqa: E402
from operations import Base, numbers  # noqa: E402


def pairs(*shape, kind="c16"):
    return (numbers(*shape) + 1j * numbers(*shape)).astype(kind)


class Types(Base):
    SHAPES = [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4,)),
              ((2, 3, 4), (2, 4, 5)), ((1, 4), (4, 1)), ((3, 0), (0, 5))]

    def test_complex(self):
        for (first, second), kind in itertools.product(self.SHAPES, ("c8", "c16")):
            with self.subTest(a=first, b=second, kind=kind):
                a, b = pairs(*first, kind=kind), pairs(*second, kind=kind)
                self.same(isomer.matmul(a, b), a @ b)
                self.same(self.dev.array(a) @ b, a @ b)
        a, b, c = pairs(3, 4), pairs(4, 5), pairs(3, 5)
        wanted = (2 - 1j) * (a @ b) + 3j * c
        self.same(isomer.matmul(a, b, out=c, alpha=2 - 1j, beta=3j), wanted)

    def test_conjugates(self):
        a, b = pairs(4, 3), pairs(4, 5)
        mine, other = self.dev.array(a), self.dev.array(b)
        self.same(mine.H @ other, a.conj().T @ b)
        self.same(mine.H @ b, a.conj().T @ b)
        self.same(b.T @ mine.H.H, b.T @ a)
        self.same(other.T @ mine, b.T @ a)
        self.same(a.T @ isomer.asarray(a).T.copy().H, a.T @ a.T.conj().T)
        self.same(isomer.gemm(a, b, trans_a="c"), a.conj().T @ b)
        self.same(isomer.gemm(b, a, trans_a="t", trans_b="n"), b.T @ a)
        x = pairs(4)
        self.same(mine.H @ x, a.conj().T @ x)
        self.assertEqual((mine.H.shape, mine.H.ndim, mine[None].H.shape), ((3, 4), 2, (1, 3, 4)))
        real = self.dev.array(numbers(3, 4))
        self.assertIsInstance(real.H, isomer.Array)
        self.same(isomer.gemm(real, real, trans_b="c"), real.numpy() @ real.numpy().T)
        out = np.zeros((3, 3), "c16", order="F")
        self.same(self.dev.matmul(b.T[:3], mine.T.H, out=out), b.T[:3] @ a.conj())
        with self.assertRaisesRegex(isomer.Invalid, r"a is a conjugate .*\.copy\(\)"):
            mine.T.H @ other[:3]
        with self.assertRaisesRegex(isomer.Invalid, "trans_a is 'x'"):
            isomer.gemm(a, b, trans_a="x")
        with self.assertRaisesRegex(isomer.Invalid, r"has the shape \(4,\)"):
            mine[:, 0].H @ other
        with self.assertRaisesRegex(isomer.Invalid, "leave one out"):
            isomer.gemm(mine.H, b, trans_a="c")
        with self.assertRaises(TypeError):
            self.dev.add(mine.H, mine.H)

    def test_int8(self):
        for first, second in self.SHAPES:
            a, b = numbers(*first, kind="i1"), numbers(*second, kind="i1")
            got = isomer.matmul(a * 15, b * 15)
            self.assertEqual(got.dtype, "i32")
            self.same(got, (a * 15).astype("i4") @ (b * 15).astype("i4"))
        out = np.zeros((3, 5), "i4")
        a, b = numbers(3, 4, kind="i1"), numbers(4, 5, kind="i1")
        self.same(isomer.matmul(a, b, out=out, alpha=-2), -2 * (a.astype("i4") @ b))
        with self.assertRaisesRegex(isomer.Invalid, "whole number"):
            isomer.matmul(a, b, alpha=0.5)
        with self.assertRaisesRegex(isomer.Invalid, "of arrays of i8 is of i32"):
            isomer.matmul(a, b, out=np.zeros((3, 5), "f4"))

    def test_wider_results(self):
        for first, second in self.SHAPES:
            a, b = 16 * numbers(*first, kind="f2"), 16 * numbers(*second, kind="f2")
            got = isomer.matmul(a + 1, b + 1, dtype="float32", keep="bits")
            self.assertEqual(got.dtype, "f32")
            self.same(got, (a + 1).astype("f4") @ (b + 1).astype("f4"))
        bf16 = self.dev.full((2, 3), 1.5, "bf16")
        out = self.dev.empty((2, 2), "f32")
        self.assertEqual(self.dev.matmul(bf16, bf16.T, out=out).tolist(), [[6.75] * 2] * 2)
        with self.assertRaisesRegex(isomer.Invalid, "f16 is of f16 or f32"):
            isomer.matmul(np.ones((2, 2), "f2"), np.ones((2, 2), "f2"), dtype="f64")
        with self.assertRaisesRegex(isomer.Invalid, "dtype is f16, and out is of f32"):
            self.dev.matmul(bf16.view("f16"), bf16.view("f16").T, out=out, dtype="f16")

    def test_stored_by_columns(self):
        for kind in ("f4", "c16", "i1"):
            a, b = numbers(3, 4).astype(kind), numbers(4, 5).astype(kind)
            wanted = a.astype("i4") @ b.astype("i4") if kind == "i1" else a @ b
            out = np.zeros(wanted.shape, wanted.dtype, order="F")
            isomer.matmul(np.asfortranarray(a), np.asfortranarray(b), out=out)
            self.same(out, wanted)

    def test_others_are_unsupported(self):
        with self.assertRaises(NotImplementedError):
            isomer.matmul(np.ones((2, 2), "i2"), np.ones((2, 2), "i2"))
        with self.assertRaisesRegex(isomer.Invalid, "products take f16"):
            isomer.matmul(np.ones((2, 2), "i4"), np.ones((2, 2), "i4"))


class Factors(Base):
    def test_on_the_device(self):
        a, b, c = numbers(3, 4), numbers(4, 5), numbers(3, 5)
        two, three = self.dev.full((), 2.0), self.dev.full((1,), 3.0)
        wanted = 2 * (a @ b) + 3 * c
        self.same(self.dev.matmul(a, b, out=self.dev.array(c), alpha=two, beta=three), wanted)
        self.same(self.dev.matmul(a, b, out=self.dev.array(c), alpha=np.array(2.0), beta=3), wanted)
        x, y = numbers(4), numbers(3)
        self.same(self.dev.gemv(a, x, out=self.dev.array(y), alpha=two, beta=three),
                  2 * (a @ x) + 3 * y)
        factor = self.dev.array(np.array(1 + 2j))
        self.same(self.dev.matmul(pairs(3, 4) * 0 + 1, np.ones((4, 2), "c16"), alpha=factor),
                  np.full((3, 2), 4 + 8j))
        self.same(self.dev.scale(x, two), 2 * x)
        self.same(self.dev.axpby(x, x, two, three), 5 * x)
        two.fill(5)
        self.same(self.dev.scale(x, two), 5 * x)
        for alpha, error in ((x, "alpha is an array of 4 elements"), (1j, "alpha is 1j"),
                             (np.ones((), "i4"), "floating-point"), (factor, "of c128")):
            with self.assertRaisesRegex(isomer.Invalid, error):
                self.dev.matmul(a, b, alpha=alpha)
        with self.assertRaisesRegex(TypeError, "alpha is a str"):
            self.dev.matmul(self.dev.array(a), b, alpha="2")
        with self.assertRaisesRegex(isomer.Invalid, "different types"):
            self.dev.matmul(a, b, out=c, alpha=two, beta=np.ones((), "f4"))
        with self.assertRaisesRegex(isomer.Invalid, "need out"):
            self.dev.matmul(a, b, beta=two)


class Groups(Base):
    def test_group(self):
        sizes = [(3, 4, 5), (3, 4, 5), (1, 7, 2), (0, 3, 3), (6, 1, 1)]
        given = [(numbers(m, k), numbers(k, n)) for m, k, n in sizes]
        given += [(numbers(3, 4), numbers(4)), (numbers(4), numbers(4))]
        out = np.zeros((2, 2))
        for got, (a, b) in zip(isomer.matmul_group(given, keep="bits"), given):
            self.same(got, a @ b)
        a, b = numbers(2, 3), numbers(3, 2)
        results = self.dev.matmul_group([(a, b, out), (b, a)], alpha=2)
        self.same(out, 2 * (a @ b))
        self.same(results[1], 2 * (b @ a))
        self.assertEqual(self.dev.matmul_group([]), [])
        with self.assertRaisesRegex(isomer.Invalid, "product 1: a is 2 x 3"):
            self.dev.matmul_group([(a, b), (a, a)])
        with self.assertRaisesRegex(isomer.Invalid, "product 0 is 'ndarray'"):
            self.dev.matmul_group([a, b])
        with self.assertRaisesRegex(isomer.Invalid, "overlap"):
            self.dev.matmul_group([(a, b, out), (out, b.T, np.zeros((2, 3)))])


class Triangles(Base):
    def test_syrk(self):
        for kind, order, lower, trans in itertools.product(("f4", "f8", "c16"), "CF", (True, False),
                                                           (True, False)):
            with self.subTest(kind, order=order, lower=lower, trans=trans):
                a = np.asarray(pairs(5, 3) if kind == "c16" else numbers(5, 3, kind=kind),
                               order=order)
                square = a.T @ a if trans else a @ a.T
                part = np.tril if lower else np.triu
                self.same(isomer.syrk(a, lower=lower, trans=trans), part(square))
                c = np.asarray(numbers(*square.shape).astype(kind), order=order)
                wanted = np.where(part(np.ones(square.shape)), 2 * square - c, c)
                isomer.syrk(a, out=c, lower=lower, trans=trans, alpha=2, beta=-1)
                self.same(c, wanted)
        batch = numbers(2, 4, 3)
        self.same(isomer.syrk(batch), np.tril(batch @ batch.swapaxes(1, 2)))
        with self.assertRaisesRegex(isomer.Invalid, "need"):
            isomer.syrk(batch, beta=1)
        with self.assertRaisesRegex(isomer.Invalid, "not conjugated"):
            isomer.syrk(pairs(3, 3), trans="c")
        with self.assertRaisesRegex(isomer.Invalid, "1 dimensions"):
            isomer.syrk(numbers(3))
        with self.assertRaisesRegex(isomer.Invalid, "the product is"):
            isomer.syrk(numbers(3, 2), out=np.zeros((2, 2)))

    def test_trsm(self):
        for kind, a_order, b_order, side, lower, trans, unit in itertools.product(
                ("f8", "c16"), "CF", "CF", ("left", "right"), (True, False), (False, True, "c"),
                (True, False)):
            a = numbers(4, 4) / 16 + 2 * np.eye(4)
            a = np.asarray(a + 1j * numbers(4, 4) / 16 if kind == "c16" else a, order=a_order)
            x = (pairs(4, 4) if kind == "c16" else numbers(4, 4))
            read = (np.tril if lower else np.triu)(a)
            if unit:
                read = read - np.diag(np.diag(read)) + np.eye(4)
            read = {False: read, True: read.T, "c": read.conj().T}[trans]
            b = np.asarray(read @ x if side == "left" else x @ read, order=b_order)
            with self.subTest(kind, a=a_order, b=b_order, side=side, lower=lower, trans=trans):
                options = dict(side=side, lower=lower, trans=trans, unit_diagonal=unit)
                if trans == "c" and kind == "c16" and a_order != b_order:
                    with self.assertRaisesRegex(isomer.Invalid, r"a\.copy\(\)"):
                        isomer.trsm(a, b, **options)
                    continue
                got = isomer.trsm(a, b, alpha=2, **options).numpy()
                np.testing.assert_allclose(got, 2 * x, 1e-9, 1e-9)
                out = np.zeros_like(b)
                isomer.trsm(a, b, out=out, **options)
                isomer.trsm(a, b, out=b, **options)
                np.testing.assert_allclose(b, x, 1e-9, 1e-9)
                np.testing.assert_array_equal(b, out)

    def test_trsm_of_vectors_batches_and_wrong_arguments(self):
        a = np.tril(numbers(2, 3, 3)) + 20 * np.eye(3)
        b = numbers(2, 3, 5)
        np.testing.assert_allclose(isomer.trsm(a, b).numpy(), np.linalg.solve(a, b))
        np.testing.assert_allclose(isomer.trsm(a[0], b).numpy(), np.linalg.solve(a[0], b))
        np.testing.assert_allclose(isomer.trsm(a[0], b[0, :, 0]).numpy(),
                                   np.linalg.solve(a[0], b[0, :, 0]))
        plan = self.dev.plan("trsm", self.dev.array(a[0]), self.dev.array(b[0]))
        first = plan.run().numpy()
        np.testing.assert_array_equal(plan.run().numpy(), first)
        with self.assertRaisesRegex(isomer.Invalid, "side is 'up'"):
            isomer.trsm(a[0], b[0], side="up")
        with self.assertRaisesRegex(isomer.Invalid, "on the right it must be 5 x 5"):
            isomer.trsm(a[0], b[0], side="right")
        with self.assertRaisesRegex(isomer.Invalid, "overlap"):
            isomer.trsm(a[0], a[0], out=a[0])
        with self.assertRaises(isomer.Invalid):
            isomer.trsm(a[0], b[0].astype("f4"))
        with self.assertRaisesRegex(isomer.Invalid, "solves take f32"):
            isomer.trsm(a[0].astype("f2"), b[0].astype("f2"))
        small = isomer.template((3, 3), "f64"), isomer.template((3, 5), "f64")
        self.assertEqual(self.dev.cost("trsm", *small).flops, 45.0)
        self.assertTrue(self.dev.supports("trsm", *small, variant="tiled"))


if __name__ == "__main__":
    common.main()
