"""Files that wait between being looked at and being brought in: `<store>.incoming`, a folder each viewer, an hour each.

Readable by their owner alone, and by nobody through the web but who uploaded them. A file keeps its own name, which
some formats take the chat's or the album's name from.
"""

import re
import secrets
import shutil
import time
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, NamedTuple

from django.conf import settings

from memories.errors import Invalid, NotFound
from memories.visibility import Viewer

MAX_BYTES = 200 * 1024**2
LASTS = 3_600  # seconds
MOST = 5  # files of one viewer
NAME_BYTES = 200  # file systems take 255
_TICKET = re.compile(r"[A-Za-z0-9_-]{16}")


class Waiting(NamedTuple):
    """A file of somebody's that waits: what its page is called, and its own name."""

    ticket: str
    name: str


def keep(viewer: Viewer, name: str, file: BinaryIO) -> str:
    """Put a file aside for this viewer; its ticket. Raises `Invalid` when it is empty or too large."""
    sweep()
    mine = _folder(viewer)
    mine.mkdir(mode=0o700, parents=True, exist_ok=True)
    mine.parent.chmod(0o700)
    for old in _newest_first(mine)[MOST - 1 :]:
        shutil.rmtree(old, ignore_errors=True)
    inside = mine / secrets.token_urlsafe(12)
    inside.mkdir(mode=0o700)
    try:
        _copy(file, inside / _safe(name))
    except BaseException:
        shutil.rmtree(inside, ignore_errors=True)
        raise
    return inside.name


def _copy(file: BinaryIO, place: Path) -> None:
    place.touch(mode=0o600)
    with place.open("wb") as copy:
        while block := file.read(1024**2):
            copy.write(block)
            if copy.tell() > MAX_BYTES:
                raise Invalid(f"A file may have at most {MAX_BYTES // 1024**2} MiB.", "file")
        if not copy.tell():
            raise Invalid("The file is empty.", "file")


def find(viewer: Viewer, ticket: str) -> Path:
    """The viewer's own waiting file, good for another hour. Raises `NotFound`, alike for lapsed and for others'."""
    sweep()
    inside = _folder(viewer) / ticket
    found = next(iter(inside.glob("*")), None) if _TICKET.fullmatch(ticket) else None
    if found is None:
        raise NotFound("This file does not wait here any more.")
    inside.touch()
    return found


def remove(viewer: Viewer, ticket: str) -> None:
    """Take a waiting file away; nothing happens when it is gone."""
    if _TICKET.fullmatch(ticket):
        shutil.rmtree(_folder(viewer) / ticket, ignore_errors=True)


def list_waiting(viewer: Viewer) -> list[Waiting]:
    """The viewer's waiting files, newest first."""
    sweep()
    mine = _folder(viewer)
    return [Waiting(one.name, file.name) for one in _newest_first(mine) for file in one.glob("*")]


def sweep() -> None:
    """Take away what has waited for an hour."""
    before = time.time() - LASTS
    for inside in _all().glob("*/*"):
        try:
            lapsed = inside.stat().st_mtime < before
        except FileNotFoundError:  # another request was first
            continue
        if lapsed:
            shutil.rmtree(inside, ignore_errors=True)


def _all() -> Path:
    path = Path(settings.REKAL_DB)
    return path.with_name(path.name + ".incoming")


def _folder(viewer: Viewer) -> Path:
    return _all() / sha256(viewer.holder_id.encode("utf-8", "replace")).hexdigest()[:32]


def _newest_first(mine: Path) -> list[Path]:
    return sorted(mine.glob("*"), key=lambda one: one.stat().st_mtime, reverse=True)


def _safe(name: str) -> str:
    """A file's name without folders, unprintable characters and leading dots, cut so that its ending stays."""
    short = "".join(one for one in name.replace("\\", "/").rsplit("/", 1)[-1] if one.isprintable())
    short = short.encode("utf-8", "ignore").decode().lstrip(". ")
    stem, dot, ending = short.rpartition(".")
    if not dot or len(ending) > 10:
        stem, ending = short, ""
    stem = stem.encode()[: NAME_BYTES - 20].decode("utf-8", "ignore").strip()
    return f"{stem or 'file'}.{ending}" if ending else stem or "file"
