# SPDX-License-Identifier: Apache-2.0
"""arrays.py - arrays, views, copies, and NumPy's memory where it lies."""
import array
import gc
import sys
import unittest

import common

np = common.need("numpy", "python3-numpy")
import isomer  # noqa: E402


class Base(unittest.TestCase):
    def setUp(self):
        self.dev = isomer.open("openmp")

    def tearDown(self):
        self.dev.close()

    def same(self, got, wanted):
        np.testing.assert_array_equal(got.numpy() if isinstance(got, isomer.Array) else got, wanted)


class Making(Base):
    def test_types(self):
        for kind in isomer._dtypes.ALL:
            if kind.name == "bf16":
                continue
            with self.subTest(kind.name):
                wanted = np.array([[0, 1, 1], [1, 0, 1]], kind.numpy_name)
                got = self.dev.array(wanted)
                self.assertEqual(got.dtype, wanted.dtype)
                self.assertEqual(got.dtype, kind.name)
                self.same(got, wanted)
                self.assertEqual(got.tolist(), wanted.tolist())
                self.assertEqual(self.dev.full(2, 1, kind).tolist(), [kind.unpack(kind.pack(1))] * 2)
        with self.assertRaisesRegex(TypeError, "no type of elements"):
            self.dev.empty(3, "f128")

    def test_bf16(self):
        x = self.dev.full(2, 1.5, "bf16")
        self.assertEqual(x.tolist(), [1.5, 1.5])
        self.assertEqual(x.view("u16").numpy().tolist(), [0x3fc0, 0x3fc0])
        self.assertEqual((x + x).tolist(), [3.0, 3.0])

    def test_from_lists_numbers_and_buffers(self):
        self.assertEqual(self.dev.array([[1, 2], [3, 4]]).dtype, "i64")
        self.assertEqual(self.dev.array([1.0, 2]).dtype, "f64")
        self.assertEqual(self.dev.array(2.5).shape, ())
        self.assertEqual(self.dev.array(2.5).item(), 2.5)
        self.assertEqual(self.dev.array([], "f32").shape, (0,))
        self.assertEqual(self.dev.array(array.array("f", [1, 2])).tolist(), [1.0, 2.0])
        with self.assertRaises(isomer.Invalid):
            self.dev.array([[1], [2, 3]])

    def test_conversion(self):
        self.same(self.dev.array(np.arange(3), "f32"), np.arange(3, dtype="f4"))
        self.same(self.dev.array(np.arange(6).reshape(2, 3).T), np.arange(6).reshape(2, 3).T)

    def test_shapes(self):
        with self.assertRaisesRegex(ValueError, "negative"):
            self.dev.empty((2, -1))
        self.assertEqual(self.dev.zeros((0, 3)).numpy().shape, (0, 3))
        self.assertEqual(len(self.dev.zeros((4, 3))), 4)
        self.assertIn("openmp:0", repr(self.dev.zeros((2, 2))))


class Views(Base):
    def test_slices(self):
        wanted = np.arange(2 * 6 * 8, dtype="f8").reshape(2, 6, 8)
        got = self.dev.array(wanted)
        for key in (0, -1, (slice(None), 2), (1, 3, 4), slice(1, 2), (Ellipsis, slice(2, 5)),
                    (1, slice(1, 6, 2), slice(3, None)), (None, 0), (slice(0, 0),),
                    (0, slice(None), slice(0, 8, 3)), (slice(None), slice(None), 2)):
            with self.subTest(key=key):
                self.same(got[key], wanted[key])
                self.assertEqual(got[key].shape, wanted[key].shape)
                self.same(got[key].copy(), wanted[key])
                self.same(got[key].T.copy(), wanted[key].T)
        for key in (6, (0, 0, 0, 0), (slice(None, None, -1),)):
            with self.assertRaises(IndexError):
                got[(0,) + key if isinstance(key, tuple) else (0, key)]

    def test_assignment(self):
        wanted = np.zeros((5, 7), "f4")
        got = self.dev.array(wanted)
        part = np.arange(6, dtype="f4").reshape(3, 2)
        for x in (got, wanted):
            x[1:4, 2:4] = part
            x[0] = 3
            x[:, 6] = np.arange(5, dtype="f4")
        self.same(got, wanted)
        got[1:3, 0:2], wanted[1:3, 0:2] = got[3:5, 3:5], wanted[3:5, 3:5]
        got.T[0:2] = self.dev.full((2, 5), 8, "f4")
        wanted.T[0:2] = 8
        self.same(got, wanted)
        with self.assertRaisesRegex(isomer.Invalid, "shapes"):
            got[0] = got[:, 0]

    def test_reshape(self):
        x = self.dev.array(np.arange(12))
        self.same(x.reshape(3, -1)[1], np.arange(12).reshape(3, 4)[1])
        self.same(x.reshape((3, 4)).T, np.arange(12).reshape(3, 4).T)
        self.same(x.reshape(3, 4).T.copy().ravel(), np.arange(12).reshape(3, 4).T.ravel())
        with self.assertRaisesRegex(isomer.Invalid, "copy"):
            x.reshape(3, 4).T.reshape(12)
        with self.assertRaises(isomer.Invalid):
            x.reshape(5, -1)

    def test_copies_of_every_layout(self):
        source = np.arange(3 * 4 * 5, dtype="i4").reshape(3, 4, 5)
        mine = self.dev.array(source)
        for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1)):
            theirs = source.transpose(order)
            view = mine
            for i, j in {(2, 1, 0): [(0, 2)], (1, 0, 2): [(0, 1)], (0, 2, 1): [(1, 2)]}.get(order, []):
                view = view.swapaxes(i, j)
            self.same(view, theirs)
            target = self.dev.zeros(theirs.shape[::-1], "i4").T
            target.copy_from(view)
            self.same(target, theirs)
            target.copy_from(np.ascontiguousarray(theirs + 1))
            self.same(target, theirs + 1)

    def test_copy_to(self):
        x = self.dev.array(np.arange(6.0).reshape(2, 3))
        wanted = np.zeros((3, 2)).T
        x.copy_to(wanted)
        self.same(x, wanted)
        pinned = self.dev.pinned((2, 3))
        x.copy_to(pinned, wait=False)
        self.dev.synchronize()
        self.same(x, pinned)
        locked = np.zeros((2, 3))
        locked.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "only be read"):
            x.copy_to(locked)

    def test_between_devices(self):
        with isomer.open("openmp") as other:
            x = self.dev.array(np.arange(6.0).reshape(2, 3))
            self.same(other.array(x.T), x.numpy().T)
            with self.assertRaisesRegex(isomer.Mismatch, "asarray"):
                x @ other.array(np.eye(3))
            view = other.asarray(x.T)
            self.assertEqual(view.pointer, x.pointer)
            self.same(other.array(np.ones((2, 3))) @ view, np.ones((2, 3)) @ x.numpy().T)
            view.fill(3)
            self.assertEqual(x.tolist(), [[3.0] * 3] * 2)


class Lending(Base):
    def test_numpy_takes_it_without_a_copy(self):
        x = self.dev.array(np.arange(6.0).reshape(2, 3))
        view = np.from_dlpack(x[:, 1:])
        self.assertEqual(view.ctypes.data, x[:, 1:].pointer)
        x.fill(4)
        self.same(view, np.full((2, 2), 4.0))
        del x
        gc.collect()
        self.same(view, np.full((2, 2), 4.0))
        self.dev.close()
        self.same(view, np.full((2, 2), 4.0))

    def test_capsules_that_nobody_takes(self):
        before = self.dev.memory_use().used
        x = self.dev.zeros(1000)
        for options in ({}, {"max_version": (1, 0)}):
            x.__dlpack__(**options)
        kept = x.__dlpack__()
        del x, kept
        gc.collect()
        self.assertEqual(self.dev.memory_use().used, before)

    def test_taking_numpy(self):
        theirs = np.arange(12.0).reshape(3, 4)
        mine = self.dev.asarray(theirs[:, ::2])
        self.assertEqual(mine.pointer, theirs.ctypes.data)
        self.same(mine, theirs[:, ::2])
        mine[1] = 7
        self.assertEqual(theirs[1].tolist(), [7, 5, 7, 7])
        used = sys.getrefcount(theirs)
        again = isomer.asarray(theirs)
        self.assertGreater(sys.getrefcount(theirs), used)
        del again
        gc.collect()
        self.assertEqual(sys.getrefcount(theirs), used)

    def test_read_only(self):
        theirs = np.arange(3.0)
        theirs.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "only be read"):
            isomer.add(theirs, theirs, out=theirs)
        self.same(isomer.add(theirs, theirs), theirs * 2)
        with self.assertRaises(ValueError):
            self.dev.asarray(theirs).fill(0)

    def test_what_is_no_array(self):
        for wrong in ("text", object(), None, {}):
            with self.assertRaises(TypeError):
                isomer.asarray(wrong)
            with self.assertRaises(TypeError):
                self.dev.add(self.dev.zeros(2), wrong)


if __name__ == "__main__":
    common.main()
