"""Text out of documents, piece by piece, each with where it stands: `manual.pdf#page=3`, `letter.docx#paragraph=12`.

Pieces of one page are `#page=3&part=2`: locators that differ in their last number are neighbours.
"""

import logging
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import docx
from pypdf import PdfReader
from pypdf.errors import PyPdfError
from selectolax.lexbor import LexborHTMLParser

from memories.errors import Invalid
from memories.extract import sniff
from memories.extract.chunks import Chunk, cut
from memories.transfer.files import text_of

logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it would quote what it stumbles over
MAX_PAGES = 3_000
MAX_PIECES = 20_000
MAX_PAGE = 200_000  # characters of one page
MAX_UNPACKED = 200 * 1024**2  # bytes of a DOCX, unpacked
BLOCKS = (
    "address, article, aside, blockquote, br, dd, div, dl, dt, figcaption, footer, h1, h2, h3, h4, h5, h6, header, hr, "
    "li, main, nav, ol, p, pre, section, table, tr, ul"
)
HIDDEN = ["script", "style", "noscript", "template", "iframe", "object", "svg", "head > link", "head > meta"]


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
    """Paragraphs and tables in their order, one line each."""
    for block in document.iter_inner_content():
        if hasattr(block, "rows"):
            for row in block.rows:
                cells = dict.fromkeys(" ".join(cell.text.split()) for cell in row.cells)
                if any(cells):
                    yield " | ".join(cell for cell in cells if cell)
        elif said := " ".join(block.text.split()):
            name = (block.style.name or "") if block.style is not None else ""
            level = name.removeprefix("Heading ")
            yield f"{'#' * int(level)} {said}" if name.startswith("Heading ") and level in "123456" else said


def _html(path: Path) -> Iterator[Piece]:
    tree = LexborHTMLParser(text_of(path.read_bytes()))
    tree.strip_tags(HIDDEN)
    for node in tree.css(BLOCKS):
        node.insert_before("\n\n")
        node.insert_after("\n\n")
    body = tree.body
    text = body.text() if body is not None else ""
    tidy = "\n".join(" ".join(line.split()) for line in text.split("\n"))
    for part, chunk in enumerate(cut(_printable(tidy)), start=1):
        yield Piece(chunk.text, f"part={part}", layout={"part": part}, trust={"parser": 0.9})


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
