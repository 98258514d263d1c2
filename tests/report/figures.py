#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""figures.py document: a small results document whose figures are easy to compute by hand
figures.py many: one with 20,000 sizes
figures.py small DIR: its data is as computed
figures.py svg DIR: every SVG is well-formed and loads nothing
figures.py devices DIR COUNT: the data has that many devices
figures.py words BBOX NAME: no word of a PDF is smaller than 7 pt, and none is cut off"""
import csv
import glob
import json
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

# N, nanoseconds and limit in GFLOP/s of a product: at N = 256 its rate is 2 * 256^3 / 65536 = 512
SIZES = ((256, 65536.0), (512, 262144.0), (1024, 1048576.0))
ROOF = 4096.0


def check(condition, what):
    if not condition:
        sys.exit("FAIL: " + what)


def product(n, time, flags=()):
    flops = 2.0 * n ** 3
    rate = flops / time
    return dict(
        id="gemm/tiled/f32/%d" % n, op="gemm", kind=None, variant="tiled", dtype="f32",
        shape=dict(m=n, n=n, k=n, batch=1), size=n, layout=dict(trans_a="n", trans_b="n"),
        math="strict", fill="uniform", cache="hot", backend="x", device="x:0",
        library="isomer 0.1.0", kernel=None, status="ok", reason=None,
        verified=dict(method="bits", error=0, bound=0, checks=2, digest=None),
        work=dict(flops=flops, bytes_read=8.0 * n * n, bytes_written=4.0 * n * n),
        times=dict(clock="host", median=time, low=time / 2, high=time * 2, confidence=0.95,
                   min=time, max=time, mean=time, deviation=0, converged=True, target=0.02,
                   stopped="interval", samples=[[time]], calls=1, host=time, submit=0, prepare=0,
                   first=time),
        rates=dict(gbps=dict(value=1, low=1, high=1),
                   gflops=dict(value=rate, low=rate / 2, high=rate * 2)),
        roof=dict(name="fma f32", unit="GFLOP/s", value=ROOF, percent=100.0 * rate / ROOF,
                  source="measured"),
        parts=dict(copy_in=time, kernel=2 * time, copy_out=time, total=4 * time),
        energy=dict(joules=flops / 1e11, watts=250, seconds=5, calls=9, gflop_per_joule=100.0,
                    gb_per_joule=2.0, source="a counter", reason=None),
        clocks=None, flags=list(flags))


def document(products):
    roofs = [dict(name=name, unit=unit, value=value, low=value, high=value, source="measured",
                  by="x") for name, unit, value in (("copy", "GB/s", 512.0),
                                                    ("fma f32", "GFLOP/s", ROOF))]
    device = dict(spec="x:0", backend="x", index=0, name="Device", vendor="", uuid="",
                  architecture="", driver="", runtime="", type="CPU", memory_total=1, cache_bytes=1,
                  units=1, clock_mhz=1, fake=False, telemetry=None, properties={}, features=[],
                  roofs=roofs)
    run = dict(command="bench", version="0.1.0", library_version="0.1.0",
               time="2026-11-21T17:20:00Z", finished="2026-11-21T17:21:00Z", complete=True,
               arguments=[], suite="quick", seed=1, budget=60, math="strict", rounds=6, seconds=1,
               host=dict(name="h", system="", release="", architecture="", cpu="c", processors=1,
                         memory_bytes=1, load=0, governor=None, virtual=None),
               build=dict(compiler="", flags="", commit=None, type=""), settings=[],
               environment={}, flags=[])
    print(json.dumps(dict(schema="isomer-results/1", run=run, devices=[device], results=products)))


def table(folder, name):
    with open(os.path.join(folder, name), newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    check(rows[0] == ["figure", "panel", "series", "device", "variant", "x", "y", "low", "high"],
          "%s: columns %s" % (name, rows[0]))
    return [row[2:5] + [row[5]] + [float(v) if v else None for v in row[6:]] for row in rows[1:]]


def same(name, rows, wanted):
    rows, wanted = sorted(rows, key=str), sorted(wanted, key=str)
    check(rows == wanted, "%s has\n%s\nand not\n%s" % (name, rows, wanted))


def small(folder):
    rates = [(n, 2.0 * n ** 3 / time * 1e9) for n, time in SIZES]
    limit = ["limit", "x:0", "fma f32 4.10 TFLOP/s"]
    wanted = [["measured", "x:0", "tiled", str(n), r, r / 2, r * 2] for n, r in rates]
    wanted += [limit + [str(n)] + [ROOF * 1e9] * 3 for n, _ in rates]
    same("rate-gemm", table(folder, "rate-gemm.csv"), wanted)
    # The best is its own measure; its limit is 4096 / 2048 = 2 times as high. N = 256 takes least.
    same("overview", table(folder, "overview.csv"),
         [["measured", "x:0", "fastest variant", "Products, f32", 1.0, 0.5, 2.0],
          ["measured", "x:0", "fastest variant", "Shortest call", 1.0, 0.5, 2.0],
          ["limit", "x:0", "limit", "Products, f32", 2.0, 2.0, 2.0]])
    row = "gemm f32, N = 1024, tiled"
    same("split", table(folder, "split.csv"),
         [["measured", "x:0", "copy in", row, 25.0, 0.0, 25.0],
          ["measured", "x:0", "kernel", row, 50.0, 25.0, 75.0],
          ["measured", "x:0", "copy out", row, 25.0, 75.0, 100.0]])
    same("energy", table(folder, "energy.csv"), [["measured", "x:0", "tiled", row, 1e11, None, None]])
    # 2 * 1024^3 FLOP for 12 * 1024^2 bytes; 4096 / 512 = 8 FLOP/byte is where the limits meet.
    intensity = 2048.0 / 12.0
    points = [r for r in table(folder, "roofline.csv") if r[0] == "measured"]
    check(len(points) == 1 and abs(float(points[0][3]) / intensity - 1) < 1e-6, str(points))
    check(points[0][4] == 2048e9, str(points))
    ends = [float(r[3]) for r in table(folder, "roofline.csv") if r[0] == "limit"]
    check(ends.count(8.0) == 2, "the limits meet elsewhere: %s" % ends)
    check(sorted(os.listdir(folder)) == ["energy.csv", "overview.csv", "rate-gemm.csv",
                                         "roofline.csv", "split.csv"], str(os.listdir(folder)))


def inside(path, width, height):
    """Whether all places of a path lie in the drawing."""
    x = y = 0.0
    for command, rest in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        numbers = [float(n) for n in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", rest)]
        lower = command.islower()
        if command in "Hh" or command in "Vv":
            along = command in "Hh"
            x = (x if lower else 0) + numbers[0] if along else x
            y = y if along else (y if lower else 0) + numbers[0]
        elif command == "a":
            x, y = x + numbers[5], y + numbers[6]
        else:
            check(command in "MmLlz" and len(numbers) % 2 == 0, "a path has " + command + rest)
            for dx, dy in zip(numbers[::2], numbers[1::2]):
                # pairs after M are absolute, after m relative
                x, y = (x + dx, y + dy) if lower else (dx, dy)
                if not (-1 <= x <= width + 1 and -1 <= y <= height + 1):
                    return False
        if not (-1 <= x <= width + 1 and -1 <= y <= height + 1):
            return False
    return True


def svg(folder):
    files = glob.glob(os.path.join(folder, "*.svg"))
    check(len(files) >= 8, "only %s" % files)
    for name in files:
        text = open(name, encoding="utf-8").read()
        tree = ElementTree.fromstring(text)
        tags = {element.tag.split("}")[1] for element in tree.iter()}
        check(tags <= {"svg", "title", "desc", "style", "path", "text"}, "%s has %s" % (name, tags))
        check(tree.get("role") == "img" and len(tree[0].text) > 3 and len(tree[1].text) > 3, name)
        box = [float(n) for n in tree.get("viewBox").split()]
        for element in tree.iter("{http://www.w3.org/2000/svg}path"):
            check(inside(element.get("d"), box[2], box[3]), "%s: %s" % (name, element.get("d")))
        check("url(" not in text and "nan" not in re.sub(r">[^<]*<", "><", text), name)


def words(name, shown):
    page = open(name, encoding="utf-8").read()
    width, height = map(float, re.search(r'<page width="([\d.]+)" height="([\d.]+)"', page).groups())
    check(abs(width - 244.8) < 0.1 or abs(width - 504) < 0.1, "%s is %g wide" % (shown, width))
    for box in re.findall(r'<word xMin="(.*?)" yMin="(.*?)" xMax="(.*?)" yMax="(.*?)">', page):
        left, top, right, bottom = map(float, box)
        check(left > -0.5 and right < width + 0.5 and top > -1 and bottom < height + 1,
              "%s: a word is cut off at %s" % (shown, box))
        # A line is 1.13 to 1.17 times as high as its text is large; a turned one is as wide.
        check(max(bottom - top, right - left) >= 7.9, "%s: a word under 7 pt: %s" % (shown, box))


if sys.argv[1] == "document":
    # the last has an invalid number, which is not drawn
    document([product(n, time) for n, time in SIZES] + [product(2048, 1.0, ["clock-wrong"])])
elif sys.argv[1] == "many":
    document([product(256 + i, 65536.0 + i * 97 % 4096) for i in range(20000)])
elif sys.argv[1] == "small":
    small(sys.argv[2])
elif sys.argv[1] == "svg":
    svg(sys.argv[2])
elif sys.argv[1] == "devices":
    rows = table(sys.argv[2], "rate-gemm.csv")
    check(len({row[1] for row in rows}) == int(sys.argv[3]), str({row[1] for row in rows}))
else:
    words(sys.argv[2], sys.argv[3])
