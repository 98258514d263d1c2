# SPDX-License-Identifier: Apache-2.0
"""words.py - the parts of a comment: paragraphs, lists, tables of terms, statuses, and what is kept
as it stands (examples, tables of several columns)."""
import re

STATUSES = (
    "OK|INVALID|MISMATCH|NOT_READY|UNAVAILABLE|UNSUPPORTED|NO_MEMORY|COMPILE|TIMEOUT|BACKEND|DEVICE_LOST|INTERNAL"
)
STATUS = re.compile(rf"(?:(?<=^)|(?<=[.:] )|(?<=Also ))((?:ISO_)?(?:{STATUSES})(?:, (?:{STATUSES}))*)(?=: )")
BARE = re.compile(rf"(?:(?<=^)|(?<=\. ))((?:{STATUSES})(?:, (?:{STATUSES}))*)\.(?= |$)")


def indent(line):
    return len(line) - len(line.lstrip())


def terms(lines):
    """[(term, text)] if the lines are a table of terms, whose texts begin in one column; else None."""
    columns = [match.end() for line in lines for match in [re.match(r" *\S(?:\S| (?! ))*  +(?=\S)", line)] if match]
    if not columns:
        return None
    column, found = columns[0], []
    for line in lines:
        term, text = line[:column], line[column:].strip()
        if line[: column].endswith(" ") or len(line) <= column:
            if term.strip():
                found.append([term.strip(), text])
            elif not found:
                return None
            elif indent(line) > column:
                found[-1][1] += "\n" + line[column:]
            else:
                found[-1][1] = (found[-1][1] + " " + text).strip()
        elif indent(line) != indent(lines[0]):
            return None
        else:
            found.append([line.strip(), ""])
        if re.search(r"\S {3,}\S", text):
            return None
    joined = []
    for term, text in found:
        if joined and not joined[-1][1]:
            joined[-1] = [joined[-1][0] + " " + term, text]
        else:
            joined.append([term, text])
    return joined if all(re.search("[A-Za-z]", term) for term, _ in joined) else None


def statuses(text):
    """What a paragraph says before it comes to statuses, and [(statuses, what they mean)]."""
    text = BARE.sub(r"\1: .", text)
    marks = list(STATUS.finditer(text))
    if not marks:
        return text, []
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    found = [(mark.group(1), text[mark.end() + 2 : end].strip().strip(".").strip()) for mark, end in zip(marks, ends)]
    return re.sub(r" ?Also$", "", text[: marks[0].start()].strip()), found


def parts(words):
    """("text", text) | ("list", [text]) | ("terms", [(term, text)]) | ("status", [(names, text)]) |
    ("as is", lines) for each part of a comment."""
    found = []
    words = re.sub(r"^-{4} (.*?) -+\n", "", words)
    for chunk in re.split(r"\n\s*\n", words.strip("\n")):
        lines = chunk.split("\n")
        while lines:
            take = 1
            if lines[0].startswith("- "):
                while take < len(lines) and lines[take].startswith("  "):
                    take += 1
                item = " ".join(line.strip() for line in lines[:take])[2:]
                if found and found[-1][0] == "list":
                    found[-1][1].append(item)
                else:
                    found.append(("list", [item]))
            elif terms(lines):
                found.append(("terms", terms(lines)))
                take = len(lines)
            elif indent(lines[0]) >= 2 and not STATUS.match(lines[0].strip()):
                found.append(("as is", lines))
                take = len(lines)
            else:
                while take < len(lines) and not lines[take].startswith("- ") and (
                    indent(lines[take]) < 2 or STATUS.match(lines[0].strip())
                ) and not STATUS.match(lines[take].strip()):
                    take += 1
                text, marks = statuses(" ".join(line.strip() for line in lines[:take]))
                if text:
                    found.append(("text", text))
                if marks and found and found[-1][0] == "status":
                    found[-1][1].extend(marks)
                elif marks:
                    found.append(("status", marks))
            lines = lines[take:]
    return found


def brief(words):
    """The first sentence, without a full stop."""
    text = next((part[1] for part in parts(words) if part[0] == "text"), " ".join(words.split()))
    return re.split(r"(?<=[^.]\.)\s", text, maxsplit=1)[0].rstrip(".:")
