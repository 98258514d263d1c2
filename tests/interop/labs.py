# SPDX-License-Identifier: Apache-2.0
"""labs.py - bench/peers/labs.py without a GPU: its inputs against their definition in whole numbers, its
rows with NumPy and SciPy at small sizes and the file that they make, and, where Numba is installed, its kernels
in Numba's simulator."""
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    print("SKIP: NumPy is not here: install python3-numpy")
    sys.exit(77)

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "peers")
sys.path.insert(0, FOLDER)
os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
from lab_peers import d_arrays, inputs

ALL = (1 << 64) - 1


def bits(seed, i):
    z = (seed * 0xD1342543DE82EF95 + i * 0x9E3779B97F4A7C15) & ALL
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & ALL
    z = (z ^ z >> 27) * 0x94D049BB133111EB & ALL
    return z ^ z >> 31


def uniform(seed, i):
    return (bits(seed, i) >> 40) * 2.0**-23 - 1


def check_inputs():
    assert bits(1, 0) == 0xAD53D5472392EDEC, hex(bits(1, 0))
    for index in (range(100), range(419430000, 419430100), range(1 << 40, (1 << 40) + 10)):
        got = inputs.uniform_at(2, list(index))
        assert got.tolist() == [uniform(2, i) for i in index]
    whole = inputs.uniform(1, (7, 9), numpy.float32)
    assert whole.reshape(-1).tolist() == [uniform(1, i) for i in range(63)]
    assert (inputs.uniform_rows(1, [0, 6], 9) == whole[[0, 6]]).all()
    assert (inputs.uniform_columns(1, 7, 9, [2, 8]) == whole[:, [2, 8]]).all()
    normal = [3 + sum((bits(5, 12 * i + k) >> 40) * 2.0**-24 for k in range(12)) - 6 for i in range(50)]
    assert inputs.normal(5, 50).tolist() == normal
    values, columns, starts = inputs.sparse(3, 20, 30, 0.1)
    present = [i for i in range(600) if (bits(3, i) >> 11) * 2.0**-53 < 0.1]
    assert columns.tolist() == [i % 30 for i in present]
    assert values.tolist() == [uniform(4, i) for i in present]
    assert starts.tolist() == [sum(i < 30 * row for i in present) for row in range(21)]


def check_form(entry):
    """What isomer's --beside and the pages rely on."""
    known = {"row", "device", "by", "case", "status", "reason", "checked", "figures", "lines", "curves", "pictures"}
    assert set(entry) <= known and isinstance(entry["case"]["what"], str), entry
    assert all(isinstance(value, (int, float, str)) for value in entry["case"].values()), entry
    assert entry["status"] in ("ok", "failed", "unsupported", "skipped"), entry
    assert entry.get("reason") if entry["status"] != "ok" else "reason" not in entry, entry
    assert bool(entry["figures"]) == (entry["status"] == "ok"), entry
    for figure in entry["figures"]:
        assert set(figure) in ({"name", "unit", "value"}, {"name", "unit", "value", "low", "high"}), entry
        assert figure["unit"] in ("s", "B/s", "FLOP/s", "B", "J", "%", "") and figure["value"] >= 0, entry
    for picture in entry.get("pictures", []):
        assert set(picture) == {"name", "rows", "cols", "values"}, entry
        assert len(picture["values"]) == picture["rows"] * picture["cols"], entry
    for curve in entry.get("curves", []):
        assert set(curve) == {"name", "x", "y", "points"} and all(len(p) == 3 for p in curve["points"]), entry
    assert all(isinstance(line, str) for line in entry.get("lines", [])), entry


def check_program(folder):
    path = os.path.join(folder, "peers.json")
    program = [sys.executable, "-B", os.path.join(FOLDER, "labs.py"), "--cpu", "--quick"]
    ran = subprocess.run(program + ["--json", path], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    assert document["schema"] == "isomer-labs-peers/1" and document["host"]
    rows = {entry["row"] for entry in document["labs"]}
    assert rows == {"A1", "A4", "A5", "B1", "C1", "C5", "D1", "D2", "D4", "D5", "E1", "E4"}, rows
    for entry in document["labs"]:
        check_form(entry)
        if entry["status"] != "ok":
            assert entry["row"] == "D4" and "reason" in entry, entry  # without SciPy
            continue
        assert entry["device"] == "openmp:0" and entry["checked"], entry
    ran = subprocess.run(program + ["--rows", "Z9"], capture_output=True, text=True, check=False)
    assert ran.returncode == 1 and "--rows Z9 names no row" in ran.stderr, ran.stderr


def check_kernels():
    """Every kernel at a tiny size; the shapes are no multiples of the blocks."""
    from lab_peers import kernels
    a = inputs.uniform(1, (5, 18), numpy.float32)
    b = inputs.uniform(2, (18, 3), numpy.float32)
    wanted = a.astype(numpy.float64) @ b
    k = kernels.make("f32")

    def near(x, y):
        assert numpy.allclose(x, y, rtol=1e-5, atol=1e-5), (x, y)

    out = numpy.zeros((18, 5), numpy.float32)
    k.transpose_item[(5, 2), (4, 4)](a, out)
    assert (out == a.T).all()
    for kernel in (k.product_item, k.product_tile, k.guide_item, k.guide_tile):
        out = numpy.zeros((5, 3), numpy.float32)
        kernel[(1, 1), (16, 16)](a, b, out)
        near(out, wanted)
    out = numpy.zeros(3, numpy.float32)
    k.fused_product[(1, 1), (16, 16)](a, b, out)
    near(out, wanted.sum(axis=0))
    x = inputs.uniform(1, 400, numpy.float32)
    for count in (192, 17):
        out = numpy.zeros(1, numpy.float32)
        k.sum_block[1, count](x[:count], out)
        near(out[0], x[:count].sum(dtype=numpy.float64))
    out = numpy.zeros(1, numpy.float32)
    k.sum_partials[1, 256](x, out)
    near(out[0], x.sum(dtype=numpy.float64))
    out = numpy.zeros(1, numpy.float32)
    k.sum_atomic[1, 256](x, out)
    near(out[0], x.sum(dtype=numpy.float64))
    out = numpy.zeros_like(x)
    k.multiply_stride[2, 32](x, x, out)
    assert (out == x * x).all()
    k.add[13, 32](x, x, out)
    assert (out == x + x).all()
    square = inputs.uniform(1, (3, 300), numpy.float64)
    vector = inputs.uniform(2, 300, numpy.float64)
    wide = kernels.make("f64")
    for kernel in (wide.gemv_item, wide.gemv_shared):
        y = numpy.ones(3)
        kernel[1, 256](2.0, square, vector, 0.5, y)
        near(y, 2 * (square @ vector) + 0.5)
    field = d_arrays.start_field(10)
    field[0, 0] = field[9, 4] = 0.3
    old = d_arrays.padded(numpy, field)
    new = numpy.zeros_like(old)
    d_arrays.step_arrays(old, new)
    out, flow = numpy.zeros_like(field), numpy.zeros_like(field)
    k.diffuse[(2, 2), (8, 8)](field, out)
    k.laplacian[(2, 2), (8, 8)](field, flow)
    assert (out == new[1:-1, 1:-1]).all() and (flow == d_arrays.spread_of(old)).all()


def main():
    check_inputs()
    with tempfile.TemporaryDirectory() as folder:
        check_program(folder)
    try:
        import numba  # noqa: F401
    except ImportError:
        print("Numba is not here: its kernels were not run")
        return
    check_kernels()


main()
