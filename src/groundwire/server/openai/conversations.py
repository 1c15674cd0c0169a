"""Conversations that outlive a request: the numbers of their pages, and runs that wait for a function of the client's.

A client sends its history, edited as it likes, and none of our calls. What a mark in it points to is found by the words
before the mark, by ids of responses, or by a header; a number that is not found is given to no other page.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
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

_LIFE: Final = 7 * 86_400.0  # seconds after which the store forgets the numbers of a conversation
_RUN_LIFE: Final = 86_400.0  # seconds that a client may take for its function
_MOST: Final = 24  # marks whose words are looked up, the last of a history first
_NEAR: Final = 200  # characters before a mark in which its words are
_WORDS: Final = 6
_TELLING: Final = 3  # fewer words than these tell a mark only together with the question
_UNIQUE: Final = 16  # characters from which the id of a call is random rather than counted
_WORD: Final = re.compile(r"\w+")
_BRACKETS: Final = re.compile(r"\[[\d\s,]*\]|【[^】]*】")


@dataclass(frozen=True, slots=True)
class Said:
    """One text of a conversation."""

    text: str
    """The text."""
    question: str = ""
    """What the user said before it."""
    cited: Mapping[int, str] = field(default_factory=dict)
    """The addresses that annotations give the marks in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """One run that waits for the client."""

    id: str
    """Its name."""
    ledger: str
    """The ledger of its conversation."""
    added: list[Any]
    """What the run added: the turns of the model, and the results of our tools."""
    trailing: int
    """How many of them follow the last turn of the model."""
    used: Mapping[str, float]
    """What its session has used."""


class ConversationLedger(CitationLedger):
    """The numbering of a conversation, kept in a store that its other requests ask, too.

    Args:
        store: Where the numbers are.
        key: The name of the register there.
        id_: The name of the conversation.
        sources: The pages with their numbers.
        reserved: See `CitationLedger`.
        saved: Whether the store has all of these.
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
    ) -> None:
        super().__init__(sources, reserved=reserved)
        self.id = id_
        self.also: tuple[str, ...] = ()
        """Under which further keys it is to be found."""
        self._store = store
        self._key = key
        self._saved = saved or not sources

    async def assign(self, results: Sequence[ToolResult]) -> None:
        """Number the pages of tool results; pages that two requests find at once get different numbers."""
        pages = self.unnumbered(results)
        if not pages:
            return
        rows = [[url, title] for url, title in pages.items()]
        with suppress(StoreError):
            numbers = await self._write(rows, tuple((_name(url),) for url in pages))
            for (url, title), number in zip(pages.items(), numbers, strict=True):
                self._add(number, url, title)

    async def save(self) -> None:
        """Write what the store does not have."""
        if not self._saved:
            await self._write([], ())

    async def _write(self, rows: list[list[Any]], groups: tuple[tuple[bytes, ...], ...]) -> tuple[int, ...]:
        fixed = [] if self._saved else [[one.url, one.title, one.citation_id] for one in self.sources]
        note = zlib.compress(json.dumps([*fixed, *rows]).encode(), 1)
        (answer,) = await self._store.batch((AssignNumbers(self._key, groups, note, _LIFE, self.last),))
        self._saved = True
        return answer.numbers if isinstance(answer, Numbers) else ()


class Conversations:
    """The stored conversations of one client.

    Args:
        store: Holds them.
        owner: Names the client; no other finds them.
    """

    def __init__(self, store: Store, owner: str) -> None:
        self._store = store
        self._owner = owner

    async def ledger(
        self, said: Sequence[Said], *, name: str = "", keys: Sequence[str] = (), run: str = ""
    ) -> ConversationLedger:
        """Return the numbering of a conversation; a new one where nothing is known of it.

        Args:
            said: Its texts, as the client sends them now.
            name: What the client calls it.
            keys: Ids by which it goes on, such as that of the last response.
            run: The ledger of a run that goes on.
        """
        contexts = _contexts(said)
        latest = list(dict.fromkeys(reversed([context for _, context in contexts])))[:_MOST]
        names = [*latest, *keys]
        found = dict(zip(names, await asyncio.gather(*map(self._noted, names)), strict=True))
        known: list[list[str]] = [[str(one[0]) for one in notes] for notes in found.values() if notes]
        common = [one for one in reversed(known[0]) if all(one in other for other in known)] if known else []
        fixed = run or (_digest("name", name) if name else "")
        sole = bool(fixed) or len(set(common)) == 1
        base = fixed or (common[0] if common else "")
        pages = await self._pages(base) if base else {}
        reserved, clash, fresh = set[int](), False, False
        for number, urls in _evidence(contexts, found, said).items():
            page = pages.get(number)
            if len(urls) == 1 and page is None:
                pages[number] = Source(citation_id=number, title="", url=next(iter(urls)))
                fresh = True
            elif page is None or (urls and page.url not in urls) or (len(urls) != 1 and not sole):
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
        )
        made.also = tuple(one for one in names if all(base != note[0] for note in found[one]))
        return made

    async def remember(self, ledger: ConversationLedger, said: Sequence[Said], keys: Sequence[str] = ()) -> None:
        """Note where the marks of an answer point to, so that its conversation is found by them.

        Args:
            ledger: The numbering that they are of.
            said: The texts of the answer.
            keys: Ids by which the client may go on.
        """
        if not ledger.sources:
            return
        marks = [(context, source.url) for number, context in _contexts(said) if (source := ledger.get(number))]
        rows = [*marks[-_MOST:], *((key, "") for key in (*ledger.also, *keys))]
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
        """Keep a run for the request that brings the results of the client's functions.

        Args:
            run: The run.
            calls: The calls that it waits for, each with `id`, `name` and `arguments`.
            question: What the user said last.
            response: The id of the response, by which a client may go on; empty is none.
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
        """Return the run that waits for a call, None if none does.

        Args:
            call: The call as the client sends it back.
            question: What the user said before it; empty where the history is cut.
            response: The id of the response that made it, where the client goes on by that.
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

    async def keep_marked(self, shown: str, said: str) -> None:
        """Keep what a model said of which a client is shown less, such as a text without its marks."""
        packed = zlib.compress(json.dumps(said).encode(), 1)
        name = _digest(said).encode()
        with suppress(StoreError):
            key = self._key("said", _shown_name(shown))
            await self._store.batch([AssignNumbers(key, ((name,),), packed, _LIFE)])

    async def marked(self, shown: str) -> str:
        """Return what the model said where a client was shown this; empty where that is unknown or ambiguous."""
        if not shown.strip():
            return ""
        with suppress(StoreError):
            notes = (await self._store.register(self._key("said", _shown_name(shown)))).notes
            if len(notes) == 1:
                return str(json.loads(zlib.decompress(notes[0])))
        return ""

    async def restored(self, messages: Sequence[Any]) -> tuple[list[Any], StoredRun | None]:
        """Return messages of a chat with stored runs in place of what clients were shown of them, and the last run."""
        made: list[Any] = []
        run: StoredRun | None = None
        for place, message in enumerate(messages):
            kept = None
            for call in (message.get("tool_calls") if isinstance(message, Mapping) else None) or ():
                function = call.get("function") if isinstance(call, Mapping) else None
                if kept is None and isinstance(function, Mapping):
                    asked = question_in(messages[:place])
                    kept = await self.run_of({**function, "id": call.get("id")}, asked)
            made += [message] if kept is None else kept.added
            run = kept or run
        return made, run

    async def _noted(self, name: str) -> list[list[Any]]:
        with suppress(StoreError):
            return [json.loads(note) for note in (await self._store.register(self._key("said", name))).notes]
        return []

    async def _pages(self, id_: str) -> dict[int, Source]:
        """Return the pages of a ledger by number."""
        made: dict[int, Source] = {}
        with suppress(StoreError):
            register = await self._store.register(self._key("ledger", id_))
            for note in register.notes:
                for url, title, *fixed in json.loads(zlib.decompress(note)):
                    number = fixed[0] if fixed else register.numbers.get(_name(url))
                    if number is not None:
                        made.setdefault(number, Source(citation_id=number, title=title, url=url))
        return made

    def _key(self, kind: str, name: str) -> str:
        return f"proxy:{self._owner}:{kind}:{name}"


def said_in(messages: Sequence[Any]) -> tuple[Said, ...]:
    """Return the texts of a conversation in the form of any API."""
    made: list[Said] = []
    question = ""
    for message in messages:
        if not isinstance(message, Mapping):
            continue
        text = text_of(message)
        if message.get("role") == "user" and text:
            question = text
        elif text:
            said = message.get("role") in ("assistant", "model")
            made.append(Said(text, question if said else "", dict(_cited(message))))
            continue
        if text:
            made.append(Said(text))
    return tuple(made)


def question_in(messages: Sequence[Any]) -> str:
    """Return what the user said last, empty if nothing."""
    users = (one for one in reversed(messages) if isinstance(one, Mapping) and one.get("role") == "user")
    return next(filter(None, map(text_of, users)), "")


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message or of an item, in the form of any API."""
    content = message.get("content", message.get("output", message.get("text", message.get("parts"))))
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return "\n".join(filter(None, (text_of(part) for part in parts if isinstance(part, Mapping))))


def _cited(message: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """Yield the numbers and addresses of annotations: of a message, or of its parts."""
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


def _contexts(said: Sequence[Said]) -> list[tuple[int, str]]:
    """Return the marks of texts: their numbers, and what tells each from others."""
    made: list[tuple[int, str]] = []
    for one in said:
        for start, _, numbers in marks_in(one.text):
            before = _BRACKETS.sub(" ", one.text[max(0, start - _NEAR) : start])
            words = _WORD.findall(before.casefold())[-_WORDS:]
            asked = " ".join(one.question.split()) if len(words) < _TELLING else ""
            made += [(number, _digest(" ".join(words), str(number), asked)) for number in numbers]
    return made


def _evidence(
    contexts: Sequence[tuple[int, str]], found: Mapping[str, Sequence[Sequence[Any]]], said: Sequence[Said]
) -> dict[int, set[str]]:
    """Return the addresses to which the marks of a conversation point, as far as that is known, by number."""
    made: dict[int, set[str]] = {number: set() for number, _ in contexts}
    for number, context in contexts:
        made[number] |= {str(one[1]) for one in found.get(context, ()) if one[1]}
    for one in said:
        for number, url in one.cited.items():
            made[number] = {url}
    return made


def _shown_name(text: str) -> str:
    return _digest("shown", " ".join(text.split()))


def _call_name(call: Mapping[str, Any], response: str) -> str:
    given = call.get("arguments")
    with suppress(ValueError, TypeError):
        given = json.loads(given or "{}") if isinstance(given, str) else given
    told = json.dumps(given, sort_keys=True, default=str)
    return _digest("call", str(call.get("id") or ""), str(call.get("name")), told, response)


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _name(url: str) -> bytes:
    return hashlib.sha256(url.encode("utf-8", "surrogatepass")).digest()[:12]
