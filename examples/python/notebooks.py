# SPDX-License-Identifier: Apache-2.0
"""notebooks.py - makes a notebook of each lab in this folder: python3 notebooks.py. With --check it
only says whether they are as they should be.

In a lab `# %% [markdown]` begins a cell of text, in comments, and `# %%` one of code.
"""
import glob
import json
import os
import re
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))


def cells(text):
    """(kind, lines) of each cell."""
    made = []
    for part in re.split(r"^(?=# %%)", text, flags=re.M)[1:]:
        head, _, body = part.partition("\n")
        lines = body.strip("\n").split("\n")
        if "[markdown]" in head:
            made.append(("markdown", [re.sub(r"^# ?", "", line) for line in lines]))
        else:
            made.append(("code", lines))
    return made


def notebook(text):
    """The notebook of a lab, as text."""
    made = []
    for i, (kind, lines) in enumerate(cells(text)):
        cell = {"cell_type": kind, "id": "cell-%d" % (i + 1), "metadata": {},
                "source": [line + "\n" for line in lines[:-1]] + lines[-1:]}
        if kind == "code":
            cell.update(execution_count=None, outputs=[])
        made.append(cell)
    return json.dumps({"cells": made, "metadata": {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}, indent=1,
        ensure_ascii=False) + "\n"


def main():
    wrong = []
    for path in sorted(glob.glob(os.path.join(FOLDER, "[a-e]_*.py"))):
        with open(path, encoding="utf-8") as file:
            wanted = notebook(file.read())
        place = path[:-len(".py")] + ".ipynb"
        if "--check" in sys.argv:
            there = os.path.exists(place) and open(place, encoding="utf-8").read() == wanted
            if not there:
                wrong.append(os.path.basename(place))
            continue
        with open(place, "w", encoding="utf-8") as file:
            file.write(wanted)
    if wrong:
        sys.exit("not as notebooks.py makes them: %s" % ", ".join(wrong))


if __name__ == "__main__":
    main()
