"""The files behind sources, beside the store: `<store>.sources/ab/ab12…`, each once, named by the sha256 of its bytes.

Readable by their owner alone. A file goes when the last source row with its sha256 goes.
"""

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.db import transaction

from memories.errors import Invalid
from memories.fields import dump_json, read_json
from memories.models import Source

MAX_BYTES = 50 * 1024**2
PREVIEW = ".preview.webp"
INCOMING = "incoming-"
LEFT_SECONDS = 3_600  # no upload takes as long
_SHA256 = re.compile(r"[0-9a-f]{64}")


def folder() -> Path:
    """The folder beside the store, made when it is missing."""
    path = Path(settings.REKAL_DB)
    inside = path.with_name(path.name + ".sources")
    inside.mkdir(mode=0o700, parents=True, exist_ok=True)
    return inside


def path_of(sha256: str) -> Path:
    """Where the file of this sha256 lies, or would."""
    if not _SHA256.fullmatch(sha256):
        raise ValueError("not a sha256")
    return folder() / sha256[:2] / sha256


def receive(file: BinaryIO) -> Path:
    """Copy an upload to a temporary file in the folder. Raises `Invalid` beyond the size limit."""
    with tempfile.NamedTemporaryFile(dir=folder(), prefix=INCOMING, delete=False) as copy:
        try:
            while block := file.read(1024**2):
                copy.write(block)
                if copy.tell() > MAX_BYTES:
                    raise Invalid(f"A file may have at most {MAX_BYTES // 1024**2} MiB.", "file")
        except BaseException:
            Path(copy.name).unlink(missing_ok=True)
            raise
    return Path(copy.name)


def sha256_of(path: Path) -> str:
    """The sha256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def keep(incoming: Path, sha256: str, preview: bytes = b"") -> Path:
    """Move a received file to its place, on disk for certain before anything names it."""
    place = path_of(sha256)
    place.parent.mkdir(mode=0o700, exist_ok=True)
    with incoming.open("rb") as file:
        os.fsync(file.fileno())
    shutil.move(incoming, place)
    place.chmod(0o600)
    if preview:
        small = place.with_name(place.name + PREVIEW)
        small.write_bytes(preview)
        small.chmod(0o600)
    return place


def remove_unused(sha256s: Iterable[str]) -> None:
    """Take away the files that no source row names any more.

    Under the store's write lock, as files are kept under it: else somebody's upload of the same bytes could be
    between its file and its row.
    """
    with transaction.atomic():
        for sha256 in {one for one in sha256s if _SHA256.fullmatch(one)}:
            if not Source.objects.filter(sha256=sha256).exists():
                place = path_of(sha256)
                place.unlink(missing_ok=True)
                place.with_name(place.name + PREVIEW).unlink(missing_ok=True)


def sweep() -> None:
    """Take away what a process left that was killed: uploads on their way in, and files that got no row."""
    before = time.time() - LEFT_SECONDS
    left = [one for one in folder().rglob("*") if one.is_file() and one.stat().st_mtime < before]
    for one in left:
        if one.name.startswith(INCOMING):
            one.unlink(missing_ok=True)
    named = set(Source.objects.values_list("sha256", flat=True))
    remove_unused({one.name.removesuffix(PREVIEW) for one in left} - named)


def note_lost(counts: Mapping[str, int]) -> None:
    """Note how many memories left each source whose file stays; inside the caller's transaction.

    A negative number says that they came back. While any is missing the file is its uploader's alone.
    """
    for source in Source.objects.filter(pk__in=counts):
        metadata = read_json(source.metadata_json, dict, {})
        before = metadata.get("lost")
        lost = (before if isinstance(before, int) else 0) + counts[source.pk]
        source.metadata_json = dump_json(metadata | {"lost": max(0, lost)})
        source.save(update_fields=["metadata_json"])
