"""The guides to hosts and frameworks: their code runs, and they name what there is."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from frameworks.frameworks import MODULES
from groundwire.integrations.hosts import fallback_chain
from world import World

ROOT = Path(__file__).resolve().parents[2]
GUIDES = {name: (ROOT / "docs" / "guides" / f"{name}.md").read_text() for name in ("frameworks", "hosts")}
BLOCKS = [
    (name, number, block)
    for name, text in GUIDES.items()
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    if "from agents" not in block  # that one is an example, and runs with the examples
]


@pytest.mark.parametrize(("name", "number", "block"), BLOCKS, ids=[f"{name}-{number}" for name, number, _ in BLOCKS])
def test_their_python_runs(
    name: str,
    number: int,
    block: str,
    surroundings: World,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "searxng")
    try:
        exec(compile(block, f"{name}.md block {number}", "exec"), {})
    finally:
        if "fallback_chain" in block:
            fallback_chain.shared_chain().close()
            fallback_chain.shared_chain.cache_clear()
    assert capsys.readouterr().out


def test_every_framework_is_in_the_guide_with_a_module_and_an_example() -> None:
    rows = dict(re.findall(r"\| `groundwire\[([\w-]+)\]` \| `(\w+)` \|", GUIDES["frameworks"]))
    assert set(rows) == set(MODULES)
    for extra, module in rows.items():
        assert find_spec(f"groundwire.integrations.{module}")
        assert any(f"groundwire[{extra}]" in path.read_text() for path in (ROOT / "examples").glob("*.py"))
