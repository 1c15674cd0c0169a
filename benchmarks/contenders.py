"""The contenders of `overhead.py`: Python snippets that run in separate processes.

A piece defines `ready`, an asynchronous context manager that gives a function without arguments, asynchronous or not,
that searches once and returns the number of results. It finds the addresses of the services in `URLS` and makes its
query with `words`, which gives other words each time.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Contender:
    """One piece."""

    service: str
    """Which service of the miniature web it asks; only those that ask the same are strictly comparable."""
    code: str
    peer: bool = True
    """Whether it runs in the peers' environment."""
    most: float = 0.0
    """How many times bare aiohttp's CPU it may take; 0 sets no target."""
    valkey: bool = False
    """Whether it needs a Valkey server."""


# With its usual timeout a search is refused when a busy machine starves the event loop, as it should be.
_OURS = """
import tempfile
SESSION = ""
from contextlib import asynccontextmanager
from groundwire import Settings, Web
from groundwire.safety.tenancy import LOCAL
@asynccontextmanager
async def ready():
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.model_validate({"search": {"providers": ("tavily",), "timeout": 60},
            "session": {"max_searches": 1_000_000, "id": SESSION},
            "providers": {"tavily": {"base_url": URLS["tavily"]}}, "keys": {"TAVILY_API_KEY": "test-key"}, %s})
        async with Web(settings) as web:
            async def ask():
                return len((await web.search(%s, limit=10)).results)
            if web.archive is not None:
                ask.settle = lambda: web.archive.get_page("https://nothing.test/", viewer=LOCAL)  # waits for writes
            yield ask
"""
_MEMORY = '"storage": {"url": "memory://"}, "archive": {"enabled": False}'
_SQLITE = '"storage": {"url": f"sqlite:///{folder}/store.db"}, "archive": {"path": f"{folder}/archive.db"}'
_NAMED = "import uuid\nSESSION = uuid.uuid4().hex"
_VALKEY = '"storage": {"url": URLS["valkey"]}, "archive": {"path": f"{folder}/archive.db"}'

_DOCUMENT_H = """
import os, httpx
from contextlib import asynccontextmanager
from ddgs import DDGS
from ddgs.engines.duckduckgo import Duckduckgo
Duckduckgo.search_url = %s
def search_duckduckgo(query, max_results):
    with DDGS() as ddgs:
        return list(ddgs.text(query, max_results=max_results, backend="duckduckgo"))
def search_brave(query, max_results):
    response = httpx.get(URLS["brave"] + "/res/v1/web/search", params={"q": query, "count": max_results},
        headers={"X-Subscription-Token": "test-key"})
    response.raise_for_status()
    return response.json().get("web", {}).get("results", [])
def web_search():
    for search in (search_duckduckgo, search_brave):
        try:
            if results := search(words(), 10):
                return len(results)
        except Exception as error:
            failed = error
    raise failed
@asynccontextmanager
async def ready():
    yield web_search
"""

_LITELLM = """
import os
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
from contextlib import asynccontextmanager
import litellm
@asynccontextmanager
async def ready():
    async def ask():
        return len((await litellm.asearch(query=words(), search_provider="%(name)s", api_key="test-key",
            api_base=%(base)s, max_results=10)).results)
    yield ask
"""

_OPEN_WEBUI = """
import os, tempfile
folder = tempfile.TemporaryDirectory()
os.environ |= {"DATA_DIR": folder.name, "WEBUI_SECRET_KEY": "x", "FROM_INIT_PY": "true", "VECTOR_DB": "none",
    "TAVILY_API_BASE_URL": URLS["tavily"], "GLOBAL_LOG_LEVEL": "ERROR"}
from contextlib import asynccontextmanager
"""

CONTENDERS = {
    "bare aiohttp, json.loads": Contender(
        "tavily",
        """
from contextlib import asynccontextmanager
import aiohttp
@asynccontextmanager
async def ready():
    async with aiohttp.ClientSession(headers={"Authorization": "Bearer test-key"}) as session:
        async def ask():
            async with session.post(URLS["tavily"] + "/search", json={"query": words(), "max_results": 10}) as reply:
                return len(json.loads(await reply.read())["results"])
        yield ask
""",
        peer=False,
    ),
    "groundwire, one provider": Contender(
        "tavily",
        """
from contextlib import asynccontextmanager
from pydantic import SecretStr
from groundwire.providers.key_rotation import Keys
from groundwire.providers.tavily import TavilyProvider
from groundwire.safety.guard import Guard
from groundwire.transport import Transport
@asynccontextmanager
async def ready():
    url = URLS["tavily"]
    transport = Transport(Guard(allowed_origins=(url,)))
    provider = TavilyProvider(transport, keys=Keys("tavily", [SecretStr("test-key")]), base_url=url, name="tavily")
    async def ask():
        return len(await provider.search(words(), limit=10))
    yield ask
    await transport.aclose()
""",
        peer=False,
    ),
    "groundwire, nothing kept": Contender(
        "tavily", _OURS % (f'{_MEMORY}, "cache": {{"enabled": False}}', "words()"), peer=False
    ),
    "groundwire, everything on, in memory": Contender("tavily", _OURS % (_MEMORY, "words()"), peer=False, most=4.0),
    "groundwire, the defaults: SQLite and archive": Contender(
        "tavily", _OURS % (_SQLITE, "words()"), peer=False, most=6.0
    ),
    "groundwire, everything on, in Valkey, a named session": Contender(
        "tavily", (_OURS % (_VALKEY, "words()")).replace('SESSION = ""', _NAMED), peer=False, most=6.0, valkey=True
    ),
    "groundwire, SQLite, answered by the cache": Contender(
        "tavily", _OURS % (_SQLITE, "'search engines 100000'"), peer=False
    ),
    "tavily-python, one client": Contender(
        "tavily",
        """
from contextlib import asynccontextmanager
from tavily import AsyncTavilyClient
@asynccontextmanager
async def ready():
    client = AsyncTavilyClient(api_key="test-key", api_base_url=URLS["tavily"])
    async def ask():
        return len((await client.search(words(), max_results=10))["results"])
    yield ask
""",
    ),
    "Open WebUI, search_tavily": Contender(
        "tavily",
        _OPEN_WEBUI
        + """
from open_webui.retrieval.web.tavily import search_tavily
@asynccontextmanager
async def ready():
    yield lambda: len(search_tavily("test-key", words(), 10))
""",
    ),
    "Open WebUI, search_searxng": Contender(
        "searxng",
        _OPEN_WEBUI
        + """
from open_webui.retrieval.web.searxng import search_searxng
from open_webui.utils.session_pool import close_session
@asynccontextmanager
async def ready():
    async def ask():
        return len(await search_searxng(URLS["searxng"] + "/search", words(), 10))
    yield ask
    await close_session()
""",
    ),
    "exa-py, one client": Contender(
        "exa",
        """
from contextlib import asynccontextmanager
from exa_py import AsyncExa
@asynccontextmanager
async def ready():
    client = AsyncExa(api_key="test-key", api_base=URLS["exa"])
    async def ask():
        return len((await client.search(words(), num_results=10, contents=False)).results)
    yield ask
""",
    ),
    "litellm.asearch, tavily": Contender("tavily", _LITELLM % {"name": "tavily", "base": 'URLS["tavily"]'}),
    "litellm.asearch, brave": Contender(
        "brave", _LITELLM % {"name": "brave", "base": 'URLS["brave"] + "/res/v1/web/search"'}
    ),
    "ddgs, one client": Contender(
        "duckduckgo",
        """
from contextlib import asynccontextmanager
from ddgs import DDGS
from ddgs.engines.duckduckgo import Duckduckgo
Duckduckgo.search_url = URLS["duckduckgo_lite"] + "/html/"
@asynccontextmanager
async def ready():
    client = DDGS()
    yield lambda: len(client.text(words(), max_results=10, backend="duckduckgo"))
""",
    ),
    "haytham, answered by ddgs": Contender("duckduckgo", _DOCUMENT_H % 'URLS["duckduckgo_lite"] + "/html/"'),
    "haytham, DuckDuckGo refuses, answered by Brave": Contender("brave", _DOCUMENT_H % 'URLS["nobody"] + "/html/"'),
    "anysearch-sdk, tavily": Contender(
        "tavily",
        """
from contextlib import asynccontextmanager
from anysearch import AnySearch
@asynccontextmanager
async def ready():
    client = AnySearch(provider="tavily", api_key="test-key", base_url=URLS["tavily"])
    async def ask():
        return len((await client.asearch(words(), max_results=10)).results)
    yield ask
""",
    ),
}
