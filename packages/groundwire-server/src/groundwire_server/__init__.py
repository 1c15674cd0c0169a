"""The HTTP server of Groundwire: REST API, web page, MCP over HTTP, and the proxy in front of model servers."""
