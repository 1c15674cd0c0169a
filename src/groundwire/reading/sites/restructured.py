"""reStructuredText as HTML, for descriptions of packages: docutils (https://docutils.sourceforge.io), as on PyPI.

It reads no files and passes no HTML through. What it does not understand stays as a block of code. Some texts take it a
time that grows with the square of their length, so that only worker processes, whose time is limited, read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Final

from docutils import nodes
from docutils.core import publish_parts
from docutils.writers.html5_polyglot import HTMLTranslator, Writer

_MAX_LINE: Final = 10_000  # characters, as in docutils, which reads nothing of a text with a longer line
_SETTINGS: Final[Mapping[str, object]] = {
    "_disable_config": True,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "line_length_limit": _MAX_LINE,
    "report_level": 3,  # errors, whose messages have the text that could not be read
    "halt_level": 5,  # never
    "warning_stream": False,
    "doctitle_xform": False,
    "docinfo_xform": False,
    "sectnum_xform": False,
    "initial_header_level": 1,
    "math_output": "LaTeX",
    "syntax_highlight": "none",
}


class _Translator(HTMLTranslator):  # type: ignore[misc]  # docutils has no types
    """Writes the elements that stand for what a text means, where docutils writes classes for its own style sheet."""

    visit_title_reference = HTMLTranslator.visit_emphasis
    depart_title_reference = HTMLTranslator.depart_emphasis

    def visit_literal(self, node: nodes.literal) -> None:
        node["classes"].append("code")
        super().visit_literal(node)

    def visit_image(self, node: nodes.image) -> None:
        self.body.append(self.emptytag(node, "img", src=node["uri"], alt=node.get("alt", "")))

    def visit_admonition(self, node: nodes.admonition) -> None:
        self.body.append("<blockquote>")

    def depart_admonition(self, node: nodes.admonition | None = None) -> None:
        self.body.append("</blockquote>")


def to_html(source: str) -> str:
    """Return a text as HTML; as a block of code, if its lines are too long or its blocks nested too deep."""
    if all(len(line) <= _MAX_LINE for line in source.splitlines()):
        writer = Writer()
        writer.translator_class = _Translator
        try:
            return str(publish_parts(source, writer=writer, settings_overrides=_SETTINGS)["body"])
        except RecursionError:
            pass
    return f"<pre>{escape(source)}</pre>"
