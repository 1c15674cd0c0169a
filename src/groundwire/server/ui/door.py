"""The door: signing in and out."""

from __future__ import annotations

import math
from urllib.parse import urlsplit

from groundwire.server.ui.html import Html, Redirect
from groundwire.server.ui.room import Visit
from groundwire.server.ui.signing import SignIns, local_path

__all__ = ["sign_in", "sign_out"]


async def sign_in(visit: Visit) -> Html | Redirect:
    """Ask for a key, or let in who gives a good one."""
    sign_ins = _sign_ins(visit)
    request = visit.request
    if request.method != "POST":
        after = local_path(visit.asked.get("next"))
        if await sign_ins.visitor(request) is not None:
            return Redirect(to=after)
        # Coming from another site the browser keeps its cookie back; one step within this one, and it is there.
        came_from_elsewhere = request.headers.get("sec-fetch-site") in {"cross-site", "same-site"}
        return _form(after, may_be_in=came_from_elsewhere)
    after = local_path(visit.form.get("next", ""))
    wait = await sign_ins.wait_for(request)
    if wait:
        seconds = math.ceil(wait)
        page = _form(after, problem=f"Too many tries. Wait {seconds} s and try again.", status=429)
        return Html(template=page.template, values=page.values, status=429, headers=(("retry-after", str(seconds)),))
    secure = "https" in {request.url.scheme, urlsplit(request.headers.get("origin", "")).scheme}
    cookie = await sign_ins.sign_in(visit.form.get("key", "").strip(), secure=secure)
    if cookie is None:
        return _form(after, problem="This key is not known here, or was revoked.", status=403)
    return Redirect(to=after, headers=(("set-cookie", cookie),))


async def sign_out(visit: Visit) -> Redirect:
    """Forget the visitor. The browser was told to keep nothing of what it was shown."""
    cookie = await _sign_ins(visit).sign_out(visit.request)
    return Redirect(to="/sign-in", headers=(("set-cookie", cookie),))


def _sign_ins(visit: Visit) -> SignIns:
    if visit.desk.sign_ins is None:
        raise RuntimeError("There is no route to the door where nobody signs in.")
    return visit.desk.sign_ins


def _form(after: str, *, problem: str = "", may_be_in: bool = False, status: int = 200) -> Html:
    values = {"after": after, "problem": problem, "may_be_in": may_be_in}
    return Html(template="sign_in.html", values=values, status=status)
