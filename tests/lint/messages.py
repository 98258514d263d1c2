# SPDX-License-Identifier: Apache-2.0
"""messages.py SOURCE PAGE PROVOKED: the messages that a page quotes are the real ones. Those that
were provoked (a file in PROVOKED, named as the heading) are as they were printed; the fixed words of
every one are in string literals of the sources. In the page, an ellipsis stands for anything."""
import errno
import glob
import os
import re
import sys

WORDS_LEFT = 3  # that may follow each other in a message and be in no literal: values


def literals(source):
    """The string literals of the sources, those that follow each other joined."""
    found = set()
    for folder in ("core", "backends", "bench", "common"):
        for path in glob.glob(os.path.join(source, folder, "**/*.[ch]"), recursive=True):
            with open(path, encoding="utf-8") as file:
                text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
            text = re.sub(r"\bPRI\w+\b", '""', text)
            text = re.sub(r"\bCUDA_OLDEST\b", '"%s"', text)
            for run in re.findall(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+', text):
                joined = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', run))
                found.add(joined.replace('\\"', '"').replace("\\n", "\n"))
    return found


def pieces(literal):
    """What a literal has between its conversions; of long parts without the signs at their ends."""
    parts = re.split(r"%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|j)?[a-zA-Z]?", literal)
    return [part.strip(" .,:;\n") if len(part) >= 12 else part for part in parts if part.strip()]


def plain_words(text):
    """The words of a text that are no names, numbers or paths."""
    return re.findall(r"(?<![\w./‘\"-])[a-z]{2,}(?![\w./’\"-])", text)


def messages(page):
    """(heading as an anchor, lines) of each message."""
    anchor, inside, found = "", None, []
    with open(page, encoding="utf-8") as file:
        for line in file.read().split("\n"):
            if line.startswith("#"):
                anchor = re.sub(r"[^\w-]", "", line.lstrip("# ").lower().replace(" ", "-"))
            elif line == "```text":
                inside = []
            elif line == "```" and inside is not None:
                found.append((anchor, inside))
                inside = None
            elif inside is not None:
                inside.append(line)
    return found


def left_over(line, known):
    """The longest run of words in a message that no literal has."""
    covered = [False] * len(line)
    for literal in known:
        parts = pieces(literal)
        all_in = sum(map(len, parts)) >= 24 and all(part in line for part in parts)
        if not all_in and not any(len(part) >= 12 and part in line for part in parts):
            continue
        for part in parts:
            for match in re.finditer(re.escape(part), line):
                covered[match.start() : match.end()] = [True] * len(part)
    rest = "".join("\n" if done else sign for sign, done in zip(line, covered)).replace("…", "\n")
    runs = [run.strip() for run in rest.split("\n")]
    return max(runs, key=lambda run: len(plain_words(run)), default="")


def main():
    source, page, provoked = sys.argv[1:]
    known, faults, tried = literals(source), [], 0
    known |= {os.strerror(number) for number in errno.errorcode}
    found = messages(page)
    for anchor, lines in found:
        file = os.path.join(provoked, anchor)
        if os.path.exists(file):
            tried += 1
            with open(file, encoding="utf-8", errors="replace") as stream:
                printed = " ".join(stream.read().split())
            at = 0
            for part in " ".join(" ".join(lines).split()).split("…"):
                place = printed.find(part.strip(), at)
                if place < 0:
                    faults.append(f"{anchor}: the page says\n    {' '.join(lines)}\nand printed was\n    {printed[:1000]}")
                    break
                at = place + len(part.strip())
            lines = lines[:1]
        for line in lines:
            if re.match(r"\s+\S+:\d+:\d+: ", line):  # a compiler's own words
                continue
            rest = left_over(line, known)
            if len(plain_words(rest)) > WORDS_LEFT:
                faults.append(f"{anchor}: no message of the sources has these words: {rest}")
    for name in os.listdir(provoked):
        if name not in [anchor for anchor, _ in found]:
            faults.append(f"{name}: it was provoked, and the page has no such heading")
    print("\n".join(faults) or f"{len(found)} messages, {tried} provoked")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
