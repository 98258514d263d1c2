# SPDX-License-Identifier: Apache-2.0
# The examples for other people's CI are what their readers take: YAML, and Python; the shell in them
# parses, and each isomer option that they use exists.
. "$ISOMER_TEST_COMMON"
need python3 python3
python3 -c 'import yaml' 2>/dev/null || {
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "python3-yaml is required and not here"
    skip "python3-yaml is not here: install it"
}
cd "$source_dir/docs/ci"
cat >"$scratch/check.py" <<'END'
import ast, subprocess, sys, yaml

def shell(text):
    subprocess.run(["sh", "-n"], input=text, text=True, check=True)

github = yaml.safe_load(open("github.yml"))
assert github[True] and github["jobs"]  # `on` is a truth value in YAML 1.1
steps = [s for job in github["jobs"].values() for s in job["steps"]]
assert all(("run" in s) != ("uses" in s) for s in steps)
for step in steps:
    shell(step.get("run", ":"))

gitlab = yaml.safe_load(open("gitlab.yml"))
jobs = {k: v for k, v in gitlab.items() if k != "stages"}
assert all(j.get("stage", "test") in gitlab["stages"] for j in jobs.values())
assert all(j.get("extends", ".portability") in jobs for j in jobs.values())
for job in jobs.values():
    for line in job.get("before_script", []) + job.get("script", []):
        shell(line)

tree = ast.parse(open("reframe.py").read())
assert [c.name for c in tree.body if isinstance(c, ast.ClassDef)] == ["IsomerBench"]
print(len(steps), "steps,", len(jobs), "jobs")
END
python3 "$scratch/check.py" || fail "see above"
"$tool" bench --help >"$scratch/help"
"$tool" compare --help >>"$scratch/help"
grep -ohE -- "(isomer\"? (bench|compare)|executable_opts|'--).*" github.yml gitlab.yml reframe.py |
    grep -oE -- '--[a-z-]+' | sort -u >"$scratch/options"
[ -s "$scratch/options" ] || fail "no options found in the examples"
while read -r option; do
    grep -qF -- "$option" "$scratch/help" || fail "there is no option $option"
done <"$scratch/options"
