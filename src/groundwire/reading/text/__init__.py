"""Text that a model may read: sanitized, and truncated at a boundary."""
