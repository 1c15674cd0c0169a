"""A tree of elements as Markdown."""
