"""PDF files: the order of reading, what stands where, and every file that gives no text."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.pdfgen.canvas import Canvas

from components.examples import examples
from components.papers import (
    HEIGHT,
    WIDTH,
    canvas_pdf,
    column_paper,
    encrypted,
    many_pages,
    report,
    scan,
    sentences,
)
from groundwire.reading.documents.pdf.convert import read_pdf
from groundwire.reading.extracted import Extracted, UnreadableDocument

pytestmark = pytest.mark.req("B2")


def read(body: bytes) -> Extracted:
    return read_pdf(body, seconds=20)


def refusal(body: bytes) -> tuple[str, str]:
    with pytest.raises(UnreadableDocument) as caught:
        read(body)
    return caught.value.reason.why, caught.value.reason.message


def said(body: bytes) -> str:
    """Return a file's text, or the reason why it has none."""
    try:
        return read(body).content
    except UnreadableDocument as error:
        return error.reason.message


def written(*lines: str, size: float = 11, font: str = "Helvetica", step: float = 14) -> bytes:
    def draw(canvas: Canvas) -> None:
        canvas.setFont(font, size)
        for number, line in enumerate(lines):
            canvas.drawString(72, 760 - step * number, line)

    return canvas_pdf(draw)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_columns_are_read_one_after_the_other(columns: int) -> None:
    texts = sentences(90)
    content = read(column_paper(texts, columns)).content
    order = [int(number) for number in re.findall(r"Note (\d+) says", content)]
    assert order == list(range(1, 91))
    whole = " ".join(re.sub(r"\[page \d+\]", "", content).split())
    assert sum(text in whole for text in texts) >= 86  # those that a page's or a column's end cuts are in two parts
    assert content.index("On the Lights") < content.index("1 Section") < content.index("Note 1 says")


def test_headings_lists_tables_and_links_are_markdown_and_the_papers_furniture_is_gone() -> None:
    found = read(report(pages=4))
    assert found.content.count("\n# Year 190") == 4
    assert "- first light\n- second light\n- third light" in found.content
    assert "| Month | Ships | Fog days |\n| --- | --- | --- |\n| January | 12 | 9 |" in found.content
    assert "[the tables of tides](https://harbour.example/tides)" in found.content
    assert found.content.count("Harbour Office Yearbook") == 1
    assert "running heads, footers and page numbers removed: 7" in found.warnings
    assert re.findall(r"^\[page (\d+)\]$", found.content, re.MULTILINE) == ["1", "2", "3", "4"]
    assert (found.title, found.author, found.kind) == ("Yearbook", "Harbour Office", "document")


def test_a_head_that_is_there_only_twice_stays() -> None:
    assert read(report(pages=2)).content.count("Harbour Office Yearbook") == 2


def test_lines_are_joined_and_broken_words_mended() -> None:
    content = read(
        written(
            "The keeper of the light reads the baro-",
            "meter every evening and compares the well-known",
            "readings of other lights with his own well-",
            "known ones, which is a habit of many years.",
        )
    ).content
    assert "reads the barometer every evening" in content
    assert "his own well-known ones" in content


def test_a_word_that_the_end_of_a_page_breaks_is_whole() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(72, 760, "The long and winding sentence ends with a light-")
        canvas.showPage()
        canvas.drawString(72, 760, "house on the northern shore of the long island.")

    content = read(canvas_pdf(draw)).content
    assert "a lighthouse\n\n[page 2]\n\non the northern shore" in content


def test_code_keeps_its_indentation() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 11)
        for row in range(6):
            canvas.drawString(72, 760 - 14 * row, "Some words about a program that counts the ships at night.")
        canvas.setFont("Courier", 10)
        for row, line in enumerate(("def count(ships):", "    for ship in ships:", "        yield ship")):
            canvas.drawString(72, 660 - 12 * row, line)

    assert "```\ndef count(ships):\n    for ship in ships:\n        yield ship\n```" in read(canvas_pdf(draw)).content


def test_a_page_on_its_side_is_read_and_a_stamp_in_the_margin_stands_apart() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.saveState()
        canvas.rotate(90)
        for row in range(3):
            canvas.drawString(100, -100 - 14 * row, f"Line {row} of a page that lies on its side, read from the left.")
        canvas.restoreState()
        canvas.drawString(300, 300, "stamp")

    content = read(canvas_pdf(draw)).content
    places = [content.index(mark) for mark in ("Line 0", "Line 1", "Line 2", "stamp")]
    assert places == sorted(places)


def test_what_looks_like_a_mark_of_a_page_is_not_taken_for_one() -> None:
    content = read(written("[page 7]", "", "Words that follow, in a paragraph of their own.")).content
    assert re.findall(r"^\[page \d+\]$", content, re.MULTILINE) == ["[page 1]"]
    assert "\\[page 7]" in content


def test_markup_in_the_text_stays_text() -> None:
    content = read(written("Use *stars* and <b>tags</b> and [label](javascript:x) freely.")).content
    assert "\\*stars\\* and \\<b>" in content
    assert "](javascript" not in content.replace("\\](", "")


def test_the_date_and_the_language_are_the_files_own() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setTitle("Microsoft Word - draft.docx")
        canvas.setFont("Helvetica-Bold", 24)
        canvas.drawString(72, 760, "The Real Title")
        canvas.setFont("Helvetica", 11)
        for row in range(9):
            canvas.drawString(72, 700 - 14 * row, "Words of the text that make its type the usual one on this page.")

    body = canvas_pdf(draw, lang="de-AT")
    found, changed = read(body), read(body.replace(b"/ModDate (D:2000", b"/ModDate (D:2001"))
    assert (changed.published, changed.modified) == ("2000-01-01", "2001-01-01")
    assert found.title == "The Real Title"
    assert found.published == "2000-01-01"  # what reportlab writes when a file is to be the same every time
    assert found.modified is None
    assert found.language == "de-AT"


def test_five_hundred_pages_are_read_and_said() -> None:
    found = read_pdf(many_pages(500, rows=20), seconds=60)
    assert found.content.count("\n[page ") == 499
    assert not found.cut
    assert "Note 20 says" in found.content[-4_000:]


def test_a_file_that_takes_too_long_is_read_as_far_as_the_time_goes() -> None:
    found = read_pdf(many_pages(40), seconds=0)
    assert found.cut
    assert "the first 1 of 40 pages were read" in found.warnings
    assert "[page 1]" in found.content
    assert "[page 2]" not in found.content


@pytest.mark.parametrize(
    ("body", "why", "says"),
    [
        (lambda: encrypted("tide"), "protected", "password"),
        (lambda: scan(3), "scanned", "3 pages are pictures"),
        (lambda: scan(1), "scanned", "its 1 page is a picture"),
        (lambda: b"%PDF-1.7\n" + b"nonsense " * 300, "broken", "another copy"),
        (lambda: many_pages(30)[:1_000], "broken", "another copy"),
        (lambda: canvas_pdf(lambda canvas: canvas.showPage()), "empty", "no text"),
        (lambda: b"%PDF-1.4", "broken", "another copy"),
    ],
    ids=["encrypted", "scanned", "one page", "nonsense", "cut off", "blank", "a head alone"],
)
def test_a_file_without_text_says_why(body: Callable[[], bytes], why: str, says: str) -> None:
    found, message = refusal(body())
    assert found == why
    assert says in message


def test_a_file_without_pages_says_so() -> None:
    body = (
        b"%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[]/Count 0>>\nendobj\n"
        b"trailer\n<</Root 1 0 R/Size 3>>\n%%EOF"
    )
    assert refusal(body)[0] in {"empty", "broken"}


def test_a_password_for_the_owner_alone_does_not_matter() -> None:
    assert "The secret of the lighthouse." in read(encrypted("")).content


def test_a_file_that_ends_inside_its_trailer_is_read() -> None:
    body = many_pages(1).replace(b"/Catalog", b"/Missing")  # as if that were lost, too
    begin, end = body.rindex(b"trailer"), body.rindex(b"%%EOF")
    cut = body[: begin + 7] + b"\n<< /ID [<93f7"
    assert "Note 1 says" in read(cut).content
    for place in range(begin, end, 5):
        assert "Note 1 says" in read(body[:place]).content


def test_a_file_whose_end_is_missing_is_read_and_said() -> None:
    body = many_pages(3)
    found = read(body[: body.rindex(b"startxref")])
    assert "Note 1 says" in found.content
    assert any("the end of the file is missing" in warning for warning in found.warnings)


@pytest.mark.parametrize("mode", [0, 3])
def test_the_recognized_text_of_a_scan_is_read_and_said(mode: int) -> None:
    found = read(scan(1, recognized="Words that a program recognized", mode=mode))
    assert "Words that a program recognized" in found.content
    assert any("recognized in a scan" in warning for warning in found.warnings) == (mode == 3)


def test_pictures_among_pages_of_text_are_said() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "Text of the first page.")
        canvas.showPage()
        from PIL import Image
        from reportlab.lib.utils import ImageReader

        canvas.drawImage(ImageReader(Image.new("RGB", (20, 20), "red")), 0, 0, WIDTH, HEIGHT)

    assert "pages that are pictures without text: 2" in read(canvas_pdf(draw)).warnings


@pytest.mark.parametrize(("columns", "leader", "gap"), [(1, " .", 8), (2, ".", 3), (3, ".", 3)])
def test_an_index_with_dot_leaders_is_its_entries_and_no_table(columns: int, leader: str, gap: int) -> None:
    width = (475 - 20 * (columns - 1)) / columns
    entries = [(f"entry {number}", f"{number}, {number + 40}") for number in range(1, 1 + 24 * columns)]

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 9)
        for place, (entry, pages) in enumerate(entries):
            left, y = 60 + (width + 20) * (place // 24), 780 - 12 * (place % 24)
            canvas.drawString(left, y, entry)
            canvas.drawRightString(left + width, y, pages)
            start, end = left + canvas.stringWidth(entry) + gap, left + width - canvas.stringWidth(pages) - gap
            count = int((end - start) / canvas.stringWidth(leader))
            canvas.drawString(end - count * canvas.stringWidth(leader), y, leader * count)

    content = read_pdf(canvas_pdf(draw), seconds=60).content
    assert re.findall(r"(?m)^(?:- )?(entry \d+) \u2026 (\d+, \d+)$", content) == entries


def test_dots_in_cells_are_no_leaders() -> None:
    def draw(canvas: Canvas) -> None:
        for number in range(8):
            for column, text in enumerate((f"depot {number}", "." if number % 2 else "4", ".", str(number))):
                canvas.drawString(60 + 90 * column, 780 - 16 * number, text)

    assert "| depot 1 | . | . | 1 |" in read_pdf(canvas_pdf(draw), seconds=60).content


@settings(max_examples=examples(60), deadline=None)
@given(st.binary(max_size=600))
def test_any_bytes_behind_the_head_give_text_or_a_reason(tail: bytes) -> None:
    assert said(b"%PDF-1.7\n" + tail)


_GOOD = report(pages=2)


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_any_damage_gives_text_or_a_reason(data: st.DataObject) -> None:
    body = bytearray(_GOOD)
    for _ in range(data.draw(st.integers(1, 30))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    assert said(bytes(body[: data.draw(st.integers(10, len(body)))]))


def test_raised_lowered_and_struck_text_is_marked() -> None:
    def draw(canvas: Canvas) -> None:
        def write(x: float, y: float, *parts: tuple[str, float, float]) -> float:
            for text, size, rise in parts:
                canvas.setFont("Helvetica", size)
                canvas.drawString(x, y + rise, text)
                x += canvas.stringWidth(text, "Helvetica", size)
            return x

        write(60, 700, ("The port sold 10", 11, 0), ("6", 7, 4), (" tickets and has 250 m", 11, 0), ("2", 7, 4))
        write(60, 680, ("The bell is from 1603", 11, 0), ("1", 7, 4), ("; take x", 11, 0), ("i", 7, -2),
              (" and H", 11, 0), ("2", 7, -2), ("O.", 11, 0))  # fmt: skip
        end = write(60, 660, ("The price is 100 euros", 11, 0))
        canvas.line(60 + canvas.stringWidth("The price is ", "Helvetica", 11), 663.2, end, 663.2)
        write(end, 660, (" 80 euros since May.", 11, 0))
        end = write(60, 640, ("What is under a line stays.", 11, 0))
        canvas.line(60, 638.5, end, 638.5)
        write(60, 600, ("B", 24, 0), ("oats that read this have good eyes.", 11, 0))

    content = read(canvas_pdf(draw)).content
    assert "10^6 tickets and has 250 m^2" in content
    assert "1603^1; take x\\_i and H2O." in content
    assert "The price is ~~100 euros~~ 80 euros since May." in content
    assert "What is under a line stays." in content
    assert "oats that read this have good eyes." in content
    assert "^oats" not in content


def test_signs_in_another_font_stay_where_they_are() -> None:
    def draw(canvas: Canvas) -> None:
        text = canvas.beginText(60, 700)
        for part, font in (("It fell by 5.9", ""), ("%", "-Bold"), (", (", ""), ("i.e.", "-Oblique"), (", ", ""),
                           ("\u201ceco-", "-Bold"), ("assist", ""), ("\u201d).", "-Bold")):  # fmt: skip
            text.setFont(f"Helvetica{font}", 11)
            text.textOut(part)
        canvas.drawText(text)

    assert "It fell by 5.9%, (i.e., \u201ceco-assist\u201d)." in read(canvas_pdf(draw)).content


def test_a_number_and_a_word_in_the_next_column_are_apart() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 10)
        for row, (count, name) in enumerate((("12", "Ropes"), ("7", "Lamps"), ("120", "Oars"))):
            canvas.drawRightString(100, 700 - 14 * row, count)
            canvas.drawString(101, 700 - 14 * row, name)
        canvas.drawString(60, 600, "The 3rd of 5km")

    content = read(canvas_pdf(draw)).content
    assert "12 Ropes" in content
    assert "120 Oars" in content
    assert "The 3rd of 5km" in content


def test_a_letterhead_and_a_footer_are_kept_once() -> None:
    def draw(canvas: Canvas) -> None:
        for number in range(1, 5):
            canvas.setFont("Helvetica", 10)
            canvas.drawString(60, 800, "Berg Chandlers Ltd")
            canvas.drawString(60, 786, "Invoice 2024-17 of 3 June 2024")
            canvas.drawString(60, 40, "Pay to IBAN DE02 1203 0000 0000 2020 51")
            canvas.drawString(280, 26, f"Page {number} of 4")
            for row in range(8):
                canvas.drawString(
                    60, 600 - 30 * row, f"Rope {number}{row} of hemp, delivered to the boat, costs {row} euros."
                )
            canvas.showPage()

    found = read(canvas_pdf(draw))
    for once in ("Berg Chandlers Ltd", "Invoice 2024-17 of 3 June 2024", "Pay to IBAN DE02 1203 0000 0000 2020 51"):
        assert found.content.count(once) == 1
    assert found.content.index("Invoice 2024") < found.content.index("Rope 10") < found.content.index("Rope 47")
    assert "Page 2 of 4" not in found.content
    assert "running heads, footers and page numbers removed: 13" in found.warnings


def test_a_frame_around_tables_is_no_table() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 9)
        for x, y, text in [
            (70, 700, "Customer"), (330, 700, "Car"),
            *((70, 680 - 13 * row, text) for row, text in enumerate(("Insured name", "Claim", "Policy", "Phone"))),
            *((160, 680 - 13 * row, text) for row, text in enumerate(("Gabriel Diaz", "SF-1008", "POL-22", "425"))),
            *((330, 680 - 13 * row, text) for row, text in enumerate(("Year", "Make", "Model", "Trim"))),
            *((400, 680 - 13 * row, text) for row, text in enumerate(("2022", "Jeep", "Grand", "Limited"))),
            (70, 600, "Parts"), (400, 600, "2,100"), (70, 580, "Sum"), (400, 580, "2,200"),
        ]:  # fmt: skip
            canvas.drawString(x, y, text)
        for y in (720, 692, 620, 592, 570):
            canvas.line(60, y, 500, y)
        for x in (60, 500):
            canvas.line(x, 570, x, 720)
        canvas.line(300, 692, 300, 720)
        canvas.line(300, 570, 300, 620)

    content = read(canvas_pdf(draw)).content
    assert "| Insured name | Gabriel Diaz | Year | 2022 |" in content
    assert "| Claim | SF-1008 | Make | Jeep |" in content
    assert "Gabriel Diaz Year" not in content
    assert re.search(r"Parts[ |]+2,100", content)


def test_labels_and_numbers_below_each_other_are_rows() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 9)
        for row, (label, value) in enumerate(
            (("Name:", "Premier Group"), ("Contact:", "Michael Chen"), ("Mail:", "m@x.example"))
        ):
            canvas.drawString(50, 700 - 12 * row, label)
            canvas.drawString(150, 700 - 12 * row, value)
        for row, (label, value) in enumerate((("Type:", "Net 30"), ("Terms:", "Corporate"), ("Share:", "10%"))):
            canvas.drawString(350, 694 - 12 * row, label)
            canvas.drawString(450, 694 - 12 * row, value)
        for row, cells in enumerate((("Start", "End", "Shows", "Gross"), ("12/20/24", "12/31/24", "48", "$12,500.00"))):
            for column, text in enumerate(cells):
                canvas.drawString(50 + 90 * column, 600 - 12 * row, text)

    content = read(canvas_pdf(draw)).content
    assert "| Name: | Premier Group | Type: | Net 30 |" in content
    assert "| Mail: | m@x.example | Share: | 10% |" in content
    assert (
        "| Start | End | Shows | Gross |\n| --- | --- | --- | --- |\n| 12/20/24 | 12/31/24 | 48 | $12,500.00 |"
        in content
    )
