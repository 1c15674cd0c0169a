"""Conversations across requests: their citation numbers, and runs suspended for a function of the client.

A client sends its history, possibly edited, and without the local calls. What its markers mean is known from the whole
visible history, from response IDs, or from a header; an unresolved number is never reassigned.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from uuid import uuid4

from groundwire.agent_loop.citation_ledger import CitationLedger, marks_in
from groundwire.hosted.answers.types import items, object_of
from groundwire.models import Source
from groundwire.storage import Store, StoreError
from groundwire.storage.base import AssignNumbers, Numbers
from groundwire.tools import ToolResult

_LEDGER_SECONDS: Final = 7 * 86_400.0  # seconds after which the store deletes the numbers of a conversation
_RUN_SECONDS: Final = 86_400.0  # seconds that a client may take for its function
_MAX_CANDIDATES: Final = 100  # conversations with the same history whose pages are compared
_MAX_ANSWERS_BACK: Final = 8  # that are looked up from the end of a history: the last ones may have been cut off
_MAX_STARTS: Final = 50  # of the user's last messages, from which a trimmed history may begin
_SCAN_CHARS: Final = 200_000  # characters of a text that are scanned without a pause
_INLINE_CHARS: Final = 20_000  # characters scanned without a thread, in a few milliseconds
_RANDOM_ID_CHARS: Final = 16  # characters from which a call's ID is random rather than a counter
_THOUGHT_TAGS: Final = ("<think>", "</think>")


@dataclass(frozen=True, slots=True)
class Utterance:
    """A text of a conversation."""

    text: str
    role: Literal["user", "assistant", ""] = ""
    """Who said it; empty for instructions and results of tools, which clients change from request to request."""
    cited: Mapping[int, str] = field(default_factory=dict)
    """The URLs that annotations give for its markers."""


@dataclass(slots=True)
class _Turn:
    """A question, or an answer in one or several texts."""

    is_answer: bool
    digest: Any = field(default_factory=hashlib.sha256)
    marks: set[int] = field(default_factory=set)


class History:
    """The questions and answers of a conversation, without the answers before the first question.

    Consecutive texts of the model count as one answer, and white space does not count: clients join and split texts.
    """

    def __init__(self) -> None:
        self._turns: list[_Turn] = []
        self.cited: dict[int, set[str]] = {}
        """The URLs that annotations give for markers."""
        self.others: set[int] = set()
        """The markers outside of questions and answers."""

    @property
    def ends(self) -> list[int]:
        """The lengths of the history up to each answer, the last one first."""
        return [at + 1 for at in reversed(range(len(self._turns))) if self._turns[at].is_answer]

    def add(self, utterance: Utterance) -> None:
        """Add the next text."""
        numbers = _marks(utterance.text)
        for number, url in utterance.cited.items():
            self.cited.setdefault(number, set()).add(url)
        text = "".join(_without_thoughts(utterance.text).split())
        is_answer = utterance.role == "assistant"
        if not utterance.role or not text or (is_answer and not self._turns):
            self.others |= numbers
            return
        if not (is_answer and self._turns[-1].is_answer):
            self._turns.append(_Turn(is_answer))
        self._turns[-1].digest.update(text.encode("utf-8", "surrogatepass"))
        self._turns[-1].marks |= numbers

    def name(self, end: int) -> str:
        """Return what identifies the first turns."""
        return _joint([turn.digest.digest() for turn in self._turns[:end]])

    def names(self) -> list[str]:
        """Return what identifies the history up to its last answer from each of the last questions with markers."""
        turns = self._turns if self._turns and self._turns[-1].is_answer else []
        digests = [turn.digest.digest() for turn in turns]
        starts = [at for at, turn in enumerate(turns) if not turn.is_answer]
        last = max((at for at, turn in enumerate(turns) if turn.marks), default=-1)
        return [_joint(digests[at:]) for at in dict.fromkeys((*starts[:1], *starts[-_MAX_STARTS:])) if at <= last]

    def marks(self, end: int) -> set[int]:
        """Return the markers of the first turns."""
        return set().union(*(turn.marks for turn in self._turns[:end]))

    def answered(self, start: int) -> set[int]:
        """Return the markers of the answers after the first turns."""
        return set().union(*(turn.marks for turn in self._turns[start:] if turn.is_answer))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run that waits for the client."""

    id: str
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
        self.history: History = History()
        """What the client has sent of the conversation."""
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
        sources = () if self._saved else self.sources
        fixed = [[source.url, source.title, source.citation_id, source.url in self._from_text] for source in sources]
        note = zlib.compress(json.dumps([*fixed, *rows]).encode(), 1)
        (answer,) = await self._store.batch((AssignNumbers(self._key, groups, note, _LEDGER_SECONDS, self.last),))
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
        self, utterances: Sequence[Utterance], *, name: str = "", keys: Sequence[str] = (), run: str = ""
    ) -> ConversationLedger:
        """Return the numbering of a conversation, or a new one.

        Args:
            utterances: Its texts, as currently sent by the client.
            name: The client's name for it.
            keys: IDs that it continues from, such as that of the last response.
            run: The ledger of a continued run.
        """
        history = await _history(utterances)
        candidates = [run or _digest("name", name)] if run or name else []
        shared = len(utterances)  # how much of the history they are known to share
        for key in keys:
            candidates = candidates or await self._ledger_ids(key)
        if not candidates:
            for shared in history.ends[:_MAX_ANSWERS_BACK]:
                if history.marks(shared) and (candidates := await self._ledger_ids(history.name(shared))):
                    break
        base = candidates[0] if len(candidates) == 1 else ""
        pages, from_text = await self._common_pages(candidates)
        # An answer of unknown origin may have meant another page by a number.
        unknown = history.answered(shared if candidates else 0) - (history.marks(shared) if candidates else set())
        reserved = set[int]()
        fresh = not base
        for number in history.others | history.marks(len(utterances)) | history.cited.keys():
            urls = history.cited.get(number, set[str]())
            page = pages.get(number)
            if len(urls) == 1 and page is None:
                pages[number] = Source(citation_id=number, title="", url=next(iter(urls)))
                fresh = True
            elif page is None or (urls != {page.url} if urls else number in unknown):
                reserved.add(number)
        if not base or not (run or name or reserved.isdisjoint(pages)):
            base, fresh = uuid4().hex, True
        numbering = ConversationLedger(
            self._store,
            self._key("ledger", base),
            base,
            [page for number, page in pages.items() if number not in reserved],
            reserved=tuple(reserved),
            saved=not fresh,
            from_text=from_text,
        )
        numbering.history = history
        return numbering

    async def remember(self, ledger: ConversationLedger, answers: Sequence[str], keys: Sequence[str] = ()) -> None:
        """Store what identifies a conversation, also if no page is known: it is not to be taken for another one.

        Args:
            ledger: The numbering.
            answers: The texts of the answer.
            keys: IDs from which the client may continue.
        """
        history = ledger.history
        for text in answers:
            history.add(Utterance(text, "assistant"))
        names = history.names() if answers else []
        if not names and not keys:
            return
        with suppress(StoreError):
            await ledger.save()
            await self._note((*names, *keys), [ledger.id])

    async def save_run(self, run: StoredRun, calls: Sequence[Mapping[str, Any]], question: str, response: str) -> None:
        """Store a run for the request with the results of the client's functions.

        Args:
            run: The run.
            calls: The calls that it is waiting for, each with `id`, `name` and `arguments`.
            question: The user's last message.
            response: The ID of the response, from which a client may continue; empty for none.
        """
        value = {"ledger": run.ledger, "added": run.added, "trailing": run.trailing, "used": dict(run.used)}
        names = [_call_name(call, "") for call in calls]
        names += [_call_name({"id": call["id"]}, response) for call in calls] if response else []
        with suppress(StoreError):
            await self._save_text("run", run.id, json.dumps(value), _RUN_SECONDS)
            await self._note(names, [run.id, _digest(question)], _RUN_SECONDS)

    async def waiting_run(self, call: Mapping[str, Any], question: str, response: str = "") -> StoredRun | None:
        """Return the run that is waiting for a call, or None.

        Args:
            call: The call as sent back by the client.
            question: The user's preceding message; empty if the history is truncated.
            response: The ID of the response with the call, if the client continues from it.
        """
        await asyncio.sleep(0)  # others get their turn, as with a store elsewhere
        notes = await self._read_notes(_call_name({"id": call.get("id")} if response else call, response))
        same = [str(note[0]) for note in notes if response or note[1] == _digest(question)]
        every = list(dict.fromkeys(str(note[0]) for note in notes))
        if not same and (len(str(call.get("id") or "")) >= _RANDOM_ID_CHARS or (not question and len(every) == 1)):
            same = every
        run_text = await self._load_text("run", same[-1]) if same else ""
        return StoredRun(id=same[-1], **json.loads(run_text)) if run_text else None

    async def save_response_id(self, client_id: str, upstream: str) -> None:
        """Store which response of the model server ends the merged response that the client knows by another ID."""
        with suppress(StoreError):
            await self._save_text("continued", _digest(client_id), upstream)

    async def upstream_id(self, client_id: str) -> str:
        """Return the model server's ID of a response, which is the client's unless it was merged of several."""
        return await self._load_text("continued", _digest(client_id)) or client_id

    async def restored(self, messages: Sequence[Any]) -> tuple[list[Any], StoredRun | None]:
        """Return chat messages with stored runs in place of their visible part, and the last run."""
        history: list[Any] = []
        run: StoredRun | None = None
        question = ""
        for message in messages:
            stored = None
            question = question_in([message]) or question
            for call in items(object_of(message).get("tool_calls")):
                if stored is None and isinstance(function := call.get("function"), dict):
                    stored = await self.waiting_run({**function, "id": call.get("id")}, question)
            history += [message] if stored is None else stored.added
            run = stored or run
        return history, run

    async def _save_text(self, kind: str, name: str, text: str, life: float = _LEDGER_SECONDS) -> None:
        packed = zlib.compress(text.encode("utf-8", "surrogatepass"), 1)
        await self._store.set(self._key(kind, name), packed, fresh=life)

    async def _load_text(self, kind: str, name: str) -> str:
        """Return a text of `_save_text`, empty if there is none."""
        with suppress(StoreError):
            if entry := await self._store.get(self._key(kind, name)):
                return zlib.decompress(entry.value).decode("utf-8", "surrogatepass")
        return ""

    async def _note(self, names: Iterable[str], note: list[str], life: float = _LEDGER_SECONDS) -> None:
        """Note an ID, and what else is known about it, at each of these names."""
        about, group = json.dumps(note).encode(), ((note[0].encode(),),)
        await self._store.batch([AssignNumbers(self._key("said", name), group, about, life) for name in names])

    async def _read_notes(self, name: str) -> list[list[Any]]:
        with suppress(StoreError):
            return [json.loads(note) for note in (await self._store.register(self._key("said", name))).notes]
        return []

    async def _ledger_ids(self, name: str) -> list[str]:
        return list(dict.fromkeys(str(note[0]) for note in await self._read_notes(name)))

    async def _common_pages(self, ledgers: Sequence[str]) -> tuple[dict[int, Source], set[str]]:
        """Return the pages that have the same number in all ledgers; see `_pages`."""
        if not 0 < len(ledgers) <= _MAX_CANDIDATES:
            return {}, set()
        (pages, from_text), *others = await asyncio.gather(*map(self._pages, ledgers))
        for other, more in others:
            pages = {
                number: page for number, page in pages.items() if number in other and other[number].url == page.url
            }
            from_text |= more
        return pages, from_text

    async def _pages(self, id_: str) -> tuple[dict[int, Source], set[str]]:
        """Return the pages of a ledger by number, and which addresses only web text has named."""
        pages: dict[int, Source] = {}
        from_text: set[str] = set()
        with suppress(StoreError):
            register = await self._store.register(self._key("ledger", id_))
            for note in register.notes:
                for url, title, *more in json.loads(zlib.decompress(note)):
                    number = more[0] if more and more[0] else register.numbers.get(_name(url))
                    from_text |= {url} if more[1:] == [True] else set()
                    if number is not None:
                        pages.setdefault(number, Source(citation_id=number, title=title, url=url))
        return pages, from_text

    def _key(self, kind: str, name: str) -> str:
        return f"proxy:{self._owner}:{kind}:{name}"


def question_in(messages: Sequence[Any]) -> str:
    """Return the user's last message, or an empty string."""
    users = (text_of(message) for message in reversed(messages) if object_of(message).get("role") == "user")
    return next(filter(None, users), "")


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message or an item in any API's format."""
    content = message.get("content", message.get("output", message.get("text", message.get("parts"))))
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return "\n".join(
        filter(None, (text_of(part) for part in parts if isinstance(part, Mapping) and not part.get("thought")))
    )


async def _history(utterances: Sequence[Utterance]) -> History:
    """Return the history of texts; a long conversation is looked through by a thread."""
    history = History()

    def add_all() -> None:
        for utterance in utterances:
            history.add(utterance)

    if sum(len(utterance.text) for utterance in utterances) > _INLINE_CHARS:
        await asyncio.to_thread(add_all)
    else:
        add_all()
    return history


def _marks(text: str) -> set[int]:
    """Return the numbers in the markers of a text; a very long text is scanned in pieces."""
    pieces = (text[begin : begin + _SCAN_CHARS] for begin in range(0, len(text), _SCAN_CHARS))
    return {number for piece in pieces for _, _, numbers in marks_in(piece) for number in numbers}


def _without_thoughts(text: str) -> str:
    """Return a text without what clients fold away and do not send back."""
    begin, end = _THOUGHT_TAGS
    first, *parts = text.split(begin)
    thoughts = (part.partition(end) for part in parts)
    return first + "".join(after if ended else begin + thought for thought, ended, after in thoughts)


def _call_name(call: Mapping[str, Any], response: str) -> str:
    arguments = call.get("arguments")
    with suppress(ValueError, TypeError):
        arguments = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
    arguments_text = json.dumps(arguments, sort_keys=True, default=str)
    return _digest("call", str(call.get("id") or ""), str(call.get("name")), arguments_text, response)


def _joint(digests: Sequence[bytes]) -> str:
    return hashlib.sha256(b"".join(digests)).hexdigest()[:32]


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _name(url: str) -> bytes:
    return hashlib.sha256(url.encode("utf-8", "surrogatepass")).digest()[:12]
