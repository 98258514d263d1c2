# SPDX-License-Identifier: Apache-2.0
# tune.sh WRONG SOUND: `isomer tune` makes a table that the library uses at once, goes on where it
# stopped, and stores nothing that is wrong. `bench --variant auto` and `info` follow the table. In
# WRONG is a plug-in one of whose ways has wrong bits, in SOUND the same without that fault.
. "$ISOMER_TEST_COMMON"
cd "$scratch"
ISOMER_BACKEND_PATH=$1:$2 ISOMER_BACKEND=openmp ISOMER_CACHE_DIR=off ISOMER_NUM_THREADS=1
export ISOMER_BACKEND_PATH ISOMER_BACKEND ISOMER_CACHE_DIR ISOMER_NUM_THREADS

# rows: the rows of the only table.
rows() { grep -hE '^gem[mv] ' tables/*.tuned; }
# tune CODE OPTIONS...: with the usual small shapes.
tune() {
    tune_code=$1
    shift
    expect "$tune_code" tune --budget 60 --op gemm "$@"
}

# ---- without a place, and words that make no sense ----
expect 2 tune
says err 'no place for a table: ISOMER_TUNED is "off"'
unset ISOMER_TUNED
expect 2 tune
says err "not set, and ISOMER_CACHE_DIR is off"
ISOMER_TUNED=relative expect 2 tune
ISOMER_TUNED=$scratch/tables
export ISOMER_TUNED
expect 4 tune --show
says err "there is no valid table"
expect 4 tune --reset
expect 2 tune --show --reset
expect 2 tune --show --size 8
expect 2 tune --op spmv
expect 2 tune --dtype i32
expect 2 tune --layout nm
expect 2 tune --op gemm --layout n
for size in x 0 8x8 8x8x8x8 '8*0' '8*' 8x0x8 beyond-cache; do
    expect 2 tune --op gemm --size "$size"
    says err "no size of these operations"
done
expect 2 tune --op gemv --size 8x8x8
expect 2 tune --budget 0
expect 2 tune --backend openmp,reference
says err "2 devices are chosen"
expect 2 tune --backend reference:7
[ ! -e tables ] || fail "a run that measures nothing leaves something"

# ---- a table, and the rest of it ----
tune 0 --dtype f32 --size 16
says err "1 of 1 shapes measured"
[ "$(find tables -type f | wc -l)" -eq 1 ] || fail "there is not one table, or a candidate is left"
[ -n "$(find tables -type f -perm 600)" ] || fail "others may read the table, or write it"
[ -n "$(find tables -prune -perm 700)" ] || fail "others may use the folder"
first=$(rows)
tune 0 --dtype f32 --size 16,'8x16x24*3'
says err "1 of 1 shapes measured"
rows | grep -qxF "$first" || fail "the first row was measured again"
rows | grep -q '^gemm f32 nn 8 16 24 3 ' || fail "the batch is not in the table"
tune 0 --dtype f32 --size 16 --layout nn,tt
rows | grep -q '^gemm f32 tt 16 16 16 1 ' || fail "the layout is not in the table"
tune 0 --dtype f32 --size 16
says out "has all of these shapes"
tune 0 --dtype f32 --size 16 --again
says err "1 of 1 shapes measured"
[ "$(rows | wc -l)" -eq 3 ] || fail "measuring again changed the number of rows"
expect 0 tune --op gemv --dtype f64 --size 24 --layout t --budget 60
says err "1 of 1 shapes measured"
expect 0 tune --show
says out ": 4 shapes" "gemm f32 nn 8x16x24*3" "gemv f64 t 24x24"
expect 0 info --all
says out ": 4 rows"
expect 0 info
says out "; tuned for 4 shapes"

# ---- auto and tiled follow it ----
# plant VENDOR TILED WAY: the row of the product of 16.
plant() {
    sed -i "s/^gemm f32 nn 16 16 16 1 .*/gemm f32 nn 16 16 16 1 $1 $2 - - $3/" tables/*.tuned
}
# used VARIANT: auto is this in `bench`, as every file says.
used() {
    expect 0 bench --op gemm --variant auto --dtype f32 --size 16 --rounds 1 --budget 1 --no-roofs \
        --jobs 1 --json used.json --csv used.csv --markdown used.md
    says used.csv gemm/auto/f32/16x16x16
    says out "auto chose $1 for gemm"
    says used.md "| auto ($1) |"
    grep -q "\"variant_used\": \"$1\"" used.json || fail "auto is not $1: $(grep variant_used used.json)"
    grep -q '"variant": "auto"' used.json || fail "the result does not name auto"
}
plant 9 5 -
used tiled
says used.json '"method": "bound, bits of a sample"' # the rule of tiled
expect 0 report used.json -o used.html
says used.html "auto (tiled)"
cp used.json tiled.json
plant 9 5 packed
used tiled
says used.json "gemm_tiled_f32 "
lacks used.json "gemm_tiled_f32 small"
plant 9 5 small
used tiled
if "$tool" bench --op gemm --variant vendor --dtype f32 --size 16 --list >/dev/null &&
    "$tool" info --all | grep -q 'BLAS  *OpenBLAS\|BLAS  *BLIS\|BLAS  *MKL'; then
    plant 5 9 -
    used vendor
    says used.json '"method": "bound"'
    expect 0 compare tiled.json used.json
    says out "auto is tiled in A, vendor in B"
    # The promise comes first.
    ISOMER_KEEP=bits used tiled
fi

# ---- a table that is not the device's ----
sed -i 's/^versions .*/versions of another compiler/' tables/*.tuned
expect 0 info --all
says out "tuned table refused: " "run isomer tune again"
expect 0 info
says out "its table of choices is refused: --all says why"
ISOMER_LOG=warn expect 0 info --all
says err "the table of measured choices" "is not used"
tune 0 --dtype f32 --size 16
says err "measured with other versions" "1 of 1 shapes measured"
[ "$(rows | wc -l)" -eq 1 ] || fail "rows of another compiler were kept"
printf 'rubbish\n' >>"$(find tables -name '*.tuned')"
tune 0 --dtype f32 --size 16
says err "is not used: line " "1 of 1 shapes measured"
name=$(basename tables/*.tuned)
expect 0 tune --reset
says out "removed "
[ -z "$(find tables -type f)" ] || fail "--reset leaves the table"

# ---- a file, and the package's folder ----
ISOMER_TUNED=$scratch/one.tuned
printf 'isomer tuned 1\n' >one.tuned
tune 0 --dtype f32 --size 16
grep -q '^end 1$' one.tuned || fail "the file that ISOMER_TUNED names was not written"
mkdir -p package/isomer/tuned
cp "$library" "package/libisomer.so.0"
mv one.tuned "package/isomer/tuned/$name"
unset ISOMER_TUNED
LD_LIBRARY_PATH=$scratch/package expect 0 info --all
says out "package/isomer/tuned/" ": 1 row"
ISOMER_TUNED=$scratch/tables
export ISOMER_TUNED

# ---- a wrong way is never stored ----
tune 0 --backend reference --dtype f32 --size 12
says err "1 of 1 shapes measured"
tune 1 --backend wrong-way --dtype f32 --size 12
says err "WRONG RESULT: gemm f32 nn 12x12x12, tiled by the way columns on wrong-way:0" \
    "results were wrong"
lacks "$(grep -l '^key wrong-way;' tables/*.tuned)" columns
# One bit of one element, which no sample of the checks meets: the digests show it.
tune 1 --backend wrong-element --dtype f32 --size 12
says err "tiled by the way columns on wrong-element:0: its bits are others than"
lacks "$(grep -l '^key wrong-element;' tables/*.tuned)" columns
expect 0 tune --show --backend wrong-way

# ---- an interrupted run keeps what it has ----
rm -rf tables
sizes=$(seq -s , -f '%gx16' 1 200)
need python3 python3
# The shell lets jobs in the background ignore SIGINT, so a program restores that.
python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$tool" tune --budget 3600 --dtype f32 --size "16x16x16,$sizes" >out 2>err &
pid=$!
stored() { grep -qs '^end 1$' tables/*.tuned; }
stopped INT stored
[ "$(rows | wc -l)" -eq 1 ] || fail "the row that was measured is lost"
expect 0 tune --show
tune 0 --dtype f32 --size 16,20
says err "1 of 1 shapes measured"
