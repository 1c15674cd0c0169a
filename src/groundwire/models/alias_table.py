"""Other libraries' names for methods, arguments, fields, classes and errors: the one table behind every interface.

The names are those of tavily-python, exa-py, ddgs, firecrawl-py, the APIs of Brave, Perplexity, Linkup, Valyu, Serper
and SerpApi, the web tools of OpenAI and Anthropic, LangChain's tools, httpx, requests, curl, gh, ddgr and lynx.

An argument that Groundwire has under another name is renamed. One that asks for something in addition to the right
results, or for another way of getting them, has no effect, and a warning in the response says so. One that asks for
different results is refused: ignoring it would return something that was not asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = [
    "ASK",
    "FLAGS",
    "FOREIGN",
    "FRAMEWORKS",
    "HARMLESS_HEADERS",
    "IMPLIED",
    "KEY_PREFIXES",
    "LIKE_METHODS",
    "LIKE_MODULES",
    "METHODS",
    "NEWS",
    "NO_EFFECT",
    "NO_EFFECT_VALUES",
    "OPEN_PAGE",
    "PROPERTIES",
    "SAFE_SEARCHES",
    "SEARCH",
    "SETTINGS",
    "SHORT_OPTIONS",
    "TOOL_CALLS",
    "TOPICS",
    "VENDORS",
]


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.title, rest))


def _names(**others: str) -> Mapping[str, str]:
    """Return the right name of each other name, in snake case and in camel case."""
    table = {other: right for right, words in others.items() for other in words.split()}
    return MappingProxyType({_camel(other): right for other, right in table.items()} | table)


def _hints(hints: Mapping[str, str]) -> Mapping[str, str]:
    """Return the hint of each name, in snake case and in camel case."""
    each = {name: hint for words, hint in hints.items() for name in words.split()}
    return MappingProxyType({_camel(name): hint for name, hint in each.items()} | each)


SEARCH: Mapping[str, str] = _names(
    query="q search_query search_queries queries search_term text keywords keyword question objective term "
    "search input",
    limit="count k n num size top_k max num_results max_results max_num_results number_of_results result_count "
    "results_count num_web_results results top rows results_per_page per_page page_size n_results total_results",
    allowed_domains="domains include_domains site sites include_sites search_domain_filter domain include_domain "
    "included_sources included_domains domain_filter site_filter only_domains",
    blocked_domains="exclude_domains exclude_sites block_domains excluded_domains exclude_domain excluded_sources "
    "exclude_site",
    time_range="freshness recency timelimit time search_recency_filter date_range period time_filter time_limit",
    published_after="start_date start_published_date after from_date since search_after_date_filter date_from "
    "date_after min_date",
    published_before="end_date end_published_date before to_date until search_before_date_filter date_to date_before "
    "max_date",
    language="lang search_lang hl lr search_language_filter language_code",
    region="country gl country_code cc user_location",
    safesearch="safe_search safe adult family_filter",
    page="pageno page_number",
    timeout="max_time request_timeout timeout_seconds",
    refresh="no_cache force_refresh bypass_cache skip_cache fresh",
    keep="store_in_cache",
)
"""Other names of the arguments of a search."""

OPEN_PAGE: Mapping[str, str] = _names(
    url="href link page page_url uri u id website target_url",
    max_length="max_characters max_chars max_content_length text_max_characters max_content_chars character_limit",
    max_tokens="max_content_tokens max_tokens_per_page token_limit",
    query="prompt question objective instructions q",
    cursor="next_cursor page_cursor",
    find="pattern search_text",
    timeout="max_time request_timeout timeout_seconds page_timeout",
    refresh="no_cache force_refresh bypass_cache skip_cache fresh",
    keep="store_in_cache",
)
"""Other names of the arguments of reading a page."""

ASK: Mapping[str, str] = _names(question="input prompt q query message", timeout="max_time request_timeout")
"""Other names of the arguments of asking a question."""

METHODS: Mapping[str, str] = _names(
    open_page="extract fetch get open open_url read scrape scrape_url load read_page get_page read_url fetch_page "
    "fetch_url extract_content web_fetch get_content crawling",
    open_pages="batch open_many read_many fetch_many get_many scrape_many extract_many open_all batch_scrape open_urls "
    "read_pages get_contents contents scrape_urls batch_scrape_urls fetch_pages",
    search="query search_web text web_search search_text websearch",
    ask="answer qna_search chat",
)
"""Names of search, open and answer methods in other libraries, mapped to Groundwire's methods."""

NEWS = frozenset(("news", "search_news", "news_search", "searchNews"))
"""Names of methods that search for news: `search` with the topic `news`."""

TOOL_CALLS = frozenset(("call_tool", "run_tool", "execute_tool", "handle_tool_call", "invoke_tool", "dispatch"))
"""Methods that call a tool by its name."""

PROPERTIES: Mapping[str, str] = MappingProxyType(
    {"providers": "search_providers", "config": "settings"}
    | dict.fromkeys(("search_many", "batch_search", "multi_search", "search_all", "search_batch"), "_search_several")
)
"""Attributes of a client, and methods that make several searches."""

TOPICS = frozenset(("topic", "category", "categories", "vertical", "type", "search_type", "search_mode", "sources"))
"""Arguments whose value `news` means recent pages."""

KEY_PREFIXES: Mapping[str, str] = MappingProxyType(
    {"tvly-": "tavily", "BSA": "brave", "fc-": "firecrawl", "pplx-": "perplexity", "jina_": "jina"}
)
"""The provider of a key, by the key's beginning."""

VENDORS = frozenset(("tavily", "brave", "exa", "firecrawl", "perplexity", "serper", "jina", "kagi", "ddg", "linkup"))
"""Words in the names of other libraries' tools, such as `tavily_search` and `web_search_exa`."""

LIKE_METHODS: Mapping[str, str] = MappingProxyType(
    {
        **_names(
            open_page="crawl crawl_url sitemap screenshot start_crawl arun",
            search="find_similar find_similar_and_contents get_search_context images videos image_search "
            "suggestions books results run invoke ainvoke asearch",
            ask="research complete responses stream_answer deep_research",
        ),
        "stream": "ask(..., stream=True)",
        "provider": "search_providers[0].name",
        **dict.fromkeys(("verify", "verify_answer", "verify_claim", "check_claims", "fact_check"), "SyncWeb().verify"),
        "timeout": "settings.search.timeout",
        **dict.fromkeys(("map", "map_url", "map_site", "get_links", "links", "extract_links"), "open_page(url).links"),
        **dict.fromkeys(("cost", "total_cost", "spent", "cost_usd", "stats", "credits", "get_usage"), "usage()"),
        **dict.fromkeys(("history", "log", "visited", "citations"), "sources()"),
        **dict.fromkeys(("cache", "clear_cache", "cache_clear"), "Web(cache=False), or refresh=True"),
        **dict.fromkeys(("enable_logging", "set_debug", "debug", "logger"), "logging.getLogger('groundwire')"),
        **dict.fromkeys(("search_and_contents", "searchAndContents"), "search(), then open_pages()"),
        "as_retriever": "groundwire.integrations",
        "with_options": "session",
        "post": "open_page",
    }
)
"""Other libraries' methods that have no equivalent here, with the nearest one for the error message."""

NO_EFFECT: Mapping[str, str] = _hints(
    {
        "search_depth depth mode search_context_size fast_mode reasoning_depth extract_effort effort": (
            "a search is as deep as its provider's; read pages with open_page()"
        ),
        "extract_depth": "pages are always Markdown",
        (
            "processor enterprise alexandria premium_proxy lockdown profile include_favicon include_usage "
            "include_metadata include_abstracts auto_parameters use_autoprompt spellcheck text_decorations ui_lang "
            "units return_related_questions related_questions display_server_time is_tool_call moderation flags "
            "integration idempotency_key client_name client_source project_id origin max_concurrency session_id user "
            "user_id extra_headers extra_query extra_body metadata max_uses cache_control max_price max_credits "
            "response_inclusion async_mode verbose hooks extensions request_id audit_metadata auto_resume tool_detail "
            "autocorrect google_domain device ignore_invalid_urls filter_empty_results max_price_dollars "
            "data_max_price check_prompt_injection threat_protection"
        ): "leave it out",
        "include_answer include_inline_citations include_sources return_citations citation_format citations": (
            "use ask() for an answer with citations"
        ),
        (
            "contents include_raw_content scrape_options fetch_content include_content include_raw_html include_html "
            "text_contents_options enable_web_search get_content"
        ): "use open_page(), or open() of a result",
        (
            "summary highlights include_summary extra_snippets chunks_per_source max_chunks num_sentences "
            "n_snippets_per_hit max_snippets excerpts context max_chars_per_result"
        ): "use open_page() with query and max_length",
        (
            "max_tokens max_tokens_per_page max_characters max_chars max_content_length context_max_characters "
            "response_length text_max_characters max_output_tokens token_budget"
        ): "use limit, and open_page() with max_length or max_tokens",
        (
            "include_images include_image_descriptions images return_images include_image_links extract_images "
            "remove_base64_images include_videos include_links"
        ): "results are web pages, and pages are text",
        (
            "livecrawl max_age max_age_hours use_cache cache historical_cache historical_cache_strict cache_fallback "
            "use_index cache_mode fetch_policy livecrawl_formats"
        ): "use refresh",
        "fetch_timeout livecrawl_timeout max_wait_time": "use timeout",
        (
            "wait_for wait_until wait_time delay poll_interval wait_timeout mobile parsers parse_pdf block_ads "
            "use_mock render_js js render headless javascript browser only_main_content remove_overlay_elements "
            "word_count_threshold include_tags exclude_tags excluded_tags only_text text readability wait stream "
            "with_generated_alt with_links_summary "
            "with_images_summary"
        ): "pages are always rendered as far as they need, and returned as clean Markdown",
        "user_agent": "use the setting network.user_agent",
        "timeout_ms": "use timeout, in seconds",
        "max_retries retries retry backoff_factor": "leave it out: a failed provider is followed by the next one",
        "webhook webhook_url on_progress": "the call returns when it is done",
    }
)
"""Arguments without effect, with what to use instead: the results are right without them."""

_REFUSED: Mapping[str, str] = _hints(
    {
        "days max_age_days recency_days tbs locale": "use time_range, published_after, language and region",
        "start_crawl_date end_crawl_date last_updated_after_filter last_updated_before_filter": (
            "use published_after and published_before"
        ),
        "filter_by_language": "use language",
        "location city geo": "use region, a country code",
        "offset start": 'use page in a search, and cursor, such as "@5120", in a page',
        "sort sort_by order": "results are in order of relevance; use published_after for recent ones",
        "include_text exclude_text exact_match exclude_phrases query_suffix": (
            'write it into the query, such as "exact words" or -word'
        ),
        (
            "include_domains_mode exclude_source_domain source_policy filter filters goggles goggles_id source_biases "
            "relevance_threshold"
        ): "use allowed_domains and blocked_domains",
        "backend engine engines search_engine sources source": "use Web(search_providers=[...])",
        "provider providers": "use search_providers=[...]",
        "category categories topic type vertical search_type search_mode result_filter": (
            "use the words of the query, or allowed_domains"
        ),
        "formats format fmt output output_format response_format return_format output_type json_response": (
            "pages are always Markdown; for JSON use --json, or model_dump_json() of the object"
        ),
        "raw html raw_html pdf change_tracking_options": (
            "the source of a page is not returned; pages are always Markdown"
        ),
        "url_only": "use result.url",
        (
            "max_pages max_depth max_breadth max_discovery_depth recursive select_paths select_domains include_paths "
            "exclude_paths allow_external allow_subdomains crawl_entire_domain sitemap subpages subpage_target"
        ): "open_page() reads one page, and open_pages() several",
        "pages page_range": "use cursor, such as the next_cursor of the last call",
        "headers cookies auth params data json files default_headers": (
            "pages are read without a login; write parameters into the url, and set network.user_agent"
        ),
        "actions js_code css_selector target_elements target_selector wait_for_selector screenshot": (
            "a page is read, not operated; use find or query for a part of it"
        ),
        "verify verify_ssl insecure skip_tls_verification cert ca_bundle": (
            "set SSL_CERT_FILE to a file with your certificate authorities"
        ),
        "base_url api_url api_base_url host": "set the address of a provider, such as providers.searxng.base_url",
        "follow_redirects allow_redirects max_redirects": "redirects are followed and checked",
        "streaming": "use stream",
        "proxies proxy external_web_access": "set network.proxy, or pass proxy to Web()",
        "urls ids": "pass one url per call, or all of them to open_pages()",
        (
            "schema output_schema structured_output structured_output_schema extract json_options system_prompt "
            "temperature messages json_schema system_instructions tools domain_tools web_search_options"
        ): "use ask() for text, and your own model",
        "model": "set answer.model",
        "zero_data_retention": "use keep=False, which stores nothing on this machine",
        "api_key apikey": (
            "pass it to Web, as tavily_api_key=... or the like, or set the variable of the provider, such as "
            "BRAVE_API_KEY, or run groundwire setup"
        ),
        "http_client session transport limits": "set network.proxy and the limits of the settings instead",
        "start_index offset_characters": 'use cursor, such as "@5120"',
    }
)

FOREIGN: Mapping[str, str] = MappingProxyType({**_REFUSED, **NO_EFFECT})
"""Other libraries' arguments that are not supported, with what to use instead."""

_MARKDOWN = frozenset({"markdown", "md", "text", "txt", "links", "metadata"})
IMPLIED: Mapping[str, frozenset[object]] = MappingProxyType(
    {
        **dict.fromkeys(("search_depth", "depth", "extract_depth"), frozenset({"basic", "standard"})),
        **dict.fromkeys(("formats", "format", "output_format", "return_format"), _MARKDOWN),
        **dict.fromkeys(("response_format", "output_type"), _MARKDOWN | {"searchResults", "search_results", "results"}),
        "fmt": _MARKDOWN | {"text_markdown"},
        **dict.fromkeys(("topic", "category", "categories", "vertical"), frozenset({"general", "web", "search"})),
        **dict.fromkeys(
            ("type", "search_type", "mode", "search_mode", "result_filter"), frozenset({"auto", "web", "search"})
        ),
        **dict.fromkeys(("backend", "engine"), frozenset({"auto"})),
        **dict.fromkeys(("sources", "source"), frozenset({"web", "text"})),
        **dict.fromkeys(("only_main_content", "include_metadata", "follow_redirects"), frozenset({True})),
        **dict.fromkeys(("verify", "verify_ssl", "allow_redirects", "use_cache", "cache", "text"), frozenset({True})),
        **dict.fromkeys(("skip_tls_verification", "filter_by_language"), frozenset({False})),
        "livecrawl": frozenset({"fallback", "preferred"}),
        "include_domains_mode": frozenset({"strict", "filter"}),
    }
)
"""What other libraries' arguments may ask for that is so here anyway."""

NO_EFFECT_VALUES: Mapping[str, frozenset[object]] = MappingProxyType(
    {"type": frozenset({"neural", "keyword", "fast", "deep", "hybrid"})}
)
"""Values without effect of arguments whose other values are refused."""

HARMLESS_HEADERS = frozenset(
    ("user-agent", "accept", "accept-language", "accept-encoding", "referer", "connection", "dnt", "cache-control")
)
"""Headers that do not choose another page; a request with only these is served."""

FLAGS = frozenset(
    other
    for name in (
        *("include_answer", "include_raw_content", "include_images", "include_favicon", "include_usage"),
        *("only_main_content", "auto_parameters", "use_autoprompt", "extra_snippets", "highlights", "summary"),
        *("exact_match", "fast_mode", "mobile", "block_ads", "render_js", "insecure", "verify", "recursive"),
        *("follow_redirects", "allow_redirects", "screenshot", "html", "raw_html", "spellcheck", "text", "contents"),
        *("js", "render", "headless", "javascript", "browser", "cache", "use_cache", "wait", "include_links"),
    )
    for other in (name, _camel(name))
)
"""Arguments that are options without a value on a command line."""

SHORT_OPTIONS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "query": MappingProxyType(
            {"-m": "--limit", "-w": "--domain", "-r": "--region", "-l": "--language", "-c": "--region", "-L": "--limit"}
            | dict.fromkeys(("-b", "--backend", "--engine", "--engines"), "--provider")
        ),
        "urls": MappingProxyType({"-O": "--output"}),
    }
)
"""Options of ddgs, ddgr, googler, gh and wget that are named otherwise here, by the subject of a command."""

_ADAPTED = (
    *("agent_framework", "agno", "anthropic", "autogen", "crewai", "dspy", "google_adk", "haystack", "langchain"),
    *("llamaindex", "openai_agents", "pydantic_ai", "smolagents", "strands"),
)
LIKE_MODULES: Mapping[str, str] = MappingProxyType(dict.fromkeys(_ADAPTED, "groundwire.integrations.{}"))
"""Where the adapter of a framework is."""

FRAMEWORKS: Mapping[str, str] = MappingProxyType(
    {name.replace("_", ""): name for name in _ADAPTED}
    | {"langgraph": "langchain", "adk": "google_adk", "openaiagent": "openai_agents", "agents": "openai_agents"}
)
"""The adapter of each framework, without underscores."""

SETTINGS: Mapping[str, str] = _names(
    **{
        "search.providers": "provider providers search_provider search_providers search.provider engine engines "
        "backend search_engine default_provider",
        "read.providers": "reader readers read_provider read_providers read.provider fetcher scraper",
        "search.limit": "limit max_results num_results count results search.max_results search.num_results",
        "search.timeout": "timeout request_timeout",
        "search.safesearch": "safesearch safe_search search.safe_search",
        "search.strategy": "strategy",
        "read.max_length": "max_length max_chars max_characters",
        "read.robots": "robots respect_robots robots_txt read.respect_robots read.robots_txt",
        "session.max_cost_usd": "budget budget_usd max_cost max_cost_usd max_usd max_budget",
        "session.max_searches": "max_searches search_limit",
        "cache.enabled": "cache use_cache caching",
        "cache.search_ttl": "cache_ttl ttl cache.ttl",
        "archive.enabled": "archive",
        "storage.url": "store storage store_url storage_url redis_url valkey_url database_url",
        "network.proxy": "proxy http_proxy https_proxy proxies",
        "network.user_agent": "user_agent useragent",
        "policy.allowed_domains": "allowed_domains include_domains allow_domains",
        "policy.blocked_domains": "blocked_domains exclude_domains block_domains",
        "answer.model": "model llm llm_model ask.model answer_model",
        "answer.base_url": "llm_base_url model_url ask.base_url",
        "providers.searxng.base_url": "searxng_url searxng.url searxng searxng.base_url searxng_base_url",
        "server.port": "port",
        "server.host": "host bind",
    }
)
"""What other tools call settings, and what people call them for short."""

SAFE_SEARCHES: Mapping[str, str] = MappingProxyType(
    {"on": "strict", "true": "strict", "2": "strict", "1": "moderate", "false": "off", "0": "off", "active": "strict"}
    | {level: level for level in ("off", "moderate", "strict")}
)
"""Other libraries' SafeSearch levels."""
