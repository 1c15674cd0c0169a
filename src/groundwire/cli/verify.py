"""`groundwire verify`."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from groundwire.cli.call_runner import run
from groundwire.cli.help_pages import Command
from groundwire.cli.terminal_text import (
    ExitCode,
    cells,
    clean,
    width,
    wrap,
    write,
    write_json,
)
from groundwire.errors import InvalidRequest
from groundwire.web import Web

if TYPE_CHECKING:
    from groundwire.citations.verify import CitedPage, Finding, Report

_EXIT_CODES = "Exit code 1: at least one sentence with a citation is not supported by its page."
_MAX_BYTES = 10_000_000  # bytes of a file


@click.command(cls=Command, epilog=_EXIT_CODES)
@click.argument("answer", type=click.File("rb"))
@click.argument("pages", nargs=-1, type=click.File("rb"))
@click.option("-s", "--session", metavar="NAME", help="Take the cited sources from this session.")
@click.option(
    "--sources",
    type=click.File("rb"),
    metavar="FILE",
    help="Take them from a JSON file: a list of objects with number, url, title, content, snippet.",
)
@click.option(
    "--judge",
    type=click.Choice(["words", "model"]),
    help="What judges the sentences that words do not settle. By default answer.judge.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON and nothing else.")
@click.option(
    "--html",
    "page",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="Also write the report as an HTML page.",
)
def verify(
    answer: BinaryIO,
    pages: Sequence[BinaryIO],
    session: str | None,
    sources: BinaryIO | None,
    judge: str | None,
    as_json: bool,
    page: Path | None,
) -> None:
    """Check the answer in the file ANSWER (- is standard input) against the pages that it cites.

    PAGES are files in Markdown or plain text: the first is [1], the second [2].
    """
    from groundwire.citations.verify.report_rendering import report_html, report_json, report_text

    text = _read_text(answer, "ANSWER")
    report = _report(text, _pages(pages, session, sources), {"session.id": session, "answer.judge": judge})
    if page is not None:
        page.write_text(report_html(report, text), encoding="utf-8")
    if as_json:
        write_json(report_json(report))
    else:
        findings = [row for row in report.findings if row.passage and any(part.stated for part in row.disagreements)]
        write(clean(report_text(report)))
        if columns := width() if sys.stdout.isatty() else None:
            write("\n\n".join(side_by_side(finding, columns) for finding in findings))
    sys.exit(ExitCode.OK if report.supported else ExitCode.NOTHING)


def side_by_side(finding: Finding, columns: int) -> str:
    """Return a sentence beside the text of its page, with differences in red on one side and green on the other.

    Args:
        finding: A finding with a passage.
        columns: The width of the terminal.
    """
    room = max(20, (columns - 3) // 2)
    answer_lines = wrap(_flat(finding.text), room).split("\n")
    page_lines = wrap(_flat(finding.passage), room).split("\n")
    claimed = [_flat(part.claimed) for part in finding.disagreements if part.claimed]
    stated = [_flat(part.stated) for part in finding.disagreements if part.stated]
    lines = [click.style(f"{'answer':{room}} │ [{finding.source}] says", bold=True)]
    for mine, theirs in itertools.zip_longest(answer_lines, page_lines, fillvalue=""):
        gap = " " * max(0, room - cells(mine))
        lines.append(f"{_painted(mine, claimed, 'red')}{gap} │ {_painted(theirs, stated, 'green')}")
    return "\n".join(lines)


def _flat(text: str) -> str:
    return " ".join(clean(text).split())


def _painted(line: str, parts: Sequence[str], color: str) -> str:
    """Return a line with parts colored and underlined; a longer one is colored by words."""
    words = {word for part in parts if part not in line for word in part.split()}
    colored = [*(part for part in parts if part in line), *sorted(words, key=len, reverse=True)]
    if not colored:
        return line
    pattern = "|".join(rf"(?<!\w){re.escape(part)}(?!\w)" for part in colored)
    return re.sub(pattern, lambda match: click.style(match[0], fg=color, underline=True), line)


def _pages(pages: Sequence[BinaryIO], session: str | None, sources: BinaryIO | None) -> Sequence[CitedPage] | None:
    """Return the sources from files; None if they are those of a session."""
    if (places := [session is not None, sources is not None, bool(pages)].count(True)) != 1:
        problem = "are in several places" if places else "are missing"
        raise InvalidRequest("sources", problem, "Pass either PAGES, or --session NAME, or --sources FILE.")
    from groundwire.citations.verify import CitedPage, pages_from_json

    if sources is not None:
        return pages_from_json(_read_text(sources, "--sources"))
    contents = ((number, file.name, _read_text(file, "PAGES")) for number, file in enumerate(pages, start=1))
    return [CitedPage(number=number, url="", title=name, content=content) for number, name, content in contents] or None


def _report(text: str, pages: Sequence[CitedPage] | None, settings: Mapping[str, str | None]) -> Report:
    async def call(web: Web) -> Report:
        from groundwire.agent_loop import verify as verified  # the model of the settings may judge

        return await verified(text, web=web, pages=pages)

    return run("Checking", settings, call)


def _read_text(file: BinaryIO, name: str) -> str:
    """Read the text of a file.

    Raises:
        InvalidRequest: it is too long, or not UTF-8.
    """
    data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise InvalidRequest(name, f"has more than {_MAX_BYTES:,} bytes", "Pass a shorter file.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest(name, "is not text in UTF-8", "Save it as UTF-8.") from error
