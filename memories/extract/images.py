"""Pictures: kept without where they were taken, with a small preview; their time and their text are read."""

import io
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pi_heif
from PIL import ExifTags, Image, ImageOps

from memories.errors import Invalid

pi_heif.register_heif_opener()

MAX_PIXELS = 60_000_000  # a picture of a few kilobytes can unfold to gigabytes
MAX_MOVING = 400_000_000  # pixels of all its frames: each is drawn and packed anew
HARMLESS = {
    "icc_profile",
    "transparency",
    "duration",
    "loop",
    "background",
    "gamma",
    "dpi",
}  # no words, no places
_STAMP = re.compile(r"\d{4}:\d\d:\d\d \d\d:\d\d:\d\d")
PREVIEW = 480  # pixels along the longer side
JPEG_QUALITY = 92
KEPT_AS_JPEG = "It is kept as a JPEG picture, which every browser shows."
OCR_MISSING = "No text was read from it: that needs the extra “ocr” of rekal and the program tesseract."


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture ready to be kept: bytes without location, a WebP preview, and when the camera says it was taken."""

    content: bytes
    preview: bytes
    taken: str | None
    size: tuple[int, int]


@contextmanager
def _opened(content: bytes) -> Iterator[Image.Image]:
    try:
        with Image.open(io.BytesIO(content)) as image:
            if image.width * image.height > MAX_PIXELS:
                raise Invalid(f"The picture has more than {MAX_PIXELS // 1_000_000} million pixels.", "file")
            if image.width * image.height * getattr(image, "n_frames", 1) > MAX_MOVING:
                raise Invalid("The moving picture has too many frames for its size.", "file")
            yield image
    except Invalid:
        raise
    except Exception:  # noqa: BLE001  (the decoders raise what they like on damaged files)
        raise Invalid("The picture is damaged; it cannot be opened.", "file") from None


def prepare(content: bytes) -> Picture:
    """Strip all that a camera notes but the picture's orientation and time. Raises `Invalid`."""
    with _opened(content) as image:
        exif = image.getexif()
        kept = _kept(exif)
        stripped = _rewritten(image, kept)
        preview = io.BytesIO()
        small = ImageOps.exif_transpose(image)
        small.thumbnail((PREVIEW, PREVIEW))
        small.convert("RGBA" if "A" in small.getbands() else "RGB").save(preview, "WEBP", quality=75)
        return Picture(stripped, preview.getvalue(), _taken(exif), image.size)


def _kept(exif: Image.Exif) -> Image.Exif:
    """What may stay: how to turn it, and when it was taken."""
    kept = Image.Exif()
    if (orientation := exif.get(ExifTags.Base.Orientation)) in range(1, 9):
        kept[ExifTags.Base.Orientation] = orientation
    if stamp := _stamp(exif):
        kept[ExifTags.Base.DateTime] = stamp
    return kept


def _rewritten(image: Image.Image, kept: Image.Exif) -> bytes:
    """The picture alone, in its own format: JPEG without being encoded anew if possible, HEIC and AVIF as JPEG."""
    out = io.BytesIO()
    image.load()
    image.info = {key: value for key, value in image.info.items() if key in HARMLESS}
    options: dict[str, Any] = {"exif": kept.tobytes()} if len(kept) else {}
    if profile := image.info.get("icc_profile"):
        options["icc_profile"] = profile
    if image.format in ("JPEG", "MPO"):
        image.save(out, "JPEG", quality="keep" if image.format == "JPEG" else JPEG_QUALITY, **options)
    elif image.format in ("HEIF", "AVIF"):
        image.convert("RGB").save(out, "JPEG", quality=JPEG_QUALITY, **options)
    elif image.format == "GIF":
        image.save(out, "GIF", save_all=True, comment=b"")
    elif image.format == "WEBP":
        image.save(out, "WEBP", save_all=True, lossless=True, **options)
    else:
        image.save(out, "PNG", **options)
    return out.getvalue()


def _stamp(exif: Image.Exif) -> str:
    """`2026:07:19 18:30:00`, or "" for anything else: words there may say where it was."""
    details = exif.get_ifd(ExifTags.IFD.Exif)
    stamp = str(details.get(ExifTags.Base.DateTimeOriginal) or exif.get(ExifTags.Base.DateTime) or "")[:19]
    return stamp if _STAMP.fullmatch(stamp) else ""


def _taken(exif: Image.Exif) -> str | None:
    """The camera's clock, `2026-07-19T18:30:00`, without a zone unless it notes one."""
    try:
        moment = datetime.strptime(_stamp(exif), "%Y:%m:%d %H:%M:%S")  # noqa: DTZ007  (its clock has no zone)
    except ValueError:
        return None
    offset = str(exif.get_ifd(ExifTags.IFD.Exif).get(ExifTags.Base.OffsetTimeOriginal) or "").strip("\0 ")
    stated = moment.isoformat() + (offset if len(offset) == 6 and offset[0] in "+-" else "")
    try:
        datetime.fromisoformat(stated)
    except ValueError:
        return moment.isoformat()
    return stated


def can_read_text() -> bool:
    """Whether optical character recognition is installed: the library and the program."""
    return find_spec("pytesseract") is not None and shutil.which("tesseract") is not None


def read_text(path: Path) -> str:
    """The text in a picture; "" when there is none or it cannot be read. Call only when `can_read_text`."""
    pytesseract: Any = import_module("pytesseract")  # an optional extra

    try:
        with Image.open(path) as image:
            return str(pytesseract.image_to_string(ImageOps.exif_transpose(image), timeout=60)).strip()
    except (OSError, RuntimeError):
        return ""
