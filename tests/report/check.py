#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py PAGE DOCUMENT...: the page is well-formed, complete and loads nothing; every text of the documents appears on it as text."""
import html.parser
import json
import sys

VOID = {"meta", "br", "input", "hr", "img", "link"}
KNOWN = set("""html head meta title style body header h1 h2 h3 h4 p ul li span div nav a main section
article details summary table caption thead tbody tr th td dl dt dd b i em small strong code figure
figcaption svg defs g path use circle rect polygon text line script footer br form label input output
ol title desc tspan polyline""".split())
ENDED_BY = {"td": ("td", "th"), "th": ("td", "th"), "tr": ("td", "th", "tr"),
            "tbody": ("td", "th", "tr"), "/thead": ("td", "th", "tr"), "/table": ("td", "th", "tr", "tbody"),
            "/tr": ("td", "th"), "/tbody": ("td", "th", "tr")}
LOADING = {"src", "srcset", "data", "action", "poster", "background", "formaction"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.stack, self.faults, self.ids, self.links = [], [], [], []
        self.tags, self.text, self.titles, self.points = {}, [], [], 0
        self.raw, self.rows = {}, 0

    def handle_starttag(self, tag, attributes):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if tag not in KNOWN:
            self.faults.append("an element <%s>" % tag)
        for name, value in attributes:
            value = value or ""
            if name in LOADING or name.startswith("on"):
                self.faults.append("<%s %s=%s>" % (tag, name, value))
            if name in ("href", "xlink:href"):
                if not value.startswith("#"):
                    self.faults.append("a link to " + value)
                self.links.append(value[1:])
            if "url(" in value or "javascript:" in value:
                self.faults.append("<%s %s=%s>" % (tag, name, value))
            if name == "id":
                self.ids.append(value)
            if name == "title":
                self.titles.append(value)
            if name == "class" and "pt" in value.split():
                self.points += 1
        self.close_open(ENDED_BY.get(tag, ()))
        if tag == "td" and dict(attributes).get("class", "")[:1] == "d":
            self.rows += 1
        if tag not in VOID:
            self.stack.append(tag)

    def close_open(self, tags):
        """Ends the elements whose end tags may be left out."""
        while self.stack and self.stack[-1] in tags:
            self.stack.pop()

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        self.close_open(ENDED_BY["/" + tag] if "/" + tag in ENDED_BY else ())
        if not self.stack or self.stack[-1] != tag:
            self.faults.append("</%s> where <%s> is open" % (tag, self.stack[-1:]))
        else:
            self.stack.pop()

    def handle_data(self, data):
        inside = self.stack[-1] if self.stack else ""
        if inside in ("script", "style"):
            self.raw.setdefault(inside, []).append(data)
        else:
            self.text.append(data)


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)


def check(condition, what):
    if not condition:
        sys.exit("FAIL: " + what)


names = [a for a in sys.argv[1:] if not a.startswith("--")]
source = open(names[0], encoding="utf-8").read()
documents = [json.load(open(name, encoding="utf-8")) for name in names[1:]]
page = Page()
page.feed(source)
page.close()

check(source.startswith("<!DOCTYPE html>"), "no doctype")
check(not page.faults, "; ".join(page.faults[:10]))
check(not page.stack, "left open: %s" % page.stack)
check(len(page.ids) == len(set(page.ids)), "an id stands twice")
lost = [link for link in page.links if link not in page.ids]
check(not lost, "links to nowhere: %s" % lost[:5])
check(page.tags["script"] == 1, "%d scripts" % page.tags["script"])
check("default-src 'none'" in source, "no content security policy")
style = "".join(page.raw["style"])
check("@import" not in style and "url(" not in style, "the style loads something")
check("http" not in "".join(page.raw["script"]).replace("http://www.w3.org/2000/svg", ""),
      "the script names an address")
check(all(c.isprintable() or c in "\n\u00a0" for c in source),
      "control characters")

shown = "".join(page.text) + "\n".join(page.titles)
rows = sum(len(document["results"]) for document in documents)
check(page.rows == rows, "%d rows of %d" % (page.rows, rows))
for document in documents:
    wanted = [d["name"] for d in document["devices"]]
    wanted += [r["reason"] for r in document["results"] if r["reason"]]
    wanted += [r["library"] for r in document["results"] if r["variant"] == "vendor" and r["library"]]
    wanted += [document["run"]["host"]["name"], document["run"]["host"]["cpu"]]
    wanted += texts(document["run"]["environment"])
    wanted += document["run"]["environment"]
    for text in wanted:
        check(text in shown, "the page lacks the text %r" % text)

good = [r for document in documents for r in document["results"] if r["status"] == "ok"]
figures = page.tags.get("figure", 0)
check(figures > 0 or not good, "no figures")
check(source.count("<svg") == 2 * figures, "a figure lacks its wide or its narrow form")
check(source.count("<li>") > 3 or not good, "no sentences")
print("ok: %d rows, %d figures, %d bytes" % (rows, figures, len(source)))
