# SPDX-License-Identifier: Apache-2.0
# Reads the remarks of NVIDIA's assembler (--ptxas-options=-v), with a line "object LINE" before each, and
# the list that the programs were compiled from. Fails if a kernel keeps more than SPILL_MAX bytes of each
# work-item in local memory, has more shared memory than a group, or is missing.
#
#   awk -v list=FOLDER/list -v whole=0|1|2 -f programs.awk -f ptxas.awk REMARKS
BEGIN {
    SHARED_MAX = 49152
    # A few kernels need more registers than their number of groups at once leaves them.
    SPILL_MAX = 640
    # Its sums must stay in registers.
    spill_max["fixed_matrix"] = 0
    # Only AMD's chips with waves of 32 use it.
    elsewhere["reduce_stream"] = 1
}
function complain(what) {
    print "FAIL: " name " of " options[object] ": " what
    failed = 1
}
function number_before(unit) {
    return match($0, "[0-9]+ " unit) ? substr($0, RSTART, RLENGTH) + 0 : 0
}
/^object / { object = $2; objects++; name = "" }
/Compiling entry function/ {
    name = $0
    sub(/.*entry function ./, "", name)
    sub(/. for .*/, "", name)
    kernels++
    found[object]++
    present[text[object], name] = 1
}
/bytes stack frame/ {
    measured++
    bytes = number_before("bytes stack frame")
    if (bytes > 0) spilling++
    if (bytes > most_bytes) most_bytes = bytes
    if (bytes > (name in spill_max ? spill_max[name] : SPILL_MAX)) complain(bytes " bytes of local memory for each work-item")
}
/Used [0-9]+ registers/ {
    if (number_before("bytes smem") > SHARED_MAX) {
        complain(number_before("bytes smem") " bytes of shared memory, and a group has " SHARED_MAX)
    }
    match($0, /Used [0-9]+/)
    registers = substr($0, RSTART + 5, RLENGTH - 5) + 0
    if (registers > most) most = registers
}
/^end / && !found[object] { print "FAIL: no kernel in " options[object]; failed = 1 }
END {
    if (measured != kernels) { print "FAIL: the assembler measured " measured + 0 " of " kernels + 0 " kernels"; failed = 1 }
    if (whole == 1) {
        for (t in kernels_of) {
            n = split(kernels_of[t], wanted, " ")
            for (j = 1; j <= n; j++) {
                if (!((t, wanted[j]) in present) && !(wanted[j] in elsewhere)) { print "FAIL: no program has kernel " wanted[j] " of " t; failed = 1 }
            }
        }
    }
    if (whole && objects != lines) { print "FAIL: " objects + 0 " programs were compiled, and there are " lines; failed = 1 }
    print objects + 0 " programs, " kernels + 0 " kernels, at most " most + 0 " registers; " spilling + 0 \
        " kernels keep up to " most_bytes + 0 " bytes in local memory"
    exit failed || !kernels
}
