"""Browser rendering: a local Chromium behind a proxy that vets every connection, and Crawl4AI behind the same proxy."""
