"""The OpenAI-compatible endpoint: chat completions and responses that can search the web."""
