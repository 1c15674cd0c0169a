"""How well answers are checked against the pages they cite."""
