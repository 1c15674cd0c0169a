"""From docstrings in Google's form to Markdown."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from types import ModuleType

_SECTION = re.compile(r"^(Args|Returns|Yields|Raises|Attributes):\n((?:[ ]{4}.*\n?|\n)+)", re.MULTILINE)
_ENTRY = re.compile(r"^(\*{0,2}[\w.]+): (.*?)(?=^\*{0,2}[\w.]+: |\Z)", re.MULTILINE | re.DOTALL)
_TITLES = {
    "Args": "Arguments",
    "Attributes": "Attributes",
    "Raises": "Raises",
    "Returns": "Returns",
    "Yields": "Yields",
}


def markdown(docstring: str) -> str:
    """Return a cleaned docstring as Markdown: its sections become lists, its indented examples code blocks."""
    parts, at = [], 0
    text = docstring.strip() + "\n"
    for found in _SECTION.finditer(text):
        parts.append(_prose(text[at : found.start()]))
        parts.append("\n\n".join(_section(found[1], textwrap.dedent(found[2]).strip())))
        at = found.end()
    parts.append(_prose(text[at:]))
    return "\n\n".join(part for part in parts if part)


def _section(name: str, body: str) -> Iterator[str]:
    yield f"**{_TITLES[name]}**"
    entries = _ENTRY.findall(body) if name in {"Args", "Attributes", "Raises"} else []
    if entries:
        said = {word.lstrip("*"): " ".join(text.split()) for word, text in entries if word != "unknown"}
        lines = [f"- `{word}`: {text}" for word, text in said.items() if not text.startswith("See `")]
        elsewhere: dict[str, list[str]] = {}
        for word, text in said.items():
            if text.startswith("See `"):
                elsewhere.setdefault(text[0].lower() + text[1:], []).append(f"`{word}`")
        yield "\n".join(lines + [f"- {', '.join(words)}: {text}" for text, words in elsewhere.items()])
    else:
        yield " ".join(body.split())


def _prose(text: str) -> str:
    """Return paragraphs with indented ones as Python code, which is what they are in our docstrings."""
    blocks: list[str] = []
    for block in text.strip("\n").split("\n\n"):
        if block.startswith("    "):
            code = re.sub(r" {2,}#", "  #", textwrap.dedent(block))
            if blocks and blocks[-1].endswith("\n```"):
                blocks[-1] = f"{blocks[-1][:-4]}\n\n{code}\n```"
            else:
                blocks.append(f"```python\n{code}\n```")
        elif block.strip():
            blocks.append(block)
    return "\n\n".join(blocks)


def first_paragraph(thing: object) -> str:
    """Return the first paragraph of a thing's own docstring, on one line."""
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def first_sentence(thing: object) -> str:
    """Return the first sentence of a thing's own docstring, on one line."""
    return re.split(r"(?<=[\w)`]\.) (?=[A-Z`])", first_paragraph(thing), maxsplit=1)[0]


def attribute_docs(owner: type | ModuleType) -> dict[str, str]:
    """Return the docstrings below the attributes of a class or a module, in their order."""
    body = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    if isinstance(owner, type):
        (body,) = (node.body for node in body if isinstance(node, ast.ClassDef))
        body += [
            inner
            for node in body
            if isinstance(node, ast.FunctionDef) and node.name == "__init__"
            for inner in node.body
        ]
    docs = {}
    for before, node in pairwise(body):
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            continue
        if isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name | ast.Attribute):
            name = before.target.id if isinstance(before.target, ast.Name) else before.target.attr
            docs[name] = " ".join(str(node.value.value).split())
        elif isinstance(before, ast.Assign) and isinstance(before.targets[0], ast.Name):
            docs[before.targets[0].id] = " ".join(str(node.value.value).split())
    return docs


def escaped(text: str) -> str:
    """Return text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def row(*cells: str) -> str:
    """Return one row of a table."""
    return f"| {' | '.join(escaped(cell) for cell in cells)} |"
