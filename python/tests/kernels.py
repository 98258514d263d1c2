# SPDX-License-Identifier: Apache-2.0
"""kernels.py - the program's own kernels, with arrays of isomer and of NumPy."""
import os
import pathlib
import shutil
import unittest

import common

CC = os.environ.get("ISOMER_TEST_CC") or shutil.which("cc")
if CC:
    os.environ["ISOMER_CC"] = os.path.realpath(CC)
np = common.need("numpy", "python3-numpy")
import isomer  # noqa: E402

TEXT = """
#include <isomer/kernel.h>
ISO_STRUCT(filter) { f32 scale; i32 count; };
ISO_KERNEL(axpy, 64, 1, 1)(f32 a, ISO_IN(f32) x ISO_EXTENT(n), ISO_INOUT(f32) y ISO_EXTENT(n), i64 n)
{
    ISO_REGION(i)
    {
        if (iso_x(i) < n) {
            y[iso_x(i)] = iso_fma_f32(a, x[iso_x(i)], y[iso_x(i)]);
        }
    }
}
ISO_KERNEL(apply, 64, 1, 1)(filter p, ISO_OUT(u8) z ISO_EXTENT(n), u64 n, ISO_SHARED(f32, ISO_AT_LAUNCH) part)
{
    ISO_REGION(i)
    {
        part[i] = p.scale;
        if (iso_x(i) < (i64)n) {
            z[iso_x(i)] = (u8)(part[i] * (f32)p.count) + (u8)PLUS;
        }
    }
}
"""


class Kernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dev = isomer.open("openmp")
        cls.program = isomer.kernel(TEXT, cls.dev, name="test.isk", macros={"PLUS": 3})

    def test_declarations(self):
        self.assertEqual(list(self.program.kernels), ["axpy", "apply"])
        self.assertEqual(str(self.program.axpy),
                         "axpy(f32 a, in f32 x[n], inout f32 y[n], i64 n)")
        self.assertEqual(self.program.axpy.cover(1000), (16,))
        self.assertIn("axpy", dir(self.program))
        with self.assertRaisesRegex(AttributeError, "axpy, apply"):
            self.program.none

    def test_launches(self):
        n = 1000
        x, y = np.arange(n, dtype="f4"), np.ones(n, "f4")
        axpy = self.program.axpy
        axpy[axpy.cover(n)](2.0, x, y, n)
        np.testing.assert_array_equal(y, 2 * x + 1)
        mine = self.dev.array(x)
        with self.dev.stream() as stream:
            axpy[16](2, x, y=mine, n=n, stream=stream)
            stream.synchronize()
        np.testing.assert_array_equal(mine.numpy(), 3 * x)
        z = self.dev.zeros(100, isomer.u8)
        record = np.array([(1.5, 4)], [("scale", "f4"), ("count", "i4")])
        self.program.apply[2](record, z, 100, 64)
        self.assertEqual(set(z.tolist()), {9})
        self.program.apply.launch((2, 1, 1), record.tobytes(), z, n=np.int64(50), part=64)

    def test_wrong_arguments(self):
        x, y = np.ones(10, "f4"), np.ones(10, "f4")
        axpy = self.program.axpy
        locked = y.copy()
        locked.flags.writeable = False
        for arguments, text in (((2.0, x, y), "no argument for n"),
                                ((2.0, x, y, 10, 1), "5 arguments for 4"),
                                ((2.0, x.astype("f8"), y, 10), "elements of f32.*f64"),
                                ((2.0, x, y, 11), "x"),
                                ((2.0, x, y, 1.5), "no whole number"),
                                ((2.0, x, locked, 10), "only be read"),
                                ((2.0, x[::2], y, 5), "copy"),
                                ((2.0, y, y, 10), "y")):
            with self.subTest(text), self.assertRaisesRegex(isomer.Invalid, text):
                axpy[1](*arguments)
        with self.assertRaisesRegex(isomer.Invalid, "parameter m"):
            axpy[1](2.0, x, y, 10, m=3)
        with self.assertRaises(TypeError):
            axpy[1](2.0, 3.0, y, 10)

    def test_texts_that_do_not_compile(self):
        with self.assertRaisesRegex(isomer.Invalid, "2"):
            isomer.kernel("#include <isomer/kernel.h>\nISO_KERNEL(k, 1, 1)(f32 a) {}", self.dev)
        with self.assertRaisesRegex(isomer.CompileFailed, "nothing_like_it"):
            isomer.kernel(TEXT.replace("p.scale;", "nothing_like_it;", 2), self.dev,
                          macros={"PLUS": 0})

    def test_files(self):
        path = pathlib.Path(common.SOURCE, "examples/kernels/first.isk")
        program = isomer.kernel(path, self.dev, declared=True)
        self.assertEqual(program.name, "first.isk")
        with self.assertRaises(isomer.NotReady):
            program.axpy[1](1.0, np.ones(3, "f4"), np.ones(3, "f4"), 3)

    def test_graph(self):
        stream, y = self.dev.stream(), self.dev.zeros(64, "f32")
        x = self.dev.full(64, 1.0, "f32")
        with stream.record() as graph:
            self.program.axpy[1](1.0, x, y, 64)
        for _ in range(5):
            graph.launch()
        self.assertEqual(y.sum().item(), 5 * 64)


if __name__ == "__main__":
    if not CC:
        common.skip("no C compiler is here: install gcc")
    common.main()
