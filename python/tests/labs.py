# SPDX-License-Identifier: Apache-2.0
"""labs.py - the labs in Python, with small sizes: each program, and each notebook's cells in order in
one namespace, without Jupyter; and their results beside those of the C labs."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import common

np = common.need("numpy", "python3-numpy")
FOLDER = os.path.join(common.SOURCE, "examples", "python")
C_LABS = os.path.join(os.environ.get("ISOMER_TEST_BUILD", ""), "tests", "examples", "labs")
LABS = ("a_matrix", "b_tensor", "c_reductions", "d_arrays", "e_first")
# Runs the cells of a notebook; what is named after it is saved.
CELLS = """
import json, sys, numpy
scope = {"__name__": "__main__"}
for cell in json.load(open(sys.argv[1], encoding="utf-8"))["cells"]:
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), sys.argv[1], "exec"), scope)
for name in sys.argv[3:]:
    value = scope[name]
    if isinstance(value, dict):
        for key, part in value.items():
            numpy.save("%s/%s-%s.npy" % (sys.argv[2], name, key), numpy.array(part, "f8"))
    else:
        numpy.save("%s/%s.npy" % (sys.argv[2], name), value)
"""


def run(*command, cwd=FOLDER):
    environment = dict(os.environ, ISOMER_LABS_SMALL="1", ISOMER_BACKEND="openmp")
    done = subprocess.run(command, cwd=cwd, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=900)
    assert done.returncode == 0, done.stdout
    return done.stdout


def numbers(text, begin):
    """The numbers of the line that begins so, and of the lines of numbers after it."""
    found, on = [], False
    for line in text.split("\n"):
        if line.startswith(begin):
            on, line = True, line[len(begin):]
        elif not on or not line.strip() or line.strip()[0] not in "[-0123456789":
            if on:
                break
            continue
        for word in line.replace("[", " ").replace("]", " ").split():
            try:
                found.append(float(word))
            except ValueError:
                pass
    return found


class Labs(unittest.TestCase):
    def test_programs(self):
        for lab in LABS:
            with self.subTest(lab):
                self.assertIn("Device openmp:0", run(sys.executable, "-B", lab + ".py", "--small"))

    def test_cells(self):
        for lab in LABS:
            with self.subTest(lab), tempfile.TemporaryDirectory() as folder:
                out = run(sys.executable, "-B", "-c", CELLS, lab + ".ipynb", folder)
                self.assertNotIn("left out", out)

    def test_notebooks_have_no_output(self):
        for lab in LABS:
            with open(os.path.join(FOLDER, lab + ".ipynb"), encoding="utf-8") as file:
                book = json.load(file)
            self.assertEqual(book["nbformat"], 4)
            for cell in book["cells"]:
                self.assertEqual(cell.get("outputs", []), [])

    def c_lab(self, name, *arguments, cwd):
        program = os.path.join(C_LABS, name)
        if not os.path.exists(program):
            self.skipTest("the C labs are not built: %s" % program)
        return run(program, "--small", *arguments, cwd=cwd)

    def test_sums_and_products_of_the_c_labs(self):
        with tempfile.TemporaryDirectory() as folder:
            theirs = self.c_lab("c_reductions", cwd=folder)
            mine = run(sys.executable, "-B", "c_reductions.py", "--small")
            for name in ("  sum_512_f32", "  sum_192_f32"):
                self.assertEqual(numbers(theirs, name)[:3], numbers(mine, name.strip())[:3])
            theirs = self.c_lab("b_tensor", cwd=folder)
            mine = run(sys.executable, "-B", "b_tensor.py", "--small")
            for name in ("A as TF32 has it", "B as TF32 has it", "A B in f64"):
                wanted = numbers(theirs, name)
                self.assertEqual(len(wanted), 9, theirs)
                self.assertEqual(wanted, numbers(mine, name))
            np.testing.assert_allclose(numbers(mine, "A B in f32, strict"),
                                       numbers(theirs, "A B in f32, strict"), 3e-7)

    def test_fields_and_curves_of_the_c_lab(self):
        with tempfile.TemporaryDirectory() as folder:
            self.c_lab("d_arrays", "--dump", folder, cwd=folder)
            run(sys.executable, "-B", "-c", CELLS, "d_arrays.ipynb", folder, "curve", "before", "after",
                "laplacian")
            for name in ("before", "after", "laplacian"):
                wanted = np.fromfile(os.path.join(folder, name + ".f32"), "f4")
                got = np.load(os.path.join(folder, name + ".npy"))
                self.assertEqual(wanted.tobytes(), got.tobytes(), name)
            for kind, tolerance in (("f4", 2e-3), ("f8", 2e-3)):
                wanted = np.fromfile(os.path.join(folder, "curve-f%d" % (8 * int(kind[1]))))
                got = np.load(os.path.join(folder, "curve-%s.npy" % kind))
                np.testing.assert_allclose(got[:, :3], wanted.reshape(10, 4)[:, :3], tolerance)


if __name__ == "__main__":
    if not (os.environ.get("ISOMER_TEST_CC") or shutil.which("cc")) or not shutil.which("cc"):
        common.skip("no C compiler is here: install gcc")
    common.main()
