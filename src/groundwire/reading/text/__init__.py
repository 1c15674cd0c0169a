"""Text for models: sanitized, and truncated at boundaries."""
