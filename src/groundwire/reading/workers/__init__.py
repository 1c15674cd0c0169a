"""Worker processes that convert heavy pages."""
