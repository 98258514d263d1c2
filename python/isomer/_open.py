# SPDX-License-Identifier: Apache-2.0
"""_open.py - finding and opening devices."""
from __future__ import annotations

import ctypes
import os
import threading
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import _foreign
from ._abi import E, S, new, plain
from ._adjoint import Adjoint
from ._array import Array
from ._planner import enumerator
from ._device import Device, info_of
from ._errors import Invalid
from ._foreign import Foreign
from ._info import Info
from ._library import api, check
from ._sparse import CSR


def backends() -> List[Info]:
    """Every backend and every device, also those that cannot be used: `state` and `reason` say why.
    Where `state` is "ok", `device` describes it.

    >>> import isomer
    >>> [row.state for row in isomer.backends() if row.backend == "openmp"]
    ['ok']
    """
    count = ctypes.c_int32()
    check(api().iso_enumerate(None, 0, ctypes.byref(count)))
    entries = (S.iso_entry * max(count.value, 1))()
    entries[0].size = ctypes.sizeof(S.iso_entry)
    check(api().iso_enumerate(entries, count.value, ctypes.byref(count)))
    made = []
    for entry in entries[:count.value]:
        row = plain(entry)
        row["device"] = info_of(entry.device) if entry.device.size else None
        made.append(Info(**row))
    return made


def devices() -> List[Info]:
    """The devices that can be opened. `spec` is what isomer.open takes.

    >>> import isomer
    >>> "openmp:0" in [device.spec for device in isomer.devices()]
    True
    """
    return [row.device for row in backends() if row.state == "ok" and row.device is not None]


def settings() -> Dict[str, Info]:
    """The library's settings (ISOMER_...): value, source, meaning and problem of each."""
    made: Dict[str, Info] = {}
    out = new("iso_setting")
    while True:
        status = api().iso_get_setting(len(made), ctypes.byref(out))
        if status == E.NOT_READY:
            return made
        check(status)
        one = plain(out)
        made[one["name"]] = Info(**one)


def _options(math: Optional[str], keep: Optional[str], memory_limit: Optional[int]) -> Any:
    return new("iso_device_options", math=enumerator("math", math),
               keep=enumerator("keep", keep),
               memory_limit=0 if memory_limit is None else memory_limit)


def open(spec: Optional[str] = None, *, like: Any = None, math: Optional[str] = None,
         keep: Optional[str] = None, memory_limit: Optional[int] = None) -> Device:
    """Opens a device: "cuda", "hip:1", "opencl", "openmp", a list such as "cuda,openmp", or None,
    which is ISOMER_BACKEND or the best one.

    like=array opens the device that has an array of CuPy, PyTorch, JAX or NumPy, in that array's
    context. math="tf32" allows TF32, keep="bits" asks for the same bits on every device, and
    memory_limit is in bytes (-1: none).

    >>> import isomer
    >>> with isomer.open("openmp", keep="bits") as dev:
    ...     dev.spec
    'openmp:0'
    """
    options = _options(math, keep, memory_limit)
    handle = S.iso_device()
    if like is None:
        check(api().iso_device_open_with(None if spec is None else spec.encode(),
                                         ctypes.byref(options), ctypes.byref(handle)))
        return Device(handle)
    if spec is not None:
        raise Invalid("open: give a spec or like, not both")
    found = _foreign.look(like)
    if found is None:
        raise TypeError("open: like is a %s and no array" % type(like).__name__)
    native = new("iso_native_device")
    if found.backend != "openmp":
        native.device = found.index
        native.context = _context_of(found)
    check(api().iso_device_adopt(found.backend.encode(), ctypes.byref(native),
                                 ctypes.byref(options), ctypes.byref(handle)))
    return Device(handle)


def _context_of(found: Foreign) -> Optional[int]:
    """The CUDA context of the array's memory; None is the device's primary context, which CuPy,
    PyTorch and JAX use."""
    if found.backend != "cuda" or not found.pointer:
        return None
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    context, primary = ctypes.c_void_p(), ctypes.c_void_p()
    if cuda.cuPointerGetAttribute(ctypes.byref(context), 1, ctypes.c_uint64(found.pointer)):
        return None
    # Memory of a pool has no context, and the primary one has another name in isomer.
    if cuda.cuDevicePrimaryCtxRetain(ctypes.byref(primary), found.index) == 0:
        cuda.cuDevicePrimaryCtxRelease_v2(found.index)
        if primary.value == context.value:
            return None
    return context.value


# ---- devices of arrays whose caller opened none

_implicit: Dict[Tuple[str, int], Device] = {}
_implicit_lock = threading.Lock()


def device_of(values: Sequence[Any]) -> Device:
    """The device of the first array. For arrays of other libraries it is opened at the first use,
    and stays open."""
    values = [value.of if isinstance(value, Adjoint) else value for value in values]
    for value in values:
        if isinstance(value, (Array, CSR)) and value.device is not None:
            return value.device
    for value in values:
        if isinstance(value, (Array, CSR)) or value is None:
            continue
        if _foreign.is_numpy(value):
            key: Optional[Tuple[str, int]] = ("openmp", 0)
        else:
            found = _foreign.look(value)
            key = None if found is None else (found.backend, found.index)
        if key is not None:
            with _implicit_lock:
                if key not in _implicit or _implicit[key].closed:
                    _implicit[key] = open(like=value)
                return _implicit[key]
    raise TypeError("no argument is an array of isomer or of a library that lends its memory")


def asarray(value: Any) -> Array:
    """An Array over the memory of another library's array, where it lies, on a device that is
    opened for it.

    >>> import isomer, numpy
    >>> x = numpy.zeros(3, "f4")
    >>> isomer.asarray(x).fill(2.0).device.spec, x.tolist()
    ('openmp:0', [2.0, 2.0, 2.0])
    """
    return value if isinstance(value, Array) else device_of([value]).asarray(value)


def _after_fork() -> None:
    # The parent's handles mean nothing here. They are not freed, and new ones are opened.
    global _implicit_lock
    _implicit_lock = threading.Lock()
    _implicit.clear()


os.register_at_fork(after_in_child=_after_fork)
