"""Detection of when a page has finished loading: no requests, no changes, and some text; and of endless lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

MAX_ROUNDS: Final = 10
"""How often more entries are asked for."""
GOES_ON: Final = f"the list may continue; more of it is loaded {MAX_ROUNDS} times at most, within the time limit"
"""The warning for a list that still grew after the last time, or when the time was up."""

WATCH: Final = """(() => {
  let watches = false;
  const note = (object, name, when) => {
    object[name] = new Proxy(object[name], { apply(target, self, given) {
      watches = watches || when(given);
      return Reflect.apply(target, self, given);
    } });
  };
  note(EventTarget.prototype, "addEventListener", given => given[0] === "scroll");
  const Observer = IntersectionObserver, observe = Observer.prototype.observe;
  note(Observer.prototype, "observe", () => true);
  Object.defineProperty(window, Symbol.for("watches scrolling"), { value: () => watches || window.onscroll != null });
  Object.defineProperty(window, Symbol.for("observers called"), { value: () => new Promise(done => {
    const own = new Observer(() => { own.disconnect(); requestAnimationFrame(done) });
    observe.call(own, document.documentElement);  // the page's are older and are called first
    setTimeout(done, 4000);
  }) });
})()"""
"""Notes whether a page watches scrolling, and waits until its observers have been called for the current position;
installed before any script of the page runs."""

MORE: Final = """async first => {
  const words = new RegExp("^(load|show|view|see) (\\\\d+ )?more\\\\b.{0,30}$|^more (results|posts|items|entries)$"
    + "|^(mehr|weitere) .{0,20}(laden|anzeigen)$|^(charger|afficher|voir) .{0,20}plus.{0,20}$|^voir davantage$"
    + "|^(cargar|mostrar|ver) .{0,20}más.{0,20}$|^(carregar|mostrar|ver) .{0,20}mais.{0,20}$"
    + "|^(carica|mostra|vedi) (altri|altro|di più).{0,20}$|^(laad|toon) meer.{0,20}$|^meer laden$"
    + "|^(показать|загрузить) (ещё|еще|больше).{0,20}$|^(pokaż|załaduj) więcej.{0,20}$"
    + "|^もっと(見る|読み込む)$|^さらに(表示|読み込む)$|^(加载|加載|查看|显示|顯示)更多$|^더 ?(보기|불러오기)$", "i");
  const seen = element => element.getClientRects().length > 0 && !element.disabled;
  const leads = element => element.closest("form")
    || (element.tagName === "A" && !/^(#|javascript:|$)/i.test(element.getAttribute("href") || ""));
  const button = [...document.querySelectorAll("button, a, [role=button]")].slice(0, 5000).reverse()
    .find(element => seen(element) && !leads(element) && words.test((element.textContent || "").trim()));
  if (!button && !window[Symbol.for("watches scrolling")]?.()) return false;
  const all = [document.scrollingElement, ...document.querySelectorAll("main, [role=feed], [role=list], section, div")];
  const boxes = all.slice(0, 3000).filter(box => box && box.scrollHeight > box.clientHeight + 50
    && (box === document.scrollingElement || /auto|scroll/.test(getComputedStyle(box).overflowY)));
  for (const box of boxes) box.scrollTop = 0;  // an end that stays in view is not observed again
  await window[Symbol.for("observers called")]?.();
  const screens = first ? Math.max(...boxes.map(box => box.scrollHeight / box.clientHeight)) : 0;
  for (let screen = 1; screen < Math.min(screens, 20); screen++) {  // what is in the middle may wait to be seen, too
    for (const box of boxes) box.scrollTop = screen * box.clientHeight;
    await window[Symbol.for("observers called")]?.();
  }
  for (const box of boxes) box.scrollTop = box.scrollHeight;
  if (button) button.click();
  await window[Symbol.for("observers called")]?.();
  return true;
}"""
"""Scrolls to the end of a page, the first time screen by screen, and clicks its button for more entries, unless that is
a link or part of a form; returns whether the page has such a button or watches scrolling."""

IDLE: Final = 0.1  # seconds without a change, for a page with text, without timers and requests
QUIET: Final = 0.4  # seconds without a change after which a page with text is considered done
PATIENCE: Final = 1.5  # the same for a page without text, or one that shows a loading indicator
LONG: Final = 3.0  # seconds after which a request is no longer awaited: it stays open on purpose
FILLED: Final = 200  # characters; a page with fewer may still be loading
_COUNTED: Final = frozenset({"document", "script", "stylesheet", "fetch", "xhr"})
"""The types of requests whose responses may contain text."""

PENDING: Final = """(() => {
  const waiting = new Map(), running = new Map();
  let depth = 0;
  const far = 4, long = 2000, open = 3000;
  const now = performance.now.bind(performance);
  const track = (object, name) => {
    object[name] = new Proxy(object[name], { apply(target, self, given) {
      const promise = Reflect.apply(target, self, given), ended = () => running.delete(promise);
      running.set(promise, now());
      promise.then(ended, ended);
      return promise;
    } });
  };
  track(window, "fetch");
  for (const name of ["arrayBuffer", "blob", "json", "text"]) track(Response.prototype, name);
  XMLHttpRequest.prototype.send = new Proxy(XMLHttpRequest.prototype.send, { apply(target, self, given) {
    running.set(self, now());
    self.addEventListener("loadend", () => running.delete(self), { once: true });
    return Reflect.apply(target, self, given);
  } });
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
  Object.defineProperty(window, Symbol.for("running requests"), {
    value: () => [...running.values()].filter(began => now() - began < open).length
  });
})()"""
"""Counts the timers that will fire soon, and the requests whose responses the page's scripts still wait for, which the
browser reports later; installed before any script of the page runs. Timers that restart themselves are ignored after a
few times."""

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
    requests: window[Symbol.for("running requests")]?.() ?? 0,
  };
}"""
"""The script that polls a page; its result only decides how long to wait."""


class Look(BaseModel):
    """The state of a page when polled."""

    model_config = ConfigDict(frozen=True)

    ready: Literal["loading", "interactive", "complete"] = "loading"
    """How far its document is loaded."""
    nodes: int = 0
    """The number of its elements."""
    text: int = 0
    """The number of visible characters."""
    loading: bool = False
    """Whether it shows a loading indicator."""
    scripts: bool = True
    """Whether it has scripts."""
    timers: int = 1
    """How many of its timers fire soon."""
    requests: int = 0
    """How many requests its scripts wait for, without those that are kept open on purpose."""

    @classmethod
    def of(cls, report: Any) -> Look:
        """Return a page's report, validated: a page may have replaced the reporting function."""
        try:
            return cls.model_validate(report)
        except ValidationError:
            return cls()


@dataclass(slots=True)
class Settling:
    """Tracks one page; times are in seconds of any monotonic clock."""

    changed: float
    """The time of the last change; at first that of the start."""
    look: Look = field(default_factory=Look)
    """The last state."""
    _pending: dict[object, float] = field(default_factory=dict)

    def began(self, request: object, kind: str, now: float) -> None:
        """Record the start of a request."""
        if kind in _COUNTED:
            self._pending[request] = now
            self.changed = now

    def ended(self, request: object, now: float) -> None:
        """Record the end of a request."""
        if self._pending.pop(request, None) is not None:
            self.changed = now

    def saw(self, look: Look, now: float) -> None:
        """Record a state of the page."""
        before, self.look = self.look, look
        if (before.ready, before.nodes, before.text) != (look.ready, look.nodes, look.text):
            self.changed = now

    def done(self, now: float) -> bool:
        """Return whether the page can be read."""
        look = self.look
        if look.ready == "loading" or look.requests or any(now - began < LONG for began in self._pending.values()):
            return False
        if look.text < FILLED and (look.loading or self._pending):
            return False
        if not look.scripts and look.ready == "complete":
            return True
        if look.text < FILLED or look.loading:
            return now - self.changed >= PATIENCE
        idle = look.ready == "complete" and not look.timers and not self._pending
        return now - self.changed >= (IDLE if idle else QUIET)

    @property
    def finished(self) -> bool:
        """Whether no request that could bring text is running; otherwise there is a warning."""
        return self.look.ready == "complete" and not self.look.loading
