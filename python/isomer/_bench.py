# SPDX-License-Identifier: Apache-2.0
"""_bench.py - `isomer bench` from Python."""
from __future__ import annotations

import json
from typing import Any, Dict, Iterator, List

from ._errors import Error, Unavailable
from ._tool import run

# The columns of a table of results, as the path in a result of docs/results.md.
COLUMNS = {
    "id": "id", "device": "device", "op": "op", "variant": "variant", "dtype": "dtype",
    "size": "size", "math": "math", "library": "library", "status": "status", "reason": "reason",
    "seconds": "times.median", "seconds_low": "times.low", "seconds_high": "times.high",
    "gbps": "rates.gbps.value", "gflops": "rates.gflops.value", "error": "verified.error",
}


def _at(result: Dict[str, Any], path: str) -> Any:
    value: Any = result
    for word in path.split("."):
        value = value.get(word) if isinstance(value, dict) else None
    return value


class Results:
    """What `isomer bench` measured. `document` is the whole file that docs/results.md describes;
    iterating gives a dictionary for each result, and to_dataframe() a table of pandas."""

    def __init__(self, document: Dict[str, Any]) -> None:
        self.document = document

    @property
    def devices(self) -> List[Dict[str, Any]]:
        """The devices that were measured."""
        made: List[Dict[str, Any]] = self.document["devices"]
        return made

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """The main columns of each result; times are in seconds."""
        made = []
        for result in self.document["results"]:
            row = {name: _at(result, path) for name, path in COLUMNS.items()}
            for name in ("seconds", "seconds_low", "seconds_high"):
                row[name] = row[name] and row[name] * 1e-9
            made.append(row)
        return made

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return iter(self.document["results"])

    def __len__(self) -> int:
        return len(self.document["results"])

    def to_dataframe(self) -> Any:
        """The rows as a pandas.DataFrame."""
        import pandas  # type: ignore
        return pandas.DataFrame(self.rows, columns=list(COLUMNS))

    def __repr__(self) -> str:
        return "<isomer.bench: %d results of %s>" % (
            len(self), ", ".join(one.get("spec", "?") for one in self.devices))


def bench(**options: Any) -> Results:
    """Runs `isomer bench`, and returns its results: bench(backend="openmp", op="gemm", size=1024).

    Options are those of the command line, with _ for -. A list or tuple is joined by commas, True
    is an option without a value, and None and False leave it out.

    >>> import isomer
    >>> results = isomer.bench(backend="openmp", op="gemm", size=64, variant="tiled", dtype="f32",
    ...                        budget=0.5, no_roofs=True)
    >>> [(row["op"], row["size"], row["status"]) for row in results.rows]
    [('gemm', 64, 'ok')]
    """
    arguments = ["bench"]
    for name, value in options.items():
        if value is None or value is False:
            continue
        arguments.append("--" + name.replace("_", "-"))
        if value is not True:
            arguments.append(",".join(map(str, value)) if isinstance(value, (list, tuple))
                             else str(value))
    done = run([*arguments, "--json", "-"])
    try:
        document = json.loads(done.stdout)
    except ValueError:
        kind = Unavailable if done.returncode == 3 else Error
        raise kind("isomer %s ended with %d: %s" % (" ".join(arguments), done.returncode,
                                                    done.stderr.strip())) from None
    return Results(document)
