"""The MCP server over standard input and output, and its handlers, which the HTTP server mounts, too."""
