from __future__ import annotations

import re

import pytest
import turbohtml
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from components.work import growth
from groundwire.reading.markdown.serializer import to_markdown

BASE = "https://site.example/guide/page.html"

pytestmark = pytest.mark.req("Y13")


def convert(html: str) -> str:
    root = turbohtml.parse(html).root
    assert root is not None
    return to_markdown(root, BASE)


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>One\n  two<p>three", "One two\n\nthree"),
        ("<h1>A</h1><h3>B <b>c</b></h3><p>d", "# A\n\n### B c\n\nd"),
        ('<h2>T<a class="headerlink" href="#t">¶</a></h2>', "## T"),
        ("<h2>C #</h2>", "## C \\#"),
        ("<p>a<b>b</b> <i> c </i>d <del>e</del>", "a**b** *c* d ~~e~~"),
        ("<p><b>a</b><b>b</b>", "**ab**"),
        ("<p>one<br>two<br><br>three", "one\ntwo\n\nthree"),
        ("<p>a</p><hr><p>b", "a\n\n---\n\nb"),
        ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul><p>e", "- a\n- b\n  - c\n- d\n\ne"),
        ("<ol start=9><li>a<li><p>b<p>c</ol>", "9. a\n10. b\n\n    c"),
        ("<ol><li value=3>a<li>b</ol>", "3. a\n4. b"),
        ("<ul><li>a</li><ul><li>b</li></ul></ul>", "- a\n  - b"),
        ("<ul><li><input type=checkbox checked> a<li><input type=checkbox> b</ul>", "- [x] a\n- [ ] b"),
        ("<blockquote><p>a<p>b<blockquote>c</blockquote></blockquote>d", "> a\n>\n> b\n>\n> > c\n\nd"),
        ("<dl><dt>T<dd>a<dt>U<dd>b</dl>", "**T**\n: a\n\n**U**\n: b"),
        ("<dl><dt><h3>T</h3><dd>a<dt>U<dd>b</dl>", "### T\n\na\n\n**U**\n: b"),
        ("<details><summary>More</summary><p>inside</details>", "**More**\n\ninside"),
        ("<figure><img src=a.png alt=x><figcaption>Caption</figcaption></figure>", "Caption"),
        ("<p>x<sup>2</sup> 10<sup>-3</sup> 1<sup>st</sup> H<sub>2</sub>O x<sub>i</sub>", "x^2 10^-3 1st H2O x\\_i"),
        ("<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "漢(kan)"),
        ("<p><time datetime=2026-01-01>today</time> <q>so</q>", 'today "so"'),
        ("<blockquote>a<cite>B, 14</cite> </blockquote>c <cite>D</cite>", "> a\n>\n> B, 14\n\nc D"),
        ("<div class='flex gap-2'><span>Total</span><b>$12</b>now</div>", "Total **$12** now"),
        ("<li style='display: flex'><span>Mug</span><em>new</em><i>, red</i>", "- Mug *new, red*"),
        ("<div class=MuiStack-root><span>12</span><span>%</span></div>", "12%"),
        ("<p class=flexible><span>Aw</span><span>ay</span>", "Away"),
        (
            "<div><a href=//e.org/b>One</a><a href=//e.org/b>Two</a><a href=//e.org/b>fold</a>",
            "[One](https://e.org/b) [Two](https://e.org/b)[fold](https://e.org/b)",
        ),
        ("<a href=//e.org/b>one</a><a href=//e.org/c>two</a>", "[one](https://e.org/b) [two](https://e.org/c)"),
        ("<div><span class=n>98%</span><span class=unit>happy</span></div>", "98% happy"),
        ("<div><span class=a>T</span><span class=a>he</span> <span>i</span><span class=b>s</span></div>", "The is"),
        ("<p><span class=drop>T</span><span class=rest>he</span>", "The"),
        ("<p><span>By Ann</span><time>2 May</time><span>5 min</span>", "By Ann 2 May 5 min"),
        ("<p>um<time>9</time>h", "um 9 h"),
        ("<p>می‌خواهم क्‍ष 👩‍💻", "می‌خواهم क्‍ष 👩‍💻"),
    ],
)
def test_blocks_and_inlines(html: str, markdown: str) -> None:
    assert convert(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ('<a href="/a_b?x=1&amp;y=2">t</a>', "[t](https://site.example/a_b?x=1&y=2)"),
        ('<a href="//h.example/x">t</a>', "[t](https://h.example/x)"),
        ('<a href="../x">t</a>', "[t](https://site.example/x)"),
        ('<a href="https://h.example/Rock_(music)">t</a>', "[t](https://h.example/Rock_(music))"),
        ('<a href="https://h.example/a)b">t</a>', "[t](https://h.example/a%29b)"),
        ('<a href="https://h.example/">https://h.example/</a>', "<https://h.example/>"),
        ('<a href="/x">a [b] c</a>', "[a \\[b\\] c](https://site.example/x)"),
        ('<a href="/x"><h3>H</h3><div>t</div></a>', "### [H](https://site.example/x)\n\nt"),
        ('wow!<a href="/x">t</a>', "wow\\![t](https://site.example/x)"),
        ('<a href="/x"><img src=y alt=z></a>', ""),
        ('<a href="javascript:alert(1)">t</a>', "t"),
        ('<a href="java\nscript:alert(1)">t</a>', "t"),
        ('<a href="data:text/html,x">t</a>', "t"),
        ('<a href="mailto:a@b.example">t</a>', "t"),
        ('<a href="#part">t</a>', "t"),
        ('<a href="http://[bad">t</a>', "t"),
    ],
)
def test_links_are_absolute_and_of_the_web(html: str, markdown: str) -> None:
    assert convert(html) == markdown


@pytest.mark.parametrize(
    ("html", "language", "code"),
    [
        ("<pre>a\n  b\n</pre>", "", "a\n  b"),
        ("<pre><code class='language-py hljs'>x = 1</code></pre>", "py", "x = 1"),
        (
            "<div class='highlight-python3 notranslate'><div class=highlight><pre><span></span>x</pre></div></div>",
            "python",
            "x",
        ),
        ("<div class='highlight highlight-source-shell'><pre>x</pre></div>", "shell", "x"),
        ("<pre class='brush: js notranslate'><code>x</code></pre>", "js", "x"),
        ("<pre class='sourceCode haskell'><code>x</code></pre>", "haskell", "x"),
        ("<pre><code class='lang-auto'>x</code></pre>", "", "x"),
        ("<pre data-lang=go>x<br>y</pre>", "go", "x\ny"),
        (
            "<div class='cm-content' data-language=ts><div class=cm-line>x</div><div class=cm-line> y</div></div>",
            "ts",
            "x\n y",
        ),
        ("<pre><span class=lineno>1</span>x\n<span class=lineno>2</span>y<button>Copy</button></pre>", "", "x\ny"),
        (
            "<figure class='highlight rust'><table><tr><td class=gutter><pre>1<br>2</pre><td class=code><pre>x<br>y</pre></table></figure>",
            "rust",
            "x\ny",
        ),
        (
            "<table class=js-file-line-container><tr><td class=blob-num>1<td>a<tr><td class=blob-num>2<td>b</table>",
            "",
            "a\nb",
        ),
    ],
)
def test_code_keeps_its_text_and_language(html: str, language: str, code: str) -> None:
    assert convert(html) == f"```{language}\n{code}\n```"


def test_a_fence_is_longer_than_any_in_its_code() -> None:
    tokens = MarkdownIt("commonmark").parse(convert("<pre><code>```\n````\nx</code></pre><p>after"))
    assert [(token.type, token.content) for token in tokens if token.content] == [
        ("fence", "```\n````\nx\n"),
        ("inline", "after"),
    ]


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<code>a`b</code>", "``a`b``"),
        ("<code>`a`</code>", "`` `a` ``"),
        ("<kbd>Ctrl</kbd> <a href='/x'><code>f</code></a>", "`Ctrl` [`f`](https://site.example/x)"),
        ("<code><a href='/x'>f</a></code>", "[f](https://site.example/x)"),
    ],
)
def test_inline_code(html: str, markdown: str) -> None:
    assert convert(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (
            "<table><tr><th>A<th>B|C<tr><td>1<td><p>a<p>b</table>",
            "| A | B\\|C |\n| --- | --- |\n| 1 | a b |",
        ),
        (
            "<table><tr><th colspan=2>A<th>B<tr><td rowspan=2>1<td>2<td>3<tr><td>4<td>5</table>",
            "| A | A | B |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 1 | 4 | 5 |",
        ),
        ("<table><tr><th>A<td>1<tr><th>B<td>2</table>", "|  |  |\n| --- | --- |\n| A | 1 |\n| B | 2 |"),
        (
            "<table><caption>Cap</caption><tr><th>A<th>B<tr><td>1<td>2</table>",
            "Cap\n\n| A | B |\n| --- | --- |\n| 1 | 2 |",
        ),
        ("<table><tr><td>left<td>right</table>", "left\n\nright"),
        ("<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>", "a\n\nb\n\nc\n\nd"),
        (
            "<table><tr><td><h2>H</h2><p>t<td><table><tr><th>A<th>B<tr><td>1<td>2</table></table>",
            "## H\n\nt\n\n| A | B |\n| --- | --- |\n| 1 | 2 |",
        ),
    ],
)
def test_tables(html: str, markdown: str) -> None:
    assert convert(html) == markdown


TEX = '<annotation encoding="application/x-tex">{\\displaystyle x_1^2}</annotation>'


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (f"a <math><semantics><mi>x</mi>{TEX}</semantics></math> b", "a $x_1^2$ b"),
        (f"<math display=block><semantics><mi>x</mi>{TEX}</semantics></math>", "$$\nx_1^2\n$$"),
        (
            f"<span class=katex><span class=katex-mathml><math><semantics><mi>x</mi>{TEX}</semantics></math></span>"
            "<span class=katex-html>x12</span></span>",
            "$x_1^2$",
        ),
        ("a <script type='math/tex'>a_1</script> <script>alert(1)</script>", "a $a_1$"),
        ("<p><script type='math/tex; mode=display'>a_1</script>", "$$\na_1\n$$"),
        ("<math><mfrac><mi>a</mi><mi>b</mi></mfrac><msup><mi>x</mi><mn>2</mn></msup></math>", "$\\frac{a}{b}x^{2}$"),
        ("<p>so \\(x_1 + y\\) and $a_{1} b$ cost $5 and $6", "so $x_1 + y$ and $a_{1} b$ cost $5 and $6"),
    ],
)
def test_formulas_are_tex_between_dollars(html: str, markdown: str) -> None:
    assert convert(html) == markdown


def test_footnotes_point_to_their_notes() -> None:
    html = (
        "<p>Text<sup><a href='#fn1'>1</a></sup> and<sup><a href='#gone'>2</a></sup></p>"
        "<ol><li id=fn1><p>The note. <a href='#ref1'>↩︎</a></p></li></ol>"
    )
    assert convert(html) == "Text[^1] and[2]\n\n[^1]: The note."


@pytest.mark.parametrize(
    "text",
    [
        "# no heading", "1. no item", "12) no item", "- no item", "+ no item", "* no item", "> no quote", "---", "***", "===",
        "| a | b |", "[a]: http://x.example", "[a](http://x.example)", "![a](http://x.example)", "*a* and **b**", "_a_",
        "`code`", "```", "~~~", "<b>bold</b>", "<script>x</script>", "&lt; &#60;", "a\\", "\\*", "~~gone~~", "<http://x.example>",
    ],
)  # fmt: skip
def test_text_never_becomes_structure(text: str) -> None:
    element = turbohtml.Element("p")
    element.set_text(text)
    for lead in ("", "before "):
        paragraph = turbohtml.Element("div", children=[turbohtml.Text(lead), element])
        parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
        tokens = [token for token in parser.parse(to_markdown(paragraph, BASE)) if token.type != "text"]
        assert {token.type for token in tokens} <= {"paragraph_open", "inline", "paragraph_close"}
        children = [child for token in tokens for child in token.children or []]
        assert {child.type for child in children} <= {"text", "text_special", "softbreak"}
        assert " ".join("".join(child.content for child in children).split()) == " ".join((lead + text).split()) or lead


def test_prose_stays_as_it_is() -> None:
    prose = 'snake_case, 5 * 3, a < b && c > d, R&D, [1], $5, 50 % off (today), it\'s #1 – "so" ~ 3'
    assert convert(f"<p>{prose.replace('&', '&amp;').replace('<', '&lt;')}") == prose


@pytest.mark.parametrize(
    "html",
    ["<div>" * 10_000 + "x", "<blockquote>" * 5_000 + "x", "<ul><li>" * 5_000 + "x", "<table><tr><td>" * 2_000 + "x",
     "<b>" * 5_000 + "x", "<sup><span>" * 5_000 + "x", "<table>" + "<tr><td rowspan=9999 colspan=999>x" * 3_000,
     "<p>" + "\\(" * 20_000 + "x", "<p>" + "[" * 50_000 + "x", "<p>" + "$a_" * 20_000 + "x"],
)  # fmt: skip
def test_hostile_pages_take_linear_time_and_room(html: str) -> None:
    root = turbohtml.parse(html).root
    assert root is not None
    markdown = to_markdown(root, BASE)
    size = 8_000

    def converted(html: str) -> None:
        root = turbohtml.parse(html).root
        assert root is not None
        to_markdown(root, BASE)

    assert growth(converted, html[:size], html[: 4 * size]) < 6
    assert "x" in markdown
    assert len(markdown) < 20 * len(html)


WORDS = st.text(alphabet="abcXYZ019é漢 \n\t#*_`~[]()<>!|\\&;:-+=.$\"'{}^", max_size=30)
TAGS = st.sampled_from(
    [
        "p",
        "div",
        "h1",
        "h4",
        "ul",
        "ol",
        "li",
        "table",
        "tr",
        "td",
        "th",
        "b",
        "em",
        "a",
        "code",
        "pre",
        "blockquote",
        "dl",
        "dt",
        "dd",
        "sup",
        "sub",
        "br",
        "hr",
        "span",
        "section",
        "details",
        "summary",
        "q",
        "math",
        "ruby",
        "rt",
    ]
)


@st.composite
def pages(draw: st.DrawFn) -> str:
    parts = []
    for _ in range(draw(st.integers(1, 12))):
        match draw(st.integers(0, 2)):
            case 0:
                parts.append(draw(WORDS).replace("&", "&amp;").replace("<", "&lt;"))
            case 1:
                tag = draw(TAGS)
                parts.append(f"<{tag} href='/x'>" if tag == "a" else f"<{tag}>")
            case _:
                parts.append(f"</{draw(TAGS)}>")
    return "".join(parts)


@given(pages())
def test_any_page_keeps_its_words_and_gives_no_markup(html: str) -> None:
    root = turbohtml.parse(html).root
    assert root is not None
    markdown = to_markdown(root, BASE)
    left = re.findall(r"[a-zA-Z019é漢]+", markdown)
    for word in re.findall(r"[a-zA-Z019é漢]+", " ".join(root.strings)):
        assert any(word in other for other in left) or word in "".join(left)
    for token in MarkdownIt("commonmark").parse(markdown):
        assert token.type != "html_block"
        assert all(child.type not in {"html_inline", "image"} for child in token.children or [])


@given(st.text(max_size=200))
def test_any_text_in_code_comes_back(text: str) -> None:
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\xa0\u0085\u2028\u2029]", "", text).strip()
    pre = turbohtml.Element("pre", children=[turbohtml.Text(text)])
    tokens = MarkdownIt("commonmark").parse(to_markdown(pre, BASE))
    assert [token.content for token in tokens if token.type == "fence"] == ([f"{text}\n"] if text else [])


@given(st.text(max_size=60), st.text(max_size=200))
def test_any_address_is_kept_or_dropped(reference: str, label: str) -> None:
    link = turbohtml.Element("a", {"href": reference}, [turbohtml.Text(f"x{label}")])
    markdown = to_markdown(link, BASE)
    for token in MarkdownIt("commonmark").parse(markdown):
        for child in token.children or []:
            if child.type == "link_open":
                assert str(child.attrGet("href")).startswith(("http://", "https://"))
