"""Escaping of page text for Markdown, resolution of a page's link URLs, and code blocks.

Only what would be markup is escaped, so that prose stays readable. The rules are those of CommonMark 0.31
(https://spec.commonmark.org/0.31.2/), with the tables of GitHub's Markdown. A code block has its verbatim text, and its
language from the conventions of many sites.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count, islice
from typing import Final
from urllib.parse import urljoin

from turbohtml import Element, Text

_SPECIAL: Final = re.compile(r"[\\`*_<&~\[\]|\xad]")
_MARK: Final = r"""\\(?=[!-/:-@\[-`{-~]|\s*$)|`|(?<!\w)_++|(?<!_)_++(?!\w)|<(?=[A-Za-z/!?]|$)|&(?=\#?[A-Za-z0-9]{1,31};)
|~(?=~)|(?<=~)~"""
_ESCAPED: Final = re.compile(
    rf"""
      (?P<math>\\\((?P<inline>(?:[^\n$\\]|\\(?![(\[])){{1,2000}}?)\\\)|\\\[(?P<block>(?:[^$\\]|\\(?![(\[])){{1,2000}}?)\\\])
    | (?P<tex>\$\$?(?=[^$\n]{{0,500}}?[\\^_{{])[^$\n]{{1,500}}?(?<=\S)\$\$?(?!\w))
    | (?P<mark>{_MARK}|(?<!\s)\*|\*(?!\s)|\](?=[(\[]))
    | (?P<shy>\xad)
    """,
    re.VERBOSE,
)
_PLAIN_MARK: Final = re.compile(rf"{_MARK}|[*\[\]]", re.VERBOSE)
_START: Final = re.compile(
    r"(?:#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|~{3}|\||=+\s*$|(?:-\s*){2,}$|(?:\*\s*){3,}$|(?:_\s*){3,}$|[|:\s]*-[|:\s-]*$"
    r"|\[(?:[^\]\\\n]|\\.){1,1000}\]:)"
)
_NUMBER: Final = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_TICKS: Final = re.compile("`+")
_SPACES: Final = re.compile(r"\s+")


def escape_text(text: str, *, in_label: bool = False) -> str:
    r"""Escape the text of one node so that it is literal anywhere in a line.

    Formulas between `\(` and `\)`, `\[` and `\]`, or dollar signs stay TeX, between dollar signs. Soft hyphens are
    removed.

    Args:
        text: The text of a text node.
        in_label: Whether it is part of a link's label, where every bracket counts.
    """
    if _SPECIAL.search(text) is None:
        return text
    if in_label:
        return _PLAIN_MARK.sub(_escape, text).replace("\xad", "")
    return _ESCAPED.sub(_replacement, text)


def _escape(match: re.Match[str]) -> str:
    return "".join([f"\\{sign}" for sign in match[0]])


def _replacement(match: re.Match[str]) -> str:
    if match["mark"]:
        return _escape(match)
    if match["shy"]:
        return ""
    if match["tex"]:
        return match["tex"]
    inline, block = match["inline"], match["block"]
    return f"${inline.strip()}$" if inline is not None else f"$${_SPACES.sub(' ', block).strip()}$$"


def escape_line(line: str) -> str:
    """Escape a line's beginning so that it is not parsed as a heading, a list, a quotation, a rule or a table."""
    first = line[:1]
    if first.isalpha():
        return line
    if first.isdigit():
        return _NUMBER.sub(r"\1\\\2", line, count=1) if _NUMBER.match(line) else line
    return "\\" + line if _START.match(line) else line


def inline_code(code: str) -> str:
    """Return a code span with as many backticks as its text requires."""
    code = _SPACES.sub(" ", code).strip()
    if "`" not in code:
        return f"`{code}`" if code else ""
    runs = set(map(len, _TICKS.findall(code)))
    ticks = "`" * next(length for length in count(1) if length not in runs)
    pad = " " if code[0] == "`" or code[-1] == "`" else ""
    return f"{ticks}{pad}{code}{pad}{ticks}"


def fence(code: str, language: str = "") -> str:
    """Return a fenced code block whose fence is longer than any in its text."""
    ticks = "`" * (max([2, *map(len, _TICKS.findall(code))]) + 1)
    return f"{ticks}{language}\n{code}\n{ticks}"


_MAX_ADDRESS: Final = 8_192  # characters; servers reject longer URLs
_MAX_BASE: Final = 2_000  # characters; each relative link repeats them
_HIDDEN_MAIL: Final = "/cdn-cgi/l/email-protection"
"""The path for a mail address that Cloudflare hides; like the address of any mail, it is no page."""
_REMOVED_FROM_URLS: Final = re.compile(r"[\t\n\r]")  # as in https://url.spec.whatwg.org/#concept-basic-url-parser
_UNFIT_IN_URLS: Final = re.compile(r"[\x00-\x20\x7f-\xa0<>\\|`]|&(?=#?\w{1,31};)")
_WEB: Final = re.compile(r"https?://", re.IGNORECASE)
_ORIGIN: Final = re.compile(r"https?://[^/?#\\\[]+")
_PLAIN_PATH: Final = re.compile(r"/(?!/)(?:[\w%~+=/-]|(?<=\w)\.(?=\w))*(?:\?[\w%~+=&./-]+)?")
_PARENTHESES: Final = re.compile(r"\([^()]*\)")
_MAX_PARENTHESES: Final = 3  # in each other


def web_url(reference: str, base_url: str = "") -> str:
    """Return the http or https URL of a link, or "" for any other target.

    Args:
        reference: The address, as written.
        base_url: The base of relative ones. A very long one is used without its query, or not at all.
    """
    if len(base_url) > _MAX_BASE:
        base_url = base_url.partition("#")[0].partition("?")[0]
        base_url = base_url if len(base_url) <= _MAX_BASE else ""
    reference = _REMOVED_FROM_URLS.sub("", reference.strip("\x00\x0b\x0c \t\n\r"))
    if not reference or len(reference) > _MAX_ADDRESS or _HIDDEN_MAIL in reference:
        return ""
    if _WEB.match(reference) and "[" not in reference:
        address = reference
    elif _PLAIN_PATH.fullmatch(reference) and (origin := _ORIGIN.match(base_url)):
        address = origin[0] + reference  # as joining would, at a tenth of the time
    else:
        try:  # joining raises an error for an invalid IPv6 address, too
            address = urljoin(base_url, reference)
        except ValueError:
            return ""
    if not _WEB.match(address) or address[-3:] == "://":
        return ""
    address = _UNFIT_IN_URLS.sub(_percent, address)
    return address if _balanced(address) else address.replace("(", "%28").replace(")", "%29")


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace"))


def _balanced(address: str) -> bool:
    """Whether the parentheses of a URL are balanced, and few enough for every Markdown parser."""
    for _ in range(_MAX_PARENTHESES if "(" in address else 0):
        address = _PARENTHESES.sub("", address)
    return "(" not in address and ")" not in address


_NUMBERS: Final = re.compile(
    r"(?:^|\s)(?:linenos?|linenodiv|line-?numbers?(?:-rows|-wrapper)?|lines-num|gutter|hljs-ln-(?:numbers|n)"
    r"|blob-num\S*|lnt|ln|rouge-gutter|react-line-number|crayon-nums?|CodeMirror-(?:linenumber|gutter-wrapper)|cm-gutters?"
    r")(?=\s|$)"
)
_LETTER: Final = re.compile(r"[^\W\d_]")
_FIRST_STRINGS: Final = 20  # strings of an element that may have only line numbers
_SKIPPED: Final = frozenset({"button", "script", "style", "template", "svg", "select", "textarea"})
_LINES: Final = frozenset({"div", "li", "p", "tr", "table", "ol", "ul"})
_PANEL: Final = re.compile(r"(?:^|\s)(fragment|CodeMirror-code|cm-content)(?=\s|$)")
_LANGUAGE_CLASS: Final = re.compile(
    r"(?:^|\s|; )(?:highlight-(?:source|text)-|mw-highlight-lang-"
    r"|(?:language|lang|highlight|brush|syntax|src|hljs-language|prism)[-:]\s*)([\w+#.-]{1,30})"
)
_WRAPPER_CLASS: Final = re.compile(
    r"(?:^|\s)(?:highlight-(?:source|text)-|mw-highlight-lang-|language-|highlight-)([\w+#.-]{1,30})"
)
_BARE_NAME: Final = re.compile(r"(?:^|\s)(?:hl-|code-|lang(?:uage)?\s)?([a-zA-Z][\w+#.-]{0,20})(?=\s|;|$)")
_LANGUAGES: Final = frozenset(
    {
        "actionscript", "ada", "apache", "applescript", "arduino", "asm", "assembly", "autohotkey", "awk", "bash",
        "bat", "batch", "bibtex", "c", "c#", "c++", "clojure", "cmake", "cobol", "coffeescript", "console", "cpp",
        "crystal", "cs", "csharp", "css", "csv", "cuda", "cypher", "d", "dart", "delphi", "diff", "docker",
        "dockerfile", "dos", "elisp", "elixir", "elm", "erlang", "f#", "fish", "fortran", "fsharp", "gherkin", "glsl",
        "go", "golang", "gradle", "graphql", "groovy", "haml", "handlebars", "haskell", "haxe", "hcl", "hlsl", "html",
        "http", "idl", "ini", "ipython3", "java", "javascript", "jinja", "jinja2", "jl", "js", "json", "json5",
        "jsonc", "jsx", "julia", "kotlin", "kt", "latex", "less", "liquid", "lisp", "llvm", "lua", "make", "makefile",
        "markdown", "mathematica", "matlab", "md", "mermaid", "mips", "nasm", "nginx", "nim", "nix", "objc",
        "objective-c", "objectivec", "ocaml", "octave", "pascal", "patch", "perl", "php", "pl", "plpgsql",
        "powershell", "prolog", "properties", "protobuf", "ps1", "pug", "puppet", "py", "pycon", "python", "python3",
        "qml", "r", "racket", "rb", "reasonml", "rs", "rst", "ruby", "rust", "sas", "sass", "scala", "scheme", "scss",
        "sh", "shell", "shell-session", "solidity", "sparql", "sql", "stata", "svelte", "swift", "systemverilog",
        "tcl", "terraform", "tex", "toml", "ts", "tsx", "twig", "typescript", "vb", "vb.net", "vbnet", "verilog",
        "vhdl", "vim", "vue", "wasm", "xml", "xquery", "yaml", "yml", "zig", "zsh",
    }
)  # fmt: skip
"""Languages whose bare name, as the class of a code block, is unambiguous."""
_DATA: Final = ("data-lang", "data-language", "data-code-language", "data-syntax", "data-canonical-lang")
_NO_LANGUAGE: Final = frozenset(
    {
        "auto", "block", "code", "copy", "default", "false", "highlight", "highlighted", "highlighting", "hljs", "line",
        "linenums", "none", "nohighlight", "no-highlight", "notranslate", "numbers", "plain", "prettyprint", "rouge",
        "shadow", "sourcecode", "toolbar", "undefined", "unknown", "wrap", "wrapper", "container", "dark", "light",
        "body", "content", "title", "inline", "snippet", "theme", "table", "group",
    }
)  # fmt: skip
_ALIASES: Final[Mapping[str, str]] = {
    "plaintext": "text", "txt": "text", "ipython3": "python", "pycon3": "pycon",
    "python3": "python", "default": "",
}  # fmt: skip
_LANGUAGE_NAME: Final = re.compile(r"[\w+#.]{1,20}(?:-[\w+#.]{1,20})?", re.ASCII)
"""One or two words: a longer name is not a language, and is invisible on the page."""
_MAX_ABOVE: Final = 7  # elements between a code block and the wrapper that names its language


def code_text(pre: Element) -> str:
    """Return the text of a code block without line numbers and buttons."""
    parts: list[str] = []
    stack = [iter(pre)]
    open_tags = [""]
    ended = False
    while stack:
        for node in stack[-1]:
            if type(node) is Text:
                data = node.data
                if ended and data[:1] == "\n" and parts and parts[-1].endswith("\n"):
                    data = data[1:]  # between two lines that are elements
                ended = False
                if data:
                    parts.append(data)
            elif type(node) is Element:
                tag, ended = node.tag, False
                if tag == "br":
                    parts.append("\n")
                    continue
                if tag in _SKIPPED or _is_numbers(node):
                    continue
                if tag in _LINES:
                    _end_line(parts)
                elif tag == "span" and _follows_line(node):
                    parts.append("\n")
                stack.append(iter(node))
                open_tags.append(tag)
                break
        else:
            stack.pop()
            if open_tags.pop() in _LINES:
                _end_line(parts)
                ended = True
    lines = "".join(parts).replace("\xa0", " ").rstrip().split("\n")
    while lines and not lines[0].strip():
        del lines[0]
    return "\n".join(lines)


def _follows_line(span: Element) -> bool:
    """Whether a line of code is right after another that does not end itself: a style sheet makes each a block."""
    before = span.previous_sibling
    if not (isinstance(before, Element) and span.has_class("line") and before.has_class("line")):
        return False
    return not before.text.endswith("\n")


def _end_line(parts: list[str]) -> None:
    if parts and not parts[-1].endswith("\n"):
        parts.append("\n")


def _is_numbers(element: Element) -> bool:
    classes = element.attr("class") or ""
    return (
        bool(classes)
        and _NUMBERS.search(classes) is not None
        and not any(map(_LETTER.search, islice(element.strings, _FIRST_STRINGS)))
    )


def code_language(pre: Element) -> str:
    """Return the declared language of a code block, or "".

    The block itself and the `code` in it are checked first, then its ancestors: Sphinx and GitHub, MediaWiki, Rouge and
    Hexo put the language on a wrapper.
    """
    language = _named(pre, _LANGUAGE_CLASS)
    if not language:
        inner = pre.find("code")
        language = _named(inner, _LANGUAGE_CLASS) if inner is not None else ""
    above, steps = pre.parent, 0
    while not language and type(above) is Element and steps < _MAX_ABOVE:
        if above.tag in {"article", "section", "main", "body", "li", "blockquote", "aside"}:
            break
        language = _named(above, _WRAPPER_CLASS)
        above, steps = above.parent, steps + 1
    return language


def _named(element: Element, pattern: re.Pattern[str]) -> str:
    classes = element.attr("class") or ""
    for name in _DATA:
        if (value := element.attr(name)) and (language := _language(value)):
            return language
    if not classes:
        return ""
    for match in pattern.finditer(classes):
        if language := _language(match[1]):
            return language
    for word in _BARE_NAME.finditer(classes):
        if word[1].lower() in _LANGUAGES:
            return _language(word[1])
    return ""


def _language(name: str) -> str:
    name = name.strip().strip(".;-").lower()
    name = _ALIASES.get(name, name)
    if not name or name in _NO_LANGUAGE or len(name) > 30 or _LANGUAGE_NAME.fullmatch(name) is None:
        return ""
    return name


def is_code_panel(element: Element) -> bool:
    """Whether an element other than `pre` holds lines of code, as in Doxygen and CodeMirror."""
    panel = _PANEL.search(element.attr("class") or "")
    return panel is not None and (panel[1] != "fragment" or element.find("div", class_="line") is not None)


def code_blocks(table: Element) -> list[Element]:
    """Return the code blocks in a table with line numbers beside them."""
    every = list(table.iter_elements("pre"))
    own = [
        block
        for block in every
        if block.closest(".gutter, .linenos, .rouge-gutter, .lntd:first-child, .crayon-nums") is None
    ]
    return own or every


def is_code_table(table: Element) -> bool:
    """Whether a table only places line numbers beside code, as in Pygments, Rouge, Hexo and GitHub."""
    classes = table.attr("class") or ""
    if re.search(
        r"(?:^|\s)(?:highlighttable|rouge-table|hljs-ln|js-file-line-container|lntable|crayon-table)(?=\s|$)", classes
    ):
        return True
    first = table.find("td")
    if first is None or not _is_numbers(first):
        return False
    return next(table.iter_elements(("pre", "code")), None) is not None or "blob-num" in (first.attr("class") or "")
