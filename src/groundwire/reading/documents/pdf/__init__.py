"""PDF files: from what is painted where to the text in the order in which a person reads it."""
