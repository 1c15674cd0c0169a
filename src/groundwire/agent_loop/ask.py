"""Question answering: search, read, answer with citations, and verify every sentence against the pages it cites."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, cast

from groundwire.agent_loop.citation_ledger import CitationLedger
from groundwire.agent_loop.run import CallModel, run_tools
from groundwire.agent_loop.types import LoopEvent
from groundwire.citations.verify import CitedPage, Report, cited_numbers, verify_off_loop
from groundwire.deadline import Deadline
from groundwire.errors import ConfigurationError, GroundwireError, InvalidRequest, PermissionDenied, ProviderError
from groundwire.models import Page, Source
from groundwire.models.validators import check_text
from groundwire.tools.definitions import CITING, UNTRUSTED
from groundwire.transport import Response
from groundwire.transport.clients import HttpClients
from groundwire.web import Web

__all__ = ["ChatModel", "CitedAnswer", "ask"]

_MAKERS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "openai_chat": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
        "anthropic": ("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
        "gemini": ("https://generativelanguage.googleapis.com", "GEMINI_API_KEY"),
    }
)
_SYSTEM: Final = (
    "Answer the question in a few sentences, from pages that you found with web_search and read with open_page. "
    f"Always search before you answer. {CITING} If the pages do not answer it, say so. {UNTRUSTED}"
)
_OUTPUT: Final = 1_500  # tokens of an answer; Anthropic's API requires a number
_PAGES, _TOKENS = 3, 400  # pages read for an extract, and tokens of each
_QUOTES: Final = 3  # sentences of an extract
_SHORTEST, _LONGEST = 40, 400  # characters of a sentence that may be quoted
_NO_PROSE: Final = ("#", "|", "-", ">", "```", "*", "1.")
_WORD: Final = re.compile(r"\w+")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?。！？])\s+")
_PROBE: Final = 2.0  # seconds to wait for a local server to list its models
_PLAIN: Final = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)|[*`]|^#+ |\[\^?\d+\]", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedAnswer:
    """An answer to a question."""

    question: str
    """The question."""
    text: str
    """The answer in Markdown, with markers such as `[1]`."""
    sources: tuple[Source, ...]
    """The pages cited in the text."""
    report: Report
    """The verification of each sentence against the pages it cites."""
    model: str
    """The model that wrote the answer; empty when passages were quoted."""
    searches: int
    """The searches the session made for it."""
    cost_usd: float
    """Cost of searching and reading, in US dollars, without the price of the model."""
    warnings: tuple[str, ...] = ()
    """Warnings for the reader."""


class ChatModel:
    """A model behind an HTTP API, callable as `run_tools` expects.

    Args:
        clients: The HTTP clients.
        api: `openai_chat`, `anthropic` or `gemini`.
        base_url: The API's address.
        model: The model's name.
        key: The API key; empty for a local server.
        deadline: The deadline of the whole answer.
    """

    def __init__(
        self, clients: HttpClients, *, api: str, base_url: str, model: str, key: str = "", deadline: Deadline
    ) -> None:
        self.api = api
        self.model = model
        self._base = base_url.rstrip("/")
        self._transport = clients.operator(self._base)
        self._key = key
        self._deadline = deadline

    async def __call__(self, body: Mapping[str, Any]) -> Any:
        """Send a request and return the JSON of its answer.

        Raises:
            ProviderError: the model cannot be reached or rejects the request; the message says why.
        """
        path, headers = {
            "openai_chat": ("/chat/completions", {"Authorization": f"Bearer {self._key}"} if self._key else {}),
            "anthropic": ("/v1/messages", {"x-api-key": self._key, "anthropic-version": "2023-06-01"}),
            "gemini": (f"/v1beta/models/{self.model}:generateContent", {"x-goog-api-key": self._key}),
        }[self.api]
        sent = {key: value for key, value in body.items() if self.api != "gemini" or key != "model"}
        reply = await self._transport.call(
            "model", "POST", self._base + path, deadline=self._deadline, headers=headers, json_body=sent
        )
        return _json(reply, self._base)

    def request(self, question: str) -> dict[str, Any]:
        """Return the first request of a conversation."""
        if self.api == "gemini":
            return {
                "model": self.model,
                "systemInstruction": {"parts": [{"text": _SYSTEM}]},
                "contents": [{"role": "user", "parts": [{"text": question}]}],
            }
        user = {"role": "user", "content": question}
        if self.api == "anthropic":
            return {"model": self.model, "max_tokens": _OUTPUT, "system": _SYSTEM, "messages": [user]}
        return {"model": self.model, "messages": [{"role": "system", "content": _SYSTEM}, user]}


def _json(reply: Response, base: str) -> Any:
    try:
        said = json.loads(reply.body)
    except ValueError:
        said = None
    if reply.status == 200 and isinstance(said, dict):
        return said
    error = said.get("error") if isinstance(said, dict) else None
    why = error.get("message") if isinstance(error, dict) else error
    fix = "Check the key" if reply.status in {401, 403} else "Check answer.base_url and answer.model"
    why = str(why or "no reason given")[:300]
    raise ProviderError("model", f"{base} answered with HTTP {reply.status}: {why}", status=reply.status, fix=fix)


async def _find_model(web: Web, deadline: Deadline, name: object) -> ChatModel | None:
    """Return the model given by name or in the settings, else one offered by a local server, else None.

    Raises:
        ConfigurationError: the named model has neither a base URL nor a key, or the base URL is invalid.
    """
    chosen, clients = web.settings.answer, web.clients
    wanted = str(name or chosen.model)
    if wanted:
        base, variable = _MAKERS[chosen.api]
        secret = web.settings.secret(variable)
        if not chosen.base_url and secret is None:
            raise ConfigurationError(
                f"answer.model is {wanted!r}, and there is no key for it. Set {variable}, or answer.base_url to "
                "the address of another server."
            )
        key = secret.get_secret_value() if secret is not None else ""
        base = chosen.base_url or base
        try:
            return ChatModel(clients, api=chosen.api, base_url=base, model=wanted, key=key, deadline=deadline)
        except InvalidRequest as error:
            raise ConfigurationError(f"answer.base_url = {base!r}: {error.problem}. {error.fix}") from error
    for base in (chosen.base_url,) if chosen.base_url else chosen.local_servers:
        if listed := await _first_model(clients, base):
            return ChatModel(clients, api="openai_chat", base_url=base, model=listed, deadline=deadline)
    return None


async def _first_model(clients: HttpClients, base: str) -> str:
    """Return the first model that a server lists, or an empty string if it does not respond."""
    try:
        reply = await clients.operator(base).call(
            "model", "GET", f"{base.rstrip('/')}/models", deadline=Deadline.after(_PROBE)
        )
        listed = json.loads(reply.body)["data"]
        return str(listed[0]["id"])
    except (GroundwireError, ValueError, LookupError, TypeError):
        return ""


async def ask(
    question: str,
    *,
    web: Web,
    model: ChatModel | str | None = None,
    quote: bool = False,
    on_event: Callable[[LoopEvent], None] | None = None,
    timeout: float | None = None,
) -> CitedAnswer:
    """Answer a question from the web, with verified citations.

    Args:
        question: The question.
        web: Does the searching and reading; its session is charged. The caller closes it.
        model: The model, or its name, which overrides the setting `answer.model`. Defaults to the model of the
            settings, else to one offered by a local server.
        quote: Use no model and quote the best passages, as when no model is available.
        on_event: Called with every tool call that the model makes.
        timeout: Seconds for the whole answer; by default the setting `answer.timeout`.

    Raises:
        InvalidRequest: the question is empty or too long. AllProvidersFailed: no provider could search.
        ConfigurationError: there is no key for the model. ProviderError: it cannot be reached, or refuses.
        PermissionDenied: storing is not permitted, so nothing could be verified. DeadlineExceeded, Closed.
    """
    words = check_text(question)
    if not web.keeps:
        raise PermissionDenied("Verifying an answer needs its session's pages, and this server stores none.")
    deadline = Deadline.after(web.settings.answer.timeout if timeout is None else timeout)
    before = await web.usage()
    writer = model if isinstance(model, ChatModel) else None
    if writer is None and not quote:
        writer = await _find_model(web, deadline, model)
    if writer is None:
        text, warnings = await _extract(words, web, deadline)
        pages = await web.sources()
    else:
        ledger = CitationLedger()
        for page in await web.sources(content=False):  # a page already known to the session keeps its number
            ledger.number(page.url, page.title)
        run = await run_tools(
            writer.request(words),
            cast("CallModel", writer),
            web=web,
            api=writer.api,
            mode="local",
            timeout=deadline.remaining(),
            ledger=ledger,
            on_event=on_event,
        )
        text, warnings = run.answer.text, () if run.stop == "answered" else (run.reason,)
        shown = {page.url: page for page in await web.sources()}
        pages = tuple(
            replace(shown[source.url], number=source.citation_id, title=source.title)
            if source.url in shown
            else CitedPage(number=source.citation_id, url=source.url, title=source.title)
            for source in run.sources
        )
    cited = await asyncio.to_thread(cited_numbers, text)  # a model may write very much
    used = tuple(page for page in pages if page.number in cited)
    after = await web.usage()
    return CitedAnswer(
        question=words,
        text=text,
        sources=tuple(Source(citation_id=page.number, title=page.title, url=page.url) for page in used),
        report=await verify_off_loop(web.workers, text, used),
        model="" if writer is None else writer.model,
        searches=int(after["searches"] - before["searches"]),
        cost_usd=after["cost_usd"] - before["cost_usd"],
        warnings=warnings,
    )


async def _extract(question: str, web: Web, deadline: Deadline) -> tuple[str, tuple[str, ...]]:
    """Return the passages that answer a question best, and the warnings of the search."""
    found = await web.search(question, timeout=deadline.remaining())
    urls = [row.url for row in found.results[:_PAGES]]
    read: tuple[Page, ...] = ()
    if urls:
        room, left = _TOKENS * len(urls), deadline.remaining()
        read = await web.open_pages(urls, query=question, max_tokens=room, timeout=left) if left > 0 else ()
    passages = sorted(
        (
            (excerpt.score, page, text)
            for page in read
            for excerpt in page.excerpts
            if (text := _quote(excerpt.text, question))
        ),
        key=lambda row: -row[0],
    )
    best: dict[str, tuple[Page, str]] = {}
    for _, page, text in passages:
        best.setdefault(page.url, (page, text))
    lines = [f"{text} [{page.citation_id}]" for page, text in list(best.values())[:_QUOTES]]
    if not lines:
        lines = [f"{_plain(row.snippet)} [{row.citation_id}]" for row in found.results[:_QUOTES] if row.snippet]
    return "\n\n".join(lines) or "Nothing was found that answers this.", found.warnings


def _quote(text: str, question: str) -> str:
    """Return the sentence of a passage with most words of the question, as plain text; empty if there is none."""
    wanted = {word for word in _WORD.findall(question.casefold()) if len(word) > 2}
    sentences = [
        _plain(sentence)
        for block in text.split("\n\n")
        if not block.lstrip().startswith(_NO_PROSE)
        for sentence in _SENTENCE_END.split(block)
    ]
    whole = [one for one in sentences if _SHORTEST <= len(one) <= _LONGEST]
    return max(whole, key=lambda one: len(wanted & set(_WORD.findall(one.casefold()))), default="")


def _plain(markdown: str) -> str:
    """Return Markdown as one line of plain text."""
    return " ".join(_PLAIN.sub(r"\1", markdown).split())
