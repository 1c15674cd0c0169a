"""The full-text archive of pages and results."""
