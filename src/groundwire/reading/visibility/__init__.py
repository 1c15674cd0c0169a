"""Detection of elements that are visible to a reader."""
