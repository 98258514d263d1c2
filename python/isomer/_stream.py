# SPDX-License-Identifier: Apache-2.0
"""_stream.py - Stream, Event and Graph."""
from __future__ import annotations

import contextlib
import ctypes
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Union

from ._abi import E, S, new, plain
from ._errors import Invalid
from ._info import Info
from ._library import api, check
from ._operations import Operations

if TYPE_CHECKING:
    from ._device import Device


class Stream(Operations):
    """A queue of a device: what is submitted to it runs in that order. Device.stream makes one,
    Device.adopt_stream takes one that CuPy, PyTorch or the program has.

    It has every operation of a device. In a with block it is the device's current stream, and the
    end of the block waits for it:

    >>> import isomer
    >>> with isomer.open("openmp") as dev, dev.stream() as stream:
    ...     x = dev.array([1.0, 2.0])
    ...     y = x + x                 # on that stream
    ...     stream.synchronize()
    ...     y.tolist()
    [2.0, 4.0]
    """

    def __init__(self, device: "Device", handle: Any, native: Optional[int] = None,
                 inline: bool = False, owner: Any = None) -> None:
        self.device, self.handle, self.inline = device, handle, inline
        self.closed = False
        self.recording: Optional["Graph"] = None
        self._owner = owner  # of an adopted stream
        self._held: List[Any] = []  # what pending transfers use
        self._event: Optional["Event"] = None
        self._native = native
        self._destroy = api().iso_stream_destroy

    @property
    def native(self) -> Optional[int]:
        """The vendor's stream as a number (CUstream, hipStream_t, cl_command_queue), or None."""
        if self._native is None and self.device.backend != "openmp":
            out = ctypes.c_void_p()
            check(api().iso_native_get(E.NATIVE_STREAM, self.handle.id, ctypes.byref(out)))
            self._native = out.value or 0
        return self._native

    # ---- what others of this package need

    def use(self, part: Any, writes: bool) -> None:
        """Orders this stream behind what others do with the memory."""
        memory = part.memory
        if memory is None:
            raise Invalid("a template has no memory: it is for supports, describe and cost")
        if self.recording is not None:
            self.recording.keep(part)
            return
        if memory.writer is not self or writes:
            memory.used_by(self, writes)

    def finish(self, kept: Any, wait: bool) -> None:
        """Waits for a transfer, or keeps what it uses until something waits."""
        if self.recording is not None:
            self.recording.keep(kept)
        elif wait:
            self.synchronize()
        else:
            self._held.append(kept)

    def pick(self, native: Any) -> "Stream":
        return self

    def stream_for(self, stream: Any) -> "Stream":
        return self if stream is None else self.device.stream_for(stream)

    # ---- order

    def synchronize(self, timeout: Optional[float] = None) -> None:
        """Waits until everything submitted has finished; raises the stream's late error, if it has
        one, and Timeout after so many seconds."""
        if timeout is None:
            check(api().iso_stream_sync(self.handle))
        else:
            check(api().iso_stream_sync_timeout(self.handle, int(timeout * 1e9)))
        self._held.clear()

    @property
    def done(self) -> bool:
        """Whether everything submitted has finished."""
        status = api().iso_stream_query(self.handle)
        if status != E.NOT_READY:
            check(status)
        return bool(status == E.OK)

    def event(self) -> "Event":
        """A new event, recorded here."""
        return Event(self.device).record(self)

    def wait(self, other: Union["Event", "Stream"]) -> None:
        """What is submitted to this stream from now on waits for an event, or for what was
        submitted to another stream so far."""
        if isinstance(other, Stream):
            if other is self or other.closed or other.inline or other.recording or self.recording:
                return
            if other._event is None:
                other._event = Event(self.device)
            other = other._event.record(other)
        check(api().iso_stream_wait(self.handle, other.handle))

    @contextlib.contextmanager
    def record(self) -> Iterator["Graph"]:
        """Records what is submitted in the block instead of running it:

        >>> import isomer
        >>> with isomer.open("openmp") as dev, dev.stream() as stream:
        ...     x = dev.array([1.0, 2.0])
        ...     with stream.record() as graph:
        ...         x += x
        ...     graph.launch()
        ...     graph.launch()
        ...     x.tolist()
        [4.0, 8.0]
        """
        graph = Graph(self)
        check(api().iso_graph_begin(self.handle))
        self.recording = graph
        try:
            with self.device.current(self):
                yield graph
        except BaseException:
            self.recording = None
            api().iso_graph_end(self.handle, None)
            raise
        self.recording = None
        check(api().iso_graph_end(self.handle, ctypes.byref(graph.handle)))

    # ---- life

    def close(self) -> None:
        """Waits for the work, frees the stream, and raises its late error if it has one. An adopted
        stream stays as it is."""
        if not self.closed:
            self.closed = True
            status = self._destroy(self.handle)
            self._held.clear()
            if not self.device.closed:
                check(status)

    def __del__(self) -> None:
        if not getattr(self, "closed", True):
            self.closed = True
            self._destroy(self.handle)

    def __enter__(self) -> "Stream":
        self.device.push(self)
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        self.device.pop(self)
        if not self.closed and not self.device.closed:
            if kind is None:
                self.synchronize()
            else:
                api().iso_stream_sync(self.handle)

    def __repr__(self) -> str:
        return "<isomer.Stream of %s%s>" % (self.device.spec, ", closed" if self.closed else "")


class Event:
    """A point of a stream. `stop.seconds_since(start)` is the time between two, on the device's
    clock.

    >>> import isomer
    >>> with isomer.open("openmp") as dev, dev.stream() as stream:
    ...     start = stream.event()
    ...     y = dev.zeros(1000) + 1.0
    ...     stop = stream.event()
    ...     stop.synchronize()
    ...     stop.seconds_since(start) > 0
    True
    """

    def __init__(self, device: "Device") -> None:
        self.device, self.handle = device, S.iso_event()
        check(api().iso_event_create(device.handle, ctypes.byref(self.handle)))
        self._destroy = api().iso_event_destroy

    def record(self, stream: Optional[Stream] = None) -> "Event":
        """Marks this point of the stream."""
        check(api().iso_event_record(self.handle, self.device.stream_for(stream).handle))
        return self

    def synchronize(self) -> None:
        """Waits until everything before it has finished."""
        check(api().iso_event_sync(self.handle))

    @property
    def done(self) -> bool:
        """Whether everything before it has finished."""
        status = api().iso_event_query(self.handle)
        if status != E.NOT_READY:
            check(status)
        return bool(status == E.OK)

    def seconds_since(self, start: "Event") -> float:
        """Seconds from another event to this one. Both must be complete."""
        out = ctypes.c_int64()
        check(api().iso_event_elapsed(start.handle, self.handle, ctypes.byref(out)))
        return out.value * 1e-9

    def __del__(self) -> None:
        if hasattr(self, "_destroy") and self.handle.id:
            self._destroy(self.handle)


class Graph:
    """Work that Stream.record recorded. It keeps the arrays that it uses."""

    def __init__(self, stream: Stream) -> None:
        self.device, self.stream, self.handle = stream.device, stream, S.iso_graph()
        self._kept: List[Any] = []
        self._destroy = api().iso_graph_destroy

    def keep(self, what: Any) -> None:
        self._kept.append(what)

    def launch(self, stream: Optional[Stream] = None) -> None:
        """Submits all of it by one call, to the stream that recorded it or to another."""
        stream = self.stream if stream is None else self.device.stream_for(stream)
        for part in self._kept:
            if getattr(part, "memory", None) is not None:
                part.memory.used_by(stream, True)
        check(api().iso_graph_launch(self.handle, stream.handle))

    @property
    def info(self) -> Info:
        """How it is launched: `whole`, `works`, `refused`, `scratch_bytes`, `reason`."""
        out = new("iso_graph_info")
        check(api().iso_graph_get_info(self.handle, ctypes.byref(out)))
        return Info(**plain(out))

    def close(self) -> None:
        """Waits for its launches and frees it."""
        handle, self.handle = self.handle, S.iso_graph()
        if handle.id:
            self._destroy(handle)
        self._kept.clear()

    def __del__(self) -> None:
        if hasattr(self, "_destroy"):
            self.close()
