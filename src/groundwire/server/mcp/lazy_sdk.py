"""Lazy loading of the SDK: only what a server needs.

`import mcp` loads the SDK's clients with their HTTP library and its server frameworks; none of them is needed to serve
one client on standard input, which would have to wait.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec

__all__ = ["load_server_only"]

_PACKAGES = ("mcp", "mcp.server")
_NEEDED = ("mcp.server.lowlevel.server", "mcp.server.stdio")


def load_server_only() -> None:
    """Load the SDK's low-level server without its package's other imports.

    Only for a process that is a server and nothing else: `mcp` then lacks its public names. If the SDK is already
    loaded, or cannot be loaded this way, nothing changes, and the next import loads all of it.
    """
    if any(name.partition(".")[0] == "mcp" for name in sys.modules):
        return
    try:
        for name in _PACKAGES:
            spec = find_spec(name)
            if spec is None:
                raise ImportError(name)
            sys.modules[name] = module_from_spec(spec)
        for name in _NEEDED:
            __import__(name)
    except (ImportError, AttributeError):
        for name in [name for name in sys.modules if name.partition(".")[0] == "mcp"]:
            del sys.modules[name]
