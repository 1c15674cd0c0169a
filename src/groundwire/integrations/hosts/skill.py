"""An Agent Skill: a folder with SKILL.md, from which an agent with a shell learns to use the command line.

The format is that of agentskills.io: front matter with `name`, which is the folder's name, and a `description` of at
most 1,024 characters.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from groundwire.integrations.hosts.extension import write_files

__all__ = ["export_skill"]


def export_skill(folder: Path, *, force: bool = False) -> Path:
    """Write `groundwire/SKILL.md` into a folder of skills, such as `.claude/skills`.

    Args:
        folder: The folder of skills; it is made if it is not there.
        force: Whether a file that says something else may be written over.

    Returns:
        The file.

    Raises:
        ConfigurationError: it exists with different content. OSError: it cannot be written.
    """
    path = folder / "groundwire" / "SKILL.md"
    text = files("groundwire.integrations.hosts").joinpath("skill.md").read_text(encoding="utf-8")
    write_files({path: text}, force=force)
    return path
