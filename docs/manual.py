"""Writes `docs/groundwire.1`, the manual page, from the commands.

`python docs/manual.py` writes it; `python docs/manual.py --check` says whether it is up to date.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from groundwire import __version__
from groundwire._version import PROJECT_URL
from groundwire.cli import group, terminal_text
from groundwire.providers.registry import provider_class, provider_names
from groundwire.settings.sources import FILE_NAME, FILE_VARIABLE

TARGET = Path(__file__).parent / "groundwire.1"

_WIDTH = 1000  # columns; the reader's own program breaks lines
_LINE = 78  # columns of the source
_SIGNS = str.maketrans({"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"})
_TITLE = re.compile(r'^\.TH GROUNDWIRE 1 "([^"]*)"', re.MULTILINE)
_ENVIRONMENT = {
    "GROUNDWIRE_SECTION_KEY": "The setting KEY of SECTION, such as GROUNDWIRE_SEARCH_LIMIT=3; "
    "groundwire config show prints all values and where each one comes from.",
    FILE_VARIABLE: f"A settings file that is used instead of the project's {FILE_NAME}.",
    "NO_COLOR": "Disables colors when it is set.",
}
_FILES = {
    FILE_NAME: "Project settings, in the working folder or one above it.",
    ".env": "Environment variables of a project, in the working folder; the real environment takes precedence.",
    "~/.config/groundwire/groundwire.toml": "User settings; XDG_CONFIG_HOME moves them.",
    "~/.cache/groundwire": "Cached responses and pages, sessions, and the archive; XDG_CACHE_HOME moves it.",
}


def manual(date: str) -> str:
    """Return the whole page.

    Args:
        date: When it was changed, as YYYY-MM-DD.
    """
    with click.Context(group, info_name="groundwire", **_settings(group)) as context:
        summary, _, rest = (group.help or "").partition(":")
        lines = [
            r".\" Written from the commands by docs/manual.py; a test fails when it is out of date.",
            f'.TH GROUNDWIRE 1 "{date}" "groundwire {__version__}" "User Commands"',
            ".SH NAME",
            rf"groundwire \- {_text(summary[:1].lower() + summary[1:])}",
            ".SH SYNOPSIS",
            *_usage(context),
            ".SH DESCRIPTION",
            _text(rest.strip()[:1].upper() + rest.strip()[1:]),
            *_paragraphs(group.epilog),
            ".SH OPTIONS",
            *_options(context),
            ".SH COMMANDS",
            "Each has the option",
            r".BR \-\-help .",
            *_commands(context),
            ".SH EXIT STATUS",
            "A command that documents its own exit status takes precedence.",
            *_list({str(code): text for code, text in _codes()}),
            ".SH ENVIRONMENT",
            *_list(_ENVIRONMENT | _keys()),
            ".SH FILES",
            *_list(_FILES),
            ".SH SEE ALSO",
            ".UR " + PROJECT_URL,
            "The project",
            ".UE",
        ]
    return "\n".join(lines) + "\n"


def _settings(command: click.Command) -> dict[str, Any]:
    return {**command.context_settings, "terminal_width": _WIDTH, "max_content_width": _WIDTH}


def _commands(parent: click.Context) -> Iterator[str]:
    command = parent.command
    assert isinstance(command, click.Group)
    for name in command.list_commands(parent):
        child = command.get_command(parent, name)
        if child is None or child.hidden:
            continue
        with click.Context(child, parent=parent, info_name=name, **_settings(child)) as context:
            yield f".SS {_text(context.command_path.partition(' ')[2])}"
            yield from _usage(context)
            yield from _paragraphs(child.help, first=".PP")
            yield from _options(context)
            yield from _paragraphs(child.epilog)
            if isinstance(child, click.Group):
                yield from _commands(context)


def _usage(context: click.Context) -> Iterator[str]:
    yield ".nh"  # a command's words stay whole
    yield rf"\fB{_text(context.command_path)}\fR " + " ".join(
        rf"\fI{_text(piece)}\fR" for piece in context.command.collect_usage_pieces(context)
    )
    yield ".hy"


def _options(context: click.Context) -> Iterator[str]:
    for param in context.command.get_params(context):
        if isinstance(param, click.Option) and (record := param.get_help_record(context)):
            names, text = record
            if "--help" in param.opts and context.parent:
                continue  # every command has it; it is said once
            yield ".TP"
            yield re.sub(r"\S+", _option_word, names)
            yield _text(text) or r"\&"


def _option_word(match: re.Match[str]) -> str:
    word, comma = match[0].rstrip(","), "," if match[0].endswith(",") else ""
    return rf"\f{'B' if word.startswith('-') else 'I'}{_text(word)}\fR{comma}"


def _paragraphs(text: str | None, first: str = ".PP") -> Iterator[str]:
    """Give help texts as click reads them: a paragraph that begins with a backspace keeps its lines."""
    for number, paragraph in enumerate(inspect.cleandoc((text or "").partition("\f")[0]).split("\n\n")):
        if not paragraph.strip():
            continue
        yield first if number == 0 else ".PP"
        if paragraph.startswith("\b"):
            yield ".nf"
            yield from (_text(line, keep=True) for line in paragraph.splitlines()[1:])
            yield ".fi"
        else:
            yield _text(paragraph)


def _list(items: dict[str, str]) -> Iterator[str]:
    for name, text in items.items():
        yield ".TP"
        yield rf"\fB{_text(name)}\fR"
        yield _text(text)


def _codes() -> Iterator[tuple[int, str]]:
    """Give the exit codes with what stands below each in its class."""
    (cls,) = ast.parse(inspect.getsource(terminal_text.ExitCode)).body
    assert isinstance(cls, ast.ClassDef)
    for code, words in zip(cls.body, cls.body[1:], strict=False):
        match code, words:
            case (
                ast.Assign(value=ast.Constant(value=int(number))),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield number, text


def _keys() -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for provider in provider_names():
        for variable in getattr(provider_class(provider), "key_variables", ()):
            found.setdefault(variable, []).append(provider)
    return {
        name: f"The API key of {' and '.join(providers)}; separate several with commas."
        for name, providers in found.items()
    }


def _text(text: str, *, keep: bool = False) -> str:
    """Write text as roff has it: no sign of it is a command, and what is not ASCII is named."""
    roff = "".join(sign if sign.isascii() else f"\\[u{ord(sign):04X}]" for sign in text.translate(_SIGNS))
    lines = (
        [roff] if keep else textwrap.wrap(" ".join(roff.split()), _LINE, break_long_words=False, break_on_hyphens=False)
    )
    return "\n".join(rf"\&{line}" if line.startswith(".") else line for line in lines)


def main() -> None:
    """Write the page, or check it; its date stays while nothing else changes."""
    before = TARGET.read_text(encoding="utf-8") if TARGET.is_file() else ""
    date = found[1] if (found := _TITLE.search(before)) else ""
    if manual(date) == before:
        return
    if "--check" in sys.argv[1:]:
        sys.exit("docs/groundwire.1 is out of date: run `make man`.")
    TARGET.write_text(manual(f"{datetime.now(UTC):%Y-%m-%d}"), encoding="utf-8")


if __name__ == "__main__":
    main()
