// Comfort only: everything on the page works without this file.
(() => {
  "use strict";

  // The theme of the system, or the one that was chosen here.
  const root = document.documentElement;
  const stored = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null; // a browser that keeps nothing has the system's
    }
  };
  if (stored()) root.dataset.theme = stored();
  const offerThemes = () => {
    const button = document.querySelector("button.theme");
    if (!button || !button.hidden) return;
    const isDark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "")) === "dark";
    const say = () => (button.textContent = isDark() ? "Light theme" : "Dark theme");
    button.hidden = false;
    say();
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      say();
      try {
        localStorage.setItem("theme", root.dataset.theme);
      } catch {
        // It holds for this page.
      }
    });
  };

  offerThemes(); // at once where the bar is there: the rest of the page may take its time

  const field = () => document.getElementById("q");
  const links = () => [...document.querySelectorAll(".found a.read")];
  const isWriting = (target) =>
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (isWriting(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (event.key === "/" && field()) {
      event.preventDefault();
      field().focus();
      field().select();
    } else if (event.key === "j" || event.key === "k") {
      const all = links();
      const here = all.indexOf(document.activeElement);
      const from = here >= 0 ? here : all.findIndex((one) => one.hasAttribute("aria-current"));
      const next = all[Math.min(all.length - 1, Math.max(0, from + (event.key === "j" ? 1 : -1)))];
      if (next) {
        next.focus();
        next.closest("li").scrollIntoView({ block: "nearest" });
      }
    }
  });

  // What a search takes: counted while the page is still coming.
  const begun = performance.now();
  const count = setInterval(() => {
    const seconds = Math.round((performance.now() - begun) / 1000);
    for (const one of document.querySelectorAll("[data-elapsed]")) one.textContent = seconds ? `${seconds} s` : "";
    if (document.readyState === "complete") clearInterval(count);
  }, 250);

  // The list stays where it was when a page is opened beside it.
  const place = () => `place:${location.pathname}:${new URLSearchParams(location.search).get("q") ?? ""}`;
  // The answers that this one follows stand above it, oldest first; a tab remembers its own.
  const conversation = () => {
    const prose = document.querySelector("[data-question]");
    if (!prose) return;
    const { question, follows } = prose.dataset;
    let said = {};
    try {
      said = JSON.parse(sessionStorage.getItem("answers") ?? "{}");
      delete said[question];
      said[question] = { follows, html: prose.innerHTML };
      const latest = Object.entries(said).slice(-20);
      sessionStorage.setItem("answers", JSON.stringify(Object.fromEntries(latest)));
    } catch {
      return; // A browser that keeps nothing shows this answer only.
    }
    const shown = new Set([question]);
    let above = prose.closest("section").querySelector("h2");
    for (let one = follows; said[one] && !shown.has(one); one = said[one].follows) {
      shown.add(one);
      const entry = document.createElement("details");
      entry.className = "earlier";
      const title = entry.appendChild(document.createElement("summary"));
      const text = entry.appendChild(document.createElement("div"));
      text.className = "prose";
      title.dir = text.dir = "auto";
      title.textContent = one;
      // Its numbers still lead to its own sources; the page's policy lets nothing in it run.
      text.append(...new DOMParser().parseFromString(said[one].html, "text/html").body.childNodes);
      above.before(entry);
      above = entry;
    }
  };

  // What was searched for and found before, while a query is typed.
  const suggest = () => {
    const box = field();
    const list = document.getElementById("suggestions");
    if (!box || !list) return;
    const roles = { role: "combobox", "aria-autocomplete": "list", "aria-controls": list.id, "aria-expanded": "false" };
    for (const [name, value] of Object.entries(roles)) box.setAttribute(name, value);
    let typed = "";
    let asking = new AbortController();
    const show = (texts) => {
      const options = texts.map((text, number) => {
        const option = document.createElement("li");
        option.id = `suggestion${number}`;
        option.role = "option";
        option.dir = "auto";
        option.textContent = text;
        return option;
      });
      list.replaceChildren(...options);
      list.hidden = !options.length;
      box.setAttribute("aria-expanded", String(!list.hidden));
      box.removeAttribute("aria-activedescendant");
    };
    const close = () => {
      asking.abort();
      show([]);
    };
    box.addEventListener("input", async () => {
      asking.abort();
      typed = box.value;
      if (typed.trim().length < 2) return show([]);
      const { signal } = (asking = new AbortController());
      try {
        await new Promise((resolve) => setTimeout(resolve, 100));
        const asked = new URLSearchParams({ q: typed });
        const texts = signal.aborted ? [] : await (await fetch(`/page/suggestions?${asked}`, { signal })).json();
        if (!signal.aborted) show(texts.filter((text) => text !== typed));
      } catch {
        if (!signal.aborted) show([]); // nothing to suggest is no failure of the page
      }
    });
    box.addEventListener("keydown", (event) => {
      if (list.hidden || event.isComposing) return;
      const options = [...list.children];
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") {
        close();
        event.stopPropagation();
      } else if (step) {
        const places = [null, ...options]; // the first is what was typed
        const from = places.findIndex((one) => one?.ariaSelected === "true");
        const next = places.at((Math.max(from, 0) + step) % places.length);
        for (const one of options) one.ariaSelected = String(one === next);
        if (next) box.setAttribute("aria-activedescendant", next.id);
        else box.removeAttribute("aria-activedescendant");
        box.value = next ? next.textContent : typed;
      } else return;
      event.preventDefault();
    });
    box.addEventListener("blur", close);
    list.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
    list.addEventListener("click", (event) => {
      box.value = event.target.closest("li").textContent;
      box.form.requestSubmit();
    });
  };

  const ready = () => {
    offerThemes();
    suggest();
    mark();
    conversation();
    const list = document.getElementById("results");
    if (!list) return;
    try {
      list.scrollTop = Number(sessionStorage.getItem(place()) ?? 0);
      addEventListener("pagehide", () => sessionStorage.setItem(place(), String(list.scrollTop)));
    } catch {
      // A browser that keeps nothing begins at the top.
    }
  };

  // Words that were looked for are shown where they stand, without changing the page.
  const mark = () => {
    const said = document.querySelector("[data-find]");
    const prose = document.querySelector(".prose");
    if (!said || !prose || !("highlights" in CSS)) return;
    const wanted = said.dataset.find.toLowerCase();
    const ranges = [];
    const walker = document.createTreeWalker(prose, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node && ranges.length < 500; node = walker.nextNode()) {
      const text = node.data.toLowerCase();
      if (text.length !== node.data.length) continue;
      for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + wanted.length);
        ranges.push(range);
      }
    }
    CSS.highlights.set("found", new Highlight(...ranges));
  };

  if (document.readyState === "loading") addEventListener("DOMContentLoaded", ready);
  else ready();

  // Empty fields would only make the address long.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "get") return;
    for (const one of form.elements) if (one.name && !one.value) one.disabled = true;
    setTimeout(() => {
      for (const one of form.elements) one.disabled = false;
    });
    form.classList.add("sent");
  });
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form.sent")) form.classList.remove("sent");
  });
})();
