"""Pages as a browser shows them: a local Chromium behind a proxy that vets every connection, and Crawl4AI behind it."""
