"""What single documents need before their blocks run: files of their reader, a session of before, other ports."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from world import World


def _nothing(folder: Path, world: World) -> None:
    """Prepare nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """What one document needs."""

    prepare: Callable[[Path, World], None] = _nothing
    """Writes files into the folder in which its commands run."""
    replaced: Mapping[str, str] = field(default_factory=dict)
    """What stands for something else in its commands and their output."""
    ports: tuple[int, ...] = ()
    """The ports that it names, for which free ones are taken here."""
    bare: bool = False
    """Whether its reader has set nothing, not even the search service of the miniature web."""


def _an_answer(folder: Path, world: World) -> None:
    (folder / "answer.md").write_text("The tower is 330 metres tall [1].\n")
    page = {"number": 1, "url": "https://example.org/", "content": "The tower is 330 metres tall."}
    (folder / "sources.json").write_text(json.dumps([page]))


def _an_agent(folder: Path, world: World) -> None:
    (folder / "my_agent.py").write_text(
        "import groundwire\nprint(groundwire.search('reciprocal rank fusion').results[0].title)\n"
    )


_A_GATEWAY = Preparation(replaced={"groundwire serve": "groundwire serve --port 8780"}, ports=(8780,))

PREPARATIONS: Mapping[str, Preparation] = MappingProxyType(
    {
        "docs/tutorial.md": Preparation(
            replaced={"demo --serve": "demo --serve --port 8800"}, ports=tuple(range(8800, 8805)), bare=True
        ),
        "docs/guides/citations.md": Preparation(prepare=_an_answer),
        "docs/guides/gateway.md": _A_GATEWAY,
        "docs/guides/web-page.md": _A_GATEWAY,
        "docs/guides/mcp.md": Preparation(ports=(8765,)),
        "docs/guides/pages.md": Preparation(
            replaced={"URL": "{page}"},
        ),
        "docs/guides/proxy.md": Preparation(
            replaced={"proxy --upstream": "proxy --port 8790 --upstream"}, ports=(8790,)
        ),
        "docs/guides/record-and-replay.md": Preparation(prepare=_an_agent),
    }
)
"""By document."""
