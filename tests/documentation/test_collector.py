"""What runs the blocks would notice: the reader of blocks, the comparison of output, the checks of what is not run."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import pytest

from components.markdown_blocks import ROOT, Block, read_blocks
from documentation.checking import check_claim, check_command, check_data, check_unrun
from documentation.shell import Shell, commands, matches
from documentation.stage import environment, staged
from documentation.test_blocks import fate
from world import World


def block(text: str, language: str = "sh", document: str = "docs/guides/mcp.md", **notes: str) -> Block:
    return Block(document, 0, 1, language, text, {name.replace("_", " "): value for name, value in notes.items()})


class TestReading:
    def test_blocks_have_their_language_line_and_note(self) -> None:
        text = "# A\n\n```python\nx\n```\n\n<!-- not run: it needs\na key -->\n```sh\ny\n```\n"
        first, second = read_blocks(text, "a.md")
        assert (first.language, first.text, first.line, first.notes) == ("python", "x\n", 3, {})
        assert (second.number, second.notes) == (1, {"not run": "it needs a key"})

    @pytest.mark.parametrize(
        "text",
        ["```python\nx\n", "<!-- dont run: why -->\n```sh\nx\n```\n", "~~~\nx\n```\n"],
        ids=["open", "note", "tildes"],
    )
    def test_what_it_cannot_read_is_an_error(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"a\.md"):
            read_blocks(text, "a.md")

    def test_a_block_of_no_known_language_has_no_fate(self) -> None:
        assert [fate(block("x", language)) for language in ("", "ruby")] == ["unknown", "unknown"]
        assert fate(block("x", "ruby", not_run="it is another language")) == "unrun"


class TestOutput:
    def test_times_and_days_may_differ_and_nothing_else(self) -> None:
        assert matches("3 results in 0.7 s, 2026-11-22\n", "3 results in 12 ms, 2027-01-01\n")
        assert not matches("3 results in 0.7 s\n", "4 results in 0.7 s\n")
        assert not matches("one\n", "one\ntwo\n")
        assert not matches("", "one\n")
        assert matches("", "")

    def test_dots_stand_for_lines(self) -> None:
        assert matches("one\n...\nfour\n", "one\ntwo\nthree\nfour\n")
        assert matches("one\n...\n", "one\n")
        assert not matches("one\n...\nfour\n", "one\ntwo\n")

    def test_commands_are_told_from_their_output(self) -> None:
        assert commands("$ a \\\n> b\nout\n$ c\n") == [("a \\\nb", "out\n"), ("c", "")]
        with pytest.raises(ValueError, match="begins with a prompt"):
            commands("out\n")


class TestRunning:
    @pytest.mark.parametrize(
        ("wrong", "said"),
        [
            (block("false\n"), "ended with 1"),
            (block("$ echo one\ntwo\n", "console"), "instead of"),
            (block("raise ValueError('broken')\n", "python"), "broken"),
            (block("one\n", "text"), "output of nothing"),
        ],
        ids=["exit", "output", "python", "text"],
    )
    async def test_a_wrong_block_fails(self, wrong: Block, said: str, tmp_path: Path, world: World) -> None:
        async with staged("README.md", tmp_path, world, Path(sys.executable)) as stage:
            with pytest.raises((AssertionError, ValueError), match=said):
                await stage.run(wrong)

    async def test_output_in_a_block_of_its_own_is_compared(self, tmp_path: Path, world: World) -> None:
        async with staged("README.md", tmp_path, world, Path(sys.executable)) as stage:
            for one in (block("print('one')\n", "python"), block("echo one\n")):
                await stage.run(one)
                with pytest.raises(AssertionError, match="shows what is not printed"):
                    await stage.run(block("two\n", "text"))
                await stage.run(one)
                await stage.run(block("one\n", "text"))

    async def test_a_shell_goes_on_where_it_was_and_hears_what_runs_behind(self, tmp_path: Path) -> None:
        async with Shell(tmp_path, environment(tmp_path, tmp_path)) as shell:
            assert await shell.run("mkdir a && cd a") == (0, "")
            assert await shell.run("pwd") == (0, f"{tmp_path}/a\n")
            assert await shell.run("(exit 3)") == (3, "")
            assert await shell.run("(read -t 0.2 < <(sleep 1); echo late) &", "late\n") == (0, "late\n")


class TestChecking:
    @pytest.mark.parametrize(
        "text",
        [
            "if true; then\n",
            'pip install "groundwire[nonsense]"\n',
        ],
    )
    def test_what_is_not_run_is_checked(self, text: str) -> None:
        with pytest.raises(Exception, match=r"bash|nonsense"):
            check_unrun(block(text))

    @pytest.mark.parametrize("words", [["serch", "x"], ["search", "x", "--lmit", "3"], ["mcp", "instal"]])
    def test_commands_that_are_not_there_are_found(self, words: list[str]) -> None:
        with pytest.raises(click.UsageError):
            check_command(words)
        with pytest.raises(click.UsageError):
            check_unrun(block(f"groundwire {' '.join(words)}\n"))

    def test_data_is_parsed_and_settings_are_valid(self, tmp_path: Path) -> None:
        for language, text in (("json", "{"), ("toml", "a ="), ("yaml", "a: ["), ("promql", "sum(")):
            with pytest.raises(Exception, match=r"."):
                check_data(block(text, language), tmp_path)
        with pytest.raises(Exception, match="strateg"):
            check_data(block('[search]\nstrategie = "hedge"\n', "toml"), tmp_path)
        check_data(block("[tool.other]\nx = 1\n", "toml"), tmp_path)

    @pytest.mark.parametrize(
        "claim",
        [
            "packages/groundwire-server/tests/server/test_gone.py::test_it",
            "tests/mcp_server/test_mcp.py::test_gone",
            "tests/test_web.py::test_gone",
            "src/groundwire/web.py::x",
        ],
    )
    def test_claims_of_tests_that_are_not_there_are_found(self, claim: str) -> None:
        with pytest.raises(AssertionError):
            check_claim(block("x"), claim)

    def test_a_test_must_speak_of_the_document(self) -> None:
        claim = "tests/mcp_server/test_mcp.py::test_the_guides_client_runs"
        check_claim(block("x"), claim)
        with pytest.raises(AssertionError, match="does not name"):
            check_claim(block("x", document="docs/guides/pages.md"), claim)
        assert (ROOT / "docs" / "guides" / "pages.md").is_file()
