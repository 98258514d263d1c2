# SPDX-License-Identifier: Apache-2.0
# ci_examples.sh: the examples for other projects' CI are valid: YAML with known members, and
# Python; the shell code in them parses, and each isomer option that they use exists.
. "$ISOMER_TEST_COMMON"
need python3 python3
python3 -c 'import yaml' 2>/dev/null || {
    [ -z "${ISOMER_REQUIRE_TOOLS:-}" ] || fail "python3-yaml is required and not here"
    skip "python3-yaml is not here: install it"
}
cat >"$scratch/check.py" <<'END2'
import ast, re, subprocess, sys, yaml

tool = sys.argv[1]

def options(command):
    text = subprocess.run([tool, command, "--help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^ +(-[a-z-]+)", text, re.M)

def command_line(words):
    known = options(words[0])
    for word in words[1:]:
        option = word.split("=")[0]
        if re.match(r"--?[a-z]", option) and option not in known:
            sys.exit(f"isomer {words[0]} has no option {option}")

seen = set()

def shell(text):
    text = text.replace("${{ github.base_ref }}", "base")
    subprocess.run(["sh", "-n"], input=text, text=True, check=True)
    for line in text.replace("\\\n", " ").split("\n"):
        for call in re.findall(r'/isomer"? +((?:info|verify|bench|compare|report) [^|;&]*)', line):
            seen.add(call.split()[0])
            command_line(call.split())

def github(path):
    root = yaml.safe_load(open(path))
    assert root[True] and root["jobs"]  # `on` is a truth value in YAML 1.1
    for name, job in root["jobs"].items():
        assert set(job) <= {"runs-on", "steps", "if"} and job["runs-on"], name
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step), step
            assert set(step) <= {"name", "run", "uses", "with", "env", "if"}, step
            shell(step.get("run", ":"))

def gitlab(path):
    root = yaml.safe_load(open(path))
    jobs = {k: v for k, v in root.items() if k not in ("stages", "variables")}
    for name, job in jobs.items():
        assert set(job) <= {"stage", "image", "before_script", "script", "artifacts", "extends",
                            "variables", "tags"}, name
        base = jobs[job["extends"]] if "extends" in job else job
        assert base["stage"] in root["stages"] and base["script"], name
        for line in job.get("before_script", []) + job.get("script", []):
            assert isinstance(line, str), line
            shell(line)

def reframe(path):
    tree = ast.parse(open(path).read())
    [test] = [c for c in tree.body if isinstance(c, ast.ClassDef)]
    made = {t.id: a.value for a in test.body if isinstance(a, ast.Assign) for t in a.targets}
    assert ast.literal_eval(made["executable"]) == "isomer"
    command_line(ast.literal_eval(made["executable_opts"]))

checks = {"yml": {"github": github, "gitlab": gitlab}, "py": {"reframe": reframe}}
for path in sys.argv[2:]:
    name, kind = path.split("/")[-1].split(".")
    checks[kind][name](path)
if len(sys.argv) > 3:
    assert {"verify", "bench", "compare"} <= seen, seen
END2
# From here on, each planted mistake must be found.
check() { python3 "$scratch/check.py" "$tool" "$@" >"$scratch/out" 2>&1; }
cd "$source_dir/docs/ci"
check github.yml gitlab.yml reframe.py || { cat "$scratch/out"; fail "the examples are wrong"; }

planted() { # FILE EXPRESSION OF SED
    sed "$2" "$1" >"$scratch/$1"
    if cmp -s "$1" "$scratch/$1"; then fail "nothing was planted in $1 by $2"; fi
    if check "$scratch/$1"; then fail "$1 is accepted after $2"; fi
}
planted github.yml 's/--fail-on/--fail-upon/'
planted github.yml 's/      - name: build/     - name: build/'
planted github.yml 's/fi$/if/'
planted gitlab.yml 's/--junit verify/--csv verify/'
planted gitlab.yml 's/extends: .portability/extends: .portable/'
planted reframe.py "s/'--budget'/'--bugdet'/"
planted reframe.py 's/class IsomerBench(/class IsomerBench((/'
