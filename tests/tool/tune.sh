# SPDX-License-Identifier: Apache-2.0
# tune.sh WRONG SOUND FAULT TUNED ASKER: `isomer tune` makes a table that the library uses at once, goes on where it
# stopped, and stores nothing that is wrong. `bench --variant auto` and `info` follow the table. In
# WRONG is a plug-in one of whose ways has wrong bits, in SOUND the same without that fault, in FAULT one
# that fails, and in TUNED one that may not know its versions. ASKER prints what auto is.
. "$ISOMER_TEST_COMMON"
cd "$scratch"
ISOMER_BACKEND_PATH=$1:$2:$3:$4 ISOMER_BACKEND=openmp ISOMER_CACHE_DIR=off ISOMER_NUM_THREADS=1
export ISOMER_BACKEND_PATH ISOMER_BACKEND ISOMER_CACHE_DIR ISOMER_NUM_THREADS
asker=$5

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
expect 2 tune --reset --size 8
says err "--reset takes no option but --backend"
expect 2 tune --show --budget 8
expect 2 tune --show --size x
expect 3 tune --backend unit-tuned
says err "what its times depend on is not known: " "this device lost its compiler"
expect 2 tune --op spmv
expect 2 tune --dtype i32
expect 2 tune --layout nm
expect 2 tune --op gemm --layout n
for size in x 0 8x8 8x8x8x8 '8*0' '8*' '8*+1' 8x0x8 beyond-cache '16,1*2000000000000' \
    '16*99999999999999999999' 4294967296x4294967296x4 16x1000000000001x1; do
    expect 2 tune --op gemm --size "$size"
    says err "no size of these operations"
done
expect 2 tune --op gemv --size 8x8x8
expect 2 tune --size "$(seq -s , 1 600)"
[ "$(grep -c "more than 512 shapes" err)" -eq 1 ] || fail "it does not say once that this is too much: $(cat err)"
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
says out ": 4 shapes" "gemm f32 nn 8x16x24*3" "gemv f64 t 24x24" "The library uses it."
expect 0 tune --show --op gemm --size 17,512 --dtype f32
says out "gemm f32 nn 17x17x17: covered by gemm f32 nn 16x16x16; fastest: " \
    "gemm f32 nn 512x512x512: no row covers it"
[ "$(wc -l <out)" -eq 2 ] || fail "two shapes have other lines: $(cat out)"
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
says used.json "gemm_tiled_f32 small"
if "$tool" bench --op gemm --variant vendor --dtype f32 --size 16 --list >/dev/null &&
    "$tool" info --all | grep -q 'BLAS  *OpenBLAS\|BLAS  *BLIS\|BLAS  *MKL'; then
    plant 5 9 -
    used vendor
    says used.json '"method": "bound"'
    expect 0 compare tiled.json used.json
    says out "auto is tiled in A, vendor in B"
    # The promise comes first.
    ISOMER_KEEP=bits used tiled
    plant wrong 9 -
    used tiled
    expect 0 tune --show
    says out " wrong "
fi

# ---- a table that the library refuses, or of another library ----
# refused WORDS: neither the library nor the tool uses the table; then it is measured anew.
refused() {
    expect 4 tune --show
    says err "is not used: " "$1" "there is no valid table"
    tune 0 --dtype f32 --size 16
    says err "is not used: " "$1" "1 of 1 shapes measured"
    [ "$(rows | wc -l)" -eq 1 ] || fail "rows of a table that is refused were kept"
    expect 0 tune --show
}
chmod 666 tables/*.tuned
refused "can be written to by others"
plant 9 5 gigantic
refused 'this device has no way "gigantic"'
name=$(basename tables/*.tuned)
mv "tables/$name" moved
ln -s "$scratch/moved" "tables/$name"
refused "it is a link"
[ ! -L "tables/$name" ] || fail "the table is still a link"
chmod 777 tables
tune 6 --dtype f32 --size 16
says err "the library would not use a table in" "can be written to by others"
chmod 700 tables
library_now=$(sed -n 's/^library //p' tables/*.tuned)
for other in - other; do
    [ "$other" != "$library_now" ] || continue
    sed -i "s/^library .*/library $other/" tables/*.tuned
    expect 0 tune --show
    if [ "$library_now" = - ]; then
        says err "auto chooses among the others by it"
    else
        says err "auto does not choose by" "it is of"
    fi
    tune 0 --dtype f32 --size 20
    says err "is measured again: it is of" "1 of 1 shapes measured"
    expect 0 tune --show
    lacks err "auto does not choose"
    [ "$(sed -n 's/^library //p' tables/*.tuned)" = "$library_now" ] || fail "the table names another library"
    [ "$(rows | wc -l)" -eq 1 ] || fail "rows of another library were kept"
done

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
# What a killed run left goes, too; what only looks similar stays.
touch "tables/$name.new-a1B2c3" "tables/$name.lock" "tables/$name.newest-a1"
expect 0 tune --reset
says out "removed "
[ "$(find tables -type f)" = "tables/$name.newest-a1" ] || fail "--reset leaves the table, or takes too much"
rm "tables/$name.newest-a1"
# A disk that is full (here: no file may grow) leaves nothing, and what was there stays.
tune 0 --dtype f32 --size 16
cp "tables/$name" before
(trap '' XFSZ && ulimit -f 0 && "$tool" tune --budget 9 --op gemm --dtype f32 --size 20 2>&1) | cat >out
says out "cannot write"
cmp -s before "tables/$name" || fail "a disk that is full takes the table"
[ "$(find tables -type f)" = "tables/$name" ] || fail "a disk that is full leaves a new file"
expect 0 tune --reset

# ---- a file, and the package's folder ----
# stays FILE: neither measuring nor removing touches a file that is not this device's table.
stays() {
    cp "$1" before
    for option in --reset --size=16; do
        ISOMER_TUNED=$scratch/$1 expect 2 tune "$option"
        says err "$1 is not a table of openmp" "stays as it is"
        cmp -s "$1" before || fail "$option loses $1"
        cp before "$1"
    done
}
printf 'my notes\n' >notes.txt
stays notes.txt
ISOMER_TUNED=$scratch/one.tuned
printf 'isomer tuned 1\n' >one.tuned
tune 0 --dtype f32 --size 16
sed 's/^key openmp/key other/' one.tuned >other.tuned
stays other.tuned
printf 'isomer tuned 1\n' >one.tuned
tune 0 --dtype f32 --size 16
grep -q '^end 1$' one.tuned || fail "the file that ISOMER_TUNED names was not written"
mkdir -p package/isomer/tuned
cp "$library" "package/libisomer.so.0"
mv one.tuned "package/isomer/tuned/$name"
unset ISOMER_TUNED
LD_LIBRARY_PATH=$scratch/package expect 0 info --all
says out "package/isomer/tuned/" ": 1 row"
lacks out "another driver or compiler"

# ---- the package's table was measured elsewhere ----
# The devices of unit-tuned: a driver and a compiler, kernels, and a vendor's library.
mkdir -p user/tuned
ISOMER_CACHE_DIR=$scratch/user LD_LIBRARY_PATH=$scratch/package ISOMER_UNIT_LIBRARY="unit 1.2.3"
ISOMER_UNIT_IDENTITY="driver 2, kernels 55"
export ISOMER_CACHE_DIR LD_LIBRARY_PATH ISOMER_UNIT_LIBRARY ISOMER_UNIT_IDENTITY
"$asker" unit-tuned 64 >out || fail "the device does not say what auto is: $(cat out)"
says out "auto vendor way 0" "tiled way 0"
key=$(sed -n 's/^tuned for //p' out)
with=$(sed -n 's/^tuned with //p' out)
packaged=package/isomer/tuned/$(sed -n 's/^none: .*tuned\/\([0-9a-f]*\.tuned\)$/\1/p' out)
[ "$packaged" != package/isomer/tuned/ ] || fail "no table is looked for: $(cat out)"
# made FILE VERSIONS [LIBRARY]: a table by which auto is tiled, by the second way.
made() {
    printf 'isomer tuned 1\nkey %s\nversions %s\nlibrary %s\n%s\nend 1\n' "$key" "$2" "${3:-unit 1.2.3}" \
        'gemm f32 nn 64 64 64 1 900 300 400 - large' >"$1"
    chmod 600 "$1"
}
# asked WORDS...: what the device says of its table and of auto.
asked() {
    "$asker" unit-tuned 64 >out || fail "no answer: $(cat out)"
    says out "$@"
}
elsewhere=$(printf '%s' "$with" | sed 's/driver 2/driver 1/')
[ "$elsewhere" != "$with" ] || fail "the driver is not in \"$with\""
made "$packaged" "$elsewhere"
asked "$packaged: 1 row; measured with another driver or compiler: \"$elsewhere\"" "auto tiled way 2" "tiled way 2"
expect 0 info --all --backend unit-tuned
says out "measured with another driver or compiler"
expect 0 info --backend unit-tuned
says out "tuned for 1 shape"
expect 0 tune --show --backend unit-tuned
says out "$packaged: 1 shape" "It came with the library." "It was measured with another driver or compiler:" \
    "there: $elsewhere" "here: $with" "gemm f32 nn 64x64x64"
expect 0 tune --show --backend unit-tuned --op gemm --dtype f32 --size 65
says out "covered by gemm f32 nn 64x64x64"
made "$packaged" "$with"
asked "$packaged: 1 row" "auto tiled way 2"
lacks out "another driver"
# Other kernels, kernels that are not named, and names that only begin alike.
for other in "$(printf '%s' "$elsewhere" | sed 's/kernels 55/kernels 56/')" "${elsewhere}5" \
    "$(printf '%s' "$elsewhere" | sed 's/, kernels 55//')" "$elsewhere, more"; do
    made "$packaged" "$other"
    asked "refused: " "it was measured with \"$other\"" "auto vendor way 0" "tiled way 0"
done
expect 4 tune --show --backend unit-tuned
made "$packaged" "$elsewhere"
sed -i 's/^key unit-tuned; /&another /' "$packaged"
asked "refused: " "it is of another device" "auto vendor way 0"
# In the user's own folder another driver is too much; then the package's counts.
made "user/tuned/${packaged##*/}" "$elsewhere"
rm "$packaged"
asked "refused: $scratch/user/tuned/" "run isomer tune again" "auto vendor way 0" "tiled way 0"
made "$packaged" "$elsewhere"
asked "$packaged: 1 row; measured with another" "; refused: $scratch/user/tuned/" "auto tiled way 2"
expect 0 tune --show --backend unit-tuned
says err "user/tuned/${packaged##*/} is not used: it was measured with other versions"
says out "$packaged: 1 shape"
expect 0 info --backend unit-tuned
says out "tuned for 1 shape"
ISOMER_TUNED=$scratch/$packaged asked "refused: " "run isomer tune again" "auto vendor way 0"
made "user/tuned/${packaged##*/}" "$with"
asked "user/tuned/${packaged##*/}: 1 row" "auto tiled way 2"
lacks out "$packaged"
# Another version of the vendor's library: within the major version the package's times count.
made "$packaged" "$elsewhere" "unit 1.4"
asked "auto tiled way 2"
rm "user/tuned/${packaged##*/}"
asked "$packaged: 1 row" "auto tiled way 2"
expect 0 tune --show --backend unit-tuned
says err "is of unit 1.4, now there is unit 1.2.3: auto chooses by it all the same"
for other in "unit 2.2.3" "unit 12.2.3" "other 1.2.3" -; do
    made "$packaged" "$with" "$other"
    asked "auto vendor way 0" "tiled way 2" "not between variants: the vendor's library is another one"
done
expect 0 tune --show --backend unit-tuned
says err "auto does not choose by"
made "user/tuned/${packaged##*/}" "$with" "unit 1.4"
asked "auto vendor way 0" "tiled way 2" "the vendor's library is another one"
# No library: the other variants' times are left.
ISOMER_UNIT_REFUSES=vendor asked "auto tiled way 2"
rm -r user
unset LD_LIBRARY_PATH ISOMER_UNIT_LIBRARY ISOMER_UNIT_IDENTITY
ISOMER_CACHE_DIR=off
ISOMER_TUNED=$scratch/tables
export ISOMER_TUNED

# ---- a wrong way is never stored ----
tune 0 --backend reference --dtype f32 --size 12
says err "1 of 1 shapes measured"
tune 1 --backend wrong-way --dtype f32 --size 12
says err "WRONG RESULT: gemm f32 nn 12x12x12, tiled by the way columns on wrong-way:0" \
    "results were wrong"
lacks "$(grep -l '^key wrong-way;' tables/*.tuned)" columns
# A call that fails is no lack of time.
ISOMER_FAULT=execute-fails tune 1 --backend fault --dtype f32 --size 12
says err "1 shapes could not be measured"
lacks err "--budget"
ISOMER_FAULT=wrong-result tune 1 --backend fault --dtype f32 --size 12
says err "WRONG RESULT" "0 of 1 shapes measured"
lacks err "do not run"
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
tries=0
until stored || ! kill -0 "$pid" 2>/dev/null || [ "$tries" -ge 12000 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
mv out out.first
mv err err.first
expect 6 tune --size 24
says err "another isomer tune is measuring this device"
expect 6 tune --reset
says err "another isomer tune is measuring this device"
stored || fail "--reset during a run removes the table"
mv out.first out
mv err.first err
stopped INT stored
[ "$(find tables -type f | wc -l)" -eq 1 ] || fail "an interrupted run leaves more than its table"
[ "$(rows | wc -l)" -eq 1 ] || fail "the row that was measured is lost"
expect 0 tune --show
tune 0 --dtype f32 --size 16,20
says err "1 of 1 shapes measured"

# ---- a table that has no room ----
# grown ROW: fills the table with rows, to which a number is printed, and then with short ones, up to the most
# rows and bytes that it may have.
grown() {
    awk -v row="$1" 'NR <= 4 { print; bytes += length($0) + 1 }
        END {
            bytes += length("end 8192") + 1
            for (n = 0; n < 8192; n++) {
                text = sprintf(row, n)
                if (bytes + length(text) + 1 > 1048576) {
                    text = sprintf("gemm f64 nt 1%04d 1 1 1 - 5 - - -", n)
                }
                bytes += length(text) + 1
                if (bytes > 1048576) {
                    break
                }
                print text
            }
            print "end " n
        }' "$(find tables -name '*.tuned')" >before
    chmod 600 before
    cp before tables/*.tuned
}
# full WORDS: rows are refused, and the table stays.
full() {
    tune 6 --dtype f32 --size 16
    says err "$1" "isomer tune --reset"
    cmp -s before tables/*.tuned || fail "a table without room is lost"
    expect 0 tune --show --size 16
}
grown 'gemm f64 nn 1%08d 1 1 1 - 5 - - -'
full "has 8192 rows, and a table has no more"
time=1000000000000000
size=100000000000
grown "gemm f64 nn 1%08d $size $size $size $time $time $time $time -"
full "bytes: at most 1048576"
