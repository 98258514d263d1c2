# SPDX-License-Identifier: Apache-2.0
"""loading.py - how the library and the tool are found, what an error says, `python -m isomer`, and
isomer.bench. Without NumPy."""
import os
import subprocess
import sys
import tempfile
import unittest

import common

INSTALLED = bool(os.environ.get("ISOMER_TEST_INSTALLED"))


def python(text, **environment):
    env = {key: value for key, value in os.environ.items() if key != "ISOMER_LIBRARY"}
    env.update({key: value for key, value in environment.items() if value is not None})
    return subprocess.run([sys.executable, "-c", text], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120)


class Loading(unittest.TestCase):
    def test_named(self):
        import isomer
        if os.environ.get("ISOMER_LIBRARY"):
            self.assertEqual(isomer.library_path(), os.environ["ISOMER_LIBRARY"])
        self.assertRegex(isomer.version(), r"^\d+\.\d+\.\d+")

    def test_every_path_is_named(self):
        done = python("import isomer; isomer.devices()", ISOMER_LIBRARY="/nowhere/libisomer.so.0")
        self.assertIn("isomer._errors.Unavailable", done.stdout)
        self.assertIn("/nowhere/libisomer.so.0: cannot open", done.stdout)
        self.assertNotIn("_native", done.stdout)
        if not INSTALLED:
            done = python("import isomer; isomer.devices()", LD_LIBRARY_PATH="/nowhere")
            for text in ("_native/lib/libisomer.so.0: cannot", "\n  libisomer.so.0: cannot",
                         "set ISOMER_LIBRARY"):
                self.assertIn(text, done.stdout)

    def test_another_file(self):
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            file.write(b"no library")
            file.flush()
            done = python("import isomer; isomer.devices()", ISOMER_LIBRARY=file.name)
        self.assertIn(file.name, done.stdout)
        done = python("import isomer; isomer.devices()", ISOMER_LIBRARY="libc.so.6")
        self.assertIn("libc.so.6: it is too old for this package", done.stdout)

    def test_import_opens_nothing(self):
        done = python("import isomer; isomer.template(3); print(open('/proc/self/maps').read())",
                      ISOMER_LIBRARY="/nowhere/libisomer.so.0")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotIn("libisomer", done.stdout)

    def test_without_numpy(self):
        text = """
import array, sys
sys.modules["numpy"] = None
import isomer
with isomer.open("openmp") as dev:
    a = dev.array([[1.0, 2.0], [3.0, 4.0]])
    print((a @ a).tolist(), a.sum().item(), repr(a.T), bytes(a[0].tobytes())[:1])
    for value in (array.array("f", [1, 2]), memoryview(b"12"), b"12"):
        try:
            dev.array(value)
        except isomer.Unavailable as error:
            print(type(value).__name__, error)
    for call in (a.numpy, lambda: dev.pinned(3)):
        try:
            call()
        except isomer.Unavailable as error:
            print("no numpy:", error)
"""
        done = python(text, ISOMER_LIBRARY=os.environ.get("ISOMER_LIBRARY"))
        self.assertIn("[[7.0, 10.0], [15.0, 22.0]] 10.0", done.stdout)
        for kind in ("array", "memoryview", "bytes"):
            self.assertRegex(done.stdout, "\n%s array: a %s needs NumPy.*: without NumPy give numbers or "
                             r"\(nested\) lists, or install numpy" % (kind, kind))
        self.assertIn("take tolist() or tobytes(), or install numpy", done.stdout)
        self.assertIn("no numpy: pinned needs NumPy", done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout)


class Tool(unittest.TestCase):
    def tool(self, *arguments, **environment):
        return subprocess.run([sys.executable, "-m", "isomer", *arguments], text=True, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=dict(os.environ, **environment))

    def test_it_is_the_tool(self):
        done = self.tool("info")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("openmp:0", done.stdout)
        self.assertEqual(self.tool("no-such-command").returncode, 2)
        done = self.tool("verify", "--backend", "openmp", "--op", "map", "--dtype", "f32")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_it_is_not_there(self):
        done = self.tool("info", ISOMER_LIBRARY="/nowhere/libisomer.so.0")
        self.assertIn("Tried: /bin/isomer", done.stdout.replace("/nowhere/..", ""))
        self.assertEqual(done.returncode, 1)

    def test_bench(self):
        import isomer
        results = isomer.bench(backend="openmp", op=["gemm", "map"], size=64, dtype="f32", rounds=1,
                               budget=0.2, no_roofs=True)
        self.assertGreater(len(results), 3)
        for row in results.rows:
            if row["status"] == "ok":
                self.assertLess(row["seconds"], 1)
        self.assertEqual(results.devices[0]["backend"], "openmp")
        with self.assertRaisesRegex(isomer.Error, "no_such|no-such"):
            isomer.bench(no_such=1)
        with self.assertRaises(isomer.Unavailable):
            isomer.bench(backend="hip:77", op="gemm")
        try:
            import pandas  # noqa: F401
        except ImportError:
            return
        self.assertIn("gflops", results.to_dataframe().columns)


if __name__ == "__main__":
    common.main()
