# SPDX-License-Identifier: Apache-2.0
"""Compares a report of `isomer kernel check` with the marks in a text: marks.py TEXT REPORT [WORD].

A line with "//@ WORDS" must have a finding with these words, "//@? WORDS" is one of several lines of its kernel of
which one must have it. There must be no other finding. WORD: only kernels whose name contains it.
"""
import json
import re
import sys

text, report = sys.argv[1:3]
with open(text, encoding="utf-8") as file:
    lines = file.read().splitlines()
with open(report, encoding="utf-8") as file:
    findings = json.load(file)["findings"]
kernel, marks = "", []
for number, line in enumerate(lines, 1):
    begins = re.match(r"ISO_KERNEL\((\w+)", line)
    kernel = begins.group(1) if begins else kernel
    mark = re.search(r"//@(\??) (.*)", line)
    if mark:
        marks.append((kernel, number, mark.group(2), bool(mark.group(1))))
wrong = []
for kernel, number, words, _ in [m for m in marks if not m[3]]:
    if not any(f["line"] == number and words in f["what"] and f["kernel"] == kernel for f in findings):
        wrong.append(f"{text}:{number}: kernel {kernel}: not found: {words}")
for kernel in {m[0] for m in marks if m[3]}:
    places = [(m[1], m[2]) for m in marks if m[0] == kernel]
    if not any(f["kernel"] == kernel and any(f["line"] == n and w in f["what"] for n, w in places) for f in findings):
        wrong.append(f"{text}: kernel {kernel}: not found on any of the lines {[n for n, _ in places]}")
for f in findings:
    if not any(f["kernel"] == k and f["line"] == n and w in f["what"] for k, n, w, _ in marks):
        wrong.append(f"{text}:{f['line']}: kernel {f['kernel']}: not expected: {f['what']}")
if not marks and "right" not in text:
    wrong.append(f"{text} has no marks")
print("\n".join(wrong) if wrong else f"{text}: {len(marks)} marks, {len(findings)} findings")
sys.exit(1 if wrong else 0)
