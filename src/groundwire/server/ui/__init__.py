"""The web page of the gateway: searching, reading, and what the providers, sessions and the archive are like.

It is made on the server and works without a script. What comes from the web is shown as inert text.
"""

from __future__ import annotations

from groundwire.server.ui.login_sessions import KeyVerifier, Visitor
from groundwire.server.ui.views import ui_routes

__all__ = ["KeyVerifier", "Visitor", "ui_routes"]
