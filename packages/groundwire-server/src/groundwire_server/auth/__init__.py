"""Access control of a server: API keys, the tenants that hold them, and the middleware that checks them.

`Access` wraps an application and checks each request before it is passed on:

    keys = KeyFile(key_file_of(settings))
    check_listening(settings, keys)                       # ConfigurationError if it may not listen so
    checked = Authenticator(keys, must=needs_key(settings.server), failures=Failures(web.store))
    access = Access(application, settings.server, checked, web.store)
    ...
    await access.aclose()

Within the application a request's scope says whose it is, and what that allows is applied to a view of the `Web`:

    tenant = tenant_of(scope)                             # None on loopback without keys
    if tenant is not None:
        web = tenant.narrow(web)                          # its providers, its domains, its day's budget
        name = tenant.session(name)                       # no other tenant's session has this name
    view = web.session(name)

`tenant.narrow` is cheap, and made for each request; the day's budget is counted in the store of the `Web`. A call that
the day does not allow any more raises `BudgetExceeded` with `retry_after`. Data of all tenants (metrics, score
cards, the archive) are for `tenant.operator`. Whatever the application remembers of a client between requests it should
remember by `tenant.id`.
"""

from __future__ import annotations

from groundwire_server.auth.authentication import Authenticator, Pages, Tenant, tenant_of
from groundwire_server.auth.keys import KeyFile, key_file_of
from groundwire_server.auth.middleware import CHANGEABLE, Access, check_listening, needs_key
from groundwire_server.auth.rate_limits import Failures

__all__ = [
    "CHANGEABLE",
    "Access",
    "Authenticator",
    "Failures",
    "KeyFile",
    "Pages",
    "Tenant",
    "check_listening",
    "key_file_of",
    "needs_key",
    "tenant_of",
]
