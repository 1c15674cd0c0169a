"""Citations: requesting them, finding the markers in an answer, rendering the sources, and verifying them."""

from groundwire.citations.marker_parser import Mark, MarkScanner, find_marks
from groundwire.citations.rendering import (
    CHANNELS,
    Channel,
    ChannelName,
    CitationStream,
    MarkedAnswer,
    RenderedAnswer,
    marked,
    render_answer,
)

__all__ = [
    "CHANNELS",
    "Channel",
    "ChannelName",
    "CitationStream",
    "Mark",
    "MarkScanner",
    "MarkedAnswer",
    "RenderedAnswer",
    "find_marks",
    "marked",
    "render_answer",
]
