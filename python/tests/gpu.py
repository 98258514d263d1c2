# SPDX-License-Identifier: Apache-2.0
"""gpu.py - on a machine with a CUDA device, and CuPy or PyTorch: isomer computes in their memory, on
their streams. Says each thing that it checked, goes on after a failure, and ends with 0, 1, or 77 if
nothing could be checked.

    ISOMER_LIBRARY=build/release/lib/libisomer.so.0 python3 python/tests/gpu.py

Without ISOMER_LIBRARY the installed package's own library is used. JAX is checked too if it has a GPU.
--cpu tries this script itself, with NumPy on the CPU.
"""
import gc
import os
import re
import subprocess
import sys
import time
import traceback

import common

np = common.need("numpy", "python3-numpy")
import isomer  # noqa: E402

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else JAX takes all memory
COUNTS = {"passed": 0, "failed": 0, "skipped": 0}
CPU = "--cpu" in sys.argv
BACKEND = "openmp" if CPU else "cuda"


def load(name):
    if CPU:
        return None
    try:
        return __import__(name)
    except Exception as error:  # also a library that is there without its driver
        print("%s is left out: %s" % (name, str(error).split("\n")[0]))
        return None


cupy, torch, jax = load("cupy"), load("torch"), load("jax")
if torch is not None and not torch.cuda.is_available():
    print("torch is left out: it sees no CUDA device")
    torch = None
if cupy is not None:
    try:
        cupy.zeros(1)
    except Exception as error:
        print("cupy is left out: %s" % error)
        cupy = None
if jax is not None and not any(one.platform == "gpu" for one in jax.devices()):
    print("jax is left out: it sees no GPU")
    jax = None
if cupy is None and torch is None and not CPU:
    common.skip("neither CuPy nor PyTorch can use a GPU here")
try:
    DEVICE = isomer.open(BACKEND)
except isomer.Error as error:
    common.skip("isomer has no device %s: %s" % (BACKEND, error))


class CuPy:
    """What the checks need of CuPy."""
    name = "CuPy"
    types = ("float32", "float64", "float16")

    def make(self, value):
        return cupy.asarray(value)

    def host(self, array):
        return cupy.asnumpy(array)

    def pointer(self, array):
        return array.data.ptr

    def stream(self):
        return cupy.cuda.Stream(non_blocking=True)

    def number(self, stream):
        return stream.ptr

    def entered(self, stream):
        return stream

    def sync(self):
        cupy.cuda.Device().synchronize()

    def used(self):
        return cupy.get_default_memory_pool().used_bytes()

    def take(self, array):
        return cupy.from_dlpack(array)

    def busy(self):
        """Work that takes some milliseconds on the current stream."""
        x = cupy.ones((3000, 3000), "float32")
        for _ in range(4):
            x = x @ x * 1e-4


class Torch:
    """The same of PyTorch."""
    name = "PyTorch"
    types = ("float32", "float64", "float16", "bfloat16")

    def make(self, value):
        return torch.from_numpy(np.ascontiguousarray(value)).cuda()

    def host(self, array):
        array = array.cpu()
        return array.float().numpy() if array.dtype == torch.bfloat16 else array.numpy()

    def pointer(self, array):
        return array.data_ptr()

    def stream(self):
        return torch.cuda.Stream()

    def number(self, stream):
        return stream.cuda_stream

    def entered(self, stream):
        return torch.cuda.stream(stream)

    def sync(self):
        torch.cuda.synchronize()

    def used(self):
        return torch.cuda.memory_allocated()

    def take(self, array):
        return torch.from_dlpack(array)

    def busy(self):
        x = torch.ones(3000, 3000, device="cuda")
        for _ in range(4):
            x = x @ x * 1e-4


class NumPy:
    """For --cpu."""
    name = "NumPy"
    types = ("float32", "float64", "float16")

    def make(self, value):
        return np.array(value)

    def host(self, array):
        return array.copy()

    def pointer(self, array):
        return array.ctypes.data

    def sync(self):
        pass

    busy = sync

    def used(self):
        return 0

    def take(self, array):
        found = np.from_dlpack(array)
        if not found.flags.writeable:  # before NumPy 2.1 it is never
            import ctypes
            raw = (ctypes.c_char * found.nbytes).from_address(found.ctypes.data)
            made = np.lib.stride_tricks.as_strided(np.frombuffer(raw, found.dtype), found.shape,
                                                   found.strides)
            raw.kept = found
            return made
        return found


def numbers(seed, *shape):
    return np.random.RandomState(seed).standard_normal(shape)


def made(kit, value, kind):
    if kind == "bfloat16":
        return kit.make(value.astype("float32")).bfloat16()
    return kit.make(value.astype(kind))


def close(got, a, b, kind):
    """Whether it is the product, by the usual bound."""
    a, b = a.astype("f8"), b.astype("f8")
    epsilon = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "float64": 2**-52}[kind]
    off = abs(got.astype("f8") - a @ b)
    bound = (a.shape[1] * min(epsilon, 2**-23) + epsilon) * (abs(a) @ abs(b)) + 1e-30
    assert (off <= bound).all(), "off by %g where %g is allowed" % (off.max(), bound[off > bound][0])


def check(name, function, *args):
    """Runs a check and says how it ended."""
    began = time.time()
    try:
        text = function(*args) or ""
    except Exception:
        COUNTS["failed"] += 1
        print("FAILED   %s\n%s" % (name, "".join("         " + line + "\n" for line in
                                                traceback.format_exc().split("\n"))))
    else:
        word = "skipped" if text.startswith("SKIP") else "passed"
        COUNTS[word] += 1
        print("%-8s %s%s (%.1f s)" % (word, name, ": " + text if text else "", time.time() - began))
    sys.stdout.flush()


# ---- the checks


def in_place(kit, kind):
    """Strided, transposed views; the result in a part of their array."""
    a, b = made(kit, numbers(1, 300, 500), kind)[7:260, 3:451], made(kit, numbers(2, 333, 480), kind)
    b, whole = b[:321, :448].T, made(kit, np.full((253, 400), 7.0), kind)
    c = whole[:, :321]
    places = [kit.pointer(x) for x in (a, b, c)]
    result = isomer.matmul(a, b, out=c)
    kit.sync()
    assert [kit.pointer(x) for x in (a, b, c)] == places
    assert result.pointer == kit.pointer(c), "the result is not in their memory"
    close(kit.host(c), kit.host(a), kit.host(b), kind)
    assert (kit.host(whole)[:, 321:] == 7).all(), "written outside"
    return "written at %#x, where %s has it" % (kit.pointer(c), kit.name)


def no_memory(kit):
    order = 300 if CPU else 2000
    a, b, c = (made(kit, numbers(i, order, order), "float32") for i in range(3))
    isomer.matmul(a, b, out=c)  # the library takes its scratch memory
    kit.sync()
    device = isomer.asarray(a).device
    before = kit.used(), device.memory_use().used
    for _ in range(20):
        isomer.matmul(a, b, out=c)
    kit.sync()
    assert (kit.used(), device.memory_use().used) == before, "memory was allocated"
    return "20 products allocate nothing"


def their_stream(kit):
    """Their work, ours and theirs again, with no waiting in between."""
    stream, seen = kit.stream(), set()
    a, b = made(kit, numbers(1, 700, 700), "float32"), made(kit, numbers(2, 700, 700), "float32")
    c = made(kit, np.zeros((700, 700)), "float32")
    right = kit.host(a), kit.host(b)
    kit.sync()
    for i in range(1, 6):
        with kit.entered(stream):
            kit.busy()
            scaled = a * float(i)
            result = isomer.matmul(scaled, b, out=c)
            seen.add(result.memory.writer.native)
            copy = c + 0.0
            c *= 0.0
        kit.sync()
        close(kit.host(copy), right[0] * np.float32(i), right[1], "float32")
    assert seen == {kit.number(stream)}, "another stream was used: %s" % seen
    return "stream %#x" % kit.number(stream)


def own_stream(kit):
    """A stream of isomer's: the two wait for each other."""
    a, b = made(kit, numbers(1, 700, 700), "float32"), made(kit, numbers(2, 700, 700), "float32")
    right = kit.host(a), kit.host(b)
    theirs = kit.stream()
    with isomer.open(like=a) as dev, dev.stream() as mine:
        for i in range(1, 6):
            with kit.entered(theirs):
                kit.busy()
                scaled = a * float(i)
                c = made(kit, np.zeros((700, 700)), "float32")
                result = mine.matmul(scaled, b, out=c)
                assert result.memory.writer is mine
                copy = c + 0.0
                del scaled
                kit.busy()  # may take its memory again
            kit.sync()
            close(kit.host(copy), right[0] * np.float32(i), right[1], "float32")


def bits(kit, kind):
    a, b = made(kit, numbers(3, 129, 1500), kind), made(kit, numbers(4, 1500, 77), kind)
    got = isomer.matmul(a, b, keep="bits")
    with isomer.open("openmp") as cpu:
        host = [cpu.array(isomer.asarray(x)) for x in (a, b)]
        wanted = cpu.matmul(*host, keep="bits").tobytes()
        total = cpu.sum(host[0], keep="bits").tobytes()
    assert got.tobytes() == wanted, "the product has other bits than the CPU's"
    assert isomer.sum(a, keep="bits").tobytes() == total, "the sum has other bits than the CPU's"
    return "a product and a sum have the CPU's bits"


def export(kit):
    """isomer's memory as their array, filled just before."""
    with isomer.open(BACKEND) as dev:
        dev.full((1000, 2000), 1.5, "f32").max()  # takes its scratch memory
        gc.collect()
        used = dev.memory_use().used
        x = dev.full((1000, 2000), 1.5, "f32")
        theirs = kit.take(x)
        assert kit.pointer(theirs) == x.pointer, "a copy was made"
        assert (kit.host(theirs) == 1.5).all()
        theirs += 1
        kit.sync()
        assert float(x.max()) == 2.5, "their change is not seen"
        part = kit.take(x[10:20, 5:50])
        assert kit.pointer(part) == x[10:20, 5:50].pointer and (kit.host(part) == 2.5).all()
        del x
        gc.collect()
        assert (kit.host(theirs) == 2.5).all(), "the memory went too early"
        del theirs, part
        gc.collect()
        kit.sync()
        assert dev.memory_use().used == used, "the memory did not come back"
        kept = kit.take(dev.full(100, 3.0, "f32"))
    assert (kit.host(kept) == 3).all(), "closing the device took the memory"
    return "no copy, and the memory lives as long as both"


def more_operations(kit):
    x, y = made(kit, numbers(5, 300, 200), "float64"), made(kit, numbers(6, 300, 200), "float64")
    a, b = kit.host(x), kit.host(y)
    out = made(kit, np.zeros((300, 200)), "float64")
    isomer.triad(x, y, 2.0, out=out)
    kit.sync()
    np.testing.assert_allclose(kit.host(out), a + 2 * b, rtol=1e-15)
    np.testing.assert_allclose(isomer.sum(x, 0).numpy(), a.sum(0), rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(isomer.argmax(x, 1).numpy(), a.argmax(1))
    np.testing.assert_array_equal(isomer.transpose(x).numpy(), a.T)
    np.testing.assert_allclose(isomer.matmul(x, y[0]).numpy(), a @ b[0], rtol=1e-10, atol=1e-10)
    batch = made(kit, numbers(7, 5, 60, 40), "float64")
    np.testing.assert_allclose(isomer.matmul(batch, made(kit, numbers(8, 40, 30), "float64")).numpy(),
                               numbers(7, 5, 60, 40) @ numbers(8, 40, 30), rtol=1e-10, atol=1e-10)


def own_kernel(kit):
    text = """
#include <isomer/kernel.h>
ISO_KERNEL(axpy, 256, 1, 1)(f32 a, ISO_IN(f32) x ISO_EXTENT(n), ISO_INOUT(f32) y ISO_EXTENT(n), i64 n)
{
    ISO_REGION(i)
    {
        if (iso_x(i) < n) {
            y[iso_x(i)] = iso_fma_f32(a, x[iso_x(i)], y[iso_x(i)]);
        }
    }
}
"""
    x, y = made(kit, np.arange(5000.0), "float32"), made(kit, np.ones(5000), "float32")
    with isomer.open(like=x) as dev:
        k = isomer.kernel(text, dev)
        k.axpy[k.axpy.cover(5000)](2.0, x, y, 5000)
        kit.sync()
        np.testing.assert_array_equal(kit.host(y), 2 * np.arange(5000, dtype="f4") + 1)


def graph(kit):
    x = made(kit, np.ones(5000), "float32")
    kit.sync()
    with isomer.open(like=x) as dev, dev.stream() as stream:
        mine = dev.asarray(x)
        with stream.record() as recorded:
            for _ in range(10):
                mine *= 2.0
        stream.synchronize()
        recorded.launch()
        stream.synchronize()
        assert (kit.host(x) == 1024).all()
        return "whole" if recorded.info.whole else "submitted in turn: " + recorded.info.reason


def context(kit):
    """isomer's device is in the context of their memory: no second one was made."""
    import ctypes
    from isomer import _abi, _library
    x = made(kit, np.ones(10), "float32")
    with isomer.open(like=x) as dev:
        mine, current = ctypes.c_void_p(), ctypes.c_void_p()
        _library.check(_library.api().iso_native_get(_abi.E.NATIVE_CONTEXT, dev.handle.id,
                                                     ctypes.byref(mine)))
        assert ctypes.CDLL("libcuda.so.1").cuCtxGetCurrent(ctypes.byref(current)) == 0
        assert mine.value == current.value, "isomer has %s, %s has %s" % (mine, kit.name, current)
        return "context %#x" % mine.value


def refusals(kit):
    x, host = made(kit, np.ones((3, 3)), "float32"), np.ones((3, 3), "f4")
    for call in (lambda: isomer.matmul(x, host), lambda: isomer.matmul(host, x),
                 lambda: isomer.open("openmp").matmul(x, x)):
        try:
            call()
        except isomer.Mismatch as error:
            assert "copy it" in str(error), error
        else:
            raise AssertionError("no exception")
    a = isomer.asarray(x).device.array(host)  # as the message says
    np.testing.assert_array_equal(isomer.matmul(x, a).numpy(), host @ host)


def both():
    """An array of each in one product."""
    if cupy is None or torch is None:
        return "SKIP: it needs CuPy and PyTorch"
    a, b = cupy.asarray(numbers(1, 50, 60)), torch.from_numpy(numbers(2, 60, 70)).cuda()
    c = torch.zeros(50, 70, device="cuda", dtype=torch.float64)
    isomer.matmul(a, b, out=c)
    torch.cuda.synchronize()
    close(c.cpu().numpy(), numbers(1, 50, 60), numbers(2, 60, 70), "float64")


def with_jax():
    if jax is None:
        return "SKIP: JAX has no GPU here"
    import jax.numpy as jnp
    a = jnp.asarray(numbers(1, 50, 60).astype("f4"))
    got = isomer.matmul(a, a.T)
    close(got.numpy(), np.asarray(a), np.asarray(a).T, "float32")
    back = jnp.from_dlpack(got)
    np.testing.assert_array_equal(np.asarray(back), got.numpy())


def documents():
    if cupy is None:
        return "SKIP: the samples need CuPy"
    with open(os.path.join(common.SOURCE, "docs", "python.md"), encoding="utf-8") as file:
        blocks = re.findall(r"^```python gpu\n(.*?)^```$", file.read(), re.M | re.S)
    for text in blocks:
        exec(compile(text, "docs/python.md", "exec"), {"isomer": isomer})
    return "%d samples of docs/python.md" % len(blocks)


def labs():
    """The five labs with small sizes."""
    folder = os.path.join(common.SOURCE, "examples", "python")
    for lab in ("a_matrix", "b_tensor", "c_reductions", "d_arrays", "e_first"):
        done = subprocess.run([sys.executable, "-B", lab + ".py", "--small"], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                              env=dict(os.environ, ISOMER_BACKEND="cuda"))
        assert done.returncode == 0 and "Device cuda" in done.stdout, lab + ":\n" + done.stdout
        assert "left out" not in done.stdout, done.stdout


def speed(kit):
    """What a call costs on the host, and whether it waits for the device."""
    a, b, c = (made(kit, numbers(i, 64, 64), "float32") for i in range(3))
    isomer.matmul(a, b, out=c)
    kit.sync()
    began = time.perf_counter()
    for _ in range(300):
        isomer.matmul(a, b, out=c)
    calls = (time.perf_counter() - began) / 300
    op = isomer.asarray(a).device.plan("matmul", a, b, out=c)
    began = time.perf_counter()
    for _ in range(300):
        op.run()
    plans = (time.perf_counter() - began) / 300
    kit.sync()
    kit.busy()
    began = time.perf_counter()
    isomer.matmul(a, b, out=c)
    submit = time.perf_counter() - began
    kit.sync()
    return "isomer.matmul %.1f us a call, a plan %.1f us; behind long work it returned after %.0f us" % (
        calls * 1e6, plans * 1e6, submit * 1e6)


def main():
    print("isomer %s (%s)\ndevice %s: %s, %s" % (
        isomer.version(), isomer.library_path(), DEVICE.spec, DEVICE.name, DEVICE.info.driver))
    for module in (cupy, torch, jax):
        if module is not None:
            print("%s %s" % (module.__name__, module.__version__))
    kits = [NumPy()] if CPU else [CuPy()] * (cupy is not None) + [Torch()] * (torch is not None)
    for kit in kits:
        for kind in kit.types:
            check("%s %s: a product in place" % (kit.name, kind), in_place, kit, kind)
        for kind in kit.types[:2]:
            check("%s %s: bits" % (kit.name, kind), bits, kit, kind)
        for name, function in (
                ("nothing is allocated", no_memory), ("on their stream", their_stream),
                ("on a stream of isomer's", own_stream), ("export", export),
                ("other operations", more_operations), ("a kernel", own_kernel), ("a graph", graph),
                ("the same context", context), ("refusals", refusals), ("cost of a call", speed)):
            if CPU and function in (their_stream, own_stream, own_kernel, context, refusals):
                continue
            check("%s: %s" % (kit.name, name), function, kit)
    check("CuPy and PyTorch together", both)
    check("JAX", with_jax)
    check("documents", documents)
    if not CPU:
        check("the labs on cuda", labs)
    DEVICE.close()
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % COUNTS)
    sys.exit(1 if COUNTS["failed"] else 0)


if __name__ == "__main__":
    main()
