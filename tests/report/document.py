#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A made-up results document (docs/results.md) on stdout.

document.py [--seed N] [--sizes N] [--samples N] [--evil] [--fake] [--interrupted] [--none] [--verify]
"""
import argparse
import json
import random

EVIL = "</script><b>\"'&$(x)`{}\\ %s %d</title>é"


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sizes", type=int, default=3)
    parser.add_argument("--samples", type=int, default=4)
    for flag in ("evil", "fake", "interrupted", "none", "verify"):
        parser.add_argument("--" + flag, action="store_true")
    return parser.parse_args()


wanted = arguments()
random.seed(wanted.seed)


def text(plain):
    return EVIL + plain if wanted.evil else plain


def roof(name, unit, value, source="measured"):
    return dict(name=name, unit=unit, value=value, low=value * 0.99, high=value * 1.01,
                source=source, by=text("x"))


def device(spec, kind, gb, gf):
    return dict(spec=spec, backend=spec.split(":")[0], index=0, name=text("Device " + spec),
                vendor=text("Maker"), uuid="", architecture="", driver=text("1.0"), runtime="",
                type=kind, memory_total=1 << 34, cache_bytes=1 << 25, units=8, clock_mhz=2000,
                fake=wanted.fake, telemetry={text("power"): 100.5}, properties={text("BLAS"): text("B")},
                features=["f64"],
                roofs=[roof("read", "GB/s", gb), roof("copy", "GB/s", gb * 0.95),
                       roof("fma f32", "GFLOP/s", gf), roof("fma f64", "GFLOP/s", gf / 2),
                       roof("matrix f16", "GFLOP/s", gf * 8, "table")])


devices = [device("cuda:0", "GPU", 4000, 60000), device("openmp:0", "CPU", 40, 400)]
results = []


def times(median):
    rounds = [[median * random.gauss(1, 0.01) for _ in range(wanted.samples)] for _ in range(6)]
    flat = sorted(x for r in rounds for x in r)
    return dict(clock="device", median=median, low=median * 0.99, high=median * 1.01,
                confidence=0.95, min=flat[0], max=flat[-1], mean=sum(flat) / len(flat),
                deviation=median * 0.01, converged=True, target=0.02, stopped="interval",
                samples=rounds, calls=4, host=median * 1.02, submit=3000.0, prepare=5e8,
                first=median * 3)


def rate(value):
    return dict(value=value, low=value * 0.99, high=value * 1.01)


def add(where, op, kind, variant, dtype, shape, size, work, status="ok", flags=(), parts=False):
    flops, read, written = work
    moved = read + written
    roofs = {r["name"]: r for r in where["roofs"]}
    named = roofs["fma " + dtype] if op == "gemm" else roofs["copy"]
    speed = (flops if op == "gemm" else moved) / named["value"]
    median = max(speed / random.uniform(0.3, 0.95), 2000)
    value = (flops if op == "gemm" else moved) / median
    good = status == "ok"
    library = text("LibBLAS 1.0") if variant == "vendor" else "isomer 0.1.0"
    results.append(dict(
        id="/".join(str(x) for x in (op, kind, variant, dtype, size, "uniform", "hot")), op=op,
        kind=kind, variant=variant, dtype=dtype, shape=shape, size=size, layout={}, math="strict",
        fill="uniform", cache="hot", backend=where["backend"], device=where["spec"],
        library=library, kernel="k", status=status, reason=None if good else text("no such thing"),
        verified=dict(method="bits", error=0, bound=0, checks=2, digest=None) if good else None,
        work=dict(flops=flops, bytes_read=read, bytes_written=written),
        times=times(median) if good else None,
        rates=dict(gbps=rate(moved / median), gflops=rate(flops / median) if flops else None)
        if good else None,
        roof=dict(name=named["name"], unit=named["unit"], value=named["value"],
                  percent=100 * value / named["value"], source="measured")
        if good and op != "transfer" else None,
        parts=dict(copy_in=median / 3, kernel=median, copy_out=median / 5, total=median * 1.6)
        if good and parts else None,
        clocks=dict(mhz_low=1900, mhz_high=1980, power_watts=300, temperature_celsius=50)
        if good else None, flags=list(flags)))


for where in devices:
    failing = "failed" if wanted.none else "ok"
    for kind, operands, flops in (("copy", 2, 0), ("triad", 3, 2)):
        n = 1 << 26
        for variant in ("naive", "tiled"):
            add(where, "stream", kind, variant, "f32", dict(elements=n), n,
                (flops * n, (operands - 1) * n * 4, n * 4), failing, ("noisy",))
    for step in range(wanted.sizes):
        n = 256 << step if wanted.sizes < 9 else 16 * (step + 1)
        for variant in ("naive", "tiled", "vendor"):
            add(where, "gemm", None, variant, "f32", dict(m=n, n=n, k=n, batch=1), n,
                (2 * n ** 3, 8 * n * n, 4 * n * n), failing, parts=variant == "tiled")
        add(where, "transfer", "write", "pinned", None, dict(bytes=n * 1024), n * 1024,
            (0, n * 1024, 0), failing)
    add(where, "gemm", None, "vendor", "f64", dict(m=9999, n=9999, k=9999, batch=1), 9999,
        (2e12, 1e9, 1e9), "unsupported")

run = dict(command="verify" if wanted.verify else "bench", version="0.1.0",
           library_version="0.1.0", time="2026-11-21T17:20:00Z", finished="2026-11-21T17:21:00Z",
           complete=not wanted.interrupted, arguments=["isomer", text("bench")], suite="quick",
           seed=1, budget=60, math="strict", rounds=6, seconds=61.5,
           host=dict(name=text("host"), system="Linux", release="6.1", architecture="x86_64",
                     cpu=text("Processor"), processors=2, memory_bytes=1 << 34, load=0.1,
                     governor=None, virtual=None),
           build=dict(compiler="gcc", flags="-O3", commit=None, type="Release"),
           settings=[dict(name="ISOMER_MATH", value=text("strict"), source="environment",
                          problem="")],
           environment={text("OMP_PLACES"): text("cores")},
           flags=["interrupted"] if wanted.interrupted else [])
print(json.dumps(dict(schema="isomer-results/1", run=run, devices=devices, results=results)))
