"""Adapters for agent frameworks and hosts, one module each over `groundwire.tools`.

    from groundwire.integrations.strands import web_tools

    agent = Agent(tools=web_tools())

Each framework's module has `web_tools`, which returns that framework's own tool objects. Importing a module whose
framework is missing or too old raises an ImportError that names the package to install.
"""

from __future__ import annotations

__all__: list[str] = []
