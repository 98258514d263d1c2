# SPDX-License-Identifier: Apache-2.0
# oclgrind.sh PLANTED [full]: the kernels under oclgrind, which detects races, divergent barriers
# and accesses out of bounds. It is loaded as an OpenCL driver, because its own preload misses a
# library opened at run time. It exits with 0 whatever it found, so its log must be empty.
. "$ISOMER_TEST_COMMON"
planted=$1
full=0
[ "${2:-}" != full ] || full=1

driver=
for at in /usr/lib/oclgrind /usr/lib/*/oclgrind /usr/local/lib/oclgrind /usr/lib64/oclgrind; do
    [ -e "$at/liboclgrind-rt-icd.so" ] && driver=$at/liboclgrind-rt-icd.so && break
done
if [ -z "$driver" ]; then
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "oclgrind is required and not here"
    skip "oclgrind is not here"
fi
mkdir "$scratch/vendors"
say "$driver" >"$scratch/vendors/oclgrind.icd"
export OCL_ICD_VENDORS="$scratch/vendors"
export OCLGRIND_DATA_RACES=1
export OCLGRIND_LOG="$scratch/log"
# Its interpreter does not support some of the code that its compiler's optimiser generates.
export OCLGRIND_BUILD_OPTIONS=-cl-opt-disable
mkdir -m 700 "$scratch/cache"
export ISOMER_CACHE_DIR="$scratch/cache"
export ISOMER_TILES=small

# It detects planted faults.
for fault in none race divergent bounds; do
    rm -f "$OCLGRIND_LOG"
    code=0
    "$planted" "$fault" >"$scratch/out" 2>&1 || code=$?
    if [ "$code" = 77 ]; then
        cat "$scratch/out"
        skip "no OpenCL loader is here"
    fi
    [ "$code" = 0 ] || { cat "$scratch/out"; fail "the planted fault $fault was not run: $code"; }
    grep -q '^platform: Oclgrind' "$scratch/out" || fail "the platform is not Oclgrind: $(cat "$scratch/out")"
    if [ "$fault" = none ]; then
        [ ! -s "$OCLGRIND_LOG" ] || fail "a kernel without a fault is reported: $(cat "$OCLGRIND_LOG")"
    else
        [ -s "$OCLGRIND_LOG" ] || fail "the planted fault $fault is not reported"
        say "planted $fault: $(grep -m 1 . "$OCLGRIND_LOG")"
    fi
done

"$tool" info --all >"$scratch/info"
grep -q SIMULATED "$scratch/info" || fail "info does not say that Oclgrind is a simulator: $(cat "$scratch/info")"
grep -q 'OpenCL platform  *Oclgrind' "$scratch/info" || fail "isomer does not use Oclgrind"

# One case for each kernel and type: the smallest that is not trivial.
"$tool" verify --backend opencl --list >"$scratch/list"
awk -F/ -v full=$full '
function sizes(text, into,    n) { n = split(text, into, /[a-z]+/); return n }
function keep(key, cost, low, id) {
    if (cost < low) return
    if (!(key in best) || cost < best[key]) { best[key] = cost; name[key] = id }
}
$2 == "vendor" { next }
$1 == "transpose" { sizes($4, s); keep($1 "/" $2 "/" $3, s[2] * s[3], s[2] > 8 && s[3] > 8 ? 250 : 1e9, $0) }
$1 == "gemm" && $2 == "fixed" { # several kernels, each of which sees a vector or an element
    sizes($5, s)
    if (full || $3 == "f32") keep($1 "/" $2 "/" $3, s[2] * s[3] * s[4], s[2] > 4 && s[3] > 4 ? 1500 : 1e9, $0)
    next
}
$1 == "gemm" {
    batch = $9; sub(/batch/, "", batch); batch += 0
    sizes($5, s)
    keep($1 "/" $2 "/" $3 "/" $4, s[2] * s[3] * s[4] * batch, s[2] > 8 && s[3] > 8 ? 1500 : 1e9, $0)
    if ($2 == "tiled" && $4 == "nt") keep($1 "/" $2 "/" $3 "/long", s[2] * s[3] * s[4] * batch, s[4] > 1024 ? 3000 : 1e9, $0)
}
$1 == "reduce" {
    sizes($6, s)
    # Long enough for every lane; short rather than half a million elements.
    long = $5 == "0" ? s[2] : s[3]
    # Every axis and variant of f32 and of two operations; in full, every operation and type once.
    common = $3 == "f32" || $4 == "sum" || $4 == "argmin"
    if (common || (full && $2 == "tiled" && $5 == "all"))
        keep($1 "/" $2 "/" $3 "/" $4 ($2 == "tiled" ? "/" $5 : ""), s[2] * s[3] + (long > 128 ? 0 : 30000), 65, $0)
}
$1 == "map" {
    sizes($5, s)
    # Every type by whole words; only for f32 every operation, and unaligned operands.
    common = $3 == "f32" || $4 == "add" || ($2 == "tiled" && ($4 == "copy" || $4 == "chain"))
    if (common && $0 ~ /off0\.0\.0/) keep($1 "/" $2 "/" $3 "/" $4, s[2], 40, $0)
    if ($2 == "tiled" && $3 == "f32" && $0 ~ /off[13]\./) keep($1 "/" $2 "/" $3 "/" $4 "/plain", s[2], 12, $0)
}
$1 == "transfer" && $2 == "fill" { sizes($5, s); keep($1 "/" $2 "/" $3 "/" $4, s[2] * s[3], 16, $0) }
END { for (key in name) print name[key] }
' "$scratch/list" | sort >"$scratch/cases"
count=$(wc -l <"$scratch/cases")
[ "$count" -ge 100 ] || fail "only $count cases were chosen"

# Starting oclgrind takes as long as many cases, so one run has 32. If a run fails, its cases run
# alone until one is named.
clean() { # PATTERN
    rm -f "$OCLGRIND_LOG"
    code=0
    "$tool" verify --backend opencl --case "$1" >"$scratch/out" 2>&1 || code=$?
    [ "$code" = 0 ] && [ ! -s "$OCLGRIND_LOG" ]
}
judged=0
split -l 32 "$scratch/cases" "$scratch/part."
for part in "$scratch"/part.*; do
    clean "@($(paste -sd '|' "$part"))" || {
        cp "$scratch/out" "$scratch/together"
        while read -r case_id; do
            clean "$case_id" || {
                cat "$scratch/out"
                [ ! -s "$OCLGRIND_LOG" ] || cat "$OCLGRIND_LOG"
                fail "$case_id: isomer verify exited with $code, and above is what oclgrind says"
            }
        done <"$part"
        cat "$scratch/together"
        fail "these cases fail together and not alone"
    }
    passed=$(sed -n 's/^\([0-9]*\) passed, 0 failed.*/\1/p' "$scratch/out")
    [ "$passed" = "$(wc -l <"$part")" ] || { cat "$scratch/out"; fail "not all of $(wc -l <"$part") cases passed"; }
    judged=$((judged + passed))
done
say "$judged cases, and oclgrind has nothing to say"
