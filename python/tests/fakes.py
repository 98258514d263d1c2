# SPDX-License-Identifier: Apache-2.0
"""fakes.py - memory and streams of another library on a CUDA device, over the stand-ins of
tests/fakes: that library is a few classes here, whose arrays have the driver's memory. NumPy checks
the results, and that nothing was copied."""
import ctypes
import gc
import os
import sys
import types
import unittest

import common

FOLDER = os.path.join(os.environ.get("ISOMER_TEST_BUILD", os.path.join(common.SOURCE, "build/release")),
                      "tests/fakes/cuda")
os.environ["ISOMER_CUDA_PATH"] = FOLDER
np = common.need("numpy", "python3-numpy")
if not os.path.exists(os.path.join(FOLDER, "libcuda.so.1")):
    common.skip("the stand-ins are not here: build the target fake_cuda_cuda")
cuda = ctypes.CDLL(os.path.join(FOLDER, "libcuda.so.1"), mode=ctypes.RTLD_GLOBAL)
import isomer  # noqa: E402


def ok(code):
    assert code == 0, "the driver gives %d" % code


class Stream:
    """A stream of cupy's kind."""

    def __init__(self):
        out = ctypes.c_void_p()
        ok(cuda.cuStreamCreate(ctypes.byref(out), 1))
        self.ptr = out.value

    def __enter__(self):
        self.before, cupy.now = cupy.now, self
        return self

    def __exit__(self, *_):
        cupy.now = self.before

    def synchronize(self):
        ok(cuda.cuStreamSynchronize(ctypes.c_void_p(self.ptr)))


class Default:
    ptr = 0


class Memory:
    live = 0

    def __init__(self, count):
        out = ctypes.c_uint64()
        ok(cuda.cuMemAlloc_v2(ctypes.byref(out), ctypes.c_size_t(max(count, 1))))
        self.pointer = out.value
        Memory.live += 1

    def __del__(self):
        Memory.live -= 1
        cuda.cuMemFree_v2(ctypes.c_uint64(self.pointer))


class ndarray:
    """An array of cupy's kind. The stand-in's memory can be read here: `host` is a view of it."""

    def __init__(self, value, memory=None, host=None):
        value = np.ascontiguousarray(value) if host is None else host
        self.memory = memory or Memory(value.nbytes)
        if host is None:
            raw = (ctypes.c_char * max(value.nbytes, 1)).from_address(self.memory.pointer)
            host = np.frombuffer(raw, value.dtype, value.size).reshape(value.shape)
            host[...] = value
        self.host, self.shape, self.dtype = host, host.shape, host.dtype

    def __getitem__(self, key):
        return ndarray(None, self.memory, self.host[key])

    @property
    def T(self):
        return ndarray(None, self.memory, self.host.T)

    def __dlpack_device__(self):
        return 2, 0

    @property
    def __cuda_array_interface__(self):
        return {"data": (self.host.ctypes.data, False), "shape": self.shape,
                "strides": self.host.strides, "typestr": self.dtype.str, "version": 3}


cupy = types.ModuleType("cupy")
cupy.now = Default()
cupy.cuda = types.SimpleNamespace(get_current_stream=lambda: cupy.now)
ndarray.__module__ = Stream.__module__ = "cupy"
sys.modules["cupy"] = cupy
keep = isomer.open("cuda")  # the driver has a context from here on
context = ctypes.c_void_p()
ok(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
ok(cuda.cuCtxSetCurrent(context))


def random(*shape):
    return np.random.RandomState(sum(shape)).randint(-4, 5, shape).astype("f4")


class InPlace(unittest.TestCase):
    def test_products_in_their_memory_on_their_streams(self):
        a, b = ndarray(random(20, 30)), ndarray(random(25, 30))
        whole = ndarray(np.full((20, 40), 7, "f4"))
        c, streams = whole[:, :25], [Stream(), Stream()]
        device = isomer.matmul(a, b.T, out=c, variant="vendor").device
        self.assertEqual(device.spec, "cuda:0")
        cuda.cuCtxSynchronize()
        np.testing.assert_array_equal(c.host, a.host @ b.host.T)
        for stream in streams * 2:
            used = keep.memory_use().used
            with stream:
                mine = isomer.matmul(a, b.T, out=c, variant="vendor")
                self.assertEqual(mine.pointer, c.host.ctypes.data)
                self.assertEqual(mine.memory.writer.native, stream.ptr)
            stream.synchronize()
            np.testing.assert_array_equal(whole.host[:, 25:], 7)
        self.assertEqual(keep.memory_use().used, used)  # the library had its scratch memory
        self.assertLessEqual(set(device._adopted), {0} | {stream.ptr for stream in streams})

    def test_another_stream_waits_for_theirs(self):
        a, b = ndarray(random(30, 30)), ndarray(random(30, 30))
        c = ndarray(np.zeros((30, 30), "f4"))
        with isomer.open(like=a) as dev, Stream() as theirs, dev.stream() as own:
            for _ in range(10):
                isomer_c = own.matmul(a, b, out=c, variant="vendor")
                theirs.synchronize()  # it waits for the product
                np.testing.assert_array_equal(c.host, a.host @ b.host)
                cuda.cuMemsetD32Async(ctypes.c_uint64(c.host.ctypes.data), 0, 900,
                                      ctypes.c_void_p(theirs.ptr))
            self.assertIs(isomer_c.memory.writer, own)

    def test_it_waits_for_their_work(self):
        a, b = ndarray(random(30, 30)), ndarray(random(30, 30))
        c, big = ndarray(np.zeros((30, 30), "f4")), Memory(64 << 20)

        def set_words(pointer, value, count, stream):
            bits = int(np.float32(value).view("u4"))
            ok(cuda.cuMemsetD32Async(ctypes.c_uint64(pointer), ctypes.c_uint(bits),
                                     ctypes.c_size_t(count), ctypes.c_void_p(stream.ptr)))
        with isomer.open(like=a) as dev, Stream() as theirs, dev.stream() as own:
            own.matmul(a, b, out=c, variant="vendor")
            for value in range(1, 4):
                for _ in range(4):  # takes a while
                    set_words(big.pointer, value, 16 << 20, theirs)
                set_words(a.host.ctypes.data, value, 900, theirs)
                own.matmul(a, b, out=c, variant="vendor")
                own.synchronize()
                np.testing.assert_array_equal(c.host, np.full((30, 30), value, "f4") @ b.host)

    def test_exports(self):
        with isomer.open("cuda") as dev:
            x = dev.array(random(4, 5))
            self.assertEqual(x.__dlpack_device__(), (2, 0))
            given = x[1:].__cuda_array_interface__
            self.assertEqual(given["data"][0], x.pointer + 20)
            self.assertEqual((given["shape"], given["typestr"]), ((3, 5), "<f4"))
            for options in ({}, {"stream": 1}, {"stream": -1}, {"stream": Stream().ptr},
                            {"max_version": (1, 1), "stream": 2 and None}):
                capsule = x.__dlpack__(**options)
                found = isomer._foreign.look(types.SimpleNamespace(
                    __dlpack__=lambda **_: capsule, __dlpack_device__=lambda: (2, 0)))
                self.assertEqual(found.pointer, x.pointer)
                self.assertEqual(found.shape, (4, 5))
            again = dev.asarray(types.SimpleNamespace(
                __dlpack__=lambda **_: x.__dlpack__(), __dlpack_device__=lambda: (2, 0)))
            np.testing.assert_array_equal(again.numpy(), random(4, 5))
        with isomer.open("openmp") as cpu:
            with self.assertRaises(AttributeError):
                cpu.zeros(1).__cuda_array_interface__

    def test_moves(self):
        with isomer.open("cuda") as dev, isomer.open("openmp") as cpu:
            x = random(12, 9)
            mine, theirs = dev.array(x), ndarray(np.zeros((12, 9), "f4"))
            np.testing.assert_array_equal(cpu.array(mine).numpy(), x)
            np.testing.assert_array_equal(dev.array(cpu.array(x)).numpy(), x)
            mine.copy_to(theirs)
            dev.synchronize()
            np.testing.assert_array_equal(theirs.host, x)
            np.testing.assert_array_equal(dev.array(theirs).numpy(), x)
            np.testing.assert_array_equal(mine[2:5, 1:4].numpy(), x[2:5, 1:4])
            pinned = dev.pinned((12, 9), "f4")
            pinned[...] = x + 1
            mine.copy_from(pinned, wait=False)
            np.testing.assert_array_equal(mine.numpy(), x + 1)
            with self.assertRaisesRegex(isomer.Mismatch, "numpy in this computer's memory.*copy it"):
                dev.add(mine, x)
            with self.assertRaisesRegex(isomer.Mismatch, "the memory of cuda:0"):
                cpu.add(theirs, theirs)
            with self.assertRaises(isomer.Mismatch):
                cpu.add(cpu.array(x), mine)

    def test_memory_goes_back(self):
        before = Memory.live
        with isomer.open("cuda") as dev:
            x = ndarray(random(3, 3))
            mine = dev.asarray(x)
            del x
            gc.collect()
            self.assertEqual(Memory.live, before + 1)
            del mine
            gc.collect()
            self.assertEqual(Memory.live, before)

    def test_streams(self):
        with isomer.open("cuda") as dev, Stream() as theirs:
            mine = dev.adopt_stream(theirs)
            self.assertIs(dev.adopt_stream(theirs.ptr), mine)
            self.assertEqual(mine.native, theirs.ptr)
            self.assertIs(dev.adopt_stream(0), dev.adopt_stream(1))
            self.assertTrue(dev.default_stream.native)
            with mine:
                x = dev.full((5, 5), 2.0, "f32")
            self.assertIs(x.memory.writer, mine)
            self.assertEqual(dev.stream().add(x, x).tolist(), [[4.0] * 5] * 5)


if __name__ == "__main__":
    common.main()
