# SPDX-License-Identifier: Apache-2.0
"""Compares docs/kernels.md with what the tool prints: page.py PAGE TOOL FOLDER COMPILER.

A block "$ isomer kernel check NAME ..." has the output of that command, without the line that names the compiler. Every
other block between "## The judge" and the next section is a file of the folder.
"""
import os
import re
import subprocess
import sys

page, tool, folder, compiler = sys.argv[1:5]
with open(page, encoding="utf-8") as file:
    section = re.search(r"^## The judge\n.*?(?=^## )", file.read(), re.S | re.M).group(0)
files = []
for name in sorted(os.listdir(folder)):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        files.append(file.read().strip("\n"))
wrong, commands = [], 0
for block in re.findall(r"^```\w*\n(.*?)\n```$", section, re.S | re.M):
    if not block.startswith("$"):
        if block not in files:
            wrong.append(f"no file of {folder} is this block:\n{block}")
        continue
    line, _, shown = block.partition("\n")
    words = re.fullmatch(r"\$ isomer (kernel check .*)", line)
    commands += 1
    ran = subprocess.run([tool, *words.group(1).split(), "--cc", compiler], cwd=folder, capture_output=True, text=True,
                         check=False)
    lines = [x for x in (ran.stdout + ran.stderr).splitlines() if not x.startswith("C compiler: ")]
    if "\n".join(lines).strip("\n") != shown:
        wrong.append(f"{line} prints\n" + "\n".join(lines) + "\nand the page has\n" + shown)
if commands < 5:
    wrong.append(f"the page has only {commands} commands")
print("\n\n".join(wrong) if wrong else f"{commands} commands as on the page")
sys.exit(1 if wrong else 0)
