# SPDX-License-Identifier: Apache-2.0
# Reads what llvm-objdump -d prints of the programs of f16 and bf16, with a line "object LINE" before each,
# and the list that they were compiled from. It fails on instructions that round otherwise than
# docs/bits.md says, or may in some version:
#   v_fma_mix, v_mad_mix   a conversion of halves and what stands beside it in one: a product is made by
#                          adding +0, so that -0 is lost, and the rounding in between is not documented
#   v_cvt_pkrtz            a narrowing towards zero
#   v_dot2                 two products at once, rounded in an order of their own
# v_fma_mix_f32_bf16 (gfx1250) is a plain fma whose factors are widened, which is exact, unless its addend is
# a constant: then it was a product.
# (v_mad_f32 and v_mac_f32 stand in divisions of 64-bit integers, which correct what they give.)
#
#   awk -v list=FOLDER/list -v whole=0|1|2 -v wanted=PROGRAMS -f narrow.awk LISTING
BEGIN {
    while ((getline line < list) > 0) {
        split(line, field, "\t")
        options[lines++] = field[1] " (" field[2] ")"
    }
}
function end_object(    name) {
    if (object == "") {
        return
    }
    if (!ends) {
        print "FAIL: the disassembler sees no end of a kernel in " options[object]
        failed = 1
    }
    for (name in count) {
        print "FAIL: " count[name] " " name " in " options[object]
        failed = 1
    }
    delete count
    ends = 0
}
/^object / {
    end_object()
    object = $2
    objects++
}
$1 == "v_fma_mix_f32_bf16" && $5 ~ /^[-|]*v[0-9]/ { next }
$1 ~ /^v_(fma_mix|mad_mix|cvt_pkrtz|dot2)/ { count[$1]++ }
$1 == "s_endpgm" { ends++ }
END {
    end_object()
    if (whole ? objects != wanted : !objects) {
        print "FAIL: " objects + 0 " programs of f16 and bf16 were disassembled, and there are " wanted
        failed = 1
    }
    print objects + 0 " of f16 and bf16 disassembled"
    exit failed
}
