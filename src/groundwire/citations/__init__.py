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
from groundwire.citations.text_fragments import finding_links, fragment_link, source_links

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
    "finding_links",
    "fragment_link",
    "marked",
    "render_answer",
    "source_links",
]
