"""PDF files: from painted glyphs to text in reading order."""
