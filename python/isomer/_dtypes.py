# SPDX-License-Identifier: Apache-2.0
"""_dtypes.py - the types of elements: those of iso_dtype, with which operations compute, and others
that are moved and passed to kernels."""
from __future__ import annotations

import struct
import sys
from typing import Any, Dict, Optional, Tuple

from ._abi import E
from ._errors import Unavailable


def need_numpy(what: str, instead: str = "") -> Any:
    """The module numpy, or an exception that says what goes without it."""
    try:
        import numpy
    except ImportError as error:
        raise Unavailable("%s needs NumPy, which cannot be imported (%s): %sinstall numpy"
                          % (what, error, instead)) from None
    return numpy


class DType:
    """A type of elements. It equals its other names, those of NumPy too.

    >>> import isomer
    >>> isomer.f32 == "float32", isomer.f32 == "f32", isomer.f32.itemsize
    (True, True, 4)
    """

    __slots__ = ("name", "numpy_name", "typestr", "itemsize", "number", "code", "format")

    def __init__(self, name: str, numpy_name: str, typestr: str, number: int, code: int,
                 form: str) -> None:
        self.name, self.numpy_name, self.typestr = name, numpy_name, typestr
        self.number = number  # iso_dtype; 0: operations do not compute with it
        self.code = code  # DLPack's
        self.format = form  # struct's
        self.itemsize = int(typestr[2:])

    def __repr__(self) -> str:
        return "isomer." + self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        return other == self.name if isinstance(other, str) and other in _TWO_MEANINGS \
            else find(other) is self

    @property
    def is_float(self) -> bool:
        """Whether it is a floating-point type."""
        return self.code in (2, 4)

    @property
    def is_complex(self) -> bool:
        """Whether it is a complex type."""
        return self.code == 5

    def pack(self, value: Any) -> bytes:
        """The bytes of one element."""
        if self.name == "bf16":
            bits = struct.unpack("<I", struct.pack("<f", value))[0]
            if bits & 0x7fffffff <= 0x7f800000:  # not NaN: to the nearest, ties to even
                bits += 0x7fff + (bits >> 16 & 1)
            return struct.pack("<H", bits >> 16 & 0xffff)
        if self.code == 5:
            value = complex(value)
            return struct.pack("<" + self.format, value.real, value.imag)
        return struct.pack("<" + self.format, value if self.code in (2, 6) else int(value))

    def unpack(self, data: bytes) -> Any:
        """The value of one element."""
        if self.name == "bf16":
            return struct.unpack("<f", b"\0\0" + data)[0]
        values = struct.unpack("<" + self.format, data)
        return complex(*values) if self.code == 5 else values[0]

    def numpy(self) -> Any:
        """NumPy's type of that name. bfloat16 needs the package ml_dtypes."""
        numpy = need_numpy(self.name)
        if self.name == "bf16":
            try:
                import ml_dtypes
            except ImportError:
                raise TypeError("NumPy has no bfloat16: install ml_dtypes, or read the bits with "
                                "array.view('u16').numpy()") from None
            return numpy.dtype(ml_dtypes.bfloat16)
        return numpy.dtype(self.numpy_name)


ALL: Tuple[DType, ...] = (
    DType("f16", "float16", "<f2", E.F16, 2, "e"),
    DType("bf16", "bfloat16", "<V2", E.BF16, 4, ""),
    DType("f32", "float32", "<f4", E.F32, 2, "f"),
    DType("f64", "float64", "<f8", E.F64, 2, "d"),
    DType("i8", "int8", "|i1", E.I8, 0, "b"),
    DType("i16", "int16", "<i2", 0, 0, "h"),
    DType("i32", "int32", "<i4", E.I32, 0, "i"),
    DType("i64", "int64", "<i8", E.I64, 0, "q"),
    DType("u8", "uint8", "|u1", 0, 1, "B"),
    DType("u16", "uint16", "<u2", 0, 1, "H"),
    DType("u32", "uint32", "<u4", 0, 1, "I"),
    DType("u64", "uint64", "<u8", 0, 1, "Q"),
    DType("bool", "bool", "|b1", 0, 6, "?"),
    DType("c64", "complex64", "<c8", E.C64, 5, "2f"),
    DType("c128", "complex128", "<c16", E.C128, 5, "2d"),
)
OWN: Dict[str, DType] = {one.name: one for one in ALL}  # as kernels have them
_TWO_MEANINGS = ("i8", "u8")  # bits here, bytes in NumPy
_BY_NAME: Dict[str, DType] = {"float": OWN["f64"], "int": OWN["i64"]}
for _one in ALL:
    for _name in (_one.name, _one.numpy_name, _one.typestr, _one.typestr[1:]):
        if _name not in _TWO_MEANINGS and _name != "V2":
            _BY_NAME[_name] = _one
_BY_NUMBER = {one.number: one for one in ALL if one.number}
_BY_DLPACK = {(one.code, 8 * one.itemsize): one for one in ALL}


def find(name: object) -> Optional[DType]:
    """The type that a name, a type of NumPy or of Python means, or None."""
    if isinstance(name, DType):
        return name
    if isinstance(name, str):
        return _BY_NAME.get(name)
    if isinstance(name, type) and name in (float, int, bool):
        return _BY_NAME[name.__name__]
    for attribute in ("name", "__name__"):  # numpy.dtype; numpy.float32, ml_dtypes.bfloat16
        text = getattr(name, attribute, None)
        if isinstance(text, str) and text in _BY_NAME:
            return _BY_NAME[text]
    text = str(name)  # torch.float32
    return _BY_NAME.get(text.rsplit(".", 1)[-1])


def get(name: object) -> DType:
    """The same; TypeError if there is none."""
    found = find(name)
    if found is None and name in _TWO_MEANINGS:
        raise TypeError("%r means 8 bits here and 8 bytes in NumPy: say isomer.%s, or %r"
                        % (name, name, "int64" if name == "i8" else "uint64"))
    if found is None:
        raise TypeError("%r is no type of elements that isomer has: %s"
                        % (name, " ".join(one.name for one in ALL)))
    return found


def of_number(number: int) -> DType:
    """The type of an iso_dtype."""
    return _BY_NUMBER[number]


def of_dlpack(code: int, bits: int, lanes: int) -> Optional[DType]:
    """The type of DLPack's numbers."""
    return _BY_DLPACK.get((code, bits)) if lanes == 1 else None


assert sys.byteorder == "little"
