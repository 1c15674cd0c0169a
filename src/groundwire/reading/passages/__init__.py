"""A page as a handle: its pieces, the passages that answer a question, what is found in it, its sections."""
