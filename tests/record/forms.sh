# SPDX-License-Identifier: Apache-2.0
# forms.sh FORMS: files that are not results are refused with a message; CSV, Markdown and the table
# have the document's values, with decimal points in every locale; no accepted file crashes the
# program.
. "$ISOMER_TEST_COMMON"
need python3 python3
need localedef locales
forms=$1
export PYTHONDONTWRITEBYTECODE=1
cd "$source_dir/tests/record" || exit
python3 load.py "$forms" || fail "reading: see above"
python3 forms.py "$forms" || fail "other forms: see above"

# Takes only the number format from Germany's locale: making all of it takes long.
{
    for category in NUMERIC CTYPE COLLATE MONETARY TIME MESSAGES PAPER NAME ADDRESS TELEPHONE \
        MEASUREMENT IDENTIFICATION; do
        case $category in
        CTYPE | COLLATE | MONETARY | TIME | MESSAGES) from=POSIX ;;
        *) from=de_DE ;;
        esac
        printf 'LC_%s\ncopy "%s"\nEND LC_%s\n' "$category" "$from" "$category"
    done
} >"$scratch/comma"
if localedef -c -i "$scratch/comma" -f UTF-8 "$scratch/comma.UTF-8" >"$scratch/out" 2>&1; then
    comma=$(LOCPATH=$scratch LC_ALL=comma.UTF-8 locale decimal_point)
    [ "$comma" = , ] || fail "the locale that was made has \"$comma\" and no comma"
    LOCPATH=$scratch python3 forms.py "$forms" comma.UTF-8 ||
        fail "other forms where decimals have a comma: see above"
elif [ -n "${ISOMER_REQUIRE_TOOLS:-}" ]; then
    cat "$scratch/out"
    fail "no locale with a comma: install locales"
else
    say "no locale with a comma can be made here: install locales"
fi

python3 document.py >"$scratch/results.json"
"$forms" damage "$scratch/results.json" 150 || fail "damage at random: exit code $?"

# What a document says about its run.
export LD_PRELOAD='' CUDA_VISIBLE_DEVICES='' OMP_PLACES=cores NVIDIA_API_KEY=secret ISOMER_MATH=tf32
"$forms" run bench --suite quick >"$scratch/run.json" || fail "record_run: exit code $?"
python3 - "$scratch/run.json" <<'END' || fail "what is said of a run: see above"
import json, os, sys
run = json.load(open(sys.argv[1]))
assert run["arguments"] == ["isomer", "bench", "--suite", "quick"], run["arguments"]
assert run["environment"]["CUDA_VISIBLE_DEVICES"] == "", run["environment"]
assert run["environment"]["OMP_PLACES"] == "cores", run["environment"]
assert "NVIDIA_API_KEY" not in run["environment"], "a secret"
math = [s for s in run["settings"] if s["name"] == "ISOMER_MATH"]
assert math == [{"name": "ISOMER_MATH", "value": "tf32", "source": "environment", "problem": None}]
assert run["host"]["name"] == os.uname().nodename, run["host"]
assert run["host"]["processors"] == os.cpu_count(), run["host"]
assert run["build"]["compiler"].split()[0] in ("gcc", "clang"), run["build"]
END
"$forms" device openmp >"$scratch/device.json" || fail "record_device: exit code $?"
grep -q '"fake": false' "$scratch/device.json" || fail "the processor is taken for a stand-in"
