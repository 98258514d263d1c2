# SPDX-License-Identifier: Apache-2.0
# opened.sh: what the tool opens when it is started in a world-writable folder full of files that it
# searches for: nothing by a relative path, nothing in that folder, and no file in a folder that
# other users may write to.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/trust/traps.sh"
unset CUDA_PATH ROCM_PATH LD_LIBRARY_PATH

# opened FILE COMMAND...: the paths that COMMAND and its children opened or tried to, a line each;
# as reported by the kernel, otherwise by the loader.
need strace strace
loader=
if strace -f -qq -o "$scratch/strace" true 2>/dev/null; then
    opened() {
        into=$1
        shift
        strace -f -qq -s 4096 -e trace=open,openat,openat2,creat,execve,execveat -o "$scratch/strace" \
            "$@" >"$scratch/out" 2>&1 || true
        # A file opened in an open folder has that folder's descriptor before its name.
        sed -nE 's/^[0-9]+ +(open|creat|execve)\("([^"]*)".*/\2/p
            s/^[0-9]+ +(openat|openat2|execveat)\(AT_FDCWD, "([^"]*)".*/\2/p' "$scratch/strace" |
            sort -u >"$into"
    }
else
    say "ptrace is not permitted here: the loader's own account is read"
    loader="LD_DEBUG=libs,files LD_DEBUG_OUTPUT=$scratch/loader"
    opened() {
        into=$1
        shift
        rm -f "$scratch"/loader.*
        "$@" >"$scratch/out" 2>&1 || true
        sed -nE 's/.*trying file=([^ ]*).*/\1/p; s/.*calling init: ([^ ]*).*/\1/p' "$scratch"/loader.* |
            sort -u >"$into"
    }
fi

# judge FILE: prints a line for each path in it that should not have been opened.
judge() {
    while IFS= read -r path; do
        case $path in
        "$PWD"/*) echo "$path: it lies in the working directory" ;;
        /dev/* | /proc/* | /sys/*) ;;
        /*)
            [ -f "$path" ] || continue
            mode=$(stat -L -c %a "$path" "$(dirname "$(readlink -f "$path")")" | tr '\n' ' ')
            # shellcheck disable=SC2086
            for each in $mode; do
                case $each in
                *[2367]) echo "$path: others may write to it or its folder (mode $each)" ;;
                esac
            done
            ;;
        *) echo "\"$path\": it is relative" ;;
        esac
    done <"$1"
}

mkdir "$scratch/here"
chmod 755 "$scratch"
chmod 777 "$scratch/here"
cd "$scratch/here"
vendors_traps HERE "$PWD"
trap_at HERE "$PWD/isomer-trap.so" "$PWD/isomer/isomer-trap.so" "$PWD/isomer-try" "$PWD/libisomer.so.0" \
    "$PWD/libm.so.6" "$PWD/libgomp.so.1"
mkdir -m 700 "$scratch/cache"

run() {
    # shellcheck disable=SC2086
    opened "$scratch/paths" env -i $loader PATH="$PATH" HOME="$scratch/home" POCL_CACHE_DIR="$POCL_CACHE_DIR" \
        ISOMER_CACHE_DIR="$scratch/cache" "$@"
    judge "$scratch/paths" >"$scratch/bad"
    [ ! -s "$scratch/bad" ] || {
        cat "$scratch/bad"
        fail "$* opened the above"
    }
    sprung HERE && fail "$* loaded a library of the working directory"
    say "$(wc -l <"$scratch/paths") paths: $*"
}
run "$tool" info
run "$tool" verify --backend all --op transpose --dtype e4
grep -q '0 failed' "$scratch/out" || {
    cat "$scratch/out"
    fail "isomer verify fails under the trace"
}
grep -q '/libisomer\.so' "$scratch/paths" || fail "the trace does not show libisomer: it would prove nothing"

# Each kind of bad path is found.
mkdir "$scratch/open"
chmod 777 "$scratch/open"
cp "$(ldd "$tool" | sed -n 's/.*libm\.so\.6 => \([^ ]*\).*/\1/p')" "$scratch/open/libm.so.6"
for path in "$scratch/open" . "$PWD"; do
    # shellcheck disable=SC2086
    opened "$scratch/paths" env $loader LD_LIBRARY_PATH="$path" "$tool" --version
    judge "$scratch/paths" >"$scratch/bad"
    [ -s "$scratch/bad" ] || fail "a library of $path goes unnoticed"
done
