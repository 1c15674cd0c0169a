"""The offline archive as a provider: pages and results of earlier calls, used when no service responds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Self

from groundwire.deadline import Deadline
from groundwire.errors import NotConfigured, ProviderTimeout, ProviderUnavailable, ProviderUnsupported
from groundwire.models import MAX_SNIPPET, NO_FILTERS, Filters, Results, SearchResult
from groundwire.providers.base import Capabilities, ProviderContext
from groundwire.safety.tenancy import LOCAL, Owner
from groundwire.storage.archive.records import ARCHIVE
from groundwire.storage.archive.store import Archive, ArchiveHit
from groundwire.storage.base import StoreError

_TIMEOUT = 5.0  # seconds
_MOST = 50  # results


class ArchiveProvider:
    """Searches the entries of the archive that belong to one owner; makes no network requests.

    Finding nothing is not evidence about the web, so it is a failure and never an empty result.

    Args:
        archive: The archive, closed by its creator.
        name: Its name in settings, attempts and results.
        owner: The owner of the entries; see `owned_by`.
    """

    capabilities: Capabilities = Capabilities(
        search=True,
        max_results=_MOST,
        time_ranges=frozenset({"d", "w", "m", "y", "all"}),
        dates=True,
        domains="native",
        pages=True,
        guarded=True,  # it makes no connections
    )

    def __init__(self, archive: Archive, name: str = ARCHIVE, owner: Owner = LOCAL) -> None:
        self.name = name
        self._owner = owner
        self._archive = archive

    @classmethod
    def create(cls, context: ProviderContext) -> Self:
        """Create the provider.

        Raises:
            NotConfigured: the archive is disabled.
        """
        if context.archive is None:
            raise NotConfigured(context.name, "the archive is disabled: set archive.enabled = true")
        return cls(context.archive, context.name)

    def owned_by(self, owner: Owner) -> Self:
        """Return the same provider for the calls of an owner."""
        return type(self)(self._archive, self.name, owner)

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        """Search; see `SearchProvider.search`. A result without a date has the date it was archived.

        Raises:
            ProviderUnsupported: no archived results match. ProviderUnavailable: the archive cannot be used.
            ProviderTimeout: it took too long.
        """
        count = max(1, min(limit, _MOST))
        with self._errors(deadline):
            hits = await self._archive.search(
                query,
                viewer=self._owner,
                limit=count,
                filters=filters,
                offset=(filters.page - 1) * count,
                answers=True,
            )
        if not hits:
            raise ProviderUnsupported(self.name, "nothing in the archive answers this")
        return Results(tuple(map(_row, hits)), warnings=(_note(hits),))

    @contextmanager
    def _errors(self, deadline: Deadline | None) -> Iterator[None]:
        limited = (deadline or Deadline.after(_TIMEOUT)).capped(_TIMEOUT)
        if limited.passed:
            raise ProviderTimeout(self.name, "no time was left to search the archive")
        try:
            with limited.timeout():
                yield
        except TimeoutError as error:
            raise ProviderTimeout(self.name, "searching the archive took too long") from error
        except StoreError as error:
            raise ProviderUnavailable(self.name, str(error).rstrip(".")) from error


def _row(hit: ArchiveHit) -> SearchResult:
    return SearchResult(
        title=hit.title,
        url=hit.url,
        snippet=hit.snippet[:MAX_SNIPPET],
        source=ARCHIVE,
        published=hit.published,
        published_origin=f"seen {hit.seen.date()}",
        score=hit.rank,
    )


def _note(hits: Sequence[ArchiveHit]) -> str:
    first, last = min(row.seen for row in hits).date(), max(row.seen for row in hits).date()
    when = f"on {first}" if first == last else f"between {first} and {last}"
    return f"from an earlier search, seen {when}; it may be out of date"
