# SPDX-License-Identifier: Apache-2.0
# secure.sh setuid|capability: a program with more rights than its caller, who has set every
# variable that names a path or a library. Nothing of the caller's is loaded, nothing is written
# where the caller says, and each setting is reported as ignored.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/trust/traps.sh"
way=$1
need setpriv util-linux
[ "$(id -u)" = 0 ] || skip "only root can give a program more rights"
caller=65534

# A place where such a program gets its rights, and that the caller can reach.
chmod 755 "$scratch"
chmod 777 "$marks"
place=
for folder in "$scratch" "$build_dir/tests" /var/tmp; do
    case ",$(findmnt -n -o OPTIONS -T "$folder")," in
    *,nosuid,*) ;;
    *) place=$folder ;;
    esac
    [ -z "$place" ] || break
done
[ -n "$place" ] || skip "file systems here are mounted nosuid"
stage=$(mktemp -d "$place/isomer-secure.XXXXXX")
trap 'rm -rf "$scratch" "$stage"' EXIT
chmod 755 "$stage"
mkdir "$stage/lib"
cp "$library" "$stage/lib/libisomer.so.0"
"$cc" -std=gnu11 -O1 -I"$source_dir/include" -o "$stage/program" "$source_dir/tests/trust/program.c" \
    "$stage/lib/libisomer.so.0" -Wl,-rpath,"$stage/lib"
cp "$stage/program" "$stage/raised"
if [ "$way" = setuid ]; then
    chmod 4755 "$stage/raised"
else
    need setcap libcap2-bin
    setcap cap_dac_override,cap_net_raw+ep "$stage/raised" 2>"$scratch/err" ||
        skip "no file capabilities here: $(cat "$scratch/err")"
fi

# The caller's traps: each variable has its own.
user=$scratch/user
mkdir "$user" "$user/here"
vendors_traps ISOMER_CUDA_PATH "$user/cuda"
vendors_traps CUDA_PATH "$user/toolkit/lib64"
vendors_traps ISOMER_ROCM_PATH "$user/hip"
vendors_traps ROCM_PATH "$user/rocm/lib"
vendors_traps LD_LIBRARY_PATH "$user/ld"
vendors_traps HERE "$user/here"
trap_at ISOMER_BLAS "$user/libblas.so"
trap_at ISOMER_BACKEND_PATH "$user/plugins/isomer-trap.so"
trap_at LD_PRELOAD "$user/preload.so"
trap_at OCL_ICD_VENDORS "$user/vendor.so"
trap_at OCL_ICD_FILENAMES "$user/names.so"
trap_at OPENCL_LAYERS "$user/layer.so"
mkdir "$user/vendors"
echo "$user/vendor.so" >"$user/vendors/trap.icd"
chown -R $caller:$caller "$user"

# planted VARIABLE: the value that the caller gives it.
planted() {
    case $1 in
    ISOMER_CUDA_PATH) echo "$user/cuda" ;;
    CUDA_PATH) echo "$user/toolkit" ;;
    ISOMER_ROCM_PATH) echo "$user/hip" ;;
    ROCM_PATH) echo "$user/rocm" ;;
    ISOMER_BLAS) echo "$user/libblas.so" ;;
    ISOMER_CC) echo "$user/cc" ;;
    ISOMER_BACKEND_PATH) echo "$user/plugins" ;;
    ISOMER_TRACE) echo "$stage/secret" ;;
    ISOMER_CACHE_DIR) echo "$user/cache" ;;
    ISOMER_TUNED) echo "$user/tuned" ;;
    XDG_CACHE_HOME) echo "$user/xdg" ;;
    HOME) echo "$user/home" ;;
    LD_LIBRARY_PATH) echo "$user/ld" ;;
    LD_PRELOAD) echo "$user/preload.so" ;;
    OCL_ICD_VENDORS) echo "$user/vendors" ;;
    OCL_ICD_FILENAMES) echo "$user/names.so" ;;
    OPENCL_LAYERS) echo "$user/layer.so" ;;
    TMPDIR) echo "$user/tmp" ;;
    PATH) echo "$user/bin:$PATH" ;;
    esac
}
libraries="ISOMER_CUDA_PATH CUDA_PATH ISOMER_ROCM_PATH ROCM_PATH ISOMER_BLAS ISOMER_BACKEND_PATH \
LD_LIBRARY_PATH LD_PRELOAD"
folders="ISOMER_CACHE_DIR XDG_CACHE_HOME HOME"
others="ISOMER_CC ISOMER_TRACE ISOMER_TUNED OCL_ICD_VENDORS OCL_ICD_FILENAMES OPENCL_LAYERS TMPDIR PATH"

as_caller() { setpriv --reuid=$caller --regid=$caller --clear-groups "$@"; }

secret() {
    echo "root's alone" >"$stage/secret"
    chmod 600 "$stage/secret"
}

# The effect of each trap on the same program without more rights.
control() {
    variable=$1
    shift
    reset_traps
    secret
    "$@" "$variable=$(planted "$variable")" "$stage/program" >"$scratch/out" 2>&1 || true
}
cd "$user/here"
for variable in $libraries; do
    control "$variable" as_caller env -i PATH="$PATH" ISOMER_CACHE_DIR=off
    sprung "$variable" || {
        cat "$scratch/out"
        fail "$variable springs no trap: this test would prove nothing"
    }
done
for variable in $folders; do
    control "$variable" as_caller env -i PATH="$PATH"
    folder=$(planted "$variable")
    [ -d "$folder" ] || fail "$variable makes no folder: this test would prove nothing"
    rm -rf "$folder"
done
control ISOMER_TRACE env -i PATH="$PATH" ISOMER_CACHE_DIR=off
grep -q traceEvents "$stage/secret" || fail "ISOMER_TRACE writes nothing: this test would prove nothing"

# judge OUTPUT: what the program with more rights did.
judge() {
    grep -q '^secure 1$' "$1" || {
        [ "$(grep -c "NoNewPrivs:.*1" /proc/self/status)" = 0 ] ||
            skip "this process may gain no rights (no_new_privs)"
        cat "$1"
        fail "the program has no more rights than its caller: this test proves nothing"
    }
    [ -z "$(ls "$marks")" ] || {
        cat "$1"
        fail "the caller's libraries were loaded: $(ls "$marks")"
    }
    [ "$(cat "$stage/secret")" = "root's alone" ] || fail "a file was overwritten that only root may write"
    for variable in $folders TMPDIR; do
        [ ! -e "$(planted "$variable")" ] || fail "a folder was made for $variable: $(planted "$variable")"
    done
    grep -q '^product 64$' "$1" || {
        cat "$1"
        fail "the product is wrong, or was not computed"
    }
    grep -q 'open trap: .*"trap" is not a known backend' "$1" || fail "the caller's plug-in is known"
}

# All at once.
set --
for variable in $libraries $folders $others; do
    set -- "$@" "$variable=$(planted "$variable")"
done
reset_traps
secret
as_caller env -i "$@" ISOMER_LOG=warn ISOMER_MATH=strict ISOMER_CPU_ISA=generic "$stage/raised" \
    >"$scratch/out" 2>"$scratch/err" || {
    cat "$scratch/out" "$scratch/err"
    fail "the program fails"
}
judge "$scratch/out"
ignored='it names a path, and is ignored: this program has more rights than its caller'
for variable in ISOMER_CUDA_PATH ISOMER_ROCM_PATH ISOMER_BLAS ISOMER_CC ISOMER_BACKEND_PATH ISOMER_TRACE \
    ISOMER_CACHE_DIR ISOMER_TUNED; do
    grep -q "^setting $variable=\".*\" default: $ignored" "$scratch/out" || {
        grep "^setting $variable" "$scratch/out"
        fail "the setting $variable does not say that it is ignored"
    }
    if grep "^setting $variable=" "$scratch/out" | grep -q "$user\|secret"; then
        fail "the value of $variable still counts"
    fi
done
grep -q '^setting ISOMER_CPU_ISA="generic" environment: $' "$scratch/out" ||
    fail "a variable that names no path is ignored"
for variable in ISOMER_CUDA_PATH ISOMER_BLAS ISOMER_BACKEND_PATH ISOMER_TRACE ISOMER_CACHE_DIR ISOMER_TUNED; do
    said=$(grep -c "isomer: warn: $variable: $ignored" "$scratch/err" || true)
    [ "$said" = 1 ] || {
        cat "$scratch/err"
        fail "$variable is said to be ignored $said times, not once"
    }
done
for backend in cuda hip opencl; do
    grep -q "^backend $backend: load failed: .*clearenv() before the first call" "$scratch/out" || {
        cat "$scratch/out"
        fail "$backend is opened in its caller's environment"
    }
done

# Each alone; a library's name is not one of the paths.
for variable in $libraries $folders $others; do
    reset_traps
    as_caller env -i "$variable=$(planted "$variable")" "$stage/raised" >"$scratch/out" 2>&1 || true
    judge "$scratch/out"
done
as_caller env -i HOME="$(planted HOME)" "$stage/raised" >"$scratch/out" 2>&1 || true
grep -q '^setting ISOMER_CACHE_DIR="" default: XDG_CACHE_HOME and HOME are ignored in a program' "$scratch/out" || {
    grep '^setting ISOMER_CACHE_DIR' "$scratch/out"
    fail "nothing says that HOME does not count"
}
as_caller env -i ISOMER_BLAS=openblas ISOMER_CACHE_DIR=off "$stage/raised" >"$scratch/out" 2>&1 || true
judge "$scratch/out"
grep -q '^setting ISOMER_BLAS="openblas" environment: $' "$scratch/out" || fail "a name in ISOMER_BLAS is ignored"
grep -q '^setting ISOMER_CACHE_DIR="off" environment: $' "$scratch/out" || fail "ISOMER_CACHE_DIR=off is ignored"

# If the program empties its environment first, it has every backend.
reset_traps
as_caller env -i "$@" "$stage/raised" clear >"$scratch/out" 2>&1 || true
judge "$scratch/out"
if grep clearenv "$scratch/out"; then
    fail "backends are refused in an environment that was emptied"
fi
grep '^backend ' "$scratch/out" | cut -c1-120
