# SPDX-License-Identifier: Apache-2.0
# clang.sh [tests]: clang reads every file of the library, the tool and the examples that this build
# compiles, or those of the tests, with this build's warnings, and has none. It generates no code,
# which takes a tenth of the time; build.clang, of the full tier, does.
. "$ISOMER_TEST_COMMON"
part=${1:-}
need clang clang
need python3 python3
cd "$scratch"
[ -f "$build_dir/compile_commands.json" ] || fail "no compile_commands.json in $build_dir"
printf 'static int narrow(long x)\n{\n    return x;\n}\nint main(void)\n{\n    return narrow(0);\n}\n' >planted.c

# Prints a command for each file: clang instead of the compiler, and no output.
python3 - "$build_dir/compile_commands.json" "$source_dir" "$part" >commands <<'END'
import json, re, shlex, sys
seen = set()
for entry in json.load(open(sys.argv[1])):
    words = entry.get("arguments") or shlex.split(entry["command"])
    of_tests = entry["file"].startswith(sys.argv[2] + "/tests/")
    if entry["file"] in seen or not entry["file"].endswith(".c") or of_tests != (sys.argv[3] == "tests"):
        continue
    seen.add(entry["file"])
    flags, left = [], iter(words)
    for word in left:
        if word in ("-o", "-MF", "-MT"):
            next(left)
        elif re.match("-[DIUWmsf]", word) or word == "-isystem":
            flags.append(word if word != "-isystem" else "-isystem" + next(left))
    keep = shlex.join(["-fsyntax-only", "-Werror", "-Wno-unknown-warning-option",
                       "-Wno-unused-command-line-argument"] + flags)
    print(f"cd {shlex.quote(entry['directory'])} && clang {keep} {shlex.quote(entry['file'])}")
END
[ "$(wc -l <commands)" -gt 100 ] || fail "only $(wc -l <commands) files"
sed -n '1s/^\(.*\) .*/\1/p' commands >first
! sh -c "$(cat first) $scratch/planted.c" 2>planted || fail "a planted warning is not found"
grep -q shorten-64-to-32 planted || fail "not the planted warning: $(cat planted)"
tr '\n' '\0' <commands | xargs -0 -P "${JOBS:-$(nproc)}" -n 1 sh -c >log 2>&1 || { cat log; fail "see the warnings above"; }
say "$(wc -l <commands) files"
