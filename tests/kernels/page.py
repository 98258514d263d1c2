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
# Every word of the header is in the table of words, by its name or by that of its family.
table = read("docs/kernels.md").split("## What each word becomes")[1].split("\n## ")[0]
rows = " ".join(line.split(" | ")[0] for line in table.splitlines() if line.startswith("|"))
words = set(re.findall(r"\b(?:iso|ISO)_[A-Za-z0-9_]*[A-Za-z0-9]\b", re.sub(r"/\*.*?\*/", "", read("include/isomer/kernel.h"),
                                                                        flags=re.S)))
families = [(r"ISO_REGION_[23]", "ISO_REGION"), (r"ISO_(GROUP|TEAM)_(MIN|MAX)", r"ISO_\1_SUM"), (r"iso_(groups?)_[yz]", r"iso_\1_x"),
            (r"iso_atomic_(add|min|max)_[iu](32|64)", r"iso_atomic_\1_i32"), (r"iso_[iuf](32|64)x[24]", "iso_f32x4"),
            (r"iso_(from_)?bits_f64", r"iso_\1bits_f32")]
inner = {"ISO_EMBEDDED_ENTRIES", "ISOMER_KERNEL_H"}
for word in sorted(words - inner):
    if "_needs_" in word or re.match("ISO_(LAST|ONLY)_ISO_REGION", word):
        continue
    for pattern, family in families:
        word = re.sub(f"^{pattern}$", family, word)
    if not re.search(rf"\b{word}\b", rows):
        sys.exit(f"{word} of isomer/kernel.h is not in the table of words")
program = re.sub(r"^ +", "", read("examples/kernels/main.c"), flags=re.M)
for language, file, count in (("cmake", read("examples/kernels/CMakeLists.txt"), 1),
                              ("make", read("examples/kernels/Makefile"), 1),
                              ("c", program, 1)):
    shown = [block for block in blocks_of(language) if language != "c" or ".embedded" in block]
    if len(shown) != count or any(block not in file for block in shown):
        sys.exit(f"{language}: {len(shown)} blocks, {count} expected; not in examples/kernels:\n" + "\n".join(shown))
