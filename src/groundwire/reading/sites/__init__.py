"""Readers for well-known sites, through official APIs, feeds and raw files instead of web pages; one file per site."""
