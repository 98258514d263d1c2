#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""evidence.py --check | --write: what each claim about a device rests on, from the files beside this script.

The table of devices in README.md stands between <!-- evidence --> and <!-- /evidence -->, the commands
that make the files again in bench/results/README.md, between <!-- commands --> and <!-- /commands -->.
--write puts them there; --check ends with 1 if they are others. A row is a device of a results file
whose suite is whole: `bench` or `verify` without --op, --case and the like. Only for a simulator, which
is too slow for whole suites, the row names what was chosen.
"""
import glob
import json
import os
import re
import shlex
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
TIERS = ["hardware", "simulator", "cpu-driver", "compiled", "stand-in"]  # the order of the rows
# Others are single cases of `order` and `limits`.
VARIANTS = ("naive", "tiled", "partials", "vendor", "auto", "pageable", "pinned", "device")
CHOICES = ("--op", "--case", "--variant", "--dtype", "--size", "--axis", "--invariance")
OUTPUTS = ("--json", "--csv", "--markdown", "--report", "--export", "--junit")
# How a file's command was started, where the file itself cannot know.
AROUND = {
    "verify-openmp-aarch64-qemu.json": "QEMU_LD_PREFIX=/usr/aarch64-linux-gnu qemu-aarch64 -cpu cortex-a57",
    "verify-hip-gfx1100-rocjitsu.json": "rocjitsu --config gfx1100_w7900.json --",
    "verify-hip-gfx942-rocjitsu.json": "rocjitsu --config gfx942_cdna3_kmd.json --",
    "verify-opencl-intel-epyc.json": "OCL_ICD_VENDORS=$PWD/intel.icd",
    "kernels-verify-opencl-intel-epyc.json": "OCL_ICD_VENDORS=$PWD/intel.icd",
    "verify-opencl-rusticl-epyc.json": "RUSTICL_ENABLE=llvmpipe",
}


def documents():
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.json"))):
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        if document.get("schema", "").split("/")[0] in ("isomer-results", "isomer-compiled"):
            if document.get("run", {}).get("command") != "against":
                yield os.path.basename(path), document


def tier_of(device):
    """The tier; files of version 0.1 have none."""
    if "tier" in device:
        return device["tier"]
    if device["fake"]:
        return "stand-in"
    return "cpu-driver" if device["backend"] == "opencl" and device["type"] == "CPU" else "hardware"


def counts(document, device):
    """{(op, variant): (types that ran, types that did not, whether any ran)}, how many results passed,
    how many failed, and how many are unsupported."""
    table = {}
    if "summary" in device:
        summary = device["summary"]
        for row in summary["operations"]:
            table[row["op"], row["variant"]] = (set(row["types"]), set(row["unsupported_types"]),
                                                row["passed"] > 0)
        return (table, summary["passed"], summary["failed"] + summary["errors"],
                summary["unsupported"])
    passed = failed = unsupported = 0
    for row in document["results"]:
        if row["device"] != device["spec"]:
            continue
        types, lacking, any_ran = table.get((row["op"], row["variant"]), (set(), set(), False))
        ran = row["status"] == "ok"
        if row["dtype"]:
            (types if ran else lacking).add(row["dtype"])
        table[row["op"], row["variant"]] = (types, lacking, any_ran or ran)
        passed += ran
        failed += row["status"] in ("failed", "error")
        unsupported += row["status"] == "unsupported"
    for entry in document.get("labs", []):
        if entry["device"] == device["spec"] and entry["by"] == "isomer":
            passed += entry["status"] == "ok"
            failed += entry["status"] in ("failed", "error")
            unsupported += entry["status"] == "unsupported"
    return table, passed, failed, unsupported


def not_run(table):
    """The variants of which nothing ran, and the types of which no case of a variant did."""
    missing = {}
    for (op, variant), (types, unsupported, any_ran) in table.items():
        if variant not in VARIANTS:
            continue
        if not any_ran:
            missing.setdefault(variant, []).append(op)
        elif unsupported - types:
            missing.setdefault(variant, []).append(f"{op} of {' '.join(sorted(unsupported - types))}")
    return "; ".join(f"{variant}: {', '.join(ops)}" for variant, ops in sorted(missing.items())) or "–"


def rows_not_run(document, device):
    """The rows of the labs without an entry of this device, as "A5, B1": a run may have ended before."""
    names = [letter + str(i) for letter, count in zip("ABCDE", (5, 2, 6, 5, 6)) for i in range(1, count + 1)]
    ran = {e["row"] for e in document["labs"] if e["device"] == device["spec"] and e["by"] == "isomer"}
    left = [name for name in names if name not in ran]
    return "rows " + ", ".join(left) if left else "–"


def plain(text):
    return (text or "").replace("|", "\\|").replace("(R)", "")


def span(numbers):
    return f"{min(numbers)}" if min(numbers) == max(numbers) else f"{min(numbers)} to {max(numbers)}"


def compiled_rows(name, document):
    """Chips of one compiler share a row: those for which all programs were compiled, and the others."""
    groups = {}
    for one in document["architectures"]:
        whole = one["programs"] == one["of"]
        groups.setdefault((one["backend"], one["compiler"], not whole), []).append(one)
    for (backend, compiler, part), chips in sorted(groups.items()):
        title = ", ".join(one["architecture"] for one in chips)
        made = span([one["programs"] for one in chips]) + " of" if part else "all"
        failed = sum(one["failed"] for one in chips)
        yield ("compiled", backend, f"{title}, by {plain(compiler)}", "programs, each chip",
               f"{made} {span([one['of'] for one in chips])}", failed, "–", document["time"][:10], name,
               "executing; compiling the other programs" if part else "executing")


def choices(arguments):
    """The options that choose cases, with their values."""
    words = " ".join(arguments).replace("=", " ").split()
    return [f"{word} {value}" for word, value in zip(words, words[1:]) if word in CHOICES]


def rows():
    for name, document in documents():
        if document["schema"].startswith("isomer-compiled"):
            yield from compiled_rows(name, document)
            continue
        run = document["run"]
        if run["command"] in ("errors", "reveal"):
            continue
        suite = f"{run['command']} {run['suite']}"
        chosen = choices(run["arguments"])
        for device in document["devices"]:
            if chosen and tier_of(device) != "simulator":
                continue
            table, passed, failed, unsupported = counts(document, device)
            words = [plain(device["name"]), plain(device["architecture"])]
            if device["backend"] == "opencl":
                words = [plain(device["driver"]), "on " + words[0]]
            yield (tier_of(device), device["backend"], " ".join(filter(None, words)), " ".join([suite] + chosen),
                   passed, failed, unsupported, run["time"][:10], name,
                   rows_not_run(document, device) if "labs" in document else not_run(table))


def evidence():
    lines = ["| device | backend | tier | suite | passed | failed | unsupported | date | file | what was not run |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    order = TIERS
    # A device is in several files if others were compared with it: files of stand-ins, simulators and
    # the like come last.
    weakest = {name: max(order.index(tier_of(d)) for d in document["devices"])
               for name, document in documents() if "devices" in document}
    newest = {}
    for row in sorted(rows(), key=lambda r: (-weakest.get(r[8], 0), r[7])):
        newest[row[:4]] = row
    made = sorted(newest.values(), key=lambda r: (order.index(r[0]), r[1], r[2], r[8]))
    for tier, backend, title, suite, passed, failed, unsupported, date, name, missing in made:
        lines.append(f"| {title} | `{backend}` | {tier} | {suite} | {passed} | {failed} | {unsupported} | {date} | "
                     f"[{name}](bench/results/{name}) | {missing} |")
    return "\n".join(lines)


def relative(value):
    """A path in the build's folder, as the reader of the command has it."""
    return re.sub(r"^/.*?/(build/)", r"$PWD/\1", value)


def command_of(name, document):
    if "command" in document:
        return document["command"]
    run = document["run"]
    words, left = ["isomer"], iter(run["arguments"][1:])
    for word in left:
        if word in OUTPUTS:
            next(left)
        else:
            words.append(word)
    words += ["--json", name]
    settings = [f"{s['name']}={relative(s['value'])}" for s in run["settings"]
                if s["source"] == "environment" and s["name"] != "ISOMER_CACHE_DIR"]
    return " ".join(settings + [AROUND.get(name, "")] * (name in AROUND) + [shlex.join(words)])


def commands():
    lines = ["| file | command |", "|---|---|"]
    for name, document in documents():
        lines.append(f"| [{name}]({name}) | `{command_of(name, document)}` |")
    return "\n".join(lines)


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in ("--check", "--write"):
        sys.exit(__doc__)
    for page, mark, text in ((os.path.join(ROOT, "README.md"), "evidence", evidence()),
                             (os.path.join(FOLDER, "README.md"), "commands", commands())):
        with open(page, encoding="utf-8") as file:
            old = file.read()
        begin, end = f"<!-- {mark} -->\n", f"<!-- /{mark} -->"
        if old.count(begin) != 1 or old.count(end) != 1:
            sys.exit(f"{page} has no place for {mark}")
        head, rest = old.split(begin)
        new = head + begin + text + "\n" + end + rest.split(end)[1]
        if sys.argv[1] == "--write":
            with open(page, "w", encoding="utf-8") as file:
                file.write(new)
        elif new != old:
            sys.exit(f"{page} does not show what the files hold: run {sys.argv[0]} --write")


main()
