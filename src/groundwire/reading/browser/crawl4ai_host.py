"""The process in which Crawl4AI runs. Another interpreter may start it, so it imports nothing from this package.

It reads frames as in `groundwire.reading.workers` from standard input and writes them to standard output: `{"url",
"proxy", "timeout", "settle", "max_length"}` in, `{"url", "status", "headers", "error"}` and the HTML out. Its one
argument is a JSON object of settings.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any, BinaryIO

_SETTLED = """js:() => {
  const now = performance.now(), body = document.body;
  const nodes = document.getElementsByTagName("*").length, large = nodes > 20000;
  const text = body ? (large ? "" : body.innerText || "") : "";
  const state = document.readyState + ":" + nodes + ":" + text.length;
  if (window.__settling === undefined) window.__settling = {began: now, state: "", changed: now};
  const seen = window.__settling;
  if (seen.state !== state) { seen.state = state; seen.changed = now; }
  const filled = large || (text.length >= 200 && !/(loading|please wait)\\s*([.]{3}|…)/i.test(text.slice(0, 2000)));
  const still = document.readyState !== "loading" && now - seen.changed >= (filled ? 400 : 1500);
  return still || now - seen.began > SETTLE;
}"""


def main() -> None:
    """Serve until the end of standard input."""
    settings = json.loads(sys.argv[1])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library's output must not mix with the responses
    if settings["executable"]:
        _start_with(settings["executable"])
    asyncio.run(_serve(settings, sys.stdin.buffer, answers))


def _start_with(program: str) -> None:
    """Let Playwright start this browser instead of its own: Crawl4AI has no option for a path."""
    from playwright.async_api import Browser, BrowserType

    launch = BrowserType.launch

    async def launch_program(browsers: BrowserType, **options: Any) -> Browser:
        return await launch(browsers, **options | {"executable_path": program})

    BrowserType.launch = launch_program  # type: ignore[assignment,method-assign]


async def _serve(settings: dict[str, Any], requests: BinaryIO, answers: BinaryIO) -> None:
    from crawl4ai import AsyncWebCrawler, BrowserConfig, ProxyConfig

    browser = BrowserConfig(
        headless=True,
        verbose=False,
        extra_args=settings["flags"],
        proxy_config=ProxyConfig(server=settings["nowhere"]),
        text_mode=True,
    )
    async with AsyncWebCrawler(config=browser) as crawler:
        while line := await asyncio.to_thread(requests.readline):
            answer, html = await _rendered(crawler, json.loads(line))
            body = html.encode("utf-8", "replace")
            answers.write(json.dumps(answer | {"size": len(body)}).encode() + b"\n" + body)
            answers.flush()


async def _rendered(crawler: Any, request: dict[str, Any]) -> tuple[dict[str, Any], str]:
    from crawl4ai import CacheMode, CrawlerRunConfig, ProxyConfig

    config = CrawlerRunConfig(
        verbose=False,
        cache_mode=CacheMode.BYPASS,
        proxy_config=ProxyConfig(server=request["proxy"]),
        page_timeout=max(1, round(request["timeout"] * 1_000)),
        wait_for=_SETTLED.replace("SETTLE", str(round(request["settle"] * 1_000))),
        delay_before_return_html=0.0,
        flatten_shadow_dom=True,
        check_robots_txt=False,
    )
    try:
        result = await crawler.arun(request["url"], config=config)
    except Exception as error:  # noqa: BLE001 - whatever it is, the caller gets it as the answer
        return {"error": type(error).__name__}, ""
    headers = {str(name).lower(): str(value) for name, value in (result.response_headers or {}).items()}
    answer = {
        "url": result.redirected_url or result.url or request["url"],
        "status": getattr(result, "redirected_status_code", None) or result.status_code or 0,
        "headers": {name: value for name, value in headers.items() if len(value) < 1_000},
        "error": "" if result.success else str(result.error_message or "failed")[:2_000],
    }
    return answer, (result.html or "")[: request["max_length"]]


if __name__ == "__main__":
    main()
