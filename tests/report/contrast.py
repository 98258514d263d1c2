#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""contrast.py PAGE.CSS: the page's colours can be read, light and dark (WCAG 2.1 AA)."""
import re
import sys


def luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(2 * d for d in colour[1:])
    parts = [int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


themes = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]+)", block))
          for block in re.findall(r":root \{(.*?)\}", open(sys.argv[1], encoding="utf-8").read(), re.S)]
if len(themes) != 2 or themes[0].keys() != themes[1].keys():
    sys.exit("FAIL: not the same colours in a light and a dark theme")
wanted = [(text, paper, 4.5) for text in ("ink", "quiet", "link", "bad", "mark")
          for paper in ("paper", "soft")]
wanted += [("ink", "warn", 4.5), ("quiet", "paper", 3)]
wanted += [("device-%d" % i, paper, 3) for i in range(8) for paper in ("paper", "soft")]
faults = ["%s: %s on %s has %.2f, not %g" % (name, a, b, contrast(theme[a], theme[b]), least)
          for name, theme in zip(("light", "dark"), themes) for a, b, least in wanted
          if contrast(theme[a], theme[b]) < least]
if faults:
    sys.exit("FAIL: " + "; ".join(faults))
print("ok: %d pairs of colours" % (2 * len(wanted)))
