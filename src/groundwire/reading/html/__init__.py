"""HTML as a tree: parsing, limits, math and form semantics."""
