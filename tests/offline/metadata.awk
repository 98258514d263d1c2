# SPDX-License-Identifier: Apache-2.0
# Reads what llvm-readelf --notes prints of code objects, with a line "object LINE" before each, and the
# list that they were compiled from. Fails on memory or registers that a kernel spills to, on more local
# memory than a group has, on a kernel without a bound on its work-group, and on kernels that are missing.
#
#   awk -v list=FOLDER/list -f programs.awk -f metadata.awk NOTES
BEGIN {
    LOCAL_MAX = 65536
    # Only NVIDIA's chips use it.
    elsewhere["reduce_vectors"] = 1
}
function complain(what) {
    print "FAIL: " name " of " options[object] ": " what
    failed = 1
}
function end_kernel() {
    if (name == "") return
    kernels++
    found[object]++
    present[text[object], name] = 1
    if (value[".private_segment_fixed_size"] > 0) {
        complain(value[".private_segment_fixed_size"] " bytes of scratch memory for each work-item, " \
            value[".vgpr_spill_count"] " vector registers spilled")
    } else if (value[".vgpr_spill_count"] > 0) {
        complain(value[".vgpr_spill_count"] " vector registers spilled")
    }
    # These go to the lanes of one vector register, not to memory.
    if (value[".sgpr_spill_count"] > value[".wavefront_size"]) {
        complain(value[".sgpr_spill_count"] " scalar registers spilled")
    }
    if (value[".group_segment_fixed_size"] > LOCAL_MAX) {
        complain(value[".group_segment_fixed_size"] " bytes of local memory, and a group has " LOCAL_MAX)
    }
    if (value[".max_flat_workgroup_size"] != threads[object]) {
        complain("it is compiled for groups of up to " value[".max_flat_workgroup_size"] \
            " work-items, and has " threads[object])
    }
    if (value[".vgpr_count"] > most) most = value[".vgpr_count"]
    delete value
    name = ""
}
/^object / { end_kernel(); object = $2; objects++; seen[object] = 1 }
/^  - / { end_kernel(); sub("^  - ", "    ") }
/^    \.name:/ { name = $2 }
/^    \.[a-z_]+: +[0-9]+$/ { sub(":", "", $1); value[$1] = $2 }
END {
    end_kernel()
    for (i in seen) {
        if (!found[i]) { print "FAIL: no kernel in " options[i]; failed = 1 }
        compiled[text[i]] = 1
    }
    # Each kernel of a text is in one of its programs at least; only a whole list can tell, and only that
    # of the class that has them all.
    if (whole == 1) {
        for (t in kernels_of) {
            n = split(kernels_of[t], wanted, " ")
            for (j = 1; j <= n; j++) {
                if (!((t, wanted[j]) in present) && !(wanted[j] in elsewhere)) { print "FAIL: no program has kernel " wanted[j] " of " t; failed = 1 }
            }
        }
    }
    if (whole) {
        if (objects != lines) { print "FAIL: " objects " programs were compiled, and there are " lines; failed = 1 }
    }
    print objects " programs, " kernels " kernels, at most " most " vector registers"
    exit failed || !kernels
}
