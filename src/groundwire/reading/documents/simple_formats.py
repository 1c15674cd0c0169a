"""Formats that need a function each: email, RTF, subtitles, and notebooks."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from email import policy
from email.message import MIMEPart
from email.parser import BytesParser
from html import unescape
from itertools import groupby, islice
from typing import Any, Final

from groundwire.json_text import json_object
from groundwire.reading.documents.runs import TextRun, link_target, to_inline
from groundwire.reading.documents.tabular import to_table
from groundwire.reading.encoding.decode import decode
from groundwire.reading.extract import fragment_to_markdown
from groundwire.reading.extracted import MAX_CONTENT, Extracted, UnreadableDocument
from groundwire.reading.markdown.escaping import escape_line, escape_text, fence
from groundwire.reading.metadata.dates import iso_date
from groundwire.reading.text.sanitize import clean, removal_warning

_HEADERS: Final = ("From", "To", "Cc", "Date")
_MAX_PARTS: Final = 200  # parts of a message


def read_mail(body: bytes, url: str) -> Extracted:
    """Convert an email message (RFC 5322) to Markdown: headers, text, and names of attachments.

    Args:
        body: The message.
        url: Its URL, for relative links.

    Raises:
        UnreadableDocument: its headers or parts are malformed.
    """
    try:
        return _read_mail(body, url)
    except (IndexError, KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise UnreadableDocument("broken", "The email message is malformed and cannot be read.") from error


def _read_mail(body: bytes, url: str) -> Extracted:
    message = BytesParser(policy=policy.default).parsebytes(body[: 4 * MAX_CONTENT])
    removed: Counter[str] = Counter()
    title = _header(message, "Subject")
    head = [f"{name}: {escape_text(value)}" for name in _HEADERS if (value := _header(message, name))]
    texts: list[str] = []
    part = message.get_body(("plain", "html"))
    if part is not None:
        texts.append(_markdown_of(part, url, removed))
    attachments: list[str] = []
    for other in islice(_outer_parts(message), _MAX_PARTS):
        if name := other.get_filename():
            attachments.append(str(name))
        elif other.get_content_type() == "message/rfc822":
            attachments += [_header(inner, "Subject") or "a message" for inner in other.iter_parts()]
        elif other is not part and other.get_content_maintype() == "text":
            texts.append(_markdown_of(other, url, removed))
    warnings = [*removal_warning(removed["hidden"])]
    if attachments:
        warnings.append(f"attachments left out: {len(attachments)}")
        texts.append("Attached:\n\n" + "\n".join(f"- {escape_text(' '.join(name.split()))}" for name in attachments))
    heading = f"# {escape_text(title)}" if title else ""
    return Extracted(
        title=title,
        content="\n\n".join(filter(None, (heading, "  \n".join(head), *(text.strip() for text in texts))))[
            :MAX_CONTENT
        ],
        author=_header(message, "From") or None,
        published=iso_date(_header(message, "Date")),
        kind="document",
        warnings=tuple(warnings),
        cut=len(body) > 4 * MAX_CONTENT,
    )


def _outer_parts(message: MIMEPart) -> Iterator[MIMEPart]:
    """Yield the parts of a message, without those of the messages attached to it, and without other versions of it."""
    if message.is_multipart() and message.get_content_maintype() == "multipart":
        kind = message.get_content_subtype()
        for part in islice(message.iter_parts(), 1 if kind == "related" else None):  # then what the first one shows
            if kind == "alternative" and not part.is_multipart():
                continue
            yield from _outer_parts(part)
    else:
        yield message


def _header(message: MIMEPart, name: str) -> str:
    try:
        return " ".join(str(message.get(name, "")).split())
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError):  # malformed
        return ""


def _markdown_of(part: MIMEPart, url: str, removed: Counter[str]) -> str:
    body = part.get_payload(decode=True)
    if not isinstance(body, bytes):
        return ""
    text = decode(body, _header(part, "Content-Type")).text
    return fragment_to_markdown(text, url, removed) if part.get_content_subtype() == "html" else text


_RTF: Final = re.compile(
    rb"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<hex>[0-9a-fA-F]{2})|\\(?P<symbol>[^a-zA-Z])"
    rb"|(?P<brace>[{}])|[\r\n]+|(?P<text>[^\\{}\r\n]+)"
)
_INVISIBLE_GROUPS: Final = frozenset(
    (
        b"fonttbl colortbl stylesheet info pict object header footer headerl headerr headerf footerl footerr footerf "
        b"listtable listoverridetable generator xmlnstbl themedata colorschememapping datastore latentstyles shprslt "
        b"rsidtbl pgptbl bkmkstart bkmkend annotation atnid atnauthor atnref atntime atndate atnicn atnparent "
        b"atrfstart atrfend mmathPr ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn revtbl filetbl pgdsctbl listpicture "
        b"template passwordhash userprops xmlattrname xmlattrvalue leveltext levelnumbers listname liststylename "
        b"datafield formfield nonshppict sn sv docvar factoidname wgrffmtfilter mailmerge private protusertbl xe tc "
        b"panose background fontemb fontfile colorschememapping keycode hsv"
    ).split()
)
"""Groups whose text is no text of the document."""
_STYLE_WORDS: Final[Mapping[bytes, str]] = {
    b"super": "sup", b"up": "sup", b"sub": "sub", b"dn": "sub", b"strike": "del", b"striked": "del",
}  # fmt: skip
_CHARACTERS: Final[Mapping[bytes, str]] = {
    b"par": "\n", b"sect": "\n", b"page": "\n", b"line": " ", b"row": "\f", b"cell": "\v", b"tab": " ",
    b"nestcell": " ", b"nestrow": " ",
    b"emdash": "\u2014", b"endash": "\u2013", b"lquote": "\u2018", b"rquote": "\u2019", b"ldblquote": "\u201c",
    b"rdblquote": "\u201d", b"bullet": "\u2022",
}  # fmt: skip
_CHARACTER_SETS: Final[Mapping[int | None, int]] = {
    128: 932, 129: 949, 130: 1361, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256, 186: 1257,
    204: 1251, 222: 874, 238: 1250,
}  # fmt: skip
"""The code pages of fonts by their character sets; other fonts have that of the document."""
_LINK: Final = re.compile(r'HYPERLINK\s+"(https?://[^"\s()]{1,2000})"')
_END: Final = re.compile("([\n\v\f])")
"""The end of a paragraph, of a cell, or of a row."""
_MAX_DEPTH: Final = 1_000
_MAX_TITLE: Final = 500  # characters


def read_rtf(body: bytes) -> Extracted:
    r"""Return the text of a Rich Text document (Microsoft's specification, 1.9.1) without hidden text (`\v`)."""
    reader = _RtfReader()
    for token in _RTF.finditer(body):
        reader.read(token)
        if reader.size > MAX_CONTENT:
            break
    properties, removed = reader.properties, reader.removed
    return Extracted(
        title=_joined(properties.get(b"title", "")),
        author=_joined(properties.get(b"author", "")) or None,
        content="\n\n".join(filter(None, _rtf_blocks(reader.runs))),
        kind="document",
        cut=reader.size > MAX_CONTENT,
        warnings=removal_warning(removed),
    )


class _RtfReader:
    """The state of a Rich Text document from token to token; a group's end restores what its beginning saved."""

    def __init__(self) -> None:
        self.runs: list[TextRun] = []
        self.removed = self.size = 0
        self.properties: dict[bytes, str] = {}
        """The document properties that were read."""
        self._inside = b""
        """The property that is being read."""
        self._skip = self._hidden = self._first = self._in_table = False
        self._unit, self._fallbacks = 1, 0
        """The fallback characters that follow a numeric one, and those of the last one that still follow."""
        self._decoder = self._default = _decoder(1252)
        self._font: int | None = None
        self._fonts: dict[int | None, codecs.IncrementalDecoder] = {}
        self._styles = frozenset[str]()
        self._link = ""
        self._stack: list[tuple[bool, int, bool, bytes, frozenset[str], str, codecs.IncrementalDecoder]] = []

    def read(self, token: re.Match[bytes]) -> None:
        """Read one token."""
        text = ""
        if token["brace"] or token["word"]:
            self._fallbacks = 0
            # A lone byte, such as a bullet in a font of symbols, is no character there.
            if self._decoder is not self._default and (cut := self._decoder.getstate()[0]):
                self._add(self._default.decode(cut))
            self._decoder.reset()
        if token["brace"] == b"{" and len(self._stack) < _MAX_DEPTH:
            saved = (self._skip, self._unit, self._hidden, self._inside, self._styles, self._link, self._decoder)
            self._stack.append(saved)
            self._first = True
            return
        if token["brace"] == b"}" and self._stack:
            saved = self._stack.pop()
            self._skip, self._unit, self._hidden, self._inside, self._styles, self._link, self._decoder = saved
        elif token["word"]:
            number = int(token["number"]) if token["number"] else None
            text = self._control(token["word"], number) or self._format(token["word"], number)
        elif token["hex"]:
            if not self._fallbacks:
                text = self._decoder.decode(bytes.fromhex(token["hex"].decode()))
            self._fallbacks = max(0, self._fallbacks - 1)
        elif symbol := token["symbol"]:
            self._skip = self._skip or symbol == b"*"
            text = {b"~": " ", b"_": "-"}.get(symbol, symbol.decode("ascii", "replace") if symbol in b"\\{}" else "")
        elif raw := token["text"]:
            text = self._decoder.decode(raw[self._fallbacks :])
            self._fallbacks = max(0, self._fallbacks - len(raw))
        self._first = False
        self._add(text)

    def _control(self, word: bytes, number: int | None) -> str:
        """Heed a word about what is read, and how; return the text that it stands for."""
        if word in _INVISIBLE_GROUPS:
            self._skip = self._skip or self._first or word == b"pict"
        elif (self._first and self._skip and word in {b"title", b"author"}) or word == b"fldinst":
            self._inside, self._skip = word, True
            self.properties.pop(word, None)
        elif word == b"fldrslt" and (match := _LINK.search(self.properties.get(b"fldinst", ""))):
            self._link = link_target(match[1])
        elif word == b"shptxt":  # of a drawing, whose other values are skipped
            self._skip = self._skip and (len(self._stack) < 2 or self._stack[-2][0])
        elif word == b"ansicpg" and number:
            self._decoder = self._default = _decoder(number)
        elif word == b"f":
            self._font, self._decoder = number, self._fonts.get(number, self._default)
        elif word == b"fcharset" and (page := _CHARACTER_SETS.get(number)):
            self._fonts[self._font] = _decoder(page)
        elif word == b"uc" and number is not None:
            self._unit = min(max(number, 0), 10)
        elif word == b"u" and number is not None:
            self._fallbacks = self._unit
            return chr(number % 0x10000)
        elif word == b"bin" and number:
            self._skip = True
        return ""

    def _format(self, word: bytes, number: int | None) -> str:
        """Heed a word about the style of the text; return the character that it stands for."""
        if word == b"v":
            self._hidden = number != 0
        elif word in {b"plain", b"nosupersub"}:
            self._hidden = self._hidden and word != b"plain"
            self._styles = self._styles & {"del"} if word == b"nosupersub" else frozenset()
        elif (name := _STYLE_WORDS.get(word)) is not None:
            self._styles = self._styles - {name} if number == 0 else self._styles | {name}
        elif word in {b"pard", b"intbl"}:
            self._in_table = word == b"intbl"
        else:
            return " " if self._in_table and word == b"par" else _CHARACTERS.get(word, "")
        return ""

    def _add(self, text: str) -> None:
        """Add a text to the property that is being read, and to the content unless it is skipped or hidden."""
        if self._inside and len(self.properties.get(self._inside, "")) < _MAX_TITLE:
            self.properties[self._inside] = self.properties.get(self._inside, "") + text
        if text and not self._skip:
            self.removed += self._hidden and bool(text.strip())
            self.size += len(text)
            if not self._hidden:
                self.runs.append(TextRun(text, self._styles, self._link))


def _rtf_blocks(runs: Iterable[TextRun]) -> Iterator[str]:
    """Yield paragraphs and tables."""
    inline: list[TextRun] = []
    cells: list[str] = []
    rows: list[list[str]] = []
    for (styles, link), group in groupby(runs, lambda run: (run.styles, run.link)):
        for part in _END.split(_paired("".join(run.text for run in group))):
            if not _END.fullmatch(part):
                inline.append(TextRun(part, styles, link))
                continue
            text, inline = to_inline(inline).strip(), []
            if part == "\v" or (part == "\f" and text):
                cells.append(text)
            if part == "\f":
                rows.append(cells)
                cells = []
            elif part == "\n":
                yield to_table(rows)
                yield escape_line(" ".join([*cells, text]).strip())
                rows, cells = [], []
    yield to_table(rows)
    yield escape_line(" ".join([*cells, to_inline(inline)]).strip())


def _paired(text: str) -> str:
    """Return a text with its surrogate pairs as single characters."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _joined(text: str) -> str:
    return " ".join(_paired(text).split())


def _decoder(page: int) -> codecs.IncrementalDecoder:
    """Return the decoder of a code page, to which the bytes of an East Asian character come one by one."""
    try:
        return codecs.getincrementaldecoder(f"cp{page}")("replace")
    except LookupError:
        return codecs.getincrementaldecoder("cp1252")("replace")


_TAG: Final = re.compile(r"</?[^<>\n]{0,100}>|\{\\[^{}\n]{0,100}\}")
_VOICE: Final = re.compile(r"<v(?:\.[^\s<>]{0,100})?[ \t]+([^<>\n]{1,100})>")
_MINUTE: Final = 60  # seconds of speech per paragraph


def read_subtitles(text: str) -> Extracted | None:
    """Return subtitles (SubRip, WebVTT) as paragraphs with timestamps and speakers; None if there are none."""
    parts: list[tuple[int, str, list[str]]] = []
    for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n").replace("\r", "\n")):
        lines = block.strip("\n").split("\n")
        at = next((number for number, line in enumerate(lines[:2]) if "-->" in line), None)
        if at is None or (seconds := _seconds(lines[at])) is None:
            continue
        speaker = ""
        for line in lines[at + 1 :]:
            before, *voices = _VOICE.split(line)
            for name, words in zip((speaker, *voices[::2]), (before, *voices[1::2]), strict=True):
                speaker = " ".join(unescape(name).split())
                caption = " ".join(unescape(_TAG.sub("", words)).split())
                if not caption:
                    continue
                if not parts or seconds - parts[-1][0] >= _MINUTE or speaker != parts[-1][1]:
                    parts.append((seconds, speaker, []))
                if parts[-1][2][-1:] != [caption]:  # rolling captions repeat lines
                    parts[-1][2].append(caption)
    content = "\n\n".join(
        f"[{second // 3600}:{second // 60 % 60:02}:{second % 60:02}] "
        + (f"{escape_text(speaker)}: " if speaker else "")
        + escape_text(" ".join(lines))
        for second, speaker, lines in parts
    )
    return Extracted(content=content, kind="document") if content else None


def _seconds(cue: str) -> int | None:
    numbers = re.match(r"\s*(?:(\d{1,3}):)?(\d{1,2}):(\d\d)[.,]\d{1,3}\s+-->", cue)
    return None if numbers is None else int(numbers[1] or 0) * 3600 + int(numbers[2]) * 60 + int(numbers[3])


_MAX_OUTPUT: Final = 2_000  # characters of what one cell prints
_LANGUAGE: Final = re.compile(r"[A-Za-z0-9+#-]{1,20}")
_HEADING: Final = re.compile(r"^ {0,3}#[ \t]+(\S[^\n]{0,500}?)[ \t]*#*[ \t]*$", re.MULTILINE)


def read_notebook(text: str) -> Extracted | None:
    """Return a notebook as Markdown; None when the text is none."""
    notebook = json_object(text)
    if notebook is None:
        return None
    if not isinstance(cells := notebook.get("cells"), list):
        return None
    language = _language(notebook.get("metadata"))
    content = "\n\n".join(part for cell in cells if isinstance(cell, dict) for part in _cell(cell, language) if part)
    heading = _HEADING.search(content, 0, 20_000)
    outputs = (output for cell in cells if isinstance(cell, dict) for output in _list(cell.get("outputs")))
    pictures = sum(isinstance(output, dict) and _is_picture(output) for output in outputs)
    warnings = (f"outputs that are pictures left out: {pictures}",) if pictures else ()
    return Extracted(title=heading[1] if heading else "", content=content, kind="document", warnings=warnings)


def _is_picture(output: dict[str, Any]) -> bool:
    data = output.get("data")
    return isinstance(data, dict) and any(name.startswith("image/") for name in data)


def _cell(cell: dict[str, Any], language: str) -> Iterator[str]:
    source = clean(_text(cell.get("source")))
    kind = cell.get("cell_type")
    if kind == "code":
        if source:
            yield fence(source, language)
        for is_markdown, group in groupby(_outputs(cell), lambda output: output[1]):
            printed = clean(("\n\n" if is_markdown else "").join(text for text, _ in group))
            if len(printed) > _MAX_OUTPUT:
                printed = printed[:_MAX_OUTPUT].rstrip() + "\n[output cut]"
            if printed:
                yield "Output:\n\n" + (printed if is_markdown else fence(printed))
    elif kind == "raw":
        yield fence(source) if source else ""
    else:
        yield source


def _outputs(cell: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield what a cell prints, each with whether it is Markdown."""
    for output in _list(cell.get("outputs")):
        if not isinstance(output, dict):
            continue
        data = output.get("data")
        data = data if isinstance(data, dict) else {}
        text = _text(output.get("text")) or _text(data.get("text/plain"))
        if not text and output.get("output_type") == "error":
            text = f"{output.get('ename', '')}: {output.get('evalue', '')}"
        if text.startswith("<IPython.") or not text:  # a name of an object that other forms show
            markdown = _text(data.get("text/markdown")) or _text(data.get("text/latex"))
            if not markdown and (markup := _text(data.get("text/html"))):
                markdown = fragment_to_markdown(markup, "", Counter())
            if markdown:
                yield markdown, True
                continue
        if text:
            yield text if text.endswith("\n") else text + "\n", False


def _language(metadata: object) -> str:
    if isinstance(metadata, dict):
        for place, name in (("language_info", "name"), ("kernelspec", "language")):
            section = metadata.get(place)
            language = section.get(name) if isinstance(section, dict) else None
            if isinstance(language, str) and _LANGUAGE.fullmatch(language):
                return language.lower()
    return "python"


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "".join(part for part in value if isinstance(part, str)) if isinstance(value, list) else ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
