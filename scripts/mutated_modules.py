"""The modules that decide something, which `scripts/mutants.py` mutates, each with its tests.

Safety, robots, budget, health, hedging, rate limits, the cache and its keys, citations, the choice of what is read of a
page, and API keys. Modules that only write or parse a format are not among them.
"""

from __future__ import annotations

from typing import Final

_VERIFICATION: Final = tuple(
    f"tests/citations/test_{name}.py"
    for name in ("verify", "contradictions", "answer_sentences", "languages", "report", "session")
)
_PASSAGES: Final = tuple(
    f"tests/reading/passages/test_{name}.py"
    for name in ("tables", "limits", "view", "answers", "pieces", "counting", "reranking")
)
_SERVER: Final = "packages/groundwire-server/src/groundwire_server"
_SERVER_TESTS: Final = "packages/groundwire-server/tests/server"
MODULES: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("safety/guard", ("tests/safety/test_guard.py", "tests/safety/test_vectors.py")),
    ("safety/ip_ranges", ("tests/safety/test_addresses.py", "tests/safety/test_vectors.py")),
    (
        "safety/hostnames",
        (
            "tests/safety/test_urls.py",
            "tests/safety/test_vectors.py",
            "tests/safety/test_url_lengths.py",
            "tests/safety/test_domains.py",
        ),
    ),
    (
        "safety/urls",
        tuple(f"tests/safety/test_{name}.py" for name in ("urls", "vectors", "url_lengths", "domains")),
    ),
    ("safety/robots_txt", ("tests/safety/test_robots_txt.py",)),
    ("routing/politeness", ("tests/routing/test_robots.py", "tests/test_polite.py")),
    (
        "routing/budget",
        tuple(f"tests/routing/test_{name}.py" for name in ("budget", "reserve_searches", "daily_quota", "cost_ledger")),
    ),
    ("routing/daily_quota", ("tests/routing/test_daily_quota.py", "tests/routing/test_budget.py")),
    ("routing/calls", ("tests/routing/test_filter_receipts.py", "tests/routing/test_cost_ledger.py")),
    ("routing/cost_ledger", ("tests/routing/test_cost_ledger.py", "tests/routing/test_budget.py")),
    ("routing/health", ("tests/routing/test_health.py", "tests/routing/test_shared_health.py")),
    ("routing/shared_health", ("tests/routing/test_shared_health.py",)),
    ("routing/extra_budget", ("tests/routing/test_latency.py", "tests/routing/test_shared_health.py")),
    (
        "routing/hedging",
        (
            "tests/routing/test_hedging.py",
            "tests/routing/test_router.py",
            "tests/routing/test_latency.py",
            "tests/routing/test_hedging_numbers.py",
        ),
    ),
    (
        "routing/rate_limiter",
        (
            "tests/routing/test_rate_limiter_numbers.py",
            "tests/routing/test_rate_limiter.py",
            "tests/routing/test_shared_health.py",
        ),
    ),
    ("routing/single_flight", ("tests/routing/test_calls.py", "tests/routing/test_cache.py")),
    ("routing/cache", tuple(f"tests/routing/test_{name}.py" for name in ("cache", "cache_ttl"))),
    (
        "routing/cache_codec",
        ("tests/routing/test_cache_codec.py", "tests/routing/test_cache.py", "tests/routing/test_cache_ttl.py"),
    ),
    (
        "citations/marker_parser",
        (
            "tests/citations/test_answer_sentences.py",
            "tests/citations/test_marks.py",
            "tests/citations/test_session.py",
        ),
    ),
    (
        "citations/link_filter",
        ("tests/citations/test_link_filter.py", "tests/citations/test_exfiltration.py", "tests/test_exfiltration.py"),
    ),
    ("citations/segmentation", _VERIFICATION),
    *(
        (f"citations/verify/{module}", _VERIFICATION)
        for module in (
            "differences",
            "evidence",
            "passage_index",
            "values",
            "verifier",
        )
    ),
    ("reading/main_content/rules", ("tests/reading/test_choosing.py", "tests/reading/test_select.py")),
    ("reading/main_content/select", ("tests/reading/test_choosing.py", "tests/reading/test_select.py")),
    *(
        (f"reading/passages/{module}", _PASSAGES)
        for module in ("bm25", "excerpts", "outline", "pagination", "reranking", "terms", "token_budget", "view")
    ),
    (
        f"{_SERVER}/auth/authentication",
        tuple(f"{_SERVER_TESTS}/auth/test_{name}.py" for name in ("authentication", "parsers", "tenants")),
    ),
    (
        f"{_SERVER}/auth/keys",
        (
            f"{_SERVER_TESTS}/auth/test_keys.py",
            f"{_SERVER_TESTS}/auth/test_key_file.py",
        ),
    ),
    (
        f"{_SERVER}/auth/rate_limits",
        tuple(f"{_SERVER_TESTS}/auth/test_{name}.py" for name in ("limited_request", "limits", "parsers")),
    ),
)
"""The mutated modules of the package, and the files of their tests."""
