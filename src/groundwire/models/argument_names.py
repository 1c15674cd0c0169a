"""Other libraries' names of arguments.

Models call the tools, and clients of other services call the gateway's drop-ins, with the names that they know: those
calls are understood. In Python, on the command line and at our own HTTP endpoints such a name is an error that names
the right word.

The names are those of tavily-python, exa-py, ddgs, firecrawl-py, the APIs of Brave, Perplexity, Linkup, Valyu, Serper
and SerpApi, the web tools of OpenAI and Anthropic, LangChain's tools, httpx, requests, curl, gh, ddgr and lynx.

Where a call is understood, an argument that Groundwire has under another name is renamed. One that asks for something
in addition to the right results, or for another way of getting them, has no effect, and a warning in the response says
so. One that asks for different results is refused: ignoring it would return something that was not asked for.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, TypedDict

from groundwire.errors import InvalidRequest
from groundwire.hints import METHODS
from groundwire.models.validators import nearest, time_range_of

__all__ = [
    "ASK",
    "OPEN_PAGE",
    "SAFE_SEARCHES",
    "SEARCH",
    "NoArguments",
    "argument_hint",
    "recent",
    "tool_method",
    "translated",
    "unknown_argument",
    "without_effect",
]


class NoArguments(TypedDict):
    """No further arguments: a type checker refuses each of them, and a call names the right word."""


def unknown_argument(method: str, unknown: Iterable[str], known: Iterable[str], names: Mapping[str, str]) -> TypeError:
    """Return the error for a call with arguments that do not exist.

    Args:
        method: The name of the method.
        unknown: These arguments; the first is named.
        known: The arguments that exist.
        names: Other libraries' names of them.
    """
    name, known = next(iter(unknown)), tuple(known)
    hint = argument_hint(name, known, names)
    return TypeError(f"{method}() has no argument {name!r}{hint} (arguments: {', '.join(known)})")


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

_TOPICS = frozenset(("topic", "category", "categories", "vertical", "type", "search_type", "search_mode", "sources"))
"""Arguments whose value `news` means recent pages."""

_VENDORS = frozenset(("tavily", "brave", "exa", "firecrawl", "perplexity", "serper", "jina", "kagi", "ddg", "linkup"))
"""Words in the names of other libraries' tools, such as `tavily_search` and `web_search_exa`."""

_NO_EFFECT: Mapping[str, str] = _hints(
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
        ): "map() lists the pages of a site, and read_many() reads them",
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

_FOREIGN: Mapping[str, str] = MappingProxyType({**_REFUSED, **_NO_EFFECT})
"""Other libraries' arguments that are not supported, with what to use instead."""

_MARKDOWN = frozenset({"markdown", "md", "text", "txt", "links", "metadata"})
_IMPLIED: Mapping[str, frozenset[object]] = MappingProxyType(
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

_NO_EFFECT_VALUES: Mapping[str, frozenset[object]] = MappingProxyType(
    {"type": frozenset({"neural", "keyword", "fast", "deep", "hybrid"})}
)
"""Values without effect of arguments whose other values are refused."""

_HARMLESS_HEADERS = frozenset(
    ("user-agent", "accept", "accept-language", "accept-encoding", "referer", "connection", "dnt", "cache-control")
)
"""Headers that do not choose another page; a request with only these is served."""

SAFE_SEARCHES: Mapping[str, str] = MappingProxyType(
    {"on": "strict", "true": "strict", "2": "strict", "1": "moderate", "false": "off", "0": "off", "active": "strict"}
    | {level: level for level in ("off", "moderate", "strict")}
)
"""Other libraries' SafeSearch levels."""


def translated(name: str, value: Any, names: Mapping[str, str], known: Iterable[str]) -> Mapping[str, Any] | None:
    """Return the arguments that another library's argument means, by name.

    Args:
        name: Its name.
        value: Its value.
        names: The canonical name of each alias.
        known: The arguments that exist.

    Returns:
        None if it is unknown or asks for something that does not exist; empty if it asks for nothing, or has no effect.
    """
    known = frozenset(known)
    if name in known or _snake(name) in known:
        return {_snake(name): _value(_snake(name), value)}
    right = names.get(name, "")
    if value is None and right in known:
        return {}
    meant = _converted(_snake(name), right, value)
    if meant and meant.keys() <= known:
        return meant
    if right in known and not (isinstance(value, bool) and right in _TEXTS):
        return {right: _value(right, value)}
    if name in _FOREIGN or _snake(name) in _FOREIGN:
        return (
            {} if _is_nothing(value) or _is_implied(_snake(name), value) or _is_ignored(_snake(name), value) else None
        )
    return None


_TEXTS = frozenset({"query", "find"})


def _is_nothing(value: Any) -> bool:
    return value is None or value is False or value in ("", 0, [], (), {})


def _is_implied(name: str, value: Any) -> bool:
    """Return whether all that is asked for is so anyway."""
    asked = value if isinstance(value, (list, tuple)) else [value]
    kinds = [one.get("type") if isinstance(one, Mapping) else one for one in asked]  # {"type": "web"} of firecrawl
    return all(isinstance(one, (str, bool)) and one in _IMPLIED.get(name, ()) for one in kinds)


def _is_ignored(name: str, value: Any) -> bool:
    if name == "headers" and isinstance(value, Mapping):
        return all(str(header).lower() in _HARMLESS_HEADERS for header in value)
    return name in _NO_EFFECT or (isinstance(value, str) and value in _NO_EFFECT_VALUES.get(name, ()))


def without_effect(arguments: Mapping[str, Any], names: Mapping[str, str]) -> tuple[str, ...]:
    """Return a warning for each of a call's arguments that is accepted and ignored.

    Args:
        arguments: The arguments under the names they were given.
        names: The canonical name of each alias.
    """
    own = set(names.values())
    news = tuple(
        f"{name}: pages of the last month, or of the time that is given, as there is no separate index of news"
        for name, value in arguments.items()
        if names is SEARCH and _is_news(name, value)
    )
    return news + tuple(
        f"{name} has no effect: {_FOREIGN[_snake(name)]}"
        for name, value in arguments.items()
        if (plain := _snake(name)) not in own
        and _is_ignored(plain, value)
        and not (_is_nothing(value) or _is_implied(plain, value) or _converted(plain, names.get(name, ""), value))
        and (name not in names or (isinstance(value, bool) and names[name] in _TEXTS))
    )


_AGED = frozenset(("time_range", "published_after", "published_before", "days", "recency_days", "max_age_days", "tbs"))


def _is_news(name: str, value: Any) -> bool:
    return _snake(name) in _TOPICS and value in ("news", ["news"], ("news",))


def recent(arguments: Mapping[str, Any], names: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the arguments of a search; one for news is for pages of the last month, unless they give another time.

    Args:
        arguments: The arguments under any names.
        names: The canonical name of each alias.
    """
    rest = {name: value for name, value in arguments.items() if not _is_news(name, value)}
    if len(rest) == len(arguments):
        return arguments
    aged = any(value not in (None, "", "all") for name, value in rest.items() if names.get(name, _snake(name)) in _AGED)
    return rest if aged else {**rest, "time_range": "m"}


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _value(name: str, value: Any) -> Any:
    """Return a value as Groundwire writes it."""
    if name in ("allowed_domains", "blocked_domains") and isinstance(value, str) and not value.lstrip().startswith("["):
        return value.replace(",", " ").split()
    if name == "urls" and isinstance(value, str):
        return [value]
    if isinstance(value, (list, tuple)) and len(value) == 1 and name in ("query", "url", "language", "region"):
        return _value(name, value[0])
    if name == "safesearch" and value is not None:
        return SAFE_SEARCHES.get(str(value).strip().lower(), value)
    if name == "region" and isinstance(value, str) and len(value) == 2:
        return "gb" if value.lower() == "uk" else value.lower()
    if name == "time_range" and isinstance(value, str):
        with contextlib.suppress(InvalidRequest):
            return time_range_of(value)
    if name == "language" and isinstance(value, str):
        return value.removeprefix("lang_").replace("_", "-")
    if name == "timeout" and isinstance(value, (list, tuple)) and all(isinstance(part, (int, float)) for part in value):
        return float(sum(value))  # requests: to connect, and to read
    if name in ("published_after", "published_before") and isinstance(value, str):
        day = re.fullmatch(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ][0-9:.]{4,16}(?:Z|[+-][0-9:]{4,6})?", value)
        return day[1] if day else value
    return value


_SPAN = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:to|\.\.|:|,)([0-9]{4}-[0-9]{2}-[0-9]{2})")
_AMERICAN_DAY = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})")


def _converted(name: str, right: str, value: Any) -> Mapping[str, Any] | None:
    """Return the arguments that an argument of another kind means."""
    if name in ("days", "recency_days", "max_age_days") or (
        right == "time_range" and isinstance(value, (int, float)) and not isinstance(value, bool)
    ):
        try:
            return {"published_after": str((datetime.now(UTC) - timedelta(days=float(value))).date())}
        except (TypeError, ValueError, OverflowError):
            return None
    if name == "livecrawl" and value in ("always", "never"):
        return {"refresh": value == "always"}
    if name in ("max_age", "max_age_hours", "use_cache", "cache") and value in (0, False) and value is not None:
        return {"refresh": True}
    if name == "start_index" and isinstance(value, int) and value:
        return {"cursor": f"@{value}"}
    if isinstance(value, Mapping):
        return _converted_mapping(name, value)
    if isinstance(value, (list, tuple)):
        return _converted_list(name, value)
    return _converted_text(name, right, value) if isinstance(value, str) else None


def _converted_mapping(name: str, value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if name == "filters":
        return {key: _value(key, given) for key, given in value.items()} or None
    if name == "user_location" and value.get("country"):
        return {"region": _value("region", value["country"])}
    return None


def _converted_list(name: str, value: Sequence[Any]) -> Mapping[str, Any] | None:
    if name == "search_domain_filter":  # Perplexity: -a.test excludes
        return {
            "allowed_domains": [domain for domain in value if not str(domain).startswith("-")],
            "blocked_domains": [str(domain)[1:] for domain in value if str(domain).startswith("-")],
        }
    return {"url": value[0]} if name == "urls" and len(value) == 1 else None


def _converted_text(name: str, right: str, value: str) -> Mapping[str, Any] | None:
    if name == "tbs" and value.startswith("qdr:"):
        return {"time_range": value.removeprefix("qdr:")}
    if right == "time_range" and (span := _SPAN.fullmatch(value)):  # Brave: 2026-01-01to2026-02-01
        return {"published_after": span[1], "published_before": span[2]}
    if name.startswith("search_") and (day := _AMERICAN_DAY.fullmatch(value)):  # Perplexity: month/day/year
        return {right: f"{day[3]}-{day[1]:0>2}-{day[2]:0>2}"}
    if name == "locale":
        language, _, region = value.replace("_", "-").partition("-")
        return {"language": language} | ({"region": _value("region", region)} if region else {})
    return None


_OF_EVERY_CALL = frozenset({"timeout", "refresh", "keep"})


def argument_hint(name: str, known: Iterable[str], names: Mapping[str, str]) -> str:
    """Return a hint such as `; use ask()` for an unknown argument, else an empty string.

    Args:
        name: The argument.
        known: Names that it may be a misspelling of.
        names: The canonical name of each alias.
    """
    plain = _snake(name)
    if name in names or plain in names:
        return f"; did you mean {names.get(name) or names[plain]!r}?"
    if plain in _OF_EVERY_CALL:
        return "; leave it out"
    if plain in _FOREIGN:
        return f"; {_FOREIGN[plain]}"
    for method, table in (("search", SEARCH), ("open_page", OPEN_PAGE)):
        if table is not names and (plain in table or plain in table.values()):
            return f"; use {method}() with {table.get(plain, plain)}"
    near = nearest(name, known)
    return f"; did you mean {names.get(near, near)!r}?" if near else ""


def tool_method(name: str) -> str:
    """Return the method that a tool of another library stands for, such as `search` for `tavily-search`; else nothing.

    Args:
        name: The tool's name.
    """
    words = [word for word in name.lower().replace("-", "_").split("_") if word not in _VENDORS]
    method = METHODS.get("_".join(words), "_".join(words))
    return {"open_pages": "open_page"}.get(method, method) if method in METHODS.values() else ""
