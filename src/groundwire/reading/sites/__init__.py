"""Readers for well-known sites: their official APIs, feeds and raw files in place of their web pages, a file each."""
