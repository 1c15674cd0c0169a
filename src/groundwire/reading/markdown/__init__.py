"""Serialization of an element tree to Markdown."""
