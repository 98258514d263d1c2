#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""labs.py - the rows of the five labs with CuPy, Numba-CUDA and NumPy/SciPy, on the inputs of
`isomer bench --suite labs`: what isomer's figures are compared with.

    python3 bench/peers/labs.py --json peers.json           all rows, on an NVIDIA GPU
    python3 bench/peers/labs.py --rows A2,C5                some of them (A: all of lab A)
    python3 bench/peers/labs.py --long                      also products of 20480, in 300 s
    python3 bench/peers/labs.py --cpu --quick               without a GPU, small: does it run at all?

Each result is checked, against f64 or exactly; a row that fails says so, and the others run. The file has
the schema isomer-labs-peers/1 and is written anew after each entry. Times are in seconds: `kernel` between two
events around the call (short calls in batches), other times by the host's clock with the device idle before
and after. A value is the median of the repetitions, with the least and the greatest; work of over a
second runs once. A5's ratio is copying over wrapping. In B1 and D1 to D3 `time` and `total` are of ten, `product` and
`sums` of one; B1's `error-max` is the largest difference over the largest element. The errors of sums are
relative to the sum of the magnitudes. D4's time over [A; lambda I] includes stacking.

What ends with "as in Numba's guide" has the form of Numba's documentation: neighbouring threads are in
neighbouring rows, and sums are in f64. In the other products they are in neighbouring columns. The rows that
matter most run first, those of NumPy and SciPy last.

It needs NumPy, on a GPU also CuPy; without Numba, PyTorch or SciPy their rows are left out or skipped.
"""
import argparse
import os
import platform
import sys
import time

sys.dont_write_bytecode = True
os.environ["CUPY_TF32"] = "0"  # strict, except where B1 asks for TF32
os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")

try:
    from lab_peers import a_matrix, b_tensor, c_reductions, d_arrays, e_first
    from lab_peers.machine import Gpu, Host, Numba
    from lab_peers.results import File, reason_of, run_tasks
except ModuleNotFoundError as missing:
    if missing.name != "numpy":
        raise
    print("labs.py: NumPy is not here: install python3-numpy", file=sys.stderr)
    sys.exit(77)


class Session:
    """What the rows run on, and at which sizes."""

    def __init__(self, options):
        self.small = options.quick or options.cpu
        self.long = options.long
        self.gpu = None if options.cpu else Gpu()
        self.host = Host(self.gpu)
        self.numba = None
        if self.gpu:
            self.gpu.check_inputs()
            try:
                self.numba = Numba()
            except Exception as why:
                print(f"labs.py: no rows of Numba: {reason_of(why)}", file=sys.stderr)

    def pick(self, full, small):
        return small if self.small else full

    def libraries(self, host_too=True):
        """NumPy's and CuPy's machine; `host_too`: the size suits a processor."""
        if not self.gpu:
            return [self.host]
        return [self.gpu, self.host] if host_too else [self.gpu]


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="A,B,C,D,E", metavar="LIST", help="rows or labs, as in A2,C5,D")
    parser.add_argument("--json", metavar="FILE", help="the file of entries")
    parser.add_argument("--budget", type=float, metavar="SECONDS",
                        help="what would end later is skipped (default 150, with --long 300)")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--long", action="store_true", help="also products of 20480")
    parser.add_argument("--cpu", action="store_true", help="NumPy and SciPy only, small sizes")
    options = parser.parse_args(arguments)
    if options.budget is None:
        options.budget = 300 if options.long else 150
    return options


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} processors"


def main():
    began = time.perf_counter()
    options = options_of(sys.argv[1:])
    rows = options.rows.split(",")
    try:
        session = Session(options)
    except Exception as why:
        sys.exit(f"labs.py: no GPU with CuPy: {reason_of(why)}; --cpu runs without one")
    wanted = [task for lab in (a_matrix, b_tensor, c_reductions, d_arrays, e_first)
              for task in lab.tasks(session) if task.row in rows or task.row[0] in rows]
    if not wanted:
        sys.exit(f"labs.py: --rows {options.rows} names no row that runs here: A1 to A5, B1, C1 to C5, D1 to D5, "
                 "E1 to E4, or a lab's letter")
    file = File(options.json, processor(), session.gpu.name if session.gpu else None)
    failed = run_tasks(wanted, options, file, began)
    print(f"{len(wanted)} entries, {failed} failed, {time.perf_counter() - began:.0f} s"
          + (f", in {options.json}" if options.json else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
