"""Citations in the format of Gemini's `groundingMetadata`."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Final
from urllib.parse import urlsplit

from groundwire.models import Source

__all__ = ["Grounding"]

_SENTENCE: Final = re.compile(r"(?<=[.!?。！？])\s+|\n")  # what begins another claim
_CLAIM_CHARS: Final = 2_000  # characters of a claim


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
        self._claim = (self._claim + text)[-_CLAIM_CHARS:]
        self._bytes += _size(text)

    def support(self, sources: Sequence[Source]) -> None:
        """Record that these pages support the last sentence."""
        indices = [self._chunks.setdefault(source.url, (len(self._chunks), source))[0] for source in sources]
        claim = self._claim.rstrip()
        if not claim.strip(" \t\n,.;:"):  # more pages for the same words
            indices_before = self._supports[-1]["groundingChunkIndices"] if self._supports else []
            indices_before += [index for index in indices if index not in indices_before]
            return
        end = self._bytes - _size(self._claim[len(claim) :])
        claim = _SENTENCE.split(claim)[-1].lstrip(" \t,.;:")
        segment = {"startIndex": end - _size(claim), "endIndex": end, "text": claim}
        self._supports.append({"segment": segment, "groundingChunkIndices": indices})
        self._claim = ""

    def metadata(self, texts: Sequence[str] | None, sources: Sequence[Source]) -> dict[str, Any]:
        """Return the metadata of a candidate; nothing without a search or a citation.

        Args:
            texts: The texts of its parts, in which the API counts; None in a stream, whose text counts as one.
            sources: The pages that were found, listed if none is cited.
        """
        if not self.queries and not self._supports:
            return {}
        pages = [source for _, source in self._chunks.values()] or sources
        web = [
            {"web": {"uri": page.url, "title": page.title, "domain": urlsplit(page.url).hostname or ""}}
            for page in pages
        ]
        return {
            "groundingMetadata": {
                "webSearchQueries": self.queries,
                "groundingChunks": web,
                "groundingSupports": self._supports if texts is None else _by_part(self._supports, texts),
            }
        }


def _by_part(supports: Sequence[dict[str, Any]], texts: Sequence[str]) -> list[dict[str, Any]]:
    """Return supports whose positions are counted from the beginning of their part, as in the API."""
    ends = list(accumulate(map(_size, texts)))
    placed: list[dict[str, Any]] = []
    for support in supports:
        segment = support["segment"]
        index = bisect_left(ends, segment["endIndex"])
        begins = ends[index - 1] if index else 0
        moved = {"startIndex": max(segment["startIndex"], begins) - begins, "endIndex": segment["endIndex"] - begins}
        placed.append({**support, "segment": {**({"partIndex": index} if index else {}), **segment, **moved}})
    return placed


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
