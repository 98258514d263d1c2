# SPDX-License-Identifier: Apache-2.0
"""streams.py - streams, events, graphs, exceptions, and what becomes of objects: garbage collection,
closed devices, fork() and the end of the interpreter."""
import gc
import os
import subprocess
import sys
import threading
import unittest

import common

np = common.need("numpy", "python3-numpy")
import isomer  # noqa: E402
from isomer import _errors  # noqa: E402


class Streams(unittest.TestCase):
    def setUp(self):
        self.dev = isomer.open("openmp")

    def tearDown(self):
        self.dev.close()

    def test_current(self):
        first, second = self.dev.stream(), self.dev.stream()
        self.assertTrue(self.dev.default_stream.inline)
        with first:
            self.assertIs(self.dev.stream_for(None), first)
            with second:
                self.assertIs(self.dev.stream_for(None), second)
            self.assertIs(self.dev.stream_for(None), first)
            seen = []
            thread = threading.Thread(target=lambda: seen.append(self.dev.stream_for(None)))
            thread.start()
            thread.join()
            self.assertIs(seen[0], self.dev.default_stream)
        self.assertIs(self.dev.stream_for(None), self.dev.default_stream)
        self.assertTrue(first.done)
        first.synchronize(timeout=10)

    def test_arrays_order_streams(self):
        streams = [self.dev.stream() for _ in range(3)]
        x = self.dev.zeros((300, 300))
        total = np.zeros((300, 300))
        for i in range(60):
            stream = streams[i % 3]
            stream.chain(x, 1.0, float(i), 1, out=x)
            total += i
        np.testing.assert_array_equal(x.numpy(), total)

    def test_memory_of_numpy_is_there_when_a_call_returns(self):
        with self.dev.stream() as stream:
            a, b = np.random.rand(200, 300), np.random.rand(300, 100)
            out = np.empty((200, 100))
            stream.matmul(a, b, out=out)
            np.testing.assert_allclose(out, a @ b)

    def test_events(self):
        with self.dev.stream() as stream:
            start = stream.event()
            stream.matmul(np.ones((200, 200)), np.ones((200, 200)))
            stop = stream.event()
            stop.synchronize()
            self.assertTrue(start.done and stop.done)
            self.assertGreater(stop.seconds_since(start), 0)
            self.assertLess(start.seconds_since(stop), 0)
        with self.assertRaises(isomer.NotReady):
            self.dev.event().synchronize()

    def test_adopting_is_unsupported_here(self):
        with self.assertRaises(NotImplementedError):
            self.dev.adopt_stream(1234)

    def test_graph(self):
        stream = self.dev.stream()
        x = self.dev.array([1.0, 2.0])
        with stream.record() as graph:
            y = x * 2.0
            x += y
            temporary = x * x
            del temporary
        gc.collect()
        self.assertEqual(x.tolist(), [1.0, 2.0])
        for _ in range(3):
            graph.launch()
        self.assertEqual(x.tolist(), [27.0, 54.0])
        other = self.dev.stream()
        graph.launch(other)
        self.assertEqual(x.tolist(), [81.0, 162.0])
        self.assertEqual(graph.info.works, 3)
        host = np.zeros(2)
        with stream.record() as reading:
            x.copy_to(host)
        x.fill(5)
        reading.launch()
        stream.synchronize()
        self.assertEqual(host.tolist(), [5.0, 5.0])

    def test_graph_that_fails(self):
        stream = self.dev.stream()
        x = self.dev.array([1.0, 2.0])
        with self.assertRaises(ZeroDivisionError):
            with stream.record():
                x += 1.0
                1 / 0
        self.assertEqual(stream.add(x, x).tolist(), [2.0, 4.0])
        with self.assertRaises(isomer.Invalid):
            with stream.record():
                stream.synchronize()
        with self.assertRaises(isomer.Invalid):
            with stream.record():
                with stream.record():
                    pass
        self.assertEqual(stream.add(x, x).tolist(), [2.0, 4.0])


class Exceptions(unittest.TestCase):
    def test_a_class_for_each_status(self):
        from isomer._abi import ENUMS
        for name, number in ENUMS["iso_status"].items():
            if name != "OK":
                self.assertEqual(_errors.BY_STATUS[number].status, number)
        for kind, base in ((isomer.Invalid, ValueError), (isomer.NoMemory, MemoryError),
                           (isomer.Unsupported, NotImplementedError),
                           (isomer.Timeout, TimeoutError), (isomer.Unavailable, RuntimeError)):
            self.assertTrue(issubclass(kind, base) and issubclass(kind, isomer.Error))

    def test_text(self):
        with self.assertRaisesRegex(ValueError, "opnmp.*openmp"):
            isomer.open("opnmp")
        with self.assertRaises(isomer.Unavailable) as caught:
            isomer.open("hip:uuid=none") if not self.gpu() else self.skipTest("a GPU is here")
        self.assertIn("hip", str(caught.exception))
        with isomer.open("openmp") as dev, self.assertRaises(MemoryError):
            dev.empty(1 << 60, isomer.u8)

    def gpu(self):
        return any(device.backend == "cuda" for device in isomer.devices())

    def test_open(self):
        with self.assertRaises(isomer.Invalid):
            isomer.open("openmp", like=np.zeros(1))
        with self.assertRaises(TypeError):
            isomer.open(like="text")
        with self.assertRaisesRegex(isomer.Invalid, "keep 'bit'"):
            isomer.open("openmp", keep="bit")
        with isomer.open(like=np.zeros(1)) as dev:
            self.assertEqual(dev.spec, "openmp:0")
            self.assertIn("openmp", dev.choice)


# What must end without a message, in processes of their own.
PROGRAMS = {
    "objects that outlive their device": """
dev = isomer.open("openmp")
x, s, e = dev.zeros(10), dev.stream(), dev.event()
c, p = dev.csr(([1.0], [0], [0, 1]), (1, 1)), dev.pinned(5)
with s.record() as g:
    x += 1.0
n, view = np.zeros(4), np.from_dlpack(x)
w = dev.asarray(n)
dev.close()
dev.close()
p[0], n[0] = 8, 9
print(repr(x), dev, s)
for one in (lambda: x.tolist(), lambda: s.synchronize(), lambda: dev.zeros(3)):
    try:
        one()
    except isomer.Invalid:
        pass
    else:
        raise SystemExit("no exception")
del x, e, c, g, w, dev
gc.collect()
s.close()
assert view[0] == 0 and p[0] == 8
""",
    "the end of the interpreter": """
dev = isomer.open("openmp")
x, s = dev.zeros((400, 400)), dev.stream()
keep = [x.__dlpack__(), x.__dlpack__(max_version=(1, 0)), np.from_dlpack(x), s.event(), dev.pinned(3)]
y = s.matmul(x, x)
isomer.matmul(np.ones((3, 3)), np.ones((3, 3)))
class Cycle: pass
c = Cycle(); c.me, c.all = c, (x, y, s, dev, keep)
sys.kept = c
threading.local().x = c
""",
    "exit while work runs": """
dev = isomer.open("openmp")
s = dev.stream()
x = dev.full((1500, 1500), 1.0)
y = s.matmul(x, x)
""",
    "fork": """
dev = isomer.open("openmp")
x, s = dev.zeros(1000), dev.stream()
n = np.ones((50, 50))
isomer.matmul(n, n)
child = os.fork()
if child == 0:
    view = x.T
    del view
    try:
        x.tolist()
    except isomer.Invalid:
        pass
    else:
        os._exit(3)
    del x, s
    gc.collect()
    if isomer.matmul(n, n).numpy()[0, 0] != 50:
        os._exit(4)
    with isomer.open("openmp") as other:
        if other.full(3, 2.0).sum().item() != 6:
            os._exit(5)
    dev.close()
    sys.exit(0)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
assert code == 0, code
assert x.sum().item() == 0
""",
    "threads": """
dev = isomer.open("openmp")
def work(k):
    n = np.full((30, 30), float(k))
    for _ in range(50):
        assert isomer.matmul(n, n).numpy()[0, 0] == 30.0 * k * k
        with dev.stream() as s:
            assert (dev.array(n) + n).numpy()[0, 0] == 2.0 * k
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
""",
    "garbage while work runs": """
dev = isomer.open("openmp")
s = dev.stream()
for i in range(100):
    x = s.add(dev.full(100000, 1.0), dev.full(100000, 2.0))
    x = s.scale(x, 2.0)
assert x.sum().item() == 600000
used = dev.memory_use().used
del x
gc.collect()
assert dev.memory_use().used < used
""",
}


class Lives(unittest.TestCase):
    def test_programs(self):
        head = "import gc, os, sys, threading\nimport numpy as np\nimport isomer\n"
        for name, text in PROGRAMS.items():
            with self.subTest(name):
                done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", head + text],
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                      timeout=300, env=dict(os.environ, ISOMER_NUM_THREADS="2"))
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertNotIn("Exception", done.stdout)


if __name__ == "__main__":
    common.main()
