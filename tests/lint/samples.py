# SPDX-License-Identifier: Apache-2.0
"""samples.py OUT PAGE...: takes the programs out of pages (OUT/PAGE-1.c, with what the page says it
prints in OUT/PAGE-1.txt), and makes OUT/calls.c of all calls that are in tables, which must compile."""
import os
import re
import sys

# The variables that the tables of the pages use.
VARIABLES = """#include <isomer/isomer.h>
#include <stddef.h>
static iso_device device;
static iso_stream stream, to_stream, consumer;
static iso_event event, start, stop;
static iso_buffer buffer;
static iso_graph graph;
static iso_comm comm;
static iso_program program;
static iso_kernel kernel;
static iso_operand a, b, c, x, y, z, bias, factor, to, from;
static iso_trans trans_a, trans_b;
static iso_path path;
static iso_entry *entries;
static iso_device_info info;
static iso_device_options options;
static iso_memory_use use;
static iso_telemetry telemetry;
static iso_native_device native;
static iso_op_info op_info;
static iso_gemm_args args, *products;
static iso_gemm_member *members;
static iso_gemv_args gemv;
static iso_syrk_args syrk;
static iso_trsm_args trsm;
static iso_transpose_args transpose;
static iso_reduce_args reduce;
static iso_map_args map;
static iso_spmv_args spmv;
static iso_comm_args comm_args;
static iso_program_args program_args;
static iso_macro macro;
static iso_groups groups;
static iso_argument *arguments;
static iso_tensor tensor;
static void *host, *pointer, *managed, *native_stream;
static float pattern;
static double alpha, beta;
static int32_t capacity, count, pinned;
static int64_t m, n, k, lda, ldb, ldc, rows, cols, bytes, batch, stride, segments, nanoseconds;
static int64_t to_pitch, from_pitch, width, height;
void samples(void);
void samples(void)
{
"""
# Words of the language of kernels, which no C program uses.
KERNEL = re.compile(r"ISO_(KERNEL|REGION|IN|SHARED|OWN|TEAM_SUM|GROUP_SUM)\(|iso_(x|group_x|groups_x|mine|fma|atomic)")


def blocks(lines):
    """(language, text) of each block of a page."""
    found, inside = [], None
    for line in lines:
        if line.startswith("```") and inside is None:
            inside = (line[3:].strip(), [])
        elif line.startswith("```"):
            found.append((inside[0], "\n".join(inside[1]) + "\n"))
            inside = None
        elif inside is not None:
            inside[1].append(line)
    return found


def calls(lines):
    """What stands in the second column of a table and is C."""
    for line in lines:
        cells = re.split(r"(?<!\\)\|", line)
        if line.startswith("|") and len(cells) > 3:
            for call in re.findall(r"`([^`]+)`", cells[2]):
                if re.search(r"\biso_\w+\(|\w = ", call) and not KERNEL.search(call):
                    yield call.replace("\\|", "|")


def main():
    out, *pages = sys.argv[1:]
    programs, found = 0, []
    for page in pages:
        with open(page, encoding="utf-8") as file:
            lines = file.read().split("\n")
        name = os.path.basename(page)[:-3]
        parts = blocks(lines)
        for at, (language, text) in enumerate(parts):
            if language != "c":
                continue
            if "int main(" not in text:
                sys.exit(f"{page}: a C sample is no whole program, so nothing runs it:\n{text}")
            programs += 1
            with open(os.path.join(out, f"{name}-{at}.c"), "w", encoding="utf-8") as file:
                file.write(text)
            if parts[at + 1 : at + 2] and parts[at + 1][0] == "text":
                with open(os.path.join(out, f"{name}-{at}.txt"), "w", encoding="utf-8") as file:
                    file.write(parts[at + 1][1])
        found += [(os.path.basename(page), call) for call in calls(lines)]
    with open(os.path.join(out, "calls.c"), "w", encoding="utf-8") as file:
        file.write(VARIABLES)
        for page, call in found:
            file.write(f"    (void)({call}); /* {page} */\n")
        file.write("}\n")
    print(f"{programs} programs, {len(found)} calls")


if __name__ == "__main__":
    main()
