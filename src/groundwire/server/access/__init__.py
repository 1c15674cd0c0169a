"""Who may use the gateway, and how much: API keys, the tenants who hold them, and the gate in front of everything.

An application stands behind `gate_of(app, settings, store)` and asks `tenant_of(scope)` whose a request is.
"""

from __future__ import annotations

from groundwire.server.access.key_file import KeyFile, key_file_of
from groundwire.server.access.middleware import Access, check_listening, gate_of
from groundwire.server.access.tenant import Tenant, tenant_of

__all__ = ["Access", "KeyFile", "Tenant", "check_listening", "gate_of", "key_file_of", "tenant_of"]
