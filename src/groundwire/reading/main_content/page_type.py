"""Hints about a page's type from its JSON-LD, its meta tags and its URL.

Sources: schema.org for types and properties, the Open Graph Protocol (https://ogp.me) for `og:type`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from groundwire.reading.main_content.quantize import log
from groundwire.reading.metadata.embedded_json import Thing, types_of

Hints = tuple[int, ...]
"""Codes from 0 to 254, in the order of `HINTS`."""

_PATH, _ITEM, _DESCRIPTION, _BODY, _COMMENT = range(5)
"""Breadcrumbs and list entries; the length of descriptions, bodies, comments and reviews."""

_BODIES: Final[Mapping[str, int]] = {
    "articleBody": _BODY, "text": _BODY, "recipeInstructions": _BODY, "reviewBody": _COMMENT, "commentText": _COMMENT,
    "description": _DESCRIPTION, "abstract": _DESCRIPTION,
}  # fmt: skip
_COMMENTS: Final = frozenset({"Answer", "Comment", "Review", "UserReview", "CriticReview", "EmployerReview"})
_MAKERS: Final = frozenset(
    {"Organization", "Corporation", "LocalBusiness", "Person", "WebSite", "NewsMediaOrganization"}
)
_MAX_VALUES: Final = 3_000
_TYPES: Final[tuple[frozenset[str], ...]] = (
    frozenset({"Article", "BlogPosting", "NewsArticle", "ReportageNewsArticle", "OpinionNewsArticle", "Report"}),
    frozenset({"TechArticle", "APIReference", "HowTo"}),
    frozenset({"DiscussionForumPosting", "QAPage", "SocialMediaPosting"}),
    frozenset({"Product", "ProductGroup", "IndividualProduct"}),
    frozenset({"CollectionPage", "OfferCatalog", "SearchResultsPage"}),
    frozenset({"ItemList", "Blog"}),
    frozenset({"FAQPage"}),
    frozenset({"LocalBusiness", "Service", "ProfessionalService", "MedicalBusiness", "AboutPage", "ContactPage"}),
    frozenset({"Recipe", "Event", "JobPosting", "Course", "Book", "Movie", "VideoObject", "SoftwareApplication"}),
)
_PRODUCTS: Final = _TYPES[3]
_PLACES: Final = tuple(
    re.compile(rf"/(?:{folders})(?=[/._?-]|$)|\A//(?:{hosts})")
    for folders, hosts in (
        (r"blogs?|news|articles?|story|stories|posts?|magazine|opinion|20\d\d", r"(?:blog|news|medium)\."),
        (
            r"docs?|documentation|manual|reference|api|guides?|wiki|man|tutorials?|learn|help|kb|handbook|latest|stable",
            r"(?:docs?|developers?|wiki|learn|help|support|api)\.",
        ),
        (
            r"forums?|threads?|topics?|t|questions?|discussions?|community|comments|viewtopic|showthread|board|answers",
            r"(?:forums?|community|discuss|discourse|discussions?|boards?)\.",
        ),
        (r"products?|p|dp|itm|items?|ip|sku|pd|prod|detail", r"[^/]*/(?:.*/)?\d{6,}(?:\.html?)?/?$"),
        (
            r"collections?|categor(?:y|ies)|c|shop|store|catalogu?e?|browse|s|b|departments?|brands?|sale",
            r"(?:shop|store)\.",
        ),
        (r"tags?|search|archives?|list|jobs?|events?|directory|sections?|index|page", r"(?:jobs?|events?)\."),
        (
            r"services?|solutions?|about(?:-us)?|pricing|plans|features?|platform|contact|faqs?|company|industries",
            r"[^/]*/?$",
        ),
    )
)
"""Typical path segments and hosts, in the order of `HINTS`; the last also means a host's front page."""

_GENERATORS: Final = (
    ("discourse", 1), ("phpbb", 1), ("vbulletin", 1), ("xenforo", 1), ("flarum", 1), ("vanilla", 1), ("docusaurus", 2),
    ("sphinx", 2), ("mkdocs", 2), ("gitbook", 2), ("vitepress", 2), ("mediawiki", 2), ("docutils", 2), ("doxygen", 2),
    ("asciidoctor", 2), ("antora", 2), ("shopify", 3), ("woocommerce", 3), ("prestashop", 3), ("magento", 3),
    ("bigcommerce", 3), ("wix", 5), ("squarespace", 5), ("webflow", 5), ("elementor", 5), ("wordpress", 4),
    ("blogger", 4), ("ghost", 4),
)  # fmt: skip
_OPEN_GRAPH: Final[Mapping[str, int]] = {
    "": 0, "article": 1, "website": 2, "product": 3, "og:product": 3, "product.item": 3, "product.group": 4, "blog": 5,
    "profile": 5,
}  # fmt: skip
_OTHER: Final = 6
_MAX_FOLDERS: Final = 9
_MAX_WORDS: Final = 19
_BETWEEN: Final = re.compile(r"[\W_]+")

HINTS: Final = (
    "is_article", "is_manual", "is_forum", "is_product", "is_collection", "is_list", "is_faq", "is_service", "is_thing",
    "said_products", "said_answers", "said_paths", "said_items", "said_description", "said_body", "said_comments",
    "open_graph", "generator", "dated",
    "at_article", "at_manual", "at_forum", "at_product", "at_collection", "at_list", "at_service", "at_depth",
    "at_words", "at_query",
)  # fmt: skip
"""The names of the hints: types, their properties, meta tags, parts of the URL."""

_OPEN_GRAPH_HINT: Final = HINTS.index("open_graph")
NO_HINTS: Final[Hints] = (0,) * len(HINTS)
"""The hints of a page without any."""


def states_article(hints: Hints) -> bool:
    """Return whether a page states to be an article, both in JSON-LD and in `og:type`."""
    return bool(hints[0]) and hints[_OPEN_GRAPH_HINT] == _OPEN_GRAPH["article"]


def read_hints(things: Sequence[Thing], metas: Mapping[str, str], url: str) -> Hints:
    """Return the type hints of a page.

    Args:
        things: The top-level objects of its JSON-LD.
        metas: The contents of its `<meta>` elements by name.
        url: Its URL.
    """
    types: set[str] = set()
    products = answers = 0
    sums = [0] * 5
    for kinds, place, thing in all_things(things):
        types |= kinds
        products += not kinds.isdisjoint(_PRODUCTS)
        is_comment = not kinds.isdisjoint(_COMMENTS)
        answers += is_comment
        if "name" in thing and (place in {"path", "itemListElement"} or "SiteNavigationElement" in kinds):
            sums[_ITEM if place == "itemListElement" else _PATH] += 1
        for key, role in _BODIES.items():
            value = thing.get(key)
            if isinstance(value, str) and (role != _DESCRIPTION or kinds.isdisjoint(_MAKERS)):
                sums[_COMMENT if is_comment else role] += len(value)
    generator = metas.get("generator", "").lower()
    return (
        *(int(not types.isdisjoint(names)) for names in _TYPES),
        log(products),
        log(answers),
        *map(log, sums),
        _OPEN_GRAPH.get(metas.get("og:type", "").lower(), _OTHER),
        next((code for name, code in _GENERATORS if name in generator), _OTHER) if generator else 0,
        int("article:published_time" in metas) + 2 * ("article:section" in metas or "article:tag" in metas),
        *_at(url),
    )


def all_things(things: Sequence[Thing]) -> Iterator[tuple[frozenset[str], str, Thing]]:
    """Yield all objects, including nested ones: types, containing property, object.

    Objects in breadcrumbs have the property `path`.
    """
    stack: list[tuple[object, str]] = [(thing, "") for thing in reversed(things)]
    ids: set[int] = set()
    budget = _MAX_VALUES
    while stack and budget:
        budget -= 1
        thing, place = stack.pop()
        if isinstance(thing, list):
            stack.extend((item, place) for item in thing[:_MAX_VALUES] if isinstance(item, dict))
        elif isinstance(thing, dict) and id(thing) not in ids:
            ids.add(id(thing))
            kinds = frozenset(types_of(thing))
            place = "path" if "BreadcrumbList" in kinds else place
            yield kinds, place, thing
            stack.extend(
                (value, place if place == "path" or (place == "itemListElement" and key == "item") else key)
                for key, value in thing.items()
                if isinstance(value, dict | list)
            )


def _at(url: str) -> Hints:
    """Return the hints in a URL; all zero if there are none."""
    try:
        parts = urlsplit(url[:2_000].lower())
    except ValueError:
        return (0,) * (len(_PLACES) + 3)
    if not parts.netloc:
        return (0,) * (len(_PLACES) + 3)
    text = f"//{parts.netloc.removeprefix('www.')}{parts.path}"
    folders = parts.path.strip("/")
    return (
        *(int(pattern.search(text) is not None) for pattern in _PLACES),
        1 + min(_MAX_FOLDERS, folders.count("/") + bool(folders)),
        1 + min(_MAX_WORDS, len(_BETWEEN.findall(folders.rpartition("/")[2]))),
        1 + bool(parts.query),
    )
