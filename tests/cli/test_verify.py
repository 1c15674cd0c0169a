"""`groundwire verify`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from groundwire.citations.verify import CitedPage, verify_answer
from groundwire.cli.verify import side_by_side
from groundwire.testing.model_apis import Say
from world.model_apis import ModelServer

from .conftest import Terminal

SOURCES = [{"number": 1, "url": "https://t.example/", "content": "The tower is 324 metres tall.", "more": 1}]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "good.md").write_text("The tower is 324 metres tall [1].")
    (tmp_path / "bad.md").write_text("The tower is 342 metres tall [1].")
    (tmp_path / "sources.json").write_text(json.dumps(SOURCES))
    return tmp_path


@pytest.mark.req("B9")
def test_it_says_with_its_code_whether_all_is_supported(terminal: Terminal, files: Path) -> None:
    good = terminal.here("verify", files / "good.md", "--sources", files / "sources.json")
    bad = terminal.here("verify", files / "bad.md", "--sources", files / "sources.json", "--html", files / "out.html")
    assert (good.exit_code, bad.exit_code) == (0, 1)
    assert "supported by [1]" in good.output
    assert "the answer says “342 metres”, [1] says “324 metres”" in bad.output
    assert "342 metres" in (files / "out.html").read_text()


def test_pages_are_files_in_the_order_of_their_numbers(terminal: Terminal, files: Path) -> None:
    (files / "first.md").write_text("It rains in the valley.")
    (files / "second.md").write_text("The tower is 324 metres tall.")
    (files / "two.md").write_text("The tower is 324 metres tall [2].")
    right = terminal.here("verify", files / "two.md", files / "first.md", files / "second.md")
    wrong = terminal.here("verify", files / "two.md", files / "second.md", files / "first.md")
    both = terminal.here("verify", files / "two.md", files / "first.md", "--session", "work")
    assert (right.exit_code, wrong.exit_code, both.exit_code) == (0, 1, 2)


@pytest.mark.req("B9")
@pytest.mark.parametrize(
    ("flags", "setting", "calls"),
    [((), "words", 0), (("--judge", "model"), "words", 1), ((), "model", 1), (("--judge", "words"), "model", 0)],
)
def test_a_model_judges_where_it_is_chosen(
    terminal: Terminal, files: Path, flags: tuple[str, ...], setting: str, calls: int
) -> None:
    model = terminal.world.add(ModelServer(lambda _: Say("It is fine.")))
    (files / "unsure.md").write_text("The tall tower is 324 metres, with guests, a lift and mail [1].")
    done = terminal.here(
        "verify",
        files / "unsure.md",
        "--sources",
        files / "sources.json",
        *flags,
        GROUNDWIRE_ANSWER_MODEL="m",
        GROUNDWIRE_ANSWER_BASE_URL=f"{model.url}/v1",
        GROUNDWIRE_ANSWER_JUDGE=setting,
    )
    assert len(model.requests) == calls
    assert ("was ignored" in done.output) == bool(calls)


def test_json_of_a_tool_result(terminal: Terminal, files: Path) -> None:
    rows = [
        {
            "citation_id": 1,
            "title": "T",
            "url": "https://t.example/",
            "snippet": "The tower is 324 metres tall, and old.",
        }
    ]
    (files / "result.json").write_text(json.dumps({"query": "tower", "results": rows, "sources": rows[:1]}))
    done = terminal.here("verify", files / "good.md", "--sources", files / "result.json", "--json")
    assert json.loads(done.output)["findings"][0]["verdict"] == "supported"


@pytest.mark.req("B9")
def test_a_session_of_other_processes(terminal: Terminal, files: Path) -> None:
    found = terminal.here("search", "reciprocal rank fusion", "--json", GROUNDWIRE_SESSION_ID="work")
    row = json.loads(found.stdout.splitlines()[0])
    (files / "answer.md").write_text(f"{row['snippet'].split('. ')[0].rstrip('.')} [{row['citation_id']}].")
    assert terminal.here("verify", files / "answer.md", "--session", "work").exit_code == 0
    gone = terminal.here("verify", files / "answer.md", "--session", "another")
    assert gone.exit_code == 1
    assert "no source of this session is known" in gone.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "sources are missing. Pass either PAGES, or --session NAME, or --sources FILE."),
        (("--session", "a", "--sources", "sources.json"), "are in several places. Pass either PAGES"),
        (("--sources", "good.md"), "are not a JSON list of sources (Invalid JSON"),
        (("--sources", "none.json"), "none.json"),
    ],
)
def test_wrong_use(terminal: Terminal, files: Path, arguments: tuple[str, ...], said: str) -> None:
    done = terminal.here("verify", files / "good.md", *arguments)
    assert done.exit_code == 2
    assert said in done.output


def test_sources_without_a_number_and_bytes_that_are_no_text(terminal: Terminal, files: Path) -> None:
    (files / "sources.json").write_text('[{"url": "x"}]')
    (files / "good.md").write_bytes(b"\xff\xfe\x00")
    assert terminal.here("verify", files / "good.md", "--sources", files / "sources.json").exit_code == 2
    (files / "good.md").write_text("x")
    done = terminal.here("verify", files / "good.md", "--sources", files / "sources.json")
    assert "no number in entry 1" in done.output


def test_what_differs_stands_side_by_side_in_color() -> None:
    page = CitedPage(number=1, url="", content="The tower was opened in March 1889, and it is 324 metres high.")
    (finding,) = verify_answer(
        "The tower was opened in March 1889, and it is 342 metres tall today [1].", [page]
    ).findings
    shown = side_by_side(finding, 60)
    assert "\x1b[31m\x1b[4m342\x1b[0m" in shown
    assert "\x1b[32m\x1b[4m324\x1b[0m" in shown
    plain = [re.sub(r"\x1b\[\d+m", "", line) for line in shown.split("\n")]
    assert plain[0].split() == ["answer", "│", "[1]", "says"]
    assert len({line.index("│") for line in plain}) == 1
    assert all(len(line) <= 60 for line in plain)
