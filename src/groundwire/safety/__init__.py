"""Fetch safety: a strict URL parser, address and port tables, domain lists, and the guard that uses them."""
