"""rekal's own SQLite store of earlier days: the minimal shape and every shape before it.

What its upgrade drops is kept: superseded rows come closed, links as edges, a scratch note's expiry as its
retention, type, conversation and counters as metadata. Vectors are made anew: their model is not recorded.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

from memories.models import RELATIONS
from memories.transfer import sqlite_file, times
from memories.transfer.records import Link, Options, Record

KEPT = (
    "memory_type",
    "tier",
    "conversation_id",
    "access_count",
    "last_accessed_at",
    "updated_at",
    "expires_at",
)


def recognises(path: Path, head: bytes) -> bool:
    """A table `memories` with `id` and `content`."""
    return sqlite_file.has_columns(path, head, "memories", "id", "content")


def read(path: Path, _: Options) -> Iterator[Record]:
    """A record a memory, oldest first."""
    with sqlite_file.opened(path) as file:
        links = _links(file)
        closed = _closings(links)
        titles = {row.get("id"): row.get("title") for row in file.table("conversations")}
        order = "created_at, rowid" if "created_at" in file.columns("memories") else "rowid"
        for number, row in enumerate(file.table("memories", order), start=1):
            yield _record(number, row, links.get(row["id"], []), closed.get(row["id"]), titles)


def _links(file: sqlite_file.SQLiteFile) -> dict[str, list[dict[str, Any]]]:
    """The links by the memory they start from."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    if file.columns("memory_links") >= {"from_id", "to_id", "relation"}:
        for row in file.table("memory_links"):
            found[row["from_id"]].append(row)
    return found


def _closings(links: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """When each superseded memory was superseded."""
    rows = (row for rows in links.values() for row in rows if row["relation"] == "supersedes")
    return {row["to_id"]: row.get("created_at") or "" for row in rows}


def _record(
    number: int, row: dict[str, Any], links: list[dict[str, Any]], closed: str | None, titles: dict[Any, Any]
) -> Record:
    try:
        created = times.stated(row.get("created_at"), UTC)
        fields: dict[str, Any] = {
            "text": row["content"],
            "scenario": row.get("project") or "",
            "tags": _tags(row.get("tags")),
            "created_at": created,
            "metadata": {"imported": _kept(row, titles)},
        }
        if row.get("expires_at") and row.get("tier") != "durable":
            fields["retention_until"] = times.stated(row["expires_at"], UTC)
        if closed is not None:
            fields["valid_to"] = times.stated(closed or row.get("updated_at"), UTC)
    except ValueError as error:
        return Record(number, why=str(error))
    edges = tuple(_link(one) for one in links)
    return Record(number, fields, identity=str(row["id"]), links=edges)


def _kept(row: dict[str, Any], titles: dict[Any, Any]) -> dict[str, Any]:
    kept = {key: row[key] for key in KEPT if row.get(key) is not None}
    if title := titles.get(row.get("conversation_id")):
        kept["conversation"] = title
    return {"format": "rekal", "id": str(row["id"]), **kept}


def _link(row: dict[str, Any]) -> Link:
    relation = str(row["relation"])
    if relation in RELATIONS:
        return Link(relation, str(row["to_id"]))
    return Link("cites", str(row["to_id"]), metadata={"relation": relation})


def _tags(value: Any) -> list[str]:
    """JSON `list[str]`; bad JSON reads as none."""
    try:
        tags = json.loads(value or "[]")
    except (TypeError, ValueError):
        return []
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
