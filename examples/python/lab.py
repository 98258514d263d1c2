# SPDX-License-Identifier: Apache-2.0
"""lab.py - what the labs share: the inputs, which are those of the C labs, times, and words."""
import os
import pathlib
import shutil
import sys
import time

import isomer
import numpy as np

SEED_A, SEED_B, SEED_SPARSE, SEED_RIGHT = 1, 2, 3, 5
KERNELS = pathlib.Path(os.environ.get("ISOMER_LABS") or
                       pathlib.Path(__file__).resolve().parent.parent / "labs")
SMALL = "--small" in sys.argv or os.environ.get("ISOMER_LABS_SMALL") == "1"


def open_device(spec=None):
    """A device. A CPU compiles the labs' kernels with the C compiler that ISOMER_CC names."""
    compiler = shutil.which("cc")
    if compiler:
        os.environ.setdefault("ISOMER_CC", os.path.realpath(compiler))
    dev = isomer.open(spec)
    print("Device %s: %s" % (dev.spec, dev.name))
    if dev.info.features & {"fake", "simulated"}:
        print("It is a stand-in for tests: the results are right, but its times mean nothing.")
    return dev


def size(dev, small, cpu, gpu):
    """One of three sizes: for a test (--small), for a CPU, for a GPU."""
    return small if SMALL else gpu if dev.is_gpu else cpu


def kernels(dev, name):
    """The kernels of a C lab, or None where this device cannot compile them."""
    try:
        return isomer.kernel(KERNELS / name, dev)
    except isomer.Unsupported as reason:
        print("The lab's own kernels are left out: %s" % reason)
        return None


# ---- inputs

def bits(seed, index):
    """64 random bits for each index; numbers.h has the same in C."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + \
            np.asarray(index, np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z ^= z >> np.uint64(30)
        z *= np.uint64(0xBF58476D1CE4E5B9)
        z ^= z >> np.uint64(27)
        z *= np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


def uniform(seed, index):
    """In [-1, 1), with 24 bits: exact in f32."""
    return (bits(seed, index) >> np.uint64(40)) * 2.0**-23 - 1


def random(shape, dtype, seed):
    """An array with the numbers of a seed."""
    return uniform(seed, np.arange(np.prod(shape))).astype(dtype).reshape(shape)


def normal(seed, count):
    """About a normal distribution with mean 3 and deviation 1."""
    parts = (bits(seed, np.arange(12 * count)) >> np.uint64(40)) * 2.0**-24
    return 3 + parts.reshape(count, 12).sum(1) - 6


# ---- times

def seconds(dev, work, repeats=3):
    """The median time of some work on the device's clock. The first run is not counted."""
    stream, samples = dev.stream_for(None), []
    for _ in range(repeats + 1):
        start = stream.event()
        work()
        stop = stream.event()
        stop.synchronize()
        samples.append(stop.seconds_since(start))
    return sorted(samples[1:])[(repeats - 1) // 2]


def host_seconds(work, repeats=5):
    """The median time of some work as the host sees it."""
    samples = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        work()
        samples.append(time.perf_counter() - start)
    return sorted(samples[1:])[(repeats - 1) // 2]


# ---- words

def scaled(value, unit):
    """A number with three digits and the prefix that suits it: 1.23 ms, 45.6 GB/s."""
    for power, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""),
                          (1e-3, "m"), (1e-6, "u"), (1e-9, "n")):
        if abs(value) >= 0.9995 * power or power == 1e-9:
            return "%.3g %s%s" % (value / power, prefix, unit)


def rate(work, time_taken, unit):
    """Work a second."""
    return scaled(work / time_taken, unit)


def check(right, text, *values):
    """Ends the lab if a result is not what it should be."""
    if not right:
        raise SystemExit("WRONG: " + text % values)
