"""Title, dates and embedded structured data of a page."""
