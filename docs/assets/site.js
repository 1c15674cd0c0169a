// Wide tables scroll: let the keyboard reach them. The theme wraps tables after the page has loaded.
const reachable = () => {
  for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) {
    if (wrap.scrollWidth > wrap.clientWidth) wrap.tabIndex = 0;
  }
};
new MutationObserver(reachable).observe(document.documentElement, { childList: true, subtree: true });
addEventListener("resize", reachable);
reachable();
