# SPDX-License-Identifier: Apache-2.0
"""_tool.py - the program `isomer`: where it is, and running it."""
from __future__ import annotations

import os
import subprocess
import sys
from typing import Dict, List, Sequence

from . import _library
from ._errors import Unavailable


def candidates() -> List[str]:
    """The places of the tool: beside the library that ISOMER_LIBRARY names (installed, or in a build
    folder), inside the package, on PATH."""
    named = os.environ.get("ISOMER_LIBRARY")
    if named:
        folder = os.path.dirname(os.path.realpath(named))
        return [os.path.normpath(os.path.join(folder, place, "isomer"))
                for place in ("../bin", "../../bin", "../bench", ".")]
    places = [os.path.join(_library.NATIVE, "bin", "isomer")]
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, "isomer")
        if os.path.isabs(folder) and os.path.exists(path) and not _is_script(path):
            places.append(path)
    return places


def _is_script(path: str) -> bool:
    """Whether it may be pip's command for this package, which calls this module."""
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def tool() -> str:
    """The path of the tool."""
    tried = candidates()
    for path in tried:
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise Unavailable("the program isomer is not here. Tried: %s, and PATH"
                      % ", ".join(tried))


def environment(path: str) -> Dict[str, str]:
    """The environment for the tool; the OpenMP runtime of the package only if there is no other."""
    made = dict(os.environ)
    if path.startswith(_library.NATIVE) and os.path.isdir(_library.OWN_OPENMP):
        # The dynamic linker says what it finds for a new process, and runs nothing.
        found = subprocess.run([path], env=dict(made, LD_TRACE_LOADED_OBJECTS="1"),
                               stdout=subprocess.PIPE, text=True, check=False).stdout
        if "libgomp.so.1 => not found" in found:
            made["LD_LIBRARY_PATH"] = ":".join(
                part for part in (_library.OWN_OPENMP, made.get("LD_LIBRARY_PATH")) if part)
    return made


def replace_process(arguments: Sequence[str]) -> None:
    """Goes on as the tool."""
    path = tool()
    os.execve(path, ["isomer", *arguments], environment(path))


def run(arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Runs the tool and waits for it."""
    path = tool()
    return subprocess.run([path, *arguments], env=environment(path), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)


def main() -> None:
    """The command `isomer`, and python -m isomer."""
    try:
        replace_process(sys.argv[1:])
    except Unavailable as missing:
        sys.exit("isomer: %s" % missing)
