"""The view of a whole page: its beginning or a later piece, relevant passages, or literal matches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

from groundwire.errors import InvalidRequest, excerpt
from groundwire.models import MAX_QUERY, Excerpt, Match, Page
from groundwire.models.validators import check_int
from groundwire.reading.passages.excerpts import (
    Chosen,
    ExcerptSpan,
    assemble,
    choose,
    excerpt_of,
    find_all,
    most_that_fit,
    spans_around,
    wants_links,
)
from groundwire.reading.passages.outline import Outline
from groundwire.reading.passages.pagination import MAX_FIND, Place, cursor_at, cut_piece, resolve
from groundwire.reading.passages.reranking import EmbeddingRanker, rank
from groundwire.reading.passages.terms import readable_run
from groundwire.reading.passages.token_budget import TextBudget

Around = Callable[[Page], str]
"""Returns the text around a page's content in the result, whose tokens count; takes the page without content."""

MAX_PAGE_LENGTH: Final = 10_000_000
"""The largest limit in characters."""
_MAX_TOKENS: Final = 2_500_000
_EXCERPTS_LENGTH: Final = 4_000  # characters of excerpts by default
_BEGINNING_LENGTH: Final = 1_500  # characters of the page's beginning, if nothing was found
_LISTED_PASSAGES: Final = 3  # passages listed when the whole page is shown
_ANY_EXCERPTS: Final = (Excerpt(start=0, end=0, text=""),)  # a stand-in when there are excerpts
_CONTENT_MARK: Final = "x"  # in place of the content, so that surrounding newlines do not merge
_MAX_CURSOR_LENGTH: Final = 6_100  # of one with the longest text to find


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """The requested part of a page; at most one of `query`, `cursor` and `find`."""

    room: TextBudget
    """The limit."""
    query: str | None = None
    """The query for relevant passages."""
    cursor: str | None = None
    """The start of the requested piece."""
    find: str | None = None
    """The text whose literal matches are returned."""
    around: Around | None = field(default=None)
    """Returns the text around the content in the result; its tokens count."""
    ranker: EmbeddingRanker | None = None
    """Compares passages by meaning, too."""


def check_ask(
    *,
    query: object = None,
    cursor: object = None,
    find: object = None,
    max_length: object = None,
    max_tokens: object = None,
    default_length: int,
    around: Around | None = None,
    ranker: EmbeddingRanker | None = None,
) -> Ask:
    """Validate the requested part of a page.

    Args:
        query: The query for relevant passages.
        cursor: Where to continue.
        find: The text to find.
        max_length: Maximum characters.
        max_tokens: Maximum tokens.
        default_length: The default limit in characters; for excerpts, 4,000 at most.
        around: Returns the text around the content.
        ranker: Compares passages by meaning, too.

    Raises:
        InvalidRequest: an argument is invalid, or two exclude each other.
    """
    selectors = {"query": query, "cursor": cursor, "find": find}
    names = [name for name, value in selectors.items() if value is not None]
    if len(names) > 1:
        raise InvalidRequest(names[1], f"cannot be given together with {names[0]}", "Pass one of query, cursor, find.")
    if cursor is not None and (not isinstance(cursor, str) or not cursor.strip() or len(cursor) > _MAX_CURSOR_LENGTH):
        raise InvalidRequest("cursor", "is not a cursor", "Pass next_cursor unchanged, or #2 for the second section.")
    tokens = None if max_tokens is None else check_int("max_tokens", max_tokens, 1, _MAX_TOKENS)
    if max_length is not None:
        characters = check_int("max_length", max_length, 1, MAX_PAGE_LENGTH)
    elif tokens is not None:
        characters = MAX_PAGE_LENGTH
    else:
        characters = default_length if query is None and find is None else min(default_length, _EXCERPTS_LENGTH)
    return Ask(
        room=TextBudget(characters=characters, tokens=tokens),
        query=None if query is None else _check_text("query", query, MAX_QUERY, "Pass what you want to know."),
        cursor=cursor.strip() if isinstance(cursor, str) else None,
        find=None if find is None else _check_text("find", find, MAX_FIND, "Pass the words to find."),
        around=around,
        ranker=ranker,
    )


def _check_text(field_name: str, text: object, most: int, fix: str) -> str:
    if not isinstance(text, str):
        raise InvalidRequest(field_name, f"must be text, not {type(text).__name__}", fix)
    clean = " ".join(text.encode("utf-8", "replace").decode().split())
    if field_name == "query" and not readable_run(clean):
        raise InvalidRequest(field_name, "has no words", fix)
    if not clean:
        raise InvalidRequest(field_name, "is empty", fix)
    if len(clean) > most:
        raise InvalidRequest(field_name, f"has {len(clean):,} characters", f"Shorten it to at most {most:,}.")
    return clean


def pack_view(page: Page, ask: Ask) -> tuple[dict[str, Any], bytes] | None:
    """Serialize a page and the requested part for a process that calls `view`; None if that is not possible.

    `around` must be a function in a module of this package, so that the process can import it.
    """
    around = ask.around
    name = f"{getattr(around, '__module__', '')}:{getattr(around, '__qualname__', '')}" if around is not None else ""
    if ask.ranker is not None or (name and (not name.startswith("groundwire.") or "<" in name)):
        return None
    fields = page.model_dump(mode="json", exclude={"content"})
    room = ask.room.characters, ask.room.tokens
    request = {"page": fields, "room": room, "query": ask.query, "cursor": ask.cursor, "find": ask.find, "around": name}
    return request, page.content.encode("utf-8", "surrogatepass")


def view_in_worker(request: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the part of a page sent by another process."""
    characters, tokens = request["room"]
    module, _, name = request["around"].partition(":")
    ask = Ask(
        room=TextBudget(characters=characters, tokens=tokens),
        query=request["query"],
        cursor=request["cursor"],
        find=request["find"],
        around=getattr(import_module(module), name) if module else None,
    )
    page = Page.model_validate(request["page"] | {"content": body.decode("utf-8", "surrogatepass")})
    try:
        part = view(page, ask)
    except InvalidRequest as error:
        return {"invalid": (error.field, error.problem, error.fix)}, b""
    return part.model_dump(mode="json", exclude={"content"}), part.content.encode("utf-8", "surrogatepass")


def unpack_view(fields: dict[str, Any], content: bytes) -> Page:
    """Deserialize the part that a process returned.

    Raises:
        InvalidRequest: the page has no such part.
    """
    if "invalid" in fields:
        raise InvalidRequest(*fields["invalid"])
    return Page.model_validate(fields | {"content": content.decode("utf-8", "surrogatepass")})


def view(page: Page, ask: Ask) -> Page:
    """Return the requested part of a whole page, with its position.

    Args:
        page: The whole page, as read.
        ask: The requested part.

    Raises:
        InvalidRequest: the cursor is invalid; the limit is too small for a single word.
    """
    document = Outline(page.content)
    header = page.model_copy(
        update={
            "content": "",
            "content_length": 0,
            "original_length": max(page.original_length or 0, len(page.content)),
            "version": document.version,
            "sections": document.sections,
        }
    )
    views = _ViewMaker(header, document, ask)
    if ask.query is not None:
        return views.answers(ask.query)
    if ask.find is not None:
        return views.occurrences(ask.find, Place(0))
    if ask.cursor is None:
        return views.piece(Place(0))
    place = resolve(ask.cursor, document)
    return views.occurrences(place.find, place) if place.find else views.piece(place)


class _ViewMaker:
    """Creates views of one page."""

    def __init__(self, page: Page, document: Outline, ask: Ask) -> None:
        self._page = page
        self._document = document
        self._ask = ask

    def piece(
        self,
        place: Place,
        room: TextBudget | None = None,
        *,
        warnings: tuple[str, ...] = (),
        excerpts: tuple[Excerpt, ...] = (),
        match_count: int | None = None,
    ) -> Page:
        """Return the piece that begins at a position.

        Args:
            place: Its start, and its latest end.
            room: The limit; by default the requested one.
            warnings: Additional warnings.
            excerpts: The relevant passages in it.
            match_count: The number of literal matches on the page.
        """
        document = self._document
        warnings = (*place.warnings, *warnings)
        cut = cut_piece(document, place.start, room or self._room(warnings, start=place.start), place.stop)
        end = len(document.text)
        following = cursor_at(document, cut.end) if cut.end < end and document.text[cut.end :].strip() else None
        return self._page_with(
            cut.content,
            warnings,
            start=cut.start,
            end=cut.end,
            next_cursor=following,
            truncated=self._page.truncated or cut.start > 0 or cut.end < end,
            excerpts=excerpts,
            match_count=match_count,
        )

    def answers(self, query: str) -> Page:
        """Return the passages relevant to a query; the whole page if it fits."""
        room = self._room(excerpts=_ANY_EXCERPTS, next_cursor=None)
        document = self._document
        ranked = rank(document, query, self._ask.ranker)
        best = sorted((row for row in ranked if row.score > 0), key=lambda row: -row.score)
        if not best:
            return self._beginning("nothing on this page matches the query; this is its beginning")
        page_room = self._room_of_all() if room.holds(document.text) else None
        if page_room is not None and page_room.holds(document.text):
            first = sorted(best[:_LISTED_PASSAGES], key=lambda row: row.number)
            spans = (ExcerptSpan(row.passage.start, row.passage.end, row.score) for row in first)
            return self.piece(Place(0), page_room, excerpts=tuple(excerpt_of(document, span) for span in spans))
        return self._page_of(choose(document, ranked, room, links=wants_links(query)))

    def occurrences(self, phrase: str, place: Place) -> Page:
        """Return literal matches from a position on, with some context."""
        document = self._document
        all_matches = find_all(document.text, phrase)
        matches = [match for match in all_matches if match.start >= place.start]
        if not matches:
            more = "" if not all_matches else " from there on"
            warnings = (
                *place.warnings,
                f"{excerpt(phrase, 80)!r} is not on this page{more}; this is the page's beginning",
            )
            return self._beginning(*warnings, match_count=len(all_matches))
        longest = cursor_at(document, len(document.text), phrase)
        room = self._room(place.warnings, excerpts=_ANY_EXCERPTS, match_count=len(all_matches), next_cursor=longest)
        fitting = self._fitting(matches, room)
        if fitting:
            chosen = assemble(document, spans_around(document, fitting))
        else:
            piece = cut_piece(document, matches[0].start, room)
            fitting = [match for match in matches[:1] if match.end <= piece.end]
            chosen = Chosen(piece.content, (excerpt_of(document, ExcerptSpan(piece.start, piece.end)),))
        further = matches[max(1, len(fitting)) :]
        return self._page_of(
            chosen,
            place.warnings,
            matches=tuple(fitting),
            match_count=len(all_matches),
            next_cursor=cursor_at(document, further[0].start, phrase) if further else None,
        )

    def _fitting(self, matches: list[Match], room: TextBudget) -> list[Match]:
        """Return as many of the first matches as fit with their context."""
        document = self._document

        def fits(size: int) -> bool:
            return room.holds(assemble(document, spans_around(document, matches[:size])).content)

        return matches[: most_that_fit(len(matches), fits)]

    def _beginning(self, *warnings: str, match_count: int | None = None) -> Page:
        """Return the beginning of the page, if nothing was found; in a small budget as an excerpt."""
        try:
            room, compact = self._room(warnings, match_count=match_count), False
        except InvalidRequest:
            room, compact = self._room(warnings, match_count=match_count, excerpts=_ANY_EXCERPTS), True
        short = room.limited(min(room.characters, _BEGINNING_LENGTH), room.tokens)
        page = self.piece(Place(0), short, warnings=warnings, match_count=match_count)
        if not compact or page.end is None:
            return page
        span = ExcerptSpan(page.start, page.end)
        return page.model_copy(update={"excerpts": (excerpt_of(self._document, span),)})

    def _page_of(self, chosen: Chosen, warnings: tuple[str, ...] = (), **update: object) -> Page:
        spans = chosen.excerpts
        return self._page_with(
            chosen.content, warnings, excerpts=spans, start=spans[0].start, end=spans[-1].end, truncated=True, **update
        )

    def _page_with(self, content: str, warnings: tuple[str, ...], **update: object) -> Page:
        update |= {"content": content, "content_length": len(content), "warnings": (*self._page.warnings, *warnings)}
        return self._page.model_copy(update=update)

    def _room_of_all(self) -> TextBudget | None:
        """Return the limit for the content of a whole page; None if the surrounding text exceeds it."""
        try:
            return self._room(truncated=False, next_cursor=None)
        except InvalidRequest:
            return None

    def _room(self, warnings: tuple[str, ...] = (), **fields: object) -> TextBudget:
        """Return the limit for the content: the requested one without the surrounding text.

        Args:
            warnings: Additional warnings.
            fields: Further fields of the page in the result.
        """
        room = self._ask.room
        if self._ask.around is None or room.tokens is None:
            return room
        defaults: dict[str, object] = {"truncated": True, "content": _CONTENT_MARK}
        defaults["next_cursor"] = cursor_at(self._document, len(self._document.text))
        defaults["warnings"] = (*self._page.warnings, *warnings)
        frame = room.tokens_of(self._ask.around(self._page.model_copy(update=defaults | fields)))
        if room.tokens <= frame:
            raise InvalidRequest(
                "max_tokens",
                f"is {room.tokens:,}, but the notes about the page take {frame:,}",
                f"Pass at least {frame + _EXCERPTS_LENGTH // 40:,}.",
            )
        return room.limited(room.characters, room.tokens - frame)
