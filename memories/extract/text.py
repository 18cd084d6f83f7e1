"""Text out of documents, piece by piece, each with where it stands: `manual.pdf#page=3`, `letter.docx#paragraph=12`.

Pieces of one page are `#page=3&part=2`: locators that differ in their last number are neighbours.
"""

import logging
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import docx
from docx.oxml import parse_xml
from pypdf import PdfReader
from pypdf.errors import PyPdfError
from selectolax.lexbor import LexborHTMLParser

from memories.encodings import text_of
from memories.errors import Invalid
from memories.extract import sniff
from memories.extract.chunks import Chunk, cut

logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it would quote what it stumbles over
MAX_PAGES = 3_000
MAX_PIECES = 20_000
MAX_PAGE = 200_000  # characters of one page
MAX_UNPACKED = 200 * 1024**2  # bytes of a DOCX, unpacked
BLOCKS = (
    "address, article, aside, blockquote, br, dd, div, dl, dt, figcaption, footer, h1, h2, h3, h4, h5, h6, header, hr, "
    "li, main, nav, ol, p, pre, section, table, tr, ul"
)
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
BREAKS = {"tab", "br", "cr", "ptab"}
NOT_SAID = {
    "del",
    "moveFrom",
    "pPr",
    "rPr",
    "tcPr",
    "tblPr",
    "trPr",
    "sdtPr",
    "sectPr",
    "Fallback",
}  # or said twice
HIDDEN = ["script", "style", "noscript", "template", "iframe", "object", "svg", "head > link", "head > meta"]
UNSEEN = '[hidden], [style*="display:none" i], [style*="display: none" i], [style*="visibility:hidden" i]'
_CHARSET = re.compile(rb"""<meta\b[^>]*\bcharset\s*=\s*["']?\s*([\w:.-]+)""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a document's text: where it stands in it, as a fragment and as numbers, and how surely it was read."""

    text: str
    fragment: str
    modality: str = "text"
    layout: dict[str, Any] = field(default_factory=dict)
    trust: dict[str, float] = field(default_factory=dict)


def extract(path: Path, kind: sniff.Kind) -> list[Piece]:
    """All pieces of a document, in order; [] when it holds no text. Raises `Invalid` when it cannot be read."""
    pieces: list[Piece] = []
    for piece in READERS[kind.name](path):
        if len(pieces) >= MAX_PIECES:
            raise Invalid(f"The file would make more than {MAX_PIECES:,} memories.", "file")
        pieces.append(piece)
    return pieces


def _plain(path: Path) -> Iterator[Piece]:
    for chunk in cut(_printable(text_of(path.read_bytes()))):
        yield Piece(chunk.text, f"line={chunk.line}", layout={"line": chunk.line}, trust={"parser": 1.0})


def _pdf(path: Path) -> Iterator[Piece]:
    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Invalid("The PDF is locked with a password.", "file")
        if len(reader.pages) > MAX_PAGES:
            raise Invalid(f"The PDF has more than {MAX_PAGES:,} pages.", "file")
        for number, page in enumerate(reader.pages, start=1):
            text = _printable(page.extract_text() or "")[:MAX_PAGE]
            yield from _parts(cut(text), f"page={number}", {"page": number}, 0.9, "pdf_page")
    except Invalid:
        raise
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OSError):
        raise Invalid("The PDF is damaged; it cannot be read.", "file") from None


def _parts(
    chunks: list[Chunk], fragment: str, layout: dict[str, Any], parser: float, modality: str = "text"
) -> Iterator[Piece]:
    for part, chunk in enumerate(chunks, start=1):
        if len(chunks) == 1:
            yield Piece(chunk.text, fragment, modality, layout, {"parser": parser})
        else:
            yield Piece(
                chunk.text, f"{fragment}&part={part}", modality, {**layout, "part": part}, {"parser": parser}
            )


def _docx(path: Path) -> Iterator[Piece]:
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(one.file_size for one in archive.infolist()) > MAX_UNPACKED:
                raise Invalid("The document is too large, unpacked.", "file")
        document = docx.Document(str(path))
        text = "\n\n".join(_blocks(document))
    except Invalid:
        raise
    except Exception:  # noqa: BLE001  (the library lets faults of its parsers through)
        raise Invalid("The document is damaged; it cannot be read.", "file") from None
    for chunk in cut(_printable(text)):
        paragraph = (chunk.line + 1) // 2
        yield Piece(
            chunk.text, f"paragraph={paragraph}", layout={"paragraph": paragraph}, trust={"parser": 0.95}
        )


def _blocks(document: Any) -> Iterator[str]:
    """Paragraphs and tables in their order, one line each; then what stands in notes, headers and footers, once."""
    names = {style.style_id: style.name or "" for style in document.styles}
    yield from _lines(document.element.body, names)
    more: list[str] = []
    for kind in ("footnotes", "endnotes", "header", "footer"):
        for relation in document.part.rels.values():
            if relation.reltype.endswith(f"/{kind}") and not relation.is_external:
                more += _lines(parse_xml(relation.target_part.blob), names)
    yield from dict.fromkeys(more)


def _lines(element: Any, names: dict[str, str]) -> Iterator[str]:
    """The paragraphs and table rows below an element, also those in content controls and tracked insertions."""
    for child, kind in _children(element):
        if kind == "p":
            if said := _said(child):
                yield _heading(child, names) + said
        elif kind == "tbl":
            yield from _rows_of(child)
        else:
            yield from _lines(child, names)


def _children(element: Any) -> Iterator[tuple[Any, str]]:
    """The elements inside one that say something, each with its name, `p`, without the namespace."""
    for child in element:
        kind = child.tag.rsplit("}", 1)[-1] if isinstance(child.tag, str) else "Fallback"
        if kind not in NOT_SAID:
            yield child, kind


def _heading(paragraph: Any, names: dict[str, str]) -> str:
    style = paragraph.find(f"{W}pPr/{W}pStyle")
    name = names.get(style.get(f"{W}val"), "") if style is not None else ""
    level = name.removeprefix("Heading ")
    return f"{'#' * int(level)} " if name.startswith("Heading ") and level in set("123456") else ""


def _rows_of(table: Any) -> Iterator[str]:
    """Each row's cells with ` | ` between; a cell that goes on from the row above says the same again."""
    above: dict[int, str] = {}
    for row in table.iter(f"{W}tr"):
        cells: dict[str, None] = {}
        for place, cell in enumerate(row.iterchildren(f"{W}tc")):
            merged = cell.find(f"{W}tcPr/{W}vMerge")
            if merged is None or merged.get(f"{W}val") == "restart":
                above[place] = _said(cell)
            cells[above.get(place, "")] = None
        if any(cells):
            yield " | ".join(cell for cell in cells if cell)


def _said(element: Any) -> str:
    """The words of a paragraph or cell as they stand once every tracked change is taken."""
    return " ".join("".join(_words(element)).split())


def _words(element: Any) -> Iterator[str]:
    for child, kind in _children(element):
        if kind == "t":
            yield child.text or ""
        elif kind in BREAKS:
            yield " "
        elif kind != "tbl":  # a table in a table has rows of its own
            yield from _words(child)
            yield " " if kind == "p" else ""


def _html(path: Path) -> Iterator[Piece]:
    tree = LexborHTMLParser(_decoded(path.read_bytes()))
    tree.strip_tags(HIDDEN)
    for node in tree.css(UNSEEN):
        node.remove()
    for node in tree.css(BLOCKS):
        node.insert_before("\n\n")
        node.insert_after("\n\n")
    body = tree.body
    text = body.text() if body is not None else ""
    tidy = "\n".join(" ".join(line.split()) for line in text.split("\n"))
    for part, chunk in enumerate(cut(_printable(tidy)), start=1):
        yield Piece(chunk.text, f"part={part}", layout={"part": part}, trust={"parser": 0.9})


def _decoded(content: bytes) -> str:
    """HTML by the character set it declares near its beginning, unless its first bytes say otherwise."""
    declared = _CHARSET.search(content[:1024])
    if declared is None or content.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        return text_of(content)
    try:
        return content.decode(declared[1].decode())
    except (LookupError, ValueError):
        return text_of(content)


def _printable(text: str) -> str:
    """Text without NUL, lone surrogates and form feeds, which parsers let through and a memory refuses."""
    return "".join(one for one in text if (one >= " " or one in "\n\t\r") and not "\ud800" <= one <= "\udfff")


READERS: dict[str, Callable[[Path], Iterator[Piece]]] = {
    "text": _plain,
    "markdown": _plain,
    "html": _html,
    "pdf": _pdf,
    "docx": _docx,
}
