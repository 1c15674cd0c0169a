"""Servers over a `Web`: for now the proxy that gives any model the web. They need the extra `server`."""
