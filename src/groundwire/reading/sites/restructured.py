"""reStructuredText as HTML, for descriptions of packages (https://docutils.sourceforge.io/docs/ref/rst/restructuredtext.html).

It has what such texts use: sections, lists, links, code and notes; a table stays as it is drawn. Pictures, comments and
tables of contents are left out. Nothing is an error: what is no markup stays as text. The work is linear in the length
of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final

__all__ = ["to_html"]

_MAX_DEPTH: Final = 12  # blocks within blocks; what is deeper is one block of text
_ADORNMENT: Final = re.compile(r"([!-/:-@\[-`{-~])\1+")
_EXPLICIT_MARKUP: Final = re.compile(r"\.\.(?:\s+(.*))?")
_DIRECTIVE: Final = re.compile(r"(?:\|([^|]{1,200})\|\s+)?([\w+.-]{1,60}(?::[\w+.-]{1,60})?)\s?::(?:\s+(.*))?")
_TARGET: Final = re.compile(r"(?:\.\.\s+__:|\.\.\s+_(`[^`]{1,300}`|(?:\\:|[^:`]){1,300}):|(__))(?:\s+(\S.*))?")
_NOTE: Final = re.compile(r"\[([#*]?[\w.-]{0,60})\]\s+(.*)")
_OPTION: Final = re.compile(r":([\w-]{1,60}):(?:\s+(.*))?")
_BULLET: Final = re.compile(r"[*+\-\u2022\u2023](?:\s+|$)")
_NUMBER: Final = re.compile(r"\(?(?:\d{1,9}|[A-Za-z]|[ivxlcdm]{1,9}|#)[.)](?:\s+)(?=\S)")
_TABLE_BORDER: Final = re.compile(r"=+(?:\s+=+)+|\+(?:[-=]+\+)+")
_ASIDES: Final = frozenset(
    {"admonition", "attention", "caution", "danger", "error", "hint", "important", "note", "seealso", "tip", "warning"}
)
_CODE: Final = frozenset({"code", "code-block", "sourcecode", "parsed-literal", "math", "highlight-block", "prompt"})
_SERIES: Final[Mapping[str, str]] = {
    "pep": "https://peps.python.org/pep-{:04}/",
    "rfc": "https://www.rfc-editor.org/rfc/rfc{}",
}
_IGNORED_DIRECTIVES: Final = frozenset(
    {"contents", "class", "default-role", "header", "highlight", "image", "include", "index", "meta", "raw", "role"}
    | {"sectnum", "target-notes", "toctree", "footer", "date", "currentmodule", "module"}
)
_INLINE: Final = re.compile(
    r"``(?P<literal>(?:[^`]|`(?!`))+)``"
    r"|:(?P<role>[\w.+-]{1,60}(?::[\w.+-]{1,60})?):`(?P<said>[^`]+)`"
    r"|(?<![\w`])`(?P<phrase>[^`]+)`(?P<mark>_{0,2})"
    r"|(?<![\w*])\*\*(?P<strong>[^*\s](?:[^*]*[^*\s])?)\*\*(?![\w*])"
    r"|(?<![\w*])\*(?P<emphasis>[^*\s](?:[^*]*[^*\s])?)\*(?![\w*])"
    r"|(?<![\w|])\|(?P<name>[^|\s](?:[^|]{0,200}[^|\s])?)\|(?:__?)?"
    r"|\[(?P<note>[#*]?[\w.-]{0,60})\]_(?!\w)"
    r"|(?P<address>https?://[^\s<>`]*[^\s<>`.,;:!?)'\"\]*_])"
    r"|(?<![\w.+:-])(?P<word>[A-Za-z0-9](?:[\w.+:-]{0,80}?[A-Za-z0-9])?)(?P<end>__?)(?![\w_])"
    r"|\\(?P<escaped>.)",
    re.DOTALL,
)
_EMBEDDED_ADDRESS: Final = re.compile(r"([^<]*)<([^<>]+)>")


@dataclass(slots=True)
class _NameTable:
    """What names mean in a text."""

    targets: dict[str, str] = field(default_factory=dict)
    nameless: list[str] = field(default_factory=list)
    replaced: dict[str, str] = field(default_factory=dict)
    levels: list[str] = field(default_factory=list)


def to_html(source: str) -> str:
    """Return a text as HTML; all that is not markup is escaped."""
    lines = [line.expandtabs(8).rstrip() for line in source.splitlines()]
    names = _NameTable()
    for number, line in enumerate(lines):
        if (match := _TARGET.fullmatch(line.strip())) and not _ADORNMENT.fullmatch(line.strip()):
            address = "".join((match[3] or "", *_indented(lines, number + 1))).replace(" ", "")
            if match[1]:
                names.targets[_key(match[1].strip("`").replace("\\", ""))] = address
            else:
                names.nameless.append(address)
        elif line.lstrip().startswith(".. |") and (match := _DIRECTIVE.fullmatch(line.strip()[3:])):
            pieces = (match[3] or "", *_indented(lines, number + 1))
            names.replaced[match[1] or ""] = " ".join(pieces) if match[2] in {"replace", "unicode"} else ""
    names.nameless.reverse()
    return _blocks(lines, names, 0)


def _key(name: str) -> str:
    return " ".join(name.lower().split())


def _indented(lines: Sequence[str], start: int) -> list[str]:
    """Return the lines of a paragraph that go on indented."""
    return [line.strip() for line in _run(lines[start : start + 20], 0, lambda line: line[:1] == " ")]


def _run(lines: Sequence[str], start: int, belongs: Callable[[str], object]) -> list[str]:
    """Return the lines from a position on up to the first that does not belong."""
    end = start
    while end < len(lines) and belongs(lines[end]):
        end += 1
    return list(lines[start:end])


def _body(lines: Sequence[str], start: int) -> tuple[list[str], int]:
    """Return the indented block at a position, without its indentation, and the position after it."""
    end = start
    while end < len(lines) and (not lines[end] or lines[end][0] == " "):
        end += 1
    block = lines[start:end]
    margin = min((len(line) - len(line.lstrip()) for line in block if line), default=0)
    return [line[margin:] for line in block], end


def _blocks(lines: Sequence[str], names: _NameTable, depth: int) -> str:
    """Return lines as HTML."""
    if depth > _MAX_DEPTH:
        return f"<p>{_inline(' '.join(lines), names)}</p>"
    blocks: list[str] = []
    at = 0
    while at < len(lines):
        if lines[at]:
            block, at = _block(lines, at, names, depth)
            blocks.append(block)
        else:
            at += 1
    return "".join(blocks)


def _block(lines: Sequence[str], at: int, names: _NameTable, depth: int) -> tuple[str, int]:
    """Return the block that begins at a line as HTML, and the position after it."""
    line, following = lines[at], lines[at + 1] if at + 1 < len(lines) else ""
    if line[0] == " ":
        body, at = _body(lines, at)
        return f"<blockquote>{_blocks(body, names, depth + 1)}</blockquote>", at
    if match := _EXPLICIT_MARKUP.fullmatch(line):
        body, end = _body(lines, at + 1)
        return _explicit(line, match[1] or "", body, names, depth), end
    if (match := _TARGET.fullmatch(line)) and not _ADORNMENT.fullmatch(line):
        return "", at + 1
    if _TABLE_BORDER.fullmatch(line):
        rows = _run(lines, at, bool)
        return _code(rows), at + len(rows)
    if _ADORNMENT.fullmatch(line):
        if following and at + 2 < len(lines) and lines[at + 2][:2] == line[:2] and _ADORNMENT.fullmatch(lines[at + 2]):
            return _heading(following, line[0] * 2, names), at + 3
        if len(line) > 3:
            return "<hr>", at + 1
    elif _ADORNMENT.fullmatch(following) and len(following) >= min(4, len(line)):
        return _heading(line, following[0], names), at + 2
    if line.startswith(">>>"):
        rows = _run(lines, at, bool)
        return _code(rows, "python"), at + len(rows)
    if line[0] == "|" and line[1:2] in {"", " "}:
        rows = _run(lines, at, lambda row: row[:1] in {"|", " "})
        return f"<p>{'<br>'.join(_inline(row.lstrip('| '), names) for row in rows)}</p>", at + len(rows)
    for marker, tag in ((_BULLET, "ul"), (_NUMBER, "ol")):
        if marker.match(line):
            return _list(lines, at, marker, tag, names, depth)
    return _paragraph(lines, at, names, depth)


def _heading(title: str, style: str, names: _NameTable) -> str:
    if style not in names.levels:
        names.levels.append(style)
    level = min(names.levels.index(style) + 1, 6)
    return f"<h{level}>{_inline(title.strip(), names)}</h{level}>"


def _code(lines: Sequence[str], language: str = "") -> str:
    source = escape("\n".join(lines).strip("\n"))
    kind = f' class="language-{escape(language)}"' if language else ""
    return f"<pre><code{kind}>{source}</code></pre>" if source else ""


def _paragraph(lines: Sequence[str], at: int, names: _NameTable, depth: int) -> tuple[str, int]:
    """Return a paragraph, with the literal block after it; or a term with its definition."""
    if at + 1 < len(lines) and lines[at + 1][:1] == " " and not lines[at].endswith("::"):
        body, end = _body(lines, at + 1)
        return f"<dl><dt>{_inline(lines[at], names)}</dt><dd>{_blocks(body, names, depth + 1)}</dd></dl>", end
    rows = _run(lines, at, lambda row: bool(row) and row[0] != " ")
    end, sentence = at + len(rows), " ".join(rows)
    if not sentence.endswith("::"):
        return f"<p>{_inline(sentence, names)}</p>", end
    sentence = sentence[:-1] if sentence[:-2].strip() and sentence[-3:-2] != " " else sentence[:-2].rstrip()
    body, end = _body(lines, end)
    return (f"<p>{_inline(sentence, names)}</p>" if sentence else "") + _code(body), end


def _list(
    lines: Sequence[str], at: int, marker: re.Pattern[str], tag: str, names: _NameTable, depth: int
) -> tuple[str, int]:
    items: list[str] = []
    while at < len(lines) and (match := marker.match(lines[at])):
        body, end = _body(lines, at + 1)
        first = lines[at][match.end() :]
        if body and body[0] and at + 1 < end and lines[at + 1][: match.end()].strip():
            first, body = f"{first} {body[0]}", body[1:]  # less indented than the text: still the same paragraph
        item = _blocks([first, *body], names, depth + 1)
        simple = item.startswith("<p>") and item.count("<p>") == 1 and item.endswith("</p>")
        items.append(f"<li>{item[3:-4] if simple else item}</li>")
        at = end
    return f"<{tag}>{''.join(items)}</{tag}>", at


def _explicit(line: str, content: str, body: list[str], names: _NameTable, depth: int) -> str:
    """Return a directive or a footnote; nothing of targets, replacements and comments."""
    if match := _NOTE.fullmatch(content):
        return f"<p>[{escape(match[1])}] {_inline(' '.join((match[2], *filter(None, body))), names)}</p>"
    match = _DIRECTIVE.fullmatch(content)
    if _TARGET.fullmatch(line) or match is None or match[1]:
        return ""
    name, argument = match[2].rpartition(":")[2].lower(), match[3] or ""
    options: dict[str, str] = {}
    while body and (option := _OPTION.fullmatch(body[0])):
        options[option[1]] = option[2] or ""
        body = body[1:]
    if name == "csv-table":
        return _code([*filter(None, [options.get("header", ""), *body])])
    if name in _CODE:
        return _code(body or [argument], argument if body and name not in {"math", "parsed-literal"} else "")
    if name in _IGNORED_DIRECTIVES:
        return ""
    inner = _blocks(body, names, depth + 1)
    title = f"<p><b>{_inline(argument, names)}</b></p>" if argument else ""
    if name in _ASIDES:
        title = title if name == "admonition" else f"<p><b>{name.capitalize()}</b></p><p>{_inline(argument, names)}</p>"
        return f"<blockquote>{title}{inner}</blockquote>"
    if name == "list-table":
        cells = [re.findall(r"<li>(.*?)</li>", row, re.DOTALL) for row in inner.split("<li><ul>")[1:]]
        return title + _table(cells, options.get("header-rows", "0") != "0")
    return inner if name in {"figure", "container", "only"} else title + inner


def _table(rows: Sequence[Sequence[str]], heads: int) -> str:
    markup = (
        f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in row)}</tr>"
        for number, row in enumerate(rows)
        for tag in ("th" if number < heads else "td",)
    )
    return f"<table>{''.join(markup)}</table>"


def _inline(source: str, names: _NameTable) -> str:
    return "".join(_pieces(source, names))


def _pieces(source: str, names: _NameTable) -> Iterator[str]:
    """Yield the pieces of a line of text as HTML."""
    at = 0
    for match in _INLINE.finditer(source):
        yield escape(source[at : match.start()])
        at = match.end()
        yield _piece(match, names)
    yield escape(source[at:])


def _piece(match: re.Match[str], names: _NameTable) -> str:
    kind = match.lastgroup or ""
    if kind == "said":
        embedded = _EMBEDDED_ADDRESS.fullmatch(match["said"])
        words, role = embedded[1].strip() if embedded else match["said"], match["role"].lower()
        if role in _SERIES and words.isdecimal():
            return _link(f"{role.upper()} {words}", _SERIES[role].format(int(words)))
        return f"<em>{escape(words)}</em>" if role in {"emphasis", "title"} else f"<code>{escape(words)}</code>"
    if kind in {"phrase", "mark"}:
        return _linked(match["phrase"], match["mark"] or "", names)
    if kind in {"word", "end"}:
        target = _address(match["word"], match["end"], names)
        return _link(match["word"], target) if target else escape(match[0])
    if kind == "name":
        if (words := names.replaced.get(match["name"])) is None:
            return escape(match[0])
        target = _address(match["name"], "_", names) if match[0].endswith("_") else ""
        words_markup = _inline(words, _NameTable())
        return f'<a href="{escape(target)}">{words_markup}</a>' if target and words_markup else words_markup
    tag = {"literal": "code", "strong": "strong", "emphasis": "em"}.get(kind)
    if tag:
        return f"<{tag}>{escape(match[kind])}</{tag}>"
    if kind == "address":
        return _link(match[0], match[0])
    return f"[{escape(match['note'])}]" if kind == "note" else escape(match["escaped"].strip())


def _linked(phrase: str, mark: str, names: _NameTable) -> str:
    """Return a phrase in backquotes: a link with its address in it, one by its name, or a title."""
    if not mark:
        return f"<em>{escape(phrase)}</em>"
    embedded = _EMBEDDED_ADDRESS.fullmatch(phrase)
    words = embedded[1].strip() or embedded[2] if embedded else phrase
    target = embedded[2].replace(" ", "") if embedded else _address(phrase, mark, names)
    if target.endswith("_") and _key(target[:-1]) in names.targets:
        target = names.targets[_key(target[:-1])]
    if embedded and len(mark) == 1:
        names.targets.setdefault(_key(words), target)
    return _link(words, target) if target else escape(words)


def _address(name: str, mark: str, names: _NameTable) -> str:
    """Return the address of a name, which may be that of another name."""
    if len(mark) == 2:
        return names.nameless.pop() if names.nameless else ""
    address = names.targets.get(_key(name), "")
    return names.targets.get(_key(address[:-1].strip("`")), address) if address.endswith("_") else address


def _link(words: str, target: str) -> str:
    return f'<a href="{escape(target)}">{escape(words)}</a>'
