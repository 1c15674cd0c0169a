"""When a page has filled itself: nothing is under way, nothing changes any more, and there is something to read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["PROBE", "TIMERS", "Look", "Settling"]

IDLE: Final = 0.1  # seconds without a change for a page with text that has set no timer and asked for nothing
QUIET: Final = 0.4  # seconds without a change after which a page with text is taken to be done
PATIENCE: Final = 1.5  # the same for a page that has nothing to read yet, or says that it is loading
LONG: Final = 3.0  # seconds after which a request is no longer waited for: it stays open by intent
FILLED: Final = 200  # characters; a page with fewer may still be about to fill itself
_COUNTED: Final = frozenset({"document", "script", "stylesheet", "fetch", "xhr"})
"""The kinds of requests whose answers may bring text."""

TIMERS: Final = """(() => {
  const waiting = new Map();
  let depth = 0;
  const far = 4, long = 2000;
  setTimeout = new Proxy(setTimeout, { apply(target, self, given) {
    const [run, delay] = given, mine = depth + 1;
    if (typeof run !== "function" || delay > long || mine > far) return Reflect.apply(target, self, given);
    const id = Reflect.apply(target, self, [function (...rest) {
      waiting.delete(id);
      const before = depth;
      depth = mine;
      try { return run.apply(this, rest) } finally { depth = before }
    }, ...given.slice(1)]);
    waiting.set(id, true);
    return id;
  } });
  clearTimeout = new Proxy(clearTimeout, { apply(target, self, given) {
    waiting.delete(given[0]);
    return Reflect.apply(target, self, given);
  } });
  Object.defineProperty(window, Symbol.for("waiting timers"), { value: () => waiting.size });
})()"""
"""Counts the timers that will fire soon, before any script of the page runs; timers that restart themselves are
ignored after a few times."""

PROBE: Final = """() => {
  const body = document.body;
  const nodes = document.getElementsByTagName("*").length;
  const large = nodes > 20000;
  const text = body && !large ? (body.innerText || "") : "";
  const seen = element => element.getClientRects().length > 0;
  const busy = '[aria-busy="true"], [role="progressbar"], [class*="skeleton" i], [class*="spinner" i], .loading'
    + ", .loader";
  const words = new RegExp("^\\\\s*(loading|please wait|one moment|wird geladen|chargement|cargando|caricamento"
    + "|carregando|laden|загрузка|ładowanie|読み込み中|加载中|불러오는)|(loading|please wait)\\\\s*([.]{3}|…)", "im");
  return {
    ready: document.readyState,
    nodes: nodes,
    text: large ? nodes : text.length,
    loading: !large && (text.length < 2000 && words.test(text)
      || [...document.querySelectorAll(busy)].slice(0, 50).some(seen)),
    scripts: document.scripts.length > 0,
    timers: window[Symbol.for("waiting timers")]?.() ?? 1,
  };
}"""
"""What is asked of a page again and again; what it answers decides how long it is waited for and nothing else."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at a page showed."""

    ready: str = "loading"
    """`loading`, `interactive` or `complete`."""
    nodes: int = 0
    """Its elements."""
    text: int = 0
    """The characters that a person sees."""
    loading: bool = False
    """Whether it says or shows that it is loading."""
    scripts: bool = True
    """Whether it has scripts."""
    timers: bool = True
    """Whether timers of it are soon to ring."""

    @classmethod
    def of(cls, told: Any) -> Look:
        """Return what a page reported, validated: a page may have replaced the function that reports."""
        if not isinstance(told, dict):
            return cls()
        ready, nodes, text = told.get("ready"), told.get("nodes"), told.get("text")
        return cls(
            ready=ready if ready in {"loading", "interactive", "complete"} else "loading",
            nodes=int(nodes) if isinstance(nodes, (int, float)) and nodes == nodes and abs(nodes) < 1e9 else 0,
            text=int(text) if isinstance(text, (int, float)) and text == text and abs(text) < 1e12 else 0,
            loading=told.get("loading") is True,
            scripts=told.get("scripts") is not False,
            timers=told.get("timers") != 0,
        )


@dataclass(slots=True)
class Settling:
    """Follows one page; times are seconds of any clock that does not go back."""

    now: float
    """When it began."""
    changed: float = field(init=False)
    """When something changed last."""
    look: Look = field(default_factory=Look)
    """What was seen last."""
    _pending: dict[object, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.changed = self.now

    def began(self, request: object, kind: str, now: float) -> None:
        """Note a request."""
        if kind in _COUNTED:
            self._pending[request] = now
            self.changed = now

    def ended(self, request: object, now: float) -> None:
        """Note that a request is over."""
        if self._pending.pop(request, None) is not None:
            self.changed = now

    def saw(self, look: Look, now: float) -> None:
        """Note a look at the page."""
        before, self.look = self.look, look
        if (before.ready, before.nodes, before.text) != (look.ready, look.nodes, look.text):
            self.changed = now

    def done(self, now: float) -> bool:
        """Tell whether the page can be read."""
        look = self.look
        if look.ready == "loading" or any(now - began < LONG for began in self._pending.values()):
            return False
        if not look.scripts and look.ready == "complete":
            return True
        if look.text < FILLED or look.loading:
            return now - self.changed >= PATIENCE
        idle = look.ready == "complete" and not look.timers and not self._pending
        return now - self.changed >= (IDLE if idle else QUIET)

    @property
    def finished(self) -> bool:
        """Whether nothing that brings text is under way; what is not finished is said to be so."""
        return self.look.ready == "complete" and not self.look.loading
