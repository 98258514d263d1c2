# SPDX-License-Identifier: Apache-2.0
"""results.py - tasks, the entries that they make, the file and the table."""
import json
import math
import os
import statistics
import sys
import time
from dataclasses import dataclass
from typing import Callable

SCHEMA = "isomer-labs-peers/1"
FIGURE_UNITS = ("s", "B/s", "FLOP/s", "B", "J", "%", "")
FIRST, USUAL, LATE, LAST = range(4)  # turns; in the last two the shortest go first


class Unsupported(Exception):
    """The machine cannot run a row; the text says why."""


@dataclass
class Task:
    """One entry to be: `run` returns its figures and the like, or raises."""
    row: str
    where: object  # a Host or Gpu
    by: str
    case: dict
    run: Callable[[], dict]
    seconds: float = 1.0  # what it takes at the labs' sizes on a fast GPU, checks included
    turn: int = USUAL     # what runs on a processor beside a GPU has the last

    def order(self):
        turn = self.turn if self.where.gpu else LAST
        return turn, self.seconds if turn >= LATE else 0


def figure(name, unit, values):
    """Of one value, or the median, least and greatest of several."""
    several = [float(value) for value in (values if isinstance(values, list) else [values])]
    demand(unit in FIGURE_UNITS and all(math.isfinite(value) for value in several),
           f"the figure {name} is {values} {unit}")
    entry = {"name": name, "unit": unit, "value": statistics.median(several)}
    if len(several) > 1:
        entry.update(low=min(several), high=max(several))
    return entry


def rate(name, unit, work, times):
    return figure(name, unit, [work / t for t in times])


def relative_error(result, reference):
    return float(abs(result - reference).sum() / abs(reference).sum())


def demand(right, words):
    if not right:
        raise ArithmeticError(words)


def within(error, bound):
    demand(error <= bound, f"the error {error:.3g} is above {bound:g}")


class File:
    """The file of entries, written anew after each, so that a kill loses nothing."""

    def __init__(self, path, host, device):
        self.path = path
        self.document = {"schema": SCHEMA, "host": host, "device": device, "labs": []}

    def add(self, entry):
        self.document["labs"].append(entry)
        if self.path:
            with open(self.path + ".part", "w", encoding="utf-8") as file:
                json.dump(self.document, file, allow_nan=False)
                file.write("\n")
            os.replace(self.path + ".part", self.path)


UNITS = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n")]


def shown(f):
    """A figure in few characters: 1.23 ms, 45.6 GB/s, 3.2e-07."""
    value, unit = f["value"], f["unit"]
    if not unit or value == 0:
        return f"{f['name']} {value:.3g}"
    for size, letter in UNITS:
        if value >= size:
            break
    return f"{f['name']} {value / size:.3g} {letter}{unit}"


def show(entry, took):
    case = " ".join(f"{value:g}" if isinstance(value, float) else str(value)
                    for value in entry["case"].values())
    words = ", ".join(shown(f) for f in entry["figures"])
    if entry["status"] != "ok":
        words = f"{entry['status']}: {entry['reason']}"
    print(f"{entry['row']:<4}{entry['by']:<15} {case:<40} {words}  [{took:.1f} s]", flush=True)


def reason_of(error):
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}"[:400] if words else type(error).__name__


def run_task(task, options, left):
    """The entry of a task: its figures, or the reason why there are none."""
    entry = {"row": task.row, "device": task.where.device, "by": task.by, "case": task.case}

    def without(status, reason):
        return dict(entry, status=status, reason=reason, figures=[])

    if not (options.quick or options.cpu) and task.seconds > left:
        return without("skipped", f"takes about {task.seconds:.0f} s, and "
                       f"{max(left, 0):.0f} s of --budget {options.budget:g} are left")
    try:
        return dict(entry, status="ok", **task.run())
    except Unsupported as why:
        return without("unsupported", str(why))
    except ImportError as why:
        return without("skipped", reason_of(why))
    except Exception as why:  # a row that fails says so, and the others run
        return without("failed", reason_of(why))


def run_tasks(tasks, options, file, began):
    """Runs them, the most important first; the number of those that failed."""
    failed = 0
    for task in sorted(tasks, key=Task.order):
        begin = time.perf_counter()
        entry = run_task(task, options, options.budget - (begin - began))
        failed += entry["status"] == "failed"
        try:
            task.where.free()
        except Exception as why:  # after an error of the device nothing works; say so for each
            print(f"labs.py: {reason_of(why)}", file=sys.stderr)
        file.add(entry)
        show(entry, time.perf_counter() - begin)
    return failed
