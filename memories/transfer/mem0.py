"""mem0: the JSON its `get_all` and its export give, an object with `results` or `memories`, or a bare list."""

import json
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import ijson

from memories.errors import Invalid
from memories.transfer import files, json_stream, times
from memories.transfer.records import Options, Record

KEPT = ("hash", "run_id", "app_id", "agent_id", "user_id", "metadata", "updated_at", "score")
LISTS = ("results", "memories", "data", "relations")
MAX_LINE = 1024**2


def recognises(_: Path, head: bytes) -> bool:
    """JSON whose items have a `memory`."""
    return head.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] in (b"{", b"[") and b'"memory"' in head


def read(path: Path, _: Options) -> Iterator[Record]:
    """A record a memory, and one a relation of its graph. Raises `Invalid` when it is no JSON."""
    with files.opened(path) as file:
        try:
            for number, (kind, item) in enumerate(_items(file), start=1):
                yield _record(number, kind, item, file.tell())
        except ijson.JSONError:
            raise Invalid(
                f"{path.name} is not whole JSON; what came before the fault is taken.", "path"
            ) from None


def _items(file: Any) -> Iterator[tuple[str, Any]]:
    """Every object in the lists we know, as `(list, object)`; also one object a line."""
    mark = 3 if file.read(3) == b"\xef\xbb\xbf" else 0
    file.seek(mark)
    first = file.readline(MAX_LINE)
    file.seek(mark)
    if _is_item(first):
        for item in json_stream.items(file, "", many=True):
            yield "results", item
        return
    prefixes = {f"{name}.item": name for name in LISTS} | {"item": "results"}
    events = json_stream.events(file)
    for prefix, event, _ in events:
        if event == "start_map" and prefix in prefixes:
            yield prefixes[prefix], _object(events)


def _is_item(line: bytes) -> bool:
    try:
        return "memory" in json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return False


def _object(events: Any) -> dict[str, Any]:
    """The object that has just begun."""
    builder, depth = ijson.ObjectBuilder(), 1
    builder.event("start_map", None)
    for _, event, value in events:
        builder.event(event, value)
        depth += event in ("start_map", "start_array")
        depth -= event in ("end_map", "end_array")
        if depth == 0:
            break
    return dict(builder.value)


def _record(number: int, kind: str, item: Any, end: int) -> Record:
    if not isinstance(item, dict):
        return Record(number, why="The item is no object.", end=end)
    if kind == "relations":
        return _relation(number, item, end)
    text = item.get("memory") or item.get("text")
    if not isinstance(text, str):
        return Record(number, why="The item has no memory.", end=end)
    try:
        fields = {
            "text": text,
            "holder_id": str(item.get("user_id") or item.get("agent_id") or ""),
            "tags": [one for one in item.get("categories") or [] if isinstance(one, str)],
            "created_at": times.stated(item.get("created_at"), UTC),
            "event_time": times.stated(item.get("event_date"), UTC),
            "retention_until": times.stated(item.get("expiration_date"), UTC),
            "metadata": {"imported": {"format": "mem0"} | {key: item[key] for key in KEPT if item.get(key)}},
        }
    except ValueError as error:
        return Record(number, why=str(error), end=end)
    return Record(number, fields, identity=str(item.get("id") or ""), end=end)


def _relation(number: int, item: dict[str, Any], end: int) -> Record:
    parts = [
        item.get("source"),
        item.get("relationship") or item.get("relation"),
        item.get("target") or item.get("destination"),
    ]
    if not all(isinstance(part, str) and part for part in parts):
        return Record(number, why="The relation lacks one of its ends.", end=end)
    text = " ".join(str(part).replace("_", " ") for part in parts)
    return Record(
        number, {"text": text, "tags": ["relation"], "metadata": {"imported": {"format": "mem0"}}}, end=end
    )
