# SPDX-License-Identifier: Apache-2.0
# compiled.sh: the files of compilations in bench/results have the form of docs/schema, and so has what
# the functions of common.sh write. Nothing failed, and each chip is there once.
. "$ISOMER_TEST_COMMON"
here=$source_dir/tests/offline
. "$here/common.sh"
if ! python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null; then
    absent "python3's jsonschema is not here: install python3-jsonschema"
fi

# judge FILE...: prints the name of each file that has the form, and why the others have not.
judge() {
    python3 - "$source_dir/docs/schema/isomer-compiled-1.json" "$@" <<'END'
import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    schema = jsonschema.Draft202012Validator(json.load(file))


def fault(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    error = jsonschema.exceptions.best_match(schema.iter_errors(document))
    if error:
        return error.message
    chips = [one["architecture"] for one in document["architectures"]]
    if len(set(chips)) != len(chips):
        return "a chip is there twice"
    for one in document["architectures"]:
        if one["programs"] > one["of"] or one["failed"]:
            return f"{one['architecture']}: {one['programs']} of {one['of']} programs, {one['failed']} failed"
    return None


for path in sys.argv[2:]:
    print(path if fault(path) is None else f"{path}: {fault(path)}")
END
}

# What the next run would write, and other forms.
mkdir "$scratch/list" "$scratch/good" "$scratch/bad"
printf 'a\nb\n' >"$scratch/list/list"
printf '3 "kernels"\nmore\\\n' >"$scratch/result"
made=$scratch/good/made.json
compiled cuda sm_90 "NVRTC 13.0" 1 "$scratch/list" "$scratch/result"
compiled cuda sm_100 "NVRTC 13.0" 2 "$scratch/list" "$scratch/result"
ISOMER_COMPILED=$made compiled_write cuda "NVRTC 13.0" offline.nvrtc.full
wrong() { # NAME SED
    sed "$2" "$made" >"$scratch/bad/$1.json"
    ! cmp -s "$made" "$scratch/bad/$1.json" || fail "$2 changes nothing"
}
wrong twice 's/sm_100/sm_90/'
wrong more 's/"programs": 1,/"programs": 3,/'
wrong failed 's/"failed": 0/"failed": 1/'
wrong less 's/"of": 2,//'
wrong other 's/compiled\/1/compiled\/2/'
wrong unknown 's/"note"/"notes"/'
printf '3 kernels\nFAIL: one\n' >"$scratch/result"
compiled cuda sm_120 "NVRTC 13.0" 2 "$scratch/list" "$scratch/result"
ISOMER_COMPILED=$scratch/bad/failure.json compiled_write cuda "NVRTC 13.0" offline.nvrtc.full

cp "$source_dir"/bench/results/compiled-*.json "$scratch/good"
judge "$scratch"/good/*.json "$scratch"/bad/*.json >"$scratch/log" || { cat "$scratch/log"; fail "no judgement"; }
for file in "$scratch"/good/*.json; do
    grep -qxF "$file" "$scratch/log" || { cat "$scratch/log"; fail "$file"; }
done
for file in "$scratch"/bad/*.json; do
    grep -qF "$file: " "$scratch/log" || { cat "$scratch/log"; fail "taken for good: $file"; }
done
[ "$(wc -l <"$scratch/log")" = 10 ] || { cat "$scratch/log"; fail "not two files, a new one and seven bad ones"; }
for backend in cuda hip; do
    say "$backend: $(grep -c '"backend": "'"$backend"'"' "$source_dir/bench/results/compiled-$backend.json") chips"
done
