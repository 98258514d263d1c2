# SPDX-License-Identifier: Apache-2.0
"""_abi.py - the public headers (include/isomer) for ctypes: the only place that has structs,
enumerators, prototypes and the kinds of operation.

A row of STRUCTS is the struct's name and its fields in order, as "type: names". A new field of a
header is a word here, and a new operation is a struct and a row of KINDS. python/tests/abi.py
compiles a C program that compares all of it with the headers.
"""
from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any, Dict, List, Tuple

SPEC_MAX, NAME_MAX, NOTE_MAX, REASON_MAX, DIMS_MAX = 512, 128, 256, 4096, 8

# The enumerations by the name of their C type, without the ISO_ of enumerators. A type that ends in
# a question mark has no name in C.
ENUMS: Dict[str, Dict[str, int]] = {
    "iso_status": {"OK": 0, "INVALID": 1, "MISMATCH": 2, "NOT_READY": 3, "UNAVAILABLE": 4,
                   "UNSUPPORTED": 5, "NO_MEMORY": 6, "COMPILE": 7, "TIMEOUT": 8, "BACKEND": 9,
                   "DEVICE_LOST": 10, "INTERNAL": 11},
    "iso_dtype": {"F16": 1, "BF16": 2, "F32": 3, "F64": 4, "I32": 5, "I64": 6, "I8": 7,
                  "C64": 8, "C128": 9},
    "iso_variant": {"VARIANT_AUTO": 0, "VARIANT_NAIVE": 1, "VARIANT_TILED": 2, "VARIANT_VENDOR": 3,
                    "VARIANT_PARTIALS": 5, "VARIANT_FIXED": 6},
    "iso_trans": {"NO_TRANS": 0, "TRANS": 1, "CONJ_TRANS": 2},
    "iso_order": {"ROW_MAJOR": 0, "COLUMN_MAJOR": 1},
    "iso_triangle": {"LOWER": 1, "UPPER": 2},
    "iso_side": {"LEFT": 0, "RIGHT": 1},
    "iso_spread": {"SPREAD_NONE": 0, "SPREAD_ROW": 1, "SPREAD_COLUMN": 2, "SPREAD_ONE": 3},
    "iso_math": {"MATH_DEFAULT": 0, "MATH_STRICT": 1, "MATH_TF32": 2},
    "iso_keep": {"KEEP_DEFAULT": 0, "KEEP_BITS": 1, "KEEP_TERMS": 2, "KEEP_SCALE": 3},
    "iso_reduce_op": {"SUM": 1, "PRODUCT": 2, "MIN": 3, "MAX": 4, "MEAN": 5, "DOT": 6, "ASUM": 7,
                      "NORM2": 8, "ARGMIN": 9, "ARGMAX": 10, "XOR": 11, "AMAX": 12,
                      "ARGAMAX": 13},
    "iso_axis": {"AXIS_ALL": 0, "AXIS_0": 1, "AXIS_1": 2},
    "iso_map_op": {"MAP_COPY": 1, "MAP_SCALE": 2, "MAP_ADD": 3, "MAP_MULTIPLY": 4, "MAP_TRIAD": 5,
                   "MAP_CHAIN": 6, "MAP_SUBTRACT": 7, "MAP_DIVIDE": 8, "MAP_MIN": 9, "MAP_MAX": 10,
                   "MAP_ABS": 11, "MAP_NEGATE": 12, "MAP_AXPBY": 13, "MAP_FMA": 14, "MAP_RELU": 15,
                   "MAP_EXP": 16, "MAP_TANH": 17, "MAP_CONVERT": 18},
    "iso_op_kind": {"OP_GEMM": 1, "OP_TRANSPOSE": 2, "OP_REDUCE": 3, "OP_MAP": 4, "OP_GEMV": 5,
                    "OP_SPMV": 6, "OP_SYRK": 8, "OP_TRSM": 9},
    "iso_state": {"STATE_OK": 1, "STATE_NOT_FOUND": 2, "STATE_NO_DRIVER": 3, "STATE_NO_DEVICE": 4,
                  "STATE_LOAD_FAILED": 5, "STATE_ABI_MISMATCH": 6, "STATE_FORKED": 7,
                  "STATE_BROKEN": 8},
    "iso_device_type": {"DEVICE_CPU": 1, "DEVICE_GPU": 2, "DEVICE_ACCELERATOR": 3},
    "feature?": {"FEATURE_F64": 1, "FEATURE_DENORMALS": 2, "FEATURE_FAST_FMA": 4,
                 "FEATURE_HOST_MEMORY": 8, "FEATURE_FAKE": 16, "FEATURE_COMPILES": 32,
                 "FEATURE_SIMULATED": 64},
    "throttle?": {"THROTTLE_POWER": 1, "THROTTLE_THERMAL": 2, "THROTTLE_OTHER": 4},
    "iso_path": {"PATH_SAME": 1, "PATH_PEER": 2, "PATH_STAGED": 3},
    "stream?": {"STREAM_INLINE": 1},
    "iso_native_kind": {"NATIVE_CONTEXT": 1, "NATIVE_DEVICE": 2, "NATIVE_STREAM": 3,
                        "NATIVE_EVENT": 4, "NATIVE_MEMORY": 5},
    "import?": {"IMPORT_READ_ONLY": 1},
    "tensor?": {"TENSOR_READ_ONLY": 1, "TENSOR_COPIED": 2},
    "dlpack?": {"DLPACK_VERSIONED": 1},
    "sparse?": {"SPARSE_NO_TRANSPOSE": 1, "SPARSE_KEEP_INDEX": 2},
    "iso_parameter_role": {"PARAMETER_VALUE": 1, "PARAMETER_IN": 2, "PARAMETER_OUT": 3,
                           "PARAMETER_INOUT": 4, "PARAMETER_SHARED": 5, "PARAMETER_OWN": 6},
    "iso_argument_kind": {"ARGUMENT_INTEGER": 1, "ARGUMENT_FLOAT": 2, "ARGUMENT_BUFFER": 3,
                          "ARGUMENT_BYTES": 4},
    "limit?": {"SPEC_MAX": SPEC_MAX, "NAME_MAX": NAME_MAX, "NOTE_MAX": NOTE_MAX,
               "REASON_MAX": REASON_MAX, "TENSOR_DIMS_MAX": DIMS_MAX},
}
# ISO_SUM as E.SUM, ISO_VARIANT_AUTO as E.VARIANT_AUTO and so on.
E: Any = SimpleNamespace(**{name: value for values in ENUMS.values()
                            for name, value in values.items()})

_TYPES: Dict[str, Any] = {
    "u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32, "u64": ctypes.c_uint64,
    "i32": ctypes.c_int32, "i64": ctypes.c_int64, "f64": ctypes.c_double,
    "pointer": ctypes.c_void_p, "text": ctypes.c_char_p, "name": ctypes.c_char * NAME_MAX,
    "spec": ctypes.c_char * SPEC_MAX, "note": ctypes.c_char * NOTE_MAX,
    "reason": ctypes.c_char * REASON_MAX, "dims": ctypes.c_int64 * DIMS_MAX,
    "items": ctypes.c_int32 * 3,
}
_TYPES.update({name: ctypes.c_int for name in ENUMS if not name.endswith("?")})

STRUCTS: Dict[str, str] = {
    "iso_device": "u64: id",
    "iso_stream": "u64: id",
    "iso_event": "u64: id",
    "iso_buffer": "u64: id",
    "iso_graph": "u64: id",
    "iso_sparse": "u64: id",
    "iso_program": "u64: id",
    "iso_kernel": "iso_program: program, i64: index",
    "iso_operand": "iso_buffer: buffer, i64: offset",
    "iso_groups": "i64: x y z",
    "iso_device_info": "u32: size, i32: index, name: spec backend name vendor uuid architecture "
                       "driver runtime, iso_device_type: type, u32: features, i64: memory_total "
                       "memory_free cache_bytes local_bytes, i32: units threads clock_mhz reserved",
    "iso_entry": "u32: size, iso_state: state, i32: is_plugin reserved, name: backend, "
                 "reason: origin reason, iso_device_info: device",
    "iso_device_options": "u32: size, iso_math: math, i64: memory_limit, iso_keep: keep, "
                          "u32: reserved",
    "iso_property": "u32: size, name: name, reason: value",
    "iso_telemetry": "u32: size, i32: throttle clock_mhz clock_max_mhz memory_clock_mhz ecc, "
                     "f64: power_watts power_cap_watts temperature_celsius busy_percent, "
                     "name: partition source, f64: energy_joules, name: energy_scope, "
                     "note: energy_reason",
    "iso_memory_use": "u32: size reserved, i64: used peak limit",
    "iso_setting": "u32: size reserved, name: name, reason: value, name: source, "
                   "reason: meaning problem",
    "iso_native_device": "u32: size reserved, pointer: context device",
    "iso_dlpack_tensor": "pointer: data, i32: device_type device_id ndim, u8: code bits, "
                         "u16: lanes, pointer: shape strides, u64: byte_offset",
    "iso_dlpack_managed": "iso_dlpack_tensor: tensor, pointer: context deleter",
    "iso_dlpack_managed_versioned": "u32: major minor, pointer: context deleter, u64: flags, "
                                    "iso_dlpack_tensor: tensor",
    "iso_tensor": "u32: size, iso_dtype: dtype, iso_buffer: buffer, i64: offset, i32: ndim, "
                  "u32: flags, dims: shape strides",
    "iso_graph_info": "u32: size, i32: whole, i64: works refused scratch_bytes, note: reason",
    "iso_sparse_args": "u32: size, iso_dtype: dtype index, u32: flags, i64: rows cols entries, "
                       "pointer: offsets columns values",
    "iso_sparse_info": "u32: size, iso_dtype: dtype index, u32: flags, iso_device: device, "
                       "i64: rows cols entries longest empty bytes",
    "iso_op_info": "u32: size, iso_variant: variant, iso_math: math, u32: reserved, "
                   "name: library kernel, note: math_reason",
    "iso_cost_info": "u32: size reserved, f64: flops bytes_read bytes_written",
    "iso_macro": "text: name value",
    "iso_program_args": "u32: size, i32: macro_count, text: name text, pointer: macros, "
                        "i64: declared, pointer: embedded",
    "iso_kernel_info": "u32: size, i32: line, items: items, i32: parameters, name: name",
    "iso_parameter": "u32: size, iso_parameter_role: role, i32: argument bytes, i64: count, "
                     "name: name type, note: extent",
    "iso_argument": "i64: integer, f64: number, pointer: bytes, iso_operand: buffer, "
                    "iso_argument_kind: kind",
    # The operations.
    "iso_gemm_args": "u32: size, iso_dtype: dtype, iso_variant: variant, iso_math: math, "
                     "iso_trans: trans_a trans_b, i64: m n k, f64: alpha beta, "
                     "iso_operand: a b c, i64: lda ldb ldc batch stride_a stride_b stride_c, "
                     "i32: library, iso_keep: keep, i32: continues, iso_order: order, "
                     "iso_dtype: dtype_c factor_dtype, f64: alpha_imag beta_imag, "
                     "iso_operand: alpha_at beta_at",
    "iso_gemm_member": "iso_operand: a b c",
    "iso_gemv_args": "u32: size, iso_dtype: dtype, iso_variant: variant, iso_trans: trans, "
                     "i64: m k, f64: alpha beta, iso_operand: a x y, i64: lda inc_x inc_y batch "
                     "stride_a stride_x stride_y, i32: library, iso_keep: keep, iso_order: order, "
                     "iso_dtype: factor_dtype, iso_operand: alpha_at beta_at",
    "iso_syrk_args": "u32: size, iso_dtype: dtype, iso_variant: variant, iso_triangle: triangle, "
                     "iso_trans: trans, iso_order: order, i64: n k, f64: alpha beta, "
                     "iso_operand: a c, i64: lda ldc batch stride_a stride_c, i32: library, "
                     "iso_keep: keep, iso_dtype: factor_dtype, u32: reserved, "
                     "f64: alpha_imag beta_imag, iso_operand: alpha_at beta_at",
    "iso_trsm_args": "u32: size, iso_dtype: dtype, iso_variant: variant, iso_side: side, "
                     "iso_triangle: triangle, iso_trans: trans, i32: unit_diagonal, "
                     "iso_order: order, i64: m n, f64: alpha alpha_imag, iso_operand: a b, "
                     "i64: lda ldb batch stride_a stride_b, i32: library, iso_keep: keep, "
                     "iso_dtype: factor_dtype, u32: reserved, iso_operand: alpha_at",
    "iso_transpose_args": "u32: size, iso_variant: variant, i64: element_bytes rows cols, "
                          "iso_operand: from to, i64: ld_from ld_to",
    "iso_reduce_args": "u32: size, iso_reduce_op: op, iso_dtype: dtype, iso_variant: variant, "
                       "iso_axis: axis, iso_keep: keep, i64: rows cols, iso_operand: x y, "
                       "i64: ld_x ld_y, iso_operand: result, i64: inc_result",
    "iso_map_args": "u32: size, iso_map_op: op, iso_dtype: dtype, iso_variant: variant, "
                    "i64: n steps, f64: alpha beta, iso_operand: x y z, i64: rows, iso_operand: w, "
                    "i64: ld_x ld_y ld_w ld_z inc_x inc_y inc_w inc_z, "
                    "iso_spread: spread_x spread_y spread_w, iso_dtype: dtype_z factor_dtype, "
                    "u32: reserved, iso_operand: alpha_at beta_at",
    "iso_spmv_args": "u32: size, iso_variant: variant, iso_trans: trans, i32: library, "
                     "iso_keep: keep, u32: reserved, iso_sparse: matrix, f64: alpha beta, "
                     "iso_operand: x y",
}

# The kinds of operation: iso_op_kind, the struct, and what its INIT macro sets besides the size.
KINDS: Dict[str, Tuple[int, str, Dict[str, float]]] = {
    "gemm": (E.OP_GEMM, "iso_gemm_args", {"alpha": 1.0, "batch": 1}),
    "gemv": (E.OP_GEMV, "iso_gemv_args", {"alpha": 1.0, "batch": 1}),
    "transpose": (E.OP_TRANSPOSE, "iso_transpose_args", {}),
    "reduce": (E.OP_REDUCE, "iso_reduce_args", {"rows": 1}),
    "map": (E.OP_MAP, "iso_map_args", {"alpha": 1.0}),
    "spmv": (E.OP_SPMV, "iso_spmv_args", {"alpha": 1.0}),
    "syrk": (E.OP_SYRK, "iso_syrk_args", {"alpha": 1.0, "batch": 1}),
    "trsm": (E.OP_TRSM, "iso_trsm_args", {"alpha": 1.0, "batch": 1}),
}

# What the package calls: "T" by value, "T*" a pointer. All return iso_status, but those below.
CALLS: Dict[str, str] = {
    "iso_enumerate": "pointer i32 pointer",
    "iso_device_open_with": "text pointer pointer",
    "iso_device_adopt": "text pointer pointer pointer",
    "iso_device_close": "iso_device",
    "iso_device_get_info": "iso_device pointer",
    "iso_device_get_choice": "iso_device pointer i64",
    "iso_device_get_property": "iso_device i32 pointer",
    "iso_device_get_telemetry": "iso_device pointer",
    "iso_device_get_memory_use": "iso_device pointer",
    "iso_get_setting": "i32 pointer",
    "iso_buffer_create": "iso_device i64 pointer",
    "iso_buffer_destroy": "iso_buffer",
    "iso_buffer_import": "iso_device pointer i64 u32 pointer pointer pointer",
    "iso_host_register": "iso_device pointer i64 pointer",
    "iso_host_unregister": "iso_device pointer",
    "iso_write": "iso_stream iso_operand pointer i64",
    "iso_read": "iso_stream pointer iso_operand i64",
    "iso_copy": "iso_stream iso_operand iso_operand i64",
    "iso_fill": "iso_stream iso_operand pointer i64 i64",
    "iso_write_2d": "iso_stream iso_operand i64 pointer i64 i64 i64",
    "iso_read_2d": "iso_stream pointer i64 iso_operand i64 i64 i64",
    "iso_copy_2d": "iso_stream iso_operand i64 iso_operand i64 i64 i64",
    "iso_fill_2d": "iso_stream iso_operand i64 pointer i64 i64 i64",
    "iso_copy_between": "iso_stream iso_operand iso_stream iso_operand i64 pointer",
    "iso_stream_create": "iso_device u32 pointer",
    "iso_stream_adopt": "iso_device pointer pointer",
    "iso_stream_destroy": "iso_stream",
    "iso_stream_sync": "iso_stream",
    "iso_stream_sync_timeout": "iso_stream i64",
    "iso_stream_query": "iso_stream",
    "iso_stream_wait": "iso_stream iso_event",
    "iso_event_create": "iso_device pointer",
    "iso_event_destroy": "iso_event",
    "iso_event_record": "iso_event iso_stream",
    "iso_event_sync": "iso_event",
    "iso_event_query": "iso_event",
    "iso_event_elapsed": "iso_event iso_event pointer",
    "iso_native_get": "iso_native_kind u64 pointer",
    "iso_dlpack_export": "iso_stream iso_stream pointer pointer",
    "iso_graph_begin": "iso_stream",
    "iso_graph_end": "iso_stream pointer",
    "iso_graph_launch": "iso_graph iso_stream",
    "iso_graph_destroy": "iso_graph",
    "iso_graph_get_info": "iso_graph pointer",
    "iso_sparse_create": "iso_device pointer pointer",
    "iso_sparse_destroy": "iso_sparse",
    "iso_sparse_get_info": "iso_sparse pointer",
    "iso_sparse_write": "iso_stream iso_sparse pointer i64",
    "iso_program_create": "iso_device pointer pointer",
    "iso_program_destroy": "iso_program",
    "iso_kernel_at": "iso_program i32 pointer",
    "iso_kernel_get_info": "iso_kernel pointer",
    "iso_kernel_get_parameter": "iso_kernel i32 pointer",
    "iso_launch": "iso_stream iso_kernel iso_groups pointer i32",
    "iso_execute": "iso_stream iso_op_kind pointer",
    "iso_gemm_group": "iso_stream pointer i64",
    "iso_gemm_members": "iso_stream pointer pointer i64",
    "iso_reduce_result": "iso_reduce_op iso_dtype pointer",
    "iso_supports": "iso_device iso_op_kind pointer",
    "iso_describe": "iso_device iso_op_kind pointer pointer",
    "iso_prepare": "iso_stream iso_op_kind pointer",
    "iso_workspace": "iso_device iso_op_kind pointer pointer",
    "iso_cost": "iso_op_kind pointer pointer",
    "iso_last_status": "",
    "iso_clear_error": "",
}
TEXTS: Dict[str, str] = {"iso_version": "", "iso_last_error": "", "iso_status_name": "iso_status"}


def _fields(text: str) -> List[Tuple[str, Any]]:
    made = []
    for part in text.split(","):
        kind, names = part.split(":")
        made += [(name, _TYPES[kind.strip()]) for name in names.split()]
    return made


def _struct(name: str, text: str) -> Any:
    made = type(name, (ctypes.Structure,), {"_fields_": _fields(text)})
    _TYPES[name] = made
    return made


# S.iso_gemm_args is the ctypes.Structure of that name.
S: Any = SimpleNamespace(**{name: _struct(name, text) for name, text in STRUCTS.items()})


def new(struct: str, **values: Any) -> Any:
    """A struct with its size set."""
    made = getattr(S, struct)(**values)
    if made._fields_[0][0] == "size":
        made.size = ctypes.sizeof(made)
    return made


def arguments(kind: str) -> Any:
    """The descriptor of a kind of operation, as its INIT macro has it."""
    _, name, values = KINDS[kind]
    return new(name, **values)


def bind(library: ctypes.CDLL) -> Any:
    """The functions of the library, with their prototypes."""
    made = SimpleNamespace()
    for table, result in ((CALLS, ctypes.c_int), (TEXTS, ctypes.c_char_p)):
        for name, types in table.items():
            function = getattr(library, name)
            function.restype = result
            function.argtypes = [_TYPES[word] for word in types.split()]
            setattr(made, name, function)
    made.iso_clear_error.restype = None
    return made


def named(enum: str, value: int) -> str:
    """The enumerator's name in small letters, without the words that all of the type share."""
    for name, number in ENUMS[enum].items():
        if number == value:
            for prefix in ("VARIANT_", "MATH_", "KEEP_", "MAP_", "OP_", "STATE_", "DEVICE_",
                           "PARAMETER_", "PATH_"):
                if name.startswith(prefix):
                    name = name[len(prefix):]
            return name.lower().replace("_", " ")
    return str(value)


def plain(struct: Any) -> Dict[str, Any]:
    """A struct that the library filled, as a dictionary without `size` and `reserved`."""
    made: Dict[str, Any] = {}
    types = dict(struct._fields_)
    for part in STRUCTS[type(struct).__name__].split(","):
        kind, names = (word.strip() for word in part.split(":"))
        for name in names.split():
            if name in ("size", "reserved"):
                continue
            value = getattr(struct, name)
            if isinstance(value, bytes):
                value = value.decode("utf-8", "replace")
            elif kind in ENUMS:
                value = named(kind, value)
            elif issubclass(types[name], ctypes.Structure):
                value = plain(value)
            made[name] = value
    return made
