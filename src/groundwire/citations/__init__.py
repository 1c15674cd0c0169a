"""From the marks in an answer to its sources: asking for them, finding them, showing them, and checking them."""

from groundwire.citations.channels import CHANNELS, Channel, ChannelName
from groundwire.citations.fragments import finding_links, fragment_link, source_links
from groundwire.citations.hosted import MarkedAnswer, marked
from groundwire.citations.marks import Mark, MarkScanner, find_marks
from groundwire.citations.rendering import CitationStream, RenderedAnswer, render_answer

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
