# SPDX-License-Identifier: Apache-2.0
# verify.sh CUDA HIP: `isomer kernel verify`. The example passes on every device that is here, and
# planted faults are found: other bits on one device, a wrong reference, models that fail, a write
# outside of a buffer. The folders have the stand-ins.
. "$ISOMER_TEST_COMMON"
cd "$scratch"
printf 'leak:libpocl\nleak:libLLVM\nleak:libclang\n' >leaks # what PoCL keeps until the process ends
export LSAN_OPTIONS="suppressions=$scratch/leaks:print_suppressions=0"
export ISOMER_CC="$cc" ISOMER_CUDA_PATH="$1" ISOMER_ROCM_PATH="$2" ISOMER_CACHE_DIR="$build_dir/tests/cache/kernels"
devices=openmp
for backend in cuda hip opencl; do
    "$tool" info --available "$backend" >/dev/null 2>&1 && devices=$devices,$backend
done

# ---- the example -----------------------------------------------------------------------------------
expect 0 kernel verify "$source_dir/examples/kernels/first.isk" --backend "$devices" --bitwise --json v.json --junit v.xml
says out "axpy" "block_sum" "of 11 cases" "0 failed" "kernel cases digest"
[ "$(grep -cE '^  (axpy|stencil|histogram|block_sum|transpose) +[0-9]  [0-9a-f]{32}$' out)" -eq \
    "$((5 * $(echo "$devices" | tr ',' '\n' | wc -l)))" ] || fail "a kernel has no digest"
[ "$(grep -E '^  (axpy|stencil|histogram|block_sum|transpose) ' out | sort -u | wc -l)" -eq 5 ] || fail "a kernel's digests differ"
[ "$(grep -c 'digest [0-9a-f]\{32\} of 11 cases' out)" -eq "$(echo "$devices" | tr ',' '\n' | wc -l)" ] || fail "a device has no digest"
[ "$(grep 'of 11 cases' out | sort -u | wc -l)" -eq 1 ] || fail "the digests differ"
says v.xml 'name="kernel/stencil/f32/301x331"'
[ "$(grep -c '"op": "kernel"' v.json)" -ge 11 ] || fail "results are missing"
expect 0 kernel verify "$source_dir/examples/kernels/first.isk" --backend openmp --seed 2 --bitwise --kernel axpy,stencil
says out "of 5 cases"
expect 0 kernel verify "$source_dir/examples/kernels/first.isk" --backend openmp --list --case '*transpose*'
[ "$(cat out)" = "$(printf 'kernel/transpose/f32/1x1\nkernel/transpose/f32/301x331')" ] || fail "--list"

# ---- planted faults --------------------------------------------------------------------------------
# `twice` has other bits on the stand-in for CUDA if WRONG is defined; the reference `more` is wrong
# in the last element; `outside` writes beyond n; `shift` reads what it never wrote.
cat >bad.isk <<'END'
ISO_KERNEL(twice, 64, 1, 1)(ISO_IN(f32) x ISO_EXTENT(n), ISO_OUT(f32) y ISO_EXTENT(n), i64 n)
{
    ISO_REGION(i)
    {
        const i64 at = iso_x(i);
        if (at < n) {
#if defined(__CUDACC__) && defined(WRONG)
            y[at] = at == 77 ? 1.0f : 2.0f * x[at];
#else
            y[at] = 2.0f * x[at];
#endif
        }
    }
}
ISO_KERNEL(more, 1, 1, 1)(ISO_IN(f32) x ISO_EXTENT(n), ISO_OUT(f32) y ISO_EXTENT(n), i64 n)
{
    ISO_REGION(i)
    {
        y[iso_x(i)] = 2.0f * x[iso_x(i)] + (iso_x(i) == n - 1 ? 0.25f : 0.0f);
    }
}
ISO_KERNEL(outside, 64, 1, 1)(ISO_IN(f32) x ISO_EXTENT(n), ISO_OUT(f32) y ISO_EXTENT(n), i64 n)
{
    ISO_REGION(i)
    {
        y[iso_x(i)] = 1.0f;
    }
}
ISO_KERNEL(partial, 64, 1, 1)(ISO_IN(f32) x ISO_EXTENT(n), ISO_OUT(f32) y ISO_EXTENT(n), i64 n)
{
    ISO_REGION(i)
    {
        if (iso_x(i) < n - 1) {
            y[iso_x(i)] = 2.0f * x[iso_x(i)];
        }
    }
}
END
# describe FILE KERNEL MEMBERS: its description, with sizes 10 and 1000.
describe() {
    printf '{"schema": "isomer-kernels/1", "text": "bad.isk", "kernels": [{"kernel": "%s", "items": ["n"],
        "sizes": [{"n": 10}, {"n": 1000}], "bench": [{"n": 100000}]%s}]}\n' "$2" "$3" >"$1"
}
describe bad.json twice ''
describe more.json twice ', "reference": {"kernel": "more", "items": ["n"]}'
describe near.json twice ', "reference": {"kernel": "more", "items": ["n"]}, "tolerance": 0.26'
describe outside.json outside ''
describe partial.json partial ', "reference": {"kernel": "twice", "items": ["n"]}'
describe free.json twice ', "bits": false'

if "$tool" info --available cuda >/dev/null 2>&1; then
    expect 0 kernel verify bad.isk --backend openmp,cuda
    expect 1 kernel verify bad.isk --backend openmp,cuda --define WRONG --bitwise
    says out "FAILED kernel/twice/f32/1000 on cuda:0" "y[77] is 1 (0x3f800000) on cuda:0, but" \
        "on openmp:0 (n=1000, round 1)" "kernel verify bad.isk --define WRONG=1 --backend cuda:0 --case kernel/twice/f32/1000"
    grep -q "FAILED kernel/twice/f32/10 " out && fail "the small size is right"
    # Without a compiler for the CPU, the devices are compared with each other.
    if "$tool" info --available hip >/dev/null 2>&1; then
        (ISOMER_CC='' && expect 0 kernel verify bad.isk --backend hip,cuda)
        (ISOMER_CC='' && expect 1 kernel verify bad.isk --backend hip,cuda --define WRONG)
        says out "on cuda:0, but" "by hip:0"
    fi
fi
expect 1 kernel verify bad.isk --with more.json --backend openmp
says out "y[9] is" "by the reference more on openmp:0 (n=10, round 1)" "y[999] is"
expect 0 kernel verify bad.isk --with near.json --backend openmp
describe outside.json outside ', "reference": {"kernel": "twice", "items": ["n"]}'
expect 1 kernel verify bad.isk --with outside.json --backend openmp
says out "kernel outside wrote outside of y, 1 bytes after it"
expect 1 kernel verify bad.isk --with partial.json --backend openmp
says out "y[9] is nan" "by the reference twice" "y begins with nan" "so this element seems not to be written on openmp:0"
cat >marks.isk <<'END'
ISO_KERNEL(marks, 64, 1, 1)(ISO_OUT(i32) y ISO_EXTENT(n), i64 n)
{
    ISO_REGION(i)
    {
        if (iso_x(i) < n) {
            y[iso_x(i)] = 7;
        }
    }
}
ISO_KERNEL(part, 1, 1, 1)(ISO_OUT(i32) y ISO_EXTENT(n), i64 n)
{
    ISO_REGION(i)
    {
        if (iso_x(i) < n - 1) {
            y[iso_x(i)] = 7;
        }
    }
}
END
cat >marks.json <<'END'
{"schema": "isomer-kernels/1", "kernels": [{"kernel": "marks", "items": ["n"], "sizes": [{"n": 0}, {"n": 10}],
 "reference": {"kernel": "part", "items": ["n"]}}]}
END
expect 1 kernel verify marks.isk --backend openmp
says out "1 passed, 1 failed" "y[9] is 7 on openmp:0, but -1 by the reference part on openmp:0; y begins with -1 everywhere, so this element seems not to be written by the reference part"

# ---- a skip is not a pass --------------------------------------------------------------------------
expect 4 kernel verify bad.isk --backend openmp
says out "(2)" "nothing can be compared: give the kernel a reference or a model"
expect 4 kernel verify bad.isk --with free.json --backend "$devices"
says out "bits is false, so the kernel needs a reference"
(ISOMER_CC='' && expect 4 kernel verify bad.isk --with more.json --backend openmp)
says out "ISOMER_CC"
expect 2 kernel verify bad.isk --backend nonesuch
expect 2 kernel verify bad.isk --kernel twic
says err 'did you mean "twice"'
expect 2 kernel verify bad.isk --rounds 1
expect 2 kernel verify
expect 6 kernel verify none.isk
says err "none.json, which describes the kernels of none.isk, cannot be read"
expect 4 kernel verify bad.isk --case 'kernel/none*' --backend openmp
says err "no case matches kernel/none*"

# ---- models ----------------------------------------------------------------------------------------
need python3 python3
cat >model.py <<'END'
import array, json, os, sys, time
case = json.load(open("case.json"))
assert case["kernel"] == "twice" and case["arguments"]["n"] == case["arrays"][0]["elements"], case
x = array.array("f", open("x.f32", "rb").read())
y = array.array("f", [2 * v for v in x])
fault = sys.argv[1] if len(sys.argv) > 1 else ""
if fault == "fails":
    sys.exit("no luck")
if fault == "hangs":
    time.sleep(600)
if fault == "killed":
    os.kill(os.getpid(), 9)
if fault == "wrong":
    y[3] = 5
if fault != "nothing":
    open("y.f32", "wb").write(y.tobytes()[:-4 if fault == "short" else None])
END
for fault in "" wrong fails hangs killed short nothing; do
    describe model.json twice ", \"model\": [\"python3\", \"model.py\"${fault:+, \"$fault\"}]"
    TMPDIR=$scratch "$tool" kernel verify bad.isk --with model.json --backend openmp --model-seconds 2 \
        --case kernel/twice/f32/10 >out 2>err && code=0 || code=$?
    [ "$code" -eq "$([ "$fault" = "" ] && echo 0 || echo 1)" ] || { cat out err; fail "model $fault: $code"; }
    case $fault in
    wrong) says out "y[3] is" "5 (0x40a00000) by the model model.py" ;;
    fails) says out "ERROR" "the model model.py exits with 1: no luck" ;;
    hangs) says out "ERROR" "the model model.py was stopped after 2 s" ;;
    killed) says out "ERROR" "the model model.py was ended by signal 9" ;;
    short) says out "ERROR" "wrote 36 bytes to y.f32, which must have 40" ;;
    nothing) says out "ERROR" "has not written y.f32" ;;
    esac
done
describe model.json twice ', "model": ["./none"]'
expect 1 kernel verify bad.isk --with model.json --backend openmp --kernel twice
says out "the model none exits with 127"
[ -z "$(find "$scratch" -name 'isomer-model-*')" ] || fail "a model's folder stays"
