"""Google Keep, as Takeout gives it: a JSON file a note, in a folder or a zip. Times are in microseconds."""

import json
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path, PurePosixPath
from typing import Any

from memories.encodings import text_of
from memories.errors import Invalid
from memories.transfer import files, times
from memories.transfer.records import Options, Record

SIGNS = (b'"isTrashed"', b'"userEditedTimestampUsec"')


def recognises(path: Path, head: bytes) -> bool:
    """A note, or a folder or zip that holds one."""
    return _is_note(head) or files.any_begins(path, _is_note, ".json")


def _is_note(head: bytes) -> bool:
    return any(sign in head for sign in SIGNS)


def read(path: Path, _: Options) -> Iterator[Record]:
    """A record a note; `line` counts the notes. Trashed ones are refused, archived ones taken."""
    with files.pieces(path, ".json") as found:
        for number, piece in enumerate(found, start=1):
            try:
                note = json.loads(text_of(files.read_note(piece)))
                if isinstance(note, dict) and ("isTrashed" in note or "userEditedTimestampUsec" in note):
                    yield _record(number, piece.name, note)
            except (Invalid, ValueError, RecursionError) as error:
                why = str(error) if isinstance(error, Invalid) else "it is not JSON."
                yield Record(number, why=f"{piece.name}: {why}")


def _record(number: int, name: str, note: dict[str, Any]) -> Record:
    if note.get("isTrashed"):
        return Record(number, why=f"{name} is in the trash.")
    text = _said(note)
    if not text:
        return Record(number, why=f"{name} holds no text.")
    labels = [
        str(one["name"]) for one in note.get("labels") or [] if isinstance(one, dict) and one.get("name")
    ]
    created = note.get("createdTimestampUsec") or note.get("userEditedTimestampUsec")
    fields = {
        "text": text,
        "tags": labels[:40] + (["pinned"] if note.get("isPinned") else []),
        "created_at": times.stated(created, UTC) if created else None,
        "metadata": {
            "imported": {"format": "google-keep", "file": name, "archived": bool(note.get("isArchived"))}
        },
    }
    return Record(
        number, fields, identity=f"{PurePosixPath(name).name}\n{created or ''}"
    )  # in a zip or out of it


def _said(note: dict[str, Any]) -> str:
    parts = [str(note.get("title") or "").strip(), str(note.get("textContent") or "").strip()]
    items = [
        one
        for one in note.get("listContent") or []
        if isinstance(one, dict) and str(one.get("text") or "").strip()
    ]
    parts += [f"- [{'x' if one.get('isChecked') else ' '}] {str(one['text']).strip()}" for one in items]
    said = "\n".join(part for part in parts if part)
    links = [
        str(one["url"]) for one in note.get("annotations") or [] if isinstance(one, dict) and one.get("url")
    ]
    return "\n".join([*filter(None, [said]), *(one for one in links if one.rstrip("/") not in said)])
