# SPDX-License-Identifier: Apache-2.0
"""_kernel.py - the program's own kernels (isomer/kernel.h, docs/kernels.md)."""
from __future__ import annotations

import ctypes
import numbers
import os
import re
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _dtypes, _foreign
from ._abi import E, S, new, plain
from ._array import Array
from ._errors import Invalid
from ._info import Info
from ._library import api, check

if TYPE_CHECKING:
    from ._device import Device

Groups = Union[int, Sequence[int]]
_ROLES = {"in": "in ", "out": "out ", "inout": "inout ", "shared": "shared ", "value": "",
          "own": "own "}


class Program:
    """A text of kernels, compiled for a device. Each kernel is an attribute: program.axpy."""

    def __init__(self, device: "Device", text: str, name: str, macros: Dict[str, Any],
                 declared: bool) -> None:
        self.device, self.name, self.handle = device, name, S.iso_program()
        self._destroy = api().iso_program_destroy
        args = new("iso_program_args", name=name.encode(), text=text.encode(),
                   declared=int(declared), macro_count=len(macros))
        pairs = (S.iso_macro * max(len(macros), 1))()
        for pair, (key, value) in zip(pairs, macros.items()):
            pair.name, pair.value = key.encode(), str(value).encode()
        args.macros = ctypes.addressof(pairs) if macros else None
        check(api().iso_program_create(device.handle, ctypes.byref(args),
                                       ctypes.byref(self.handle)))
        self.kernels: Dict[str, Kernel] = {}
        while True:
            kernel = S.iso_kernel()
            status = api().iso_kernel_at(self.handle, len(self.kernels), ctypes.byref(kernel))
            if status == E.NOT_READY:
                break
            check(status)
            made = Kernel(self, kernel)
            self.kernels[made.name] = made

    def __getattr__(self, name: str) -> "Kernel":
        kernels = self.__dict__.get("kernels", {})
        if name in kernels:
            kernel: Kernel = kernels[name]
            return kernel
        raise AttributeError("the program has no kernel %r: %s" % (name, ", ".join(kernels)))

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self.kernels]

    def __repr__(self) -> str:
        return "<isomer.Program %s: %s>" % (self.name, "; ".join(map(str, self.kernels.values())))

    def __del__(self) -> None:
        if hasattr(self, "handle") and self.handle.id:
            self._destroy(self.handle)


class Kernel:
    """A kernel of a program: kernel[groups](arguments...), in the order of its parameters or by
    their names. Types, roles and extents are checked by the kernel's own declaration."""

    def __init__(self, program: Program, handle: Any) -> None:
        self.program, self.device, self.handle = program, program.device, handle
        info = new("iso_kernel_info")
        check(api().iso_kernel_get_info(handle, ctypes.byref(info)))
        self.name: str = info.name.decode()
        self.items: Tuple[int, ...] = tuple(info.items)
        self.line: int = info.line
        self.parameters: List[Info] = []
        for i in range(info.parameters):
            out = new("iso_parameter")
            check(api().iso_kernel_get_parameter(handle, i, ctypes.byref(out)))
            self.parameters.append(Info(**plain(out)))
        taken = [one for one in self.parameters if one.argument >= 0]
        self.arguments: List[Info] = sorted(taken, key=lambda one: int(one.argument))

    def __str__(self) -> str:
        words = []
        for one in self.arguments:
            extent = "[%s]" % one.extent if one.role in ("in", "out", "inout") else ""
            words.append(_ROLES[one.role] + one.type + " " + one.name + extent)
        return "%s(%s)" % (self.name, ", ".join(words))

    def __repr__(self) -> str:
        return "<isomer.Kernel %s, %s items>" % (self, " x ".join(map(str, self.items)))

    def cover(self, *items: int) -> Tuple[int, ...]:
        """How many groups have at least so many items along x, y and z."""
        return tuple((count + self.items[i] - 1) // self.items[i] for i, count in enumerate(items))

    def __getitem__(self, groups: Groups) -> "Launch":
        return Launch(self, groups)

    def launch(self, groups: Groups, *values: Any, stream: Any = None, **named: Any) -> None:
        """Submits it: as many groups along x, or (x, y, z), and the arguments."""
        given = list(values)
        if len(given) > len(self.arguments):
            raise Invalid("%s: %d arguments for %d: %s" % (self.name, len(given),
                                                           len(self.arguments), self))
        for one in self.arguments[len(given):]:
            if one.name not in named:
                raise Invalid("%s: no argument for %s: %s" % (self.name, one.name, self))
            given.append(named.pop(one.name))
        if named:
            raise Invalid("%s: it has no parameter %s, or that is given twice: %s"
                          % (self.name, ", ".join(named), self))
        self._submit(groups, given, stream)

    def _submit(self, groups: Groups, given: List[Any], stream: Any) -> None:
        buffers = [i for i, one in enumerate(self.arguments) if one.role in ("in", "out", "inout")]
        native = None
        if self.device.backend != "openmp" and stream is None:
            for i in buffers:
                found = None if isinstance(given[i], Array) else _foreign.look(given[i])
                native = native or (found.stream() if found is not None else None)
        on = self.device.stream_for(stream) if stream is not None else self.device.pick(native)
        borrowed = self.device.borrow(
            [(given[i], self.arguments[i].role != "in") for i in buffers], on,
            ["%s: %s" % (self.name, self.arguments[i].name) for i in buffers])
        args, kept = (S.iso_argument * max(len(given), 1))(), []
        arrays = dict(zip(buffers, borrowed.arrays))
        for i, (one, value) in enumerate(zip(self.arguments, given)):
            if i in arrays:
                self._check_array(one, arrays[i])
                args[i].kind, args[i].buffer = E.ARGUMENT_BUFFER, arrays[i].operand()
            else:
                kept.append(self._value(one, value, args[i]))
        borrowed.before(on)
        for i, array in arrays.items():
            on.use(array, self.arguments[i].role != "in")
        sizes = (groups,) if isinstance(groups, int) else tuple(groups)
        sizes += (1,) * (3 - len(sizes))
        check(api().iso_launch(on.handle, self.handle, S.iso_groups(*sizes), args, len(given)))
        borrowed.after(on)
        if on.recording is not None:
            on.recording.keep(self.program)

    def _check_array(self, one: Info, array: Array) -> None:
        wanted = re.sub(r"x[24]$", "", one.type)
        found = _dtypes.OWN.get(wanted)
        if found is not None and array.dtype is not found:
            raise Invalid("%s: %s has elements of %s, and the array has %s"
                          % (self.name, one.name, one.type, array.dtype.name))
        if array.memory is not None and not array.contiguous:
            raise Invalid("%s: %s has gaps or is transposed: use .copy()" % (self.name, one.name))

    def _value(self, one: Info, value: Any, out: Any) -> Any:
        """Sets an argument that is no array; returns what must live during the call."""
        if isinstance(value, Array):
            value = value.item()
        if isinstance(value, numbers.Number):
            if one.role == "shared" or one.type[:1] in "iu" and one.type[1:].isdigit():
                whole = int(value)  # type: ignore[call-overload]
                if whole != value:
                    raise Invalid("%s: %s is of %s, and %r is no whole number"
                                  % (self.name, one.name, one.type, value))
                if one.type == "u64" and whole >> 63 == 1:
                    value = whole.to_bytes(8, "little")
                else:
                    if not -(1 << 63) <= whole < 1 << 63:
                        raise Invalid("%s: %s: %d is out of range" % (self.name, one.name, whole))
                    out.kind, out.integer = E.ARGUMENT_INTEGER, whole
                    return None
            else:
                out.kind, out.number = E.ARGUMENT_FLOAT, float(value)  # type: ignore[arg-type]
                return None
        data = bytes(memoryview(value).cast("B")) if not isinstance(value, bytes) else value
        kept = ctypes.create_string_buffer(data, max(len(data), 1))
        out.kind, out.bytes, out.integer = E.ARGUMENT_BYTES, ctypes.addressof(kept), len(data)
        return kept


class Launch:
    """kernel[groups]: call it with the arguments."""

    __slots__ = ("kernel", "groups")

    def __init__(self, kernel: Kernel, groups: Groups) -> None:
        self.kernel, self.groups = kernel, groups

    def __call__(self, *values: Any, stream: Any = None, **named: Any) -> None:
        self.kernel.launch(self.groups, *values, stream=stream, **named)


def kernel(source: Union[str, "os.PathLike[str]"], device: "Device", *, name: Optional[str] = None,
           macros: Optional[Dict[str, Any]] = None, declared: bool = False) -> Program:
    """Compiles kernels for a device. `source` is a text, or the path of one (pathlib.Path).

    A fault in the text is CompileFailed with the compiler's log, or Invalid with the line. A CPU
    needs a C compiler, which ISOMER_CC names. With declared=True the declarations alone are read:

    >>> import isomer
    >>> text = '''
    ... #include <isomer/kernel.h>
    ... ISO_KERNEL(axpy, 256, 1, 1)(f32 a, ISO_IN(f32) x ISO_EXTENT(n),
    ...                             ISO_INOUT(f32) y ISO_EXTENT(n), i64 n)
    ... {
    ...     ISO_REGION(i)
    ...     {
    ...         if (iso_x(i) < n) {
    ...             y[iso_x(i)] = iso_fma_f32(a, x[iso_x(i)], y[iso_x(i)]);
    ...         }
    ...     }
    ... }
    ... '''
    >>> with isomer.open("openmp") as dev:
    ...     program = isomer.kernel(text, dev, declared=True)
    ...     print(program.axpy, program.axpy.cover(1000))
    axpy(f32 a, in f32 x[n], inout f32 y[n], i64 n) (4,)
    """
    if isinstance(source, os.PathLike):
        with open(source, encoding="utf-8") as file:
            text = file.read()
        name = name or os.path.basename(os.fspath(source))
    else:
        text = source
    return Program(device, text, name or "program", macros or {}, declared)
