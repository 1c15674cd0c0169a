"""Marks are found where a reader would see them, however the answer is cut into chunks."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.citations import Mark, MarkScanner, find_marks, render_answer
from groundwire.citations.marker_parser import (
    address_of_link,
    cited_numbers,
    plain_marks,
    without_sources,
    written_address,
)
from groundwire.models import Source

pytestmark = pytest.mark.req("Y12")

WRITTEN = st.lists(
    st.sampled_from(
        [
            "[1]", "[2]", "[12]", "[1, 3]", "[1][2]", "[1-3]", "[3-1]", "【1】", "［1］", "【1†source】", "[１]", "[٣]",
            "[", "]", "(", ")", "`", "``", "```", "~~~", "```py\n", "\n", "\n\n", "\\", "\\\\", "!", ":", "://", "https://a.example/",
            " ", "a", "word ", "[link](http://b.example/[1])", "[see [1]](u)", "![x](y)", "- ", "> ", "1. ",
            "    ", "\t", "é", "日本", "†", ",", "-", "1", "999999", "[1", "<b>", "&amp;", "*", "_", "\r\n",
        ]
    ),
    max_size=30,
).map("".join)  # fmt: skip


def numbers(text: str) -> list[tuple[int, ...]]:
    return [piece.numbers for piece in find_marks(text) if isinstance(piece, Mark)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Paris [1].", [(1,)]),
        ("Paris[1][2]", [(1,), (2,)]),
        ("[1, 3]", [(1, 3)]),
        ("[1,3,5]", [(1, 3, 5)]),
        ("[1; 2]", [(1, 2)]),
        ("[1 2]", [(1, 2)]),
        ("[ 1 ]", [(1,)]),
        ("[1-3]", [(1, 2, 3)]),
        ("[1–3, 7]", [(1, 2, 3, 7)]),
        ("[2, 2]", [(2,)]),
        ("【1】和［2］", [(1,), (2,)]),
        ("【1†source】【3†L3-L5】", [(1,), (3,)]),
        ("[１２]", [(12,)]),
        ("[३]", [(3,)]),
        ("[1、3]", [(1, 3)]),
        ("array `a[1]` here [2]", [(2,)]),
        ("``a ` [1] `` [2]", [(2,)]),
        ("```\na[1]\n```\n[2]", [(2,)]),
        ("```py\na[1]\n", []),
        ("~~~\n[1]\n~~~~\n[2]", [(2,)]),
        ("> ```\n> [1]\n> ```\n> [2]", [(2,)]),
        ("- a\n  ```\n  [1]\n\n  [1]\n  ```\n- [2]", [(2,)]),
        ("```not a fence``` [1]", [(1,)]),
        ("open ``` here\n```py\n[1]\n```\n[2]", [(2,)]),
        ("open ```a [1]\n```b `[2]` [3]", [(3,)]),
        ("~~~ a ~ b ` c\n[1]\n~~~\n[2]", [(2,)]),
        ("a lone ` tick\n\n[1]", [(1,)]),
        ("[text](http://x.example/[1])", []),
        ("[text [1] more](u) [2]", [(2,)]),
        ("[1](u)", []),
        ("![1](u)", []),
        ("![alt [1]](u)", []),
        ("[text](u) [1]", [(1,)]),
        ("[Reuters][1]", [(1,)]),
        ("[1]: http://x.example", []),
        ("see [1]: that is", [(1,)]),
        ("\\[1] [2]", [(2,)]),
        ("\\\\[1]", [(1,)]),
        ("https://x.example/a[1] [2]", [(2,)]),
        ("(https://x.example/a)[1]", [(1,)]),
        ("<https://x.example/a[1]>[2]", [(2,)]),
        ("interval [0, 1) and [1]", [(1,)]),
        ("an open [ bracket and\n\n[1]", [(1,)]),
        ("- an open [ bracket\n- [1]", [(1,)]),
        ("a [link [1]\nover lines](u) [2]", [(2,)]),
        ("an open ` tick\n- [1]", [(1,)]),
        ("- [ ] task [1]\n- [x] done [2]", [(1,), (2,)]),
        ("[a1] [1a] [] [-] [1,] [,1] [12345] [1-2000] [3-1] [1.5]", []),
        ("[1\n]", []),
        ("حقيقة [1]، وأخرى [٢].", [(1,), (2,)]),
        ("[1-51]", [tuple(range(1, 52))]),
        ("[1-52]", []),
        ("[1-1]", []),
        ("[1, 3-5]", [(1, 3, 4, 5)]),
        ("[9999]", [(9999,)]),
        ("[1  ,  2]", [(1, 2)]),
        ("[1   ,2]", []),
        ("[1,   2]", []),
        ("[\u00a01\u00a0]", [(1,)]),
        ("[  1]", []),
        ("[1  ]", []),
        (f"[{'1,' * 30}1]", [(1,)]),  # 63 characters
        (f"[{'1,' * 30}12]", [(1, 12)]),
        (f"[{'1,' * 30}123]", [(1, 123)]),
        (f"[{'1,' * 31}12]", []),
        ("an open [ bracket\n> [1]", [(1,)]),
        ("a [link\nover [1] lines](u) [2]", [(2,)]),
        ("an open [ bracket\n# [1]", [(1,)]),
        ("an open [ bracket\n1. [1]", [(1,)]),
        ("an open [ bracket\n2. [1]", []),
        ("a [x [y] z](u) [1]", [(1,)]),
        ("[a](u(v)[1]) [2]", [(2,)]),
        ("[a](u(v) [1]", []),
        ("[a](u\n[1]", [(1,)]),
        ("``\na [1]\n`` [2]", [(2,)]),
        ("```\n``\n[1]\n```\n[2]", [(2,)]),
        ("````\n```\n[1]\n````\n[2]", [(2,)]),
        ("```\n[1]\n``` x\n[2]", []),
        ("```\n[1]\n```  \n[2]", [(2,)]),
        ("~~~\n```\n[1]\n~~~\n[2]", [(2,)]),
        ("~~\n[1]\n~~ [2]", [(1,), (2,)]),
        ("`a\n# [1]", [(1,)]),
        ("`a\n# b\n[1]", [(1,)]),
        ("x4s://a/[1] [2]", [(2,)]),
        ("4://a/[1]", [(1,)]),
        ("a:/[1]", [(1,)]),
        ("a//[1]", [(1,)]),
        ("(http://a/(b)[1]) [2]", [(2,)]),
        ("(http://a/b)[1]", [(1,)]),
        ("http://a/b`[1]` [2]", [(2,)]),
        ('"http://a/b"[1]', [(1,)]),
        ("\\a[1]", [(1,)]),
        ("[1](u)[2]", [(2,)]),
        ("[1] (u)", [(1,)]),
        ("[a](u)(v [1])", [(1,)]),
        ("  > [1]: http://x.example", []),
        ("[1", []),
        ("[1]", [(1,)]),
        (f"a {'`' * 1_000} [1] {'`' * 1_001} [2]", [(2,)]),
        (f"a {'`' * 999} [1] {'`' * 1_000} [2]", []),
        (f"{' ' * 39}a ~~~\n[1]", [(1,)]),
        (f"{' ' * 40}a ~~~\n[1]", []),  # more than 40 characters of containers are not read
        ("`` a\n``` b ``` c `` [1]", [(1,)]),
        ("`x`\n``` b ``` c [1]", [(1,)]),
        ("`` a\n```` b `` [1]", [(1,)]),
        ("``` a `` b\n`` [1] ``` [2]", [(2,)]),
    ],
)
def test_what_is_a_mark(text: str, found: list[tuple[int, ...]]) -> None:
    assert numbers(text) == found


@pytest.mark.parametrize("text", [f"{' ' * 40}a ~~~\n[1]", f"{' ' * 39}a ~~~\n[1]", f"{'> ' * 25}```\n[1]"])
def test_chunks_do_not_matter_at_the_start_of_a_long_line(text: str) -> None:
    scanner = MarkScanner()
    assert joined([piece for one in text for piece in scanner.feed(one)] + scanner.close()) == joined(find_marks(text))


@pytest.mark.parametrize(
    ("rest", "address"),
    [
        ("[a](u)", "u"),
        ("[a](u) more", "u"),
        ("[a]( u )", "u"),
        ("[a](<u v>)", "u v"),
        ("[a](u 'title')", "u"),
        ("[a](u(v))", "u(v)"),
        ("[a [b] c](u)", ""),
        ("[a](&amp;)", ""),
        ("[a`b`](u)", ""),
        ("[a<b](u)", ""),
        ("[a]x", ""),
        ("[a] (u)", ""),
        ("[a](u", None),
        ("[a](u v)", None),
        ("[a]", None),
        ("[a", None),
        ("a](u)", None),
    ],
)
def test_where_a_link_leads(rest: str, address: str | None) -> None:
    assert address_of_link(rest, 0) == address
    assert address_of_link(f"!{rest}", 1) == address


def test_how_an_address_is_written() -> None:
    texts = ("u", "<u>", "<u", "u>", "<>", "a&lt;", "<a&#60;b>", "a&b=c")
    assert [written_address(text) for text in texts] == ["u", "u", "<u", "u>", "", "", "", "a&b=c"]


@given(WRITTEN | st.text())
def test_nothing_is_lost(text: str) -> None:
    pieces = find_marks(text)
    assert "".join(piece.text if isinstance(piece, Mark) else piece for piece in pieces) == text
    for piece in pieces:
        if isinstance(piece, Mark):
            assert "".join(piece.spelled) == piece.text
            assert len(piece.spelled) == len(piece.pieces)


def joined(pieces: list[str | Mark]) -> list[str | Mark]:
    """Return pieces with neighboring plain texts made one."""
    out: list[str | Mark] = []
    for piece in pieces:
        if isinstance(piece, str) and out and isinstance(out[-1], str):
            out[-1] += piece
        else:
            out.append(piece)
    return out


@given(WRITTEN, st.data())
def test_chunks_do_not_matter(text: str, data: st.DataObject) -> None:
    whole = joined(find_marks(text))
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8).map(sorted))
    for places in (range(len(text)), cuts):
        scanner = MarkScanner()
        ends = [0, *places, len(text)]
        pieces = [piece for begin, end in itertools.pairwise(ends) for piece in scanner.feed(text[begin:end])]
        assert joined(pieces + scanner.close()) == whole


@given(WRITTEN | st.text())
def test_no_more_than_a_mark_is_held_back(text: str) -> None:
    scanner, given_back = MarkScanner(), 0
    for place, character in enumerate(text, start=1):
        given_back += sum(len(p.text) if isinstance(p, Mark) else len(p) for p in scanner.feed(character))
        held = text[given_back:place]
        assert len(held) <= 65
        assert not held or held[0] in "[［【"


@pytest.mark.parametrize(
    ("text", "fence"),
    [
        ("```py", "```"),
        ("```py\nx", "```"),
        ("```py\nx\n```", ""),
        ("```py\nx\n```\n", ""),
        ("~~~~\nx\n~~~\n", "~~~~"),
        ("`a", ""),
        ("text", ""),
    ],
)
def test_the_fence_that_is_open(text: str, fence: str) -> None:
    scanner = MarkScanner()
    scanner.feed(text)
    scanner.close()
    assert scanner.open_fence == fence


@pytest.mark.parametrize(
    ("text", "at_once"),
    [
        ("a [1", "a "),
        ("a [1]", "a "),
        ("a 【1】", "a 【1】"),
        ("a [1x", "a [1x"),
        ("a [1] ", "a [1] "),
        ("a [1†so", "a "),
        (f"[{'1,' * 31}1", ""),
        (f"[{'1,' * 31}1,", f"[{'1,' * 31}1,"),
    ],
)
def test_what_is_given_back_at_once(text: str, at_once: str) -> None:
    given_back = MarkScanner().feed(text)
    assert "".join(piece.text if isinstance(piece, Mark) else piece for piece in given_back) == at_once


def test_a_mark_is_told_in_pieces() -> None:
    (mark,) = (piece for piece in find_marks("[１, 3-5]") if isinstance(piece, Mark))
    assert mark.pieces == ("[", 1, ", ", 3, "-", 5, "]")
    assert mark.spelled == ("[", "１", ", ", "3", "-", "5", "]")
    assert mark.numbers == (1, 3, 4, 5)
    (mark,) = (piece for piece in find_marks("[ 1 ]") if isinstance(piece, Mark))
    assert mark.spelled == ("[ ", "1", " ]")


@pytest.mark.parametrize(
    ("written", "cited"),
    [
        (r"[\[1\]](https://example.com/a)", {1}),
        (r"[\[1\]](https://example.com/a)[\[2\]](https://example.com/b_(c))", {1, 2}),
        (r"\[[1](https://example.com/a), [2](https://example.com/b)\]", {1, 2}),
        ("[[1]](https://example.com/a)", {1}),
        ("[[1, 3]](https://example.com/a)", {1, 3}),
        (r"\[[1](https://example.com/a)\-[3](https://example.com/c)\]", {1, 2, 3}),
        (r"\[[1](https://example.com/a), [3](https://example.com/c)–[5](https://example.com/e)\]", {1, 3, 4, 5}),
        ("[【1】](https://example.com/a)[［2］](https://example.com/b)", {1, 2}),
        ("[[1](https://example.com/a), [2](<https://example.com/b>)]", {1, 2}),
        ('([1](https://example.com/a "A title"))', {1}),
        ("[^1][^12]", {1, 12}),
        ("[^1]: https://example.com/a", set()),
        ("[^note]", set()),
        ("`[1](https://example.com/a)`", set()),
        ("[2024](https://example.com/a)", set()),
        ("[1st](https://example.com/a)", set()),
    ],
)
def test_linked_markers_and_footnotes_cite(written: str, cited: set[int]) -> None:
    assert cited_numbers(f"Paris {written}.") == cited
    assert len(plain_marks(written)) == len(written)


@pytest.mark.parametrize(
    ("end", "kept"),
    [
        ("\n\n**Sources**\n\n- \\[1\\] [A](https://example.com/)\n- \\[2\\] https://example.com/b\n", ""),
        ("\n\n## References\n1. [A](https://example.com/)\n2. <https://example.com/b>", ""),
        ("\n\n[^1]: https://example.com/", ""),
        ("\nDogs are banned.\n[1] A, https://example.com/", "\nDogs are banned."),
        ("\n1. Dogs are banned, see https://example.com/", "\n1. Dogs are banned, see https://example.com/"),
        ("\n[1] says that dogs are banned.", "\n[1] says that dogs are banned."),
    ],
)
def test_the_list_of_sources_at_the_end_is_no_part_of_the_answer(end: str, kept: str) -> None:
    answer = f"Paris [1].{end}"
    assert without_sources(answer).rstrip() == f"Paris [1].{kept}"
    assert len(without_sources(answer)) == len(answer)


@given(
    st.lists(
        st.sampled_from(["[1]", "[2, 3]", "[1-4]", "[2–3]", "【4】", "［2］", "[1][3]", " and so on "]), max_size=6
    )
)
def test_a_rendered_answer_cites_what_the_answer_cites(parts: list[str]) -> None:
    answer = f"Paris {' x '.join(parts)}."
    sources = [Source(citation_id=at, url=f"https://example.com/{at}", title="A") for at in range(1, 5)]
    assert cited_numbers(render_answer(answer, sources, "markdown", footer=False).text) == cited_numbers(answer)
