from __future__ import annotations

import pytest

from components.data_sets import SavedPages
from groundwire.reading.block_pages.classify import BlockKind, ends_early, known_wall, soft_block
from groundwire.reading.convert import convert

pytestmark = pytest.mark.req("B2")
URL = "https://gazette.example.com/news/bakery"
ARTICLE = " ".join(
    f"In the {number}th year of the bakery the ovens were replaced, and the queue in front of it grew by a street."
    for number in range(30)
)

WALLS: dict[str, tuple[BlockKind, str]] = {
    "cloudflare": (
        "bot check",
        "<title>Just a moment...</title><body><noscript>Enable JavaScript and cookies to continue</noscript>"
        "<script>window._cf_chl_opt={cType:'managed'};</script>",
    ),
    "cloudflare-1020": (
        "bot check",
        '<title>Attention Required! | Cloudflare</title><div id="cf-error-details"><h1>Sorry, you have been '
        "blocked</h1>",
    ),
    "turnstile": (
        "bot check",
        '<title>gazette.example.com</title><h1>Verify you are human</h1><div class="cf-turnstile"></div>',
    ),
    "hcaptcha": (
        "bot check",
        '<title>One more step</title><p>Please complete the security check to go on.</p><div class="h-captcha"></div>',
    ),
    "datadome": (
        "bot check",
        "<title>gazette.example.com</title><p>Please enable JS and disable any ad blocker</p>"
        "<script>var dd={'rt':'c','cid':'x','host':'geo.captcha-delivery.com'}</script>",
    ),
    "human": ("bot check", '<title>Access to this page has been denied</title><div id="px-captcha"></div>Press & Hold'),
    "akamai": (
        "bot check",
        "<HTML><HEAD><TITLE>Access Denied</TITLE></HEAD><BODY><H1>Access Denied</H1>You don't have permission "
        "to access "
        '"http&#58;&#47;&#47;gazette" on this '
        "server.<P>Reference&#32;&#35;18&#46;2d351ab8&#46;1557333295</BODY></HTML>",
    ),
    "imperva": (
        "bot check",
        '<iframe id="main-iframe" src="/_Incapsula_Resource?CWUDNSAI=23&incident_id=5-7">Request unsuccessful. '
        "Incapsula incident ID: 5-7</iframe>",
    ),
    "aws": ("bot check", "<title></title><script>window.gokuProps = {key: 'x'};</script><div id=challenge-container>"),
    "ddos-guard": ("bot check", "<title>DDoS-Guard</title><p>Checking your browser before accessing the site</p>"),
    "anubis": (
        "bot check",
        '<title>Making sure you&#39;re not a bot!</title><script id="anubis_challenge" '
        'type="application/json">{}</script>'
        "<p>The administrator of this website protects it from scrapers with a proof of work. "
        + "It takes a bit. "
        * 30,
    ),
    "google": (
        "bot check",
        "<title>https://www.example.com/search</title><p>Our systems have detected unusual traffic from your computer "
        "network. This page checks to see if it's really you sending the requests, and not a robot.</p>",
    ),
    "yandex": (
        "bot check",
        '<title>Вы не робот?</title><form action="/checkcaptcha?key=1"><p>Подтвердите, что запросы отправляли вы</p>',
    ),
    "german": ("bot check", "<title>Sicherheitsüberprüfung</title><p>Bestätigen Sie, dass Sie kein Roboter sind.</p>"),
    "chinese": ("bot check", "<title>安全验证</title><p>请完成下方验证后继续访问</p>"),
    "japanese": ("bot check", "<title>確認</title><p>あなたがロボットではないことを確認します。</p>"),
    "french": ("bot check", "<title>Un instant</title><p>Confirmez que vous n'êtes pas un robot pour continuer.</p>"),
    "consent": (
        "consent page",
        "<title>Before you continue to Google</title><p>We use cookies and data to deliver and maintain services.</p>"
        "<form><button>Reject all</button><button>Accept all</button></form>",
    ),
    "consent-german": (
        "consent page",
        "<title>Zustimmung</title><p>Wir verwenden Cookies, um Anzeigen zu zeigen.</p><p>Alle akzeptieren</p>",
    ),
    "login": (
        "login page",
        "<title>Log in to Gazette</title><form><p>Log in or create an account to go on.</p>"
        '<input name=user><input type="password" name=p></form>',
    ),
    "login-russian": ("login page", "<title>Вход</title><form>Войти<input type=password></form><p>Войти в кабинет</p>"),
    "age": ("age gate", "<title>Brewery</title><h1>Are you over 18?</h1><a href=/y>Yes</a> <a href=/n>No</a>"),
    "script": (
        "script shell",
        "<title>App</title><noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>"
        "<script src=/main.js></script>",
    ),
    "script-spanish": (
        "script shell",
        "<title>App</title><noscript>Por favor, habilite JavaScript para ver la página.</noscript><script "
        "src=/a.js></script>",
    ),
}

PAGES = {
    "article-about-captchas": "<h1>Why captchas fail</h1><p>Verify you are human, says the box: are you a robot? "
    + ARTICLE,
    "contact-form": f'<p>{ARTICLE}</p><form><div class="g-recaptcha" data-sitekey=x></div><button>Send</button></form>',
    "cookie-banner": f"<div>We use cookies. Accept all. Reject all. Manage cookies.</div><article><p>{ARTICLE}</p>",
    "noscript-beside-content": f"<noscript>Please enable JavaScript.</noscript><script src=a.js></script><p>{ARTICLE}",
    "cloudflare-on-a-page": f"<p>{ARTICLE}</p><script src=/cdn-cgi/challenge-platform/scripts/jsd/main.js></script>",
    "datadome-on-a-page": f"<p>{ARTICLE}</p><script src=https://js.datadome.co/tags.js></script>",
    "login-in-the-corner": f"<form>Log in <input type=password></form><article><h1>Bread</h1><p>{ARTICLE}</p>",
    "short-page": "<title>Opening hours</title><p>Open from five to noon, every day but Sunday.</p>",
    "short-page-with-recaptcha": "<title>Contact</title><p>Write or call 555-0199.</p><div class=g-recaptcha></div>",
}


def blocked(markup: str, url: str = URL) -> BlockKind | None:
    block = convert(f"<!doctype html><html>{markup}".encode(), "text/html; charset=utf-8", url, headers={}).block
    return block.kind if block else None


@pytest.mark.parametrize("name", WALLS)
def test_a_wall_is_told_from_a_page(name: str) -> None:
    kind, markup = WALLS[name]
    assert blocked(markup) == kind


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_no_wall(name: str) -> None:
    assert blocked(PAGES[name]) is None


@pytest.mark.parametrize("name", [name for name, (kind, _) in WALLS.items() if kind != "login page"])
def test_the_words_of_a_wall_in_a_long_text_are_no_wall(name: str) -> None:
    assert blocked(f"{WALLS[name][1]}</iframe></noscript></script></title><main><p>{ARTICLE}</p></main>") is None


@pytest.mark.parametrize(
    ("headers", "start"),
    [
        ({"CF-Mitigated": "challenge"}, ""),
        ({"X-Vercel-Mitigated": "challenge"}, ""),
        ({"X-Amzn-Waf-Action": "captcha"}, ""),
        ({"X-DataDome": "protected"}, ""),
        ({}, WALLS["cloudflare"][1]),
        ({}, WALLS["akamai"][1]),
    ],
)
def test_a_refusal_names_the_bot_check_that_its_head_shows(headers: dict[str, str], start: str) -> None:
    wall = known_wall(headers, start)
    assert wall is not None
    assert "reader with a browser" in str(wall)


def test_an_ordinary_refusal_is_no_bot_check() -> None:
    assert known_wall({"Server": "cloudflare"}, "<h1>403 Forbidden</h1><p>nginx</p>") is None


def test_a_header_that_every_answer_of_a_protected_site_has_is_no_wall() -> None:
    assert soft_block({"x-datadome": "protected"}, URL, "<p>Open daily.", title="Hours", content="Open daily.") is None


def test_a_page_whose_data_say_that_it_is_not_free_ends_early() -> None:
    assert ends_early('{"isAccessibleForFree": "False"}', "The first paragraph is free.")
    assert not ends_early('{"isAccessibleForFree": true}', "Open daily.")


@pytest.mark.parametrize(
    "end",
    [
        "Subscribe to continue reading.", "Read the rest of this article for 1 euro.",
        "To keep reading, please sign in.",
        "Register to read the full story.", "This story is available to members only.",
        "You've used all of your free articles.", "Weiterlesen mit Plus.", "Nur für Abonnenten.",
        "Réservé aux abonnés.", "Il vous reste 80% de cet article.", "Pour lire la suite, abonnez-vous.",
        "Exclusivo para suscriptores.", "Sigue leyendo por 1 euro.", "Riservato agli abbonati.",
        "Exclusivo para assinantes.", "Alleen voor abonnees.", "Verder lezen?", "Pozostało jeszcze 80% artykułu.",
        "Tylko dla subskrybentów.", "Доступ только для подписчиков.", "订阅后阅读。", "付费阅读。", "会員限定です。",
        "続きをお読みください。", "구독자 전용입니다.",
    ],
)  # fmt: skip
def test_the_beginning_of_a_page_for_subscribers_says_so(end: str) -> None:
    assert ends_early("", f"The ferry sails at eight.\n\n{end}")


def test_saved_pages_with_text_are_not_taken_for_walls(saved_pages: SavedPages) -> None:
    """With the reviewed text in place of ours, so that this measures the marks alone."""
    assert saved_pages.truth
    alarms = []
    for name, page in saved_pages.truth.items():
        if len(page["text"].split()) <= 50 or name == "0551":  # 0551 is the wall of Anubis itself
            continue
        markup = saved_pages.body(name).decode("utf-8", "replace")
        if soft_block({}, page["url"], markup, title="", content=page["text"]) is not None:
            alarms.append(name)
    assert alarms == []
