"""Conversations across requests: their citation numbers, and runs suspended for a function of the client.

A client sends its history, possibly edited, and without the local calls. A marker in it is resolved from the words
before it, from response IDs, or from a header; an unresolved number is never reassigned.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from groundwire.agent_loop.citation_ledger import CitationLedger, marks_in
from groundwire.models import Source
from groundwire.storage import Store, StoreError
from groundwire.storage.base import AssignNumbers, Numbers
from groundwire.tools import ToolResult

__all__ = ["ConversationLedger", "Conversations", "Said", "StoredRun", "question_in", "said_in", "text_of"]

_LIFE: Final = 7 * 86_400.0  # seconds after which the store deletes the numbers of a conversation
_RUN_LIFE: Final = 86_400.0  # seconds that a client may take for its function
_MOST: Final = 24  # markers whose words are looked up, the last of a history first
_NEAR: Final = 200  # characters before a marker that identify it
_WORDS: Final = 6
_TELLING: Final = 3  # with fewer words than this, a marker is identified only together with the question
_YEARS: Final = 1_000  # numbers from which on one in brackets is probably a year
_LAST: Final = 1_000  # markers identified by their words; of earlier ones only the number counts
_PIECE: Final = 200_000  # characters of a text that are scanned without a pause
_AT_ONCE: Final = 20_000  # characters scanned without a thread, in a few milliseconds
_UNIQUE: Final = 16  # characters from which a call's ID is random rather than a counter
_WORD: Final = re.compile(r"\w+")
_BRACKETS: Final = re.compile(r"\[[\d\s,]*\]|【[^】]*】")


@dataclass(frozen=True, slots=True)
class Said:
    """A text of a conversation."""

    text: str
    """The text."""
    question: str = ""
    """The user's preceding message."""
    cited: Mapping[int, str] = field(default_factory=dict)
    """The URLs that annotations give for its markers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run that waits for the client."""

    id: str
    """Its name."""
    ledger: str
    """The ledger of its conversation."""
    added: list[Any]
    """What the run added: the model's turns, and the results of the local tools."""
    trailing: int
    """How many of them follow the last turn of the model."""
    used: Mapping[str, float]
    """The usage of its session."""


class ConversationLedger(CitationLedger):
    """The numbering of a conversation, in a store shared with its other requests.

    Args:
        store: The store of the numbers.
        key: The name of the register.
        id_: The name of the conversation.
        sources: The pages with their numbers.
        reserved: See `CitationLedger`.
        saved: Whether the store has all of these.
        from_text: Addresses among them that only web text has named.
    """

    def __init__(
        self,
        store: Store,
        key: str,
        id_: str,
        sources: Sequence[Source] = (),
        *,
        reserved: Sequence[int] = (),
        saved: bool = False,
        from_text: Iterable[str] = (),
    ) -> None:
        super().__init__(sources, reserved=reserved)
        self._from_text |= set(from_text)
        self.id = id_
        self.also: tuple[tuple[str, str], ...] = ()
        """Further keys under which it can be found, each with the URL of its marker; empty if that is unresolved."""
        self._store = store
        self._key = key
        self._saved = saved or not sources

    async def assign(self, results: Sequence[ToolResult]) -> None:
        """Number the pages of tool results; concurrent requests get different numbers."""
        pages = self.unnumbered(results)
        if not pages:
            return
        rows = [[url, title, 0, url in self._from_text] for url, title in pages.items()]
        with suppress(StoreError):
            numbers = await self._write(rows, tuple((_name(url),) for url in pages))
            for (url, title), number in zip(pages.items(), numbers, strict=True):
                self._add(number, url, title)

    async def save(self) -> None:
        """Write pending numbers to the store."""
        if not self._saved:
            await self._write([], ())

    async def _write(self, rows: list[list[Any]], groups: tuple[tuple[bytes, ...], ...]) -> tuple[int, ...]:
        known = () if self._saved else self.sources
        fixed = [[one.url, one.title, one.citation_id, one.url in self._from_text] for one in known]
        note = zlib.compress(json.dumps([*fixed, *rows]).encode(), 1)
        (answer,) = await self._store.batch((AssignNumbers(self._key, groups, note, _LIFE, self.last),))
        self._saved = True
        return answer.numbers if isinstance(answer, Numbers) else ()


class Conversations:
    """The stored conversations of one client.

    Args:
        store: The store.
        owner: Identifies the client; no other client finds them.
    """

    def __init__(self, store: Store, owner: str) -> None:
        self._store = store
        self._owner = owner

    async def ledger(
        self, said: Sequence[Said], *, name: str = "", keys: Sequence[str] = (), run: str = ""
    ) -> ConversationLedger:
        """Return the numbering of a conversation, or a new one.

        Args:
            said: Its texts, as currently sent by the client.
            name: The client's name for it.
            keys: IDs that it continues from, such as that of the last response.
            run: The ledger of a continued run.
        """
        contexts = await _off_loop(said)
        latest = list(dict.fromkeys(context for _, context in reversed(contexts) if context))[:_MOST]
        names = [*latest, *keys]
        found = dict(zip(names, await asyncio.gather(*map(self._noted, names)), strict=True))
        known: list[list[str]] = [[str(one[0]) for one in notes] for notes in found.values() if notes]
        common = [one for one in reversed(known[0]) if all(one in other for other in known)] if known else []
        fixed = run or (_digest("name", name) if name else "")
        sole = bool(fixed) or len(set(common)) == 1
        base = fixed or (common[0] if common else "")
        pages, from_text = await self._pages(base) if base else ({}, set[str]())
        told = (found.get(context, []) for number, context in contexts if number < _YEARS)
        lost = any(notes and not any(note[1] for note in notes) for notes in told)
        reserved, clash, fresh = set[int](), False, False
        for number, urls in _evidence(contexts, found, said).items():
            page = pages.get(number)
            if len(urls) == 1 and page is None:
                pages[number] = Source(citation_id=number, title="", url=next(iter(urls)))
                fresh = True
            elif page is None or (urls and page.url not in urls) or (len(urls) != 1 and (lost or not sole)):
                reserved.add(number)
                clash = clash or bool(urls)
        if not base or (clash and not sole):
            base, fresh = uuid4().hex, True
        made = ConversationLedger(
            self._store,
            self._key("ledger", base),
            base,
            [page for number, page in pages.items() if number not in reserved],
            reserved=tuple(reserved),
            saved=not fresh,
            from_text=from_text,
        )
        resolved = {context: page.url for number, context in contexts if (page := made.get(number))}
        made.also = tuple((one, resolved.get(one, "")) for one in names if all(base != note[0] for note in found[one]))
        return made

    async def remember(self, ledger: ConversationLedger, said: Sequence[Said], keys: Sequence[str] = ()) -> None:
        """Store the markers of an answer, so that its conversation can be found.

        Args:
            ledger: The numbering.
            said: The texts of the answer.
            keys: IDs from which the client may continue.
        """
        if not ledger.sources:
            return
        marks = [
            (context, source.url)
            for number, context in await _off_loop(said)
            if context and (source := ledger.get(number))
        ]
        rows = [*marks[-_MOST:], *ledger.also, *((key, "") for key in keys)]
        name = ledger.id.encode()
        with suppress(StoreError):
            await ledger.save()
            await self._store.batch(
                [
                    AssignNumbers(self._key("said", key), ((name,),), json.dumps([ledger.id, url]).encode(), _LIFE)
                    for key, url in dict.fromkeys(rows)
                ]
            )

    async def keep_run(self, run: StoredRun, calls: Sequence[Mapping[str, Any]], question: str, response: str) -> None:
        """Store a run for the request with the results of the client's functions.

        Args:
            run: The run.
            calls: The calls that it is waiting for, each with `id`, `name` and `arguments`.
            question: The user's last message.
            response: The ID of the response, from which a client may continue; empty for none.
        """
        value = {"ledger": run.ledger, "added": run.added, "trailing": run.trailing, "used": dict(run.used)}
        packed = zlib.compress(json.dumps(value).encode(), 1)
        note = json.dumps([run.id, _digest(question)]).encode()
        names = [_call_name(call, "") for call in calls]
        names += [_call_name({"id": call["id"]}, response) for call in calls] if response else []
        with suppress(StoreError):
            await self._store.set(self._key("run", run.id), packed, fresh=_RUN_LIFE)
            await self._store.batch(
                [AssignNumbers(self._key("said", name), ((run.id.encode(),),), note, _RUN_LIFE) for name in names]
            )

    async def run_of(self, call: Mapping[str, Any], question: str, response: str = "") -> StoredRun | None:
        """Return the run that is waiting for a call, or None.

        Args:
            call: The call as sent back by the client.
            question: The user's preceding message; empty if the history is truncated.
            response: The ID of the response with the call, if the client continues from it.
        """
        notes = await self._noted(_call_name({"id": call.get("id")} if response else call, response))
        same = [str(one[0]) for one in notes if response or one[1] == _digest(question)]
        every = list(dict.fromkeys(str(one[0]) for one in notes))
        if not same and (len(str(call.get("id") or "")) >= _UNIQUE or (not question and len(every) == 1)):
            same = every
        if not same:
            return None
        with suppress(StoreError):
            entry = await self._store.get(self._key("run", same[-1]))
            if entry is not None:
                return StoredRun(id=same[-1], **json.loads(zlib.decompress(entry.value)))
        return None

    async def _noted(self, name: str) -> list[list[Any]]:
        with suppress(StoreError):
            return [json.loads(note) for note in (await self._store.register(self._key("said", name))).notes]
        return []

    async def _pages(self, id_: str) -> tuple[dict[int, Source], set[str]]:
        """Return the pages of a ledger by number, and which addresses only web text has named."""
        made: dict[int, Source] = {}
        from_text: set[str] = set()
        with suppress(StoreError):
            register = await self._store.register(self._key("ledger", id_))
            for note in register.notes:
                for url, title, *more in json.loads(zlib.decompress(note)):
                    number = more[0] if more and more[0] else register.numbers.get(_name(url))
                    from_text |= {url} if more[1:] == [True] else set()
                    if number is not None:
                        made.setdefault(number, Source(citation_id=number, title=title, url=url))
        return made, from_text

    def _key(self, kind: str, name: str) -> str:
        return f"proxy:{self._owner}:{kind}:{name}"


def said_in(messages: Sequence[Any]) -> tuple[Said, ...]:
    """Return the texts of a conversation in any API's format."""
    made: list[Said] = []
    question = ""
    for message in messages:
        if not isinstance(message, Mapping):
            continue
        text = text_of(message)
        if message.get("role") == "user" and text:
            question = text
        elif text:
            made.append(Said(text, question if message.get("role") == "assistant" else "", dict(_cited(message))))
            continue
        if text:
            made.append(Said(text))
    return tuple(made)


def question_in(messages: Sequence[Any]) -> str:
    """Return the user's last message, or an empty string."""
    users = (one for one in reversed(messages) if isinstance(one, Mapping) and one.get("role") == "user")
    return next(filter(None, map(text_of, users)), "")


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message or an item in any API's format."""
    content = message.get("content", message.get("output", message.get("text")))
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return "\n".join(filter(None, (text_of(part) for part in parts if isinstance(part, Mapping))))


def _cited(message: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """Yield the numbers and URLs of annotations: of a message, or of its parts."""
    content = message.get("content")
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else [message]
    for part in parts:
        text = part.get("text", part.get("content"))
        notes = part.get("annotations")
        for note in notes if isinstance(notes, list) and isinstance(text, str) else ():
            about = note.get("url_citation", note) if isinstance(note, Mapping) else None
            if not isinstance(about, Mapping):
                continue
            start, end, url = about.get("start_index"), about.get("end_index"), about.get("url")
            if isinstance(start, int) and isinstance(end, int) and isinstance(url, str):
                numbers = [mark[2] for mark in marks_in(text[start:end])]
                if len(numbers) == 1 and len(numbers[0]) == 1:
                    yield numbers[0][0], url


async def _off_loop(said: Sequence[Said]) -> list[tuple[int, str]]:
    """Return what `_contexts` does; a long conversation is looked through by a thread."""
    long = sum(len(one.text) for one in said) > _AT_ONCE
    return await asyncio.to_thread(_contexts, said) if long else _contexts(said)


def _contexts(said: Sequence[Said]) -> list[tuple[int, str]]:
    """Return the markers of texts: their numbers, and what identifies each; empty if few words and no question do.

    Of the first of very many markers, only the numbers are returned, each once.
    """
    marks = [(one, at, number) for one in said for at, numbers in _marks(one.text) for number in numbers]
    early = dict.fromkeys((number, "") for _, _, number in marks[:-_LAST])
    late = marks[-_LAST:]
    questions = {text: " ".join(text.split()) for text in {one.question for one, _, _ in late}}
    return [*early, *((number, _context(one.text, at, number, questions[one.question])) for one, at, number in late)]


def _marks(text: str) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the position and the numbers of each marker in a text; a very long text is scanned in pieces."""
    for begin in range(0, len(text), _PIECE):
        for start, _, numbers in marks_in(text[begin : begin + _PIECE] if len(text) > _PIECE else text):
            yield begin + start, numbers


def _context(text: str, start: int, number: int, question: str) -> str:
    before = _BRACKETS.sub(" ", text[max(0, start - _NEAR) : start])
    words = _WORD.findall(before.casefold())[-_WORDS:]
    if len(words) < _TELLING:
        return _digest(" ".join(words), str(number), question) if question else ""
    return _digest(" ".join(words), str(number), "")


def _evidence(
    contexts: Sequence[tuple[int, str]], found: Mapping[str, Sequence[Sequence[Any]]], said: Sequence[Said]
) -> dict[int, set[str]]:
    """Return the URLs of a conversation's markers by number, as far as known."""
    made: dict[int, set[str]] = {number: set() for number, _ in contexts}
    for number, context in contexts:
        made[number] |= {str(one[1]) for one in found.get(context, ()) if one[1]}
    for one in said:
        for number, url in one.cited.items():
            made[number] = {url}
    return made


def _call_name(call: Mapping[str, Any], response: str) -> str:
    given = call.get("arguments")
    with suppress(ValueError, TypeError):
        given = json.loads(given or "{}") if isinstance(given, str) else given
    told = json.dumps(given, sort_keys=True, default=str)
    return _digest("call", str(call.get("id")), str(call.get("name")), told, response)


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _name(url: str) -> bytes:
    return hashlib.sha256(url.encode("utf-8", "surrogatepass")).digest()[:12]
