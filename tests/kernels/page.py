# SPDX-License-Identifier: Apache-2.0
"""page.py FOLDER: the kernels on docs/kernels.md are those of examples/kernels/first.isk, which tests run."""
import re
import sys

folder = sys.argv[1]
with open(f"{folder}/docs/kernels.md", encoding="utf-8") as page:
    blocks = re.findall(r"```c\n(.*?)```", page.read(), re.S)
with open(f"{folder}/examples/kernels/first.isk", encoding="utf-8") as file:
    text = file.read()
kernels = [block for block in blocks if "ISO_KERNEL" in block]
missing = [block for block in kernels if block not in text]
if len(kernels) < 3 or missing:
    sys.exit(f"{len(kernels)} kernels, 3 expected; not in first.isk:\n" + "\n".join(missing))
