"""The settings of a SearXNG that calls only a stand-in on loopback.

Their names are those of https://docs.searxng.org/admin/settings/.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

ENGINES = {
    "localjson": "ten rows a page, pages and time ranges; on by default",
    "localxpath": "five rows from HTML, one page; on by default",
    "localsql": "rows from a database whose titles have the words, without a network",
    "empty": "nothing, and says so properly",
    "slow": "too late: timeout",
    "e403": "access denied",
    "e429": "too many requests",
    "e500": "HTTP error",
    "recaptcha": "CAPTCHA",
    "badjson": "parsing error",
    "refused": "HTTP connection error",
    "banned": "access denied, from the second time on Suspended: access denied",
}
"""The engines to ask for, and how each answers."""

_FAILING = {
    "empty": "/empty",
    "slow": "/slow",
    "e403": "/status/403",
    "e429": "/status/429",
    "e500": "/status/500",
    "recaptcha": "/recaptcha",
    "badjson": "/badjson",
    "banned": "/firewall",
}
_SUSPENSIONS = {
    "SearxEngineAccessDenied": 0,  # seconds; a test must not feel what the one before it did
    "SearxEngineCaptcha": 0,
    "SearxEngineTooManyRequests": 0,
    "cf_SearxEngineCaptcha": 0,
    "cf_SearxEngineAccessDenied": 86_400,  # the engine `banned`, for good
    "recaptcha_SearxEngineCaptcha": 0,
}
_NOBODY = "http://127.0.0.1:9"  # the discard port, where nothing listens


def write_settings(folder: Path, *, upstream: str, port: int, json_format: bool, limiter: str | None) -> Path:
    """Write the settings into `folder` and return the file.

    Args:
        folder: Where the files go.
        upstream: The address of the stand-in for search engines.
        port: The port to serve on.
        json_format: Whether `format=json` is allowed; else it is answered with 403.
        limiter: The address of a Valkey to switch the rate limiter on with.
    """
    file = folder / "settings.yml"
    settings = {
        "use_default_settings": {"engines": {"keep_only": []}},
        "general": {"instance_name": "test"},
        "search": {
            "autocomplete": "",
            "formats": ["html", "json"] if json_format else ["html"],
            "ban_time_on_fail": 0,
            "max_ban_time_on_fail": 0,
            "suspended_times": _SUSPENSIONS,
        },
        "server": {
            "secret_key": "only-for-tests",
            "bind_address": "127.0.0.1",
            "port": port,
            "limiter": limiter is not None,
            "image_proxy": False,
        },
        "valkey": {"url": limiter or False},
        "plugins": {},  # the default set fetches rule lists from the network when it starts
        "outgoing": {"request_timeout": 30.0, "max_request_timeout": 30.0},
        "engines": _engines(upstream, _database(folder / "rows.db")),
    }
    file.write_text(json.dumps(settings, indent=1), "utf-8")  # JSON is YAML
    (folder / "limiter.toml").write_text("[botdetection.ip_lists]\npass_searxng_org = false\n", "utf-8")
    return file


def _engines(upstream: str, database: Path) -> list[dict[str, object]]:
    paging = _json_engine(
        "localjson", upstream + "/json?q={query}&page={pageno}{time_range}", paging=True, time_range_support=True
    )
    xpath = {
        "search_url": upstream + "/html?q={query}",
        "results_xpath": '//div[@class="r"]',
        "url_xpath": "./a/@href",
        "title_xpath": "./a",
        "content_xpath": "./p",
    }
    sqlite = {
        "database": str(database),
        "query_str": "SELECT title, url, body AS content FROM rows WHERE title LIKE :wildcard",
        "result_type": "MainResult",
    }
    return [
        paging | {"disabled": False},
        _engine("localxpath", "xpath", **xpath) | {"disabled": False},
        _engine("localsql", "sqlite", **sqlite),
        *(_json_engine(name, upstream + path + "?q={query}") for name, path in _FAILING.items()),
        _json_engine("refused", _NOBODY + "/?q={query}"),
    ]


def _json_engine(name: str, search_url: str, **more: object) -> dict[str, object]:
    return _engine(
        name,
        "json_engine",
        search_url=search_url,
        results_query="items",
        url_query="url",
        title_query="title",
        content_query="text",
        content_html_to_text=True,
        **more,
    )


def _engine(name: str, module: str, **more: object) -> dict[str, object]:
    return {
        "name": name,
        "engine": module,
        "shortcut": name,
        "categories": ["general"],
        "timeout": 1.0 if name == "slow" else 30.0,  # seconds; a busy machine makes every engine slow
        "enable_http": True,  # without it an engine without TLS reports "unexpected crash"
        "disabled": True,
        **more,
    }


def _database(path: Path) -> Path:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE rows (title, url, body)")
        rows = [(f"SQLite row {n} python", f"https://sql{n}.example/", f"body {n}") for n in range(25)]
        connection.executemany("INSERT INTO rows VALUES (?, ?, ?)", rows)
    return path
