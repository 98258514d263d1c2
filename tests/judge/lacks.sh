# SPDX-License-Identifier: Apache-2.0
# lacks.sh: what a compiler of OpenCL C says about words that a device lacks names them, and what
# they need.
. "$ISOMER_TEST_COMMON"
need clang clang
cd "$scratch"
cat >words.isk <<'END'
ISO_KERNEL(k, 64, 1, 1)(ISO_INOUT(f32) y ISO_EXTENT(64), ISO_INOUT(i64) z ISO_EXTENT(1))
{
    ISO_REGION(i)
    {
        y[i] = iso_div_f32(y[i], 3.0f);
        y[i] += iso_sqrt_f32(y[i]);
        iso_atomic_add_i64(&z[0], 1);
        iso_atomic_max_i64(&z[0], 1);
    }
}
END
cat >wide.isk <<'END'
ISO_KERNEL(k, 64, 1, 1)(ISO_INOUT(f32) y ISO_EXTENT(64))
{
    ISO_REGION(i)
    {
        const f64 wide = y[i];
        y[i] = (f32)wide;
    }
}
END
cat >vectors.isk <<'END'
ISO_KERNEL(k, 64, 1, 1)(ISO_INOUT(f32) y ISO_EXTENT(64))
{
    ISO_REGION(i)
    {
        y[i] = (f32)(iso_f64x2(1, i).y + iso_f64x4(1, 2, 3, i).w);
    }
}
END
# compiles FILE EXTENSIONS: the log is in the file log.
compiles() {
    "$tool" kernel text "$1" --out text.cl
    clang -x cl -cl-std=CL1.2 -target spir64 -Xclang "-cl-ext=$2" -Xclang -finclude-default-header \
        -fsyntax-only text.cl >log 2>&1
}
compiles words.isk -all && fail "words.isk compiles without extensions"
says log "words.isk:5:16" iso_div_f32_needs_cl_khr_fp64 iso_sqrt_f32_needs_cl_khr_fp64 \
    iso_atomic_add_i64_needs_cl_khr_int64_base_atomics \
    iso_atomic_max_i64_needs_cl_khr_int64_extended_atomics
compiles wide.isk -all && fail "wide.isk compiles without extensions"
says log "wide.isk:5:15" f64_needs_cl_khr_fp64
compiles vectors.isk -all && fail "vectors.isk compiles without extensions"
says log "vectors.isk:5:22" iso_f64x2_needs_cl_khr_fp64 iso_f64x4_needs_cl_khr_fp64
for file in words.isk wide.isk vectors.isk; do
    compiles $file +all || { cat log; fail "$file does not compile with all extensions"; }
done
