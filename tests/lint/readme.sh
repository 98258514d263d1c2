# SPDX-License-Identifier: Apache-2.0
# readme.sh: what the documents show is true: every block marked ```sh runs without an error, with
# the tool on PATH, in a copy of the examples (`verify` with two types); every option of isomer that is named exists; the
# programs in README.md, docs/gemv.md, docs/graphs.md, docs/scaling.md, docs/sparse.md and docs/variants.md are those of the examples, or parts of them.
. "$ISOMER_TEST_COMMON"

# blocks LANGUAGE FILE: the lines of its blocks.
blocks() {
    awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } /^```/ { on = 0 } on' "$2"
}

# part_of PAGE PART: the lines in the file PART stand one after another in examples/same_bits.c.
part_of() {
    [ "$(wc -l <"$2")" -ge 10 ] || fail "$1 shows too little of examples/same_bits.c"
    sed -n "/$(head -n 1 "$2")/,\$p" "$source_dir/examples/same_bits.c" | head -n "$(wc -l <"$2")" | diff "$2" - ||
        fail "the program in $1 (<) and examples/same_bits.c (>) differ"
}

blocks c "$source_dir/README.md" >"$scratch/all.c"
sed -n '1,/^}/p' "$scratch/all.c" >"$scratch/readme.c"
grep -v 'SPDX' "$source_dir/examples/multiply.c" >"$scratch/example.c"
diff "$scratch/readme.c" "$scratch/example.c" ||
    fail "the program in README.md (<) and examples/multiply.c (>) differ"
sed '1,/^}/d' "$scratch/all.c" >"$scratch/part.c"
part_of README.md "$scratch/part.c"
blocks c "$source_dir/docs/variants.md" >"$scratch/part.c"
part_of docs/variants.md "$scratch/part.c"

blocks c "$source_dir/docs/gemv.md" >"$scratch/gemv.c"
grep -v 'SPDX' "$source_dir/examples/power.c" >"$scratch/example.c"
diff "$scratch/gemv.c" "$scratch/example.c" || fail "the program in docs/gemv.md (<) and examples/power.c (>) differ"

blocks c "$source_dir/docs/graphs.md" >"$scratch/graph.c"
grep -v 'SPDX' "$source_dir/examples/graph.c" >"$scratch/example.c"
diff "$scratch/graph.c" "$scratch/example.c" || fail "the program in docs/graphs.md (<) and examples/graph.c (>) differ"

blocks c "$source_dir/docs/sparse.md" >"$scratch/sparse.c"
grep -v 'SPDX' "$source_dir/examples/sparse.c" >"$scratch/example.c"
diff "$scratch/sparse.c" "$scratch/example.c" ||
    fail "the program in docs/sparse.md (<) and examples/sparse.c (>) differ"

blocks c "$source_dir/docs/scaling.md" >"$scratch/scaling.c"
grep -v 'SPDX' "$source_dir/examples/ranks.c" >"$scratch/example.c"
diff "$scratch/scaling.c" "$scratch/example.c" ||
    fail "the program in docs/scaling.md (<) and examples/ranks.c (>) differ"

# options FILE...: "command option" for each option that the files pass to a command of isomer.
options() {
    # Stops at the end of a command, a comment or markup.
    grep -hoE '(^|[^a-z_-])isomer (info|verify|bench|compare|report|history|tune|reveal|errors|vectors|kernel) [^`#|;&]*' "$@" |
        sed 's/\\-/-/g' | grep -oE 'isomer .*' | while read -r _ command rest; do
        printf '%s\n' "$rest" | grep -oE '(^|[ [])--?[a-z][a-z-]*' | tr -d ' [' | sed "s/^/$command /"
    done | sort -u
}
check_options() { # FILE
    while read -r command option; do
        [ -f "$scratch/help-$command" ] || "$tool" "$command" --help >"$scratch/help-$command"
        grep -qE -- "(^| )$option([ ,]|\$)" "$scratch/help-$command" || printf '%s %s\n' "$command" "$option"
    done <"$1"
}
options "$source_dir"/*.md "$source_dir"/docs/*.md "$source_dir"/docs/*/*.md "$source_dir"/docs/man/* \
    >"$scratch/options"
[ "$(wc -l <"$scratch/options")" -gt 20 ] || fail "the documents name too few options of isomer"
check_options "$scratch/options" >"$scratch/unknown"
[ ! -s "$scratch/unknown" ] || { cat "$scratch/unknown"; fail "the documents name options that do not exist"; }
echo '    isomer bench --suit quick' >"$scratch/planted"
options "$scratch/planted" >"$scratch/options"
[ "$(check_options "$scratch/options")" = "bench --suit" ] || fail "an option that does not exist is not found"

# absent FILE: the paths that it names and the tree does not have; NAME is any name.
# shellcheck disable=SC2016
absent() {
    grep -oE '`[A-Za-z0-9_./-]+/[A-Za-z0-9_./-]*`' "$1" | tr -d '`' | sort -u | while read -r path; do
        found=
        for match in $(printf '%s\n' "$path" | sed 's/NAME/*/g'); do
            [ ! -e "$match" ] || found=$match
        done
        [ -n "$found" ] || printf '%s\n' "$path"
    done
}
# shellcheck disable=SC2016
printf '`%s`\n' core/nowhere.c core/ops/NAME.c >"$scratch/planted"
cd "$source_dir"
absent CONTRIBUTING.md >"$scratch/absent"
[ ! -s "$scratch/absent" ] || { cat "$scratch/absent"; fail "CONTRIBUTING.md names paths that do not exist"; }
[ "$(absent "$scratch/planted")" = core/nowhere.c ] || fail "a path that does not exist is not found"

if have python3; then
    python3 "$source_dir/bench/results/headline.py" --check "$source_dir/README.md" || fail "see above"
    python3 "$source_dir/bench/results/errors.py" --check "$source_dir/docs/performance.md" || fail "see above"
    python3 "$source_dir/bench/results/evidence.py" --check || fail "see above"
    python3 "$source_dir/bench/results/labs_rows.py" --check || fail "see above"
else
    say "python3 is not here: the tables of results are not checked"
fi

commands=0
mkdir "$scratch/run"
mkdir -m 700 "$scratch/cache"
export ISOMER_CACHE_DIR="$scratch/cache"
unset ISOMER_TUNED # tables are in that folder
cd "$scratch/run"
cp -r "$source_dir"/examples/*.c "$source_dir/examples/kernels" .
ln -s "$source_dir/tests" tests
ln -s "$source_dir/include" include
PATH=$(dirname "$tool"):$PATH
export PATH
export CPATH="$source_dir/include"
LIBRARY_PATH=$(dirname "$library")
export LIBRARY_PATH LD_LIBRARY_PATH="$LIBRARY_PATH"
for document in "$source_dir"/README.md "$source_dir"/docs/*.md "$source_dir"/docs/*/*.md; do
    case $document in
    */docs/labs.md) continue ;; # labs.sh runs them
    esac
    blocks sh "$document" >"$scratch/commands"
    # A page about a GPU that is not here is run over its fake.
    unset ISOMER_CUDA_PATH ISOMER_ROCM_PATH
    case $document in
    */cuda.md) export ISOMER_CUDA_PATH="$build_dir/tests/fakes/cuda" ;;
    */hip.md) export ISOMER_ROCM_PATH="$build_dir/tests/fakes/hip" ;;
    esac
    while IFS= read -r line; do
        [ -n "$line" ] || continue
        commands=$((commands + 1))
        say "${document#"$source_dir"/}: $line"
        # conformance.openmp has all types.
        case $line in *"verify --comm"*) ;; *"isomer verify "*) line="$line --dtype f32,e4" ;; esac
        sh -c "$line" >"$scratch/out" 2>&1 </dev/null || {
            code=$?
            cat "$scratch/out"
            fail "exit code $code"
        }
    done <"$scratch/commands"
done
[ "$commands" -gt 0 ] || fail "no commands in the documents"
say "$commands commands"
