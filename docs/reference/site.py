# SPDX-License-Identifier: Apache-2.0
"""site.py SOURCE OUT PAGE...: what Doxygen gets: the public headers with comments in its form, one
group for each header, and the pages of the guide with links that it follows. The first page is the
site's main page. Prints what has no words and every link that leads nowhere, and then fails."""
import os
import re
import sys

import headers
import words

# The order in which a newcomer needs the headers; others follow.
ORDER = "op memory stream device types status base program kernel embedded sparse graph interop comm grid".split()
faults = []


class Site:
    def __init__(self, source, out, pages):
        self.source, self.out, self.pages = source, out, pages
        self.headers = headers.read_all(os.path.join(source, "include/isomer"))
        self.known = {}
        for header in self.headers:
            self.known[header.name] = self.group(header)
            for item in header.items:
                self.known[item.name] = item.name
                for member in item.members:
                    self.known[f"{item.name}.{member.name}" if item.kind != "enum" else member.name] = (
                        f"{item.name}.{member.name}" if item.kind != "enum" else member.name
                    )
        self.known.pop("", None)

    @staticmethod
    def file_of(name):
        """Doxygen lists headers in the order of their files."""
        place = ORDER.index(name[:-2]) if name[:-2] in ORDER else len(ORDER)
        return f"{place:02}/{name}"

    @staticmethod
    def group(header):
        return "header_" + header.name[:-2]

    def page_id(self, path):
        return "mainpage" if path == self.pages[0] else "page_" + re.sub(r"\W", "_", re.sub(r"^docs/|\.md$", "", path))

    def linked(self, word, own=""):
        """A link to a name of the headers, or the name itself."""
        target = self.known.get(word)
        return f'@ref {target} "{word}"' if target and word != own else self.escape(word)

    @staticmethod
    def escape(text):
        text = re.sub(r"([\\@&<>#%*$~|])", r"\\\1", text)
        return re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", text).replace("](", "]&zwnj;(").replace("] (", "]&zwnj; (").replace("::", "\\::")

    def prose(self, text, own=""):
        """A paragraph of a comment."""
        out = []
        for part in re.split(r"(`[^`]+`|\b(?:iso_\w+(?:\.\w+)?|ISO_\w+|\w+\.h|docs/[\w/-]+\.md)\b)", text):
            if part[:1] == "`":
                inner = part[1:-1]
                out.append(f"<code>{self.linked(inner, own)}</code>")
            elif part in self.pages:
                out.append(f'@ref {self.page_id(part)} "{part}"')
            elif re.match(r"(iso_|ISO_)\w|\w+\.h$", part):
                out.append(self.linked(part.rstrip("."), own))
            else:
                out.append(self.escape(part))
        return "".join(out)

    def comment(self, text, own=""):
        out = []
        for kind, part in words.parts(text):
            if kind == "text":
                out.append(f"<p>{self.prose(part, own)}</p>")
            elif kind == "list":
                out.append("<ul>" + "".join(f"<li>{self.prose(item, own)}</li>" for item in part) + "</ul>")
            elif kind in ("terms", "status"):
                rows = "".join(f"<dt><code>{self.escape(term)}</code></dt><dd>{self.prose(said or 'as for other calls', own)}</dd>" for term, said in part)
                out.append(f'<dl class="{kind}">{rows}</dl>')
            else:
                out.append("<pre>" + "\n".join(self.escape(line) for line in part) + "</pre>")
        return "\n".join(out)

    def said(self, item, member):
        text = " ".join(headers.words_of(item, member).split())
        return self.prose(text, member.name)

    @staticmethod
    def wrapped(text):
        return f"/** {text} */" if text.strip() else ""

    def item(self, item):
        doc = self.comment(item.words, item.name)
        if doc:
            doc = f"@brief {self.prose(words.brief(item.words), item.name)}.\n" + (doc if doc.count("<") > 2 or ". " in doc else "")
        for names, said in item.heads:
            doc += f"\n<p>{', '.join(self.linked(name) for name in names)}: {self.prose(' '.join(said.split()))}</p>"
        if item.kind == "macro":
            arguments, value = item.code.split("\0")
            value = "" if item.name.endswith("_INIT") else value  # the words say it better
            return f"{self.wrapped(doc)}\n#define {item.name}{arguments} {value}"
        if item.kind in ("function", "type"):
            return f"{self.wrapped(doc)}\n{item.code};"
        end = "," if item.kind == "enum" else ";"
        lines = [f"    {self.wrapped(self.said(item, member))}\n    {member.code}{end}" for member in item.members]
        body = "{\n" + "\n".join(lines) + "\n}"
        if item.kind == "enum":
            return f"{self.wrapped(doc)}\nenum {item.name} {body};"
        return f"{self.wrapped(doc)}\n{item.kind} {item.name} {body};"

    def write(self, name, text):
        path = os.path.join(self.out, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def header(self, header):
        title = f"isomer/{header.name}: {header.title.split(',')[0]}"
        text = header.words[len(header.title) :].lstrip(".:; \n") if header.words.startswith(header.title) else header.words
        text = text[:1].upper() + text[1:]
        lines = [f"/** @defgroup {self.group(header)} {title}", f"<pre>\\#include \\<isomer/{header.name}\\></pre>", self.comment(text), "@{ */"]
        lines += [self.item(item) for item in header.items] + ["/** @} */", ""]
        self.write(self.file_of(header.name), "\n".join(lines))

    def anchor(self, page, heading):
        """GitHub's anchor of a heading."""
        return self.page_id(page) + "_" + re.sub(r"[^\w-]", "", re.sub(r"[`*]", "", heading).strip().lower().replace(" ", "-")).replace("-", "_")

    def link(self, page, text, target):
        """A link of a page, in the form that Doxygen follows."""
        if re.match(r"[a-z]+:", target):
            return f"[{text}]({target})"
        path, _, part = target.partition("#")
        full = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        label = re.sub(r"[`*]", "", text).replace('"', "'")
        if not os.path.exists(os.path.join(self.source, full)):
            faults.append(f"{page}: the link to {target} leads nowhere")
            return text
        if full.startswith("include/isomer/") and os.path.basename(full) in self.known:
            return f'@ref {self.known[os.path.basename(full)]} "{label}"'
        if full not in self.pages:
            return f"{text} (`{full}` of the source tree)" if text.strip("`") != full else text
        if not part:
            return f'@ref {self.page_id(full)} "{label}"'
        wanted = self.page_id(full) + "_" + part.replace("-", "_")
        if wanted not in self.anchors[full]:
            faults.append(f"{page}: the link to {target} leads to no heading")
        return f'@ref {wanted} "{label}"'

    def code(self, text):
        """A name of the headers, alone or in front of arguments, leads to the reference."""
        match = re.match(r"`((?:iso|ISO)_\w+)([(].*)?`$", text)
        if not match or match.group(1) not in self.known:
            return text
        return f"<code>{self.linked(match.group(1))}{self.escape(match.group(2) or '')}</code>"

    def page(self, page):
        lines, fenced = [], False
        for line in self.texts[page]:
            if line.startswith("```"):
                fenced = not fenced
                language = {"c": "{.c}", "python": "{.py}"}.get(line[3:], "")
                lines.append(("~~~" + language) if fenced else "~~~")
                continue
            if fenced:
                lines.append(line)
                continue
            if re.match(r"<!--.*-->$", line):
                continue
            heading = re.match(r"(#+) (.*)", line)
            if heading:
                plain = re.sub(r"[`*]|\[|\]\([^)]*\)", "", heading.group(2))
                name = self.page_id(page) if len(heading.group(1)) == 1 else self.anchor(page, heading.group(2))
                lines.append(f"{heading.group(1)} {plain} {{#{name}}}")
                continue
            # Doxygen knows no code between two stars.
            line = re.sub(
                r"(`[^`]+`)|\*\*((?:[^*`]|`[^`]+`)+)\*\*",
                lambda match: match.group(1) or (f"<b>{match.group(2)}</b>" if "`" in match.group(2) else match.group(0)),
                line,
            )
            line = re.sub(r"!\[([^]]*)\]\([^)]*\)", r"\1", line)
            line = re.sub(
                r"\[((?:[^]`]|`[^`]*`)+)\]\(([^)\s]+)\)|(`[^`]+`)",
                lambda match: self.code(match.group(3)) if match.group(3) else self.link(page, match.group(1), match.group(2)),
                line,
            )
            lines.append(line)
        text = "\n".join(lines) + "\n"
        self.write(f"{self.pages.index(page):02}-{os.path.basename(page)}", text)

    def make(self):
        faults.extend(f"{name} is public, and the header has no words for it" for name in headers.lacking(self.headers))
        self.texts, self.anchors = {}, {}
        for page in self.pages:
            with open(os.path.join(self.source, page), encoding="utf-8") as file:
                self.texts[page] = file.read().split("\n")
            fenced, self.anchors[page] = False, set()
            for line in self.texts[page]:
                fenced ^= line.startswith("```")
                if not fenced and re.match(r"##+ ", line):
                    self.anchors[page].add(self.anchor(page, line.lstrip("#").strip()))
        for header in self.headers:
            self.header(header)
        for page in self.pages:
            self.page(page)


def main():
    source, out, *pages = sys.argv[1:]
    Site(source, out, pages).make()
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
