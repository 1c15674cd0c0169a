"""Conversion of pages from bytes to Markdown."""
