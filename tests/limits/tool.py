# SPDX-License-Identifier: Apache-2.0
"""The tool and the library under limits of the system: every run ends within its deadline, with a
documented exit code and, if that is not 0, a message.

tool.py TOOL LIBRARY_PROGRAM SCRATCH quick|full"""
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

MIB = 1 << 20
DEADLINE = 600  # seconds for one run on a busy machine
# 0 done, 1 a check failed (examined below), 3 backend unavailable, 4 nothing ran, 6 files, 70 a
# fault that the text explains, 77 the library's program without its backend, 127 the dynamic loader
# without memory.
DOCUMENTED = {0, 3, 4, 6, 70, 77, 127}
OF_COMPILERS = ("address space", "files", "file size")
COMPILER_ENDS = {-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGXFSZ, 1}

tool, library_program, scratch, tier = sys.argv[1:]
failures = []
counts = {}


def set_limit(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


def as_user():
    """Root is exempt from limits on processes; an unused user runs nothing else."""
    user = 61000 + os.getpid() % 4000
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)


def set_processes(value):
    def apply():
        if os.geteuid() == 0:
            as_user()
        resource.setrlimit(resource.RLIMIT_NPROC, (value, value))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return apply


VALUES = {  # all, and those of the sample
    "processes": ((1, 2, 3, 4, 6, 9, 14), (1, 4)),
    "address space": ((40, 60, 80, 100, 120, 160, 200, 240, 300, 400, 600, 1000, 2000), (60, 120, 300)),
    "files": ((3, 4, 5, 6, 8, 12, 20, 40), (3, 6, 12)),
    "file size": ((0, 1, 512, 4096, 100000), (0, 512)),
    "stack": ((64, 96, 128, 192, 256, 512, 1024), (64, 256)),
}


def limits():
    """Name, the limit that a child sets for itself, and a prefix for the command."""
    values = {kind: both[tier == "quick"] for kind, both in VALUES.items()}
    for value in values["processes"]:
        yield f"processes {value}", set_processes(value), []
    for value in values["address space"]:
        yield f"address space {value} MiB", set_limit(resource.RLIMIT_AS, value * MIB), []
    for value in values["files"]:
        yield f"files {value}", set_limit(resource.RLIMIT_NOFILE, value), []
    for value in values["file size"]:
        yield f"file size {value}", set_limit(resource.RLIMIT_FSIZE, value), []
    for value in values["stack"]:
        yield f"stack {value} KiB", set_limit(resource.RLIMIT_STACK, value * 1024), []
    if os.geteuid() == 0 and shutil.which("unshare") and hides_proc():
        yield "no /proc", None, HIDE


HIDE = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]


def hides_proc():
    return subprocess.run(HIDE + ["true"], capture_output=True, check=False).returncode == 0


def commands(folder):
    case = ["--backend", "openmp", "--op", "gemm", "--dtype", "f32", "--variant", "tiled,vendor"]
    small = ["--size", "256", "--budget", "0.05", "--rounds", "1", "--no-roofs", "--json"]
    yield "info openmp", [tool, "info", "--backend", "openmp"]
    yield "verify", [tool, "verify", "--suite", "quick"] + case + ["--fail-fast"]
    yield "bench", [tool, "bench"] + case + small + [f"{folder}/bench.json"]
    yield "library", [library_program, "run", "openmp", "0", "512"]
    yield "info", [tool, "info"]
    if tier == "full":
        yield "library opencl", [library_program, "run", "opencl", "0", "512"]
        yield "verify opencl", [tool, "verify", "--backend", "opencl", "--op", "transpose", "--suite", "quick"]


def environment(folder):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("ISOMER_")}
    return dict(kept, HOME=folder, ISOMER_CACHE_DIR=f"{folder}/cache", POCL_CACHE_DIR=f"{folder}/pocl",
                XDG_CACHE_HOME=f"{folder}/xdg", ISOMER_NUM_THREADS="3")


def judge(limit, what, code, said):
    if code in DOCUMENTED:
        return code == 0 or said.strip()
    if code == 1 and ("libgomp: " in said or (" 0 failed, " in said and "could not run" in said)):
        return True  # the OpenMP runtime ended the process; and cases without memory count as failed
    # PoCL's compiler ends the process if it runs out of these, and a library that writes beyond a
    # file limit is the program's responsibility.
    return what.endswith("opencl") and limit.startswith(OF_COMPILERS) and code in COMPILER_ENDS


def run(limit, command, folder, warm):
    name, apply, before = limit
    what, words = command
    began = time.monotonic()
    child = subprocess.Popen(before + words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             preexec_fn=apply, env=environment(folder), cwd=folder, start_new_session=True)
    try:
        said = child.communicate(timeout=DEADLINE)[0].decode(errors="replace")
        code = child.returncode
        good = judge(name, what, code, said)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        said, code, good = child.communicate()[0].decode(errors="replace"), "hangs", False
    took = time.monotonic() - began
    counts[code] = counts.get(code, 0) + 1
    if took > 5:
        print(f"{name}, {what}: {took:.1f} s", flush=True)
    if not good:
        tail = "\n    ".join(said.strip().splitlines()[-6:])
        failures.append(name)
        print(f"FAIL: {name}, {what}{', warm' if warm else ''}: exit {code} after {took:.1f} s\n    {tail}", flush=True)


def main():
    turn = 0
    for limit in limits():
        folder = os.path.join(scratch, limit[0].replace(" ", "-").replace("/", ""))
        os.mkdir(folder)
        os.chmod(folder, 0o777)
        for command in commands(folder):
            turn += 1
            if tier == "quick" and turn % 3:  # a sample: other commands for each limit
                continue
            for warm in (False, True) if tier == "full" else (False,):
                run(limit, command, folder, warm)
    print(", ".join(f"exit {code}: {count}" for code, count in sorted(counts.items(), key=str)))
    return 1 if failures else 0


sys.exit(main())
