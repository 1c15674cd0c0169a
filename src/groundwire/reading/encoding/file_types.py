"""Kinds of documents by media type, by file extension, and by the first bytes of an archive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import urlsplit

KindName = Literal[
    "html",
    "markdown",
    "text",
    "json",
    "source",
    "delimited",
    "notebook",
    "xml",
    "pdf",
    "word",
    "slides",
    "sheet",
    "opendocument",
    "epub",
    "mail",
    "rtf",
    "subtitles",
    "archive",
    "binary",
]
"""The kinds of files; anything without text is `binary`."""

_OPEN_XML: Final = "application/vnd.openxmlformats-officedocument."
_OPEN_DOCUMENT: Final = "application/vnd.oasis.opendocument."
_EXCEL: Final = "application/vnd.ms-excel"

_KINDS: Final[Mapping[KindName, tuple[str, str, str]]] = {
    "html": ("an HTML page", "text/html application/xhtml+xml application/xhtml", ""),
    "markdown": ("a Markdown document", "text/markdown text/x-markdown application/markdown", "md markdown"),
    "text": ("a text", "application/x-ndjson application/jsonl", ""),
    "json": ("a JSON document", "application/json text/json application/x-json", ""),
    "source": ("a file of source code", "", ""),
    "delimited": ("a table of text", "text/csv application/csv text/tab-separated-values", "csv tsv"),
    "notebook": ("a Jupyter notebook", "application/x-ipynb+json", "ipynb"),
    "xml": ("an XML document", "", ""),
    "pdf": ("a PDF document", "application/pdf application/x-pdf", "pdf"),
    "word": (
        "a Word document",
        f"{_OPEN_XML}wordprocessingml.document application/vnd.ms-word.document.macroenabled.12",
        "docx docm",
    ),
    "slides": (
        "a PowerPoint presentation",
        f"{_OPEN_XML}presentationml.presentation application/vnd.ms-powerpoint.presentation.macroenabled.12",
        "pptx pptm",
    ),
    "sheet": (
        "a spreadsheet",
        f"{_OPEN_XML}spreadsheetml.sheet {_OPEN_DOCUMENT}spreadsheet {_EXCEL} {_EXCEL}.sheet.binary.macroenabled.12"
        f" {_EXCEL}.sheet.macroenabled.12",
        "xlsx xlsm xlsb xls ods",
    ),
    "opendocument": (
        "an OpenDocument text or presentation", f"{_OPEN_DOCUMENT}text {_OPEN_DOCUMENT}presentation", "odt odp"
    ),
    "epub": ("an EPUB book", "application/epub+zip", "epub"),
    "mail": ("an email message", "message/rfc822 multipart/related application/x-mimearchive", "eml mht mhtml"),
    "rtf": ("an RTF document", "", ""),
    "subtitles": ("a file of subtitles", "text/vtt application/x-subrip", "srt vtt"),
    "archive": ("an archive", "", ""),
    "binary": ("a binary file", "", ""),
}  # fmt: skip
"""For each kind, what it is called in a sentence, its media types, and the extensions that servers often do not declare
a type for. Suffixes identify other XML and JSON types."""

DESCRIPTIONS: Final[Mapping[KindName, str]] = {kind: description for kind, (description, _, _) in _KINDS.items()}
"""What each kind is called in a sentence, with its article."""
TYPES: Final[Mapping[str, KindName]] = {name: kind for kind, (_, types, _) in _KINDS.items() for name in types.split()}
"""The kinds of media types."""
_ENDS: Final[Mapping[str, KindName]] = {end: kind for kind, (_, _, ends) in _KINDS.items() for end in ends.split()}
_CODE_ENDS: Final[Mapping[str, str]] = {
    "py": "python", "pyi": "python", "js": "javascript", "mjs": "javascript", "cjs": "javascript", "jsx": "jsx",
    "ts": "typescript", "tsx": "tsx", "css": "css", "scss": "scss", "yaml": "yaml", "yml": "yaml", "toml": "toml",
    "ini": "ini", "cfg": "ini", "sql": "sql", "sh": "sh", "bash": "sh", "zsh": "sh", "ps1": "powershell", "php": "php",
    "tex": "latex", "c": "c", "h": "c", "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "hpp": "cpp", "java": "java",
    "kt": "kotlin", "swift": "swift", "go": "go", "rs": "rust", "rb": "ruby", "pl": "perl", "lua": "lua", "r": "r",
    "jl": "julia", "scala": "scala", "hs": "haskell", "ex": "elixir", "erl": "erlang", "clj": "clojure", "cs": "csharp",
    "dart": "dart", "vue": "vue", "svelte": "svelte", "proto": "protobuf", "graphql": "graphql", "tf": "hcl",
    "cmake": "cmake", "mk": "makefile", "diff": "diff", "patch": "diff", "zig": "zig", "nim": "nim",
}  # fmt: skip
_TYPE_NAMES: Final[Mapping[str, str]] = {
    "csrc": "c", "chdr": "c", "c++src": "cpp", "java-source": "java", "shellscript": "sh", "httpd-php": "php",
    "ecmascript": "javascript", "script.python": "python", "python-code": "python",
}  # fmt: skip
"""Names of languages in media types that are neither an ending nor the language's own name."""
_LANGUAGE_NAMES: Final[Mapping[str, str]] = {
    **{name: name for name in _CODE_ENDS.values()},
    **_CODE_ENDS,
    **_TYPE_NAMES,
}
_NAMES: Final[Mapping[str, str]] = {"dockerfile": "dockerfile", "makefile": "makefile", "cmakelists.txt": "cmake"}

_OFFICE_PARTS: Final[tuple[tuple[bytes, KindName], ...]] = (
    (b"mimetypeapplication/epub+zip", "epub"),
    (b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "sheet"),
    (b"mimetypeapplication/vnd.oasis.opendocument.", "opendocument"),
    (b"word/", "word"),
    (b"ppt/", "slides"),
    (b"xl/", "sheet"),
)
_PACKAGE: Final = (b"[Content_Types].xml", b"_rels/", b"docProps/", b"customXml/", b"META-INF/container.xml")
"""The first bytes of document archives (ECMA-376, part 2; EPUB 3.3, OCF)."""


def archive_kind(head: bytes, declared: KindName | None, url: str) -> KindName | None:
    """Return the document kind of a ZIP archive from its first bytes, else its type or URL; None if unknown.

    Args:
        head: The beginning of the archive.
        declared: The kind of its media type.
        url: Its URL.
    """
    for mark, kind in _OFFICE_PARTS:
        if mark in head:
            return kind
    hint = declared if declared in set(_ENDS.values()) - {"markdown", "delimited", "notebook"} else kind_of_address(url)
    if hint in {"word", "slides", "sheet", "opendocument", "epub"}:
        return hint
    return "word" if any(mark in head for mark in _PACKAGE) else None


def kind_of_address(url: str) -> KindName | None:
    """Return the kind for a URL's extension, among those that servers often do not declare."""
    return _ENDS.get(_end(url)[1])


def language_of(media_type: str, url: str) -> str:
    """Return the language of source code for a code block; empty if there is none.

    Args:
        media_type: The media type, in lower case and without parameters.
        url: The URL.
    """
    top, _, sub = media_type.partition("/")
    if top in {"text", "application"} and (language := _LANGUAGE_NAMES.get(sub.removeprefix("x-"))):
        return language
    name, end = _end(url)
    return _NAMES.get(name) or _CODE_ENDS.get(end, "")


def _end(url: str) -> tuple[str, str]:
    """Return the last path segment of a URL in lower case, and its extension."""
    try:
        name = urlsplit(url).path.rpartition("/")[2].lower()
    except ValueError:
        return "", ""
    return name, name.rpartition(".")[2] if "." in name else ""
