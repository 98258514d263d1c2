# SPDX-License-Identifier: Apache-2.0
"""page.py FOLDER: the kernels and the rules of builds on docs/kernels.md are those of examples/kernels, which tests
run."""
import re
import sys

folder = sys.argv[1]


def read(name):
    with open(f"{folder}/{name}", encoding="utf-8") as file:
        return file.read()


def blocks_of(language):
    return re.findall(rf"```{language}\n(.*?)```", read("docs/kernels.md"), re.S)


blocks = blocks_of("c")
text = read("examples/kernels/first.isk")
kernels = [block for block in blocks if "ISO_KERNEL" in block]
missing = [block for block in kernels if block not in text]
if len(kernels) < 3 or missing:
    sys.exit(f"{len(kernels)} kernels, 3 expected; not in first.isk:\n" + "\n".join(missing))
program = re.sub(r"^ +", "", read("examples/kernels/main.c"), flags=re.M)
for language, file, count in (("cmake", read("examples/kernels/CMakeLists.txt"), 1),
                              ("make", read("examples/kernels/Makefile"), 1),
                              ("c", program, 1)):
    shown = [block for block in blocks_of(language) if language != "c" or ".embedded" in block]
    if len(shown) != count or any(block not in file for block in shown):
        sys.exit(f"{language}: {len(shown)} blocks, {count} expected; not in examples/kernels:\n" + "\n".join(shown))
