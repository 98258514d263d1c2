# SPDX-License-Identifier: Apache-2.0
"""others.py - memory of PyTorch and JAX on the CPU, used where it lies; and that of CuPy as far as it
goes without a GPU. A library that is missing is a skip that names it."""
import gc
import unittest

import common

np = common.need("numpy", "python3-numpy")
import isomer  # noqa: E402

try:
    import torch
except (ImportError, OSError) as error:
    torch, no_torch = None, "PyTorch: %s: pip install torch" % error
else:
    no_torch = ""
try:
    import jax
    import jax.numpy as jnp
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
except ImportError as error:
    jax, no_jax = None, "JAX: %s: pip install 'jax[cpu]'" % error
else:
    no_jax = ""


@unittest.skipIf(torch is None, no_torch)
class Torch(unittest.TestCase):
    def test_in_place(self):
        for kind in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            with self.subTest(kind):
                a = torch.randint(-4, 5, (20, 30)).to(kind)[2:, 4:]
                b = torch.randint(-4, 5, (25, 26)).to(kind).T
                whole = torch.full((18, 40), 7).to(kind)
                c, pointer = whole[:, :25], whole.data_ptr()
                isomer.matmul(a, b, out=c)
                self.assertEqual(whole.data_ptr(), pointer)
                wanted = (a.double() @ b.double()).to(kind)
                self.assertTrue(torch.equal(c, wanted))
                self.assertTrue(bool((whole[:, 25:] == 7).all()))

    def test_with_numpy(self):
        a, b = torch.arange(6.0).reshape(2, 3), np.arange(6, dtype="f4").reshape(3, 2)
        np.testing.assert_array_equal(isomer.matmul(a, b).numpy(), a.numpy() @ b)
        with isomer.open(like=a) as dev:
            np.testing.assert_array_equal((dev.array(b) @ a).numpy(), b @ a.numpy())

    def test_lending(self):
        with isomer.open("openmp") as dev:
            x = dev.array(np.arange(6.0).reshape(2, 3))
            theirs = torch.from_dlpack(x)
            self.assertEqual(theirs.data_ptr(), x.pointer)
            theirs += 1
            np.testing.assert_array_equal(x.numpy(), np.arange(6.0).reshape(2, 3) + 1)
            used = dev.memory_use().used
            del x, theirs
            gc.collect()
            self.assertLess(dev.memory_use().used, used)
            kept = torch.from_dlpack(dev.full(4, 3.0))
        self.assertEqual(kept.tolist(), [3.0] * 4)

    def test_taking(self):
        theirs = torch.zeros(3, 4)
        mine = isomer.asarray(theirs.T)
        mine[1] = 5
        self.assertEqual(theirs[:, 1].tolist(), [5.0] * 3)
        del theirs
        gc.collect()
        self.assertEqual(mine.sum(0).tolist(), [0.0, 15.0, 0.0] if mine.shape == (3, 3) else
                         mine.numpy().sum(0).tolist())
        with self.assertRaises((BufferError, RuntimeError)):
            isomer.asarray(torch.zeros(3, requires_grad=True))

    def test_kernels_and_bytes(self):
        x = torch.arange(10, dtype=torch.uint8)
        self.assertEqual(isomer.asarray(x).tolist(), list(range(10)))


@unittest.skipIf(jax is None, no_jax)
class Jax(unittest.TestCase):
    def test_inputs(self):
        for kind in ("float32", "float64", "float16", "bfloat16"):
            with self.subTest(kind):
                a = jnp.arange(12).reshape(3, 4).astype(kind)
                b = jnp.arange(20).reshape(4, 5).astype(kind)
                got = isomer.matmul(a, b)
                wanted = np.asarray((a.astype("float64") @ b.astype("float64")).astype(kind))
                np.testing.assert_array_equal(got.numpy(), wanted)
        mine = isomer.asarray(a := jnp.arange(6.0))
        self.assertEqual(mine.pointer, a.unsafe_buffer_pointer())

    def test_they_never_change(self):
        a = jnp.ones((3, 3))
        with self.assertRaisesRegex(ValueError, "only be read"):
            isomer.matmul(a, a, out=a)
        with self.assertRaises(ValueError):
            isomer.asarray(a).fill(0)

    def test_lending(self):
        with isomer.open("openmp") as dev:
            x = dev.array(np.arange(6.0).reshape(2, 3))
            theirs = jnp.from_dlpack(x)
            np.testing.assert_array_equal(np.asarray(theirs), x.numpy())
            del x
            gc.collect()
        np.testing.assert_array_equal(np.asarray(theirs), np.arange(6.0).reshape(2, 3))

    @unittest.skipIf(torch is None, no_torch)
    def test_with_torch(self):
        a, b = jnp.ones((2, 3)), torch.ones(3, 2, dtype=torch.float64)
        c = torch.zeros(2, 2, dtype=torch.float64)
        isomer.matmul(a, b, out=c)
        self.assertEqual(c.tolist(), [[3.0, 3.0], [3.0, 3.0]])


class CuPy(unittest.TestCase):
    def test_import(self):
        try:
            import cupy
        except ImportError as error:
            self.skipTest("CuPy: %s; fakes.py and gpu.py test its memory" % error)
        if not any(one.backend == "cuda" for one in isomer.devices()):
            self.skipTest("CuPy is here and no GPU: fakes.py and gpu.py test its memory")
        a = cupy.ones((3, 3))
        isomer.matmul(a, a, out=(c := cupy.zeros((3, 3))))
        self.assertEqual(c.tolist(), [[3.0] * 3] * 3)


if __name__ == "__main__":
    if torch is None and jax is None:
        common.skip(no_torch + "; " + no_jax)
    common.main()
