# SPDX-License-Identifier: Apache-2.0
"""headers.py - reads what the public headers declare, and the words that they have for it. As a
program, `headers.py FOLDER`, it prints what is public there and has no words, and then fails.

A comment belongs to what stands directly behind it, and to what follows without an empty line and
has no comment of its own. A comment behind a member, an enumerator or a declaration, in the same
line, is that one's. A comment in front of a member that also has one behind it is a heading: it
speaks of all members up to the next empty line.
"""
import dataclasses
import glob
import os
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.S)
WORD = re.compile(r"\w+")


@dataclasses.dataclass
class Member:
    """A member of a struct or union, or an enumerator."""

    name: str
    code: str  # its declaration, as if it were alone
    words: str
    whole: str = ""  # the declaration as it stands: "int64_t m, n, k"


@dataclasses.dataclass
class Item:
    """One declaration. `kind` is function, struct, union, enum, macro or type."""

    kind: str
    name: str
    code: str  # without comments
    words: str = ""
    members: list = dataclasses.field(default_factory=list)
    heads: list = dataclasses.field(default_factory=list)  # (names of members, what is said of them)
    shared: bool = False  # the words are those of the declaration before it


@dataclasses.dataclass
class Header:
    name: str  # "op.h"
    title: str  # "operations"
    words: str
    items: list = dataclasses.field(default_factory=list)


def plain(comment):
    """The lines of a comment, without its marks and without the margin that they share."""
    lines = comment[2:-2].split("\n")
    rest = [re.sub(r"^\s*\* ?", "", line) if re.match(r"\s*\*", line) else line for line in lines[1:]]
    if not any(re.match(r"\s*\*", line) for line in lines[1:]):
        rest = [line.strip() for line in rest]
    return "\n".join(line.rstrip() for line in [lines[0].strip()] + rest).strip("\n")


def tokens(text):
    """("comment" | "directive" | "gap" | "code", text, whether it begins a line) of a header."""
    place, found = 0, []
    pattern = re.compile(r"(?P<gap>\n[ \t]*(?=\n))|(?P<comment>/\*.*?\*/)|(?P<directive>^[ \t]*#(?:\\\n|/\*.*?\*/|[^\n])*)", re.S | re.M)
    for match in pattern.finditer(text):
        if place < match.start():
            found.append(("code", text[place : match.start()], True))
        begins = not text[: match.start()].rpartition("\n")[2].strip()
        found.append((match.lastgroup, match.group().strip("\n"), begins))
        place = match.end()
    found.append(("code", text[place:], True))
    return found


def pieces(body, end):
    """(code, words in front, words behind, whether a gap is before it) of each part of a body that ends with `end`."""
    parts, code, front, inside, gap, depth = [], "", "", "", False, 0
    for kind, text, begins in tokens(body):
        if kind == "comment":
            if depth:
                code += text
            elif begins and not code.strip():
                front = plain(text)
            elif code.strip():
                inside = plain(text)
            elif parts:
                parts[-1][2] = (parts[-1][2] + " " + plain(text)).strip()
            continue
        if kind == "gap":
            gap = True
            if re.match(r"-- .* --$", front):
                front = ""
            continue
        if kind == "directive":
            continue
        for sign in text:
            depth += (sign in "({[") - (sign in ")}]")
            if sign == end and depth == 0:
                parts.append([code.strip(), front, inside, gap])
                code, front, inside, gap = "", "", "", False
            else:
                code += sign
    if code.strip():
        parts.append([code.strip(), front, inside, gap])
    return parts


def declared(code):
    """The names that a member's declaration declares, each with its own declaration."""
    code = " ".join(code.split())
    pointer = re.search(r"\(\*(\w+)\)\(", code)
    if pointer:
        return [(pointer.group(1), code)]
    first, *others = re.split(r",\s*(?![^\[]*\])", code)
    name = re.search(r"(\w+)(\[[^\]]*\])*$", first).group(1)
    base = first[: first.rindex(name)].rstrip().rstrip("*").rstrip()
    return [(name, first)] + [(WORD.search(other).group(), f"{base} {other}") for other in others]


def fill_members(item, body, is_enum):
    """Reads the members of a struct or enum, with their words, and headings among them."""
    last, head = "", None
    for code, front, behind, gap in pieces(body, "," if is_enum else ";"):
        if re.match(r"-- .* --$", front.split("\n")[0]):
            front = front.partition("\n")[2]
        if gap or front:
            last, head = "", None if gap else head
        if front and behind:
            head = ([], front)
            item.heads.append(head)
        words = behind or front or ("" if re.search(r" (size|reserved)$", code) else last)
        if front and not behind:
            last, head = front, None
        inner = re.match(r"(?:struct|union)\s*\{(.*)\}\s*\w*$", code, re.S)
        if inner:
            fill_members(item, inner.group(1), False)
            continue
        names = [(WORD.match(code).group(), " ".join(code.split()))] if is_enum else declared(code)
        for name, own in names:
            item.members.append(Member(name, own, words, " ".join(code.split())))
            if head:
                head[0].append(name)


def parse_typedef(code, words):
    """An item for a typedef, a struct, a union or an enum."""
    match = re.match(r"(?:typedef\s+)?(struct|union|enum)\s*(\w*)\s*\{(.*)\}\s*(\w*)$", code, re.S)
    if match:
        kind, tag, body, name = match.groups()
        item = Item(kind, name or tag, "", words)
        fill_members(item, body, kind == "enum")
        return item
    bare = " ".join(COMMENT.sub("", code).split())
    name = re.search(r"\(\*(\w+)\)\(|(\w+)$", bare)
    return Item("type", name.group(1) or name.group(2), bare, words)


def parse_macro(text, words):
    match = re.match(r"\s*#\s*define\s+(\w+)(\([^)]*\))?(.*)", text, re.S)
    name, arguments, body = match.groups()
    behind = COMMENT.search(body)
    body = " ".join(COMMENT.sub("", body).replace("\\\n", " ").split())
    made = re.match(r"ISO_INIT_OF(?:_\d)?\((\w+)((?:, \w+, [\w.]+)*)\)$", body)
    if not words and made and not arguments:
        extra = re.findall(r", (\w+), ([\w.]+)", made.group(2))
        words = f"Initialises an {made.group(1)}: its size, " + "".join(f"{n} {v}, " for n, v in extra) + "and zeros."
    return Item("macro", name, (arguments or "").replace("\\\n", " ") + "\0" + body, plain(behind.group()) if behind else words)


def parse_code(code, words):
    """An item for a declaration at the top of a header; None for one that declares nothing."""
    bare = " ".join(COMMENT.sub("", code).split())
    if re.match(r"typedef\b|(struct|union|enum)\s*\w*\s*\{", bare):
        return parse_typedef(code, words)
    match = re.match(r"(?:ISO_API |ISO_PLUGIN_EXPORT |static inline )?([^({]*?\b(\w+)\([^{]*\))", bare)
    return Item("function", match.group(2), match.group(1), words) if match else None


def statements(text):
    """(kind, text, comment in front, comment behind, whether a gap is before it) of what stands at the top of a header."""
    found, code, depth, front, gap = [], "", 0, "", True
    skipped, held = 0, ""  # inside of #ifdef __cplusplus; the comment in front of #if
    for kind, part, begins in tokens(text):
        if kind == "directive":
            word, condition = re.match(r"\s*#\s*(\w+)\s*(\w*)", part).groups()
            if skipped:
                skipped += word.startswith("if") - (word == "endif" or (word == "else" and skipped == 1))
                front = held
            elif word == "define":
                found.append(["directive", part, front, "", gap])
                front, gap = "", False
            elif word.startswith("if"):
                held, skipped = front, condition == "__cplusplus" and word == "ifdef"
            else:
                front = "" if word == "endif" else held
            continue
        if skipped:
            continue
        if kind == "comment":
            if depth or code.strip():
                code += part
            elif begins:
                front, gap = plain(part), True
            elif found:
                found[-1][3] = plain(part)
            continue
        if kind == "gap":
            if not depth and not code.strip():
                front, gap = "", True
            else:
                code += "\n\n" if depth else ""
            continue
        for at, sign in enumerate(part):
            code += sign
            depth += (sign in "{(") - (sign in "})")
            ends_body = sign == "}" and not depth and re.match(r"\s*(ISO_API )?static inline|\s*extern", code)
            if (sign == ";" and not depth) or ends_body:
                found.append(["code", code.strip().rstrip(";"), front, "", gap])
                code, front, gap = "", "", False
            elif sign == "\n" and code.strip() in ("ISO_BEGIN_DECLS", "ISO_END_DECLS"):
                code = ""
    return found


def stem(name):
    """A name of the language of kernels without what it says of types, axes and kinds."""
    name = re.sub(r"\W.*", "", name)
    name = re.sub(r"_(from_)?(f|i|u)(32|64)(x\d)?$|_[xyz]$|_[23]$", "", name)
    return re.sub(r"_(add|min|max|SUM|MIN|MAX)$|s$", "", name.replace("from_", ""))


def names(name, text):
    """Whether a text has the name, or one of its kind."""
    return stem(name) in [stem(word) for word in re.findall(r"\b(?:iso|ISO)_\w+", text)]


def language(header):
    """Keeps what is public of kernel.h, whose opening comment has the words for everything."""
    import words

    parts = words.parts(header.words)
    tables = [pair for kind, part in parts if kind == "terms" for pair in part]
    others = sorted(tables + [("", part) for kind, part in parts if kind == "text"], key=lambda pair: len(pair[1]))
    kept = []
    for item in header.items:
        if not re.match(r"(iso|ISO)_\w*[^_]$", item.name) or re.search(r"_needs_|ISO_(ONLY|LAST)_|x[24]$", item.name):
            continue
        found = [said for term, said in tables if names(item.name, term)] or [said for _, said in others if names(item.name, said)]
        item.words = "\n".join(line for line in found[0].split("\n") if line[:1] != " ") if found else ""
        kept.append(item)
    header.items = kept


def read_header(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = text.split("*/", 1)[1]  # the licence
    top = COMMENT.search(text)
    words = plain(top.group())
    name, title = re.match(r"\s*(\S+\.h) - (.*?)(?:\.\s|[;:]\s|\.$|$)", " ".join(words.split())).groups()
    header = Header(name, title, re.sub(r"^\s*\S+\.h - ", "", words))
    last, known = None, set()
    for kind, code, front, behind, gap in statements(text[top.end() :]):
        words = behind or front
        item = parse_macro(code, words) if kind == "directive" else parse_code(code, words)
        if not item or item.name in known or item.name == f"ISOMER_{name.upper().replace('.', '_')}":
            continue
        if not item.words and not gap and last and last.kind == item.kind and item.kind in ("function", "macro") and not last_behind:
            item.words, item.shared = last.words, True
        if item.kind == "enum" and len(item.members) == 1 and not item.members[0].words:
            item.members[0].words = item.words
        header.items.append(item)
        known.add(item.name)
        last, last_behind = item, bool(behind)
    if header.name == "kernel.h":
        language(header)
    return header


def read_all(folder):
    """The public headers, in the order in which isomer.h includes them, then the others."""
    with open(os.path.join(folder, "isomer.h"), encoding="utf-8") as file:
        order = re.findall(r"#include <isomer/(\w+\.h)>", file.read())
    names = [os.path.basename(path) for path in sorted(glob.glob(os.path.join(folder, "*.h")))]
    order = [name for name in order if name in names] + [name for name in names if name not in order and name != "isomer.h"]
    return [read_header(os.path.join(folder, name)) for name in order]


def words_of(item, member):
    """What is said of a member. Some members mean the same everywhere."""
    usual = {"size": "the size of the struct, which the initialiser sets", "reserved": "must be 0"}
    if item.kind == "struct" and [other.name for other in item.members] == ["id"]:
        return member.words or "the value of the handle; 0 is never valid"
    return member.words or usual.get(member.name, "")


def lacking(headers):
    """The names without words."""
    for header in headers:
        if not header.words:
            yield header.name
        for item in header.items:
            if not item.words:
                yield f"{header.name}: {item.name or 'an enumeration of ' + item.members[0].name}"
            for member in item.members:
                if not words_of(item, member):
                    yield f"{header.name}: {item.name or 'an enumeration'}: {member.name}"


if __name__ == "__main__":
    names = list(lacking(read_all(sys.argv[1])))
    print("\n".join(names))
    sys.exit(1 if names else 0)
