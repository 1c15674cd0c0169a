"""Title, dates and structured data of a page."""
