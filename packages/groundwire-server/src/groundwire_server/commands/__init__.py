"""The commands of the operator: `groundwire serve`, `proxy`, `keys`, and `mcp --http`."""
