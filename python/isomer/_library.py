# SPDX-License-Identifier: Apache-2.0
"""_library.py - finds libisomer.so.0 and calls it.

The library is opened at the first use, not by `import isomer`. The places, in this order:
ISOMER_LIBRARY (a file, and then no other place), the copy inside the package (a wheel has one), and
what the dynamic linker finds.
"""
from __future__ import annotations

import ctypes
import os
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


def has_openmp() -> bool:
    """Whether this process has the runtime libgomp.so.1, or the dynamic linker finds one."""
    try:
        ctypes.CDLL("libgomp.so.1")
    except OSError:
        return False
    return True


def _prepare_openmp(path: str) -> None:
    """One OpenMP runtime is in the process: the wheel's own serves only where there is none. The
    linker takes a loaded library of that name for the one that libisomer needs."""
    own = os.path.join(OWN_OPENMP, "libgomp.so.1")
    if path.startswith(NATIVE) and os.path.exists(own) and not has_openmp():
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
