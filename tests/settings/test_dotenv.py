"""The `.env` file of the working folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import pytest

from groundwire.errors import ConfigurationError
from groundwire.settings import Settings


class _Desk(Protocol):
    folder: Path

    def write(self, *, dotenv: str | bytes = "") -> None: ...
    def load(self, environment: dict[str, str] | None = None, **arguments: Any) -> Settings: ...


@pytest.mark.req("Y7")
@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("BRAVE_API_KEY=plain", "plain"),
        ("export BRAVE_API_KEY=plain", "plain"),
        ("BRAVE_API_KEY='with space # and sign'", "with space # and sign"),
        ('BRAVE_API_KEY="quoted"', "quoted"),
        ("BRAVE_API_KEY=plain # a comment", "plain"),
        ("BRAVE_API_KEY = spaced ", "spaced"),
        ("# a comment\n\nBRAVE_API_KEY=later", "later"),
        ("BRAVE_API_KEY=first\nBRAVE_API_KEY=last", "last"),
        ("BRAVE_API_KEY='a${HOME}b$c'", "a${HOME}b$c"),
        ("BRAVE_API_KEY=ключ", "ключ"),
        ("\ufeffBRAVE_API_KEY=marked", "marked"),
        ("BRAVE_API_KEY=windows\r\nOTHER=1\r\n", "windows"),
    ],
)
def test_the_ways_to_write_a_value(line: str, value: str, desk: _Desk) -> None:
    desk.write(dotenv=line)
    assert desk.load().keys["BRAVE_API_KEY"].get_secret_value() == value


@pytest.mark.parametrize("line", ["BRAVE_API_KEY=", "BRAVE_API_KEY", "BRAVE_API_KEY='  '", "# BRAVE_API_KEY=x"])
def test_an_empty_key_is_no_key(line: str, desk: _Desk) -> None:
    desk.write(dotenv=line)
    assert "BRAVE_API_KEY" not in desk.load().keys


def test_a_key_of_the_environment_wins(desk: _Desk) -> None:
    desk.write(dotenv="BRAVE_API_KEY=file\n")
    assert desk.load({"BRAVE_API_KEY": "environment"}).keys["BRAVE_API_KEY"].get_secret_value() == "environment"
    assert desk.load({"BRAVE_API_KEY": ""}).keys["BRAVE_API_KEY"].get_secret_value() == "file"


def test_a_line_that_is_none_is_told_and_the_rest_is_read(desk: _Desk) -> None:
    desk.write(dotenv="GROUNDWIRE_SEARCH_LIMIT=3\nthis is no line\nGROUNDWIRE_SEARCH_TIMEOUT=4\n")
    settings = desk.load()
    assert (settings.search.limit, settings.search.timeout) == (3, 4)
    assert settings.warnings == (f"{desk.folder / '.env'}, line 2: is not NAME=value; it is ignored.",)


def test_bytes_that_are_no_text(desk: _Desk) -> None:
    desk.write(dotenv=b"A=1\nB=\xff\n")
    with pytest.raises(ConfigurationError, match=r"\.env: is not UTF-8 \(byte 6\); save it as UTF-8"):
        desk.load()


def test_a_folder_of_that_name_is_passed_over(desk: _Desk) -> None:
    (desk.folder / ".env").mkdir()
    assert desk.load().search.limit == 5
