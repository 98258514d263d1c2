# SPDX-License-Identifier: Apache-2.0
"""Makes up a results document that has every kind of member of docs/results.md, but few results.
`python3 document.py` prints it."""
import json
import random
import sys

HOST = {"name": "nowhere", "system": "Linux", "release": "6.1", "architecture": "x86_64",
        "cpu": "Model \"A\", rev. 2 | fast", "processors": 4, "memory_bytes": 8 << 30,
        "load": 0.25, "governor": None, "virtual": "kvm"}
BUILD = {"compiler": "gcc 12.2.0", "flags": "-O3", "commit": "0123456789" * 4 + "-dirty",
         "type": "Release"}
SETTINGS = [{"name": "ISOMER_MATH", "value": "strict", "source": "default", "problem": None},
            {"name": "ISOMER_TRACE", "value": "", "source": "environment", "problem": "empty"}]


def run(command):
    made = {"command": command, "version": "0.1.0", "library_version": "0.1.0",
            "time": "2026-01-02T03:04:05Z", "finished": "2026-01-02T03:05:05Z", "complete": True,
            "arguments": ["isomer", command], "suite": "quick", "seed": 1, "budget": 40.0,
            "math": "strict", "rounds": 6, "seconds": 60.5, "host": HOST, "build": BUILD,
            "settings": SETTINGS, "environment": {"CUDA_VISIBLE_DEVICES": "", "OMP_PLACES": "cores"},
            "energy": True, "probe": 3.1e8, "left_out": [{"device": "opencl:0", "reason": "it did not open"}],
            "flags": ["noisy-host"]}
    if command == "against":
        made["against"] = {"this": "a: isomer 0.1.0", "program": "b: isomer 0.1.1"}
    return made


def roof(name, value, source="measured"):
    unit = "GB/s" if name in ("read", "copy") else "GFLOP/s"
    return {"name": name, "unit": unit, "value": value, "low": value * .99, "high": value * 1.01,
            "source": source, "by": "a case"}


def device(spec, name, kind, roofs, fake=False):
    backend, index = spec.split(":")
    telemetry = None
    if kind == "GPU":
        telemetry = {"source": "sensors 1", "clock_mhz": 1500, "clock_max_mhz": 1980,
                     "memory_clock_mhz": None, "power_watts": 120.5, "power_cap_watts": 700.0,
                     "temperature_celsius": 41.0, "busy_percent": 0.0, "ecc": True,
                     "partition": None, "throttle": ["power"]}
    return {"spec": spec, "backend": backend, "index": int(index), "name": name, "vendor": None,
            "uuid": None, "type": kind,
            "tier": "stand-in" if fake else "hardware", "architecture": "a1", "driver": "driver 1",
            "runtime": "runtime 2", "features": ["f64"] + (["fake"] if fake else []),
            "memory_total": 8 << 30, "memory_free": None, "cache_bytes": 1 << 20,
            "local_bytes": 0, "units": 4, "threads": 4, "clock_mhz": 2000,
            "properties": {"BLAS": "a library", "nothing": None}, "fake": fake,
            "open": 2.5e8 if kind == "GPU" else None, "telemetry": telemetry, "roofs": roofs,
            "idle": {"watts": 101.5, "seconds": 5.01, "source": "sensors 1: board", "reason": None}
            if kind == "GPU" else {"watts": None, "seconds": None, "source": None,
                                   "reason": "not measured: a file | is readable by root only"}}


class Maker:
    def __init__(self, seed, scale=1):
        self.random = random.Random(seed)
        self.scale = scale  # multiplies the peaks: larger numbers have more digits
        self.results = []
        self.devices = [
            device("cuda:0", "GPU, \"first\" | 型号", "GPU",
                   [roof("read", 400.0 * scale), roof("copy", 380.0 * scale),
                    roof("fma f32", 6000.0 * scale), roof("matrix f16", 9e4 * scale, "table")]),
            device("hip:0", "Isomer test fake (CPU)", "GPU", [], True),
            device("opencl:1", "a CPU with a rather long name that no column has the width for",
                   "CPU", [roof("copy", 38.0)]),
            device("openmp:0", "CPU", "CPU", [roof("copy", 40.0), roof("fma f32", 380.0)])]

    def times(self, t):
        rounds = [[t * self.random.gauss(1, .01) for _ in range(3)] for _ in range(6)]
        flat = sorted(sum(rounds, []))
        return {"clock": "device", "median": t, "low": t * .99, "high": t * 1.01,
                "confidence": .95, "min": flat[0], "max": flat[-1], "mean": sum(flat) / len(flat),
                "deviation": t * .01, "converged": self.random.random() < .8, "target": .02,
                "stopped": "interval", "samples": rounds, "calls": 4, "host": t * 1.02,
                "submit": 3000.0, "prepare": 5e8, "first": None}

    def add(self, dev, identity, op, kind, variant, dtype, shape, size, layout, work, **more):
        flops, read, written = work
        t = max(2000.0, (read + written) / (40 + 340 * (dev["type"] == "GPU") * self.scale),
                flops / (300 + 5000 * (dev["type"] == "GPU") * self.scale))
        t *= self.random.uniform(1, 3)
        status = more.pop("status", "ok")
        gemm = op == "gemm"
        rate = (flops if gemm else read + written) / t
        under = next((r for r in dev["roofs"] if r["unit"] == ("GFLOP/s" if gemm else "GB/s")), None)

        def rates(amount):
            return amount and {"value": amount / t, "low": amount / t * .99,
                               "high": amount / t * 1.01} or None
        ok = status == "ok"
        result = {
            "id": identity, "op": op, "kind": kind, "variant": variant, "dtype": dtype,
            "shape": shape, "size": size, "layout": layout, "math": "strict", "fill": "uniform",
            "cache": "hot", "backend": dev["backend"], "device": dev["spec"],
            "library": "blas, \"the\" one 1.2" if variant == "vendor" and ok else
            "isomer 0.1.0" if ok else None,
            "kernel": None, "status": status,
            "reason": None if ok else "%s: said\n\"no\", | twice" % status,
            "verified": {"method": "bound", "error": 1e-7, "bound": 1e-5, "checks": 2,
                         "digest": "0123456789abcdef" * 2} if ok or status == "failed" else None,
            "work": {"flops": flops, "bytes_read": read, "bytes_written": written},
            "times": self.times(t) if ok else None,
            "rates": {"gbps": rates(read + written), "gflops": rates(flops)} if ok else None,
            "roof": {"name": under["name"], "unit": under["unit"], "value": under["value"],
                     "percent": 100 * rate / under["value"], "source": under["source"]}
            if ok and under else None,
            "parts": {"copy_in": 1e5, "kernel": t, "copy_out": 5e4, "total": None}
            if ok and gemm else None,
            "clocks": {"mhz_low": 1400.0, "mhz_high": 1500.0, "power_watts": None,
                       "temperature_celsius": 40.0} if ok and dev["type"] == "GPU" else None,
            "energy": {"joules": 400e-9 * t, "watts": 400.0, "seconds": 5.02, "calls": 7,
                       "gflop_per_joule": flops / (400 * t) if flops else None,
                       "gb_per_joule": (read + written) / (400 * t), "source": "sensors 1: board",
                       "reason": None} if ok and dev["type"] == "GPU" and variant == "tiled" else None,
            "flags": (["fake"] if dev["fake"] else []) +
            (["in-cache"] if self.random.random() < .3 else []) if ok else []}
        result.update(more)
        self.results.append(result)

    def fill(self):
        for dev in self.devices:
            for n in (1 << 16, 1 << 24):
                for move, variant in (("write", "pageable"), ("write", "pinned"), ("copy", "device")):
                    self.add(dev, "transfer/%s/%s/%d/uniform/hot" % (move, variant, n), "transfer",
                             move, variant, None, {"bytes": n}, n, {},
                             (0, n, n if move == "copy" else 0))
            for kind in ("copy", "triad"):
                for variant in ("naive", "tiled"):
                    n = 1 << 20
                    self.add(dev, "stream/%s/%s/f32/%d/uniform/hot" % (kind, variant, n), "stream",
                             kind, variant, "f32", {"elements": n}, n, {},
                             (0 if kind == "copy" else 2 * n, 8 * n, 4 * n))
            self.add(dev, "stream/chain/tiled/f64/4096/uniform/hot", "stream", "chain", "tiled",
                     "f64", {"elements": 4096, "steps": 64}, 4096, {}, (1 << 19, 1 << 15, 1 << 15))
            self.add(dev, "transpose/tiled/e4/100x70/uniform/cold", "transpose", None, "tiled",
                     "e4", {"rows": 100, "cols": 70}, 70, {}, (0, 28000, 28000), cache="cold")
            self.add(dev, "reduce/sum/tiled/f32/1048576/uniform/hot", "reduce", "sum", "tiled",
                     "f32", {"elements": 1 << 20}, 1 << 20, {"axis": "all"}, (1 << 20, 1 << 22, 4))
            self.add(dev, "reduce/sum/tiled/f32/10x20/axis-1/uniform/hot", "reduce", "sum", "tiled",
                     "f32", {"rows": 10, "cols": 20}, 200, {"axis": "1"}, (200, 800, 40))
            for n in (64, 1000, 4096):
                for variant in ("naive", "tiled", "vendor"):
                    status = "ok"
                    if variant == "vendor" and dev["fake"]:
                        status = "unsupported"
                    if variant == "naive" and n == 4096:
                        status = "failed" if dev["spec"] == "cuda:0" else "error"
                    self.add(dev, "gemm/%s/f32/%dx%dx%d/nt/strict/uniform/hot" % (variant, n, n, n),
                             "gemm", None, variant, "f32", {"m": n, "n": n, "k": n, "batch": 1}, n,
                             {"trans_a": "n", "trans_b": "t"}, (2 * n ** 3, 8 * n * n, 4 * n * n),
                             status=status)


def document(seed=1, command="bench", scale=1):
    maker = Maker(seed, scale)
    maker.fill()
    root = {"schema": "isomer-results/1", "run": run(command), "devices": maker.devices,
            "results": maker.results}
    if command == "against":
        first = maker.results[0]
        root["pairs"] = [{
            "id": first["id"], "device": first["device"], "backend": first["backend"],
            "library": first["library"], "library_b": None, "status_b": "ok", "reason_b": None,
            "a": 1000.0, "b": 1100.0, "ratio": 1.1, "low": 1.05, "high": 1.15, "p": .01,
            "pairs": [1.1, 1.05, 1.15], "verdict": "SLOWER"}]
    return root


if __name__ == "__main__":
    json.dump(document(*(int(x) for x in sys.argv[1:2]), *sys.argv[2:3]), sys.stdout, indent=1)
