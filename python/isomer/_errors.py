# SPDX-License-Identifier: Apache-2.0
"""_errors.py - an exception for each iso_status."""
from __future__ import annotations

from typing import Dict, Type

from ._abi import E


class Error(Exception):
    """What all exceptions of isomer are. The text is that of iso_last_error: it names the argument,
    its value, the rule that it broke and what to do."""

    status: int = E.INTERNAL


class Invalid(Error, ValueError):
    """An argument broke a rule. The call would be wrong again."""

    status = E.INVALID


class Mismatch(Error, ValueError):
    """Each argument is right, but they belong to different devices."""

    status = E.MISMATCH


class NotReady(Error, RuntimeError):
    """Work that was asked about has not finished, or was not submitted."""

    status = E.NOT_READY


class Unavailable(Error, RuntimeError):
    """The backend or the device is not here; the text has every path that was tried."""

    status = E.UNAVAILABLE


class Unsupported(Error, NotImplementedError):
    """The device does not have this operation; Device.supports says so before."""

    status = E.UNSUPPORTED


class NoMemory(Error, MemoryError):
    """Memory ran out, or the memory limit would be exceeded."""

    status = E.NO_MEMORY


class CompileFailed(Error, RuntimeError):
    """A kernel did not build; the text has the compiler's log, with the lines of the source."""

    status = E.COMPILE


class Timeout(Error, TimeoutError):
    """The time limit ran out; the work continues."""

    status = E.TIMEOUT


class BackendFailed(Error, RuntimeError):
    """A call of the vendor's failed; the text names the call and its code."""

    status = E.BACKEND


class DeviceLost(Error, RuntimeError):
    """The device is gone. Close it and open it again."""

    status = E.DEVICE_LOST


class Internal(Error, RuntimeError):
    """A fault in isomer or in a plug-in. Please report it."""

    status = E.INTERNAL


BY_STATUS: Dict[int, Type[Error]] = {kind.status: kind for kind in (
    Invalid, Mismatch, NotReady, Unavailable, Unsupported, NoMemory, CompileFailed, Timeout,
    BackendFailed, DeviceLost, Internal)}
