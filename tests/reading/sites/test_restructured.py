"""reStructuredText of packages becomes HTML."""

from __future__ import annotations

from pathlib import Path

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.examples import examples
from groundwire.reading.sites.parts import render, restructured

pytestmark = pytest.mark.req("B26")


def markdown_of(source: str) -> str:
    return render([restructured(source)], "https://site.test/").content


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        ("Lamp\n====\n\nUse\n---\n\nOther\n-----", "# Lamp\n\n## Use\n\n## Other"),
        ("=====\nLamp\n=====\n\nUse\n===", "# Lamp\n\n## Use"),
        ("A `manual <https://m.test/a>`_ of it.", "A [manual](https://m.test/a) of it."),
        ("A `long\nname`_ and short_.\n\n.. _long name: https://l.test/\n.. _short:\n   https://s.test/",
         "A [long name](https://l.test/) and [short](https://s.test/)."),
        ("One__ and `two three`__.\n\n__ https://o.test/\n.. __: https://t.test/",
         "[One](https://o.test/) and [two three](https://t.test/)."),
        ("See first_.\n\n.. _first: second_\n.. _second: https://s.test/", "See [first](https://s.test/)."),
        ("``a *b*`` *c* **d** `e` :func:`f` :pep:`8` \\*g",
         "`a *b*` *c* **d** *e* :func:\\`f\\` [PEP 8](https://peps.python.org/pep-0008) \\*g"),
        ("Snake_case and __init__ and a_ b", "Snake_case and \\_\\_init\\_\\_ and a\\_ b"),
        ("Run::\n\n  x = 1\n\n  y\n\nThen.", "Run:\n\n```\nx = 1\n\ny\n```\n\nThen."),
        (".. code-block:: python\n\n   if x:\n       y", "```python\nif x:\n    y\n```"),
        (".. automodule:: lamp\n   :members:\n\nEnd", "```\n.. automodule:: lamp\n   :members:\n```\n\nEnd"),
        (">>> 1 + 1\n2\n\nEnd", "```python\n>>> 1 + 1\n2\n```\n\nEnd"),
        ("* one\n  more\n\n  * inner\n\n* two", "- one more\n  - inner\n- two"),
        ("1. one\n2. two", "1. one\n2. two"),
        ("term\n  what it is", "**term**\n: what it is"),
        (".. note:: Take care.\n\n   Twice.", "> **Note**\n>\n> Take care.\n>\n> Twice."),
        (".. image:: x.png\n   :alt: y\n\n.. a comment\n   of two lines\n\n.. contents::\n\nText.", "Text."),
        ("|a| is |b|_.\n\n.. |a| replace:: **that**\n.. |b| replace:: there\n.. _b: https://b.test/",
         "**that** is [there](https://b.test/)."),
        ("= ===\na b\n= ===\n1 two\n= ===\n\nEnd", "| a | b |\n| --- | --- |\n| 1 | two |\n\nEnd"),
        ("+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n+---+---+",
         "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        (".. list-table::\n   :header-rows: 1\n\n   * - a\n     - b\n   * - 1\n     - 2",
         "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        (".. csv-table:: Piers\n   :header: a, b\n\n   1, 2", "Piers\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("A claim [1]_.\n\n.. [1] Its source.", "A claim [^1].\n\n[^1]: Its source."),
        ("| one\n| two", "one\n\ntwo"),
        ("One |lamp|.\n\nA\n===\n\nB\n---\n\nC\n+++\n\nD\n===\n\nE\n+++",
         "One |lamp|.\n\n# A\n\n## B\n\n### C\n\n# D\n\n```\nE\n+++\n```"),
        ("a < b & <script>c</script>", "a < b & \\<script>c\\</script>"),
    ],
)  # fmt: skip
def test_what_it_means(source: str, markdown: str) -> None:
    assert markdown_of(source) == markdown


PIECES = st.sampled_from(
    (
        *("\n", "\n\n", " ", "   ", "a", "b c", "`", "``", "_", "__", "*", "**", "|", ".. ", "::", ":a:", "- ", "1. "),
        *("====", "----", "= =", "+--+", "<", ">", "[1]", "\\", ">>> ", "--x", "note::", "_a:", "https://x.test/"),
    )
)


@hypothesis.settings(max_examples=examples(300))
@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_text(source: str) -> None:
    assert isinstance(markdown_of(source), str)


def test_what_is_nested_without_end_is_text() -> None:
    assert "deep" in markdown_of("\n".join(f"{' ' * depth}* deep" for depth in range(0, 400, 2)))


def test_a_line_without_end_is_text() -> None:
    assert "a lamp" in markdown_of("a lamp " * 2_000)


@pytest.mark.parametrize(
    "source",
    [
        ".. include:: {0}",
        ".. raw:: html\n   :file: {0}",
        ".. csv-table::\n   :file: {0}",
        ".. csv-table::\n   :url: file://{0}",
        ".. literalinclude:: {0}",
        ".. figure:: {0}\n   :figwidth: image",
    ],
)
def test_no_file_is_read(source: str, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret")
    assert "secret" not in markdown_of(source.format(tmp_path / "key"))


def test_html_is_not_passed_through() -> None:
    assert markdown_of("One\n\n.. raw:: html\n\n   <p>two</p>") == "One"
