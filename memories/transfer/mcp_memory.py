"""The Model Context Protocol's reference memory server: JSON Lines of entities with observations, and relations."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memories.transfer import files
from memories.transfer.records import Options, Record

MAX_LINE = 8 * 1024**2


def recognises(_: Path, head: bytes) -> bool:
    """A first line that is an entity or a relation."""
    line = head.lstrip(b"\xef\xbb\xbf \r\n").split(b"\n", 1)[0]
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return b'"entityType"' in line
    return isinstance(first, dict) and (
        (first.get("type") == "entity" and "observations" in first)
        or (first.get("type") == "relation" and "relationType" in first)
    )


def read(path: Path, _: Options) -> Iterator[Record]:
    """A record an observation, and one a relation; a relation to nobody of the file is taken and noted."""
    known = {str(item.get("name")) for _, item, _ in _items(path) if item and item.get("type") == "entity"}
    for number, item, end in _items(path):
        if item is None:
            yield Record(number, why="The line is not JSON.", end=end)
        elif item.get("type") == "entity":
            yield from _entity(number, item, end)
        elif item.get("type") == "relation":
            yield _relation(number, item, known, end)
        else:
            yield Record(number, why="The line is neither an entity nor a relation.", end=end)


def _items(path: Path) -> Iterator[tuple[int, dict[str, Any] | None, int]]:
    with files.opened(path) as file:
        number = 0
        while line := file.readline(MAX_LINE):
            number += 1
            if not line.strip():
                continue
            try:
                item = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
            except (ValueError, RecursionError):
                item = None
            yield number, item if isinstance(item, dict) else None, file.tell()


def _entity(number: int, item: dict[str, Any], end: int) -> Iterator[Record]:
    name, kind = item.get("name"), item.get("entityType")
    if not isinstance(name, str) or not name.strip():
        yield Record(number, why="The entity has no name.", end=end)
        return
    observations = item.get("observations")
    tags = [kind] if isinstance(kind, str) and kind else []
    if not isinstance(observations, list) or not observations:
        said = [f"{_spaced(name)}: {kind}"] if tags else []
        if not said:
            yield Record(number, why="The entity has nothing said about it.", end=end)
    else:
        said = [
            f"{_spaced(name)}: {one.strip()}" for one in observations if isinstance(one, str) and one.strip()
        ]
    for text in said:
        yield Record(number, {"text": text, "tags": tags, "metadata": _from(name)}, end=end)


def _relation(number: int, item: dict[str, Any], known: set[str], end: int) -> Record:
    begin, relation, finish = (item.get(key) for key in ("from", "relationType", "to"))
    if not (
        isinstance(begin, str) and isinstance(relation, str) and isinstance(finish, str) and begin and finish
    ):
        return Record(number, why="The relation lacks one of its ends.", end=end)
    missing = [one for one in (begin, finish) if one not in known]
    note = (
        f"The file has no entity “{missing[0][:40]}”; the relation is kept as it is worded."
        if missing
        else ""
    )
    text = " ".join(_spaced(one) for one in (begin, relation, finish))
    return Record(number, {"text": text, "tags": ["relation"], "metadata": _from(begin)}, note=note, end=end)


def _spaced(name: str) -> str:
    return name.replace("_", " ").strip()


def _from(name: str) -> dict[str, Any]:
    return {"imported": {"format": "mcp-memory", "entity": name}}
