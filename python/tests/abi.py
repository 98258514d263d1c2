# SPDX-License-Identifier: Apache-2.0
"""abi.py - isomer._abi has the structs, enumerators and calls of the headers: a C program prints
sizes, offsets and values, and the headers are searched for enumerators and fields that the package
does not have. A planted difference of each kind must be found."""
import ctypes
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import common
from isomer import _abi

CC = os.environ.get("ISOMER_TEST_CC") or shutil.which("cc")
INCLUDE = os.path.join(common.SOURCE, "include")
# Headers that the package has nothing of: communicators, grids, and what C programs compile.
OTHERS = {"backend.h", "comm.h", "embedded.h", "engine.h", "grid.h", "isomer.h",
          "kernel.h"}
NOT_BOUND = {"iso_buffer_info", "iso_spec", "iso_embedded", "iso_embedded_set"}


def c_program(structs, enums):
    lines = ["#include <isomer/isomer.h>", "#include <stdio.h>", "int main(void) {"]
    for name, text in structs.items():
        kind = "%s" % name
        lines.append('printf("%s %%zu\\n", sizeof(%s));' % (name, kind))
        for part in text.split(","):
            for field in part.split(":")[1].split():
                lines.append('printf("%s.%s %%zu %%zu\\n", offsetof(%s, %s), sizeof(((%s *)0)->%s));'
                             % (name, field, kind, field, kind, field))
    for enum, values in enums.items():
        for key in values:
            lines.append('printf("ISO_%s %%lld\\n", (long long)ISO_%s);' % (key, key))
        if not enum.endswith("?"):
            lines.append('printf("%s %%zu\\n", sizeof(%s));' % (enum, enum))
    return "\n".join(lines + ["return 0; }"])


def printed_by_c(structs, enums):
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "abi.c"), os.path.join(folder, "abi")
        with open(source, "w", encoding="utf-8") as file:
            file.write(c_program(structs, enums))
        subprocess.run([CC, "-std=c11", "-w", "-I", INCLUDE, "-o", program, source], check=True)
        return subprocess.run([program], stdout=subprocess.PIPE, text=True,
                              check=True).stdout.split("\n")[:-1]


def printed_by_python(structs, enums):
    lines = []
    for name, text in structs.items():
        made = getattr(_abi.S, name)
        lines.append("%s %d" % (name, ctypes.sizeof(made)))
        for part in text.split(","):
            for field in part.split(":")[1].split():
                place = getattr(made, field)
                lines.append("%s.%s %d %d" % (name, field, place.offset, place.size))
    for enum, values in enums.items():
        lines += ["ISO_%s %d" % pair for pair in values.items()]
        if not enum.endswith("?"):
            lines.append("%s %d" % (enum, ctypes.sizeof(ctypes.c_int)))
    return lines


def header_text():
    text = ""
    for name in sorted(os.listdir(os.path.join(INCLUDE, "isomer"))):
        if name not in OTHERS:
            with open(os.path.join(INCLUDE, "isomer", name), encoding="utf-8") as file:
                text += re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    return text


def enumerators(text):
    made = set()
    for body in re.findall(r"\benum\b[^{};()]*\{([^}]*)\}", text):
        made |= set(re.findall(r"\bISO_(\w+)\s*=", body))
    return made


def fields(text):
    """The fields of each struct in the headers."""
    made = {}
    for body, name in re.findall(r"typedef struct \w* ?\{(.*?)\n\} (\w+);", text, flags=re.S):
        words = []
        for declaration in body.split(";"):
            if "(" in declaration:  # a pointer to a function
                words += re.findall(r"\(\*(\w+)\)", declaration)
            elif declaration.strip():
                names = re.sub(r"\[[^]]*\]", "", declaration).split(",")
                words += [re.findall(r"\w+", part)[-1] for part in names]
        made[name] = words
    return made


class Abi(unittest.TestCase):
    def test_sizes_offsets_values(self):
        self.assertEqual(printed_by_c(_abi.STRUCTS, _abi.ENUMS),
                         printed_by_python(_abi.STRUCTS, _abi.ENUMS))

    def test_nothing_of_the_headers_is_missing(self):
        text = header_text()
        known = {name for values in _abi.ENUMS.values() for name in values}
        self.assertGreater(len(enumerators(text)), 70)
        self.assertEqual(enumerators(text) - known, set())
        found = fields(text)
        self.assertGreater(len(found), 25)
        for name in found.keys() - NOT_BOUND:
            with self.subTest(name):
                self.assertIn(name, _abi.STRUCTS)
                mine = [field for field, _ in getattr(_abi.S, name)._fields_]
                self.assertEqual(found[name], mine)

    def test_planted_differences_are_seen(self):
        text = header_text()
        self.assertIn("NEW_ONE", enumerators(text + "typedef enum { ISO_NEW_ONE = 3 } iso_new;"))
        grown = text.replace("int64_t m, n, k;", "int64_t m, n, k, l;", 1)
        self.assertNotEqual(fields(grown)["iso_gemm_args"], fields(text)["iso_gemm_args"])
        enums = {"iso_map_op": dict(_abi.ENUMS["iso_map_op"], MAP_COPY=7)}
        self.assertNotEqual(printed_by_c({}, enums), printed_by_python({}, enums))
        structs = {"iso_cost_info": "u32: size, u32: reserved, f64: bytes_read flops bytes_written"}
        swapped = {"iso_cost_info": type("x", (ctypes.Structure,), {
            "_fields_": _abi._fields(structs["iso_cost_info"])})}
        kept, _abi.S.iso_cost_info = _abi.S.iso_cost_info, swapped["iso_cost_info"]
        try:
            self.assertNotEqual(printed_by_c(structs, {}), printed_by_python(structs, {}))
        finally:
            _abi.S.iso_cost_info = kept

    def test_calls(self):
        text = header_text()
        kinds = {"uint32_t": "u32", "int32_t": "i32", "int64_t": "i64", "uint64_t": "u64"}
        for name, types in {**_abi.CALLS, **_abi.TEXTS}.items():
            with self.subTest(name):
                found = re.search(r"\b%s\((.*?)\);" % name, text, flags=re.S)
                self.assertTrue(found, "no header declares it")
                depth, words, word = 0, [], ""
                for letter in found.group(1) + ",":
                    depth += (letter == "(") - (letter == ")")
                    if letter == "," and depth == 0:
                        words.append(" ".join(word.split()))
                        word = ""
                    else:
                        word += letter
                wanted = []
                for word in words:
                    if word in ("void", ""):
                        continue
                    first = word.replace("const ", "").split()[0]
                    if "char *" in word and "const" in word and "**" not in word:
                        wanted.append("text")
                    elif "*" in word:
                        wanted.append("pointer")
                    else:
                        wanted.append(kinds.get(first, first))
                self.assertEqual(types.split(), wanted)


if __name__ == "__main__":
    if not CC:
        common.skip("no C compiler is here: install gcc")
    common.main()
