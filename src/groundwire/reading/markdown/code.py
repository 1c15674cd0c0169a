"""Code blocks: their verbatim text, and their language from the conventions of many sites."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from turbohtml import Element, Text

__all__ = [
    "code_blocks", "code_language", "code_text", "is_code_panel", "is_code_part", "is_code_table", "is_gutter",
]  # fmt: skip

_NUMBERS: Final = re.compile(
    r"(?:^|\s)(?:linenos?|linenodiv|line-?numbers?(?:-rows|-wrapper)?|lines-num|gutter|hljs-ln-(?:numbers|n)"
    r"|blob-num\S*|lnt|ln|rouge-gutter|react-line-number|crayon-nums?|CodeMirror-(?:linenumber|gutter-wrapper)"
    r"|copy-?(?:btn|button)\S*|code-copy\S*|clipboard\S*)(?=\s|$)"
)
_SKIPPED: Final = frozenset({"button", "script", "style", "template", "svg", "select", "textarea"})
_LINES: Final = frozenset({"div", "li", "p", "tr", "table", "ol", "ul"})
_PART: Final = re.compile(r"(?:^|\s)(?:fragment|CodeMirror-code|line-?numbers?(?:-rows|-wrapper)?|gutter)(?=\s|$)")
_OWN: Final = re.compile(
    r"(?:^|\s|; )(?:(?:language|lang|highlight|brush|syntax|src|hljs-language|prism)[-:]\s*|highlight-(?:source|text)-"
    r"|mw-highlight-lang-)([\w+#.-]{1,30})"
)
_WRAPPER: Final = re.compile(
    r"(?:^|\s)(?:highlight-(?:source|text)-|mw-highlight-lang-|language-|highlight-)([\w+#.-]{1,30})"
)
_BARE: Final = re.compile(r"(?:^|\s)(?:hl-|code-|lang(?:uage)?\s)?([a-zA-Z][\w+#.-]{0,20})(?=\s|;|$)")
_KNOWN: Final = frozenset(
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
    "plaintext": "text", "txt": "text", "source-shell": "shell", "ipython3": "python", "pycon3": "pycon",
    "python3": "python", "default": "",
}  # fmt: skip
_A_LANGUAGE: Final = re.compile(r"[\w+#.]{1,20}(?:-[\w+#.]{1,20})?", re.ASCII)
"""One or two words: a longer name is not a language, and is invisible on the page."""
_ABOVE: Final = 7  # elements between a code block and the wrapper that names its language


def code_text(pre: Element) -> str:
    """Return the text of a code block without line numbers and buttons."""
    parts: list[str] = []
    stack = [iter(pre)]
    open_tags = [""]
    while stack:
        for node in stack[-1]:
            if type(node) is Text:
                parts.append(node.data)
            elif type(node) is Element:
                tag = node.tag
                if tag == "br":
                    parts.append("\n")
                    continue
                if tag in _SKIPPED or _is_numbers(node):
                    continue
                if tag in _LINES:
                    _end_line(parts)
                stack.append(iter(node))
                open_tags.append(tag)
                break
        else:
            stack.pop()
            if open_tags.pop() in _LINES:
                _end_line(parts)
    lines = "".join(parts).replace("\xa0", " ").rstrip().split("\n")
    while lines and not lines[0].strip():
        del lines[0]
    return "\n".join(lines)


def _end_line(parts: list[str]) -> None:
    if parts and not parts[-1].endswith("\n"):
        parts.append("\n")


def _is_numbers(element: Element) -> bool:
    classes = element.attr("class")
    if classes:
        return _NUMBERS.search(classes) is not None
    return False


def code_language(pre: Element) -> str:
    """Return the declared language of a code block, or "".

    The block itself and the `code` in it are checked first, then its ancestors: Sphinx and GitHub, MediaWiki, Rouge and
    Hexo put the language on a wrapper.
    """
    found = _named(pre, _OWN)
    if not found:
        inner = pre.find("code")
        found = _named(inner, _OWN) if inner is not None else ""
    above, steps = pre.parent, 0
    while not found and type(above) is Element and steps < _ABOVE:
        if above.tag in {"article", "section", "main", "body", "li", "blockquote", "aside"}:
            break
        found = _named(above, _WRAPPER)
        above, steps = above.parent, steps + 1
    return found


def _named(element: Element, pattern: re.Pattern[str]) -> str:
    classes = element.attr("class") or ""
    params = element.attr("data-syntaxhighlighter-params")  # Confluence
    if params and (match := pattern.search(params)) and (language := _language(match[1])):
        return language
    for name in _DATA:
        if (value := element.attr(name)) and (language := _language(value)):
            return language
    if not classes:
        return ""
    for match in pattern.finditer(classes):
        if language := _language(match[1]):
            return language
    for word in _BARE.finditer(classes):
        if word[1].lower() in _KNOWN:
            return _language(word[1])
    return ""


def _language(name: str) -> str:
    name = name.strip().strip(".;-").lower()
    if name.startswith(("source-", "text-")):
        name = name.partition("-")[2]
    name = _ALIASES.get(name, name)
    if not name or name in _NO_LANGUAGE or len(name) > 30 or _A_LANGUAGE.fullmatch(name) is None:
        return ""
    return name


def is_code_part(classes: str) -> bool:
    """Whether the classes of a `div` may be those of code or of its line numbers."""
    return _PART.search(classes) is not None


def is_code_panel(element: Element) -> bool:
    """Whether an element other than `pre` holds lines of code, as in Doxygen and CodeMirror."""
    classes = element.attr("class") or ""
    if "CodeMirror-code" in classes:
        return True
    return "fragment" in classes.split() and element.find("div", class_="line") is not None


def is_gutter(element: Element) -> bool:
    """Whether an element holds only the line numbers of the code beside it."""
    text = "".join(element.text.split())
    return (not text or text.isdigit()) and _is_numbers(element)


def code_blocks(table: Element) -> list[Element]:
    """Return the code blocks in a table with line numbers beside them."""
    return [
        block
        for block in table.iter_elements("pre")
        if block.closest(".gutter, .linenos, .rouge-gutter, .lntd:first-child, .crayon-nums") is None
    ]


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
