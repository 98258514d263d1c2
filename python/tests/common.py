# SPDX-License-Identifier: Apache-2.0
"""common.py - what the tests of the package share: where it is, and skips."""
import os
import sys
import unittest

SOURCE = os.environ.get("ISOMER_TEST_SOURCE") or \
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
if os.environ.get("ISOMER_TEST_LIBRARY"):
    os.environ["ISOMER_LIBRARY"] = os.environ["ISOMER_TEST_LIBRARY"]
if not os.environ.get("ISOMER_TEST_INSTALLED"):  # else the package of a wheel is tested
    sys.path.insert(0, os.path.join(SOURCE, "python"))
    os.environ["PYTHONPATH"] = os.path.join(SOURCE, "python")
for name in ("BACKEND", "MATH", "KEEP", "MEMORY_LIMIT", "CPU_ISA", "NUM_THREADS", "TILES", "BLAS", "CC"):
    os.environ.pop("ISOMER_" + name, None)
os.environ["ISOMER_TUNED"] = "off"
os.environ.setdefault("ISOMER_CACHE_DIR", "off")


def skip(why):
    print("SKIP: " + why)
    sys.exit(77)


def need(module, package):
    """The module; the test is skipped by name if it is missing, and fails in CI."""
    try:
        return __import__(module)
    except ImportError as error:
        if os.environ.get("ISOMER_REQUIRE_TOOLS"):
            sys.exit("FAIL: %s is required and not here: install %s" % (module, package))
        skip("%s: install %s" % (error, package))


def main():
    """Runs the tests of the calling file. Nothing run is a failure."""
    program = unittest.main(argv=[sys.argv[0], "-v"] + sys.argv[1:], exit=False)
    result = program.result
    if result.wasSuccessful() and result.testsRun == len(result.skipped):
        print("SKIP: " + "; ".join(sorted({why for _, why in result.skipped})) or "no tests")
        sys.exit(77 if result.skipped else 1)
    sys.exit(0 if result.wasSuccessful() else 1)
