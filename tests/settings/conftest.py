from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from groundwire.settings import Settings, load


@dataclass
class Desk:
    """A working folder and a user's folder, both empty at first."""

    folder: Path
    user_folder: Path

    def write(self, *, project: str | bytes = "", user: str | bytes = "", dotenv: str | bytes = "") -> None:
        for path, text in (
            (self.folder / "groundwire.toml", project),
            (self.user_folder / "groundwire.toml", user),
            (self.folder / ".env", dotenv),
        ):
            if text:
                path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def load(self, environment: Mapping[str, str] | None = None, **arguments: Any) -> Settings:
        """Load; an argument `search_limit` is the key `search.limit`."""
        given = {name.replace("_", ".", 1): value for name, value in arguments.items()}
        return load(given, environment=environment or {}, folder=self.folder, user_folder=self.user_folder)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folders = tmp_path / "project", tmp_path / "user"
    for folder in folders:
        folder.mkdir()
    return Desk(*folders)
