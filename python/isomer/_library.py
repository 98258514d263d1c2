# SPDX-License-Identifier: Apache-2.0
"""_library.py - finds libisomer.so.0 and calls it.

The library is opened at the first use, not by `import isomer`. The places, in this order:
ISOMER_LIBRARY (a file, and then no other place), the copy inside the package (a wheel has one), and
what the dynamic linker finds.
"""
from __future__ import annotations

import ctypes
import os
import re
import threading
from typing import Any, List, Optional

from . import _abi
from ._abi import E
from ._errors import BY_STATUS, Error, Internal, Unavailable

NAME = "libisomer.so.0"
NATIVE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_native")
OWN_OPENMP = os.path.join(NATIVE, "openmp")  # a folder with libgomp.so.1 alone

_lock = threading.Lock()
_api: Optional[Any] = None
_path: Optional[str] = None


def _loaded_runtimes() -> List[str]:
    """The OpenMP runtimes of this process, as files."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
            paths = [line.split(None, 5)[5].strip() for line in file if "/" in line]
    except OSError:
        return []
    return [path for path in dict.fromkeys(paths)
            if re.match(r"lib(gomp|omp|iomp5)[-.0-9]", os.path.basename(path))]


def _finds(name: str, mode: int = ctypes.DEFAULT_MODE) -> bool:
    try:
        ctypes.CDLL(name, mode=mode)
    except OSError:
        return False
    return True


def _prepare_openmp(path: str) -> None:
    """One OpenMP runtime is in the process. libisomer needs libgomp.so.1, and the linker takes a
    loaded library that calls itself so. A wheel brings two for where there is none: a stand-in
    without symbols, if another runtime is loaded that has GNU's entries (PyTorch's, which has
    another name, or LLVM's); and a runtime of its own, if the system has none."""
    own = os.path.join(OWN_OPENMP, "libgomp.so.1")
    if not path.startswith(NATIVE) or not os.path.exists(own):
        return
    loaded = _loaded_runtimes()
    if any(re.fullmatch(r"libgomp\.so\.1[.0-9]*", os.path.basename(one)) for one in loaded):
        return
    for one in loaded:
        runtime = ctypes.CDLL(one)
        if hasattr(runtime, "GOMP_parallel") and hasattr(runtime, "omp_get_max_threads") and \
                _finds(one, ctypes.RTLD_GLOBAL | os.RTLD_NOLOAD):
            _finds(os.path.join(NATIVE, "lib", "libisomer-openmp.so"))
            return
    if not _finds("libgomp.so.1"):
        ctypes.CDLL(own, mode=ctypes.RTLD_GLOBAL)


def candidates() -> List[str]:
    """The places that are tried."""
    named = os.environ.get("ISOMER_LIBRARY")
    return [named] if named else [os.path.join(NATIVE, "lib", NAME), NAME]


def _open() -> Any:
    global _path
    tried = []
    for path in candidates():
        try:
            _prepare_openmp(path)
            api = _abi.bind(ctypes.CDLL(path))
        except OSError as error:
            text = str(error)
            tried.append(text if path in text else "%s: %s" % (path, text))
        except AttributeError as error:
            tried.append("%s: it is too old for this package: %s" % (path, error))
        else:
            _path = path
            return api
    raise Unavailable(
        "the library %s cannot be opened. Tried:\n  %s\n"
        "Install a wheel that has it, install isomer, or set ISOMER_LIBRARY to the file"
        % (NAME, "\n  ".join(tried)))


def api() -> Any:
    """The functions of the library; it is opened by the first call."""
    global _api
    if _api is None:
        with _lock:
            if _api is None:
                _api = _open()
    return _api


def path() -> str:
    """The library's file, as it was opened; a name without a folder is one that the dynamic linker
    found."""
    api()
    assert _path is not None
    return _path


def failure(status: int) -> Error:
    """The exception for a status, with the text of the last failure of this thread."""
    text = api().iso_last_error().decode("utf-8", "replace")
    name = api().iso_status_name(status).decode()
    return BY_STATUS.get(status, Internal)(text or name)


def check(status: int) -> None:
    """Raises what a status other than ISO_OK says."""
    if status != E.OK:
        raise failure(status)


def version() -> str:
    """The version of the library.

    >>> import isomer
    >>> isomer.version().split(".")[0]
    '0'
    """
    text: bytes = api().iso_version()
    return text.decode()
