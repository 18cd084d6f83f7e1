"""Day One: its JSON export, as a file, a folder or the zip it comes in; an entry a memory, cut when it is long."""

import re
from collections.abc import Iterator
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import ijson

from memories import timestamps
from memories.errors import Invalid
from memories.extract.chunks import cut
from memories.transfer import files, json_stream, times
from memories.transfer.records import Options, Record

_PICTURE = re.compile(r"!\[[^\]]*\]\(dayone-moment:[^)]*\)")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!])")


def recognises(path: Path, head: bytes) -> bool:
    """Entries with a creation date, or a folder or zip that holds such a journal."""
    if b'"entries"' in head and b'"metadata"' in head:
        return True
    return _is_journal(head) or files.any_begins(path, _is_journal, ".json")


def _is_journal(head: bytes) -> bool:
    return b'"entries"' in head and b'"creationDate"' in head


def read(path: Path, _: Options) -> Iterator[Record]:
    """The pieces of each entry; `line` counts the entries. Raises `Invalid` when a journal is no whole JSON."""
    number = 0
    with files.pieces(path, ".json") as found:
        for piece in found:
            with piece.open() as file:
                try:
                    for entry in json_stream.items(file, "entries.item"):
                        number += 1
                        yield from _entry(number, entry, piece.name)
                except ijson.JSONError:
                    raise Invalid(
                        f"{piece.name} is not whole JSON; what came before the fault is taken.", "path"
                    ) from None


def _entry(number: int, entry: Any, name: str) -> Iterator[Record]:
    text = _ESCAPE.sub(r"\1", _PICTURE.sub("", str(entry.get("text") or ""))).strip()
    if not text:
        yield Record(number, why="The entry holds no text.")
        return
    try:
        moment = times.stated(entry.get("creationDate"), UTC)
    except ValueError as error:
        yield Record(number, why=str(error))
        return
    place = entry.get("location") or {}
    kept = {"format": "day-one", "journal": name, "uuid": entry.get("uuid")}
    kept |= {"place": place["placeName"]} if isinstance(place, dict) and place.get("placeName") else {}
    fields: dict[str, Any] = {
        "tags": [str(tag) for tag in entry.get("tags") or []][:39]
        + (["starred"] if entry.get("starred") else []),
        "event_time": moment,
        "created_at": moment,
        "metadata": {"imported": kept},
    }
    if entry.get("isAllDay") and moment:
        fields |= {"event_time": _day(moment, entry.get("timeZone")), "event_time_precision": "day"}
    for part, chunk in enumerate(cut(text)):
        yield Record(
            number, {**fields, "text": chunk.text}, identity=f"{entry.get('uuid') or ''}\n{part}".strip()
        )


def _day(moment: str, name: Any) -> str:
    """The day it was where the entry was written."""
    try:
        zone: tzinfo = ZoneInfo(str(name))
    except (ValueError, OSError, KeyError):
        zone = UTC
    return timestamps.from_text(moment).astimezone(zone).date().isoformat()
