"""Citations in the format of Gemini's `groundingMetadata`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from groundwire.models import Source

__all__ = ["Grounding"]

_SENTENCE: Final = re.compile(r"(?<=[.!?。！？])\s+|\n")  # what begins another claim
_LONGEST: Final = 2_000  # characters of a claim


class Grounding:
    """Collects the text of a response and the pages that it cites."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        """The queries."""
        self._claim = ""  # the text since the last citation
        self._bytes = 0  # of all text, in UTF-8
        self._supports: list[dict[str, Any]] = []
        self._chunks: dict[str, tuple[int, Source]] = {}

    def say(self, text: str) -> None:
        """Add text."""
        self._claim = (self._claim + text)[-_LONGEST:]
        self._bytes += _size(text)

    def support(self, sources: Sequence[Source]) -> None:
        """Record that these pages support the last sentence."""
        indices = [self._chunks.setdefault(one.url, (len(self._chunks), one))[0] for one in sources]
        claim = self._claim.rstrip()
        if not claim.strip(" \t\n,.;:"):  # more pages for the same words
            known = self._supports[-1]["groundingChunkIndices"] if self._supports else []
            known += [one for one in indices if one not in known]
            return
        end = self._bytes - _size(self._claim[len(claim) :])
        claim = _SENTENCE.split(claim)[-1].lstrip(" \t,.;:")
        segment = {"startIndex": end - _size(claim), "endIndex": end, "text": claim}
        self._supports.append({"segment": segment, "groundingChunkIndices": indices})
        self._claim = ""

    def metadata(self, texts: Sequence[str] | None, found: Sequence[Source]) -> dict[str, Any]:
        """Return the metadata of a candidate; nothing without a search or a citation.

        Args:
            texts: The texts of its parts, in which the API counts; None in a stream, whose text counts as one.
            found: The pages that were found, listed if none is cited.
        """
        if not self.queries and not self._supports:
            return {}
        pages = [one for _, one in self._chunks.values()] or found
        web = [{"uri": one.url, "title": one.title, "domain": urlsplit(one.url).hostname or ""} for one in pages]
        return {
            "groundingMetadata": {
                "webSearchQueries": self.queries,
                "groundingChunks": [{"web": one} for one in web],
                "groundingSupports": self._supports
                if texts is None
                else list(map(self._in_part(texts), self._supports)),
            }
        }

    @staticmethod
    def _in_part(texts: Sequence[str]) -> Any:
        ends: list[int] = []
        for text in texts:
            ends.append((ends[-1] if ends else 0) + _size(text))

        def placed(support: dict[str, Any]) -> dict[str, Any]:
            segment = support["segment"]
            index = next(number for number, end in enumerate(ends) if segment["endIndex"] <= end)
            begins = ends[index - 1] if index else 0
            start = max(segment["startIndex"], begins) - begins
            moved = {**segment, "startIndex": start, "endIndex": segment["endIndex"] - begins}
            return {**support, "segment": {"partIndex": index, **moved} if index else moved}

        return placed


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
