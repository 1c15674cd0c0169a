"""The filter of links and images, character by character, with every setting; and what it makes of each construct."""

from __future__ import annotations

import itertools
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.citations.link_filter import LinkFilter, policy_filter
from groundwire.settings.sections import PolicySettings

pytestmark = pytest.mark.req("B9")

KNOWN = "https://known.example/a"
PARTS = st.lists(
    st.sampled_from(
        [
            KNOWN, "https://other.example/x", "http://o.example", "[label](", "![label](", ")", "[", "]", "(", "]: ",
            "[1]", "![1]", "[1]: ", "`", "```\n", "~~~\n", "\n", "\n\n", " ", "    ", "\\", "<", ">", "<img src=",
            "<!--", "<https://other.example>", "word", "!", "*", ".", "- ", "> ", "|", "h", "ht", "https:", "HTTPS://O.example",
            "$", "$$", "\t", "www.o.example/", "\r", "[r]: //", "<p>", "<b>", "\ud800", "&amp;",
        ]
    ),
    max_size=14,
).map("".join)  # fmt: skip


def made(images: str, links: str) -> LinkFilter:
    return LinkFilter([KNOWN], images=images, links=links)  # type: ignore[arg-type]


@pytest.mark.parametrize("images", ["drop", "keep"])
@pytest.mark.parametrize("links", ["drop", "keep"])
@given(answer=PARTS, cuts=st.sets(st.integers(0, 200), max_size=6))
def test_chunks_do_not_matter_and_no_length_changes(images: str, links: str, answer: str, cuts: set[int]) -> None:
    whole = made(images, links)
    expected = whole.feed(answer) + whole.close()
    assert len(expected) == len(answer)
    one = made(images, links)
    assert "".join(map(one.feed, answer)) + one.close() == expected
    some, places = made(images, links), sorted({0, len(answer), *(cut for cut in cuts if cut < len(answer))})
    parts = [some.feed(answer[start:end]) for start, end in itertools.pairwise(places)]
    assert "".join(parts) + some.close() == expected
    if images == links == "keep":
        assert expected == answer


SHOWN: Final = (
    (f"See {KNOWN} there.", f"See {KNOWN} there."),
    ("See https://other.example/x there.", "See https-//other.example/x there."),
    ("HTTP://O.example/x", "HTTP-//O.example/x"),
    (f"[label]({KNOWN})", f"[label]({KNOWN})"),
    (f"[label]({KNOWN}b)", f"[label](#{KNOWN[1:]}b)"),
    (f"{KNOWN}.", f"{KNOWN}."),
    (f"{KNOWN}).,;:!?'*", f"{KNOWN}).,;:!?'*"),
    (f"{KNOWN}/more", f"{KNOWN.replace(':', '-', 1)}/more"),
    (f"`{KNOWN}b`", f"`{KNOWN}b`"),
    ("``code ` https://other.example``", "``code ` https://other.example``"),
    ("`code https://other.example", "`code https-//other.example"),
    (
        "```\nhttps://other.example\n```\nhttps://other.example",
        "```\nhttps://other.example\n```\nhttps-//other.example",
    ),
    (r"\[label](https://other.example)", r"\[label](#ttps://other.example)"),
    (r"\\ https://other.example", r"\\ https-//other.example"),
    (f"<{KNOWN}>", f"<{KNOWN}>"),
    ("<https://other.example>", "‹https-//other.example>"),
    ("a < b", "a < b"),
    ('<img src="x">', '‹img src="x">'),
    ("<!-- x -->", "<!-- x -->"),
    (f"![label]({KNOWN})", f"![label]({KNOWN})"),
    ("![label](relative)", "\\[label](#elative)"),
    ("![1] and ![2]", "![1] and ![2]"),
    ("![label]", "\\[label]"),
    ("wow!", "wow!"),
    (f"{KNOWN}{'.' * 10}", f"{KNOWN}{'.' * 10}"),
    (f"{KNOWN}{'.' * 11}", f"https-//known.example/a{'.' * 11}"),
    (f"```py\n{KNOWN}b\n  ```  \n{KNOWN}b", f"```py\n{KNOWN}b\n  ```  \nhttps-//known.example/ab"),
    (f"~~~ a`b\n{KNOWN}b\n~~~~\n{KNOWN}b", f"~~~ a`b\n{KNOWN}b\n~~~~\nhttps-//known.example/ab"),
    (f"````\n```\n{KNOWN}b\n````", f"````\n```\n{KNOWN}b\n````"),
    (f"```{'i' * 200}\n{KNOWN}b", f"```{'i' * 200}\n{KNOWN}b"),
    (f"```{'i' * 201}\n{KNOWN}b", f"```{'i' * 201}\nhttps-//known.example/ab"),
    (f"{'`' * 200}\n{KNOWN}b", f"{'`' * 200}\n{KNOWN}b"),
    (f"{'`' * 201}\n{KNOWN}b", f"{'`' * 201}\nhttps-//known.example/ab"),
    (f"  ```\n  {KNOWN}b\n  ```\n```\n{KNOWN}b\n```", f"  ```\n  https-//known.example/ab\n  ```\n```\n{KNOWN}b\n```"),
    (f"  ```\na\n  ```\n```\n{KNOWN}b\n```", "  ```\na\n  ```\n```\nhttps-//known.example/ab\n```"),
    (f"  ```\n  ```py\n```\n{KNOWN}b\n```", "  ```\n  ```py\n```\nhttps-//known.example/ab\n```"),
    (f"a < b\n```\n{KNOWN}b\n```", "a < b\n```\nhttps-//known.example/ab\n```"),
    (f"a < b\n\n```\n{KNOWN}b\n```", f"a < b\n\n```\n{KNOWN}b\n```"),
    (f"a ` b\n`{KNOWN}b`\n\n`{KNOWN}b`", f"a ` b\n`https-//known.example/ab`\n\n`{KNOWN}b`"),
    (f"`a|{KNOWN}b`", "`a|https-//known.example/ab`"),
    (f"``{KNOWN}b` `` {KNOWN}b", f"``{KNOWN}b` `` https-//known.example/ab"),
    (f"[1]: {KNOWN}", f"[1]: {KNOWN}"),
    (f"- > 1. [1]: {KNOWN} 'title'", f"- > 1. [1]: {KNOWN} 'title'"),
    ("[1]: https://other.example", "[1]꞉ https-//other.example"),
    ("[1, 2]:x", "[1, 2]꞉x"),
    ("[1]:", "[1]꞉"),
    (f"see [1]: {KNOWN}", f"see [1]: {KNOWN}"),
    ("[a]: x", "[a]: x"),
    ("![1](x)", "\\[1](#)"),
    ("![1][2]", "\\[1][2]"),
    ("![12", "\\[12"),
    ("!", "!"),
    ("![", "\\["),
    ("a!b", "a!b"),
    (f"![a [b] c]({KNOWN} 'title')", f"\\[a [b] c]({KNOWN} 'title')"),
    (f"![a]({KNOWN} 'title')", f"![a]({KNOWN} 'title')"),
    (f"![a]( <{KNOWN}> )", f"![a]( <{KNOWN}> )"),
    (f"![a]({KNOWN}", f"\\[a](#{KNOWN[1:]}"),
    (f"![a`b`]({KNOWN})", f"\\[a`b`]({KNOWN})"),
    ("[a](", "[a]("),
    ("[a](b", "[a](#"),
    ("[a]", "[a]"),
    ("[a] (b)", "[a] (b)"),
    ("<b>a</b><br/><BR>", "<b>a</b><br/><BR>"),
    ("<b class=x title='a b'>", "<b class=x title='a b'>"),
    ("</div>", "</div>"),
    ("<?x", "<?x"),
    ("x<y, Vec<String>, and 1<2", "x<y, Vec<String>, and 1<2"),
    ("Map<K, V>: it's a <b and \"c\"", "Map<K, V>: it's a <b and \"c\""),
    ("if a<b then c = d", "if a<b then c = d"),
    ("a <b and x<y; <think>hm</think>", "a <b and x<y; <think>hm</think>"),
    ("<think>\nHm, x < y.\n</think>\n\nYes.", "<think>\nHm, x < y.\n</think>\n\nYes."),
    ("write <tool_call> and <system> as they stand", "write <tool_call> and <system> as they stand"),
    ("the <img>, <iframe> and <svg/> tags", "the <img>, <iframe> and <svg/> tags"),
    ("</script></style x>", "</script></style x>"),
    ("<!doctype html>\n\n```\n<style>\n```", "<!doctype html>\n\n```\n<style>\n```"),
    ("<!-- x\n\n```\n<style>\n```", "<!-- x\n\n```\n‹style>\n```"),
    ("<pre>\n\n`<style>`", "<pre>\n\n`‹style>`"),
    ("<pre>a</pre>\n\n`<style>`", "<pre>a</pre>\n\n`<style>`"),
    ("<style", "‹style"),
    ("<SCRIPT x>", "‹SCRIPT x>"),
    ("<img src=x>", "‹img src=x>"),
    ("<img/src=x>", "‹img/src=x>"),
    ("<b\nclass=x\nONclick = x>", "‹b\nclass=x\nONclick = x>"),
    ("<b x='>' style=x>", "‹b x='>' style=x>"),
    ("<b x=' ", "‹b x=' "),
    ("a <b x <i style=x>", "a ‹b x ‹i style=x>"),
    ("<b x <i y>", "<b x <i y>"),
    ("<div x\n\n", "‹div x\n\n"),
    ("a <b x\n\n<i style=x>", "a <b x\n\n‹i style=x>"),
    ("<b x='`'> `<style>`", "‹b x='`'> `‹style>`"),
    ("<a href=x>", "‹a href=x>"),
    (f"a <b {'x' * 4_000}>", f"a ‹b {'x' * 4_000}>"),
    ("<3", "<3"),
    ("<mailto:a@b.example>", "<mailto:a@b.example>"),
    ("<h1>a</h1>", "<h1>a</h1>"),
    ("<HTTPS://other.example>", "‹HTTPS-//other.example>"),
    ("http:/", "http:/"),
    ("h", "h"),
    ("https://", "https-//"),
    ("the https", "the https"),
    ("\\", "\\"),
    (r"\`" + KNOWN + "b`", r"\`https-//known.example/ab`"),
    (r"\! ![a](b)", r"\! \[a](#)"),
    ("[r]: //other.example/x", "[r]꞉ //other.example/x"),
    ("[r]:\n//other.example/x", "[r]꞉\n//other.example/x"),
    ("[r]: https&#58;//other.example", "[r]꞉ https&#58;//other.example"),
    ("Smith [3]: in other words", "Smith [3]: in other words"),
    ("[note]: in other words", "[note]: in other words"),
    (f"[label]({KNOWN}>)", f"[label](#{KNOWN[1:]}>)"),
    ("a <br> `<style>`", "a <br> `<style>`"),
    ("<b>a</b> `<style>`", "<b>a</b> `<style>`"),
    ("<b> \n`<style>`", "<b> \n`‹style>`"),
    ("<p> `<style>`\n\n`<style>`", "<p> `‹style>`\n\n`<style>`"),
    ("costs $5 with `<style>`", "costs $5 with `<style>`"),
    ("$a`b$ <style> `$", "$a`b$ ‹style> `$"),
    ("$$\n```\n$$\n<style>\n```", "$$\n```\n$$\n‹style>\n```"),
    ("$$x$$\n```\n<style>\n```", "$$x$$\n```\n<style>\n```"),
    ("www.a.example/` <style> `", "www.a.example/` ‹style> `"),
    ("www.a.example/ `<style>`", "www.a.example/ `<style>`"),
    (f"```{'i' * 199}`\n```\n{KNOWN}b\n```", f"```{'i' * 199}`\n```\n{KNOWN}b\n```"),  # no fence, for the backtick
    (f"```{'i' * 200}`\n```\n{KNOWN}b\n```", f"```{'i' * 200}`\n```\nhttps-//known.example/ab\n```"),
    (f"```{'i' * 250}\n```\n{KNOWN}b\n```", f"```{'i' * 250}\n```\nhttps-//known.example/ab\n```"),
    (f"~~~`{'i' * 250}\n```\n{KNOWN}b\n```", f"~~~`{'i' * 250}\n```\nhttps-//known.example/ab\n```"),
    (f"```\n{' ' * 3_998}\n{KNOWN}b", f"```\n{' ' * 3_998}\n{KNOWN}b"),
    (f"```\n{' ' * 3_999}\n{KNOWN}b", f"```\n{' ' * 3_999}\nhttps-//known.example/ab"),
    ("```\nx <style>\n```", "```\nx <style>\n```"),
    ("```\nx\n```\n`<style>`", "```\nx\n```\n`<style>`"),
    ("a ` b\n```\nx\n```\n`<style>`", "a ` b\n```\nx\n```\n`<style>`"),
    ("a < b\n```<style>\nx", "a < b\n```‹style>\nx"),
    (f"  ```\n  ``x\n  ```\n```\n{KNOWN}b\n```", f"  ```\n  ``x\n  ```\n```\n{KNOWN}b\n```"),
    (r"\<b>", r"\<b>"),
    (r"\<b style=x>", "\\‹b style=x>"),
    (r"\< b", r"\< b"),
    (r"\\<b>", "\\\\<b>"),
    (r"\\<style>", "\\\\‹style>"),
    (r"\![a](b)", "\\\\[a](#)"),
    (r"\\`<style>`", r"\\`<style>`"),
    ("$5\n```\n<style>\n```", "$5\n```\n<style>\n```"),
    ("a $$ b\n```\n<style>\n```", "a $$ b\n```\n<style>\n```"),
    ("https://other.example:80/x", "https-//other.example:80/x"),
    ("<https://other.example:80/x>", "‹https-//other.example:80/x>"),
)  # fmt: skip


@pytest.mark.parametrize(("answer", "shown"), SHOWN)
def test_only_known_addresses_are_kept(answer: str, shown: str) -> None:
    assert LinkFilter([KNOWN], links="drop").whole(answer) == shown
    for size in (1, 2, 3):
        parts = made("drop", "drop")
        assert (
            "".join(parts.feed(answer[at : at + size]) for at in range(0, len(answer), size)) + parts.close() == shown
        )


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("1]: x", "1]: x"),  # no label begins here
        ("[1]: x", "[1]꞉ x"),
        ("\n[1]: x", "\n[1]꞉ x"),
        ("[1 a]: x", "[1 a]: x"),
        ("see [1]: x", "see [1]: x"),
        ("> - 1. [1]: x", "> - 1. [1]꞉ x"),
        ("[^1]: [2]: x", "[^1]: [2]꞉ x"),
        ("[1\n> 2]: x", "[1\n> 2]꞉ x"),
        (f"[1]: {KNOWN}", f"[1]: {KNOWN}"),
        (f"[1]: {KNOWN}b", f"[1]꞉ {KNOWN}b"),
        ("[r]: //other.example/x", "[r]: //other.example/x"),
        ("[a](https://other.example/x)", "[a](https://other.example/x)"),
        ("https://other.example/x", "https://other.example/x"),
        ("<https://other.example/x>", "<https://other.example/x>"),
        ("![a](https://other.example/x)", "\\[a](https://other.example/x)"),
        ("a\rb", "a\rb"),
        ("[1]: x\r![a](b)\r\n", "[1]꞉ x\r\\[a](b)\r\n"),
        ("<a href=x>", "<a href=x>"),
        ("<b href=x>", "‹b href=x>"),
    ],
)
def test_links_may_be_kept_where_images_are_not(answer: str, shown: str) -> None:
    for size in (1, 2, 100):
        parts = made("drop", "keep")
        text = "".join(parts.feed(answer[at : at + size]) for at in range(0, len(answer), size)) + parts.close()
        assert text == shown


def test_where_everything_is_kept_nothing_changes() -> None:
    answer = "a\rb \\<b> ![1] [1]: https://other.example <style> `"
    assert made("keep", "keep").feed(answer) == answer


@pytest.mark.parametrize(
    ("images", "shown"),
    [("keep", "<style> <https-//other.example/> [a](#)"), ("drop", "‹style> ‹https-//other.example/> [a](#)")],
)
def test_tags_matter_where_they_may_hold_images(images: str, shown: str) -> None:
    found = made(images, "drop")
    assert found.feed("<style> <https://other.example/> [a](x)") + found.close() == shown


def test_text_without_markdown_has_only_addresses() -> None:
    rows = (
        (f"See {KNOWN}", False, f"See {KNOWN}"),
        (f"See {KNOWN}", True, f"See {KNOWN.replace(':', '-')}"),  # what follows may extend it
        (f"See {KNOWN} now", True, f"See {KNOWN} now"),
        ("http://o.example:80/ and https://o.example:81", False, "http-//o.example:80/ and https-//o.example:81"),
    )
    for text, goes_on, shown in rows:
        assert made("drop", "drop").in_text(text, goes_on=goes_on) == shown
        assert made("drop", "keep").in_text(text, goes_on=goes_on) == text
    assert made("drop", "drop").in_text(KNOWN) == KNOWN


@pytest.mark.parametrize("images", ["drop", "keep"])
@pytest.mark.parametrize("links", ["drop", "keep"])
def test_the_policy_says_what_is_kept(images: Any, links: Any) -> None:
    found = policy_filter([KNOWN], PolicySettings(untrusted_images=images, untrusted_links=links))
    other = "https://other.example/x"
    assert (found.keeps_image(other), found.keeps_link(other)) == (images == "keep", links == "keep")
    assert found.keeps_image(KNOWN)
    assert found.keeps_link(KNOWN)
    assert found.knows(KNOWN + "#part")
    assert not found.knows(other)


@pytest.mark.parametrize(
    ("given", "at_once"),
    [
        ("```\n" + " " * 3_999, "```\n"),
        ("```\n" + " " * 4_000, "```\n" + " " * 4_000),
        ("`a|b` c", "`a|b"),
        ("a < ", "a < "),
        ("<<", "<"),
        ("\\a", ""),
        ("\\ab", "\\ab"),
        ("plain words", "plain words"),
        ("wow!", "wow"),
        ("wow! ", "wow! "),
        ("![1]", ""),
        ("![1] ", "![1] "),
        ("![ab", ""),
        ("see `co", "see "),
        ("see `co` ", "see `co` "),
        ("``", ""),
        ("```py", ""),
        ("```py\n", "```py\n"),
        ("```py\nx = 1", "```py\nx = 1"),
        ("```py\n``", "```py\n"),
        ("  ```\n  x", "  ```\n"),
        ("a\r", "a"),
        ("[1]", "[1"),
        ("[1]: ht", "[1"),
        ("[1] is", "[1] is"),
        ("see http", "see "),
        ("see hat", "see hat"),
        (f"see {KNOWN}", "see "),
        (f"see {KNOWN} ", f"see {KNOWN} "),
        ("<b", ""),
        ("a <b ", "a "),
        ("<b x>", "<b x>"),
        ("a <b x\n\nc", "a <b x\n\nc"),
        ("a <b>", "a <b>"),
        ("[a](", "[a"),
        ("[a](x)", "[a](#)"),
        ("\\", ""),
        ("!" + "[" * 3_998, ""),
        ("!" + "[" * 3_999, "\\" + "[" * 3_999),
    ],
)
def test_only_what_is_not_clear_is_held_back(given: str, at_once: str) -> None:
    assert made("drop", "drop").feed(given) == at_once


def test_an_unknown_link_leads_nowhere() -> None:
    shown = LinkFilter([KNOWN], links="drop").whole("[label](https://other.example/x)")
    assert shown == "[label](#ttps://other.example/x)"
    assert LinkFilter([KNOWN], links="drop").whole("[label](/x)") == "[label](#x)"
    assert LinkFilter([KNOWN], links="drop").whole("[label]()") == "[label](#"
