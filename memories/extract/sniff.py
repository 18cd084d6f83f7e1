"""What a file is by its bytes, whatever its name or sender says it is."""

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from memories.encodings import text_of
from memories.errors import Invalid

KINDS_TAKEN = "text, Markdown, HTML, PDF, DOCX, JPEG, PNG, WebP, GIF, HEIC, AVIF, MP3, WAV, OGG, FLAC and M4A"
HEAD = 65_536


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file we take: its name, its MIME type and what sort of memory comes of it."""

    name: str
    mime: str
    modality: str = "text"


PDF = Kind("pdf", "application/pdf", "pdf_page")
DOCX = Kind("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document")
HTML = Kind("html", "text/html")
MARKDOWN = Kind("markdown", "text/markdown")
TEXT = Kind("text", "text/plain")
JPEG = Kind("jpeg", "image/jpeg", "image")
MAGIC = (
    (b"\xff\xd8\xff", JPEG),
    (b"\x89PNG\r\n\x1a\n", Kind("png", "image/png", "image")),
    (b"GIF87a", Kind("gif", "image/gif", "image")),
    (b"GIF89a", Kind("gif", "image/gif", "image")),
    *((b"ID3" + bytes([version]), Kind("mp3", "audio/mpeg", "audio")) for version in (2, 3, 4)),
    (b"OggS\0", Kind("ogg", "audio/ogg", "audio")),
    (b"fLaC", Kind("flac", "audio/flac", "audio")),
)
RIFF = {b"WEBP": Kind("webp", "image/webp", "image"), b"WAVE": Kind("wav", "audio/wav", "audio")}
# Possessive, so that no way of ending a comment is tried twice: that took hours of three hundred bytes.
_MARKUP = re.compile(
    r"\s*+(?:<\?xml[^>]*+>\s*+)?(?:<!--(?>.*?-->)\s*+)*+<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_M4A = Kind("m4a", "audio/mp4", "audio")
_HEIC, _AVIF = Kind("heic", "image/heic", "image"), Kind("avif", "image/avif", "image")
BRANDS = {
    b"M4A ": _M4A, b"M4B ": _M4A,
    b"heic": _HEIC, b"heix": _HEIC, b"heim": _HEIC, b"heis": _HEIC, b"mif1": _HEIC,
    b"avif": _AVIF,
}  # fmt: skip
FILM_OR_SOUND = {b"mp41", b"mp42", b"isom", b"iso2", b"3gp4", b"3gp5", b"3gp6"}
_TRACK = re.compile(rb"hdlr.{8}(soun|vide)", re.DOTALL)
AS_JPEG = {_HEIC, _AVIF}  # telephones take them, and many browsers do not show them


def sniff(path: Path, name: str) -> Kind:
    """The kind of a file. Only between sorts of plain text does its name count. Raises `Invalid` for any other kind."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    if not head:
        raise Invalid("The file is empty.", "file")
    kind = _by_magic(path, head) or _by_text(head, name)
    if kind is None:
        raise Invalid(f"This is no kind of file that is taken: {KINDS_TAKEN}.", "file")
    return kind


def _by_magic(path: Path, head: bytes) -> Kind | None:
    for magic, kind in MAGIC:
        if head.startswith(magic):
            return kind
    if head.lstrip().startswith(b"%PDF-") or (b"%PDF-" in head[:1024] and b"startxref" in _tail(path)):
        return PDF
    if head[:4] == b"RIFF":
        return RIFF.get(head[8:12])
    if head[4:8] == b"ftyp":
        return BRANDS.get(head[8:12]) or _by_tracks(path, head[8:12])
    if len(head) > 1 and head[0] == 0xFF and head[1] & 0xE6 == 0xE2:
        return Kind("mp3", "audio/mpeg", "audio")
    return DOCX if head.startswith(b"PK\x03\x04") and _is_docx(path) else None


def _tail(path: Path) -> bytes:
    """Where a PDF ends as one: a note about such files may begin as one."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 2_048))
        return file.read()


def _by_tracks(path: Path, brand: bytes) -> Kind | None:
    """A recording of a telephone has a brand that films have as well: it is sound if no track shows anything."""
    if brand not in FILM_OR_SOUND:
        return None
    tracks = set(_TRACK.findall(path.read_bytes()))
    return _M4A if b"soun" in tracks and b"vide" not in tracks else None


def _is_docx(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return {"word/document.xml", "[Content_Types].xml"} <= set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError):
        return False


def _by_text(head: bytes, name: str) -> Kind | None:
    marked = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    if not marked and (b"\0" in head or _controls(head) > len(head) // 50):
        return None
    text, called = text_of(head).lstrip("\ufeff"), name.lower()
    if _MARKUP.match(text) or (called.endswith((".html", ".htm", ".xhtml")) and text.lstrip()[:1] == "<"):
        return HTML
    return MARKDOWN if called.endswith((".md", ".markdown")) else TEXT


def _controls(head: bytes) -> int:
    """How many bytes no text has."""
    return sum(1 for byte in head if byte < 32 and byte not in (9, 10, 12, 13, 27))
