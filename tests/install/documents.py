# SPDX-License-Identifier: Apache-2.0
"""documents.py SOURCE PREFIX: links in installed documents lead to installed files, and a path of
the source tree that is not installed is described as such in the same paragraph."""
import os
import re
import sys

source, prefix = sys.argv[1:3]
documents = os.path.join(prefix, "share", "doc", "isomer")
faults = []
pages = links = 0
for folder, _, files in os.walk(documents):
    for name in files:
        if not name.endswith(".md"):
            continue
        pages += 1
        page = os.path.join(folder, name)
        shown = os.path.relpath(page, documents)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        prose = re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.M | re.S)  # a[i](x) in code is no link
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
            if re.match(r"[a-z]+:", target):
                continue
            links += 1
            if not os.path.exists(os.path.join(folder, target)):
                faults.append(f"{shown}: the link to {target} is dead")
        if "@" in re.sub(r"[\w.]@[\w]", "", text) and "@CMAKE" in text:
            faults.append(f"{shown}: a variable of CMake is left in it")
        part = ""
        for paragraph in re.split(r"\n\s*\n", text):
            if paragraph.startswith("## "):
                part = paragraph.split("\n")[0]
            told = "source tree" in paragraph + part
            for path in set(re.findall(r"(?<![\w/$.])\.?[\w-]+(?:/[\w.*-]+)+", paragraph)):
                path = path.rstrip(".")
                at_home = any(os.path.exists(os.path.join(at, path)) for at in (folder, documents, prefix))
                if not told and not at_home and os.path.exists(os.path.join(source, path.rstrip("*"))):
                    faults.append(f"{shown}: {path} is not installed, and not said to be of the source tree")
with open(os.path.join(documents, "README.md"), encoding="utf-8") as file:
    rows = [row for row in file.read().split("## ")[0].split("\n") if row.startswith("| ") and "`" in row]
for row in rows:
    for path in re.findall(r"`([^`]+)`", row):
        if "plug-ins" not in row and not os.path.exists(os.path.join(prefix, path)):
            faults.append(f"README.md: {path} is not below the prefix")
if len(rows) < 6:
    faults.append("README.md: few rows say where things are")
logs = {"testing.md", "performance.md", "design.md", "results"}
for folder, folders, files in os.walk(documents):
    faults += [f"{folder}/{name} is installed" for name in logs & set(folders + files)]
for fault in faults:
    print(fault)
if pages < 8 or links < 20:
    print(f"only {pages} pages with {links} links")
    faults.append("few")
sys.exit(1 if faults else 0)
