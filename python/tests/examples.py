# SPDX-License-Identifier: Apache-2.0
"""examples.py BACKEND: power.py and mlp.py print the digests of the C programs on a backend, or on its
stand-in, and they are short. The digests are those that tests/examples/CMakeLists.txt wants of C."""
import os
import re
import subprocess
import sys
import unittest

import common

FOLDER = os.path.join(common.SOURCE, "examples", "python")
BACKEND = sys.argv.pop(1) if len(sys.argv) > 1 else "openmp"
STAND_INS = {"cuda": "ISOMER_CUDA_PATH", "hip": "ISOMER_ROCM_PATH"}


def environment():
    made = dict(os.environ, ISOMER_BACKEND=BACKEND)
    if BACKEND in STAND_INS:
        build = os.environ.get("ISOMER_TEST_BUILD", os.path.join(common.SOURCE, "build/release"))
        made[STAND_INS[BACKEND]] = os.path.join(build, "tests/fakes", BACKEND)
    return made


def digest_of_c(name):
    with open(os.path.join(common.SOURCE, "tests/examples/CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r'isomer_digest_test\(%s "(.*?)"' % name, file.read()).group(1)


class Examples(unittest.TestCase):
    def test_digests(self):
        for name in ("power", "mlp"):
            with self.subTest(name):
                done = subprocess.run([sys.executable, "-B", name + ".py"], cwd=FOLDER, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      env=environment())
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(digest_of_c(name), done.stdout)

    def test_they_are_short_and_do_not_wait(self):
        for name in ("power", "mlp"):
            with open(os.path.join(FOLDER, name + ".py"), encoding="utf-8") as file:
                text = file.read()
            self.assertLess(text.count("\n"), 31)
            loop = re.search(r"\n    for .*?(?=\n    \S)", text, re.S).group(0)
            self.assertNotRegex(loop, r"item|tolist|numpy|float\(|synchronize")


def why_not():
    """Why the backend cannot be used here; "" if it can."""
    done = subprocess.run([sys.executable, "-B", "-c", "import isomer; isomer.open().close()"],
                          stderr=subprocess.PIPE, text=True, env=environment())
    return done.stderr.strip().split("\n")[-1] if "isomer._errors.Unavailable" in done.stderr else ""


if __name__ == "__main__":
    missing = why_not()
    if missing and BACKEND not in re.split(r"\W+", os.environ.get("ISOMER_REQUIRE", "")):
        common.skip(missing)
    common.main()
