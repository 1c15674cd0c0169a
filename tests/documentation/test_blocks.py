"""Every fenced block of every document is run, read by its parser, or says why it cannot be."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from components.markdown_blocks import Block, blocks_of, documents
from documentation.checking import DATA, check_claim, check_data, check_unrun, compiled
from documentation.stage import staged
from world import World

RUN = frozenset({"python", "console", "sh", "bash", "text"})
"""The languages that are run; text is what the block before it prints."""

MADE = "docs/reference/"
"""Pages that `docs/generate.py` makes, and `test_docs.py` compares with the code; what they show is parsed."""

MOST_UNRUN = 11
"""How many blocks may say that they cannot be run here. One more needs a reason that convinces a reviewer."""

BLOCKS = {document: blocks_of(document) for document in documents()}


def fate(block: Block) -> str:
    """Return how a block is proven: claimed, unrun, made, data or run; or why nobody knows."""
    if claim_of(block):
        return "claimed"
    if "not run" in block.notes:
        return "unrun"
    if block.document.startswith(MADE):
        return "made"
    if block.language in DATA:
        return "data"
    return "run" if block.language in RUN else "unknown"


def claim_of(block: Block) -> str:
    """Return the test that is said to run a block, which is also the one that compares its output; or nothing."""
    if "command" in block.notes:
        return "tests/test_docs.py::test_the_gate_runs_readmes_own_command"
    if block.language == "text" and not block.notes and block.number:
        before = BLOCKS[block.document][block.number - 1]
        return claim_of(before) if before.language in RUN else ""
    return block.notes.get("run by", "")


ALL = [block for blocks in BLOCKS.values() for block in blocks]
TO_RUN = [document for document, blocks in BLOCKS.items() if any(fate(block) == "run" for block in blocks)]


def test_every_block_has_a_fate() -> None:
    assert [f"{block.where}: {block.language or 'no language'}" for block in ALL if fate(block) == "unknown"] == []
    assert len(ALL) > 80


@pytest.mark.timeout(600)
@pytest.mark.parametrize("document", TO_RUN)
async def test_the_blocks_run_and_print_what_is_shown(
    document: str, tmp_path: Path, world: World, warm_python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "searxng")
    monkeypatch.setenv("GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL", world.searxng.url)
    monkeypatch.setenv("GROUNDWIRE_POLICY_ALLOWED_ORIGINS", ",".join(world.origins))
    async with staged(document, tmp_path, world, warm_python) as stage:
        monkeypatch.chdir(stage.folder)
        for block in BLOCKS[document]:
            if fate(block) == "run":
                await stage.run(block)


@pytest.mark.parametrize("block", [one for one in ALL if fate(one) == "claimed"], ids=lambda one: one.where)
def test_the_test_that_is_said_to_run_a_block_is_there(block: Block) -> None:
    check_claim(block, claim_of(block))


@pytest.mark.parametrize("block", [one for one in ALL if fate(one) == "data"], ids=lambda one: one.where)
def test_data_can_be_read(block: Block, tmp_path: Path) -> None:
    check_data(block, tmp_path)


def test_what_the_reference_shows_is_of_its_language(tmp_path: Path) -> None:
    for block in ALL:
        if fate(block) == "made" and block.language == "python":
            compiled(block)
        elif fate(block) == "made" and block.language != "text":
            check_data(block, tmp_path)


@pytest.mark.parametrize("block", [one for one in ALL if fate(one) == "unrun"], ids=lambda one: one.where)
def test_what_cannot_run_here_says_why_and_is_checked(block: Block) -> None:
    assert len(block.notes["not run"].split()) >= 3, f"{block.where}: say why it is not run"
    check_unrun(block)


def test_few_blocks_cannot_run() -> None:
    unrun = Counter(fate(block) for block in ALL)["unrun"]
    assert unrun <= MOST_UNRUN, [block.where for block in ALL if fate(block) == "unrun"]


def test_a_file_that_is_shown_is_used_by_a_later_command() -> None:
    for block in ALL:
        if "file" in block.notes:
            later = [one.text for one in BLOCKS[block.document][block.number + 1 :] if one.language == "console"]
            assert any(block.notes["file"] in text for text in later), block.where


def test_output_stands_below_what_prints_it() -> None:
    for before, block in pairwise(ALL):
        if fate(block) == "run" and block.language == "text":
            assert (before.document, fate(before)) == (block.document, "run"), block.where
            assert before.language in {"python", "sh", "bash"}, block.where
