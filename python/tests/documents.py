# SPDX-License-Identifier: Apache-2.0
"""documents.py - the samples of docs/python.md run and print what they say, the examples in docstrings
too, the notebooks are those of the programs, and the types of the package are right (mypy)."""
import ast
import contextlib
import doctest
import importlib
import io
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import unittest

import common

np = common.need("numpy", "python3-numpy")
import isomer  # noqa: E402

COMPILER = os.environ.get("ISOMER_TEST_CC") or shutil.which("cc")
EXAMPLES = os.path.join(common.SOURCE, "examples", "python")


def samples(page, kind):
    with open(os.path.join(common.SOURCE, "docs", page), encoding="utf-8") as file:
        return re.findall(r"^```python%s\n(.*?)^```$" % kind, file.read(), re.M | re.S)


def run(text, scope):
    """Runs a sample; (what it printed, what it says it prints)."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, "docs/python.md", "exec"), scope)
    return out.getvalue().split("\n")[:-1], re.findall(r"# prints (.*)$", text, re.M)


class Documents(unittest.TestCase):
    def test_samples(self):
        blocks, scope = samples("python.md", ""), {}
        self.assertGreater(len(blocks), 8)
        for text in blocks:
            with self.subTest(text.split("\n")[0]):
                self.assertEqual(*run(text, scope))

    def test_kernel(self):
        if not COMPILER:
            self.skipTest("no C compiler is here: install gcc")
        os.environ["ISOMER_CC"] = os.path.realpath(COMPILER)
        try:
            for text in samples("python.md", " kernel"):
                self.assertEqual(*run(text, {"isomer": isomer, "np": np}))
        finally:
            del os.environ["ISOMER_CC"]

    def test_a_wrong_sample_is_seen(self):
        got, wanted = run("print(1 + 1)  # prints 3\n", {})
        self.assertNotEqual(got, wanted)

    def test_samples_for_a_gpu_are_python(self):
        self.assertTrue(samples("python.md", " gpu"))
        for text in samples("python.md", " gpu"):
            compile(text, "docs/python.md", "exec")

    def test_docstrings(self):
        tried = 0
        for module in pkgutil.iter_modules(isomer.__path__, "isomer."):
            if module.name != "isomer.__main__":
                found = doctest.testmod(importlib.import_module(module.name))
                self.assertEqual(found.failed, 0, module.name)
                tried += found.attempted
        self.assertGreater(tried, 25)

    def test_every_public_name_has_a_docstring(self):
        for name in isomer.__all__:
            with self.subTest(name):
                self.assertTrue(getattr(isomer, name).__doc__)
        for kind in (isomer.Array, isomer.Device, isomer.Stream, isomer.Operation, isomer.CSR,
                     isomer.Event, isomer.Graph, isomer.Kernel):
            for name, value in vars(kind).items():
                if not name.startswith("_") and (callable(value) or isinstance(value, property)):
                    with self.subTest("%s.%s" % (kind.__name__, name)):
                        inside = ("device", "handle", "keep", "pick", "stream_for", "use", "finish",
                                  "borrow", "operand", "look")
                        self.assertTrue(value.__doc__ or name in inside)

    def test_notebooks(self):
        done = subprocess.run([sys.executable, os.path.join(EXAMPLES, "notebooks.py"), "--check"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_python_3_9_can_read_it(self):
        folder = os.path.dirname(isomer.__file__)
        for name in os.listdir(folder):
            if name.endswith(".py"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    ast.parse(file.read(), name, feature_version=(3, 9))

    def test_types(self):
        tool = [sys.executable, "-m", "mypy"]
        if subprocess.run(tool + ["--version"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode:
            self.skipTest("mypy is not here: pip install mypy")
        done = subprocess.run(tool + ["--strict", "--no-incremental", "isomer"],
                              cwd=os.path.join(common.SOURCE, "python"), stdout=subprocess.PIPE,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    common.main()
