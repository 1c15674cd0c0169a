"""A wheel and an sdist, and their content."""

from __future__ import annotations

import tarfile
import zipfile
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from pathlib import Path

from packaging.requirements import Requirement


@dataclass(frozen=True)
class Distributions:
    """A wheel and an sdist."""

    wheel: Path
    sdist: Path

    @property
    def stem(self) -> str:
        """The name and the version, as in the names of files."""
        return "-".join(self.wheel.name.split("-")[:2])

    def in_wheel(self) -> dict[str, bytes]:
        """The files of the wheel."""
        with zipfile.ZipFile(self.wheel) as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    def in_sdist(self) -> dict[str, bytes]:
        """The files of the sdist, without the folder that holds them."""
        with tarfile.open(self.sdist) as archive:
            files = {one.name.partition("/")[2]: archive.extractfile(one) for one in archive if one.isfile()}
            return {name: file.read() for name, file in files.items() if file}

    @property
    def metadata(self) -> Message:
        """The metadata of the wheel."""
        (text,) = (text for name, text in self.in_wheel().items() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(text)

    def needs(self, *, extras: bool) -> frozenset[str]:
        """The names of the packages that the wheel needs here: those of its extras, or those without any."""
        lines = [Requirement(line) for line in self.metadata.get_all("Requires-Dist", [])]
        chosen = [one for one in lines if ("extra ==" in str(one.marker)) is extras]
        return frozenset(one.name.lower() for one in chosen if extras or one.marker is None or one.marker.evaluate())

    @property
    def epoch(self) -> int:
        """The timestamp of all files in the sdist."""
        with tarfile.open(self.sdist) as archive:
            (moment,) = {int(one.mtime) for one in archive if one.isfile()}
        return moment


def found(folder: Path, name: str = "groundwire") -> Distributions:
    """Return the one wheel and the one sdist of a distribution in a folder."""
    (wheel,), (sdist,) = folder.glob(f"{name}-*.whl"), folder.glob(f"{name}-*.tar.gz")
    return Distributions(wheel, sdist)
