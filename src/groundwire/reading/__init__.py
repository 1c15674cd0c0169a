"""From the bytes of a page to the Markdown that an agent reads."""
