"""Minimal Office documents and books for tests, built part by part."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from html import escape

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
_P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/"
_CORE = (
    f'<cp:coreProperties xmlns:cp="{_PACKAGE}metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:dcterms="http://purl.org/dc/terms/"><dc:title>The Yearbook</dc:title><dc:creator>A. Keeper</dc:creator>'
    "<dcterms:created>2024-03-01T10:00:00Z</dcterms:created></cp:coreProperties>"
)


def zipped(parts: Mapping[str, str | bytes] | Mapping[str, bytes]) -> bytes:
    """Return an archive; a part named `mimetype` stays unpacked, as EPUB and OpenDocument ask."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data, zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED)
    return file.getvalue()


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    """Return the part that says where relations lead; what begins with http is outside of the package."""
    rows = "".join(
        f'<Relationship Id="{name}" Type="{_RELATIONS}{kind}" Target="{escape(target)}"'
        + (' TargetMode="External"/>' if target.startswith("http") else "/>")
        for name, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{_PACKAGE}relationships">{rows}</Relationships>'


def word(body: str, styles: str = "", levels: str = "", numbers: str = "") -> bytes:
    """Return a Word document whose body is this WordprocessingML, with more styles, numberings and their levels."""
    own_styles, own_levels, own_numbers = styles, levels, numbers
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/></w:style>'
        for level in (1, 2)
    )
    levels = "".join(
        f'<w:abstractNum w:abstractNumId="{number}"><w:lvl w:ilvl="0"><w:numFmt w:val="{kind}"/></w:lvl>'
        f'<w:lvl w:ilvl="1"><w:numFmt w:val="{kind}"/></w:lvl></w:abstractNum>'
        for number, kind in ((0, "bullet"), (1, "decimal"))
    )
    numbers = "".join(f'<w:num w:numId="{n + 1}"><w:abstractNumId w:val="{n}"/></w:num>' for n in (0, 1))
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}content-types"/>',
            "_rels/.rels": relations({"r1": ("officeDocument", "word/document.xml")}),
            "docProps/core.xml": _CORE,
            "word/document.xml": f"<w:document {_W} {_R}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relations({"link": ("hyperlink", "https://harbour.example/tides")}),
            "word/styles.xml": f"<w:styles {_W}>{styles}{own_styles}</w:styles>",
            "word/numbering.xml": f"<w:numbering {_W}>{levels}{own_levels}{numbers}{own_numbers}</w:numbering>",
            "word/footnotes.xml": f'<w:footnotes {_W}><w:footnote w:id="2"><w:p><w:r><w:t>By hand.</w:t></w:r></w:p>'
            "</w:footnote></w:footnotes>",
        }
    )


def presentation(*slides: str) -> bytes:
    """Return a presentation; each slide is its tree of shapes, one that begins with `hidden:` is not shown."""
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}content-types"/>',
        "_rels/.rels": relations({"r1": ("officeDocument", "ppt/presentation.xml")}),
        "ppt/presentation.xml": f"<p:presentation {_P} {_R}><p:sldIdLst>"
        + "".join(f'<p:sldId id="{256 + n}" r:id="s{n}"/>' for n in range(len(slides)))
        + "</p:sldIdLst><p:extLst><p14:sectionLst xmlns:p14='http://schemas.microsoft.com/office/powerpoint/2010/main'>"
        + "".join(f'<p14:sldId id="{256 + n}"/>' for n in range(len(slides)))
        + "</p14:sectionLst></p:extLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            {f"s{n}": ("slide", f"slides/slide{n}.xml") for n in range(len(slides))}
        ),
    }
    for number, slide in enumerate(slides):
        shown = ' show="0"' if slide.startswith("hidden:") else ""
        parts[f"ppt/slides/slide{number}.xml"] = (
            f"<p:sld {_P} {_A} {_R}{shown}><p:cSld><p:spTree>{slide.removeprefix('hidden:')}</p:spTree></p:cSld>"
            "</p:sld>"
        )
    return zipped(parts)


def workbook(sheets: Mapping[str, list[list[object]]], hidden: str = "") -> bytes:
    """Return a spreadsheet with these sheets; the one named `hidden` is not shown."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    states = ("visible", "hidden")
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
        f'PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/></Types>',
        "_rels/.rels": relations({"r1": ("officeDocument", "xl/workbook.xml")}),
        "xl/workbook.xml": f'<workbook xmlns="{main}" {_R}><sheets>'
        + "".join(
            f'<sheet name="{escape(name)}" sheetId="{n + 1}" r:id="s{n}" state="{states[name == hidden]}"/>'
            for n, name in enumerate(sheets)
        )
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(
            {f"s{n}": ("worksheet", f"worksheets/sheet{n}.xml") for n in range(len(sheets))}
        ),
    }
    for number, rows in enumerate(sheets.values()):
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{main}"><sheetData>'
            + "".join(map(_row, range(1, len(rows) + 1), rows))
            + "</sheetData></worksheet>"
        )
    return zipped(parts)


def _row(number: int, cells: list[object]) -> str:
    def cell(column: int, value: object) -> str:
        place = f"{chr(65 + column)}{number}"
        if isinstance(value, (int, float)):
            return f'<c r="{place}"><v>{value}</v></c>'
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'

    return f'<row r="{number}">' + "".join(cell(column, value) for column, value in enumerate(cells)) + "</row>"


def opendocument(body: str, *, kind: str = "text", styles: str = "") -> bytes:
    """Return an OpenDocument file whose body is this XML."""
    names = "".join(
        f' xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for prefix, name in (
            ("office", "office"),
            ("text", "text"),
            ("table", "table"),
            ("draw", "drawing"),
            ("style", "style"),
            ("fo", "xsl-fo-compatible"),
        )
    )
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f'<office:document-content{names} xmlns:xlink="http://www.w3.org/1999/xlink">'
            f"<office:automatic-styles>{styles}</office:automatic-styles>"
            f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>",
            "meta.xml": f"<office:document-meta{names} xmlns:dc='http://purl.org/dc/elements/1.1/'><office:meta>"
            "<dc:title>The Logbook</dc:title><dc:date>2023-05-06T07:08:09</dc:date></office:meta>"
            "</office:document-meta>",
        }
    )


def book(*chapters: str, protected: bool = False) -> bytes:
    """Return an EPUB book whose chapters are the bodies of these XHTML pages."""
    opf = "http://www.idpf.org/2007/opf"
    items = "".join(
        f'<item id="c{n}" href="text/c{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    parts: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
        "OEBPS/book.opf": f'<package xmlns="{opf}" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        "<dc:title>Tales of the Coast</dc:title><dc:creator>B. Sailor</dc:creator><dc:language>en</dc:language>"
        f"</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>",
    }
    for number, body in enumerate(chapters):
        parts[f"OEBPS/text/c{number}.xhtml"] = (
            '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head>'
            f"<body>{body}</body></html>"
        )
    if protected:
        names = "".join(
            f'<enc:EncryptedData xmlns:enc="e"><enc:CipherReference URI="OEBPS/text/c{n}.xhtml"/></enc:EncryptedData>'
            for n in range(len(chapters))
        )
        parts["META-INF/encryption.xml"] = f"<encryption>{names}</encryption>"
    return zipped(parts)
