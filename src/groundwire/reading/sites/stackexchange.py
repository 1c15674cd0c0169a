"""Stack Overflow and the other sites of Stack Exchange over their API (https://api.stackexchange.com/docs)."""

from __future__ import annotations

from html import unescape
from typing import Any, Final

from groundwire.providers.http_parsing import json_or_empty, number_or_none
from groundwire.reading.sites.parts import SitePart, heading, html, say
from groundwire.reading.sites.site import (
    NotAvailable,
    PageAddress,
    SiteContent,
    SiteRate,
    SiteRequest,
    SiteSpec,
    Steps,
    day,
    need,
    route,
    rows,
    text,
)
from groundwire.transport import Response

__all__ = ["STACK_EXCHANGE"]

_API: Final = "https://api.stackexchange.com/2.3"
_MOST: Final = 30  # answers


def question(page: PageAddress) -> Steps:
    """Read a question with its answers."""
    return (yield from _question(page, page["id"]))


def answer(page: PageAddress) -> Steps:
    """Read the question that an answer belongs to."""
    (found,) = yield (SiteRequest(url=f"{page.api}/answers/{page['id']}", params={"site": _site(page)}),)
    return (yield from _question(page, str(need(_first(found), "question_id", kind=int))))


def _question(page: PageAddress, number: str) -> Steps:
    params = {"site": _site(page), "filter": "withbody"}
    best = {**params, "order": "desc", "sort": "votes", "pagesize": str(_MOST)}
    asked, answered = yield (
        SiteRequest(url=f"{page.api}/questions/{number}", params=params),
        SiteRequest(url=f"{page.api}/questions/{number}/answers", params=best, optional="answers"),
    )
    found = _first(asked)
    title = unescape(need(found, "title"))
    answers = rows(answered, "items") if answered is not None else []
    answers.sort(key=lambda row: (row.get("is_accepted") is not True, -(number_or_none(row.get("score")) or 0)))
    count = found.get("answer_count")
    parts = [
        heading(1, title),
        say(
            f"asked by {_who(found)} on {day(found.get('creation_date'))}",
            f"score {text(found, 'score')}",
            f"{count} answers" if isinstance(count, int) else "",
            f"tags: {', '.join(map(str, found.get('tags') or ()))}",
            f"closed: {text(found, 'closed_reason')}" if found.get("closed_reason") else "",
        ),
        html(need(found, "body"), below=1),
    ]
    for row in answers:
        parts += _answer(row)
    shown = f"the best {len(answers)} of {count} answers are read"
    missing = [shown] if isinstance(count, int) and answered is not None and count > len(answers) else []
    return SiteContent(
        title=title,
        url=text(found, "link"),
        published=day(found.get("creation_date")),
        parts=parts,
        missing=missing,
        warnings=("comments are not part of the text",),
    )


def _answer(row: dict[str, Any]) -> list[SitePart]:
    kind = "Accepted answer" if row.get("is_accepted") is True else "Answer"
    edited = day(row.get("last_edit_date"))
    return [
        heading(2, f"{kind} by {_who(row)}"),
        say(f"score {text(row, 'score')}", day(row.get("creation_date")), f"edited {edited}" if edited else ""),
        html(need(row, "body"), below=2),
    ]


def _who(row: dict[str, Any]) -> str:
    return unescape(text(row, "owner", "display_name")) or "a deleted account"


def _first(answered: Any) -> dict[str, Any]:
    found = rows(answered, "items")
    if not found:
        raise NotAvailable("the API has no such question")
    return found[0]


def _site(page: PageAddress) -> str:
    return page.url.host.removeprefix("www.")


def refusal(reply: Response) -> str:
    """Return the words of a throttle violation, which comes with status 400."""
    said = json_or_empty(reply) if reply.status == 400 else {}
    return text(said, "error_message")[:200] if text(said, "error_name") == "throttle_violation" else ""


def pause(reply: Response) -> float:
    """Return the seconds of `backoff`; an hour when nothing is left of the day's quota."""
    said = json_or_empty(reply)
    return 3_600.0 if said.get("quota_remaining") == 0 else number_or_none(said.get("backoff")) or 0.0


_HOSTS: Final = (
    *("stackoverflow.com", "*.stackoverflow.com", "*.stackexchange.com", "serverfault.com", "superuser.com"),
    *("askubuntu.com", "mathoverflow.net", "stackapps.com"),
)
STACK_EXCHANGE: Final = SiteSpec(
    name="stackexchange",
    title="Stack Exchange",
    hosts=dict.fromkeys(_HOSTS, _API),
    elsewhere="{origin}/2.3",
    rate=SiteRate(300, 86_400.0, "https://api.stackexchange.com/docs/throttle"),
    routes=(
        route("/questions/{id}", question, id="[0-9]{1,12}"),
        route("/questions/{id}/{rest}", question, id="[0-9]{1,12}", rest="[^/]{1,500}(?:/[0-9]{1,12})?"),
        route("/q/{id}", question, id="[0-9]{1,12}"),
        route("/q/{id}/{user}", question, id="[0-9]{1,12}"),
        route("/a/{id}", answer, id="[0-9]{1,12}"),
        route("/a/{id}/{user}", answer, id="[0-9]{1,12}"),
    ),
    refusal=refusal,
    pause=pause,
)
