"""How much of a page's structure survives in Markdown: Groundwire and four peers, on the same pages in one run.

The pages are made here from a seed, in the ways in which twelve kinds of sites write headings, code, tables, lists,
links and formulas (`fidelity_pages.py`). The Markdown is read by a CommonMark parser with tables, and a thing counts
as kept when it is there as that thing: a heading with its level, a code block character by character (and once more
with its language), the cells of a row in their order, a list item with its kind and depth, a link with its text and
its whole address (relative ones are resolved here, for the peers that leave them). Formulas count when their TeX is
in the text.

Without `--pipeline` every contender gets the main content alone, so that only the conversion is compared; with it, the
whole page.

    python benchmarks/fidelity.py [--pages 20] [--pipeline] [--alone]

With `--alone`, our writer is compared only with turbohtml's own, after our rules for code, formulas, permalinks, tasks,
and links have changed the tree: what a writer in C could bring.

The peers are those that `peers.py` names; they are installed apart. Our own environment needs markdown-it-py.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from urllib.parse import unquote, urljoin

import turbohtml
from fidelity_pages import DIALECTS, Known, page
from markdown_it import MarkdownIt
from peers import install_converters
from turbohtml import Element, Markdown, Text

from groundwire.reading.extract import extract
from groundwire.reading.html.math import formula, image_formula, script_formula
from groundwire.reading.markdown.escaping import code_language, code_text, is_code_panel, web_url
from groundwire.reading.markdown.serializer import to_markdown

URL = "https://site.example/guide/page.html"
KINDS = ("headings", "code", "language", "cells", "items", "links", "formulas")

PEER = """
import json, sys, time
name, pages = sys.argv[1], json.load(sys.stdin)
if name == "trafilatura":
    from trafilatura import extract
    run = lambda html: extract(html, url=URL, output_format="markdown", include_links=True, include_tables=True,
                               include_formatting=True, include_comments=True) or ""
elif name == "html-to-markdown":
    from html_to_markdown import convert
    run = lambda html: getattr(convert(html), "content", None) or ""
elif name == "markdownify":
    from markdownify import markdownify
    run = lambda html: markdownify(html, heading_style="ATX")
elif name == "turbohtml":
    import turbohtml
    from turbohtml import Markdown
    def run(html):
        document = turbohtml.parse(html)
        document.resolve_links(URL)
        return document.to_markdown(Markdown())
out = []
for html in pages:
    started = time.process_time()
    try:
        text = run(html)
    except Exception as error:
        text = ""
        print(name, repr(error), file=sys.stderr)
    out.append((text, time.process_time() - started))
json.dump(out, sys.stdout)
""".replace("URL", repr(URL))


def key(text: str) -> str:
    return " ".join(text.split())


def read(markdown: str) -> dict[str, Counter[object]]:
    """Return the structures that a CommonMark parser finds in a text, by kind."""
    found: dict[str, Counter[object]] = {kind: Counter() for kind in KINDS}
    lists: list[bool] = []
    items: list[list[str]] = []
    heading = 0
    row: list[str] | None = None
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        match token.type:
            case "heading_open":
                heading = int(token.tag[1])
            case "heading_close":
                heading = 0
            case "bullet_list_open" | "ordered_list_open":
                lists.append(token.type.startswith("ordered"))
            case "bullet_list_close" | "ordered_list_close":
                lists.pop()
            case "list_item_open":
                items.append([])
            case "list_item_close":
                found["items"][(lists[-1], len(lists), key(" ".join(items.pop())))] += 1
            case "tr_open":
                row = []
            case "tr_close":
                found["cells"][tuple(cell for cell in row or () if cell)] += 1
                row = None
            case "fence" | "code_block":
                text = "\n".join(line.rstrip() for line in token.content.strip("\n").split("\n"))
                found["code"][text] += 1
                found["language"][(token.info.strip().split(" ")[0].lower(), text)] += 1
            case "inline":
                text = _inline(token.children or [], found["links"])
                if heading:
                    found["headings"][(heading, text)] += 1
                if row is not None:
                    row.append(text)
                elif items:
                    items[-1].append(text)
    return found


def _inline(children: list[object], links: Counter[object]) -> str:
    parts: list[str] = []
    open_links: list[tuple[int, str]] = []
    for token in children:
        kind = token.type  # type: ignore[attr-defined]
        if kind in {"text", "code_inline"}:
            parts.append(token.content)  # type: ignore[attr-defined]
        elif kind in {"softbreak", "hardbreak"}:
            parts.append(" ")
        elif kind == "link_open":
            open_links.append((len(parts), str(token.attrGet("href"))))  # type: ignore[attr-defined]
        elif kind == "link_close" and open_links:
            start, address = open_links.pop()
            links[(key("".join(parts[start:])), unquote(urljoin(URL, address)))] += 1
    return key("".join(parts))


def kept(known: Known, markdown: str) -> dict[str, tuple[int, int]]:
    """Return, by kind, how many structures survive, and of how many."""
    found = read(markdown)
    expected: dict[str, list[tuple[object, int]]] = {
        "headings": [((level, key(text)), 1) for level, text in known.headings],
        "code": [(_code(text), 1) for _, text in known.code],
        "language": [((language, _code(text)), 1) for language, text in known.code if language],
        "cells": [(tuple(key(cell) for cell in row), len(row)) for row in known.rows],
        "items": [((ordered, depth, key(text)), 1) for ordered, depth, text in known.items],
        "links": [((key(text), unquote(address)), 1) for text, address in known.links],
    }
    result: dict[str, tuple[int, int]] = {}
    for kind, things in expected.items():
        left = found[kind].copy()
        score = 0
        for thing, weight in things:
            if left[thing] > 0:
                left[thing] -= 1
                score += weight
        result[kind] = (score, sum(weight for _, weight in things))
    plain = re.sub(r"\s+", "", markdown)
    present = Counter({tex: plain.count("$" + tex.replace(" ", "") + "$") for tex in set(known.formulas)})
    wanted = Counter(known.formulas)
    result["formulas"] = (sum(min(present[tex], count) for tex, count in wanted.items()), len(known.formulas))
    return result


def _code(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


def ours(html: str, *, pipeline: bool) -> str:
    if pipeline:
        return extract(html, URL).content
    body = turbohtml.parse(html, positions=False).find("body")
    return to_markdown(body, URL) if body is not None else ""


def normalized(html: str) -> str:
    """Convert a main part by turbohtml's writer, after its structures are written as the writer expects them."""
    body = turbohtml.parse(html, positions=False).find("body")
    if body is None:
        return ""
    kept_as: list[str] = []

    def keep(markdown: str) -> Text:
        kept_as.append(markdown)
        return Text(f"\ue000{len(kept_as) - 1}\ue001")

    _code_blocks(body)
    for element in body.select("math, mjx-container, span[class*=katex], span[class*=mwe-math], script[type^='math']"):
        tex, block = (script_formula(element) or ("", False)) if element.tag == "script" else formula(element)
        if tex and element.parent is not None:
            element.replace_with(keep(f"\n\n$$\n{tex}\n$$\n\n" if block else f"${tex}$"))
    for image in body.select("img"):
        if tex := image_formula(image):
            image.replace_with(keep(f"${tex}$"))
    for node in [node for node in body.descendants if isinstance(node, Text) and _TEX.search(node.data)]:
        if isinstance(node.parent, Element) and node.parent.closest("pre, code, script") is None:
            node.replace_with(Text(_TEX.sub(lambda match: keep(_delimited(match)).data, node.data)))
    for box in body.select("li input[type=checkbox i]"):
        box.replace_with(keep("[x] " if box.attr("checked") is not None else "[ ] "))
    for link in body.select("a"):
        reference = link.attr("href") or ""
        if "#" in reference and link.text.strip() in _MARKS:
            link.extract()
        elif reference[:1] != "#" and (address := web_url(reference, URL) if reference else ""):
            link.attrs["href"] = address
        else:
            link.unwrap()
    return _KEPT.sub(lambda match: kept_as[int(match[1])], body.to_markdown(_OWN))


_TEX = re.compile(r"\\\((.+?)\\\)|\\\[(.+?)\\\]|\$([^$\s][^$]*)\$", re.DOTALL)
_MARKS = frozenset({"", "#", "\u25c6", "\u00b6", "\u00a7", "\u200b", "\U0001f517", "Link", "Anchor"})
_KEPT = re.compile("\ue000(\\d+)\ue001")
_OWN = Markdown(
    images=Markdown.Images(mode="ignore"),
    tables=Markdown.Tables(cell_blocks="text"),
    inline=Markdown.Inline(sub="", sup=""),
)


def _delimited(match: re.Match[str]) -> str:
    return f"\n\n$$\n{match[2].strip()}\n$$\n\n" if match[2] else f"${match[1] or match[3]}$"


def _code_blocks(body: Element) -> None:
    """Write code in tables, panels and marked lines as plain `pre` elements with a language."""
    for table in body.select("table[class*=highlight], figure[class*=highlight] table, .highlight table"):
        for cell in table.select("td"):
            if "gutter" in (cell.attr("class") or "") or "linenos" in (cell.attr("class") or ""):
                cell.extract()
        if (code := table.select_one("pre")) is not None:
            table.replace_with(code.extract())
    for element in body.select("div[class], pre, listing, xmp"):
        if element.tag == "div" and not is_code_panel(element):
            continue
        plain = turbohtml.parse("<pre><code></code></pre>").select("pre, code")
        plain[1].append(Text(code_text(element)))
        if language := code_language(element):
            plain[1].attrs["class"] = f"language-{language}"
        if element.parent is not None:
            element.replace_with(plain[0].extract())


def timed(run: Callable[[str], str], pages: list[str]) -> list[tuple[str, float]]:
    out = []
    for html in pages:
        started = time.process_time()
        text = run(html)
        out.append((text, time.process_time() - started))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=20, help="pages of each of the twelve kinds")
    parser.add_argument("--pipeline", action="store_true", help="whole pages through the whole reader")
    parser.add_argument("--alone", action="store_true", help="without peers, beside turbohtml's writer on our tree")
    parser.add_argument("--dump", metavar="KIND", help="print what of a kind ours lost")
    options = parser.parse_args()

    made = [(name, *page(name, seed)) for name in DIALECTS for seed in range(options.pages)]
    inputs = [whole if options.pipeline else f"<html><body>{main}</body></html>" for _, whole, main, _ in made]
    results = {"groundwire": timed(lambda html: ours(html, pipeline=options.pipeline), inputs)}
    if options.alone:
        results["turbohtml, our tree"] = timed(normalized, inputs)
    python = sys.executable if options.alone else str(install_converters())
    pythons = dict.fromkeys(("trafilatura", "html-to-markdown", "markdownify"), python) | {"turbohtml": sys.executable}
    for name, its in pythons.items() if not options.alone else ():
        done = subprocess.run(
            [its, "-c", PEER, name], input=json.dumps(inputs), stdout=subprocess.PIPE, text=True, check=True
        )
        results[name] = [(text, seconds) for text, seconds in json.loads(done.stdout)]

    print(f"{len(made)} pages, {'whole, through the reader' if options.pipeline else 'their main content only'}")
    print("share kept, %".ljust(20) + "".join(kind.rjust(10) for kind in KINDS) + "  ms/page (median)")
    for name, outputs in results.items():
        totals = Counter[str]()
        wanted = Counter[str]()
        for (_, _, _, known), (text, _) in zip(made, outputs, strict=True):
            for kind, (score, of) in kept(known, text).items():
                totals[kind] += score
                wanted[kind] += of
        times = sorted(seconds for _, seconds in outputs)
        shares = "".join(f"{100 * totals[kind] / max(1, wanted[kind]):10.1f}" for kind in KINDS)
        print(name.ljust(20) + shares + f"{1_000 * times[len(times) // 2]:12.2f}")
    print("\nours by kind of site, %")
    for dialect in DIALECTS:
        totals, wanted = Counter[str](), Counter[str]()
        for (name, _, _, known), (text, _) in zip(made, results["groundwire"], strict=True):
            if name == dialect:
                for kind, (score, of) in kept(known, text).items():
                    totals[kind] += score
                    wanted[kind] += of
        print(dialect.ljust(20) + "".join(f"{100 * totals[kind] / max(1, wanted[kind]):10.1f}" for kind in KINDS))
    if options.dump:
        for (name, _, _, known), (text, _) in zip(made, results["groundwire"], strict=True):
            score, of = kept(known, text)[options.dump]
            if score < of:
                print(
                    name,
                    asdict(known)[{"cells": "rows", "language": "code"}.get(options.dump, options.dump)],
                    text,
                    sep="\n",
                )
                break


if __name__ == "__main__":
    main()
