"""Pages with a known structure, in the markup of twelve kinds of sites; reproducible from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape

WORDS = [
    "signal",
    "harbour",
    "willow",
    "copper",
    "lantern",
    "meadow",
    "granite",
    "violet",
    "timber",
    "anchor",
    "marble",
    "saffron",
    "ember",
    "cobalt",
    "thistle",
    "canyon",
    "pepper",
    "walnut",
    "breeze",
    "orchard",
    "tunnel",
    "mirror",
    "basket",
    "candle",
    "feather",
    "pocket",
    "ladder",
    "garden",
    "window",
    "river",
]
CODE = {
    "python": "def {a}({b}):\n    for item in {b}:\n        if item > {n}:\n            yield item * 2  # *not* emphasis\n",
    "bash": "export {A}={n}\ncurl -s https://{a}.example/ | grep '{b}' > out.txt\n",
    "javascript": "const {a} = ({b}) => {{\n  return `${{{b}}} is <b>${{{n}}}</b>`;\n}};\n",
    "json": '{{\n  "{a}": [{n}, true],\n\n  "{b}": "a | b"\n}}\n',
    "rust": "fn {a}(v: &Vec<u8>) -> Option<u8> {{\n    v.get({n}).copied()\n}}\n",
    "": "$ {a} --{b}\n  {n} files_in_tree\n",
}


@dataclass
class Known:
    """What a page holds."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    code: list[tuple[str, str]] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    items: list[tuple[bool, int, str]] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)


@dataclass
class Dialect:
    """The markup of one kind of site."""

    heading: Callable[[int, str], str]
    code: Callable[[str, str], str]
    table: Callable[[list[list[str]]], str]
    frame: Callable[[str, str], str]
    formula: Callable[[str], str]
    paragraph: Callable[[str], str] = lambda inner: f"<p>{inner}</p>\n"
    in_paragraphs: bool = False


def _plain_table(rows: list[list[str]], attributes: str = "", *, head: bool = True, cell: str = "{}") -> str:
    lines = []
    for index, row in enumerate(rows):
        tag = "th" if index == 0 and head else "td"
        lines.append("<tr>" + "".join(f"<{tag}>{cell.format(escape(text))}</{tag}>\n" for text in row) + "</tr>")
    body = "\n".join(lines[1:])
    return f"<table{attributes}><thead>{lines[0]}</thead><tbody>{body}</tbody></table>\n"


def _spans(code: str) -> str:
    """Code as highlighters mark it up: every word in an element."""
    return "".join(
        f'<span class="tok">{escape(part)}</span>' if part.isalnum() else escape(part) for part in _split(code)
    )


def _split(code: str) -> list[str]:
    parts: list[str] = []
    for char in code:
        if parts and parts[-1][-1].isalnum() and char.isalnum():
            parts[-1] += char
        else:
            parts.append(char)
    return parts


def _hexo(language: str, code: str) -> str:
    lines = code.rstrip("\n").split("\n")
    numbers = "".join(f'<span class="line">{n}</span><br>' for n in range(1, len(lines) + 1))
    body = "".join(f'<span class="line">{_spans(line)}</span><br>' for line in lines)
    return (
        f'<figure class="highlight {language}"><table><tbody><tr><td class="gutter"><pre>{numbers}</pre></td>'
        f'<td class="code"><pre>{body}</pre></td></tr></tbody></table></figure>'
    )


def _pygments_table(language: str, code: str) -> str:
    numbers = "\n".join(f"<span>{n}</span>" for n in range(1, code.count("\n") + 1))
    return (
        f'<div class="highlight-{language or "none"} notranslate"><div class="highlight"><table class="highlighttable"><tr>'
        f'<td class="linenos"><div class="linenodiv"><pre>{numbers}</pre></div></td>'
        f'<td class="code"><div><pre><span></span>{_spans(code)}</pre></div></td></tr></table></div></div>'
    )


def _katex(tex: str) -> str:
    return (
        '<span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>x</mi></mrow>'
        f'<annotation encoding="application/x-tex">{escape(tex)}</annotation></semantics></math></span>'
        '<span class="katex-html" aria-hidden="true"><span class="base">x</span></span></span>'
    )


def _wiki_formula(tex: str) -> str:
    return (
        '<span class="mwe-math-element"><span class="mwe-math-mathml-inline"><math alttext="{\\displaystyle '
        f'{escape(tex)}}}"><semantics><mi>x</mi><annotation encoding="application/x-tex">{{\\displaystyle {escape(tex)}}}</annotation>'
        f'</semantics></math></span><img class="mwe-math-fallback-image-inline" src="//w/{len(tex)}.svg" alt="{{\\displaystyle {escape(tex)}}}"></span>'
    )


def _wrapped(language: str, code: str, name: str) -> str:
    return (
        f'<div class="highlight {name}{language}"><pre>{_spans(code)}</pre></div>'
        if language
        else f"<pre>{escape(code)}</pre>"
    )


def _prism(language: str, code: str) -> str:
    lines = "".join(
        f'<span class="token-line" style="color:#333">{_spans(line)}<br></span>'
        for line in code.rstrip("\n").split("\n")
    )
    return (
        f'<div class="language-{language or "text"} codeBlockContainer"><div><pre tabindex="0"><code>{lines}</code></pre>'
        '<div class="buttonGroup"><button type="button" aria-label="Copy"><svg></svg></button></div></div></div>'
    )


def _script(tex: str) -> str:
    return f'<span class="MathJax_Preview"></span><script type="math/tex">{tex}</script>'


def _anchor(level: int, text: str, before: str = "", after: str = "") -> str:
    return f'<h{level} id="s{len(text)}">{before}{escape(text)}{after}</h{level}>\n'


DIALECTS: dict[str, Dialect] = {
    "plain": Dialect(
        lambda level, text: _anchor(level, text),
        lambda language, code: (
            f"<pre><code{f' class=language-{language}' if language else ''}>{escape(code)}</code></pre>"
        ),
        _plain_table,
        lambda title, body: f"<h1>{title}</h1>{body}",
        lambda tex: f'<math alttext="{escape(tex)}"><mi>x</mi></math>',
    ),
    "sphinx": Dialect(
        lambda level, text: _anchor(
            level, text, after='<a class="headerlink" href="#s" title="Link to this heading">¶</a>'
        ),
        lambda language, code: (
            f'<div class="highlight-{language or "default"} notranslate"><div class="highlight"><pre><span></span>{_spans(code)}</pre></div></div>'
        ),
        lambda rows: _plain_table(rows, ' class="docutils align-default"', cell="<p>{}</p>"),
        lambda title, body: f'<section id="t"><h1>{title}<a class="headerlink" href="#t">¶</a></h1>{body}</section>',
        lambda tex: f'<span class="math notranslate nohighlight">\\({escape(tex)}\\)</span>',
        in_paragraphs=True,
    ),
    "github": Dialect(
        lambda level, text: (
            f'<div class="markdown-heading"><h{level} class="heading-element">{escape(text)}</h{level}><a class="anchor" href="#s"><svg></svg></a></div>'
        ),
        lambda language, code: (
            f'<div class="highlight highlight-source-{language} notranslate"><pre>{_spans(code)}</pre><div class="zeroclipboard-container"><clipboard-copy></clipboard-copy></div></div>'
            if language
            else f"<pre><code>{escape(code)}</code></pre>"
        ),
        lambda rows: f"<markdown-accessiblity-table>{_plain_table(rows, ' tabindex=0')}</markdown-accessiblity-table>",
        lambda title, body: f'<article class="markdown-body"><h1>{title}</h1>{body}</article>',
        lambda tex: f'<math-renderer class="js-inline-math">${escape(tex)}$</math-renderer>',
    ),
    "mdn": Dialect(
        lambda level, text: f'<section><h{level} id="x"><a href="#x">{escape(text)}</a></h{level}>\n</section>',
        lambda language, code: (
            f'<div class="code-example"><div class="example-header"><span class="language-name"></span></div><pre class="brush: {language or "plain"} notranslate"><code>{_spans(code)}</code></pre></div>'
        ),
        lambda rows: f'<figure class="table-container">{_plain_table(rows)}</figure>',
        lambda title, body: (
            f'<article><header><h1>{title}</h1></header><div class="section-content">{body}</div></article>'
        ),
        lambda tex: (
            f'<math display="inline"><semantics><mi>x</mi><annotation encoding="application/x-tex">{escape(tex)}</annotation></semantics></math>'
        ),
    ),
    "wordpress": Dialect(
        lambda level, text: f'<h{level} class="wp-block-heading"><strong>{escape(text)}</strong></h{level}>\n\n',
        lambda language, code: (
            f'<pre class="wp-block-code"><code lang="{language}" class="{"language-" + language if language else ""}">{escape(code)}</code></pre>'
        ),
        lambda rows: (
            f'<figure class="wp-block-table"><table><tbody>{"".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in rows)}</tbody></table><figcaption></figcaption></figure>'
        ),
        lambda title, body: (
            f'<header class="entry-header"><h1 class="entry-title">{title}</h1></header><div class="entry-content">{body}</div>'
        ),
        lambda tex: f'<img src="https://s0.wp.com/latex.php?latex=x" alt="{escape(tex)}" class="latex">',
    ),
    "discourse": Dialect(
        lambda level, text: f'<h{level}><a name="p-1" class="anchor" href="#p-1"></a>{escape(text)}</h{level}>',
        lambda language, code: (
            f'<pre data-code-wrap="{language or "auto"}"><code class="hljs lang-{language or "auto"}">{escape(code)}</code></pre>'
        ),
        lambda rows: f'<div class="md-table">{_plain_table(rows)}</div>',
        lambda title, body: f'<h1>{title}</h1><div class="topic-body"><div class="cooked">{body}</div></div>',
        _katex,
    ),
    "mediawiki": Dialect(
        lambda level, text: (
            f'<div class="mw-heading"><h{level} id="x">{escape(text)}</h{level}><span class="mw-editsection"><span>[</span><a href="/w/index.php?action=edit">edit</a><span>]</span></span></div>'
        ),
        lambda language, code: (
            f'<div class="mw-highlight mw-highlight-lang-{language or "text"} mw-content-ltr" dir="ltr"><pre><span></span>{_spans(code)}</pre></div>'
        ),
        lambda rows: (
            '<table class="wikitable sortable"><tbody>'
            + "".join(
                "<tr>"
                + "".join(f"<{'th' if i == 0 else 'td'}>{escape(c)}\n</{'th' if i == 0 else 'td'}>" for c in row)
                + "</tr>\n"
                for i, row in enumerate(rows)
            )
            + "</tbody></table>"
        ),
        lambda title, body: (
            f'<h1 class="firstHeading"><span class="mw-page-title-main">{title}</span></h1><div class="mw-parser-output">{body}</div>'
        ),
        _wiki_formula,
    ),
    "hexo": Dialect(
        lambda level, text: _anchor(level, text, before='<a href="#s" class="headerlink" title="x"></a>'),
        _hexo,
        _plain_table,
        lambda title, body: (
            f'<article class="post"><h1 class="post-title">{title}</h1><div class="post-body">{body}</div></article>'
        ),
        lambda tex: f"${escape(tex)}$",
    ),
    "docusaurus": Dialect(
        lambda level, text: _anchor(
            level, text, after='<a href="#s" class="hash-link" aria-label="Direct link" title="Direct link">\u200b</a>'
        ),
        _prism,
        _plain_table,
        lambda title, body: f'<div class="theme-doc-markdown markdown"><header><h1>{title}</h1></header>{body}</div>',
        _katex,
    ),
    "pygments": Dialect(
        lambda level, text: _anchor(level, text),
        _pygments_table,
        lambda rows: _plain_table(rows, " border=1 cellpadding=2"),
        lambda title, body: f"<h1>{title}</h1><div>{body}</div>",
        _script,
        in_paragraphs=True,
    ),
    "confluence": Dialect(
        lambda level, text: f'<h{level} id="Page-{len(text)}">{escape(text)}</h{level}>',
        lambda language, code: (
            '<div class="code panel pdl conf-macro output-block"><div class="codeContent panelContent pdl">'
            f'<pre class="syntaxhighlighter-pre" data-syntaxhighlighter-params="brush: {language or "text"}; gutter: false">'
            f"{escape(code)}</pre></div></div>"
        ),
        lambda rows: (
            f'<div class="table-wrap">{_plain_table(rows, " class=confluenceTable", head=False, cell="<p>{}</p>")}</div>'
        ),
        lambda title, body: f'<h1 id="title-text">{title}</h1><div id="main-content" class="wiki-content">{body}</div>',
        lambda tex: f'<img class="confluence-embedded-image" src="/download/{len(tex)}.png" alt="${escape(tex)}$">',
    ),
    "doxygen": Dialect(
        lambda level, text: (
            f'<h{level} class="memtitle"><span class="permalink"><a href="#a1">&#9670;&#160;</a></span>{escape(text)}</h{level}>'
        ),
        lambda language, code: (
            (
                '<div class="fragment">'
                + "".join(
                    f'<div class="line"><a id="l{n:05}"></a><span class="lineno">{n:5}</span>{_spans(line)}</div>'
                    for n, line in enumerate(code.rstrip("\n").split("\n"), 1)
                )
                + "</div>"
            )
            if not language
            else f'<pre class="fragment {language}">{escape(code)}</pre>'
        ),
        lambda rows: _plain_table(rows, ' class="doxtable"'),
        lambda title, body: (
            f'<div class="headertitle"><h1 class="title">{title}</h1></div><div class="contents">{body}</div>'
        ),
        lambda tex: f'<img class="formulaInl" alt="${escape(tex)}$" src="form_{len(tex)}.png">',
    ),
}


def page(dialect_name: str, seed: int) -> tuple[str, str, Known]:
    """Return a page's whole markup, the markup of its main content, and what is in that."""
    rng = random.Random(f"{dialect_name}-{seed}")
    dialect = DIALECTS[dialect_name]
    known = Known()

    def words(low: int, high: int) -> str:
        return " ".join(rng.choice(WORDS) for _ in range(rng.randint(low, high)))

    def sentence() -> str:
        return f"{words(8, 20).capitalize()}."

    def link() -> str:
        text = words(1, 3)
        number = rng.randint(1, 9_999)
        reference, address = rng.choice(
            [
                (f"https://{rng.choice(WORDS)}.example/a_b/{number}", None),
                (f"/docs/{number}/x_y?q=1&amp;r=2", f"https://site.example/docs/{number}/x_y?q=1&r=2"),
                (f"../up/{number}.html", f"https://site.example/up/{number}.html"),
                (f"/wiki/Rock_({number})", f"https://site.example/wiki/Rock_({number})"),
            ]
        )
        known.links.append((text, address or reference))
        inner = rng.choice([text, text, f"<em>{text}</em>", f"<span>{text}</span>", f"<code>{text}</code>"])
        return f'<a href="{reference}">{inner}</a>'

    def paragraph() -> str:
        parts = [sentence()]
        for _ in range(rng.randint(0, 2)):
            parts += [f"{words(2, 5)} {link()} {words(2, 5)}."]
        if rng.random() < 0.3:
            parts.append(
                rng.choice(
                    ["<b>Note:</b> 5 * 3 * 2.", "a_b and __init__.", "x &lt; y &amp;&amp; y &gt; z", "[sic] 1. #2"]
                )
            )
        if rng.random() < 0.15:
            tex = rng.choice(["\\frac{a_1}{b^2}", "x_{i} + y_{j}", "e^{i\\pi} = -1"])
            known.formulas.append(tex)
            parts.append(f"{words(2, 4)} {dialect.formula(tex)} {words(1, 2)}.")
        parts.append(sentence())
        return dialect.paragraph(" ".join(parts))

    def items(depth: int) -> str:
        ordered = rng.random() < 0.4
        out = []
        for _ in range(rng.randint(2, 5)):
            text = f"{words(3, 9).capitalize()}."
            inner = text
            if rng.random() < 0.25:
                inner = f"{text} {link()}"
                text = f"{text} {known.links[-1][0]}"
            known.items.append((ordered, depth, text))
            if dialect.in_paragraphs:
                inner = f"<p>{inner}</p>"
            if depth < 3 and rng.random() < 0.25:
                inner += "\n" + items(depth + 1)
            out.append(f"<li>{inner}</li>\n")
        tag = "ol" if ordered else "ul"
        return f"<{tag}>\n{''.join(out)}</{tag}>\n"

    def code() -> str:
        language = rng.choice(list(CODE))
        text = CODE[language].format(
            a=rng.choice(WORDS), b=rng.choice(WORDS), n=rng.randint(1, 99), A=rng.choice(WORDS).upper()
        )
        known.code.append((language, text))
        return dialect.code(language, text)

    def table() -> str:
        columns = rng.randint(2, 5)
        rows = [[words(1, 2).capitalize() for _ in range(columns)]]
        choices = (
            lambda: words(1, 4),
            lambda: str(rng.randint(0, 9_999)),
            lambda: "a|b",
            lambda: "snake_case",
            lambda: "5 &",
        )
        rows += [[rng.choice(choices)() for _ in range(columns)] for _ in range(rng.randint(2, 8))]
        known.rows += rows
        return dialect.table(rows)

    title = words(3, 6).capitalize()
    known.headings.append((1, title))
    body = [paragraph(), paragraph()]
    level = 2
    for _ in range(rng.randint(4, 8)):
        level = max(2, min(4, level + rng.choice([-1, 0, 0, 1])))
        text = words(2, 5).capitalize()
        known.headings.append((level, text))
        body.append(dialect.heading(level, text))
        body.append(paragraph())
        body += [make() for make in rng.sample([lambda: items(1), code, table, paragraph], k=rng.randint(1, 3))]
    main = dialect.frame(title, "".join(body))
    menu = "".join(f'<li><a href="/m/{n}">{words(1, 2)}</a></li>' for n in range(8))
    whole = (
        f'<!DOCTYPE html><html lang="en"><head><title>{title} | Site</title></head><body><nav><ul>{menu}</ul></nav>'
        f"<main>{main}</main><footer><p>Copyright 2026 Site. {words(4, 8)}</p></footer></body></html>"
    )
    return whole, main, known
