# SPDX-License-Identifier: Apache-2.0
"""Rules of style that clang-format does not know: style.py FILES. Prints each breach and ends with 1."""
import os
import re
import sys

FOLDERS = ("backends/", "bench/", "common/", "core/", "kernels/", "tests/")
GENERATED = {"fixed_exact_rows.h", "judge_texts.h", "kernel_texts.h", "record_build.h", "record_commit.h", "openmp_kernels.h", "simt_kernels.h"}
FUNCTION_MOST = 70  # lines of a body; its braces are in the first column
# PoCL needs the barriers of a blocked product, and the registers that live across them, in the kernel's own body.
LONGER = {"kernels/gemm_tiled.cl": 125}
# What a folder shares besides FOLDER/FOLDER.h; tests look where they have to.
SHARED = {"backends/loader/files.h", "backends/openmp/kernels/half.h", "backends/simt/blas.h",
          "backends/simt/blas_symbols.h", "backends/simt/comm.h", "backends/simt/comm_symbols.h",
          "backends/simt/sparse.h", "backends/trial/child.h", "backends/trial/process.h",
          "backends/trial/room.h", "bench/tool.h"}
found = 0


def breach(path, number, text):
    global found
    found += 1
    print(f"{path}:{number}: {text}")


def is_private(path, header):
    """Whether a header of bench, backends or core is not for the folder of `path`."""
    folder = os.path.dirname(header)
    if folder == "core" and path.startswith("core/"):
        return False
    if not header.startswith(("backends/", "bench/", "core/")) or path.startswith("tests/"):
        return False
    return folder != os.path.dirname(path) and header not in SHARED | {f"{folder}/{os.path.basename(folder)}.h"}


OPERATIONS = "gemm|reduce|transpose|map|stream|transfer|chain"


def names_operation(line):
    """Whether a line of the tool compares an operation's name; one place may: its row in bench/ops."""
    return re.search(rf'str(n?case)?n?cmp *\(.*"({OPERATIONS})"', line) or re.search(
        rf'"({OPERATIONS})".*str(n?case)?n?cmp *\(', line)


def check(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    if not re.search(r"/\*(\n \*)? " + re.escape(os.path.basename(path)) + " ", "\n".join(lines[:4])):
        breach(path, 1, "the opening comment does not name the file")
    begin = 0
    for number, line in enumerate(lines, 1):
        include = re.match(r' *#include +(["<])([^">]+)', line)
        if include:
            quote, name = include.groups()
            beside = path.startswith("examples/") and os.path.exists(f"{os.path.dirname(path)}/{name}")
            if quote == '"' and name not in GENERATED and not name.endswith(".isk.h") and not os.path.exists(name) \
                    and not beside:  # examples are copied out of the tree
                breach(path, number, f'"{name}" is no file of this tree: name it from the root')
            if quote == '"' and is_private(path, name):
                breach(path, number, f'"{name}" is private to {os.path.dirname(name)}')
            if quote == "<" and name.startswith(FOLDERS):
                breach(path, number, f'<{name}> is a private header: write "{name}"')
        if path.startswith("bench/") and not path.startswith(("bench/ops/", "bench/peers/")) and names_operation(line):
            breach(path, number, "ask the operation's row (bench/ops), do not compare its name")
        if line == "{":
            begin = number
        if line.startswith("}") and begin:
            most = LONGER.get(path, FUNCTION_MOST)
            if number - begin - 1 > most:
                breach(path, begin, f"the function has {number - begin - 1} lines, more than {most}")
            begin = 0
        if re.search(r"[^=!]== NULL\b", line):
            breach(path, number, "write !x, not x == NULL")
        if re.match(r"/\* -{4,} .*-{4,}$", line) and number < len(lines) and lines[number] == " */":
            breach(path, number, "the banner does not fit its line")


for name in sys.argv[1:]:
    check(name)
sys.exit(1 if found else 0)
