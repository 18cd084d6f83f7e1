"""Markdown: a folder, a zip or one file, with or without front matter; notes of basic-memory and Obsidian, and ours.

A note that rekal wrote is one memory. In others each observation (`- [category] text #tag (context)`) is one, the
rest is cut at headings and paragraphs. `[[Links]]` become edges between notes where both are there.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, tzinfo
from pathlib import Path, PurePosixPath
from typing import Any

import frontmatter
import yaml

from memories.errors import Invalid
from memories.extract.chunks import cut
from memories.transfer import files, times
from memories.transfer.records import Link, Options, Record

SUFFIXES = (".md", ".markdown")
OURS = (
    "holder_id", "origin", "scenario", "tags", "event_time", "event_time_end", "event_time_precision", "valid_from",
    "valid_to", "retention_until", "visibility", "source", "created_at",
)  # fmt: skip

_OBSERVATION = re.compile(r"^\s*[-*]\s+\[(?P<category>[^\]\[]{2,60})\]\s+(?P<text>.+?)\s*$")
_RELATION = re.compile(r"^\s*[-*]\s+(?P<relation>[^\[\]]{0,60}?)\s*\[\[(?P<to>[^\]|#]+)[^\]]*\]\]")
_LINK = re.compile(r"\[\[([^\]|#]+)[^\]]*\]\]")
_TAG = re.compile(r"(?<![\w&/#])#([^\W\d][\w/-]*)")
_HEADING = re.compile(r"^#{1,6}\s+(Observations|Relations)\s*$", re.IGNORECASE | re.MULTILINE)


def recognises(path: Path, head: bytes) -> bool:
    """A Markdown file, or a folder or zip that holds one."""
    if path.suffix.lower() in SUFFIXES or head.startswith((b"---\n", b"---\r\n")):
        return True
    return any(name.lower().endswith(SUFFIXES) for name in files.names(path))


def read(path: Path, options: Options) -> Iterator[Record]:
    """The memories of each note; `line` counts the notes."""
    with files.pieces(path, *SUFFIXES) as found:
        for number, piece in enumerate(found, start=1):
            try:
                yield from _note(number, piece.name, files.text_of(files.read_note(piece)), options.zone)
            except Invalid as error:
                yield Record(number, why=f"{piece.name}: {error}")


def _note(number: int, name: str, text: str, zone: tzinfo) -> Iterator[Record]:
    try:
        post = frontmatter.loads(text)
        meta, body = dict(post.metadata), post.content
    except (yaml.YAMLError, ValueError, TypeError):
        meta, body = {}, text
    title = str(meta.get("title") or PurePosixPath(name).stem)
    if "atom_id" in meta and "holder_id" in meta:
        yield _ours(number, meta, body)
        return
    fields, note = _common(name, title, meta, body, zone)
    parts = list(_parts(title, body))
    if not parts:
        yield Record(number, why=f"{name} holds no text.")
    links = tuple(Link("cites", one.strip().casefold()) for one in dict.fromkeys(_links(body)))
    for place, (said, tags) in enumerate(parts):
        every = {**fields, "text": said, "tags": list(dict.fromkeys([*fields["tags"], *tags]))}
        identity = title.casefold() if place == 0 else f"{title.casefold()}\n{place}"
        yield Record(
            number,
            every,
            identity=identity,
            links=links if place == 0 else (),
            note=note if place == 0 else "",
        )


def _ours(number: int, meta: dict[str, Any], body: str) -> Record:
    fields = {key: _plain(meta[key]) for key in OURS if meta.get(key) not in (None, "")}
    return Record(number, {**fields, "text": body}, identity=str(meta["atom_id"]))


def _plain(value: Any) -> Any:
    """YAML reads times by itself; ours go on as text."""
    return value.isoformat() if isinstance(value, date) else value


def _common(
    name: str, title: str, meta: dict[str, Any], body: str, zone: tzinfo
) -> tuple[dict[str, Any], str]:
    """What all memories of a note share, and what could not be read of its front matter."""
    tags = meta.get("tags") or meta.get("tag") or []
    tags = re.split(r"[,\s]+", tags) if isinstance(tags, str) else tags if isinstance(tags, list) else []
    fields: dict[str, Any] = {
        "source": name,
        "tags": [str(tag).lstrip("#") for tag in tags if tag][:40],
        "metadata": {"imported": {"format": "markdown", "title": title, "path": name}},
    }
    note = ""
    for key, field in (("created", "created_at"), ("created_at", "created_at"), ("date", "event_time")):
        try:
            if stated := _time(meta.get(key), zone):
                fields[field] = stated
        except ValueError as error:
            note = f"{name}: {error}"
    if _LINK.search(body):
        fields["metadata"]["imported"]["links"] = sorted({one.strip() for one in _links(body)})[:100]
    return fields, note


def _time(value: Any, zone: tzinfo) -> str | None:
    if isinstance(value, datetime):
        return times.stated(
            (value if value.tzinfo else value.replace(tzinfo=zone)).astimezone(UTC).isoformat()
        )
    return times.stated(value.isoformat() if isinstance(value, date) else value, zone)


def _links(body: str) -> list[str]:
    return [one for one in _LINK.findall(body) if one.strip()]


def _parts(title: str, body: str) -> Iterator[tuple[str, list[str]]]:
    """The note's statements with their own tags: observations by themselves, the rest in pieces."""
    rest: list[str] = []
    observations: list[tuple[str, list[str]]] = []
    for line in body.split("\n"):
        if (found := _OBSERVATION.match(line)) and not line.lstrip("-* ").startswith(("[x]", "[X]", "[ ]")):
            said = found["text"]
            observations.append((f"{title}: {said}", [found["category"], *_TAG.findall(said)]))
        elif not _RELATION.match(line):
            rest.append(line)
    kept = _HEADING.sub("", "\n".join(rest)).strip()
    for chunk in cut(kept):
        if not re.fullmatch(r"#{1,6}\s+" + re.escape(title), chunk.text.strip()):
            yield _titled(title, chunk.text), _TAG.findall(chunk.text)
    yield from observations


def _titled(title: str, text: str) -> str:
    """A piece with the note's title before it, unless it says it itself."""
    return text if title.casefold() in text.casefold() else f"{title}\n\n{text}"
