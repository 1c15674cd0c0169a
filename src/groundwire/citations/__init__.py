"""From the marks in an answer to its sources: finding them, and showing them on a channel."""

from groundwire.citations.channels import CHANNELS, Channel, ChannelName
from groundwire.citations.marks import Mark, MarkScanner, find_marks
from groundwire.citations.rendering import CitationStream, RenderedAnswer, render_answer

__all__ = [
    "CHANNELS",
    "Channel",
    "ChannelName",
    "CitationStream",
    "Mark",
    "MarkScanner",
    "RenderedAnswer",
    "find_marks",
    "render_answer",
]
