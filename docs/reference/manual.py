# SPDX-License-Identifier: Apache-2.0
"""manual.py HEADERS OUT VERSION: manual pages of section 3, made from the public headers.

One page for each function; functions that share their words and their structs share a page, and so
do an enumeration and the functions that name and parse it. A header has a page with what it says of
all its functions, with its other types. Every other name is an alias of one of these.
"""
import os
import re
import sys

import headers
import words


def escape(text):
    """Text for roff: nothing in it is a request or an escape."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M).replace("~", "\\(ti").replace("^", "\\(ha")


def prose(text):
    """A paragraph; each sentence is a line, and names of the library are bold."""
    lines = re.sub(r"(?<=[a-z)\d][.:]) (?=[A-Z])", "\n", text)
    return re.sub(r"\b(iso_\w+|ISO_\w+)", r"\\fB\1\\fP", escape(lines))


def body(text, names=None):
    """The lines of a page for the words of a comment; statuses go to `names` if that is a list."""
    out = []
    for kind, part in words.parts(text):
        if kind == "text":
            out += [".PP", prose(part)]
        elif kind == "list":
            for item in part:
                out += [".IP \\(bu 2", prose(item)]
        elif kind == "terms":
            for term, said in part:
                out += [".TP", f"\\&{escape(term)}", prose(said)]
        elif kind == "as is":
            out += [".PP", ".nf", *["\\&" + escape(line) for line in part], ".fi"]
        elif names is not None:
            names += part
        else:
            for name, said in part:
                out += [".TP", f".B {name}", prose(said or "As for other calls.")]
    return out


def members(item):
    out, last = [], ""
    for member in item.members:
        if member.whole != last:
            out += [".TP", f"\\fB{escape(member.whole)}\\fP", prose(" ".join(headers.words_of(item, member).split()))]
        last = member.whole
    for names, said in item.heads:
        out += [".PP", f"Of {', '.join(names)}:", prose(" ".join(said.split()))]
    return out


class Manual:
    def __init__(self, all_headers, version):
        self.headers, self.version = all_headers, version
        self.items = {item.name: item for header in all_headers for item in header.items if item.name}
        self.pages, self.aliases = {}, {}

    def structs_of(self, function):
        """The structs, with fields that a caller sets or reads, that a function takes."""
        inside = function.code[function.code.index("(") :]
        found = [self.items.get(name) for name in re.findall(r"\b(iso_\w+)", inside)]
        return [item for item in found if item and item.kind == "struct" and len(item.members) > 1]

    def enum_of(self, function):
        match = re.match(r"(iso_\w+)_(name|parse|size)$", function.name)
        item = self.items.get(match.group(1)) if match else None
        return item if item and item.kind == "enum" else None

    def groups(self, header):
        """The functions of a header, those of a page together."""
        found = []
        for item in header.items:
            if item.kind != "function" or self.enum_of(item):
                continue
            own, others = ([other.name for other in self.structs_of(function)] for function in (item, found[-1][0] if found else item))
            if item.shared and found and set(own) == set(others):
                found[-1].append(item)
            else:
                found.append([item])
        return found

    def page(self, name, title, synopsis, parts):
        head = [f'.TH "{escape(name.upper())}" 3 "" "isomer {self.version}" "The library isomer"', ".SH NAME", f"{escape(name)} \\- {title}"]
        if synopsis:
            head += [".SH SYNOPSIS", ".nf", *synopsis, ".fi"]
        lines = [line for line in head + parts if line]
        self.pages[name] = [line for before, line in zip([""] + lines, lines) if line != ".PP" or before[:3] not in (".SS", ".SH")]

    def synopsis(self, header, functions):
        lines = [f"\\fB#include <isomer/{header.name}>\\fP"] + [".PP"] * bool(functions)
        for function in functions:
            lines.append(f"\\fB{escape(function.code)};\\fP")
        return lines + [".PP", "Link with \\fB\\-lisomer\\fP."]

    def see_also(self, names, own):
        names = sorted({name for name in names if name != own and not name.startswith("ISO_")})
        return [".SH SEE ALSO"] + [f".BR {escape(name)} (3){',' if name != names[-1] else ''}" for name in names]

    def general(self, header, function):
        """The statuses that a header states for functions which it names."""
        last = ""
        for kind, part in words.parts(header.words):
            if kind == "status" and re.search(rf"\b{function}\b", last.split(". ")[-1]):
                return part
            last = part if kind == "text" else ""
        return []

    def function_page(self, header, group):
        names, parts = [], [".SH DESCRIPTION"]
        first = group[0]
        parts += body(first.words, names)
        related = {f"isomer-{header.name[:-2]}", "iso_status", "iso_last_error"}
        for item in header.items:  # flags say whose they are
            if item.kind == "enum" and not item.name and re.search(rf"\b{first.name}\b", item.words):
                parts += [".SS Flags", *members(item)]
        for item in {item.name: item for function in group for item in self.structs_of(function)}.values():
            if item not in header.items or self.owner.setdefault(item.name, first.name) != first.name:
                related.add(item.name)
                continue
            parts += [f".SS {escape(item.name)}", *body(item.words, names), *members(item)]
            types = {name for member in item.members for name in re.findall(r"\biso_\w+", member.code)}
            related |= {name for name in types if name in self.items and self.items[name].kind == "enum"}
            self.aliases[item.name] = first.name
        names = self.general(header, first.name) + names
        if "iso_status " in first.code:
            parts += [".SH RETURN VALUE", "\\fBISO_OK\\fP, or a status; \\fBiso_last_error\\fP(3) has the text."]
        for name, said in names:
            text = prose(said[:1].upper() + said[1:] + "." if said else "As for other calls.")
            parts += [".TP", f".B {name}", text]
        related |= {name for name in re.findall(r"\biso_\w+", first.words) if name in self.items}
        kin = re.match(r"iso_[a-z]+_", first.name)  # calls of the same object
        related |= {item.name for item in header.items if kin and item.kind == "function" and item.name.startswith(kin.group())}
        brief = words.brief(self.structs_of(first)[0].words if first.words.startswith("Submits the operation") else first.words)
        self.related[first.name] = (related, parts)
        self.page(first.name, escape(brief), self.synopsis(header, group), parts)
        self.aliases.update({function.name: first.name for function in group[1:]})

    def enum_page(self, header, item):
        functions = [f for f in header.items if f.kind == "function" and self.enum_of(f) is item]
        parts = [".SH DESCRIPTION", *body(item.words), *members(item)]
        for function in functions:
            parts += [".PP", f"\\fB{function.name}\\fP():", *body(function.words)[1:]]
        self.related[item.name] = ({f"isomer-{header.name[:-2]}", "iso_last_error"}, parts)
        self.page(item.name, escape(words.brief(item.words)), self.synopsis(header, functions), parts)
        self.aliases.update({function.name: item.name for function in functions})

    def header_page(self, header):
        name = f"isomer-{header.name[:-2]}"
        parts = [".SH DESCRIPTION", *body(header.words)]
        for item in header.items:
            if item.kind == "function" or item.name in self.pages or item.name in self.aliases:
                continue
            if item.kind == "macro":
                if item.words and not item.name.endswith("_INIT"):
                    parts += [".SS " + escape(item.name + item.code.split("\0")[0]), *body(item.words)]
            elif item.words:
                parts += [f".SS {escape(item.name or words.brief(item.words))}", *(body(item.words) if item.name else []), *members(item)]
            if item.name and (item.kind != "macro" or header.name == "kernel.h"):
                self.aliases[item.name] = name
        own = {target for target in self.pages if any(i.name == target for i in header.items)}
        self.related[name] = (own | {"isomer-base"}, parts)
        self.page(name, escape(header.title), [f"\\fB#include <isomer/{header.name}>\\fP"], parts)

    def make(self):
        self.owner, self.related = {}, {}
        for header in self.headers:
            for item in header.items:
                if item.kind == "enum" and item.name and header.name not in ("backend.h", "engine.h"):
                    self.enum_page(header, item)
            for group in self.groups(header):
                self.function_page(header, group)
        for header in self.headers:
            self.header_page(header)
        for name, (related, _) in self.related.items():
            found = {self.aliases.get(other, other) for other in related}
            self.pages[name] += self.see_also({other for other in found if other in self.pages}, name)

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)
        for old in os.listdir(folder):
            if old.endswith(".3"):
                os.remove(os.path.join(folder, old))
        texts = {name: "\n".join(lines) + "\n" for name, lines in self.pages.items()}
        texts.update({name: f".so man3/{page}.3\n" for name, page in self.aliases.items() if name not in self.pages})
        for name, text in texts.items():
            with open(os.path.join(folder, f"{name}.3"), "w", encoding="utf-8") as file:
                file.write('.\\" Made from the public headers by docs/reference/manual.py.\n' if not text.startswith(".so") else "")
                file.write(text)


def main():
    folder, out, version = sys.argv[1:4]
    manual = Manual(headers.read_all(folder), version)
    manual.make()
    manual.write(out)


if __name__ == "__main__":
    main()
