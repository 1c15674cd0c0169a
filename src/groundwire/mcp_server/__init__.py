"""The server of the Model Context Protocol (https://modelcontextprotocol.io), and its installation in clients."""
