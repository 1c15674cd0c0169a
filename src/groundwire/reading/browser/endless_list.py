"""Lists that load more entries when a visitor scrolls or clicks: scripts that do so, to a bound."""

from __future__ import annotations

from typing import Final

__all__ = ["GOES_ON", "MAX_ROUNDS", "MORE", "TOP", "WATCH"]

MAX_ROUNDS: Final = 10
"""How often more entries are asked for."""
GOES_ON: Final = f"the page's list goes on; more of it was loaded {MAX_ROUNDS} times"
"""The warning for a list that still grew after the last time."""

WATCH: Final = """(() => {
  let watches = false;
  const note = (object, name, when) => {
    object[name] = new Proxy(object[name], { apply(target, self, given) {
      watches = watches || when(given);
      return Reflect.apply(target, self, given);
    } });
  };
  note(EventTarget.prototype, "addEventListener", given => given[0] === "scroll");
  note(IntersectionObserver.prototype, "observe", () => true);
  Object.defineProperty(window, Symbol.for("watches scrolling"), { value: () => watches || window.onscroll != null });
})()"""
"""Notes whether a page watches scrolling, installed before any script of the page runs."""

MORE: Final = """async () => {
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
  await new Promise(shown => { requestAnimationFrame(() => requestAnimationFrame(shown)); setTimeout(shown, 200) });
  for (const box of boxes) box.scrollTop = box.scrollHeight;
  if (button) button.click();
  return true;
}"""
"""Scrolls to the end of a page and clicks its button for more entries, unless that is a link or part of a form;
returns whether the page has such a button or watches scrolling."""

TOP: Final = "() => { window.scrollTo(0, 0) }"
"""Scrolls back: some pages keep only the entries in view."""
