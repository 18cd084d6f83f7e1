"""Markdown: a folder, a zip or one file, with or without front matter; notes of basic-memory and Obsidian, and ours.

A note that rekal wrote is one memory. In others each observation (`- [category] text #tag (context)`) is one, and each
relation (`- part_of [[House]]`) below its heading; the rest is cut at headings and paragraphs. `[[Links]]` become edges
between notes where both are there.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, tzinfo
from pathlib import Path, PurePosixPath
from typing import Any

import frontmatter
import yaml

from memories.encodings import text_of
from memories.errors import Invalid
from memories.extract.chunks import cut
from memories.transfer import files, times
from memories.transfer.records import Link, Options, Record

SUFFIXES = (".md", ".markdown")
OURS = (
    "holder_id", "origin", "scenario", "tags", "event_time", "event_time_end", "event_time_precision", "valid_from",
    "valid_to", "retention_until", "visibility", "source", "created_at",
)  # fmt: skip

READ = {"title", "tags", "tag", "created", "created_at", "date", "aliases", "permalink"}
MOST_PROPERTIES = 40

_OBSERVATION = re.compile(r"^\s*[-*]\s+\[(?P<category>[^\]\[]{2,60})\]\s+(?P<text>.+)$")
# No part of a link can match what the next one does: a long text of opening brackets would be tried over and over.
_TO = r"\[\[(?P<to>[^\[\]|#\n]{1,200})(?:[|#][^\[\]\n]{0,300})?\]\]"
_RELATION = re.compile(rf"^\s*[-*]\s+(?P<relation>[^\[\]]{{1,60}}?)\s*{_TO}(?P<more>.*)$")
_LINK = re.compile(_TO)
_TAG = re.compile(r"(?<![\w&/#])#([^\W\d][\w/-]*)")
_HEADING = re.compile(r"^#{1,6}\s+(?P<name>Observations|Relations)\s*$", re.IGNORECASE)


def recognises(path: Path, head: bytes) -> bool:
    """A Markdown file, or a folder or zip that holds one."""
    if path.suffix.lower() in SUFFIXES or head.startswith((b"---\n", b"---\r\n")):
        return True
    return any(name.lower().endswith(SUFFIXES) for name in files.names(path))


def read(path: Path, options: Options) -> Iterator[Record]:
    """The memories of each note; `line` counts the notes."""
    names = _names(path)
    with files.pieces(path, *SUFFIXES) as found:
        for number, piece in enumerate(found, start=1):
            try:
                content = files.read_note(piece)
            except Invalid as error:
                yield Record(number, why=f"{piece.name}: {error}")
                continue
            yield from _note(number, piece.name, content, names, options.zone)


def _names(path: Path) -> dict[str, str]:
    """What a link may call each note, in small letters: its path, file name, permalink, alias; and its identity."""
    names: dict[str, str] = {}
    aliases: dict[str, str] = {}
    with files.pieces(path, *SUFFIXES) as found:
        for piece in found:
            try:
                meta, _, _ = _parsed(files.read_note(piece))
            except Invalid:
                continue
            inside, title = PurePosixPath(piece.name).with_suffix(""), _title(piece.name, meta)
            for name in (title, meta.get("permalink"), inside.as_posix(), inside.name):
                if isinstance(name, str):
                    names.setdefault(name.strip().casefold(), title.casefold())
            stated = meta.get("aliases")
            for name in stated if isinstance(stated, list) else [stated]:
                if isinstance(name, str):
                    aliases.setdefault(name.strip().casefold(), title.casefold())
    return aliases | names  # what a note is called goes before what another one is called too


def _parsed(content: bytes) -> tuple[dict[str, Any], str, bool]:
    """A note's front matter and its text, and whether what looks like front matter could be read."""
    text = text_of(content)
    try:
        post = frontmatter.loads(text)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        return {}, text, False
    return {str(key): _shallow(value) for key, value in post.metadata.items()}, post.content, True


def _shallow(value: Any, depth: int = 2) -> Any:
    """The value without what is nested deeper: a few lines of YAML can name each other into gigabytes."""
    if isinstance(value, list):
        return [_shallow(one, depth - 1) for one in value] if depth else []
    if isinstance(value, dict):
        return {str(key): _shallow(one, depth - 1) for key, one in value.items()} if depth else {}
    return value


def _title(name: str, meta: dict[str, Any]) -> str:
    return str(meta.get("title") or PurePosixPath(name).stem)


def _note(number: int, piece: str, content: bytes, names: dict[str, str], zone: tzinfo) -> Iterator[Record]:
    meta, body, readable = _parsed(content)
    if "atom_id" in meta and "holder_id" in meta:
        yield _ours(number, meta, body)
        return
    title = _title(piece, meta)
    fields, note = _common(piece, title, meta, body, zone)
    if not readable:
        note = f"{piece}: what stands before its text cannot be read, so it was taken as text."
    parts = list(_parts(title, body))
    if not parts:
        yield Record(number, why=f"{piece} holds no text.")
    links = tuple(Link("cites", one) for one in dict.fromkeys(_noted(one, names) for one in _links(body)))
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


def _noted(link: str, names: dict[str, str]) -> str:
    """The identity of the note a link names: as it stands, else by the end of its path."""
    name = link.strip().casefold()
    return names.get(name) or names.get(name.rsplit("/", 1)[-1]) or name


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
        "tags": [str(tag).lstrip("#") for tag in tags if tag and not isinstance(tag, dict | list)][:40],
        "metadata": {"imported": {"format": "markdown", "title": title, "path": name}},
    }
    others = {key: str(value)[:500] for key, value in meta.items() if key not in READ and value is not None}
    if others:
        fields["metadata"]["imported"]["properties"] = dict(list(others.items())[:MOST_PROPERTIES])
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
    """The note's statements with their own tags: observations and relations by themselves, the rest in pieces."""
    rest: list[str] = []
    apart: list[tuple[str, list[str]]] = []
    section = ""
    for line in body.split("\n"):
        if heading := _HEADING.match(line):
            section = heading["name"].casefold()
        elif said := _observed(title, line) or (_related(title, line) if section == "relations" else None):
            apart.append(said)
        else:
            section = "" if line.startswith("#") else section
            rest.append(line)
    for chunk in cut("\n".join(rest).strip()):
        if not re.fullmatch(r"#{1,6}\s+" + re.escape(title), chunk.text.strip()):
            yield _titled(title, chunk.text), _TAG.findall(chunk.text)
    yield from apart


def _observed(title: str, line: str) -> tuple[str, list[str]] | None:
    found = _OBSERVATION.match(line.rstrip())
    if not found:
        return None
    return f"{title}: {found['text']}", [found["category"], *_TAG.findall(found["text"])]


def _related(title: str, line: str) -> tuple[str, list[str]] | None:
    """`- part_of [[House]] (since May)` in words: `Garden part of House (since May)`."""
    found = _RELATION.match(line)
    if not found:
        return None
    words = (title, found["relation"].replace("_", " "), found["to"].strip(), found["more"].strip())
    return " ".join(one for one in words if one), ["relation"]


def _titled(title: str, text: str) -> str:
    """A piece with the note's title before it, unless it says it itself."""
    return text if title.casefold() in text.casefold() else f"{title}\n\n{text}"
